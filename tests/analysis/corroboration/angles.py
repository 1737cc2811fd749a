"""Observations at known angles to every question, so that each rank and score can be worked out by hand."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ranking import LexicalScorer
from retrieval.retrieve import AgentSession, Memory
from tests import sample
from tests.memories import add_memory

if TYPE_CHECKING:
    from collections.abc import Sequence

    import psycopg

    from queries.engine import Store
    from retrieval.embedders import Vectors

    Owner = psycopg.Connection[Any]

QUESTION = "deploy schedule"
SESSION = AgentSession("org_a", project_id="api")
COUNT = 60


class East:
    """An embedder for which every text points the same way."""

    name, dimensions = "east", 2

    def embed(self, texts: Sequence[str]) -> Vectors:
        return np.tile(np.array([1, 0], np.float32), (len(texts), 1))

    def embed_query(self, text: str) -> Vectors:
        del text
        return np.array([1, 0], np.float32)


def inspecting(store: Store) -> Memory:
    return Memory(store, East(), LexicalScorer())


def at(degrees: float) -> dict[str, list[float]]:
    """A vector at this angle to every question, on the full route."""
    return {"full": [math.cos(math.radians(degrees)), math.sin(math.radians(degrees))]}


def cos(degrees: float) -> float:
    return math.cos(math.radians(degrees))


def plant_fan(owner: Owner, org: str = "org_a", count: int = COUNT, first: int = 1) -> list[str]:
    """Observations at 1, 2, … degrees, so that the n-th has rank n and score cos n°; none shares a word with it."""
    sample.add_organization(owner, org)
    return [
        add_memory(owner, org, number, f"note {number}", at(number - first + 1))
        for number in range(first, first + count)
    ]
