"""Retrievals to be logged, and what the store then holds of them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

from queries.engine import Store, make_engine
from retrieval.log import CandidateRows, RetrievalLog

if TYPE_CHECKING:
    from collections.abc import Sequence

    import psycopg

    from tests.conftest import Cluster

AT = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)


def memory_store(cluster: Cluster, database: str, role: str = "memory_write") -> Store:
    """The store as an agent platform opens it for retrieval and learning."""
    return Store(
        make_engine(cluster.url(role, database), name="test memory read"),
        make_engine(cluster.url(role, database), name="test memory"),
    )


def retrieval(
    size: int = 3,
    *,
    org: str = "org_a",
    session: str | None = "session-1",
    observations: Sequence[UUID] | None = None,
    **changed: Any,  # noqa: ANN401 - any field of the log
) -> RetrievalLog:
    """A retrieval of so many candidates of which the first two were injected; weighting swapped the first two."""
    ids = list(observations) if observations is not None else [uuid4() for _ in range(size)]
    size = len(ids)
    swapped = [1, 0, *range(2, size)][:size] if size > 1 else list(range(size))
    fields: dict[str, Any] = {
        "retrieval_id": uuid4(),
        "org_id": org,
        "project_id": "api",
        "session_id": session,
        "query_text": "why does the build fail",
        "pipeline": "Relevance() > Feedback()",
        "weighting_enabled": True,
        "rows": CandidateRows(
            observation_id=ids,
            relevance=[0.9 - 0.01 * i for i in range(size)],
            weight=[0.5 + 0.001 * i for i in range(size)],
            weighted_score=[0.4 - 0.001 * i for i in range(size)],
            unweighted_rank=list(range(size)),
            weighted_rank=swapped,
            injected=[i < 2 for i in range(size)],
            corroboration_boost=[0.1] * size,
        ),
        "work_type": "bug_fix",
        "token_budget": 750,
        "tokens_used": 123,
        "at": AT,
    }
    return RetrievalLog(**(fields | changed))


def logged(owner: psycopg.Connection[Any]) -> dict[UUID, int]:
    """Candidate rows by retrieval."""
    found = owner.execute("select retrieval_id, count(*) from retrieval_ab_logs group by 1").fetchall()
    return dict(found)


def injections(owner: psycopg.Connection[Any]) -> dict[UUID, int]:
    """How many candidates each injection says its retrieval had; a retrieval that is there twice is an error."""
    found = owner.execute("select retrieval_id, candidates from context_injection_logs").fetchall()
    assert len(found) == len(dict(found)), "an injection is there twice"
    return dict(found)
