"""Figures of all organizations over a log too long to fold whole: drawn by page, whole retrievals, true on average."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import func, select

from analysis.intervals import Z
from queries.drawn import COUNTED, FOLDED, KEPT, PAGED, ROWS, WHOLE, retrievals_drawn
from queries.health.logged import LogIntegrity
from queries.health.stored import Weights
from queries.impact.listed import ListedRetrievals
from queries.impact.measures import Measures
from queries.impact.moves import Movers, Moves
from queries.impact.outcomes import SessionOutcomes
from queries.impact.selection import Filters, Newest, Selection
from queries.overview import DailyRetrievals, Overview
from queries.scope import EVERYTHING, Reach, Scope
from queries.shape import LogShape, log_shape
from tests import sample
from tests.long_log import LONG, RETRIEVALS, SMALL, plant

if TYPE_CHECKING:
    import pandas as pd
    import psycopg

    from queries.engine import Store

    Owner = psycopg.Connection[Any]

TODAY = sample.TODAY.date()
WINDOW = Scope.of_days(EVERYTHING, TODAY - timedelta(days=6), TODAY)
ONE = Scope.of_days(EVERYTHING, TODAY - timedelta(days=6), TODAY, "org_a")


@pytest.fixture
def logged(owner: Owner) -> None:
    plant(owner)


def test_only_a_long_log_is_drawn_from_and_never_for_one_organization() -> None:
    assert LONG.share(WINDOW) == round(PAGED / LONG.length, 4) == 0.3
    assert LogShape(length=FOLDED + 1).share(WINDOW) == 0.6
    assert LONG.share(ONE) == LogShape(length=FOLDED).share(WINDOW) == WHOLE
    assert LogShape(retrieval_id=False, length=FOLDED + 1).share(WINDOW) == WHOLE
    assert LogShape(created_at=False, length=FOLDED + 1).share(WINDOW) == WHOLE


def test_only_many_observations_or_injections_are_drawn_from() -> None:
    many = LogShape(stored=COUNTED + 1, given=COUNTED + 1)
    assert many.stored_share(WINDOW) == many.given_share(WINDOW) == round(ROWS / (COUNTED + 1), 4) == 0.15
    few = LogShape(stored=COUNTED, given=COUNTED)
    shares = [few.stored_share(WINDOW), few.given_share(WINDOW), many.stored_share(ONE), many.given_share(ONE)]
    assert shares == [WHOLE] * 4


def test_who_may_see_only_some_organizations_is_shown_all_of_theirs() -> None:
    some = Scope.of_days(Reach(("org_a", "org_b")), TODAY - timedelta(days=6), TODAY)
    assert LONG.share(some) == WHOLE


def test_the_length_of_a_log_is_the_planners(store: Store, owner: Owner, logged: None) -> None:  # noqa: ARG001
    owner.execute("analyze retrieval_ab_logs")
    with store.reading(EVERYTHING, 1.0) as connection:
        assert log_shape(connection).length == RETRIEVALS * 20 + SMALL * 10 - (RETRIEVALS + SMALL) // 10


def test_a_log_whose_rows_need_not_name_their_retrieval_is_not_drawn_from(
    store: Store,
    owner: Owner,
    logged: None,  # noqa: ARG001
) -> None:
    owner.execute("alter table retrieval_ab_logs alter retrieval_id drop not null")
    owner.execute("analyze retrieval_ab_logs")
    with store.reading(EVERYTHING, 1.0) as connection:
        assert log_shape(connection).length == 0


@pytest.mark.usefixtures("logged")
class TestDrawn:
    def test_columns_that_a_log_lacks_are_not_asked_for(self, store: Store, owner: Owner) -> None:
        owner.execute("alter table retrieval_ab_logs drop column injected, drop column pipeline")
        owner.execute("alter table retrieval_ab_logs drop column corroboration_boost, drop column id cascade")
        shape = LogShape(injected=False, pipeline=False, corroboration_boost=False, length=LONG.length)
        drawn = store.ask(Overview(WINDOW, shape)).set_index("org_id")
        assert drawn.loc["org_a", "retrievals"] == pytest.approx(RETRIEVALS, rel=0.2)
        assert drawn["block_known"].tolist() == [0, 0]

    def test_a_mean_over_few_retrievals_stays_a_mean(self, store: Store, owner: Owner) -> None:
        """Counts are rounded, and what is summed over retrievals with them."""
        owner.execute("delete from retrieval_ab_logs where org_id = 'org_b' and query_text not in ('q1', 'q2', 'q4')")
        for length in range(LONG.length, 4 * LONG.length, LONG.length // 3):
            drawn = store.ask(Overview(WINDOW, LogShape(length=length)))
            known = drawn[drawn["measured"] > 0]
            assert (known["overlap"] / known["measured"]).max() <= 1 + 1e-12

    def test_estimates_are_near_the_counts_and_shares_nearer(self, store: Store) -> None:
        exact, drawn = (store.ask(Overview(WINDOW, shape)).set_index("org_id") for shape in (LogShape(), LONG))
        for org in ("org_a", "org_b"):
            one, other = exact.loc[org], drawn.loc[org]
            assert one["retrievals"] == {"org_a": RETRIEVALS, "org_b": SMALL}[org]
            assert other["retrievals"] == pytest.approx(one["retrievals"], rel=0.2)
            assert other["retrievals"] != one["retrievals"]
            assert other["log_rows"] == pytest.approx(one["log_rows"], rel=0.2)
            for part, whole in (("moved", "measured"), ("complete", "retrievals"), ("overlap", "measured")):
                assert other[part] / other[whole] == pytest.approx(one[part] / one[whole], abs=0.06)

    def test_a_retrieval_is_read_whole_or_not_at_all(self, store: Store) -> None:
        """One cut at the end of a page would count as incomplete, and those are exactly one in ten."""
        drawn = store.ask(Overview(WINDOW, LONG)).set_index("org_id")
        assert (1 - drawn["complete"] / drawn["retrievals"]).tolist() == pytest.approx([0.1, 0.1], abs=0.04)

    def test_every_question_draws_the_same_retrievals(self, store: Store) -> None:
        overview, daily, health = (
            store.ask(question(WINDOW, LONG)) for question in (Overview, DailyRetrievals, LogIntegrity)
        )
        counts = overview.set_index("org_id")["retrievals"]
        assert daily.groupby("org_id")["retrievals"].sum().tolist() == counts.tolist()
        assert health.set_index("org_id")["retrievals"].to_dict() == counts.to_dict()
        assert (health["complete"].tolist(), health["sound"].tolist()) == (overview["complete"].tolist(),) * 2

    def test_the_newest_is_that_of_the_log_and_not_of_what_was_drawn(self, store: Store, owner: Owner) -> None:
        """Also of an organization that nothing was drawn of: one row on the last page, which the draw leaves out."""
        newest = sample.TODAY - timedelta(minutes=1)
        last = {"org_a": newest - timedelta(minutes=1), "org_c": newest}
        sample.add_organization(owner, "org_c")
        for org, at in last.items():
            owner.execute(
                """insert into retrieval_ab_logs (org_id, retrieval_id, session_id, query_text, observation_id,
                       relevance_score, feedback_weight, weighted_score, unweighted_rank, weighted_rank,
                       weighting_enabled, created_at)
                   values (%s, gen_random_uuid(), 's', 'last', gen_random_uuid(), 0.5, 1, 0.5, 0, 0, true, %s)""",
                (org, at),
            )
        overview, health = (store.ask(kind(WINDOW, LONG)).set_index("org_id") for kind in (Overview, LogIntegrity))
        assert [int(found["retrievals"]["org_c"]) for found in (overview, health)] == [0, 0]
        last["org_b"] = sample.TODAY - timedelta(hours=1, seconds=1)
        for found in (overview, health):
            assert found["newest"].dt.to_pydatetime().tolist() == [last[str(org)] for org in found.index]
        before = Scope.of_days(EVERYTHING, TODAY - timedelta(days=20), TODAY - timedelta(days=10))
        assert store.ask(Overview(before, LONG))["newest"].isna().all()
        assert store.ask(LogIntegrity(before, LONG)).empty

    def test_what_none_of_those_drawn_has_is_none_and_not_unknown(self, store: Store) -> None:
        drawn = store.ask(LogIntegrity(WINDOW, LONG))
        assert drawn["repeated"].tolist() == drawn["unusable"].tolist() == [0, 0]

    def test_one_organization_is_counted(self, store: Store) -> None:
        assert store.ask(Overview(ONE, LONG)).iloc[0]["retrievals"] == RETRIEVALS


def good_to(drawn: float) -> float:
    """What the trust strip says a share is good to, as a share."""
    return Z * 0.5 / math.sqrt(drawn)


@pytest.mark.usefixtures("logged")
class TestImpactDrawn:
    """Feedback Impact of all organizations: each figure beside the same one of the whole log."""

    EXACT, DRAWN = Selection(WINDOW), Selection(WINDOW, shape=LONG)

    def sums(self, store: Store, chosen: Selection) -> pd.Series[float]:
        return store.ask(Measures(chosen)).sum(numeric_only=True).astype("float64")

    def test_shares_are_as_good_as_is_said(self, store: Store) -> None:
        exact, drawn = self.sums(store, self.EXACT), self.sums(store, self.DRAWN)
        assert exact["drawn"] == exact["comparable"] == 0.9 * (RETRIEVALS + SMALL)
        assert 0 < drawn["drawn"] < 0.3 * exact["comparable"]
        for part, whole in (
            ("top_k", "comparable"), ("top_one", "comparable"), ("block_changed", "block_known"),
            ("injected", "block_rows"), ("overlap", "comparable"), ("complete", "retrievals"),
        ):  # fmt: skip
            apart = abs(drawn[part] / drawn[whole] - exact[part] / exact[whole])
            assert apart <= good_to(drawn["drawn"]), part
        assert drawn["shift"] / drawn["candidates"] == pytest.approx(exact["shift"] / exact["candidates"], rel=0.2)
        for name in ("retrievals", "log_rows", "comparable", "flips", "incomplete"):
            assert drawn[name] == pytest.approx(exact[name], rel=0.25), name
        assert drawn["repeated"] == drawn["unreadable"] == drawn["unweighted"] == 0

    def test_the_pictures_count_what_the_figures_count(self, store: Store) -> None:
        days, cells = store.ask(Measures(self.DRAWN)), store.ask(Moves(self.DRAWN))
        # each cell is rounded by itself
        assert cells["candidates"].sum() == pytest.approx(days["candidates"].sum(), abs=len(cells))
        moved = cells[cells["unweighted_rank"] != cells["weighted_rank"]]["candidates"].sum()
        exact = store.ask(Moves(self.EXACT))
        expected = exact[exact["unweighted_rank"] != exact["weighted_rank"]]["candidates"].sum()
        assert moved == pytest.approx(expected, rel=0.25)

    def test_what_is_listed_was_drawn_and_how_many_there_are_is_an_estimate(self, store: Store) -> None:
        exact, drawn = (store.ask(ListedRetrievals(chosen)) for chosen in (self.EXACT, self.DRAWN))
        assert len(drawn) == len(exact) == 100
        assert set(drawn["total"]) == {drawn["total"][0]}
        assert drawn["total"][0] != exact["total"][0] == 0.9 * (RETRIEVALS + SMALL)
        assert drawn["total"][0] == pytest.approx(exact["total"][0], rel=0.25)
        assert set(drawn["shift"]) == {2}
        cell = store.ask(ListedRetrievals(self.DRAWN, (4, 5)))
        assert cell["top_moved"].all()
        assert cell["total"][0] == pytest.approx(540, rel=0.3)

    def test_what_one_observation_did_is_counted_in_what_was_drawn(self, store: Store) -> None:
        moved = store.ask(Movers(self.DRAWN))
        assert (moved["retrievals"].tolist(), moved["places"].abs().tolist()) == ([1] * 16, [1] * 16)

    def test_sessions_are_those_of_the_retrievals_drawn(self, store: Store, owner: Owner) -> None:
        owner.execute("update retrieval_ab_logs set session_id = 's' || (substr(query_text, 2)::int - 1) / 4")
        exact, drawn = (store.ask(SessionOutcomes(chosen))["sessions"].sum() for chosen in (self.EXACT, self.DRAWN))
        assert exact == RETRIEVALS // 4 + SMALL // 4
        assert 0.2 * exact < drawn < exact

    def test_filters_hold_for_what_was_drawn(self, store: Store) -> None:
        off = self.sums(store, Selection(WINDOW, Filters(weighting="off"), shape=LONG))
        assert off["retrievals"] == 0
        some = self.sums(store, Selection(WINDOW, Filters(text="q11"), shape=LONG))
        assert 0 < some["retrievals"] < 0.3 * RETRIEVALS

    def test_both_windows_are_drawn_alike_and_the_newest_is_that_of_the_log(self, store: Store) -> None:
        day = Scope.of_days(EVERYTHING, TODAY, TODAY)
        first = store.ask(Measures(Selection(day, shape=LONG)))
        assert store.ask(Measures(Selection(WINDOW, shape=LONG)))["retrievals"].sum() == first["retrievals"].sum()
        assert store.ask(Newest(WINDOW))["at"][0] == sample.TODAY - timedelta(hours=1, seconds=1)
        before = Scope.of_days(EVERYTHING, TODAY - timedelta(days=20), TODAY - timedelta(days=10))
        assert store.ask(Newest(before))["at"].isna().all()

    def test_one_organization_is_counted(self, store: Store) -> None:
        assert self.sums(store, Selection(ONE, shape=LONG))["retrievals"] == RETRIEVALS


def test_of_very_many_retrievals_an_even_share_is_kept(store: Store, owner: Owner) -> None:
    """Three in ten of 24,000 would be read whole: more than are worth it."""
    plant(owner, many=20_000, few=4_000, size=6)
    exact, drawn = (store.ask(Overview(WINDOW, shape)).sum(numeric_only=True) for shape in (LogShape(), LONG))
    with store.reading(EVERYTHING, 5.0) as connection:
        kept = connection.execute(select(func.count()).select_from(retrievals_drawn(WINDOW, 0.3))).scalar_one()
    assert kept == pytest.approx(KEPT, rel=0.05)
    assert drawn["retrievals"] == pytest.approx(exact["retrievals"], rel=0.1)
    assert 0 < drawn["drawn"] < KEPT
    for part, whole in (("moved", "measured"), ("complete", "retrievals"), ("overlap", "measured")):
        assert abs(drawn[part] / drawn[whole] - exact[part] / exact[whole]) <= good_to(drawn["drawn"]), part
    daily = store.ask(DailyRetrievals(WINDOW, LONG))
    assert daily["retrievals"].sum() == pytest.approx(drawn["retrievals"], abs=len(daily))


def test_observations_drawn_stand_for_the_rest(store: Store, owner: Owner) -> None:
    sample.add_organization(owner, "org_a")
    owner.execute(
        """insert into observations (org_id, content, content_hash, weight, created_at)
           select 'org_a', repeat('x', 400), n, case when n % 5 = 0 then 0.1 else 1 end, now()
             from generate_series(1, 8000) as n"""
    )
    exact, drawn = (store.ask(Weights(WINDOW, share)).iloc[0] for share in (WHOLE, 0.15))
    assert (exact["weighed"], exact["collapsed"]) == (8_000, 1_600)
    assert drawn["weighed"] == pytest.approx(8_000, rel=0.25)
    assert drawn["weighed"] != 8_000
    assert drawn["collapsed"] / drawn["weighed"] == pytest.approx(0.2, abs=0.02)
