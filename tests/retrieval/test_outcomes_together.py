"""Many outcomes at once, or beside another software: none is lost, counted twice or left half-way."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from queries.errors import StoreError
from ranking import update_weight
from retrieval.outcomes import OutcomeStatus, record_outcome
from tests.retrieval.taught import add_session, history, weights

if TYPE_CHECKING:
    from uuid import UUID

    from queries.engine import Store
    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]

MANY = 16


class TestTogether:
    def test_sixteen_outcomes_at_once_lose_nothing(
        self, platform: Store, owner: Owner, observations: list[UUID]
    ) -> None:
        """Each was given all six, listed in another order; the history of each observation is one unbroken chain."""
        outcomes = ["accepted", "rejected", "rework", "accepted"] * (MANY // 4)
        for number in range(MANY):
            turned = observations[number % 6 :] + observations[: number % 6]
            add_session(owner, f"s{number}", turned if number % 2 else turned[::-1])
        statuses = at_once(
            lambda number: record_outcome(platform, "org_a", f"s{number}", outcomes[number]).status, range(MANY)
        )
        assert statuses == [OutcomeStatus.RECORDED] * MANY
        rows = history(owner)
        assert len(rows) == MANY * len(observations)
        for observation in observations:
            weight, failed = 1.0, 0
            chain = [row for row in rows if row[0] == observation]
            assert sorted(row[1] for row in chain) == sorted(f"s{number}" for number in range(MANY))
            for _, session, outcome, before, after, alpha in chain:
                assert outcome == outcomes[int(session[1:])]
                failed += outcome != "accepted"
                misled = outcome != "accepted" and failed >= 3
                assert before == weight
                weight = update_weight(weight, outcome, misleading=misled)
                assert (after, alpha) == (weight, (0.1 if outcome == "accepted" else 0.15) * (2 if misled else 1))
            assert weights(owner)[observation] == weight
        in_order = """select bool_and(recorded_at >= before) from (
                        select recorded_at, lag(recorded_at) over (partition by observation_id order by id) as before
                          from observation_weight_history) h"""
        assert owner.execute(in_order).fetchone() == (True,)

    def test_the_same_outcome_sixteen_times_at_once_counts_once(
        self, platform: Store, owner: Owner, observations: list[UUID]
    ) -> None:
        add_session(owner, "s", observations)
        statuses = at_once(lambda _: record_outcome(platform, "org_a", "s", "rejected").status, range(MANY))
        assert sorted(statuses) == [OutcomeStatus.ALREADY] * (MANY - 1) + [OutcomeStatus.RECORDED]
        assert len(history(owner)) == len(observations)
        assert set(weights(owner).values()) == {0.85}

    def test_contradicting_outcomes_at_once_leave_the_first(
        self, platform: Store, owner: Owner, observations: list[UUID]
    ) -> None:
        add_session(owner, "s", observations)
        outcomes = ["accepted", "rejected", "rework"] * 4
        found = at_once(lambda number: record_outcome(platform, "org_a", "s", outcomes[number]), range(len(outcomes)))
        (first,) = [each for each in found if each.status is OutcomeStatus.RECORDED]
        assert {each.outcome for each in found} == {first.outcome}
        assert {row[2] for row in history(owner)} == {first.outcome}

    def test_a_failure_half_way_leaves_nothing(self, platform: Store, owner: Owner, observations: list[UUID]) -> None:
        add_session(owner, "s", observations)
        owner.execute(
            """create function refuse() returns trigger language plpgsql as $$
                 begin raise exception 'no more history' using errcode = '23514'; end $$"""
        )
        owner.execute(
            """create trigger refuse before insert on observation_weight_history for each row
                 execute function refuse()"""
        )
        with pytest.raises(StoreError) as refused:
            record_outcome(platform, "org_a", "s", "rejected")
        assert refused.value.kind == "conflict"
        assert owner.execute("select outcome from sessions").fetchall() == [(None,)]
        assert (set(weights(owner).values()), history(owner)) == ({1.0}, [])
        owner.execute("drop trigger refuse on observation_weight_history")
        assert record_outcome(platform, "org_a", "s", "rejected").status is OutcomeStatus.RECORDED

    def test_a_deadlock_with_another_software_is_tried_again(
        self, platform: Store, owner: Owner, cluster: Cluster, store_database: str, observations: list[UUID]
    ) -> None:
        """It locks from the highest id down, we from the lowest up: one of the two is refused and goes again."""
        first, *_, last = sorted(observations)
        add_session(owner, "s", observations)
        touch = "update observations set last_accessed_at = now() where id = %s"
        with (
            psycopg.connect(cluster.plain_url("postgres", store_database)) as stranger,
            ThreadPoolExecutor(1) as pool,
        ):
            # looks for deadlocks late, so that ours is the one that finds and loses it
            stranger.execute("set deadlock_timeout = '30s'")
            stranger.execute(touch, (last,))
            ours = pool.submit(record_outcome, platform, "org_a", "s", "accepted")
            waiting = """select count(*) > 0 from pg_stat_activity where usename = 'memory_write'
                          and wait_event_type = 'Lock' and datname = current_database()"""
            while owner.execute(waiting).fetchone() != (True,):
                pass
            stranger.execute(touch, (first,))
            stranger.commit()
            assert ours.result().status is OutcomeStatus.RECORDED
        assert len(history(owner)) == len(observations)


def at_once(work: Any, numbers: range) -> list[Any]:  # noqa: ANN401 - any function of a number
    """The answers of as many threads as there are numbers, all started together."""
    ready = Barrier(len(numbers))

    def begin(number: int) -> Any:  # noqa: ANN401 - same
        ready.wait(30)
        return work(number)

    with ThreadPoolExecutor(len(numbers)) as pool:
        return list(pool.map(begin, numbers))
