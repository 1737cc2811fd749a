"""Tokens injected against the share of sessions without rework, by work type: intervals, the frontier, and zones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from analysis.intervals import FLOOR, Interval, mean, wilson

if TYPE_CHECKING:
    from collections.abc import Sequence

    from queries.health.budget import BudgetRow

# A rejected session had no rework and was not accepted: it counts for the one share and against the other.
Ended = Literal["without_rework", "accepted"]
Zone = Literal["efficient", "generous", "starved", "wasteful", "collecting"]
ZONES: dict[Zone, str] = {
    "efficient": "tokens up to the mean, share from it on: leave it as it is",
    "generous": "tokens above the mean, share from it on: try a smaller budget in What-if and watch this share",
    "starved": "tokens up to the mean, share below it: try a larger budget, or see in the Inspector what did not fit",
    "wasteful": "tokens above the mean, share below it: more of the same does not help; look at what is injected",
    "collecting": f"fewer than {FLOOR} sessions with an outcome: collecting data",
}


@dataclass(frozen=True)
class WorkTypePoint:
    """A work type on the map; no figures while it has too few sessions.

    ``told_apart`` says that neither interval holds the mean of all sessions: else its zone may be another's.
    """

    counts: BudgetRow
    tokens: Interval | None
    share: Interval | None
    on_frontier: bool
    zone: Zone
    told_apart: bool = False


@dataclass(frozen=True)
class BudgetMap:
    """The work types, and where the map is divided: the mean tokens and the share of all sessions shown.

    ``every`` is how many work types there are, of which the most frequent are ``points``.
    """

    points: tuple[WorkTypePoint, ...]
    tokens: float | None
    share: float | None
    every: int = 0

    @property
    def is_cut(self) -> bool:
        """Whether there are work types beyond these."""
        return self.every > len(self.points)

    @property
    def frontier(self) -> tuple[WorkTypePoint, ...]:
        """From fewest tokens to most: each with a larger share than every one that costs less."""
        chosen = (point for point in self.points if point.on_frontier and point.tokens)
        return tuple(sorted(chosen, key=lambda point: point.tokens.value if point.tokens else 0.0))


def budget_map(counts: Sequence[BudgetRow], ended: Ended = "without_rework") -> BudgetMap:
    """Every work type with its zone; only those above the floor are drawn, divide the map, or make the frontier."""
    enough = [each for each in counts if each.judged >= FLOOR]
    every = max((each.work_types for each in counts), default=0)
    judged = sum(each.judged for each in enough)
    if not judged:
        return BudgetMap(tuple(map(_collecting, counts)), None, None, every)
    usual, share = sum(each.tokens for each in enough) / judged, sum(_well(each, ended) for each in enough) / judged
    points = []
    for each in counts:
        if each.judged < FLOOR:
            points.append(_collecting(each))
            continue
        tokens, own = mean(each.judged, each.tokens, each.squares), wilson(_well(each, ended), each.judged)
        zone = _zone(cheap=tokens.value <= usual, works=own.value >= share)
        told_apart = not (_holds(tokens, usual) or _holds(own, share))
        points.append(WorkTypePoint(each, tokens, own, not _dominated(each, enough, ended), zone, told_apart))
    return BudgetMap(tuple(points), usual, share, every)


def _well(counts: BudgetRow, ended: Ended) -> int:
    """How many sessions ended as is asked for."""
    return counts.accepted if ended == "accepted" else counts.judged - counts.rework


def _collecting(counts: BudgetRow) -> WorkTypePoint:
    return WorkTypePoint(counts, None, None, on_frontier=False, zone="collecting")


def _zone(*, cheap: bool, works: bool) -> Zone:
    if works:
        return "efficient" if cheap else "generous"
    return "starved" if cheap else "wasteful"


def _holds(interval: Interval, value: float) -> bool:
    return interval.low <= value <= interval.high


def _dominated(one: BudgetRow, others: Sequence[BudgetRow], ended: Ended) -> bool:
    """Whether another costs no more and ends well no less often, and is better in one of the two."""
    cost, share = one.tokens / one.judged, _well(one, ended) / one.judged
    beside = ((other.tokens / other.judged, _well(other, ended) / other.judged) for other in others)
    return any(theirs <= cost and own >= share and (theirs < cost or own > share) for theirs, own in beside)
