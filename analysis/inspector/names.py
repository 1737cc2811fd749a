"""What the Inspector calls the stages of a pipeline and the routes of recall, also in the library's sentences."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ranking.feedback import Feedback

if TYPE_CHECKING:
    from ranking.ranking import Stage

STAGE_NAMES = {
    "Relevance": "relevance",
    "ReciprocalRankFusion": "rank fusion",
    "ScoreFusion": "score fusion",
    "Head": "best rows",
    "SessionSupport": "session support",
    "MemoryScore": "memory score",
    "Corroboration": "corroboration",
    "Feedback": "feedback",
    "Composite": "composite",
    "Temporal": "temporal",
    "CrossEncoder": "cross-encoder",
    "Reflection": "reflection",
    "Floor": "floor",
    "SessionRecency": "session recency",
    "Dedup": "dedup",
    "Mmr": "MMR",
    "TokenBudget": "budget",
}
ROUTE_NAMES = {
    "vec_full": "full vector",
    "vec_user": "user vector",
    "vec_asst": "assistant vector",
    "vec_next_user": "next user vector",
    "lexical": "keywords",
    "facet_personal_info": "personal info",
    "facet_preferences": "preferences",
    "facet_events": "events",
}
NAMES = STAGE_NAMES | ROUTE_NAMES
NAMED = re.compile(rf"\b(?:{'|'.join(NAMES)})\b")


def stage_name(stage: Stage | type[Any]) -> str:
    """A stage in words; one that is there and does nothing says so."""
    name = stage.__name__ if isinstance(stage, type) else type(stage).__name__
    off = " (off)" if isinstance(stage, Feedback) and not stage.enabled else ""
    return STAGE_NAMES.get(name, name) + off


def route_name(route: str) -> str:
    """A route in words."""
    return ROUTE_NAMES.get(route, route)


def in_words(sentence: str) -> str:
    """A sentence of the library, whose stages and routes have the names of its code."""
    return NAMED.sub(lambda named: NAMES[named[0]], sentence)
