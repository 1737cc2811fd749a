"""Top observations: how much a store has to do for a list, and of whom a pass can say that nobody else says it."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, get_args

import pytest

from queries.health.top import Kind, TopObservations
from queries.scope import EVERYTHING, Scope
from tests.health_store import NOW, obs

if TYPE_CHECKING:
    import psycopg

    from queries.engine import Store

    Owner = psycopg.Connection[Any]

SCOPE = Scope.of_days(EVERYTHING, NOW.date() - timedelta(days=29), NOW.date())
STORED, UNREAD, RETRIEVALS = 1_200, 300, 200


def fill(owner: Owner) -> None:
    """Two organizations of three projects: every observation but the last 300 was retrieved, and a pass read them all.

    What a pass wrote is not analyzed, as in a store that was just filled.
    """
    for org in ("org_a", "org_b"):
        owner.execute("insert into organizations (id, name) values (%s, %s)", (org, org))
        owner.execute(
            """insert into observations (org_id, id, project_id, agent_id, content, content_hash, created_at)
               select %(org)s, md5(%(org)s || n)::uuid, 'p' || n %% 3, 'ann', 'text ' || n, n,
                      %(now)s - interval '9 day'
                 from generate_series(1, %(stored)s) n""",
            {"org": org, "now": NOW, "stored": STORED},
        )
        owner.execute(
            """insert into retrieval_ab_logs (org_id, retrieval_id, session_id, query_text, observation_id,
                 weighting_enabled, created_at)
               select %(org)s, md5(%(org)s || r)::uuid, 's', 'q',
                      md5(%(org)s || 1 + (r * 20 + n) %% %(read)s)::uuid, true, %(now)s - interval '1 day'
                 from generate_series(1, %(retrievals)s) r, generate_series(1, 20) n""",
            {"org": org, "now": NOW, "read": STORED - UNREAD, "retrievals": RETRIEVALS},
        )
        for project in ("p0", "p1", "p2"):
            add_pass(owner, org, project, STORED // 3, STORED // 3)
    owner.execute("analyze organizations, observations, retrieval_ab_logs")


def add_pass(owner: Owner, org: str, project: str, active: int, read: int, *, set_apart: int = 0) -> None:
    owner.execute(
        """insert into rankscope.aggregation_runs (org_id, project_id, state, data_version, active, observations,
             set_apart, clusters, corroborated, started_at, finished_at)
           values (%s, %s, 'done', 'v', %s, %s, %s, 0, 0, %s, %s)""",
        (org, project, active, read, set_apart, NOW, NOW),
    )


def handled(plan: dict[str, Any]) -> float:
    """The rows that every step of a plan gave on or looked at for nothing, each time it was done."""
    names = ("Actual Rows", "Rows Removed by Filter", "Rows Removed by Join Filter")
    own = sum(plan.get(name, 0) for name in names) * plan.get("Actual Loops", 1)
    return float(own) + sum(handled(each) for each in plan.get("Plans", ()))


@pytest.mark.parametrize("kind", get_args(Kind))
def test_no_list_goes_over_the_log_again_for_each_observation(store: Store, owner: Owner, kind: Kind) -> None:
    fill(owner)
    with store.reading(EVERYTHING, 60.0) as connection:
        question = TopObservations(SCOPE, kind).statement().compile(dialect=connection.dialect)
        explained = f"explain (analyze, format json) {question}"
        (found,) = connection.exec_driver_sql(explained, dict(question.params)).one()
    assert handled(found[0]["Plan"]) < 20 * 2 * (STORED + RETRIEVALS * 20)


def plant_alone(owner: Owner, ages: list[int]) -> None:
    """Observations of one project, written so many days ago and retrieved once."""
    owner.execute("insert into organizations (id, name) values ('org_a', 'A')")
    for number, days in enumerate(ages):
        owner.execute(
            """insert into observations (org_id, id, project_id, content, content_hash, created_at)
               values ('org_a', %s, 'api', 'x', 'h', %s)""",
            (obs("org_a", number), NOW - timedelta(days=days)),
        )
        owner.execute(
            """insert into retrieval_ab_logs (org_id, retrieval_id, session_id, query_text, observation_id,
                 weighting_enabled, created_at) values ('org_a', gen_random_uuid(), 's', 'q', %s, true, %s)""",
            (obs("org_a", number), NOW - timedelta(hours=3)),
        )


def alone(store: Store) -> set[int]:
    listed = set(store.ask(TopObservations(SCOPE, "alone"))["id"])
    return {number for number in range(10) if str(obs("org_a", number)) in {str(each) for each in listed}}


class TestAlone:
    def test_what_the_pass_did_not_read_is_not_said_to_be_alone(self, store: Store, owner: Owner) -> None:
        plant_alone(owner, [1, 2, 3, 4, 5])
        add_pass(owner, "org_a", "api", 5, 3)
        assert alone(store) == {0, 1, 2}

    def test_a_pass_that_read_all_says_it_of_all(self, store: Store, owner: Owner) -> None:
        plant_alone(owner, [1, 2, 3, 4, 5])
        add_pass(owner, "org_a", "api", 5, 4, set_apart=1)
        assert alone(store) == {0, 1, 2, 3, 4}

    def test_one_archived_since_does_not_move_the_end_of_what_was_read(self, store: Store, owner: Owner) -> None:
        plant_alone(owner, [1, 2, 3, 4, 5])
        add_pass(owner, "org_a", "api", 5, 3)
        owner.execute("update observations set status = 'archived' where id = %s", (obs("org_a", 1),))
        assert alone(store) == {0, 2}

    def test_of_some_written_at_the_end_of_what_was_read_nothing_is_said(self, store: Store, owner: Owner) -> None:
        plant_alone(owner, [1, 2, 2, 2, 3])
        add_pass(owner, "org_a", "api", 5, 3)
        assert alone(store) == {0}

    def test_a_weight_that_is_no_number_was_left_out_and_none_was_not(self, store: Store, owner: Owner) -> None:
        plant_alone(owner, [1, 2, 3])
        add_pass(owner, "org_a", "api", 3, 2, set_apart=1)
        owner.execute("alter table observations alter weight drop not null")
        owner.execute("update observations set weight = 'nan' where id = %s", (obs("org_a", 0),))
        owner.execute("update observations set weight = null where id = %s", (obs("org_a", 1),))
        assert alone(store) == {1, 2}


def test_a_session_that_names_an_observation_twice_was_misled_by_it_once(store: Store, owner: Owner) -> None:
    plant_alone(owner, [1])
    twice = [obs("org_a", 0)] * 2
    owner.execute(
        """insert into session_diagnostics (org_id, session_id, misleading_observation_ids, helpful_observation_ids,
             created_at) values ('org_a', 's', %s, %s, %s)""",
        (twice, twice, NOW - timedelta(hours=2)),
    )
    (row,) = store.ask(TopObservations(SCOPE, "misleading")).itertuples()
    assert (row.sessions, row.helped) == (1, 1)
