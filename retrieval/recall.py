"""What the store knows about a question: by the full vector, by eight routes, or by two legs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from queries.recall.asking import Asked, ask
from queries.recall.exact_places import exact_places
from queries.recall.legs import ROUTES
from queries.recall.neighbours import Neighbour, NeighboursOf
from queries.scope import OutOfReachError
from ranking import ReciprocalRankFusion, ScoreFusion, candidate_pool, leg_pool, route_pool
from ranking.fusion import DEFAULT_K

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    import numpy.typing as npt

    from queries.engine import Store
    from queries.recall.exact_places import ExactPlaces
    from queries.rounds import Rows, Statement
    from queries.scope import Reach
    from ranking import Candidates
    from ranking.ranking import Stage

MOST_DIMENSIONS = 16_000  # what pgvector stores
KEYWORD_ONLY = "recalled by keyword only"
NO_DIRECTION = f"the question's vector has no direction: {KEYWORD_ONLY}"


class Way(StrEnum):
    """How candidates are recalled."""

    PLAIN = "plain"
    ROUTES = "routes"
    LEGS = "legs"


@dataclass(frozen=True, eq=False)
class RecallQuestion:
    """A question to the memory of one organization or project; ``k`` is how many the pipeline wants in the end.

    Without a vector only the keyword leg answers. ``embeddings`` brings the stored vectors along, for MMR;
    ``sessions`` those that only their turns were found of, for session support (eight routes only); ``also`` is asked
    beside it in the same snapshot.
    """

    org_id: str
    project_id: str | None
    text: str
    vector: npt.NDArray[np.float32] | None
    k: int = 20
    now: datetime | None = None
    embeddings: bool = False
    sessions: bool = False
    also: Statement | None = None

    def __post_init__(self) -> None:
        if self.k < 0:
            raise ValueError(f"k: expected 0 or more, found {self.k}")
        if self.vector is not None and self.vector.ndim != 1:
            raise ValueError(f"vector: expected one dimension, found {self.vector.ndim}")


@dataclass(frozen=True, eq=False)
class Recalled:
    """Candidates by score and then id, the way they came, what was not as it should be, and what was asked beside."""

    candidates: Candidates
    way: str
    degraded: tuple[str, ...] = ()
    beside: Rows = ()

    @property
    def routes(self) -> list[dict[str, int]]:
        """Per row, the routes that found it and its place in each, from 0."""
        legs = self.candidates.legs
        return [
            {name: place for name, place in zip(legs, places, strict=True) if place >= 0}
            for places in self.candidates["leg_ranks"].tolist()
        ]


def recall(store: Store, reach: Reach, question: RecallQuestion, way: Way = Way.PLAIN) -> Recalled:
    """The candidates of a question, recalled one way or another; a store that fails raises its ``StoreError``."""
    return {Way.PLAIN: recall_plain, Way.ROUTES: recall_routes, Way.LEGS: recall_legs}[way](store, reach, question)


def way_for(stages: Sequence[Stage]) -> Way:
    """How a pipeline's candidates are recalled: ranks from 1 ask for eight routes (002), from 0 for two legs (003)."""
    for stage in stages:
        if isinstance(stage, ReciprocalRankFusion):
            return Way.ROUTES if stage.first_rank == 1 else Way.LEGS
        if isinstance(stage, ScoreFusion):
            return Way.LEGS
    return Way.PLAIN


def recall_plain(store: Store, reach: Reach, question: RecallQuestion) -> Recalled:
    """The ``k`` nearest by the full vector with their similarity as relevance; by keyword where there is none (001)."""
    asked = _asking(question, Way.PLAIN)
    if asked.vector is not None:
        found = asked.ask(store, reach, ("vec_full",))
        if len(found.candidates) or not question.text.strip():
            return found
        by_keyword = asked.ask(store, reach, ("lexical",))
        degraded = tuple(dict.fromkeys((*found.degraded, *by_keyword.degraded)))
        return replace(by_keyword if len(by_keyword.candidates) else found, degraded=degraded)
    return asked.ask(store, reach, ("lexical",))


def recall_routes(store: Store, reach: Reach, question: RecallQuestion) -> Recalled:
    """The best ``max(4k, 32)`` of eight routes by ``Σ 1/(15 + rank)`` from 1 (002), however many routes answer."""
    return _asking(question, Way.ROUTES).ask(store, reach, tuple(ROUTES), Way.ROUTES)


def recall_legs(store: Store, reach: Reach, question: RecallQuestion) -> Recalled:
    """Two legs, the full vector and keywords, of ``max(5k, 50)`` rows each, by ``Σ 1/(5 + rank)`` from 0 (003)."""
    return _asking(question, Way.LEGS).ask(store, reach, ("vec_full", "lexical"), Way.LEGS)


def recall_places(
    store: Store, reach: Reach, question: RecallQuestion, way: Way, *, legs: Sequence[str], wanted: UUID
) -> ExactPlaces | None:
    """Where one observation stands in the legs that were asked, in or beyond their pools; None outside the scope.

    The plain way asks the keyword leg only after the vector leg found nothing: then it stands in both.
    """
    if not reach.allows(question.org_id):
        raise OutOfReachError
    tried = ("vec_full", "lexical") if way is Way.PLAIN and tuple(legs) == ("lexical",) else tuple(legs)
    return exact_places(store, reach, _asking(question, way).asked(tried), wanted)


def recall_neighbours(store: Store, reach: Reach, org_id: str, ids: Sequence[str]) -> tuple[Neighbour, ...]:
    """One before and one after each, of the same session and source; only where no sessions were found (002)."""
    if not reach.allows(org_id):
        raise OutOfReachError
    return NeighboursOf(org_id, tuple(ids)).ask(store, reach)


@dataclass(frozen=True, eq=False)
class _Asking:
    """A question with the sizes that one way of recalling gives it."""

    question: RecallQuestion
    pool: int
    candidates: int
    damping: float = 0.0
    embeddings: bool = False
    sessions: bool = False

    @cached_property
    def vector(self) -> npt.NDArray[np.float32] | None:
        """The question's vector, if it points anywhere."""
        given = self.question.vector
        if given is None or not 0 < given.size <= MOST_DIMENSIONS:
            return None
        vector = given.astype(np.float32)
        return vector if np.isfinite(vector).all() and vector.any() else None

    def asked(self, legs: tuple[str, ...]) -> Asked:
        """What is asked of the store by some legs; those that compare vectors need one."""
        question, vector = self.question, self.vector
        return Asked(
            org=question.org_id,
            project=question.project_id,
            text=question.text,
            vector=vector,
            now=_utc(question.now),
            legs=tuple(leg for leg in legs if vector is not None or ROUTES[leg] is None),
            pool=self.pool,
            candidates=self.candidates,
            damping=self.damping,
            embeddings=self.embeddings or question.embeddings,
            sessions=self.sessions,
            also=question.also,
        )

    def ask(self, store: Store, reach: Reach, legs: tuple[str, ...], way: Way = Way.PLAIN) -> Recalled:
        """The candidates of some legs."""
        question, vector = self.question, self.vector
        if not reach.allows(question.org_id):
            raise OutOfReachError
        asked = self.asked(legs)
        found = ask(store, reach, asked)
        degraded: list[str] = [] if vector is not None or question.vector is None else [NO_DIRECTION]
        if found.unusable:
            degraded.append(f"{found.unusable} observations were left out: their numbers are not finite")
        compares = any(ROUTES[leg] is not None for leg in asked.legs)
        met = any(ROUTES[leg] is not None for leg in found.answered)
        if vector is not None and compares and self.pool and not met and not found.scope_is_empty:
            degraded.append(f"no stored vector has {vector.size} dimensions: {KEYWORD_ONLY}")
        by_vector = met or (compares and found.scope_is_empty)
        beside = found.beside[0] if found.beside else ()
        return Recalled(found.candidates, way if by_vector else f"{way} by keyword", tuple(degraded), beside)


def _asking(question: RecallQuestion, way: Way) -> _Asking:
    """The sizes that each way gives a question."""
    if way is Way.ROUTES:
        pool, candidates = route_pool(question.k), candidate_pool(question.k)
        return _Asking(
            question, pool, candidates, damping=DEFAULT_K[1] + 1, embeddings=True, sessions=question.sessions
        )
    if way is Way.LEGS:
        pool = leg_pool(question.k)
        return _Asking(question, pool, 2 * pool, damping=DEFAULT_K[0])
    return _Asking(question, pool=question.k, candidates=question.k)


def _utc(now: datetime | None) -> np.datetime64 | None:
    """The time of the question as the library counts it; one without a zone is taken for UTC."""
    if now is None:
        return None
    return np.datetime64(now.replace(tzinfo=None) - (now.utcoffset() or timedelta()), "us")
