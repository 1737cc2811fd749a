from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ranking.candidates import Candidates, MissingEvidence, Positions, Scores
from ranking.limits import whole, within
from ranking.pair_scorer import Pair, PairScorer, PairScores
from ranking.ranking import Ranking, Stage, rank
from ranking.sentences import RowChange

ORIGINAL_WEIGHT = 0.6
POOL = 20


def blend(original: Scores, pair_score: Scores, weight: float = ORIGINAL_WEIGHT) -> Scores:
    """``0.6·original + 0.4·pair score``: the pair score corrects recall, it does not replace it (004)."""
    return weight * original + (1.0 - weight) * pair_score


@dataclass(frozen=True)
class CrossEncoder:
    """Blend the pair scores into the first ``pool`` rows; the tail keeps its order below them (004).

    Only the pool, because a forward pass costs milliseconds a pair; nothing is lost, the tail is merely not improved.
    """

    pool: int = POOL
    original: float = ORIGINAL_WEIGHT

    def __post_init__(self) -> None:
        whole("pool", self.pool, 0)
        within("original", self.original, 0, 1)

    def __call__(self, ranking: Ranking) -> Ranking:
        order = ranking.last.order()
        head = order[: self.pool]
        pairs = ranking.column("pair_score")[head]
        if np.isnan(pairs).any():
            raise MissingEvidence(f"no pair score for {int(np.isnan(pairs).sum())} of the {head.size} rows in the pool")
        scores = ranking.scores.copy()
        scores[head] = blend(scores[head], pairs, self.original)
        tiers = np.concatenate([np.zeros(head.size, np.intp), np.arange(1, order.size - head.size + 1)])
        earlier = ranking.last.tiers
        if earlier is not None:
            # rows of the pool that an earlier stage put apart stay apart
            tiers[: head.size] = earlier[head]
            tiers[head.size :] += earlier[head].max(initial=0)
        return ranking.selected(self, order, tiers, scores)

    def wording(self, row: RowChange) -> str:
        """What it says of a row: the pool was read, the tail was not."""
        if row.rank_before >= self.pool:
            return "not in the pool of {pool}: keeps its score and its place below"
        return f"{{original:g}}·{{before:.4f}} + {1 - self.original:g}·{{pair_score:.4f}} pair score = {{score:.4f}}"


def pool_before_pairs(candidates: Candidates, stages: Sequence[Stage]) -> Positions:
    """The rows that the pipeline's cross-encoder will read, best first; none if it has no such stage."""
    for place, stage in enumerate(stages):
        if isinstance(stage, CrossEncoder):
            return rank(candidates, stages[:place]).best(stage.pool)
    return np.empty(0, dtype=np.intp)


def with_pair_scores(
    candidates: Candidates, stages: Sequence[Stage], scorer: PairScorer
) -> tuple[Candidates, PairScores]:
    """The candidates with a pair score for every row of the pool, NaN elsewhere, and who gave the scores."""
    rows = pool_before_pairs(candidates, stages)
    titles, contents = (candidates.texts(name).take(rows).to_pylist() for name in ("title", "content"))
    query = candidates.asked()
    pairs = [Pair(query, title, content) for title, content in zip(titles, contents, strict=True)]
    found = scorer.score(pairs)
    column = np.full(len(candidates), np.nan)
    column[rows] = found.scores
    return candidates.with_columns(pair_score=column), found
