"""What Overview's answers add up to: sums of all organizations, and each one's retrievals by day."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from analysis.health.change import compare
from analysis.health.counts import Shares
from analysis.health.organizations import compare_each
from queries.schema import OUTCOMES

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

    from analysis.health.change import Compared
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
