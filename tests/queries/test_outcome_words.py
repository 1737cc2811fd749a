"""A store whose sessions may end with a word of the platform's own: it is no outcome, wherever outcomes are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from queries.health.served import Ended
from queries.overview import Overview
from queries.replay.outcomes import EndedSessions, SwitchedSessions
from queries.schema import FAILURES, OUTCOMES
from queries.scope import EVERYTHING, Scope
from ranking.feedback import Outcome, learning_rate
from retrieval.outcomes import OutcomeStatus, record_outcome
from tests import sample
from tests.retrieval.logs import memory_store

if TYPE_CHECKING:
    import psycopg

    from queries.engine import Store
    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]

YESTERDAY = Scope.of_days(EVERYTHING, sample.TODAY.date(), sample.TODAY.date(), "org_a").before()


@pytest.fixture(autouse=True)
def words(owner: Owner) -> None:
    """One session of each end, each with a retrieval."""
    owner.execute("alter table sessions drop constraint sessions_outcome_check")
    sample.add_organization(owner, "org_a")
    for word in ("accepted", "rework", "abandoned"):
        sample.add_session(owner, "org_a", word, word)
        owner.execute(
            """insert into retrieval_ab_logs (org_id, retrieval_id, session_id, query_text, observation_id,
                 weighting_enabled, created_at)
               select org_id, gen_random_uuid(), id, 'q', gen_random_uuid(), true, created_at
                 from sessions where id = %s""",
            (word,),
        )


def test_the_store_and_the_ranking_know_the_same_outcomes() -> None:
    assert tuple(Outcome) == OUTCOMES
    assert tuple(each for each in Outcome if learning_rate(each) != learning_rate("accepted")) == FAILURES


def test_sessions_of_an_unknown_outcome_are_counted_apart(store: Store) -> None:
    for found in (store.ask(Overview(YESTERDAY)), store.ask(Ended(YESTERDAY))):
        assert found[["accepted", "unknown_outcome"]].values.tolist() == [[1, 1]]
    assert store.ask(Overview(YESTERDAY))[["rework", "rejected"]].values.tolist() == [[1, 0]]


def test_what_if_and_health_count_the_same_sessions(store: Store) -> None:
    with store.reading(EVERYTHING) as connection:
        by_weighting, _ = SwitchedSessions(YESTERDAY).read(connection)
        ended, unknown = EndedSessions(YESTERDAY).read(connection)
    assert (len(by_weighting.at), by_weighting.accepted.sum(), by_weighting.unknown) == (2, 1, 1)
    assert (ended, unknown) == ({"accepted": (True, 1), "rework": (False, 1)}, 1)
    assert store.ask(Ended(YESTERDAY))["judged"].sum() == 2


def test_an_outcome_beside_such_a_word_is_refused_without_an_exception(
    cluster: Cluster, store_database: str, owner: Owner
) -> None:
    memory = memory_store(cluster, store_database)
    found = record_outcome(memory, "org_a", "abandoned", "accepted")
    memory.close()
    assert (found.status, found.outcome) == (OutcomeStatus.CONTRADICTS, None)
    assert owner.execute("select outcome from sessions where id = 'abandoned'").fetchall() == [("abandoned",)]
