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
# As many are looked at again: how a product of float32 is rounded depends on the machine and its threads, and of nearly
# equal scores at the cut another would be taken on each.
SPARE = 2 * POOL
WIDER = 2 * SPARE  # so many that equal scores at that cut are seen
GROUP = 16  # columns of which only the best is looked at first
GROUPED = 2 * WIDER * GROUP
BLOCK = 256  # questions at a time: a block of similarities stays in the cache
ABSENT = -2.0  # below every cosine
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
    texts = {query: n for n, query in enumerate(dict.fromkeys(query for _, query, _ in asked))}
    questions, text_of = embed(list(texts)), np.array([texts[query] for _, query, _ in asked], dtype=np.intp)
    times, of_project = _moments([at for *_, at in asked]), np.array([session.project for session, *_ in asked], object)
    for project in dict.fromkeys(of_project.tolist()):
        known = np.flatnonzero(projects == project)
        # both in the order of time: what was there when a question was asked stands in front
        known = known[np.argsort(created[known], kind="stable")]
        mine = np.flatnonzero(of_project == project)
        mine = mine[np.argsort(times[mine], kind="stable")]
        matrix, there = vectors[known], np.searchsorted(created[known], times[mine])
        for start in range(0, len(mine), BLOCK):
            block, seen = mine[start : start + BLOCK], there[start : start + BLOCK]
            near = questions[text_of[block]] @ matrix[: seen[-1]].T
            near[:, seen[0] :][np.arange(seen[0], seen[-1]) >= seen[:, None]] = ABSENT
            found = best(near, known[: seen[-1]], SPARE)
            exact = np.einsum("qkd,qd->qk", matrix[found], questions[text_of[block]], dtype=np.float64).round(DIGITS)
            # what was not there yet is no candidate, nor what points away from the question
            exact[np.take_along_axis(near, found, axis=1) == ABSENT] = ABSENT
            order = np.argsort(-exact, axis=1, kind="stable")[:, :POOL]
            rows, relevance = (np.take_along_axis(each, order, axis=1) for each in (known[found], exact))
            for n, row, score, kept in zip(block.tolist(), rows, relevance, (relevance > 0).sum(axis=1), strict=True):
                session, query, at = asked[n]
                yield Recalled(session, query, at, row[:kept], score[:kept])


def best(scores: Vectors, ids: Rows, count: int) -> Rows:
    """The best columns of every row in the order of their ids; of equal scores at the cut, the first ids."""
    held, columns = scores, np.broadcast_to(np.arange(scores.shape[1]), scores.shape)
    if scores.shape[1] > GROUPED:
        columns = _promising(scores)
        held = np.take_along_axis(scores, columns, axis=1)
    if held.shape[1] > WIDER:
        near = np.argpartition(held, -WIDER, axis=1)[:, -WIDER:]
        held, columns = np.take_along_axis(held, near, axis=1), np.take_along_axis(columns, near, axis=1)
    order = np.lexsort((ids[columns], -held), axis=1)
    found = np.take_along_axis(columns, order, axis=1)[:, :count]
    if scores.shape[1] > WIDER:
        # partition chose among equals as it liked; where so many are equal, the slow way decides
        cut = np.take_along_axis(scores, found[:, -1:], axis=1)[:, 0]
        by_id = np.argsort(ids)
        for row in np.flatnonzero(cut == held.min(axis=1)).tolist():
            found[row] = by_id[top_k(scores[row, by_id], count)]
    return np.take_along_axis(found, np.argsort(ids[found], axis=1), axis=1)


def _promising(scores: Vectors) -> Rows:
    """Columns among which the best are: those of the groups whose best is among the best of all groups."""
    width, left = divmod(scores.shape[1], GROUP)
    grouped = scores[:, : width * GROUP].reshape(len(scores), GROUP, width)
    groups = np.argpartition(grouped.max(axis=1), -WIDER, axis=1)[:, -WIDER:]
    columns = groups[:, None, :] + np.arange(0, width * GROUP, width)[:, None]
    rest = np.broadcast_to(np.arange(width * GROUP, width * GROUP + left), (len(scores), left))
    return np.concatenate([columns.reshape(len(scores), -1), rest], axis=1)


def _moments(times: Sequence[datetime]) -> Moments:
    return np.array([moment(at) for at in times], dtype=np.int64)


def moment(at: datetime) -> int:
    """Microseconds since 1970."""
    return round(at.timestamp() * 1e6)
