"""The version of what recall reads: it counts those tables' rows and no others, and they are all that recall reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from queries.engine import LIST
from queries.scope import NOTHING
from queries.version import PASSES, RECALL, data_version
from ranking import PRESETS
from retrieval.retrieve import AgentSession, Memory, recollect
from tests import sample
from tests.queries.test_corroborating import add_run
from tests.retrieval.planted import EMBEDDER, QUESTION, plant

if TYPE_CHECKING:
    import psycopg

    from queries.engine import Store

    Owner = psycopg.Connection[Any]


def version(store: Store, owner: Owner, tables: tuple[str, ...] | None) -> str:
    owner.execute("select pg_stat_force_next_flush()")
    with store.reading(NOTHING, LIST) as snapshot:
        return data_version(snapshot, tables)


def logged(owner: Owner) -> None:
    sample.add_retrieval(owner, "acme", sample.swapped(3, 0, 2), name="logged")


def test_what_is_logged_changes_the_stores_version_and_not_that_of_recall(store: Store, owner: Owner) -> None:
    plant(owner)
    whole, recalled = version(store, owner, None), version(store, owner, RECALL)
    logged(owner)
    assert version(store, owner, None) != whole
    assert version(store, owner, RECALL) == recalled
    owner.execute("update observations set weight = 0.3")
    assert version(store, owner, RECALL) != recalled


def test_a_truncate_changes_it_too(store: Store, owner: Owner) -> None:
    plant(owner)
    before = version(store, owner, RECALL)
    owner.execute("truncate observation_embeddings")
    assert version(store, owner, RECALL) != before


@pytest.mark.parametrize(
    "change",
    [
        "alter table observations rename to kept; create view observations as select * from kept",
        "create table older () inherits (observations)",
        "alter table observations rename to elsewhere",
    ],
)
def test_where_a_tables_rows_are_counted_elsewhere_all_count(store: Store, owner: Owner, change: str) -> None:
    plant(owner)
    owner.execute(change.encode())
    recalled = version(store, owner, RECALL)
    logged(owner)
    assert version(store, owner, RECALL) != recalled


@pytest.mark.parametrize("preset", PRESETS)
def test_recall_reads_these_tables_and_no_others(store: Store, owner: Owner, preset: str) -> None:
    """With the right to read them alone, every preset brings back all there is."""
    plant(owner)
    add_run(owner, "acme", "api")
    owner.execute("revoke select on all tables in schema public, rankscope from public, dash_read")
    for table in (*RECALL, *PASSES):
        owner.execute(f"grant select on {table} to dash_read".encode())
    found = recollect(Memory(store, EMBEDDER), AgentSession("acme", None, "api"), QUESTION, PRESETS[preset])
    assert (found.failed, found.degraded) == (None, ())
    assert len(found.candidates) == 5
