"""What to do about a measure as the case at hand has it, where the general words would lead nowhere."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from analysis.health.change import Measure

ROWS_LOST = (
    "All that fail this fail Log coverage too: rows were lost, and of what was logged whole nothing is wrong. See "
    "there."
)
UNWEIGHTED = (
    "Weighting is off here, so that Feedback Impact has nothing to compare: see under Feature flags since when and "
    "why, in What-if's outcomes how sessions ended before and after, and under Top observations what misled. Sessions "
    "fail for other reasons too: a release, another model, harder work."
)


def todo(measure: Measure, counts: Mapping[str, float], *, weighted: bool = True) -> str:
    """The measure's own words, unless the counts or the organization's flags say more than they do."""
    if measure.name == "accepted" and not weighted:
        return UNWEIGHTED
    if measure.name == "integrity" and only_lost(counts):
        return ROWS_LOST
    return measure.todo


def only_lost(counts: Mapping[str, float]) -> bool:
    """Whether every retrieval that is logged whole is sound; a count that is not known says nothing."""
    sound, complete = counts.get("sound", math.nan), counts.get("complete", math.nan)
    return sound < counts.get("retrievals", math.nan) and math.isclose(sound, complete)
