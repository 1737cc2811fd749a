"""A statement that fails, what the store says of it, and after how long."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import text

from queries.engine import LIST
from queries.errors import StoreError
from queries.scope import EVERYTHING

if TYPE_CHECKING:
    from queries.engine import Store


def failure(store: Store, statement: str, limit: float = LIST) -> tuple[StoreError, float]:
    started = time.perf_counter()
    with pytest.raises(StoreError) as caught, store.reading(EVERYTHING, limit) as connection:
        connection.execute(text(statement))
    return caught.value, time.perf_counter() - started
