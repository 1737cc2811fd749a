"""Bands, places on the common scale, and what checks say together; budgets, intervals, frontier and zones."""

from __future__ import annotations

import math

import pytest

from analysis.health.budget import budget_map
from analysis.health.checks import CHECKS, SERVER_CHECKS, Check, finding, judged
from analysis.intervals import FLOOR, mean, wilson
from queries.health.budget import BudgetRow

BY_NAME = {check.name: check for check in CHECKS}


class TestBands:
    @pytest.mark.parametrize(
        ("name", "value", "band"),
        [
            ("duplicates", 0.0, "good"), ("duplicates", 0.01, "good"), ("duplicates", 0.0101, "watch"),
            ("duplicates", 0.05, "watch"), ("duplicates", 0.051, "red"), ("coverage", 1.0, "good"),
            ("coverage", 0.95, "good"), ("coverage", 0.94, "watch"), ("coverage", 0.8, "watch"),
            ("coverage", 0.79, "red"), ("drops", 0.0, "good"), ("drops", 0.001, "watch"), ("drops", 0.02, "red"),
            ("aggregation", 0.5, "good"), ("aggregation", 25.0, "red"), ("aggregation", math.inf, "red"),
            ("never", None, "unknown"),
        ],
    )  # fmt: skip
    def test_a_limit_belongs_to_the_better_band(self, name: str, value: float | None, band: str) -> None:
        assert BY_NAME[name].band(value) == band

    @pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
    def test_the_scale_rises_with_what_is_worse_and_each_band_is_one_wide(self, check: Check) -> None:
        steps = [check.best + (check.worst - check.best) * n / 400 for n in range(401)]
        places = [check.place(value) for value in steps]
        assert places == sorted(places)
        assert (places[0], places[-1]) == (0, 3)
        for value, place in zip(steps, places, strict=True):
            band = ("good", "watch", "red").index(check.band(value))
            assert band <= place <= band + 1

    def test_a_place_by_hand(self) -> None:
        """Halfway from 30 % to 60 %, then halfway from 80 % down to nothing, and beyond the end of the scale."""
        assert BY_NAME["never"].place(0.45) == pytest.approx(1.5)
        assert BY_NAME["coverage"].place(0.4) == pytest.approx(2.5)
        assert BY_NAME["aggregation"].place(math.inf) == 3


class TestTogether:
    def test_a_count_that_is_missing_is_never_good(self) -> None:
        assert {each.band for each in judged({})} == {"unknown"}
        assert finding(judged({})) == "Nothing can be said about this memory yet"

    def test_nothing_to_form_a_share_of_is_unknown(self) -> None:
        found = {each.check.name: each for each in judged({"surplus": 0, "active": 0})}
        assert found["duplicates"].band == "unknown"

    def test_what_needs_a_hand_is_named(self) -> None:
        counts = {"surplus": 1.0, "active": 10.0, "never": 5.0, "settled": 10.0, "complete": 99.0, "retrievals": 100.0}
        found = judged(counts)
        assert {each.check.name: each.value for each in found if each.value is not None} == {
            "duplicates": 0.1, "never": 0.5, "coverage": 0.99,
        }  # fmt: skip
        assert finding(found) == "1 of 3 checks are in order, 9 cannot be known; act on exact duplicates"
        watched = finding(judged({**counts, "surplus": 0.0}))
        assert watched == "2 of 3 checks are in order, 9 cannot be known; watch never retrieved"
        assert (
            finding(judged({"surplus": 0.0, "active": 9.0}))
            == "All 1 checks of store and log are in order, 11 cannot be known"
        )

    def test_a_fleet_in_order_says_which_of_its_organizations_are_not(self) -> None:
        """1 of 1 000 duplicates in all; in the small ones 1 of 50 is to watch and 1 of 10 to act on."""
        large, small, least = ({"surplus": n, "active": of} for n, of in ((0.0, 940.0), (1.0, 50.0), (1.0, 10.0)))
        every = judged({"surplus": 2.0, "active": 1000.0})
        told = "All 1 checks of store and log are in order, 11 cannot be known"
        assert finding(every, [judged(large), judged(large)]) == told
        assert finding(every, [judged(large), judged(small)]) == f"{told}; 1 organization to watch"
        one_each = [judged(large), judged(small), judged(least)]
        assert finding(every, one_each) == f"{told}; 1 organization to act on and 1 to watch"
        assert finding(every, [*one_each, judged(least)]) == f"{told}; 2 organizations to act on and 1 to watch"
        assert (
            finding(judged(small), [judged(small)])
            == "0 of 1 checks are in order, 11 cannot be known; watch exact duplicates"
        )

    def test_every_check_says_what_to_do(self) -> None:
        assert all(check.todo and check.formula for check in (*CHECKS, *SERVER_CHECKS))

    @pytest.mark.parametrize(
        ("counts", "bands"),
        [
            ({"connections": 70, "most_connections": 100, "lag_seconds": 10, "deadlocks": 0}, ["good", "good", "good"]),
            ({"connections": 71, "most_connections": 100, "lag_seconds": 60, "deadlocks": 1}, ["watch"] * 3),
            ({"connections": 91, "most_connections": 100, "lag_seconds": 61, "deadlocks": 9}, ["red", "red", "watch"]),
            ({}, ["unknown"] * 3),
        ],
    )
    def test_the_server_is_read_by_its_own_bands(self, counts: dict[str, float], bands: list[str]) -> None:
        found = {each.check.name: each.band for each in judged(counts, SERVER_CHECKS)}
        assert [found[name] for name in ("connections", "lag", "deadlocks")] == bands

    @pytest.mark.parametrize(
        ("reading", "writing", "bands"), [(8, 3, ["good", "good"]), (10, 4, ["watch", "red"]), (11, 4, ["red", "red"])]
    )
    def test_a_pool_is_read_by_the_most_that_were_in_use_at_once(
        self, reading: int, writing: int, bands: list[str]
    ) -> None:
        """Of twelve: the eight that are kept are in order, ten is watched at 83 %, eleven is 92 %; of four, all."""
        counts = {"reading_most": reading, "reading_room": 12, "writing_most": writing, "writing_room": 4}
        found = {each.check.name: each.band for each in judged(counts, SERVER_CHECKS)}
        assert [found[name] for name in ("reading", "writing")] == bands


def work(name: str, judged_: int, accepted: int, tokens: float) -> BudgetRow:
    """A work type whose sessions were all given equally many tokens."""
    return BudgetRow(name, judged_, accepted, judged_ - accepted, 0, 0, judged_ * tokens, judged_ * tokens**2)


class TestBudget:
    def test_wilsons_interval_by_the_roots_of_its_equation(self) -> None:
        """Its ends are the shares p that lie 1.96 standard errors of their own from what was seen."""
        for part, whole in ((0, 30), (1, 30), (15, 30), (29, 30), (30, 30), (420, 600)):
            found, z = wilson(part, whole), 1.959963984540054
            for end in (found.low, found.high):
                off = (part / whole - end) ** 2 - z * z * end * (1 - end) / whole
                assert off == pytest.approx(0, abs=1e-12)

    def test_a_mean_and_its_interval(self) -> None:
        """2, 4, 6: mean 4, variance 4, error √(4/3)."""
        found = mean(3, 12, 4 + 16 + 36)
        assert found.value == 4
        assert found.high - found.value == pytest.approx(1.959963984540054 * math.sqrt(4 / 3))

    def test_zones_and_frontier(self) -> None:
        counts = [
            work("cheap and good", 100, 80, 100), work("dear and better", 100, 90, 500),
            work("cheap and bad", 100, 50, 200), work("dear and bad", 100, 40, 600), work("few", FLOOR - 1, 20, 50),
        ]  # fmt: skip
        found = budget_map(counts)
        assert (found.tokens, found.share) == (350, 0.65)
        assert [point.zone for point in found.points] == ["efficient", "generous", "starved", "wasteful", "collecting"]
        assert [point.counts.work_type for point in found.frontier] == ["cheap and good", "dear and better"]
        assert found.points[-1].tokens is None

    def test_equal_work_types_are_both_on_the_frontier(self) -> None:
        found = budget_map([work("a", 40, 20, 100), work("b", 40, 20, 100)])
        assert [point.on_frontier for point in found.points] == [True, True]

    def test_a_rejected_session_is_one_without_rework_and_none_that_was_accepted(self) -> None:
        """Of 40 fixes 20 were accepted and 16 rejected, of 40 chores 30 and none: 36 and 30 of 40 had no rework."""
        counts = [
            BudgetRow("fix", 40, 20, 4, 16, 0, 4000, 400_000), BudgetRow("chore", 40, 30, 10, 0, 0, 4000, 400_000)
        ]  # fmt: skip
        found, accepted = budget_map(counts), budget_map(counts, "accepted")
        assert found == budget_map(counts, "without_rework")
        assert [point.share and point.share.value for point in found.points] == [0.9, 0.75]
        assert [point.share and point.share.value for point in accepted.points] == [0.5, 0.75]
        assert (found.share, accepted.share) == (66 / 80, 50 / 80)
        assert [point.counts.work_type for point in found.frontier] == ["fix"]
        assert [point.counts.work_type for point in accepted.frontier] == ["chore"]
        assert found.points[0].share == wilson(36, 40)

    def test_too_few_sessions_everywhere(self) -> None:
        found = budget_map([work("a", 2, 1, 100)])
        assert (found.tokens, found.share, found.frontier) == (None, None, ())
        assert [point.zone for point in found.points] == ["collecting"]
        assert budget_map([]).points == ()
