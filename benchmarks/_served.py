"""A store of its own for a benchmark, filled and served."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg

from queries import embedded
from queries.engine import Store, make_engine
from queries.migrate import migrate
from queries.owner import owning

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def served(fill: Callable[[psycopg.Connection], None], *, durable: bool = True) -> Iterator[tuple[str, Store]]:
    """The address for reading and the store, once ``fill`` has put in what is measured; removed afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="rankscope-benchmark-"))
    folder.chmod(0o711)
    try:
        with embedded.start(folder, durable=durable) as lease:
            with owning(lease.url()) as engine:
                migrate(engine, create_store=True)
            with psycopg.connect(lease.url().replace("+psycopg", ""), autocommit=True) as owner:
                fill(owner)
            writer = make_engine(lease.url("dash_write"), name="benchmark write")
            store = Store(make_engine(lease.url("dash_read"), name="benchmark"), writer)
            yield lease.url("dash_read"), store
            store.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
