"""The only place with Streamlit's caches: the store as a resource, answers by question, reach and data version."""

from __future__ import annotations

import hashlib
import logging
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar, cast

import streamlit as st

import settings
from analysis.inspector.pins import PinResult, check
from analysis.replay.flags import flag_flip
from analysis.replay.outcomes import outcomes
from analysis.replay.realised import realised
from analysis.voices import heard, stored_voices
from controls.garbage import Collection
from jobs.worker_pool import WorkerPool
from queries import embedded
from queries.engine import AGGREGATE, LIST, Store, make_engine
from queries.errors import StoreError
from queries.isolation import gap
from queries.scope import NOTHING, Reach, Scope
from queries.shape import LogShape, columns, log_shape
from queries.version import FINGERPRINTS, PASSES, RECALL, data_version
from ranking.corroboration import Corroboration
from ranking.mmr import Mmr
from ranking.session_support import SessionSupport
from retrieval.choice import chosen_embedder, chosen_scorer
from retrieval.evidence import asks_for
from retrieval.lookup import wanted
from retrieval.recall import way_for
from retrieval.remembered import RememberingEmbedder, remembering
from retrieval.retrieve import Memory, recollect

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd
    from sqlalchemy import Engine

    from analysis.replay.flags import FlipPreview
    from analysis.replay.outcomes import Outcomes
    from analysis.replay.realised import Realised
    from queries.engine import Question
    from queries.flags.registry import State
    from queries.pins import Pin
    from queries.replay.texts import StoredVoices
    from retrieval.pipelines import Pipeline
    from retrieval.retrieve import AgentSession, Recollection, Retrieval

    Answer = Callable[[AgentSession, str], Retrieval]

log = logging.getLogger("rankscope.store")
Made = TypeVar("Made")


@dataclass(frozen=True)
class Answers:
    """Frames in the order of the questions, all from one snapshot, and when that was taken."""

    frames: tuple[pd.DataFrame, ...]
    as_of: datetime


@st.cache_resource(show_spinner=False, on_release=Store.close)
def store() -> Store:
    """The store of this process, connected on first use."""
    chosen = settings.current()
    if chosen.database_url is not None:
        return Store(make_engine(chosen.database_url, name="rankscope"), _writer(chosen.write_url))
    try:
        lease = embedded.start(chosen.data_folder)
    except embedded.EmbeddedError as error:
        raise StoreError("embedded", f"The embedded database did not start: {error}") from error
    # Given back at once: the application holds a lease for as long as it runs, this one only asks for the address.
    lease.release(linger=True)
    reader = make_engine(lease.url("dash_read", embedded.DATABASE), name="rankscope")
    return Store(reader, _writer(lease.url("dash_write", embedded.DATABASE)))


@st.cache_resource(show_spinner=False)
def memory() -> Memory:
    """What this process inspects with: the store and the models of the settings, loaded on first use; no log writer."""
    chosen = settings.current()
    embedder = chosen_embedder(chosen)
    return Memory(store(), embedder and RememberingEmbedder(embedder), remembering(chosen_scorer(chosen)))


def recollected(
    scope: Scope, session: AgentSession, query: str, stages: Pipeline, *, at: datetime | None = None,
    bits: int | None = None,
) -> Recollection:  # fmt: skip
    """What a question brings back, kept for every pipeline that recalls alike: ranking it anew then asks no store.

    Kept until what recall reads changes, whatever is logged meanwhile; with ``bits`` who says the same is counted anew.
    """
    needs = tuple(asks_for(stages, kind) for kind in (Mmr, Corroboration, SessionSupport))
    who = (session.org_id, session.project_id, session.work_type)
    asked = (*who, query, at, way_for(stages).value, wanted(stages), needs)
    key = reach_key(scope.reach)
    try:
        found = _recollected(key, repr(asked), recall_version(scope.reach, stages), session, query, stages, at)
    except _NotFoundError as failure:
        return failure.recollection
    return heard(found, bits, lambda: voices(scope, session.org_id))


def voices(scope: Scope, org: str) -> StoredVoices:
    """An organization's fingerprints, kept until its data change, so that a threshold is tried without the store."""
    key = reach_key(scope.reach)
    return _voices(key, org, _version(key, FINGERPRINTS), scope.reach)


@st.cache_data(ttl=300, max_entries=4, show_spinner="Reading fingerprints")
def _voices(scope_key: str, org: str, version: str, _reach: Reach) -> StoredVoices:  # noqa: ARG001 - the first three are the key
    return stored_voices(store(), _reach, org)


class _NotFoundError(Exception):
    """A recollection that failed: raised, because an answer would be kept."""

    def __init__(self, recollection: Recollection) -> None:
        super().__init__(recollection.failed)
        self.recollection = recollection


@st.cache_data(ttl=300, max_entries=200, show_spinner=False)
def _recollected(
    scope_key: str,  # noqa: ARG001 - the first three are the key
    asked: str,  # noqa: ARG001
    version: str,  # noqa: ARG001
    _session: AgentSession,
    _query: str,
    _stages: Pipeline,
    _at: datetime | None,
) -> Recollection:
    minute = datetime.now(UTC).replace(second=0, microsecond=0)  # ages are as of it, for as long as the answer is kept
    found = recollect(memory(), _session, _query, _stages, _at or minute)
    if found.failed is not None:
        raise _NotFoundError(found)
    return found


@st.cache_resource(show_spinner=False, on_release=WorkerPool.close)
def workers() -> WorkerPool:
    """The worker processes of this process, started when first asked; they end with it, whatever becomes of it."""
    return WorkerPool(store().reader.url.render_as_string(hide_password=False))


def version(reach: Reach) -> str:
    """The store's data version, as cached figures know it."""
    return _version(reach_key(reach))


def recall_version(reach: Reach, *pipelines: Pipeline) -> str:
    """The version of what these pipelines recall from: what is only logged leaves it as it is."""
    voiced = any(asks_for(stages, Corroboration) for stages in pipelines)
    return _version(reach_key(reach), (*RECALL, *PASSES) if voiced else RECALL)


def _writer(url: str | None) -> Engine | None:
    """The write login's engine; without a usable address Rankscope only reads, and the banner says so."""
    if url is None:
        return None
    try:
        return make_engine(url, name="rankscope write", pool=2, overflow=2)
    except StoreError:
        log.warning("RANKSCOPE_WRITE_URL cannot be read: serving read-only")
        return None


def load(*questions: Question) -> Answers:
    """Answers to all questions from one snapshot, kept until the store's data version changes."""
    reach = questions[0].scope.reach
    if any(question.scope.reach != reach for question in questions):
        raise ValueError("questions asked together must share one reach")
    return _answers(reach_key(reach), tuple(map(repr, questions)), version(reach), questions)


def ask_now(*questions: Question) -> Answers:
    """Answers from one snapshot taken now: what someone is about to change is never shown from a cache."""
    frames, as_of = store().ask_all(*questions)
    return Answers(tuple(frames), as_of)


def flip_preview(scope: Scope, flag: str, seen: State) -> FlipPreview:
    """What the opposite of a flag that was seen would have done to the retrievals of one organization's window.

    Kept for minutes whatever is logged meanwhile: a busy store would otherwise be replayed with every click.
    """
    return _flip_preview(reach_key(scope.reach), repr((scope, flag, seen)), scope, flag)


@st.cache_data(ttl=300, max_entries=200, show_spinner=False)
def _flip_preview(scope_key: str, asked: str, _scope: Scope, _flag: str) -> FlipPreview:  # noqa: ARG001 - the first two are the key
    return flag_flip(store(), _scope.reach, _scope.org or "", _flag, _scope.since, _scope.until)


def realised_flips(scope: Scope, flag: str, old: State, new: State) -> Realised | None:
    """What a change of one organization's flag did to the retrievals of a window; kept for minutes too."""
    return _realised_flips(reach_key(scope.reach), repr((scope, flag, old, new)), scope, (flag, old, new))


@st.cache_data(ttl=300, max_entries=200, show_spinner=False)
def _realised_flips(scope_key: str, asked: str, _scope: Scope, _change: tuple[str, State, State]) -> Realised | None:  # noqa: ARG001 - the first two are the key
    return realised(store(), _scope, *_change)


def reach_key(reach: Reach) -> str:
    """The organizations someone may see, as a short text: the first part of every cache key."""
    return hashlib.sha256(repr(reach).encode()).hexdigest()[:16]


@st.cache_data(ttl=60, max_entries=400, show_spinner=False)
def _answers(scope_key: str, asked: tuple[str, ...], version: str, _questions: tuple[Question, ...]) -> Answers:  # noqa: ARG001 - the first three are the key
    frames, as_of = store().ask_all(*_questions)
    return Answers(tuple(frames), as_of)


def kept(name: str, make: Callable[[], Made], answers: Answers, *questions: Question) -> Made:
    """What is made of these very answers, kept as long as they are: one for all of a reach, and none may change it."""
    key = reach_key(questions[0].scope.reach)
    return cast("Made", _kept(key, tuple(map(repr, questions)), answers.as_of, name, make))


@st.cache_resource(ttl=60, max_entries=200, show_spinner=False)
def _kept(scope_key: str, asked: tuple[str, ...], as_of: datetime, name: str, _make: Callable[[], Any]) -> Any:  # noqa: ARG001, ANN401 - the first four are the key
    return _make()


def ladder(scope: Scope) -> Outcomes:
    """What outcomes can tell about one organization, kept until the store's data version changes."""
    return _ladder(reach_key(scope.reach), repr(scope), version(scope.reach), scope)


@st.cache_data(ttl=300, max_entries=50, show_spinner=False)
def _ladder(scope_key: str, asked: str, version: str, _scope: Scope) -> Outcomes:  # noqa: ARG001 - the first three are the key
    return outcomes(store(), _scope)


@st.cache_data(ttl=2, max_entries=100, show_spinner=False)
def _version(scope_key: str, tables: tuple[str, ...] | None = None) -> str:  # noqa: ARG001 - the key
    return store().once(NOTHING, LIST, lambda snapshot: data_version(snapshot, tables))


def checked_pins(org: str, pins: tuple[Pin, ...], under: str, version: str, answer: Answer) -> tuple[PinResult, ...]:
    """Whether pins of one organization hold; kept until they, what they are asked ``under`` or its version change."""
    asked = repr((pins, under))
    return _checked_pins(reach_key(Reach.of(frozenset({org}))), org, asked, version, pins, answer)


@st.cache_data(ttl=60, max_entries=100, show_spinner="Checking pins")
def _checked_pins(  # the first four are the key
    scope_key: str,  # noqa: ARG001
    org: str,
    asked: str,  # noqa: ARG001
    version: str,  # noqa: ARG001
    _pins: tuple[Pin, ...],
    _answer: Answer,
) -> tuple[PinResult, ...]:
    return check(org, _pins, _answer)


@st.cache_data(ttl=60, max_entries=1, show_spinner=False)
def shape(scope_key: str = "store") -> LogShape:  # noqa: ARG001 - the same for everyone: only column names
    """Which recommended columns the store's log has."""
    with store().reading(NOTHING, AGGREGATE) as snapshot:
        return log_shape(snapshot)


@st.cache_data(ttl=60, max_entries=1, show_spinner=False)
def own_columns(scope_key: str = "store") -> dict[str, frozenset[str]]:  # noqa: ARG001 - the same for everyone: only column names
    """The tables of schema rankscope and their columns, which a store of an older revision has fewer of."""
    return store().once(NOTHING, LIST, lambda snapshot: columns(snapshot, "rankscope"))


@st.cache_data(ttl=60, max_entries=1, show_spinner=False)
def isolation_gap(scope_key: str = "store") -> str | None:  # noqa: ARG001 - the same for everyone: the login's own powers
    """Why the database does not keep tenants apart for this login; ``None`` where it does."""
    return store().once(NOTHING, LIST, gap)


def may_write() -> bool:
    """Whether a write login is configured."""
    return store().writer is not None


@st.cache_resource(show_spinner=False)
def garbage() -> Collection:
    """This process's collector, from its first run on."""
    return Collection()
