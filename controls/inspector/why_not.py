"""The panel that answers why an observation is not in the block: what is missed, the verdict, and every gate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from analysis.inspector.gates import State, Verdict
from analysis.inspector.why_not import why_not
from controls import address, messages
from controls.choosing import choose_one
from controls.glossary import inspector as glossary
from controls.grid import WRAPPED, grid
from controls.links import observation_address
from controls.observations import PAGE
from queries.errors import StoreError
from queries.matching import LONGEST, SHOWN
from queries.scope import isolated
from retrieval.block import one_line

if TYPE_CHECKING:
    from analysis.inspector.gates import Gate
    from analysis.inspector.why_not import WhyNot
    from queries.matching import Match
    from retrieval.retrieve import Memory, Retrieval

TEXT, CHOSEN = "why", "missed"
BOX = "why_text"
SIGNS = {
    State.PASSED: "✓ passed",
    State.MISSED: "○ missed",
    State.LOST: "✕ lost here",
    State.NOT_REACHED: "· not reached",
}


def panel(found: Retrieval, memory: Memory) -> None:
    """Ask for an observation by id, title or text, and say which gate lost it; text and choice stand in the address."""
    said = st.query_params.get(TEXT, "")
    st.session_state[BOX] = said
    st.text_input(
        "An observation you miss in this ranking",
        key=BOX,
        max_chars=LONGEST,
        placeholder="Its id, its title, or some of its text",
        on_change=_typed,
    )
    if not said.strip():
        st.caption(
            "The answer names the gate that lost it, with its rank and score there and what it would have needed."
        )
        return
    try:
        answer = why_not(memory, found, said)
        if len(answer.matches) > 1:
            offered = st.query_params.get(CHOSEN)
            # one that an earlier search offered is no answer to this one
            chosen = offered if offered in {match.id for match in answer.matches} else None
            _choose(answer.matches, set(map(str, found.injected)))
            if chosen is not None:
                answer = why_not(memory, found, chosen)
            elif answer.verdict is not Verdict.CHOOSE:
                st.caption(
                    "Answered for the one called so, in this ranking if it holds one. Choose another, if you mean it."
                )
    except StoreError as error:
        messages.unanswered(error)
        return
    _verdict(answer, found.session.project_id)


def _verdict(answer: WhyNot, asked: str | None) -> None:
    if answer.verdict is Verdict.THERE:
        st.success(answer.sentence, icon=":material/check:")
    elif answer.verdict in (Verdict.CHOOSE, Verdict.UNANSWERED):
        st.info(answer.sentence, icon=":material/info:")
    else:
        st.warning(answer.sentence, icon=":material/block:")
    if answer.elsewhere is not None:
        held = answer.elsewhere.project
        where = "in no project" if held is None else f"in project {isolated(held)}"
        st.text(f"It is {where}; this retrieval asked only project {isolated(str(asked))}.")
    if one_line(answer.title):
        st.text(one_line(answer.title)[:SHOWN])
    if answer.content is not None:
        st.text(one_line(answer.content)[:SHOWN])
    if answer.id is not None:
        st.page_link(
            PAGE, label="Its whole life", icon=":material/article:", query_params=observation_address(answer.id)
        )
    if answer.gates:
        _ladder(answer.gates)


def _choose(matches: tuple[Match, ...], block: set[str]) -> None:
    """The matches by the name they have on this page; one that is in the block already says so."""
    titled = any(match.title.strip() for match in matches)
    given = any(match.id in block for match in matches)
    rows = {
        "memory": [one_line(match.title) or one_line(match.content) for match in matches],
        **({"block": [messages.TICK if match.id in block else "" for match in matches]} if given else {}),
        **({"text": [one_line(match.content) for match in matches]} if titled else {}),
        "status": [match.status for match in matches],
    }
    column = st.column_config.TextColumn
    choose_one(CHOSEN, [match.id for match in matches], rows, {
        "memory": column("Memory", width="large"), "block": column("In block", width=65),
        "text": column("Text", width="medium"), "status": column("Status", width="small"),
        "id": column("Id", width="small"),
    })  # fmt: skip


def _ladder(gates: tuple[Gate, ...]) -> None:
    shown = pd.DataFrame(
        {
            "gate": [gate.name for gate in gates],
            "result": [SIGNS[gate.state] for gate in gates],
            "words": [gate.words for gate in gates],
            "rank": pd.array([None if gate.rank is None else gate.rank + 1 for gate in gates], dtype="Int64"),
            "score": pd.array([gate.score for gate in gates], dtype="Float64"),
            "needed": pd.array([gate.needed for gate in gates], dtype="Float64"),
        }
    )
    grid(
        shown,
        hide_index=True,
        key="why_ladder",
        height="content",
        row_height=WRAPPED,
        placeholder=messages.MISSING,
        column_config={
            "gate": st.column_config.TextColumn("Gate", width=115, help=glossary.GATE),
            "result": st.column_config.TextColumn("Result", width=105, help=glossary.GATE_RESULT),
            "rank": st.column_config.NumberColumn("Rank", width=70, format="localized"),
            "score": st.column_config.NumberColumn("Score", width=80, format="%.3g", help=glossary.GATE_SCORE),
            "needed": st.column_config.NumberColumn("Limit", width=80, format="%.3g", help=glossary.GATE_LIMIT),
            "words": st.column_config.TextColumn("In words", width=320),
        },
    )


def _typed() -> None:
    """Another text: what was chosen among the matches of the last one no longer counts."""
    said = st.session_state[BOX]
    address.say(**{CHOSEN: None, TEXT: said if said.strip() else None})
