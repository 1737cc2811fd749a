"""Whether sessions end otherwise where feedback changed the block: shares with intervals, or not enough to say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.intervals import FLOOR, Interval, difference, resampled, share

if TYPE_CHECKING:
    from collections.abc import Mapping

    from analysis.intervals import Scores

OUTCOMES = ("accepted", "rework", "rejected")  # as they are drawn, the good end first


@dataclass(frozen=True)
class OutcomeMix:
    """How the sessions of one side ended; no shares where fewer than ``FLOOR`` sessions have an outcome."""

    changed: bool
    counts: tuple[int, ...]
    open_sessions: int
    unknown_outcome: int
    shares: tuple[Interval, ...] | None

    @property
    def judged(self) -> int:
        """Sessions with an outcome."""
        return sum(self.counts)


@dataclass(frozen=True)
class OutcomeComparison:
    """Sessions whose block feedback changed beside those whose block it kept; ``accepted`` is first less second.

    Not an effect: feedback changes the block where observations have a history, and those sessions differ in more.
    """

    changed: OutcomeMix
    kept: OutcomeMix
    accepted: Interval | None


def compare_outcomes(sessions: Mapping[tuple[bool, str | None], int]) -> OutcomeComparison:
    """The mix of outcomes on both sides from counts of sessions by (block changed, outcome)."""
    counts = {side: tuple(sessions.get((side, name), 0) for name in OUTCOMES) for side in (True, False)}
    enough = [side for side in counts if sum(counts[side]) >= FLOOR]
    drawn = dict(zip(enough, resampled(*(counts[side] for side in enough)), strict=True))
    still_open = {side: sessions.get((side, None), 0) for side in counts}
    every = {side: sum(count for (of, _), count in sessions.items() if of == side) for side in counts}
    changed, kept = (
        OutcomeMix(
            side, each, still_open[side], every[side] - still_open[side] - sum(each), _shares(each, drawn.get(side))
        )
        for side, each in counts.items()
    )
    accepted = None
    if changed.shares is not None and kept.shares is not None:
        one, other = ((mix.counts[0], mix.judged) for mix in (changed, kept))
        accepted = difference(one, other, drawn[True][:, 0] - drawn[False][:, 0])
    return OutcomeComparison(changed, kept, accepted)


def _shares(counts: tuple[int, ...], drawn: Scores | None) -> tuple[Interval, ...] | None:
    if drawn is None:
        return None
    total = sum(counts)
    return tuple(share((count, total), drawn[:, place]) for place, count in enumerate(counts))
