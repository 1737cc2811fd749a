from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ranking.limits import whole

PERSISTENCE = 0.9

Labels = Sequence[Hashable]
Ranks = npt.NDArray[np.integer]


def rank_delta(before: Ranks, after: Ranks) -> Ranks:
    """``before - after`` per row, positive = moved up; over a complete retrieval the mean is 0 by construction."""
    old, new = np.asarray(before), np.asarray(after)
    if old.shape != new.shape:
        raise ValueError(f"ranks: expected equal lengths, found {old.size} and {new.size}")
    return old - new


def mean_absolute_delta(before: Ranks, after: Ranks) -> float | None:
    """How far rows moved on average, either way; None without rows. The mean of signed deltas could only be 0."""
    deltas = np.abs(rank_delta(before, after))
    return float(deltas.mean()) if deltas.size else None


def is_complete(ranks: Ranks) -> bool:
    """Whether the ranks are a permutation of 0 … n-1; if not, the log of this retrieval lacks or repeats rows."""
    return bool((np.sort(ranks) == np.arange(len(ranks))).all())


def overlap_at(first: Labels, second: Labels, k: int) -> float | None:
    """Share of the best ``k`` of the shorter list found in the best ``k`` of the other; None if one is empty."""
    whole("k", k, 1)
    mine, theirs = set(first[:k]), set(second[:k])
    return len(mine & theirs) / min(len(mine), len(theirs)) if mine and theirs else None


def jaccard_at(first: Labels, second: Labels, k: int) -> float | None:
    """Shared over all different rows in the best ``k`` of both lists; None if both are empty."""
    whole("k", k, 1)
    mine, theirs = set(first[:k]), set(second[:k])
    return len(mine & theirs) / len(mine | theirs) if mine or theirs else None


def rank_biased_overlap(first: Labels, second: Labels, p: float = PERSISTENCE) -> float | None:
    """Agreement of two lists with depths weighed ``(1-p)·p^(d-1)``, extrapolated beyond the end (Webber et al. 2010).

    p 0.9 puts 86 % of the weight on the first ten places. Identical lists give 1, disjoint 0; None if one is empty.
    """
    if not 0 < p < 1:
        raise ValueError(f"p: expected more than 0 and less than 1, found {p:g}")
    shorter, longer = sorted((list(first), list(second)), key=len)
    if not shorter:
        return None
    s, depth = len(shorter), np.arange(1, len(longer) + 1)
    shared = _shared_by_depth(shorter, longer)
    at_short = shared[s - 1]
    weights = p**depth
    agreement = shared / depth
    # beyond the short list's end its agreement is taken to stay what it was there
    agreement[s:] += at_short * (depth[s:] - s) / (s * depth[s:])
    tail = ((shared[-1] - at_short) / len(longer) + at_short / s) * p ** len(longer)
    return float((1 - p) / p * (agreement * weights).sum() + tail)


def _shared_by_depth(shorter: list[Hashable], longer: list[Hashable]) -> npt.NDArray[np.float64]:
    """How many items both lists hold within each depth of the longer one."""
    place = {label: depth for depth, label in enumerate(longer)}
    if len(place) != len(longer) or len(set(shorter)) != len(shorter):
        raise ValueError("rankings: expected every id once, found one twice")
    meets = [max(depth, place[label]) for depth, label in enumerate(shorter) if label in place]
    return np.bincount(np.array(meets, dtype=np.intp), minlength=len(longer)).cumsum().astype(np.float64)


def kendall_tau_b(first: npt.ArrayLike, second: npt.ArrayLike) -> float | None:
    """Share of concordant less discordant pairs of two columns, ties taken out; None if one column is constant."""
    mine, theirs = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if mine.shape != theirs.shape:
        raise ValueError(f"columns: expected equal lengths, found {mine.size} and {theirs.size}")
    if np.isnan(mine).any() or np.isnan(theirs).any():
        raise ValueError("columns: expected numbers, found nan")
    if mine.size == 0 or (mine == mine[0]).all() or (theirs == theirs[0]).all():
        return None
    from scipy.stats import kendalltau  # noqa: PLC0415 - half of what importing the library would cost, for one figure

    return float(kendalltau(mine, theirs, variant="b").statistic)


@dataclass(frozen=True)
class InjectionFlips:
    """What a change of ranking does to the budgeted block: rows that enter it and rows that leave it, in rank order."""

    entered: tuple[Hashable, ...]
    left: tuple[Hashable, ...]

    def __len__(self) -> int:
        return len(self.entered) + len(self.left)


def injection_flips(before: Labels, after: Labels) -> InjectionFlips:
    """What enters and what leaves the block between two rankings: the only rank changes an agent can notice."""
    old, new = set(before), set(after)
    return InjectionFlips(
        tuple(label for label in after if label not in old), tuple(label for label in before if label not in new)
    )
