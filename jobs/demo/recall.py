"""The candidates of every retrieval of an organization, by similarity over what existed at that moment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from jobs.demo.vectors import embed
from ranking.order import top_k

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from jobs.demo.timeline import Session
    from jobs.demo.vectors import Vectors
    from ranking.candidates import Scores

Rows = npt.NDArray[np.intp]
Moments = npt.NDArray[np.int64]

POOL = 20
BLOCK = 256  # questions at a time: a block of similarities stays in the cache
DIGITS = 7  # what the product of two float32 vectors can promise on any machine


@dataclass(frozen=True, eq=False, slots=True)
class Recalled:
    """One question at one moment, and what was found: rows of the organization's memories, best first, then by id."""

    session: Session
    query: str
    at: datetime
    rows: Rows
    relevance: Scores


def recall(
    asked: Sequence[tuple[Session, str, datetime]],
    projects: npt.NDArray[np.object_],
    created: Moments,
    vectors: Vectors,
) -> Iterator[Recalled]:
    """At most 20 memories of the question's project for each question, none of them newer than the question."""
    questions = embed([query for _, query, _ in asked])
    of_project = np.array([session.project for session, _, _ in asked], dtype=np.object_)
    for project in dict.fromkeys(of_project.tolist()):
        known = np.flatnonzero(projects == project)
        matrix, born = vectors[known], created[known]
        mine = np.flatnonzero(of_project == project)
        for start in range(0, len(mine), BLOCK):
            block = mine[start : start + BLOCK]
            near = questions[block] @ matrix.T
            near[born[None, :] >= _moments([asked[n][2] for n in block.tolist()])[:, None]] = -1.0
            found = best(near)
            exact = np.einsum("qkd,qd->qk", matrix[found], questions[block], dtype=np.float64).round(DIGITS)
            # what points away from the question, or was not there yet, is no candidate
            exact[np.take_along_axis(near, found, axis=1) <= 0] = -1.0
            order = np.argsort(-exact, axis=1, kind="stable")
            rows, relevance = (np.take_along_axis(each, order, axis=1) for each in (known[found], exact))
            for n, row, score, kept in zip(block.tolist(), rows, relevance, (relevance > 0).sum(axis=1), strict=True):
                session, query, at = asked[n]
                yield Recalled(session, query, at, row[:kept], score[:kept])


def best(scores: Vectors) -> Rows:
    """The best 20 columns of every row in the order of the columns; of equal scores at the cut, the first columns."""
    count, spare = scores.shape[1], 2 * POOL
    if count <= spare:
        return np.sort(np.stack([top_k(row, POOL) for row in scores]), axis=1)
    near = np.argpartition(scores, count - spare, axis=1)[:, count - spare :]
    held = np.take_along_axis(scores, near, axis=1)
    order = np.lexsort((near, -held), axis=1)
    found = np.take_along_axis(near, order, axis=1)[:, :POOL]
    # partition chose among equals as it liked; where so many are equal, the slow way decides
    for row in np.flatnonzero(np.take_along_axis(scores, found[:, -1:], axis=1)[:, 0] == held.min(axis=1)).tolist():
        found[row] = top_k(scores[row], POOL)
    return np.sort(found, axis=1)


def _moments(times: Sequence[datetime]) -> Moments:
    return np.array([moment(at) for at in times], dtype=np.int64)


def moment(at: datetime) -> int:
    """Microseconds since 1970."""
    return round(at.timestamp() * 1e6)
