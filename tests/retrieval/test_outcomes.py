"""What a session was given learns from its outcome: once, and by the documented numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from queries.errors import StoreError
from queries.outcomes import SessionKey
from queries.scope import Reach
from ranking import update_weight
from retrieval.log import LogWriter, log_retrieval_ab
from retrieval.outcomes import OutcomeStatus, record_outcome
from tests import sample
from tests.retrieval.logs import memory_store, retrieval
from tests.retrieval.taught import add_session, history, weights

if TYPE_CHECKING:
    from queries.engine import Store
    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]


class TestRecorded:
    @pytest.mark.parametrize(
        ("outcome", "after", "alpha"),
        [("accepted", 0.5 * 0.9 + 0.1, 0.1), ("rejected", 0.5 * 0.85, 0.15), ("rework", 0.5 * 0.85, 0.15)],
    )
    def test_what_was_given_moves_and_nothing_else(  # noqa: PLR0917 - fixtures and cases come as arguments
        self, platform: Store, owner: Owner, observations: list[UUID], outcome: str, after: float, alpha: float
    ) -> None:
        owner.execute("update observations set weight = 0.5")
        add_session(owner, "s", observations[:3])
        recorded = record_outcome(platform, "org_a", "s", outcome)
        assert (recorded.status, recorded.outcome) == (OutcomeStatus.RECORDED, outcome)
        assert weights(owner) == {
            each: pytest.approx(after) if each in observations[:3] else 0.5 for each in observations
        }
        expected = [(each, "s", outcome, 0.5, pytest.approx(after), alpha) for each in sorted(observations[:3])]
        assert history(owner) == expected
        assert [change.observation_id for change in recorded.changes] == sorted(observations[:3])

    def test_the_session_ends_with_its_outcome_and_keeps_an_earlier_end(
        self, platform: Store, owner: Owner, observations: list[UUID]
    ) -> None:
        add_session(owner, "open", observations[:1])
        add_session(owner, "ended", observations[:1])
        owner.execute("update sessions set ended_at = '2026-01-01' where id = 'ended'")
        for session in ("open", "ended"):
            record_outcome(platform, "org_a", session, "rework")
        found = owner.execute("select id, outcome, ended_at > now() - interval '1 day' from sessions order by id")
        assert found.fetchall() == [("ended", "rework", False), ("open", "rework", True)]

    def test_a_session_that_was_given_nothing_is_still_ended(self, platform: Store, owner: Owner) -> None:
        sample.add_organization(owner, "org_a")
        sample.add_session(owner, "org_a", "s", None)
        assert record_outcome(platform, "org_a", "s", "accepted").status is OutcomeStatus.RECORDED
        assert record_outcome(platform, "org_a", "s", "accepted").status is OutcomeStatus.ALREADY
        assert owner.execute("select outcome from sessions").fetchall() == [("accepted",)]

    def test_observations_that_are_gone_are_passed_over(
        self, platform: Store, owner: Owner, observations: list[UUID]
    ) -> None:
        add_session(owner, "s", [*observations[:2], uuid4()])
        recorded = record_outcome(platform, "org_a", "s", "rejected")
        assert [change.observation_id for change in recorded.changes] == sorted(observations[:2])

    @pytest.mark.parametrize("weight", ["NaN", "Infinity", "-Infinity"])
    def test_a_weight_that_is_no_number_stays_as_it_is(
        self, platform: Store, owner: Owner, observations: list[UUID], weight: str
    ) -> None:
        spoiled, sound = observations[:2]
        owner.execute("update observations set weight = %s::float8 where id = %s", (weight, spoiled))
        add_session(owner, "s", [spoiled, sound])
        recorded = record_outcome(platform, "org_a", "s", "rejected")
        assert [each.id for each in recorded.unusable] == [spoiled]
        assert [row[0] for row in history(owner)] == [sound]
        unusable = owner.execute("select count(*) from observation_weight_history where new_weight = 'NaN'")
        assert unusable.fetchone() == (0,)

    def test_a_weight_that_was_never_written_is_one(
        self, platform: Store, owner: Owner, observations: list[UUID]
    ) -> None:
        owner.execute("alter table observations alter weight drop not null")
        owner.execute("update observations set weight = null where id = %s", (observations[0],))
        add_session(owner, "s", observations[:1])
        (change,) = record_outcome(platform, "org_a", "s", "rejected").changes
        assert (change.before, change.after) == (1.0, 0.85)

    def test_what_this_process_has_still_to_log_counts(
        self, platform: Store, owner: Owner, observations: list[UUID]
    ) -> None:
        sample.add_session(owner, "org_a", "s", None)
        with LogWriter(platform), LogWriter(platform) as writer:
            for _ in range(50):
                log_retrieval_ab(retrieval(session="other"), writer)
            log_retrieval_ab(retrieval(session="s", observations=observations), writer)
            recorded = record_outcome(platform, "org_a", "s", "accepted")
        # the first two of a retrieval are injected
        assert [change.observation_id for change in recorded.changes] == sorted(observations[:2])

    def test_what_cannot_be_logged_in_time_leaves_the_outcome_for_later(
        self, cluster: Cluster, store_database: str, platform: Store, owner: Owner, observations: list[UUID]
    ) -> None:
        sample.add_session(owner, "org_a", "s", None)
        with LogWriter(platform) as writer:
            with psycopg.connect(cluster.plain_url("postgres", store_database)) as other:
                other.execute("lock table retrieval_ab_logs in share mode")
                assert writer.log(retrieval(session="s", observations=observations[:2]))
                with pytest.raises(StoreError) as caught:
                    record_outcome(platform, "org_a", "s", "rejected")
                assert caught.value.kind == "log_waits"
            assert writer.flush(20)
            assert len(record_outcome(platform, "org_a", "s", "rejected").changes) == 2

    def test_an_outcome_that_does_not_exist_is_refused_at_the_door(self, platform: Store) -> None:
        with pytest.raises(ValueError, match="'lost' is not a valid Outcome"):
            record_outcome(platform, "org_a", "s", "lost")


class TestMisleading:
    def test_named_by_the_session_s_own_diagnostics(
        self, platform: Store, owner: Owner, observations: list[UUID]
    ) -> None:
        named, other = observations[:2]
        for session in ("s", "t"):
            add_session(owner, session, [named, other])
        owner.execute(
            """insert into session_diagnostics (org_id, session_id, misleading_observation_ids)
                 values ('org_a', 's', %s)""",
            ([named],),
        )
        record_outcome(platform, "org_a", "s", "rejected")
        assert weights(owner)[named] == pytest.approx(1 * 0.7)
        assert weights(owner)[other] == pytest.approx(1 * 0.85)
        assert {row[0]: row[5] for row in history(owner)} == {named: 0.3, other: 0.15}
        record_outcome(platform, "org_a", "t", "rejected")
        assert weights(owner)[named] == pytest.approx(0.7 * 0.85)

    def test_from_the_third_failed_session_on(self, platform: Store, owner: Owner, observations: list[UUID]) -> None:
        outcomes = ["rejected", "accepted", "rework", "rejected", "rework", "accepted"]
        weight, failed = 1.0, 0
        for number, outcome in enumerate(outcomes):
            add_session(owner, f"s{number}", observations[:1])
            record_outcome(platform, "org_a", f"s{number}", outcome)
            failed += outcome != "accepted"
            weight = update_weight(weight, outcome, misleading=outcome != "accepted" and failed >= 3)
        assert [row[5] for row in history(owner)] == [0.15, 0.1, 0.15, 0.3, 0.3, 0.1]
        assert weights(owner)[observations[0]] == weight

    def test_a_session_of_an_unknown_outcome_has_not_failed(
        self, platform: Store, owner: Owner, observations: list[UUID]
    ) -> None:
        owner.execute("alter table observation_weight_history drop constraint observation_weight_history_outcome_check")
        for session in ("a", "b"):
            add_session(owner, session, observations[:1])
            record_outcome(platform, "org_a", session, "rejected")
        owner.execute("update observation_weight_history set outcome = 'abandoned'")
        add_session(owner, "c", observations[:1])
        record_outcome(platform, "org_a", "c", "rejected")
        assert [row[5] for row in history(owner)] == [0.15, 0.15, 0.15]


class TestOnce:
    def test_the_same_outcome_again_changes_nothing(
        self, platform: Store, owner: Owner, observations: list[UUID]
    ) -> None:
        add_session(owner, "s", observations)
        record_outcome(platform, "org_a", "s", "rejected")
        before = (weights(owner), history(owner))
        again = record_outcome(platform, "org_a", "s", "rejected")
        assert (again.status, again.outcome, again.changes) == (OutcomeStatus.ALREADY, "rejected", ())
        assert (weights(owner), history(owner)) == before

    def test_another_outcome_is_refused_and_names_the_one_that_stands(
        self, platform: Store, owner: Owner, observations: list[UUID]
    ) -> None:
        add_session(owner, "s", observations)
        add_session(owner, "told", observations, outcome="accepted")
        record_outcome(platform, "org_a", "s", "rejected")
        before = (weights(owner), history(owner))
        for session, stands in (("s", "rejected"), ("told", "accepted")):
            refused = record_outcome(platform, "org_a", session, "rework")
            assert (refused.status, refused.outcome) == (OutcomeStatus.CONTRADICTS, stands)
        assert (weights(owner), history(owner)) == before

    def test_an_outcome_that_the_platform_wrote_itself_is_learned_from_once(
        self, platform: Store, owner: Owner, observations: list[UUID]
    ) -> None:
        add_session(owner, "s", observations, outcome="accepted")
        assert record_outcome(platform, "org_a", "s", "accepted").status is OutcomeStatus.RECORDED
        assert record_outcome(platform, "org_a", "s", "accepted").status is OutcomeStatus.ALREADY
        assert len(history(owner)) == len(observations)

    @pytest.mark.parametrize(("org", "session"), [("org_a", "none"), ("org_b", "s"), ("org_a", "s\0"), ("\ud800", "s")])
    def test_a_session_that_does_not_exist_there(
        self, platform: Store, owner: Owner, observations: list[UUID], org: str, session: str
    ) -> None:
        add_session(owner, "s", observations)
        assert record_outcome(platform, org, session, "accepted").status is OutcomeStatus.UNKNOWN_SESSION
        assert history(owner) == []

    def test_two_organizations_may_use_the_same_session_id(
        self, platform: Store, owner: Owner, observations: list[UUID]
    ) -> None:
        sample.add_organization(owner, "org_b")
        theirs = sample.add_observations(owner, "org_b", 2)
        add_session(owner, "s", observations[:2])
        add_session(owner, "s", theirs, org="org_b")
        record_outcome(platform, "org_b", "s", "rejected")
        assert set(weights(owner).values()) == {1.0}
        assert set(weights(owner, "org_b").values()) == {0.85}


class TestArithmetic:
    @settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(st.floats(0, 2), st.lists(st.sampled_from(["accepted", "rejected", "rework"]), min_size=1, max_size=6))
    def test_the_store_holds_to_the_last_bit_what_the_library_computes(
        self, platform: Store, owner: Owner, start: float, outcomes: list[str]
    ) -> None:
        org, failed = f"org-{uuid4()}", 0
        sample.add_organization(owner, org)
        (observation,) = sample.add_observations(owner, org, 1)
        owner.execute("update observations set weight = %s where org_id = %s", (start, org))
        weight = start
        for number, outcome in enumerate(outcomes):
            add_session(owner, f"s{number}", [observation], org=org)
            record_outcome(platform, org, f"s{number}", outcome)
            failed += outcome != "accepted"
            weight = update_weight(weight, outcome, misleading=outcome != "accepted" and failed >= 3)
            assert weights(owner, org)[observation] == weight
        replayed = """select new_weight, previous_weight * (1 - alpha)
                             + case outcome when 'accepted' then alpha else 0 end
                        from observation_weight_history where org_id = %s"""
        for stored, by_sql in owner.execute(replayed, (org,)):
            assert stored == by_sql


class TestScope:
    def test_row_security_hides_a_session_of_another_organization(
        self, platform: Store, owner: Owner, observations: list[UUID]
    ) -> None:
        add_session(owner, "s", observations)
        session = SessionKey("org_a", "s")
        with platform.writing(Reach(("org_b",))) as connection:
            assert session.lock(connection) is None
            assert session.lock_given(connection) == []
            session.end(connection, "accepted")
        assert owner.execute("select outcome from sessions where org_id = 'org_a' and id = 's'").fetchall() == [(None,)]

    def test_a_login_without_the_rights_is_told_so(
        self, cluster: Cluster, store_database: str, owner: Owner, observations: list[UUID]
    ) -> None:
        add_session(owner, "s", observations)
        reader = memory_store(cluster, store_database, role="dash_write")
        with pytest.raises(StoreError) as refused:
            record_outcome(reader, "org_a", "s", "accepted")
        reader.close()
        assert refused.value.kind == "privilege"

    def test_a_store_without_a_writer_is_told_so(self, platform: Store) -> None:
        with pytest.raises(StoreError) as refused:
            record_outcome(type(platform)(platform.reader), "org_a", "s", "accepted")
        assert refused.value.kind == "no_writer"
