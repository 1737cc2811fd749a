"""The memory of a session: one retrieval, and the only place where one leaves a trace."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

import numpy as np

from queries.engine import Store, make_engine
from queries.retrieval_log import LONGEST_QUERY
from retrieval.ab import ab_ranks, weighs
from retrieval.embedders import WordLlamaEmbedder
from retrieval.log import CandidateRows, LogWriter, RetrievalLog, log_retrieval_ab
from retrieval.neural import pair_scorer
from retrieval.retrieve import AgentSession, Memory, Retrieval, retrieve

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from ranking.pair_scorer import PairScorer
    from ranking.ranking import Ranking, Stage
    from retrieval.embedders import Embedder

__all__ = ["AgentSession", "Memory", "Retrieval", "SessionMemoryBlock", "build_session_memory_block", "open_memory"]


@dataclass(frozen=True, eq=False)
class SessionMemoryBlock:
    """What a session is given: the block, the ranking it was cut from, and under which id that is logged."""

    id: UUID
    retrieval: Retrieval
    logged: bool

    @property
    def text(self) -> str:
        """The block as it goes into the prompt; empty when nothing was found or nothing could be looked up."""
        return self.retrieval.text

    @property
    def ranking(self) -> Ranking:
        """Every candidate with the trail of every stage."""
        return self.retrieval.ranking

    @property
    def injected(self) -> tuple[Any, ...]:
        """The ids of the observations in the block, best first."""
        return self.retrieval.injected

    @property
    def degraded(self) -> tuple[str, ...]:
        """What was not as it should be, in sentences; nothing when all was well."""
        failed = self.retrieval.failed
        return self.retrieval.degraded if failed is None else (failed, *self.retrieval.degraded)


@contextmanager
def open_memory(url: str, embedder: Embedder | None = None, scorer: PairScorer | None = None) -> Iterator[Memory]:
    """What a process retrieves with, over a login with the rights of ``memory_write``; opened once, not per session.

    Leaving it writes what waits for the log. Models are loaded when first used: word vectors unless another is given.
    """
    engine = make_engine(url, name="rankscope memory")
    store = Store(engine, engine)
    # its own: a second memory of the process must not stop the log of the first
    writer = LogWriter(store)
    try:
        yield Memory(store, embedder or WordLlamaEmbedder(), scorer or pair_scorer(), writer)
    finally:
        writer.stop()
        store.close()


def build_session_memory_block(
    session: AgentSession,
    query: str,
    memory: Memory,
    *,
    pipeline: Sequence[Stage] | None = None,
    now: datetime | None = None,
    skip_ab_log: bool = False,
) -> SessionMemoryBlock:
    """Recall, rank and pack what a session should remember, remember that it was shown, and log it (001).

    ``skip_ab_log`` spares the log where a tool asks by itself. What could not be looked up is not logged either: a
    retrieval without candidates would count as one that found nothing.
    """
    found = retrieve(memory, session, query, pipeline, now)
    id_ = uuid4()
    memory.shown.record(session.key, found.injected, found.at.timestamp())
    logged = not skip_ab_log and found.failed is None and log_retrieval_ab(as_log(id_, found), memory.writer)
    return SessionMemoryBlock(id_, found, logged)


def as_log(id_: UUID, found: Retrieval) -> RetrievalLog:
    """The retrieval as its log keeps it: a row per candidate with both ranks, and what was injected."""
    candidates, order = found.ranking.candidates, ab_ranks(found.ranking)
    given = frozenset(found.injected)
    session = found.session
    return RetrievalLog(
        retrieval_id=id_,
        org_id=session.org_id,
        project_id=session.project_id,
        session_id=session.id,
        query_text=found.query[:LONGEST_QUERY],
        pipeline=found.pipeline,
        weighting_enabled=weighs(found.ranking),
        rows=CandidateRows(
            observation_id=candidates.ids.tolist(),
            relevance=candidates["relevance"],
            weight=candidates["weight"],
            weighted_score=order.weighted_score,
            unweighted_rank=order.unweighted_rank,
            weighted_rank=order.weighted_rank,
            injected=np.fromiter(map(given.__contains__, candidates.ids), np.bool_, len(candidates)),
            corroboration_boost=order.corroboration_boost,
        ),
        work_type=session.work_type,
        token_budget=found.block.budget,
        tokens_used=found.block.tokens,
        at=found.at,
    )
