"""One retrieval without a trace: embed, recall, rank, pack. Inspecting is this and nothing more."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from queries.scope import Reach
from ranking.candidates import Candidates
from ranking.columns import COLUMNS
from ranking.fallback import FallbackScorer
from ranking.pipeline_text import to_text
from ranking.presets import PRESETS
from ranking.ranking import rank
from ranking.session_recency import SessionMemory
from retrieval.block import format_observations_block
from retrieval.embedders import EmbedderError
from retrieval.evidence import beside, with_scored_pairs, with_voices, with_what_was_shown
from retrieval.lookup import look_up
from retrieval.pipelines import fitted, token_budget
from retrieval.recall import KEYWORD_ONLY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from queries.engine import Store
    from queries.recall.neighbours import Neighbour
    from ranking.budget import Block
    from ranking.pair_scorer import PairScorer, ScorerUsed
    from ranking.ranking import Ranking, Stage
    from retrieval.embedders import Embedder, Vectors
    from retrieval.log import LogWriter
    from retrieval.pipelines import Flags, Pipeline
    from retrieval.recall import Recalled

log = logging.getLogger("rankscope.retrieval")

# columns of two axes; all others are empty lists where nothing was recalled
MATRICES = {"embeddings": np.float32, "leg_ranks": np.int64, "leg_scores": np.float64}


@dataclass(frozen=True)
class AgentSession:
    """Who asks: a session of an organization's agent; without an id nothing is logged or remembered (001)."""

    org_id: str
    id: str | None = None
    project_id: str | None = None
    work_type: str | None = None

    @property
    def reach(self) -> Reach:
        """The session's own organization and no other."""
        return Reach.of(frozenset({self.org_id}))

    @property
    def key(self) -> str | None:
        """The session among those of every organization: two may name theirs alike."""
        return None if not self.id else f"{self.org_id}\0{self.id}"


@dataclass(frozen=True, eq=False)
class Memory:
    """What one process retrieves with: the store, the models, the log, and what its sessions were shown."""

    store: Store
    embedder: Embedder | None = None
    scorer: PairScorer = field(default_factory=lambda: FallbackScorer(None))
    writer: LogWriter | None = None
    shown: SessionMemory = field(default_factory=SessionMemory)


@dataclass(frozen=True, eq=False)
class Retrieval:
    """One retrieval: the block, the ranking behind it, how it came about, and everything that was not as it should be.

    ``failed`` says why nothing could be looked up, which is not the same as nothing being found.
    """

    session: AgentSession
    query: str
    at: datetime
    pipeline: str
    stages: Pipeline
    ranking: Ranking
    block: Block
    recalled: Recalled | None
    scorer_used: ScorerUsed
    degraded: tuple[str, ...]
    failed: str | None = None
    neighbours: tuple[Neighbour, ...] = ()

    @property
    def way(self) -> str:
        """How candidates were recalled."""
        return "nothing" if self.recalled is None else self.recalled.way

    @property
    def text(self) -> str:
        """The block as it goes into the prompt."""
        return self.block.text

    @property
    def injected(self) -> tuple[Any, ...]:
        """The ids of the observations in the block, best first."""
        return self.block.ids


@dataclass(frozen=True, eq=False)
class Recollection:
    """What a question brought back before any ranking: pipelines that recall alike can be ranked over it one by one."""

    session: AgentSession
    query: str
    at: datetime
    flags: Flags
    pipeline: Pipeline
    recalled: Recalled | None
    candidates: Candidates
    degraded: tuple[str, ...]
    failed: str | None = None


def retrieve(
    memory: Memory,
    session: AgentSession,
    query: str,
    pipeline: Sequence[Stage] | None = None,
    now: datetime | None = None,
) -> Retrieval:
    """Rank what the store knows about a question and pack the best; a store that fails gives a result that says so."""
    return rank_fitted(memory, recollect(memory, session, query, pipeline, now))


def recollect(
    memory: Memory,
    session: AgentSession,
    query: str,
    pipeline: Sequence[Stage] | None = None,
    now: datetime | None = None,
) -> Recollection:
    """What the store knows about a question, and the voices if the pipeline, or the organization's own, counts them."""
    at = datetime.now(UTC) if now is None else now.astimezone(UTC)
    asked = query.replace("\0", " ").encode(errors="replace").decode()
    vector, degraded = question_vector(memory.embedder, asked)
    found = look_up(memory.store, session, pipeline, text=asked, vector=vector, at=at)
    chosen = found.flags.pipeline if pipeline is None else tuple(pipeline)
    candidates = _nothing(asked, at) if found.recalled is None else found.recalled.candidates
    candidates, unheard = with_voices(candidates, chosen, memory.store, session.org_id, session.project_id)
    told = (*found.degraded, *degraded, *unheard)
    return Recollection(session, asked, at, found.flags, chosen, found.recalled, candidates, told, found.failed)


def rank_fitted(memory: Memory, found: Recollection) -> Retrieval:
    """Rank what was recollected by its own pipeline, with what the organization's flags and the work change in it."""
    stages = fitted(found.pipeline, weighting=found.flags.weighting, work_type=found.session.work_type)
    return replace(rank_recollection(memory, found, stages), pipeline=pipeline_name(found.pipeline))


def rank_recollection(memory: Memory, found: Recollection, stages: Sequence[Stage]) -> Retrieval:
    """Rank what was recollected by stages that recall as its own pipeline does, exactly as given, and pack the best."""
    session, kept = found.session, tuple(stages)
    candidates = with_what_was_shown(found.candidates, kept, memory.shown, session.key)
    candidates, used, unread = with_scored_pairs(candidates, kept, memory.scorer)
    ranking = rank(candidates, kept)
    neighbours, unseen = beside(ranking, kept, memory.store, session.org_id)
    return Retrieval(
        session=session,
        query=found.query,
        at=found.at,
        pipeline=pipeline_name(kept),
        stages=kept,
        ranking=ranking,
        block=format_observations_block(ranking, token_budget(kept, session.work_type)),
        recalled=found.recalled,
        scorer_used=used,
        degraded=(*found.degraded, *unread, *unseen),
        failed=found.failed,
        neighbours=neighbours,
    )


def pipeline_name(stages: Pipeline) -> str:
    """A preset's name, else the pipeline's text; budget and weighting are told beside it."""
    return next((name for name, preset in PRESETS.items() if preset == stages), None) or to_text(stages)


def question_vector(embedder: Embedder | None, text: str) -> tuple[Vectors | None, list[str]]:
    """The question's vector, or none and why."""
    if not text.strip():
        return None, ["the question is empty"]
    if embedder is None:
        return None, [f"no embedder is configured: {KEYWORD_ONLY}"]
    try:
        vector = np.asarray(embedder.embed_query(text), np.float32)
        if vector.ndim != 1:
            raise EmbedderError(f"{embedder.name}: expected one vector, found shape {vector.shape}")  # noqa: TRY301 - told as any other failure
    except EmbedderError as error:
        return None, [f"{error}: {KEYWORD_ONLY}"]
    except Exception:
        # an embedder is whatever a platform brings along; its failure must not cost the agent its memory
        log.exception("embedder failed; the keyword leg stands in")
        return None, [f"the embedder failed: {KEYWORD_ONLY}"]
    finite = bool(np.isfinite(vector).all())
    if not finite or not vector.any():
        what = "has no words that {} knows" if finite else "got a vector from {} that is not finite"
        return None, [f"the question {what.format(embedder.name)}: {KEYWORD_ONLY}"]
    return vector, []


def _nothing(query: str, at: datetime) -> Candidates:
    """No candidates, with every column, so that each pipeline runs over them."""
    columns: dict[str, Any] = {name: [] for name in COLUMNS}
    columns |= {name: np.zeros((0, 0), kind) for name, kind in MATRICES.items()}
    return Candidates([], query=query, now=np.datetime64(at.replace(tzinfo=None), "us"), **columns)
