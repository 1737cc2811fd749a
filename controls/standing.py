"""What the store behind the figures is, and whether it answers."""

from __future__ import annotations

import settings
from controls.loading import store
from queries.engine import answers
from queries.errors import StoreError


def is_embedded() -> bool:
    """Whether the store is the embedded one."""
    return settings.current().database_url is None


def answers_now() -> bool:
    """Whether the store answers at this moment."""
    try:
        return answers(store().reader, limit=1.0)
    except StoreError:
        return False


def store_name() -> str:
    """What the figures come from, in words."""
    return "embedded demo store" if is_embedded() else "your store"
