"""What the library makes of a question, for the stages and the moment that an Inspector page says it was drawn with."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ranking import from_text, rank, to_text
from ranking.budget import TokenBudget
from retrieval.retrieve import AgentSession, rank_recollection, recollect

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ranking.ranking import Ranking
    from retrieval.retrieve import Memory, Retrieval

# what the page calls the library's routes and, in lists, its stages
ROUTES = {
    "vec_full": "full vector", "vec_user": "user vector", "vec_asst": "assistant vector", "vec_next_user":
    "next user vector", "lexical": "keywords", "facet_personal_info": "personal info", "facet_preferences":
    "preferences", "facet_events": "events",
}  # fmt: skip
STAGES = {
    "Relevance": "relevance", "ReciprocalRankFusion": "rank fusion", "Head": "best rows", "SessionSupport":
    "session support", "MemoryScore": "memory score", "Corroboration": "corroboration", "Feedback": "feedback",
    "Composite": "composite", "Temporal": "temporal", "CrossEncoder": "cross-encoder", "Reflection": "reflection",
    "Floor": "floor", "SessionRecency": "session recency", "Dedup": "dedup", "Mmr": "MMR", "TokenBudget": "budget",
}  # fmt: skip
SINCE = re.compile(r".+ stands above .+ since (\w+): ([^(]+) \(.+\)")
STRIP = re.compile(r"As of (\d+ \w+ \d\d:\d\d) UTC")


def by_library(memory: Memory, query: str, code: str, strip: str) -> Retrieval:
    """The same once more; ``code`` is the pipeline as it is copied, which has to read back as itself."""
    stages = from_text(code)
    assert to_text(stages) == code
    said = f"{datetime.now(UTC).year} {STRIP.findall(strip)[0]}"
    at = datetime.strptime(said, "%Y %d %b %H:%M").replace(tzinfo=UTC)
    return rank_recollection(memory, recollect(memory, AgentSession("acme"), query, stages, at), stages)


def without_budget(found: Retrieval) -> Ranking:
    """The ranking before the budget, which cuts and reorders nothing."""
    return rank(found.ranking.candidates, [stage for stage in found.stages if not isinstance(stage, TokenBudget)])


def decided(sentence: str) -> str:
    """What the list keeps of the library's sentence on two rows: the stage, and what it gave them."""
    found = SINCE.fullmatch(sentence)
    assert found is not None
    return f"{STAGES[found[1]]}: {found[2]}"


def spoken(sentence: str) -> str:
    """A sentence of the library with its routes and stages in words."""
    named = ROUTES | STAGES
    return re.sub(r"\w+", lambda word: named.get(word[0], word[0]), sentence)


def by_routes(routes: Mapping[str, int]) -> str:
    """The routes that found a row, and its place in each from 1."""
    return ", ".join(f"{ROUTES[name]} {rank + 1}" for name, rank in routes.items())


def moved(up: int) -> str:
    """So many places up, as a list says it."""
    return f"▲{up}" if up > 0 else f"▼{-up}" if up < 0 else "="
