"""The question of the page, recalled and ranked as its settings say."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from controls import loading
from retrieval.retrieve import rank_recollection

if TYPE_CHECKING:
    from controls.inspector.pipeline import Chosen
    from controls.inspector.question import Asked
    from queries.scope import Scope
    from retrieval.retrieve import Memory, Retrieval


def ranked(scope: Scope, asked: Asked, chosen: Chosen, own: Memory) -> tuple[Memory, Retrieval]:
    """The memory with the scorer that was chosen, and what it finds."""
    memory = replace(own, scorer=chosen.scorer_from(own.scorer))
    recollection = loading.recollected(scope, asked.session, asked.query, chosen.stages, at=asked.at, bits=chosen.bits)
    return memory, rank_recollection(memory, recollection, chosen.stages)
