from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ranking.candidates import Candidates, Column, Flags, Positions, Scores
from ranking.order import near_top, ranks_in_tiers, ranks_of, stable_order, top_k


@dataclass(frozen=True, eq=False)
class Step:
    """What one stage left: the rows it still held, what each scored, and the order it fixed, if it fixed one.

    Rows of a lower tier stand above rows of a higher one whatever they score; without tiers the score alone decides.
    """

    stage: "Stage"
    positions: Positions
    scores: Scores
    tiers: npt.NDArray[np.intp] | None = None

    def order(self) -> Positions:
        """Indices into ``positions``, best first: by tier, then score, then candidate order."""
        if self.tiers is None:
            return stable_order(self.scores)
        return np.lexsort((self.positions, -self.scores, self.tiers))

    def head(self, k: int) -> Positions:
        """The first ``k`` of ``order()``, without sorting the rest."""
        if self.tiers is None:
            return top_k(self.scores, k)
        near = near_top(self.tiers, self.scores, k)
        return near[np.lexsort((self.positions[near], -self.scores[near], self.tiers[near]))][: max(k, 0)]

    def find(self, rows: Positions) -> Positions:
        """Where the candidates ``rows`` stand in ``positions``, -1 for those this stage no longer held."""
        # without tiers rows keep candidate order; with them only the rows asked for are sorted
        among = slice(None) if self.tiers is None else self._among(rows)
        held = self.positions[among]
        if not held.size:
            return np.full(rows.shape, -1, dtype=np.intp)
        found = np.searchsorted(held, rows).clip(max=held.size - 1)
        known = held[found] == rows
        return np.where(known, found if isinstance(among, slice) else among[found], -1)

    def ranks_of(self, rows: Positions) -> Positions:
        """The 0-based ranks of the candidates ``rows`` after this stage, -1 for those it no longer held."""
        return self.ranks_at(self.find(rows))

    def ranks_at(self, found: Positions) -> Positions:
        """As ``ranks_of`` for rows already found; -1 stays -1."""
        places = np.full(found.shape, -1, dtype=np.intp)
        held = found >= 0
        if self.tiers is None:
            places[held] = ranks_of(self.scores, found[held])
        else:
            places[held] = ranks_in_tiers(self.tiers, self.scores, self.positions, found[held])
        return places

    def _among(self, rows: Positions) -> Positions:
        """Indices of those of ``rows`` that are held, sorted by candidate: one look at each row held."""
        wanted = np.zeros(max(self.positions.max(initial=0), rows.max(initial=0)) + 1, dtype=np.bool_)
        wanted[rows] = True
        among = np.flatnonzero(wanted[self.positions])
        return among[np.argsort(self.positions[among])]


@dataclass(frozen=True, eq=False)
class Ranking:
    """Candidates and the trail every stage left; scores are stored, ranks and deltas are derived when asked for."""

    candidates: Candidates
    steps: tuple[Step, ...] = ()

    @property
    def positions(self) -> Positions:
        """The rows still held, as positions among the candidates."""
        return self.steps[-1].positions if self.steps else self.candidates.everything

    @property
    def scores(self) -> Scores:
        """The scores of the rows still held; 0 before the first stage."""
        return self.steps[-1].scores if self.steps else np.zeros(len(self.candidates))

    @property
    def last(self) -> Step:
        """The last step; before the first stage, every row with score 0."""
        return self.steps[-1] if self.steps else Step(_nothing, self.positions, self.scores)

    def column(self, name: str) -> Column:
        """A column of the rows still held, aligned with ``scores``."""
        column = self.candidates[name]
        # most stages hold every row; a gather of a million rows would cost more than the arithmetic
        return column if self.positions is self.candidates.everything else column[self.positions]

    def texts(self, name: str, rows: Positions | None = None) -> Any:  # noqa: ANN401 - an Arrow array of large strings
        """Texts of the rows still held, or of some of them, ``rows`` being indices into ``scores``."""
        return self.candidates.texts(name).take(self.positions if rows is None else self.positions[rows])

    def scored(self, stage: "Stage", scores: Scores) -> "Ranking":
        """The ranking after a stage that gave every row a new score and dropped none."""
        if not np.isfinite(scores).all():
            raise ValueError(f"{stage!r}: expected finite scores, found {scores[~np.isfinite(scores)][0]}")
        step = replace(self.last, stage=stage, scores=scores)
        return Ranking(self.candidates, (*self.steps, step))

    def kept(self, stage: "Stage", keep: Flags, scores: Scores | None = None) -> "Ranking":
        """The ranking after a stage that dropped rows, perhaps rescored the others, and reordered nothing."""
        last = self.last if scores is None else self.scored(stage, scores).last
        tiers = None if last.tiers is None else last.tiers[keep]
        return Ranking(self.candidates, (*self.steps, Step(stage, last.positions[keep], last.scores[keep], tiers)))

    def selected(
        self,
        stage: "Stage",
        rows: Positions,
        tiers: npt.NDArray[np.intp] | None = None,
        scores: Scores | None = None,
    ) -> "Ranking":
        """The ranking after a stage that chose ``rows`` in its own order, which stands whatever is scored later.

        With ``tiers``, aligned with ``rows``, only the order between tiers stands; rows of one tier still compete.
        """
        last = self.last if scores is None else self.scored(stage, scores).last
        fixed = np.arange(rows.size) if tiers is None else tiers
        return Ranking(self.candidates, (*self.steps, Step(stage, last.positions[rows], last.scores[rows], fixed)))

    def order(self) -> Positions:
        """Every row still held, best first, as positions among the candidates."""
        return self.positions[self.last.order()]

    def best(self, k: int) -> Positions:
        """The head of ``order()``: the best ``k`` rows, found by partition."""
        return self.positions[self.last.head(k)]

    def ids(self, k: int | None = None) -> list[Any]:
        """The ids of the best ``k`` rows, all without ``k``."""
        listed: list[Any] = self.candidates.ids[self.order() if k is None else self.best(k)].tolist()
        return listed


Stage = Callable[[Ranking], Ranking]


def _nothing(ranking: Ranking) -> Ranking:
    return ranking


def rank(candidates: Candidates, stages: Iterable[Stage]) -> Ranking:
    """Run the stages downwards over the candidates and return the ranking with its whole trail."""
    ranking = Ranking(candidates)
    for stage in stages:
        ranking = stage(ranking)
    return ranking
