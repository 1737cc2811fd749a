import numpy as np
import numpy.typing as npt

from ranking.candidates import Positions, Scores


def stable_order(scores: Scores) -> Positions:
    """Rows best first, equal scores in candidate order: the one rule every ranking here follows."""
    # negating keeps equal scores equal, so the stable sort keeps them in candidate order
    return np.argsort(-scores, kind="stable")


def top_k(scores: Scores, k: int) -> Positions:
    """The first ``k`` rows of ``stable_order``, found by partition: one pass over all rows, a sort over ``k``."""
    if k <= 0:
        return np.empty(0, dtype=np.intp)
    if k >= scores.size:
        return stable_order(scores)
    cut = np.partition(scores, scores.size - k)[scores.size - k]
    above = np.flatnonzero(scores > cut)
    # partition breaks ties at the cut as it likes; candidate order decides here instead
    ties = np.flatnonzero(scores == cut)[: k - above.size]
    return np.concatenate([above[stable_order(scores[above])], ties])


def ranks(scores: Scores) -> npt.NDArray[np.intp]:
    """The 0-based rank of every row in ``stable_order``."""
    order = stable_order(scores)
    places = np.empty_like(order)
    places[order] = np.arange(order.size)
    return places


def ranks_of(scores: Scores, rows: Positions) -> npt.NDArray[np.intp]:
    """The 0-based ranks of a few rows without sorting all: rows above, and equals before, are counted."""
    wanted = scores[rows]
    cuts = np.unique(wanted)
    # rows below every cut count for nobody, and the rows shown are mostly near the top
    near = np.flatnonzero(scores >= cuts[0]) if cuts.size else np.empty(0, dtype=np.intp)
    held = scores[near]
    below = np.searchsorted(cuts, held, side="left")
    counted = np.bincount(below, minlength=cuts.size + 1)
    above = counted[::-1].cumsum()[::-1]
    equal = np.where(cuts[np.minimum(below, cuts.size - 1)] == held, below, -1) if cuts.size else below
    bins = np.searchsorted(cuts, wanted)
    before = np.searchsorted(near, rows)
    return np.array(
        [above[cut + 1] + np.count_nonzero(equal[:row] == cut) for cut, row in zip(bins, before, strict=True)],
        dtype=np.intp,
    )
