"""What Overview's answers add up to: sums of all organizations, and each one's retrievals by day."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from analysis.health.change import compare
from analysis.health.counts import Shares
from analysis.health.dips import may_have_dip, seen_by_day, with_dips
from analysis.health.organizations import compare_each
from queries.schema import OUTCOMES

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    import pandas as pd

    from analysis.health.change import Compared
    from analysis.intervals import Seen
    from queries.scope import Scope

Totals = dict[str, float]
COMPARED = ("accepted", "judged", "complete", "retrievals")


def totals(overview: pd.DataFrame) -> Totals:
    """Sums over all organizations."""
    sums = {str(name): float(value) for name, value in overview.sum(numeric_only=True).items()}
    return sums | {"judged": sum(sums[name] for name in OUTCOMES)}


def compared(now: Totals, then: Totals, share: float) -> dict[str, Compared]:
    """The shares that are better one way, as Health compares them; of the log a ``share`` was seen."""
    known, past = ({name: each[name] for name in COMPARED} for each in (now, then))
    return {each.measure.name: each for each in compare(known, past, Shares(log=share)) if each.now is not None}


@dataclass(frozen=True)
class Changes:
    """Against the window before: shares of all organizations together by measure, and accepted sessions of each."""

    together: dict[str, Compared]
    each: dict[str, Compared]

    def in_question(self, listed: Iterable[str], scope: Scope) -> tuple[tuple[str, ...], bool]:
        """Who of those listed may be better only against a dip, and whether all together may."""
        orgs = tuple(org for org in listed if org in self.each and may_have_dip(self.each[org], scope))
        return orgs, "accepted" in self.together and may_have_dip(self.together["accepted"], scope)

    def with_dips(self, days: pd.DataFrame, scope: Scope, *, every: bool) -> Changes:
        """The same with the dips that ``days`` of organizations hold; ``every`` has a row in them, with no name."""
        by_org: dict[str, dict[datetime, Seen]] = {}
        columns = (days[name] for name in ("org_id", "day", "accepted", "judged"))
        for org, day, accepted, judged in zip(*columns, strict=True):
            by_org.setdefault(org, {})[day] = (accepted, judged)
        whole = with_dips(self.together, {"accepted": seen_by_day(days)} if every else {}, scope)
        return replace(self, together=whole, each=with_dips(self.each, by_org, scope))


def changes(now: pd.DataFrame, then: pd.DataFrame, share: float) -> Changes:
    """What both windows say; of the log a ``share`` was seen."""
    return Changes(compared(totals(now), totals(then), share), accepted_each(now, then))


def accepted_each(now: pd.DataFrame, then: pd.DataFrame) -> dict[str, Compared]:
    """Accepted sessions of each organization against the window before, held against chance in all of them."""
    found = compare_each(_sessions(now), _sessions(then))
    return {org: next(each for each in compared if each.measure.name == "accepted") for org, compared in found.items()}


def _sessions(overview: pd.DataFrame) -> dict[str, dict[str, float]]:
    rows = overview[["org_id", *OUTCOMES]].itertuples(index=False)
    place = OUTCOMES.index("accepted")
    return {org: {"accepted": counts[place], "judged": sum(counts)} for org, *counts in rows}


def by_day(daily: pd.DataFrame, orgs: Iterable[str], scope: Scope) -> list[list[int]]:
    """Retrievals of each organization on every day of the window; a pivot of the frame takes ten times as long."""
    places = {scope.since + timedelta(days=place): place for place in range(scope.days)}
    counts = {org: [0] * len(places) for org in orgs}
    for org, day, retrievals in zip(daily["org_id"], daily["day"], daily["retrievals"], strict=True):
        if org in counts and day in places:
            counts[org][places[day]] += retrievals
    return list(counts.values())
