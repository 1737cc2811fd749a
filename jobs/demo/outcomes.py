"""How a session ends: by what stood in its memory block, and by nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Verdict:
    """An outcome, and which of the places in the block helped or misled."""

    outcome: str
    helpful: tuple[int, ...] = ()
    misleading: tuple[int, ...] = ()


RELATED = 4  # memories about the same thing or the same concern make up for one about the very task


def judge(on_task: Sequence[bool], related: Sequence[bool], wrong: Sequence[bool]) -> Verdict:
    """What became of a session given these memories in this order.

    Wrong advice about the very task makes it fail: rejected where nothing right about the task stood above it, rework
    where something did. Without wrong advice it is accepted if the block held something about the task, or enough that
    is related to it, and needs rework if the memory had next to nothing to say.
    """
    right = [place for place, bad in enumerate(wrong) if not bad]
    helpful = tuple(place for place in right if on_task[place])
    misleading = tuple(place for place, bad in enumerate(wrong) if bad and on_task[place])
    if misleading:
        warned = bool(helpful) and helpful[0] < misleading[0]
        return Verdict("rework" if warned else "rejected", helpful, misleading)
    enough = helpful or sum(related[place] for place in right) >= RELATED
    return Verdict("accepted" if enough else "rework", helpful)
