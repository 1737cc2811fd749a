"""Tokens injected against sessions accepted without rework, by work type: intervals, the frontier, and zones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from analysis.intervals import FLOOR, Interval, mean, wilson

if TYPE_CHECKING:
    from collections.abc import Sequence

    from queries.health.budget import BudgetRow

Zone = Literal["efficient", "generous", "starved", "wasteful", "collecting"]
ZONES: dict[Zone, str] = {
    "efficient": "few tokens, mostly accepted: leave it as it is",
    "generous": "many tokens, mostly accepted: try a smaller budget in What-if and watch this share",
    "starved": "few tokens, often rework: try a larger budget, or see in the Inspector what did not fit",
    "wasteful": "many tokens, often rework: more of the same does not help; look at what is injected",
    "collecting": f"fewer than {FLOOR} sessions with an outcome: collecting data",
}


@dataclass(frozen=True)
class WorkTypePoint:
    """A work type on the map; no figures while it has too few sessions.

    ``told_apart`` says that neither interval holds the mean of all sessions: else its zone may be another's.
    """

    counts: BudgetRow
    tokens: Interval | None
    accepted: Interval | None
    on_frontier: bool
    zone: Zone
    told_apart: bool = False


@dataclass(frozen=True)
class BudgetMap:
    """The work types, and where the map is divided: the mean tokens and the share accepted of all sessions shown.

    ``every`` is how many work types there are, of which the most frequent are ``points``.
    """

    points: tuple[WorkTypePoint, ...]
    tokens: float | None
    accepted: float | None
    every: int = 0

    @property
    def is_cut(self) -> bool:
        """Whether there are work types beyond these."""
        return self.every > len(self.points)

    @property
    def frontier(self) -> tuple[WorkTypePoint, ...]:
        """From fewest tokens to most: each accepted more often than every one that costs less."""
        chosen = (point for point in self.points if point.on_frontier and point.tokens)
        return tuple(sorted(chosen, key=lambda point: point.tokens.value if point.tokens else 0.0))


def budget_map(counts: Sequence[BudgetRow]) -> BudgetMap:
    """Every work type with its zone; only those above the floor are drawn, divide the map, or make the frontier."""
    enough = [each for each in counts if each.judged >= FLOOR]
    every = max((each.work_types for each in counts), default=0)
    judged = sum(each.judged for each in enough)
    if not judged:
        return BudgetMap(tuple(map(_collecting, counts)), None, None, every)
    usual, share = sum(each.tokens for each in enough) / judged, sum(each.accepted for each in enough) / judged
    points = []
    for each in counts:
        if each.judged < FLOOR:
            points.append(_collecting(each))
            continue
        tokens, accepted = mean(each.judged, each.tokens, each.squares), wilson(each.accepted, each.judged)
        zone = _zone(cheap=tokens.value <= usual, works=accepted.value >= share)
        told_apart = not (_holds(tokens, usual) or _holds(accepted, share))
        points.append(WorkTypePoint(each, tokens, accepted, not _dominated(each, enough), zone, told_apart))
    return BudgetMap(tuple(points), usual, share, every)


def _collecting(counts: BudgetRow) -> WorkTypePoint:
    return WorkTypePoint(counts, None, None, on_frontier=False, zone="collecting")


def _zone(*, cheap: bool, works: bool) -> Zone:
    if works:
        return "efficient" if cheap else "generous"
    return "starved" if cheap else "wasteful"


def _holds(interval: Interval, value: float) -> bool:
    return interval.low <= value <= interval.high


def _dominated(one: BudgetRow, others: Sequence[BudgetRow]) -> bool:
    """Whether another costs no more and is accepted no less often, and is better in one of the two."""
    cost, share = one.tokens / one.judged, one.accepted / one.judged
    return any(
        other.tokens / other.judged <= cost
        and other.accepted / other.judged >= share
        and (other.tokens / other.judged < cost or other.accepted / other.judged > share)
        for other in others
    )
