"""What a retrieval reads from the store: the organization's flags and the candidates, if possible in one snapshot."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from queries.engine import LIST
from queries.errors import StoreError
from queries.flags.live import FlagsOf
from queries.scope import is_storable
from ranking.mmr import Mmr
from ranking.presets import LIVE
from ranking.relevance import Head
from ranking.session_support import SessionSupport
from retrieval.evidence import asks_for
from retrieval.pipelines import Flags, read_flags
from retrieval.recall import RecallQuestion, Way, recall, way_for

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from queries.engine import Store
    from ranking.ranking import Stage
    from retrieval.embedders import Vectors
    from retrieval.recall import Recalled
    from retrieval.retrieve import AgentSession

log = logging.getLogger("rankscope.retrieval")

NOT_LOOKED_UP = "the memory could not be looked up"
RECALLED = 20  # 001: up to 20 raw candidates
MOST_RECALLED = 1_000  # a pipeline's text may name any number

# Failures of a question and not of the store: asked one by one, the others may still be answered.
OF_ONE_QUESTION = frozenset({"privilege", "table", "column", "schema", "data", "locked", "slow", "unknown"})


@dataclass(frozen=True, eq=False)
class LookedUp:
    """The flags, the candidates or why there are none, and what was not as it should be."""

    flags: Flags
    recalled: Recalled | None
    failed: str | None
    degraded: tuple[str, ...] = ()


def look_up(
    store: Store,
    session: AgentSession,
    pipeline: Sequence[Stage] | None,
    *,
    text: str,
    vector: Vectors | None,
    at: datetime,
) -> LookedUp:
    """Flags and candidates together: both pipelines that flags choose between recall alike, so neither has to wait."""
    if not all(is_storable(name) for name in (session.org_id, session.project_id or "")):
        return LookedUp(
            Flags(), None, f"{NOT_LOOKED_UP}: expected names a store can hold, found NUL or half a character"
        )
    stages = LIVE if pipeline is None else tuple(pipeline)
    question = question_of(session, stages, text=text, vector=vector, at=at)
    asked = FlagsOf(session.org_id)
    try:
        recalled = recall(store, session.reach, replace(question, also=asked.statement()), way_for(stages))
    except StoreError as error:
        if error.kind in OF_ONE_QUESTION:
            return _one_by_one(store, session, question, way_for(stages))
        return LookedUp(Flags(), None, _failure(error))
    flags = Flags.of(asked.states(recalled.beside))
    return LookedUp(flags, recalled, None, (*_unreadable(flags), *recalled.degraded))


def question_of(
    session: AgentSession, stages: Sequence[Stage], *, text: str, vector: Vectors | None, at: datetime
) -> RecallQuestion:
    """What a pipeline asks of the store for one session's question."""
    return RecallQuestion(
        org_id=session.org_id,
        project_id=session.project_id,
        text=text,
        vector=vector,
        k=wanted(stages),
        now=at,
        embeddings=asks_for(stages, Mmr),
        sessions=asks_for(stages, SessionSupport),
    )


def _one_by_one(store: Store, session: AgentSession, question: RecallQuestion, way: Way) -> LookedUp:
    flags = Flags()
    degraded: tuple[str, ...]
    try:
        with store.reading(session.reach, LIST, name="flags") as connection:
            flags = read_flags(connection, session.org_id)
        degraded = _unreadable(flags)
    except StoreError as error:
        degraded = (f"the organization's flags could not be read ({error.kind}): the defaults hold",)
    try:
        recalled = recall(store, session.reach, question, way)
    except StoreError as error:
        return LookedUp(flags, None, _failure(error), degraded)
    return LookedUp(flags, recalled, None, (*degraded, *recalled.degraded))


def _failure(error: StoreError) -> str:
    log.warning("recall failed: %s", error)
    return f"{NOT_LOOKED_UP}: {error.sentence}"


def _unreadable(flags: Flags) -> tuple[str, ...]:
    return () if flags.unreadable is None else (flags.unreadable,)


def wanted(stages: Sequence[Stage]) -> int:
    """How many rows recall is asked for: 20, or a longer head's; the pools of a fusion follow the k of MMR."""
    heads = [stage.k for stage in stages if isinstance(stage, Head)]
    chosen = [stage.k for stage in stages if isinstance(stage, Mmr)]
    if way_for(stages) is Way.PLAIN:
        return min(max([RECALLED, *heads]), MOST_RECALLED)
    return min([*chosen, *heads, RECALLED][0], MOST_RECALLED)
