"""Whether sessions end otherwise where feedback changed the block: shares with intervals, or not enough to say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

OUTCOMES = ("accepted", "rework", "rejected")
FLOOR = 30  # sessions with an outcome on each side; below it an interval spans a third of the scale and more
DRAWS = 4_000
SEED = 20_260_301
INTERVAL = (2.5, 97.5)


@dataclass(frozen=True)
class Estimate:
    """A share or a difference of shares, with the middle 95 % of what resampled sessions gave."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class OutcomeMix:
    """How the sessions of one side ended; no shares where fewer than ``FLOOR`` sessions have an outcome."""

    changed: bool
    counts: tuple[int, ...]
    open_sessions: int
    shares: tuple[Estimate, ...] | None

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
    accepted: Estimate | None


def compare_outcomes(sessions: Mapping[tuple[bool, str | None], int]) -> OutcomeComparison:
    """The mix of outcomes on both sides from counts of sessions by (block changed, outcome).

    The session is what is drawn again, because its retrievals share one outcome. Drawing n sessions with replacement
    is one draw of a multinomial over the outcomes, so that counts suffice and the seed makes it repeatable.
    """
    generator = np.random.default_rng(SEED)
    mixes, drawn = [], []
    for side in (True, False):
        counts = np.array([sessions.get((side, name), 0) for name in OUTCOMES], dtype=np.int64)
        total = int(counts.sum())
        again = generator.multinomial(total, counts / total, size=DRAWS) / total if total >= FLOOR else None
        shares = None
        if again is not None:
            low, high = np.percentile(again, INTERVAL, axis=0)
            shares = tuple(Estimate(*map(float, each)) for each in zip(counts / total, low, high, strict=True))
        mixes.append(OutcomeMix(side, tuple(counts.tolist()), sessions.get((side, None), 0), shares))
        drawn.append(again)
    return OutcomeComparison(mixes[0], mixes[1], _difference(mixes[0], mixes[1], drawn[0], drawn[1]))


def _difference(
    changed: OutcomeMix,
    kept: OutcomeMix,
    drawn_changed: np.ndarray | None,
    drawn_kept: np.ndarray | None,
) -> Estimate | None:
    if changed.shares is None or kept.shares is None or drawn_changed is None or drawn_kept is None:
        return None
    low, high = np.percentile(drawn_changed[:, 0] - drawn_kept[:, 0], INTERVAL)
    return Estimate(changed.shares[0].value - kept.shares[0].value, float(low), float(high))
