"""What is only looked up costs a look for each that is shown, however long the log is."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

from queries.impact.left_out import LeftOut
from queries.impact.listed import LISTED, ListedRetrievals
from queries.impact.selection import Newest, Selection
from queries.observation.retrieved import PAGE, Retrievals
from queries.scope import EVERYTHING, Scope
from tests import sample
from tests.long_log import plant

if TYPE_CHECKING:
    from collections.abc import Iterator

    import psycopg

    from queries.engine import Question, Store

    Owner = psycopg.Connection[Any]

TODAY = sample.TODAY.date()
WINDOW = Scope.of_days(EVERYTHING, TODAY - timedelta(days=6), TODAY)


@pytest.fixture(autouse=True)
def _logged(owner: Owner) -> None:
    plant(owner)
    owner.execute("vacuum analyze")


def scans(store: Store, question: Question, table: str) -> list[tuple[float, float]]:
    """How often each scan of a table was begun to answer a question, and how many rows it read in all."""
    asked = question.statement().compile(store.reader, compile_kwargs={"render_postcompile": True})  # type: ignore[attr-defined]
    with store.reading(EVERYTHING) as snapshot:
        (plan,) = snapshot.exec_driver_sql(f"explain (analyze, format json) {asked}", asked.params).scalar_one()
    return list(_of_table(plan["Plan"], table))


def _of_table(node: dict[str, Any], table: str) -> Iterator[tuple[float, float]]:
    if node.get("Relation Name") == table:
        yield node["Actual Loops"], node["Actual Loops"] * node["Actual Rows"]
    for below in node.get("Plans", ()):
        yield from _of_table(below, table)


def test_the_newest_row_of_everything_is_one_look_for_each_organization(store: Store) -> None:
    ((looks, rows),) = scans(store, Newest(WINDOW), "retrieval_ab_logs")
    assert looks == rows == 2


@pytest.mark.parametrize("question", [ListedRetrievals(Selection(WINDOW)), LeftOut(Selection(WINDOW))])
def test_sessions_are_looked_up_for_what_is_listed_alone(store: Store, question: Question) -> None:
    found = store.ask(question)
    assert found["total"][0] > len(found) == LISTED
    ((looks, _),) = scans(store, question, "sessions")
    assert 0 < looks <= LISTED


def test_sessions_are_looked_up_for_a_page_of_one_memorys_retrievals_alone(store: Store, owner: Owner) -> None:
    memory = UUID(int=7)
    owner.execute("update retrieval_ab_logs set observation_id = %s where unweighted_rank = 0", (memory,))
    question = Retrievals(replace(WINDOW, org="org_a"), memory)
    assert len(store.ask(question)) == PAGE + 1
    ((looks, _),) = scans(store, question, "sessions")
    assert 0 < looks <= PAGE + 1
