"""What takes long, as a page waits for it: progress, a way to stop it, and one sentence when there is no result."""

from __future__ import annotations

from secrets import token_hex
from typing import TYPE_CHECKING, Any

import streamlit as st

from controls import loading
from controls.messages import counted
from jobs.worker_pool import CANCELLED, question_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jobs.worker_pool import Job
    from queries.scope import Scope

    Asked = tuple[str, Mapping[str, Any], Scope, str | None]

AT_ONCE = 0.3  # seconds; what is ready within them never shows that it was waited for
POLL = 0.25  # whoever waits a second or two should not wait half of one more
WHO, STOPPED = "working_who", "working_stopped"
LATE = 60.0  # seconds for which a run may wait for a free worker
STILL = "The computation did not begin in time. Try again in a minute."


def wait(
    task: str,
    params: Mapping[str, Any],
    scope: Scope,
    *,
    words: str,
    version: str | None = None,
    as_text: bool = False,
) -> Any:  # noqa: ANN401 - JSON, as the task returned it
    """The value of a task, or None while it is at work, was stopped or failed, which is then drawn here.

    A rerun finds the same run again. ``words`` say what is being done; only constants in them: they go to Markdown.
    ``version`` is that of the data the task reads; without it, the store's. ``as_text`` leaves the JSON to whoever
    keeps what they read from it.
    """
    pool, question = loading.workers(), question_of(task, params, scope)
    asked = (task, dict(params), scope, version)
    if question in _stopped() and ((known := pool.find(question)) is None or known.state != "done"):
        _over(CANCELLED, asked)
        return None
    _stopped().discard(question)
    job = _ask(*asked)
    job.over.wait(AT_ONCE)
    if job.state == "done":
        return job.text if as_text else job.value()
    if job.over.is_set():
        _over(job.sentence, asked)
    else:
        _watch(question, words)
    return None


def begin(task: str, params: Mapping[str, Any], scope: Scope) -> None:
    """Have a task under way before its value is waited for; one that this session stopped stays so."""
    if question_of(task, params, scope) not in _stopped():
        _ask(task, dict(params), scope)


def ready(task: str, params: Mapping[str, Any], scope: Scope, *, version: str | None = None) -> str | None:
    """The JSON of a task if it is there by now; otherwise it is under way, unless this session stopped it."""
    question = question_of(task, params, scope)
    if question in _stopped() and ((known := loading.workers().find(question)) is None or known.state != "done"):
        return None
    job = _ask(task, dict(params), scope, version)
    return job.text if job.state == "done" else None


class NotMadeError(Exception):
    """A task that came to nothing, in one sentence."""


def fetch(task: str, params: Mapping[str, Any], scope: Scope, version: str) -> str:
    """The JSON of a task, waited for however long it may take: for a click that has no page to draw on."""
    job = loading.workers().ask(task, params, scope, version, who=f"click {token_hex(8)}")
    job.over.wait(job.limit + LATE)
    if job.state != "done":
        raise NotMadeError(job.sentence or STILL)
    return job.text


def glance(task: str, params: Mapping[str, Any], scope: Scope) -> Any:  # noqa: ANN401 - JSON, as the task returned it
    """The value of a task if it is there; None while it is at work or failed. The page comes back once it is over."""
    question = question_of(task, params, scope)
    if question in _stopped():
        return None
    job = _ask(task, dict(params), scope)
    if job.state == "done":
        return job.value()
    if not job.over.is_set():
        _come_back(question)
    return None


def failure(task: str, params: Mapping[str, Any], scope: Scope) -> str | None:
    """Why a task that was glanced at has no value and is not at work; None where it has one, or still is."""
    job = loading.workers().find(question_of(task, params, scope))
    return job.sentence if job is not None and job.over.is_set() and job.state != "done" else None


def given_up(task: str, params: Mapping[str, Any], scope: Scope) -> str | None:
    """The same of a task that was waited for; what this session stopped counts as over, whoever else waits for it."""
    return CANCELLED if question_of(task, params, scope) in _stopped() else failure(task, params, scope)


@st.fragment(run_every=POLL)
def _come_back(question: str) -> None:
    """Nothing to see; the whole page runs once more when the task is over."""
    job = loading.workers().find(question, _who())
    if job is None or job.over.is_set():
        st.rerun()


def _ask(
    task: str,
    params: Mapping[str, Any],
    scope: Scope,
    version: str | None = None,
    *,
    again: bool = False,
) -> Job:
    known = loading.version(scope.reach) if version is None else version
    return loading.workers().ask(task, params, scope, known, who=_who(), again=again)


@st.fragment(run_every=POLL)
def _watch(question: str, words: str) -> None:
    """How far a run is, until it is over: then the whole page runs once more and finds the result."""
    job = loading.workers().find(question, _who())
    if job is None or job.over.is_set() or question in _stopped():
        st.rerun()
    bar, button = st.columns((6, 1), vertical_alignment="center")
    bar.progress(_share(job), text=_told(job, words))
    button.button("Cancel", key=f"cancel_{question[:16]}", on_click=_stop, args=(question,), width="stretch")


def _share(job: Job) -> float:
    progress = job.progress
    return min(max(progress.done / progress.total, 0.0), 1.0) if progress.total else 0.0


def _told(job: Job, words: str) -> str:
    if job.state == "waiting" and (ahead := loading.workers().ahead_of(job)):
        return f"{words}: waiting, {counted(ahead, 'task')} before this one"
    if job.state == "waiting":
        return f"{words}: waiting for a free worker, {counted(loading.workers().waiting, 'task')} in the queue"
    step = f", {job.progress.words}" if job.progress.words else ""
    return f"{words}{step} · {job.seconds:.0f} s of at most {job.limit:.0f}"


def _over(sentence: str, asked: Asked) -> None:
    said, button = st.columns((6, 1), vertical_alignment="center")
    said.info(sentence, icon=":material/hourglass_disabled:")
    button.button("Try again", key=f"again_{asked[0]}", on_click=_again, args=asked, width="stretch")


def _stop(question: str) -> None:
    _stopped().add(question)
    loading.workers().cancel(question, _who())


def _again(task: str, params: Mapping[str, Any], scope: Scope, version: str | None) -> None:
    _stopped().discard(question_of(task, params, scope))
    _ask(task, params, scope, version, again=True)


def _who() -> str:
    """This browser session among those that wait for the same run."""
    who: str = st.session_state.setdefault(WHO, token_hex(8))
    return who


def _stopped() -> set[str]:
    """The questions that this session gave up, whoever else may still wait for them."""
    stopped: set[str] = st.session_state.setdefault(STOPPED, set())
    return stopped
