"""Chance among many organizations: the same test as in one, adjusted as scipy does, and quiet where nothing changed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from analysis.health.change import EVENTS, SERVICES, compare, is_chance, worst_first
from analysis.health.checks import CHECKS
from analysis.health.counts import Shares
from analysis.health.organizations import FALSE, adjusted, by_chance, compare_each

ORGANIZATIONS = 50
# measure: how often it happens in a quiet week, and of how many
USUAL = {
    "accepted": (0.7, 60), "misled": (0.05, 60), "empty": (0.02, 100), "coverage": (0.99, 200),
    "integrity": (0.98, 200), "lost": (0.005, 150),
}  # fmt: skip
MEASURES = {each.name: each for each in (*SERVICES, *CHECKS)}

Counts = dict[str, dict[str, float]]


def a_week(draw: np.random.Generator) -> Counts:
    """The counts of every organization in a week in which nothing is unusual."""
    found: Counts = {}
    for number in range(ORGANIZATIONS):
        counts = found.setdefault(f"org_{number}", {})
        for name, (share, size) in USUAL.items():
            measure = MEASURES[name]
            # what is formed of the same whole has the same one
            whole = counts.setdefault(measure.whole or "", float(1 + draw.poisson(size)))
            counts[measure.part] = float(draw.binomial(int(whole), share))
    return found


def marks(now: Counts, before: Counts) -> list[tuple[str, str]]:
    found = compare_each(now, before)
    return [(org, each.measure.name) for org, compared in found.items() for each in worst_first(compared)]


@st.composite
def events(draw: st.DrawFn) -> tuple[int, int]:
    whole = draw(st.integers(1, 400))
    return draw(st.integers(0, whole)), whole


class TestByChance:
    @given(st.lists(st.tuples(events(), events()), min_size=1, max_size=20))
    def test_below_five_percent_it_is_what_one_organization_calls_no_chance(
        self, seen: list[tuple[tuple[int, int], tuple[int, int]]]
    ) -> None:
        chances = by_chance(seen)
        for (before, now), chance in zip(seen, chances, strict=True):
            if abs(chance - 0.05) > 1e-9:
                assert (chance > 0.05) == is_chance(now, before)

    def test_a_change_in_either_direction_is_as_likely_and_none_is_certain(self) -> None:
        up, down, none, nothing = by_chance(
            [((50, 100), (70, 100)), ((70, 100), (50, 100)), ((7, 9), (7, 9)), ((0, 0), (9, 9))]
        )
        assert up == pytest.approx(down)
        assert (none, nothing) == (pytest.approx(1), 1)

    def test_of_many_it_is_the_normal_law(self) -> None:
        """50.0 to 50.4 % of a million: √(2 · 0.5 · 0.5 / 10⁶) is 0.000707, so 5.657 standard errors."""
        (chance,) = by_chance([((500_000, 1_000_000), (504_000, 1_000_000))])
        assert chance == pytest.approx(1.54e-8, rel=0.01)
        assert by_chance([((0, 1_000_000), (1_000_000, 1_000_000))]) == [0.0]

    def test_of_none_there_is_none(self) -> None:
        assert len(adjusted(by_chance([]))) == 0


@given(st.lists(st.sampled_from([0.0, 0.001, 0.01, 0.02, 0.04, 0.05, 0.3, 1.0]), min_size=1, max_size=30))
def test_adjusted_as_scipy_does(chances: list[float]) -> None:
    assert adjusted(np.array(chances)) == pytest.approx(false_discovery_control(chances, method="bh"))


class TestFleet:
    def test_quiet_weeks_have_hardly_any_mark(self) -> None:
        """Each by itself, three or four rows of fifty are called worse every week."""
        draw = np.random.default_rng(20_261_118)
        weeks = [(a_week(draw), a_week(draw)) for _ in range(40)]
        alone = [
            sum(len(worst_first(compare(counts, before[org]))) for org, counts in now.items()) for now, before in weeks
        ]
        assert np.mean(alone) > 2
        assert sum(len(marks(now, before)) for now, before in weeks) <= 2

    def test_one_that_got_worse_is_marked(self) -> None:
        """Of about sixty sessions seven in ten were accepted, then three in ten."""
        draw = np.random.default_rng(7)
        now, before = a_week(draw), a_week(draw)
        now["org_17"] |= {"accepted": 18, "judged": 60}
        before["org_17"] |= {"accepted": 42, "judged": 60}
        assert marks(now, before) == [("org_17", "accepted")]

    def test_what_one_organization_would_call_worse_is_chance_among_fifty(self) -> None:
        """45 of 60 after 33 of 60: its own interval just leaves zero."""
        draw = np.random.default_rng(7)
        now, before = a_week(draw), a_week(draw)
        now["org_17"] |= {"accepted": 33, "judged": 60}
        before["org_17"] |= {"accepted": 45, "judged": 60}
        (alone,) = (each for each in compare(now["org_17"], before["org_17"]) if each.measure.name == "accepted")
        (among,) = (each for each in compare_each(now, before)["org_17"] if each.measure.name == "accepted")
        assert (alone.meaning, among.meaning) == ("worse", "chance")
        assert among.of == (60, 60)

    def test_two_organizations_alone_are_hardly_adjusted(self) -> None:
        """One test each: the smaller chance counts twice, the larger once."""
        now: Counts = {"a": {"accepted": 50, "judged": 100}, "b": {"accepted": 50, "judged": 100}}
        before: Counts = {"a": {"accepted": 80, "judged": 100}, "b": {"accepted": 51, "judged": 100}}
        assert marks(now, before) == [("a", "accepted")]

    def test_sessions_accepted_mean_the_same_whatever_else_is_asked(self) -> None:
        """Half of the organizations fell, each further than the one before: some hold among so many and some do not."""
        draw = np.random.default_rng(19)
        now, before = a_week(draw), a_week(draw)
        for number in range(0, ORGANIZATIONS, 2):
            now[f"org_{number}"] |= {"accepted": 42 - number // 2, "judged": 60}
            before[f"org_{number}"] |= {"accepted": 42, "judged": 60}

        def told(now: Counts, before: Counts) -> dict[str, str]:
            found = compare_each(now, before)
            return {
                org: next(each.meaning for each in told if each.measure.name == "accepted")
                for org, told in found.items()
            }

        alone = told(
            *(
                {org: {name: counts[name] for name in ("accepted", "judged")} for org, counts in week.items()}
                for week in (now, before)
            )
        )
        assert {"worse", "chance"} <= set(alone.values())
        assert told(now, before) == alone

    def test_what_stayed_the_same_is_not_called_unclear(self) -> None:
        counts: Counts = {org: {"accepted": 50, "judged": 100} for org in ("a", "b")}
        told = {each.meaning for org in compare_each(counts, counts).values() for each in org if each.seen is not None}
        assert told == {"same"}

    def test_what_is_stored_needs_no_test_unless_it_was_drawn(self) -> None:
        now: Counts = {f"org_{n}": {"stale": 230.0 if n else 190.0, "kept": 1000.0} for n in range(40)}
        before: Counts = {f"org_{n}": {"stale": 190.0, "kept": 1000.0} for n in range(40)}
        assert len(marks(now, before)) == 39
        drawn = compare_each(now, before, Shares(stored=0.5))
        assert not [each for compared in drawn.values() for each in worst_first(compared)]

    def test_every_measure_of_events_has_a_usual_share_here(self) -> None:
        assert set(USUAL) == EVENTS
        assert FALSE == 0.05
