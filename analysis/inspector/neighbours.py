"""The rows beside an opened one: why they stand so, and how little would swap them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from analysis.inspector.inspection import before_budget, title_of
from analysis.inspector.listing import why
from ranking.flips import flips_between

if TYPE_CHECKING:
    from ranking.flips import Flip
    from ranking.ranking import Ranking
    from retrieval.retrieve import Retrieval

OTHER_POOL = "Cannot be told for {}: turning that changes which rows the cross-encoder reads, and those were not read."


@dataclass(frozen=True)
class Neighbour:
    """A row beside the one opened, why they stand so, and every knob that would swap them, the smallest turn first.

    ``untold`` says of which knobs that is not known, and why.
    """

    place: int
    title: str
    above: bool
    why: str
    flips: tuple[Flip, ...]
    untold: str | None = None


def neighbours(found: Retrieval, opened: str) -> tuple[Neighbour, ...]:
    """The rows just above and just below one that the budget was given."""
    whole = before_budget(found)
    ids = whole.ids()
    if opened not in ids:
        return ()
    place = ids.index(opened)
    beside = [(place - 1, True)] * (place > 0) + [(place + 1, False)] * (place + 1 < len(ids))
    return tuple(_neighbour(found, whole, ids, place, other, above=above) for other, above in beside)


def _neighbour(found: Retrieval, whole: Ranking, ids: list[Any], place: int, other: int, *, above: bool) -> Neighbour:
    upper, lower = (ids[other], ids[place]) if above else (ids[place], ids[other])
    flips = flips_between(whole.candidates, found.stages[: len(whole.steps)], upper, lower)
    untold = OTHER_POOL.format(", ".join(flips.untold)) if flips.untold else None
    title = title_of(found, whole.candidates.position(ids[other]))
    places = {ids[place]: place + 1, ids[other]: other + 1}
    return Neighbour(other + 1, title, above, why(whole, upper, lower, places), flips.found, untold)
