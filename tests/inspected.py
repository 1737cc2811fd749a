"""What the library makes of a question, for the stages and the moment that an Inspector page says it was drawn with."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ranking import from_text, rank, to_text
from ranking.budget import TokenBudget
from retrieval.retrieve import AgentSession, rank_recollection, recollect

if TYPE_CHECKING:
    from ranking.ranking import Ranking
    from retrieval.retrieve import Memory, Retrieval

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


def moved(up: int) -> str:
    """So many places up, as a list says it."""
    return f"▲{up}" if up > 0 else f"▼{-up}" if up < 0 else "="
