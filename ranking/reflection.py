from dataclasses import dataclass

import numpy as np

from ranking.candidates import Column, Flags, Scores
from ranking.limits import finite, whole
from ranking.ranking import Ranking
from ranking.sentences import RowChange

BOOST = 1.2
PER_DEPTH = 0.05
DEPTH_CAP = 3


def reflection_factor(
    is_reflection: Flags, depth: Column, boost: float = BOOST, per_depth: float = PER_DEPTH, depth_cap: int = DEPTH_CAP
) -> Scores:
    """``1.2·(1 + 0.05·min(max(depth, 0), 3))`` for reflections, else 1: deeper ones sum up more (004)."""
    return np.where(is_reflection, boost * (1.0 + per_depth * np.clip(depth, 0, depth_cap)), 1.0)


@dataclass(frozen=True)
class Reflection:
    """Multiply what summarises several observations; ``boost=1, per_depth=0`` switches it off (004)."""

    boost: float = BOOST
    per_depth: float = PER_DEPTH
    depth_cap: int = DEPTH_CAP

    def __post_init__(self) -> None:
        finite("boost", self.boost)
        finite("per_depth", self.per_depth)
        whole("depth_cap", self.depth_cap, 0)

    def __call__(self, ranking: Ranking) -> Ranking:
        flags, depth = ranking.column("is_reflection"), ranking.column("reflection_depth")
        factor = reflection_factor(flags, depth, self.boost, self.per_depth, self.depth_cap)
        return ranking.scored(self, ranking.scores * factor)

    def wording(self, row: RowChange) -> str:
        """What it says of a row: the factor, written out."""
        depth = int(np.clip(row.ranking.candidates["reflection_depth"][row.position], 0, self.depth_cap))
        factor = f"{self.boost:g}·(1 + {self.per_depth:g}·{depth})"
        return f"a reflection of depth {{reflection_depth}}: {{before:.4f}} × {factor} adds {{delta:+.4f}}"
