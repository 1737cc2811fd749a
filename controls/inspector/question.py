"""The question an inspection is about: typed, or that of a logged retrieval. The address holds either."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from controls import address, links, messages, one_organization
from controls.grid import grid
from controls.loading import load, shape
from controls.opening import choose_to_open
from controls.scope import enter
from queries.flags.states import Features, flag_states
from queries.logged_retrieval import LONGEST_QUESTION, LatestRetrievals, LoggedRetrieval
from queries.scope import marked
from ranking.budget import context_budget
from retrieval.block import one_line
from retrieval.pipelines import Flags, fitted
from retrieval.retrieve import AgentSession

if TYPE_CHECKING:
    from datetime import datetime

    from queries.scope import Scope
    from retrieval.pipelines import Pipeline

TYPED = "typed_question"
WORK = "work_type"  # in the address: what a pin's question is asked for
SHOWN = 40  # characters of a work type that an address may name


@dataclass(frozen=True, eq=False)
class Asked:
    """A question with who asks it; ``logged`` and ``at`` where it is that of a logged retrieval."""

    session: AgentSession
    query: str
    flags: Flags
    at: datetime | None = None
    logged: pd.DataFrame | None = None

    def fit(self, stages: Pipeline) -> Pipeline:
        """A preset as the organization's own sessions would run it for this work."""
        return fitted(stages, weighting=self.flags.weighting, work_type=self.session.work_type)


def ask(scope: Scope) -> Asked | None:
    """Draw the question and return it; None where there is none yet, with a way to get one."""
    logged = _logged(scope)
    if scope.org is None:
        if logged is not None and not logged.empty:
            enter(str(logged["org_id"].iloc[0]))
            st.rerun()
        if logged is not None:
            messages.unknown_retrieval(of_one=False)
        one_organization.offer(scope, "A question is asked to one organization's memory.")
        return None
    opened = None if logged is None or logged.empty else logged
    typed = address.said("q") or ("" if opened is None else str(opened["query_text"].iloc[0]))
    st.session_state[TYPED] = typed[:LONGEST_QUESTION]
    st.text_input(
        "Question",
        key=TYPED,
        max_chars=LONGEST_QUESTION,
        placeholder="What an agent would ask its memory",
        icon=":material/search:",
        on_change=_typed,
    )
    if logged is not None and opened is None:
        messages.unknown_retrieval()
    if opened is not None:
        return _as_logged(opened, typed, _flags(scope))
    if typed.strip():
        work = address.said(WORK)
        if work is not None:
            st.text(f"Work {one_line(work)[:SHOWN]}: a budget of {context_budget(work)} tokens where none is chosen")
        return Asked(AgentSession(scope.org, None, scope.project, work), typed, _flags(scope))
    _offer_retrievals(scope)
    return None


def _as_logged(logged: pd.DataFrame, query: str, flags: Flags) -> Asked:
    first = logged.iloc[0]
    project, work, at = (None if pd.isna(first[name]) else first[name] for name in ("project_id", "work_type", "at"))
    session = AgentSession(str(first["org_id"]), None, project, work)
    when = "at a time that was not logged" if at is None else f"of {at:%-d %b %Y %H:%M} UTC"
    enabled = first["weighting_enabled"]
    weighting = "of unknown state" if pd.isna(enabled) else "on" if enabled else "off"
    st.caption(
        f"The logged retrieval {when}: {messages.counted(len(logged), 'candidate')}, weighting {weighting} then. "
        "Shown is what would be recalled now, with ages as of that moment; the logged places stand beside it."
    )
    st.text(marked(f"Session {first['session_id']}, project {project or '—'}, work {work or 'not named'}"))
    return Asked(session, query, flags, None if at is None else at.to_pydatetime(), logged)


def _logged(scope: Scope) -> pd.DataFrame | None:
    named = address.said("retrieval")
    if named is None:
        return None
    return load(LoggedRetrieval(replace(scope, project=None), named, shape())).frames[0]


def _flags(scope: Scope) -> Flags:
    found = load(Features(scope)).frames[0]["features"]
    return Flags.of(flag_states(None if found.empty or pd.isna(found.iloc[0]) else found.iloc[0]))


def _typed() -> None:
    """A new question is no longer the logged one."""
    address.say(q=st.session_state[TYPED], retrieval=None, obs=None, **{WORK: None})


def _offer_retrievals(scope: Scope) -> None:
    latest = load(LatestRetrievals(scope, shape())).frames[0]
    if latest.empty:
        messages.nothing_found("retrievals")
        return
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.caption("Type a question above, or open one of the latest logged retrievals.", width="content")
        questions = dict(zip(latest["retrieval"], latest["query_text"], strict=True))
        choose_to_open("choose_logged", "a retrieval", questions, _open)
    shown = pd.DataFrame(
        {"open": "Open", "at": latest["at"], "question": latest["query_text"], "project": latest["project_id"]}
    )
    opened = st.column_config.ButtonColumn(
        "",
        width="small",
        type="tertiary",
        key="open_retrieval",
        on_click=_open_clicked,
        args=(tuple(latest["retrieval"]),),
    )
    grid(
        shown,
        hide_index=True,
        key="latest",
        placeholder=messages.MISSING,
        column_config={
            "open": opened,
            "at": st.column_config.DatetimeColumn("Logged (UTC)", format="D MMM HH:mm", width=120),
            "question": st.column_config.TextColumn("Question", width="large"),
            "project": st.column_config.TextColumn("Project", width="small"),
        },
    )


def _open_clicked(retrievals: tuple[str, ...]) -> None:
    if (retrieval := links.clicked("open_retrieval", retrievals)) is not None:
        _open(retrieval)


def _open(retrieval: str) -> None:
    address.say(retrieval=retrieval, q=None, obs=None, **{WORK: None})
