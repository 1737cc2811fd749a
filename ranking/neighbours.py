from typing import NamedTuple

import numpy as np

from ranking.candidates import Candidates, Positions

NOBODY = -1


class Neighbours(NamedTuple):
    """Per row, the position of the row before and after it in its session and source, -1 where there is none."""

    before: Positions
    after: Positions


def neighbours(candidates: Candidates) -> Neighbours:
    """One row before and one after in time, of the same session and source; equal times keep candidate order (002).

    Memsense shows them beside a result for context, on its fallback path only; they are never ranked. A row without a
    session or a time has none.
    """
    session, source = (
        np.asarray(candidates.texts(name).dictionary_encode("encode").indices, dtype=np.intp)
        for name in ("session", "source")
    )
    times = candidates["created_at"]
    usable = np.asarray(candidates.texts("session").is_valid(), dtype=np.bool_) & ~np.isnat(times)
    rows = np.flatnonzero(usable)
    order = rows[np.lexsort((rows, times[rows], source[rows], session[rows]))]
    before, after = np.full((2, len(candidates)), NOBODY, dtype=np.intp)
    same = (session[order][1:] == session[order][:-1]) & (source[order][1:] == source[order][:-1])
    before[order[1:][same]] = order[:-1][same]
    after[order[:-1][same]] = order[1:][same]
    return Neighbours(before, after)
