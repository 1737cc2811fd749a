"""What Overview's answers add up to: sums of all organizations, and each one's retrievals by day."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from queries.schema import OUTCOMES

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

    from queries.scope import Scope

Totals = dict[str, float]


def totals(overview: pd.DataFrame) -> Totals:
    """Sums over all organizations."""
    sums = {str(name): float(value) for name, value in overview.sum(numeric_only=True).items()}
    return sums | {"judged": sum(sums[name] for name in OUTCOMES)}


def by_day(daily: pd.DataFrame, orgs: Iterable[str], scope: Scope) -> list[list[int]]:
    """Retrievals of each organization on every day of the window; a pivot of the frame takes ten times as long."""
    places = {scope.since + timedelta(days=place): place for place in range(scope.days)}
    counts = {org: [0] * len(places) for org in orgs}
    for org, day, retrievals in zip(daily["org_id"], daily["day"], daily["retrievals"], strict=True):
        if org in counts and day in places:
            counts[org][places[day]] += retrievals
    return list(counts.values())
