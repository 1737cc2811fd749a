"""A sensitivity map: the same retrievals under a grid of λ and boost scale."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from analysis.replay.replaying import Replayer, effects_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from analysis.replay.pool import Coverage
    from analysis.replay.settings import WhatIf
    from queries.engine import Store
    from queries.scope import Scope

# no λ is the order by score, no boost the one that was logged; 0.78 and 0.1 are the documents' own
LAMBDAS: tuple[float | None, ...] = (None, 0.98, 0.9, 0.78, 0.6)
BOOSTS: tuple[float | None, ...] = (None, 0.0, 0.05, 0.1, 0.2)
SAFE = 0.95  # of the retrievals keep their top 5


@dataclass(frozen=True)
class Cell:
    """One point of the map: flips into and out of blocks per 100 retrievals, and the share that keep their top 5."""

    lam: float | None
    boost: float | None
    flips: float | None
    kept: float | None


@dataclass(frozen=True)
class SensitivityMap:
    """Cells row by row: all λ of the first boost, then of the next; coverage is that of the cell with the least."""

    lambdas: tuple[float | None, ...]
    boosts: tuple[float | None, ...]
    cells: tuple[Cell, ...]
    coverage: Coverage

    def to_json(self) -> dict[str, Any]:
        """Every field by name."""
        return asdict(self)


def sensitivity_map(
    store: Store,
    scope: Scope,
    settings: WhatIf,
    report: Callable[[int, int, str], None] = lambda *_: None,
) -> SensitivityMap:
    """The map around settings whose own λ and boost do not matter; the log is read once for all cells."""
    steps = len(LAMBDAS) * len(BOOSTS)
    report(0, steps, "reading the log")
    replayer = Replayer(store, scope)
    cells: list[Cell] = []
    covered: list[Coverage] = []
    for boost in BOOSTS:
        for lam in LAMBDAS:
            report(len(cells), steps, "replaying the retrievals")
            groups = list(replayer.under(replace(settings, lam=lam, boost=boost)))
            effects = effects_of(groups)
            covered.append(replayer.coverage(groups))
            count = len(effects.retrieval)
            flips = 100 * float((effects.entered + effects.left).sum()) / count if count else None
            kept = 1 - float(effects.top_changed.mean()) if count else None
            cells.append(Cell(lam, boost, flips, kept))
    return SensitivityMap(LAMBDAS, BOOSTS, tuple(cells), min(covered, key=lambda each: each.replayed))
