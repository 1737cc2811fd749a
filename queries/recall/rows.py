"""Rows of a recall as ``Candidates``: aligned columns, vectors as one float32 matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ranking.candidates import Candidates

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from queries.recall.statements import Shape

    Places = npt.NDArray[np.int64]
    Scores = npt.NDArray[np.float64]

VECTOR_HEADER = 4  # bytes before the numbers of a vector on the wire: its dimensions, and two unused
NOWHERE = -1


@dataclass(frozen=True, eq=False)
class Found:
    """Candidates in the order of the store, how many rows cannot be ranked by their numbers, and which legs answered.

    ``scope_is_empty`` where there was nothing that any leg could have found; ``beside`` are the rows of what was also
    asked.
    """

    candidates: Candidates
    unusable: int
    answered: frozenset[str]
    scope_is_empty: bool = False
    beside: Sequence[Sequence[tuple[Any, ...]]] = ()


def found(rows: Sequence[Sequence[Any]], shape: Shape, query: str, now: np.datetime64 | None) -> Found:
    """The rows of a shape's statement; one whose score, weight or importance is not finite is set apart."""
    names = shape.names()
    column = dict(zip(names, zip(*rows, strict=True) if rows else [()] * len(names), strict=True))
    places, scores = _legs(column, shape, len(rows))
    # one array of all numbers: making one costs as much as filling it
    numbers = np.array([column[name] for name in ("score", "weight", "importance", "memory_score")], dtype=np.float64)
    sound = np.isfinite(numbers[:3]).all(axis=0)
    if not sound.all():
        numbers[:3, ~sound] = 0.0
    relevance, weight, importance, memory_score = numbers
    candidates = Candidates(
        column["id"],
        query=query,
        now=now,
        legs=shape.legs,
        relevance=relevance,
        weight=weight,
        importance=importance,
        memory_score=memory_score.clip(0.0, 1.0),
        leg_ranks=places,
        leg_scores=scores,
        is_reflection=np.array(column["is_reflection"], dtype=np.bool_),
        reflection_depth=np.array(column["reflection_depth"], dtype=np.int64),
        granularity=column["granularity"],
        session=column["session_id"],
        agent=column["agent_id"],
        source=column["source"],
        tags=column["tags"],
        title=column["title"],
        content=column["content"],
        created_at=_times(column["created_at"]),
        last_accessed_at=_times(column["last_accessed_at"]),
        embeddings=_matrix(column["embedding"], shape.dimensions) if shape.embeddings else None,
    )
    left_out = int(sound.size - np.count_nonzero(sound))
    answered = frozenset(leg for leg, of_leg in zip(shape.legs, places.T, strict=True) if (of_leg >= 0).any())
    return Found(candidates.take(np.flatnonzero(sound)) if left_out else candidates, left_out, answered)


def _legs(column: Mapping[str, Sequence[Any]], shape: Shape, count: int) -> tuple[Places, Scores]:
    """Places and scores, rows by legs; a row that a leg did not return has none there."""
    if shape.is_nearest:
        return np.arange(count)[:, None], np.array(column["score"], dtype=np.float64)[:, None]
    numbers = range(len(shape.legs))
    places, scores = (
        np.array([column[f"{what}_{n}"] for n in numbers], dtype=np.float64).reshape(len(numbers), count).T
        for what in ("place", "score")
    )
    return np.where(np.isnan(places), NOWHERE, places).astype(np.int64), scores


def _times(microseconds: Sequence[int]) -> npt.NDArray[np.datetime64]:
    return np.array(microseconds, dtype=np.int64).view("datetime64[us]")


def _matrix(vectors: Sequence[bytes | None], dimensions: int) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """One row each, nothing but zeros for a row without a vector: nobody is similar to it."""
    missing = bytes(VECTOR_HEADER + 4 * dimensions)
    joined = b"".join(missing if vector is None else vector for vector in vectors)
    cells = np.frombuffer(joined, dtype=np.uint8).reshape(len(vectors), len(missing))[:, VECTOR_HEADER:]
    matrix = np.ascontiguousarray(cells).view(">f4").astype(np.float32)
    return matrix.reshape(len(vectors), dimensions)
