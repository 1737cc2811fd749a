"""Moments that no datetime can hold, which Postgres does: what reads them answers without, and one question alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid5

import pandas as pd
import psycopg
import pytest
from sqlalchemy import text

from queries.anything import questions
from queries.errors import LACKING, SENTENCES, StoreError, store_error
from queries.health.passes import Aggregated, Passes
from queries.impact.opened import OpenedRetrieval
from queries.logged_retrieval import LoggedRetrieval
from queries.replay.shown import ShownRetrievals
from queries.scope import EVERYTHING, Scope
from tests import sample

if TYPE_CHECKING:
    from queries.engine import Store

    Owner = psycopg.Connection[Any]

SCOPE = Scope.of_days(EVERYTHING, sample.TODAY.date(), sample.TODAY.date(), "org_a")
RETRIEVAL = uuid5(sample.NAMESPACE, "undatable")


@pytest.fixture(params=["infinity", "-infinity", "4714-11-24 BC", "294276-12-31"])
def moment(request: pytest.FixtureRequest, owner: Owner) -> str:
    """Of an observation in a project without a pass, and of the retrieval that found it."""
    sample.add_organization(owner, "org_a")
    owner.execute(
        """insert into observations (org_id, id, project_id, content, content_hash, created_at)
           values ('org_a', %s, 'api', 'x', 'h', %s)""",
        (RETRIEVAL, request.param),
    )
    owner.execute(
        """insert into retrieval_ab_logs (org_id, retrieval_id, session_id, query_text, observation_id,
             weighting_enabled, created_at) values ('org_a', %s, 's', 'q', %s, true, %s)""",
        (RETRIEVAL, RETRIEVAL, request.param),
    )
    return str(request.param)


@pytest.mark.usefixtures("moment")
class TestUndatable:
    def test_a_project_waits_since_no_moment_that_can_be_told(self, store: Store) -> None:
        assert store.ask(Aggregated(SCOPE))["oldest"].tolist() == [pd.NaT]
        assert len(store.ask(Passes(SCOPE))) == 1

    def test_a_project_waits_since_the_first_that_can_be_told(self, store: Store, owner: Owner) -> None:
        owner.execute(
            """insert into observations (org_id, id, project_id, content, content_hash, created_at)
               values ('org_a', gen_random_uuid(), 'api', 'y', 'h2', %s)""",
            (sample.TODAY,),
        )
        assert store.ask(Aggregated(SCOPE))["oldest"].tolist() == [sample.TODAY]

    def test_a_retrieval_is_opened_without_its_time(self, store: Store) -> None:
        name = str(RETRIEVAL)
        for question in (
            LoggedRetrieval(SCOPE, name), OpenedRetrieval(SCOPE, name), ShownRetrievals(SCOPE, (name,))
        ):  # fmt: skip
            assert store.ask(question)["at"].tolist() == [pd.NaT]

    @pytest.mark.parametrize("words", [str(RETRIEVAL), "deploys"], ids=["id", "words"])
    def test_what_is_found_by_id_or_words_is_listed_without_its_time(
        self, store: Store, owner: Owner, words: str
    ) -> None:
        owner.execute("update observations set title = 'deploys'")
        owner.execute("update retrieval_ab_logs set query_text = 'why do deploys fail?'")
        for kind in ("observation", "retrieval"):
            answer = store.ask(questions(SCOPE, words)[kind])
            assert answer["id"].tolist() == [str(RETRIEVAL)]
            assert answer["at"].tolist() == [pd.NaT]

    def test_what_is_read_all_the_same_fails_as_data_of_its_own_question(self, store: Store) -> None:
        with pytest.raises(StoreError) as caught, store.reading(EVERYTHING) as connection:
            connection.execute(text("select created_at from observations")).all()
        assert (caught.value.kind, caught.value.sentence) == SENTENCES["22"]
        assert caught.value.kind in LACKING


def test_the_driver_gives_such_a_failure_no_state() -> None:
    assert store_error(psycopg.DataError("timestamp too large")).kind == "data"
