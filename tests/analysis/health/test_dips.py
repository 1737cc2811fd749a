"""Dips against the same said slowly, one organization, one week and one sum at a time."""

from __future__ import annotations

import random
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

import pandas as pd
import pytest

from analysis.health.change import SERVICES, Compared, Dip, is_chance
from analysis.health.dips import seen_by_day, with_dips
from analysis.health.organizations import by_chance
from queries.scope import EVERYTHING, Scope

if TYPE_CHECKING:
    from analysis.intervals import Seen

ACCEPTED = SERVICES[0]
DAY = timedelta(days=1)


def scope_of(days: int) -> Scope:
    last = date(2026, 3, 30)
    return Scope.of_days(EVERYTHING, last - (days - 1) * DAY, last)


def compared(before: Seen, now: Seen, meaning: str = "better") -> Compared:
    return Compared(ACCEPTED, now[0] / now[1], before[0] / before[1], meaning, (before, now))  # type: ignore[arg-type]


def slowly(days: dict[datetime, Seen], now: Seen, scope: Scope) -> Dip | None:
    every = [scope.before().since + number * DAY for number in range(scope.days)]
    before = [days.get(day, (0, 0)) for day in every]
    weeks = []
    for first in range(len(before) - 6):
        week, rest = before[first : first + 7], before[:first] + before[first + 7 :]
        inside, outside = ((sum(each[0] for each in part), sum(each[1] for each in part)) for part in (week, rest))
        if inside[1] and outside[1] and inside[0] * outside[1] < outside[0] * inside[1]:
            weeks.append((by_chance([(outside, inside)])[0], inside[0] / inside[1], first, outside))
    if not weeks:
        return None
    chance, share, first, outside = min(weeks)
    if chance * (scope.days - 6) > 0.05:
        return None
    if now[0] / now[1] > outside[0] / outside[1] and not is_chance(now, outside):
        return None
    return Dip(every[first + 6], 100 * share, 100 * outside[0] / outside[1])


def planted(draw: random.Random, scope: Scope) -> dict[datetime, Seen]:
    """Days with sessions or without, some of them fallen; and a day on either side of the window before."""
    before = scope.before()
    found: dict[datetime, Seen] = {before.since - DAY: (0, 500), scope.since: (0, 500)}
    start, length = draw.randrange(scope.days), draw.randrange(12)
    for number in range(scope.days):
        size = draw.choice((0, 1, 5, 20, 40))
        share = draw.choice((0.2, 0.5)) if start <= number < start + length else 0.85
        if size:
            found[before.since + number * DAY] = (sum(draw.random() < share for _ in range(size)), size)
    return found


@pytest.mark.parametrize("days", [14, 30, 90])
def test_many_at_once_are_each_as_if_alone(days: int) -> None:
    draw, scope = random.Random(days), scope_of(days)  # noqa: S311 - planted figures
    by_org = {f"org_{number}": planted(draw, scope) for number in range(150)}
    found, expected = {}, {}
    for org, mine in by_org.items():
        inside = [seen for day, seen in mine.items() if scope.before().since <= day < scope.since]
        past = (sum(each[0] for each in inside), sum(each[1] for each in inside))
        now = (draw.randint(880, 990), 1_000)
        found[org] = compared(past, now)
        improved = now[0] / now[1] - past[0] / past[1] >= 0.01
        expected[org] = slowly(mine, now, scope) if improved else None
    told = with_dips(found, by_org, scope)
    assert list(told) == list(found)
    for org, dip in expected.items():
        own = told[org].dip
        assert (own and own.last) == (dip and dip.last), org
        assert (own or ())[1:] == pytest.approx((dip or ())[1:]), org
    known = [dip is not None for dip in expected.values()]
    assert any(known)
    assert not all(known)


GOOD, BAD, NONE = (9, 10), (3, 10), (0, 0)


def dip_of(before: list[Seen], now: Seen = (135, 150)) -> Dip | None:
    """The dip of these days, then of a window that was better than they are."""
    scope = scope_of(len(before))
    days = {scope.before().since + number * DAY: seen for number, seen in enumerate(before)}
    past = (sum(part for part, _ in before), sum(whole for _, whole in before))
    return with_dips({"a": compared(past, now)}, {"a": days}, scope)["a"].dip


def last_of(days: int, back: int) -> datetime:
    return scope_of(days).since - back * DAY


class TestByHand:
    def test_the_week_by_its_last_day_its_share_and_that_of_the_others(self) -> None:
        assert dip_of([GOOD] * 4 + [BAD] * 7 + [GOOD] * 3) == (last_of(14, 4), 30.0, 90.0)
        assert dip_of([GOOD] * 7 + [BAD] * 7) == (last_of(14, 1), 30.0, 90.0)

    def test_one_session_that_failed_in_an_idle_week_hides_no_dip(self) -> None:
        """Its share, 0 of 1, is lower than the dip's and says nothing."""
        before = [(0, 1), *[NONE] * 7, *[GOOD] * 8, *[BAD] * 7, *[GOOD] * 7]
        assert dip_of(before) == (last_of(30, 8), 30.0, 100 * 135 / 151)

    def test_no_others_to_speak_of(self) -> None:
        assert dip_of([GOOD] * 6 + [BAD] * 7) is None
        assert dip_of([NONE] * 7 + [BAD] * 7) is None

    def test_a_week_is_held_against_chance_in_all_that_were_looked_at(self) -> None:
        """52 of 70 beside 63 of 70 has a chance of 1.7 % by itself, and of 13 % as the worst of eight weeks."""
        assert dip_of([GOOD] * 7 + [(7, 10)] * 4 + [(8, 10)] * 3) is None
        assert dip_of([GOOD] * 7 + [(6, 10)] * 7) is not None

    @pytest.mark.parametrize(("accepted", "is_dip"), [(1_260, True), (1_270, True), (1_400, False)])
    def test_what_is_certainly_better_than_the_others_too_is_no_recovery(self, accepted: int, *, is_dip: bool) -> None:
        assert (dip_of([GOOD] * 7 + [BAD] * 7, (accepted, 1_400)) is not None) == is_dip


FALLEN = {
    scope_of(30).before().since + number * DAY: (10 if number in range(9, 16) else 90, 100) for number in range(30)
}
BEFORE = (10 * 7 + 90 * 23, 3_000)


@pytest.mark.parametrize(
    ("meaning", "days", "now"),
    [("worse", 30, 2_700), ("chance", 30, 2_700), ("same", 30, 2_700), ("better", 13, 2_700), ("better", 30, 2_150)],
)
def test_only_what_is_called_better_in_two_weeks_or_more_has_one(meaning: str, days: int, now: int) -> None:
    """The last: less than a point more than the 71.3 % before, which has no word."""
    first = scope_of(30).before().since + 15 * DAY
    dip = Dip(first, pytest.approx(10), pytest.approx(90))  # type: ignore[arg-type]
    assert with_dips({"a": compared(BEFORE, (2_700, 3_000))}, {"a": FALLEN}, scope_of(30))["a"].dip == dip
    asked = {"a": compared(BEFORE, (now, 3_000), meaning)}
    assert with_dips(asked, {"a": FALLEN}, scope_of(days)) == asked


def test_whose_days_are_not_known_has_none() -> None:
    found = {name: compared(BEFORE, (2_700, 3_000)) for name in ("a", "b")}
    told = with_dips(found, {"b": FALLEN, "c": FALLEN}, scope_of(30))
    assert [told[name].dip is None for name in ("a", "b")] == [True, False]
    assert with_dips(found, {"a": {}}, scope_of(30)) == found


def test_rows_of_one_day_are_added_up() -> None:
    noon = datetime(2026, 3, 1, tzinfo=UTC)
    rows = pd.DataFrame({"day": [noon, noon, noon + DAY], "accepted": [1, 2, 4], "judged": [3, 5, 4]})
    assert seen_by_day(rows) == {noon: (3, 8), noon + DAY: (4, 4)}
    assert all(one < other for one, other in pairwise(seen_by_day(rows)))
