"""What the store behind the figures is, whether it answers, and whether it holds anything for a scope."""

from __future__ import annotations

from typing import TYPE_CHECKING

import settings
from controls.loading import store
from controls.partly import unless_lacking
from queries.connections import answers
from queries.errors import StoreError
from queries.holdings import Holdings

if TYPE_CHECKING:
    from queries.scope import Scope


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


def holds_nothing(scope: Scope) -> bool:
    """Whether an organization or project has never stored anything; not where the store cannot tell."""
    if scope.org is None:
        return False
    found = unless_lacking(Holdings(scope))
    return found is not None and not found.iloc[0].any()
