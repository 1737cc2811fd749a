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


def near_top(tiers: Positions, scores: Scores, k: int) -> Positions:
    """Rows among which the first ``k`` by tier, then score, are: few more than ``k``, ties at the cut included."""
    if k <= 0:
        return np.empty(0, dtype=np.intp)
    if k >= tiers.size:
        return np.arange(tiers.size)
    cut = np.partition(tiers, k - 1)[k - 1]
    above, last = np.flatnonzero(tiers < cut), np.flatnonzero(tiers == cut)
    left = last.size - (k - above.size)
    least = np.partition(scores[last], left)[left]
    return np.concatenate([above, last[scores[last] >= least]])


def ranks_in_tiers(tiers: Positions, scores: Scores, positions: Positions, rows: Positions) -> npt.NDArray[np.intp]:
    """The 0-based ranks of a few rows by tier, score and position: lower tiers are counted, only their own sorted."""
    if not rows.size:
        return np.empty(0, dtype=np.intp)
    cuts, tier_of = np.unique(tiers[rows], return_inverse=True)
    near = np.flatnonzero(tiers <= cuts[-1])
    bins = np.searchsorted(cuts, tiers[near])
    beside = tiers[near] == cuts[bins]
    counts, same = (np.bincount(some, minlength=cuts.size) for some in (bins, bins[beside]))
    above = np.cumsum(counts, dtype=np.intp) - same
    # a row that scores less than every row asked for stands above none of its tier
    beside &= scores[near] >= scores[rows].min()
    peers, sizes = near[beside], np.bincount(bins[beside], minlength=cuts.size)
    peers = peers[np.lexsort((positions[peers], -scores[peers], tiers[peers]))]
    by_row = np.argsort(peers)
    place = by_row[np.searchsorted(peers, rows, sorter=by_row)]
    starts = np.cumsum(sizes, dtype=np.intp) - sizes
    return (above - starts)[tier_of] + place
