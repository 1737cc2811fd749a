"""Overview's counts against planted facts and an independent answer in pandas."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from queries.flags.states import Features, flag_states
from queries.organizations import Organizations, Projects
from queries.overview import DailyRetrievals, Overview
from queries.scope import EVERYTHING, Reach, Scope
from queries.shape import LogShape, log_shape
from ranking.comparison import rank_biased_overlap
from tests import sample

if TYPE_CHECKING:
    import psycopg

    from queries.engine import Store

    Owner = psycopg.Connection[Any]

TODAY = sample.TODAY.date()
WINDOW = Scope.of_days(EVERYTHING, TODAY - timedelta(days=6), TODAY)


def one(store: Store, scope: Scope = WINDOW, shape: LogShape = LogShape()) -> pd.Series[Any]:  # noqa: B008 - frozen
    answer = store.ask(Overview(scope, shape))
    assert len(answer) == 1
    return answer.iloc[0]


class TestPlanted:
    def test_an_organization_without_anything_is_listed_with_zeros(self, store: Store, owner: Owner) -> None:
        sample.add_organization(owner, "org_a", "Acme")
        row = one(store)
        assert (row["org_id"], row["name"]) == ("org_a", "Acme")
        assert list(row.drop(["org_id", "name", "newest"])) == [0] * 19
        assert pd.isna(row["newest"])

    def test_counts_of_the_window(self, store: Store, owner: Owner) -> None:
        sample.add_organization(owner, "org_a")
        sample.add_observations(owner, "org_a", 3, days_ago=1)
        sample.add_observations(owner, "org_a", 4, days_ago=30)
        for name, outcome in (
            ("s1", "accepted"),
            ("s2", "accepted"),
            ("s3", "rework"),
            ("s4", "rejected"),
            ("s5", None),
        ):
            sample.add_session(owner, "org_a", name, outcome)
        sample.add_session(owner, "org_a", "old", "accepted", days_ago=30)
        sample.add_retrieval(owner, "org_a", sample.swapped(8, 4, 5), name="crosses the fifth place")
        sample.add_retrieval(owner, "org_a", sample.swapped(8, 0, 4), name="stays inside the top 5")
        sample.add_retrieval(owner, "org_a", sample.swapped(8, 4, 5), name="weighting off", weighted=False)
        sample.add_retrieval(owner, "org_a", sample.unchanged(20), name="a full pool")
        sample.add_retrieval(owner, "org_a", [*sample.swapped(8, 4, 5)[:-1], (9, 9)], name="a hole")
        sample.add_retrieval(owner, "org_a", sample.unchanged(8), name="too old", days_ago=30)
        row = one(store)
        expected = {
            "observations": 7, "new_observations": 3,
            "retrievals": 5, "log_rows": 8 + 8 + 8 + 20 + 8, "complete": 4, "measured": 3, "moved": 1, "truncated": 1,
            "repeated": 0, "unusable": 0, "sessions": 5, "accepted": 2, "rejected": 1, "rework": 1,
        }  # fmt: skip
        assert {name: row[name] for name in expected} == expected

    @pytest.mark.parametrize(
        "ranks",
        [
            [(0, 0), (1, 1), (1, 2)],
            [(0, 0), (1, 1), (None, 2)],
            [(0, 0), (1, 1), (3, 2)],
            [(-1, 0), (0, 1), (1, 2)],
            [(0, 0), (1, 1), (2**31 - 1, 2)],
            [(0, 0), (0, 1), (3, 2), (3, 3)],
            [(1, 0), (2, 1), (3, 2)],
            [(i, i or 1) for i in range(70)],
        ],
    )
    def test_ranks_that_are_no_permutation_are_incomplete(self, store: Store, owner: Owner, ranks: Any) -> None:  # noqa: ANN401
        sample.add_organization(owner, "org_a")
        sample.add_retrieval(owner, "org_a", ranks, name="r")
        row = one(store)
        assert (row["retrievals"], row["complete"], row["measured"]) == (1, 0, 0)

    @pytest.mark.parametrize("size", [1, 2, 20, 61, 62, 63, 64, 100])
    def test_a_permutation_of_any_size_is_complete(self, store: Store, owner: Owner, size: int) -> None:
        sample.add_organization(owner, "org_a")
        sample.add_retrieval(owner, "org_a", list(zip(range(size), reversed(range(size)), strict=True)), name="r")
        assert one(store)["complete"] == 1

    @pytest.mark.parametrize("score", [float("nan"), float("inf"), float("-inf"), None])
    def test_scores_that_are_no_number_are_counted_apart(self, store: Store, owner: Owner, score: float | None) -> None:
        sample.add_organization(owner, "org_a")
        sample.add_retrieval(owner, "org_a", sample.unchanged(3), name="r", scores=score)
        assert one(store)["unusable"] == 3

    def test_an_observation_logged_twice_in_one_retrieval(self, store: Store, owner: Owner) -> None:
        sample.add_organization(owner, "org_a")
        ids = sample.add_observations(owner, "org_a", 1)
        sample.add_retrieval(owner, "org_a", sample.unchanged(2), name="r", observations=ids * 2)
        assert one(store)["repeated"] == 1

    def test_flips_are_who_entered_or_left_a_logged_block_through_feedback(self, store: Store, owner: Owner) -> None:
        sample.add_organization(owner, "org_a")
        # feedback lifted one from the fifth place (rank 4) to the first of three, and so kept the third out
        lifted = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)]
        for name, ranks, weighted in (
            ("on", lifted, True),
            ("off", lifted, False),
            ("same", sample.unchanged(4), True),
        ):
            retrieval = sample.add_retrieval(owner, "org_a", list(ranks), name=name, weighted=weighted)
            owner.execute(
                "update retrieval_ab_logs set injected = weighted_rank < 3 where retrieval_id = %s", (retrieval,)
            )
        sample.add_retrieval(owner, "org_a", list(lifted), name="nobody logged its block")
        row = one(store)
        assert (row["measured"], row["block_known"], row["flips"]) == (3, 2, 2)

    def test_a_project_limits_every_count_but_not_the_list(self, store: Store, owner: Owner) -> None:
        sample.add_organization(owner, "org_a")
        sample.add_observations(owner, "org_a", 2)
        sample.add_retrieval(owner, "org_a", sample.unchanged(3), name="r")
        web = Scope.of_days(EVERYTHING, TODAY - timedelta(days=6), TODAY, "org_a", "web")
        assert list(one(store, web)[["observations", "retrievals"]]) == [0, 0]


class TestWithoutRecommendedColumns:
    """A store that logs only what 001 documents still answers."""

    def test_retrievals_are_sessions_and_queries_and_take_their_sessions_time(self, store: Store, owner: Owner) -> None:
        sample.add_organization(owner, "org_a")
        for name in ("one", "two"):
            sample.add_session(owner, "org_a", f"session-{name}", days_ago=2)
            sample.add_retrieval(owner, "org_a", sample.swapped(8, 4, 5), name=name, days_ago=60)
        owner.execute(
            "drop policy scope on retrieval_ab_logs; alter table retrieval_ab_logs disable row level security"
        )
        owner.execute("alter table retrieval_ab_logs drop column retrieval_id, drop column created_at")
        with store.reading(EVERYTHING) as connection:
            shape = log_shape(connection)
        assert shape == LogShape(retrieval_id=False, created_at=False, by_observation=False)
        row = one(store, shape=shape)
        assert (row["retrievals"], row["complete"], row["moved"]) == (2, 2, 2)
        assert pd.Timestamp(row["newest"]).date() == TODAY - timedelta(days=2)


RANK = st.one_of(st.none(), st.integers(-1, 6))


class TestAgainstPandas:
    @given(
        st.lists(
            st.tuples(st.booleans(), st.booleans(), st.lists(st.tuples(RANK, RANK), min_size=1, max_size=7)), max_size=6
        )
    )
    @settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
    def test_figures_equal_an_independent_answer(self, store: Store, owner: Owner, logged: list[Any]) -> None:
        owner.execute("truncate retrieval_ab_logs; delete from organizations")
        sample.add_organization(owner, "org_a")
        expected = {"retrievals": len(logged), "complete": 0, "measured": 0, "moved": 0, "block_known": 0}
        overlap = 0.0
        for number, (weighted, whole, drawn) in enumerate(logged):
            ranks = list(zip(range(len(drawn)), reversed(range(len(drawn))), strict=True)) if whole else drawn
            sample.add_retrieval(owner, "org_a", ranks, name=str(number), weighted=weighted)
            found = pd.DataFrame(ranks, columns=["before", "after"], dtype="object")
            places = set(range(len(ranks)))
            complete = set(found["before"]) == places and set(found["after"]) == places
            expected["complete"] += complete
            expected["measured"] += complete and weighted
            first = [{i for i, rank in enumerate(found[name]) if isinstance(rank, int) and rank < 5} for name in found]
            expected["moved"] += complete and weighted and first[0] != first[1]
            if complete and weighted:
                orders = [sorted(places, key=list(found[name]).__getitem__) for name in found]
                overlap += rank_biased_overlap(orders[0], orders[1]) or 0.0
        row = one(store)
        assert {name: row[name] for name in expected} == expected
        assert row["overlap"] == pytest.approx(overlap)


class TestDaily:
    def test_a_day_is_a_day_in_utc(self, store: Store, owner: Owner) -> None:
        sample.add_organization(owner, "org_a")
        sample.add_retrieval(owner, "org_a", sample.swapped(8, 4, 5), name="a", days_ago=1)
        sample.add_retrieval(owner, "org_a", sample.unchanged(8), name="b", days_ago=1)
        sample.add_retrieval(owner, "org_a", sample.unchanged(8), name="c", days_ago=3, weighted=False)
        answer = store.ask(DailyRetrievals(WINDOW))
        assert [tuple(row) for row in answer.drop(columns="org_id").itertuples(index=False)] == [
            (sample.TODAY - timedelta(days=3), 1, 0, 0),
            (sample.TODAY - timedelta(days=1), 2, 2, 1),
        ]


class TestLists:
    def test_organizations_and_projects_in_reach(self, store: Store, owner: Owner) -> None:
        for org, name in (("org_a", "Zulu"), ("org_b", "Alpha"), ("org_c", "Other")):
            sample.add_organization(owner, org, name)
        reach = Reach.of(frozenset({"org_a", "org_b"}))
        scope = Scope.of_days(reach, TODAY, TODAY, "org_a")
        assert list(store.ask(Organizations(scope))["name"]) == ["Alpha", "Zulu"]
        sample.add_organization(owner, "org_d", "<script>")
        sample.add_organization(owner, "org_e", "Ärger")
        reach = Reach.of(frozenset({"org_a", "org_b", "org_d", "org_e"}))
        names = list(store.ask(Organizations(Scope.of_days(reach, TODAY, TODAY)))["name"])
        assert sorted(names[:-1]) == ["Alpha", "Zulu", "Ärger"]
        assert names[-1] == "<script>"  # begins with a sign, and before every letter in most orders
        assert list(store.ask(Projects(scope))["id"]) == ["api"]
        assert list(store.ask(Features(scope))["org_id"]) == ["org_a"]
        every = Scope.of_days(reach, TODAY, TODAY)
        assert list(store.ask(Features(every, ("org_b", "org_c")))["org_id"]) == ["org_b"]  # org_c is out of reach
        assert store.ask(Features(every, ())).empty


DEEP = '{"a":' * 7000 + "1" + "}" * 7000


class TestFlagStates:
    @pytest.mark.parametrize(
        ("features", "states"),
        [
            (None, ("absent", "absent")),
            ("{}", ("absent", "absent")),
            ('{"feedback_weighting_disabled": true}', ("on", "absent")),
            (
                '{"feedback_weighting_disabled": false, "corroboration_boost_enabled": true, "other": [1]}',
                ("off", "on"),
            ),
        ],
    )
    def test_three_states(self, features: str | None, states: tuple[str, str]) -> None:
        found = flag_states(features)
        assert found.malformed is None
        assert (found.state("feedback_weighting_disabled"), found.state("corroboration_boost_enabled")) == states

    @pytest.mark.parametrize(
        "features",
        [
            "null", "[]", '"text"', "3", "true", "{", '{"feedback_weighting_disabled": "yes"}', DEEP,
            '{"feedback_weighting_disabled": null}', '{"corroboration_boost_enabled": 1e400}', "\\u0000",
        ],
    )  # fmt: skip
    def test_anything_else_is_malformed_and_says_why(self, features: str) -> None:
        found = flag_states(features)
        assert found.malformed
        assert found.state("feedback_weighting_disabled") is None

    @pytest.mark.parametrize("features", ["null", "[]", '"x"', "3", '{"feedback_weighting_disabled": "yes"}', None])
    def test_one_malformed_organization_does_not_hide_the_others(
        self, store: Store, owner: Owner, features: str | None
    ) -> None:
        sample.add_organization(owner, "org_a", features=features)
        sample.add_organization(owner, "org_b", features='{"feedback_weighting_disabled": true}')
        answer = store.ask(Features(WINDOW)).set_index("org_id")["features"]
        assert flag_states(answer["org_b"]).state("feedback_weighting_disabled") == "on"
        assert len(store.ask(Overview(WINDOW))) == 2


def test_the_plan_of_one_organization_uses_the_index(store: Store, owner: Owner) -> None:
    """ISO-10 in small: no sequential scan of the log for one organization and one week."""
    owner.execute("insert into organizations (id, name) select 'org_' || i, 'n' from generate_series(1, 50) i")
    owner.execute(
        """insert into retrieval_ab_logs (org_id, session_id, query_text, observation_id, weighting_enabled, created_at)
           select 'org_' || (i % 50 + 1), 's', 'q', gen_random_uuid(), true, now() - i * interval '1 minute'
             from generate_series(1, 50000) i"""
    )
    owner.execute("analyze")
    scope = Scope.of_days(EVERYTHING, TODAY - timedelta(days=6), TODAY, "org_7")
    asked = Overview(scope).statement().compile(store.reader, compile_kwargs={"render_postcompile": True})
    with store.reading(EVERYTHING) as connection:
        plan = "\n".join(row[0] for row in connection.exec_driver_sql(f"explain {asked}", dict(asked.params)))
    assert "logs_recent" in plan
    assert "Seq Scan on retrieval_ab_logs" not in plan


def test_dates_at_the_edge_of_time_do_not_fail_the_page(store: Store, owner: Owner) -> None:
    sample.add_organization(owner, "org_a")
    for moment in ("0001-01-01", "9999-12-31", "infinity", "-infinity"):
        owner.execute(
            """insert into retrieval_ab_logs
                 (org_id, session_id, query_text, observation_id, unweighted_rank, weighted_rank, weighting_enabled,
                  created_at) values ('org_a', 's', 'q', gen_random_uuid(), 0, 0, true, %s::timestamptz)""",
            (moment,),
        )
    wide = Scope.of_days(EVERYTHING, date(2000, 1, 1), TODAY)
    assert one(store, wide)["retrievals"] == 0
