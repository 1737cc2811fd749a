"""What one retrieval leaves behind: a row per candidate and what was injected, all of it or nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from sqlalchemy import text

from queries.scope import Reach, is_storable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    import numpy as np
    import numpy.typing as npt
    from sqlalchemy import Connection

    Scores = Sequence[float | None] | npt.NDArray[np.float64]
    Ranks = Sequence[int] | npt.NDArray[np.int64]
    Flags = Sequence[bool] | npt.NDArray[np.bool_]

LONGEST_QUERY = 20_000  # characters; the text stands in every row of its retrieval

# Postgres refuses COPY into a table with row security, so that arrays are the fastest way in: one statement, one plan.
# The injection comes first and decides: where it is there already, so are the candidates, and nothing is written.
# When an observation was last given to anyone is kept to ten minutes, and left alone where an outcome holds the row:
# the log must neither wait for that nor rewrite a popular row with every retrieval.
# Sorted, so that two processes that send the same retrievals wait for each other in one order.
WRITE = text(
    """with head as (
         select * from unnest(
             cast(:number as integer[]), cast(:org_id as text[]), cast(:retrieval_id as uuid[]),
             cast(:session_id as text[]), cast(:project_id as text[]), cast(:query_text as text[]),
             cast(:pipeline as text[]), cast(:weighting_enabled as boolean[]), cast(:work_type as text[]),
             cast(:token_budget as integer[]), cast(:tokens_used as integer[]), cast(:at as timestamptz[]))
           as t (number, org_id, retrieval_id, session_id, project_id, query_text, pipeline, weighting_enabled,
                 work_type, token_budget, tokens_used, at)),
       candidate as (
         select * from unnest(
             cast(:of as integer[]), cast(:observation_id as uuid[]), cast(:relevance as double precision[]),
             cast(:weight as double precision[]), cast(:weighted_score as double precision[]),
             cast(:unweighted_rank as integer[]), cast(:weighted_rank as integer[]), cast(:injected as boolean[]),
             cast(:corroboration_boost as double precision[])) with ordinality
           as t (number, observation_id, relevance, weight, weighted_score, unweighted_rank, weighted_rank, injected,
                 corroboration_boost, place)),
       given as (
         select number, count(*) as candidates,
                array_agg(observation_id order by weighted_rank, place) filter (where injected) as observation_ids
           from candidate group by number),
       fresh as (
         insert into context_injection_logs (org_id, retrieval_id, session_id, project_id, work_type, token_budget,
                                             tokens_used, candidates, observation_ids, created_at)
         select h.org_id, h.retrieval_id, h.session_id, h.project_id, h.work_type, h.token_budget, h.tokens_used,
                coalesce(g.candidates, 0), coalesce(g.observation_ids, '{}'), h.at
           from head h left join given g using (number)
          where not exists (select from context_injection_logs known
                             where known.org_id = h.org_id and known.retrieval_id = h.retrieval_id)
          order by h.org_id, h.retrieval_id
         on conflict do nothing
         returning org_id, retrieval_id),
       logged as (
         insert into retrieval_ab_logs (org_id, retrieval_id, session_id, project_id, query_text, observation_id,
                                        relevance_score, feedback_weight, weighted_score, unweighted_rank,
                                        weighted_rank, weighting_enabled, injected, corroboration_boost, pipeline,
                                        created_at)
         select h.org_id, h.retrieval_id, h.session_id, h.project_id, h.query_text, c.observation_id, c.relevance,
                c.weight, c.weighted_score, c.unweighted_rank, c.weighted_rank, h.weighting_enabled, c.injected,
                c.corroboration_boost, h.pipeline, h.at
           from head h join fresh using (org_id, retrieval_id) join candidate c using (number)
          order by c.place
         returning 1),
       read as (
         select h.org_id, c.observation_id as id, max(h.at) as at
           from head h join fresh using (org_id, retrieval_id) join candidate c using (number)
          where c.injected group by 1, 2),
       held as (
         select o.org_id, o.id, read.at from observations o join read using (org_id, id)
          where o.last_accessed_at is null or o.last_accessed_at < read.at - interval '10 minutes'
            for no key update of o skip locked),
       touched as (
         update observations o set last_accessed_at = held.at from held
          where o.org_id = held.org_id and o.id = held.id
         returning 1)
       select (select count(*) from logged), (select count(*) from touched)"""
)


@dataclass(frozen=True, eq=False)
class CandidateRows:
    """The candidates of one retrieval as aligned columns, ranks from 0; NaN and infinity are stored as null."""

    observation_id: Sequence[UUID | str]
    relevance: Scores
    weight: Scores
    weighted_score: Scores
    unweighted_rank: Ranks
    weighted_rank: Ranks
    injected: Flags
    corroboration_boost: Scores | None = None

    def __len__(self) -> int:
        return len(self.observation_id)

    def literals(self) -> dict[str, str]:
        """Columns by parameter name, all of one length, each as the inside of an array literal.

        Numbers and ids hold nothing that would need quotes, and this costs a tenth of what the driver needs for a list:
        time that the interpreter would take from the retrievals beside it.
        """
        size = len(self)
        columns = {
            "relevance": self.relevance,
            "weight": self.weight,
            "weighted_score": self.weighted_score,
            "unweighted_rank": self.unweighted_rank,
            "weighted_rank": self.weighted_rank,
            "injected": self.injected,
            "corroboration_boost": [None] * size if self.corroboration_boost is None else self.corroboration_boost,
        }
        for name, column in columns.items():
            if len(column) != size:
                raise ValueError(f"expected {size} values in {name}, found {len(column)}")
        ids = ((each if isinstance(each, UUID) else UUID(each)).hex for each in self.observation_id)
        return {"observation_id": ",".join(ids), **{name: _inside(column) for name, column in columns.items()}}


@dataclass(frozen=True, eq=False)
class RetrievalLog:
    """One retrieval as it is logged; without a session it is not (001)."""

    retrieval_id: UUID
    org_id: str
    project_id: str | None
    session_id: str | None
    query_text: str
    pipeline: str
    weighting_enabled: bool
    rows: CandidateRows
    work_type: str | None
    token_budget: int
    tokens_used: int
    at: datetime

    def head(self) -> dict[str, Any]:
        """What all rows of the retrieval share, as the store can hold it."""
        for name in ("org_id", "session_id", "project_id", "work_type"):
            value = getattr(self, name)
            if value is not None and not is_storable(value):
                raise ValueError(f"expected text without NUL and half characters in {name}, found some")
        return {
            "org_id": self.org_id,
            "retrieval_id": str(self.retrieval_id),
            "session_id": self.session_id,
            "project_id": self.project_id,
            "query_text": _storable(self.query_text[:LONGEST_QUERY]),
            "pipeline": _storable(self.pipeline),
            "weighting_enabled": bool(self.weighting_enabled),
            "work_type": self.work_type,
            "token_budget": int(self.token_budget),
            "tokens_used": int(self.tokens_used),
            "at": self.at,
        }


@dataclass(frozen=True, eq=False)
class WriteRetrievals:
    """Log retrievals in the caller's transaction, each once however often it is sent."""

    retrievals: tuple[RetrievalLog, ...]

    @property
    def reach(self) -> Reach:
        """The organizations concerned: the transaction needs no more."""
        return Reach.of(frozenset(each.org_id for each in self.retrievals))

    def values(self) -> dict[str, list[Any] | str]:
        """Every parameter of the statement; raises ``ValueError`` for a retrieval that cannot be stored."""
        # the same id twice in one statement would not see itself
        distinct = {(each.org_id, str(each.retrieval_id)): each for each in reversed(self.retrievals)}
        chosen = list(reversed(distinct.values()))
        heads = [each.head() for each in chosen]
        rows = [each.rows.literals() for each in chosen]
        numbers = (str(number) for number, each in enumerate(chosen) for _ in range(len(each.rows)))
        return {
            "number": list(range(len(chosen))),
            **{name: [head[name] for head in heads] for name in heads[0]},
            "of": _array(numbers),
            **{name: _array(each[name] for each in rows if each[name]) for name in rows[0]},
        }

    def apply(self, connection: Connection) -> int:
        """How many candidate rows were new."""
        return int(connection.execute(WRITE, self.values()).scalar_one())


def _array(parts: Iterable[str]) -> str:
    return "{" + ",".join(parts) + "}"


def _inside(column: Sequence[Any] | npt.NDArray[Any]) -> str:
    """The elements as Postgres reads them; only numbers and truth values survive its own check."""
    plain: list[Any] = column.tolist() if hasattr(column, "tolist") else list(column)
    words = repr(plain)[1:-1]
    # None, nan, inf, and whatever numpy puts around a scalar: every one of them has an n
    return ",".join(map(_element, plain)) if "n" in words else words


def _element(value: Any) -> str:  # noqa: ANN401 - whatever stands in a column
    plain = value.item() if hasattr(value, "item") else value
    return "NULL" if plain is None or not math.isfinite(plain) else repr(plain)


def _storable(words: str) -> str:
    return words.replace("\0", "\ufffd").encode(errors="replace").decode()
