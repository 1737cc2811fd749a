"""Feedback Impact's filters: agent, work type, outcome, weighting, words of the query, and the depth of the top."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from controls import glossary, messages
from controls.address import not_understood, said, say
from controls.loading import load, shape
from queries.impact.selection import CHOICES, LONGEST, NO_OUTCOME, Choices, Filters, Selection
from queries.retrievals import POOL, REASONS, TOP
from queries.schema import OUTCOMES
from queries.scope import is_storable, marked

if TYPE_CHECKING:
    from collections.abc import Iterable

    from queries.scope import Scope

ALL = ""
OUTCOME_NAMES = {ALL: "Any outcome", **{name: name.capitalize() for name in OUTCOMES}, NO_OUTCOME: "No outcome"}
WEIGHTING_NAMES = {ALL: "On and off", "on": "On", "off": "Off"}
WHO = {"agent": "Agent", "work": "Work type"}
PARTS = {
    "movers": "Movers",
    "weights": "Weights",
    "outcomes": "Outcomes",
    "measures": "All measures",
    "left": "Left out",
}
LEFT_OUT = "left"  # the part that holds also where nothing can be compared
# Why retrievals are not comparable, in the words that count them and list them alike.
REASON_WORDS = dict(
    zip(
        REASONS,
        (
            "logged incompletely",
            "with an observation logged twice",
            "with a score or weight that is no number",
            "made while weighting was off, where both orders are one",
        ),
        strict=True,
    )
)
DEEPEST_RANK = 1_000_000


def choose(scope: Scope) -> Selection:
    """Draw the filters at what the address says, and return which retrievals they leave."""
    listed = load(Choices(scope)).frames[0]
    agents, kinds = (list(listed.loc[listed["kind"] == kind, "value"]) for kind in ("agent_id", "work_type"))
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        agent = _one_of("agent", "Agent", {ALL: "Any agent"} | _as_they_are(agents, _text("agent")), width=160)
        kind = _one_of("work", "Work type", {ALL: "Any work"} | _as_they_are(kinds, _text("work")), width=130)
        outcome = _one_of("outcome", "Outcome", OUTCOME_NAMES, width=140)
        weighting = _one_of("weighting", "Weighting", WEIGHTING_NAMES, width=120)
        words = _words()
        top = _depth()
    narrowed = Filters(agent, kind, outcome, "on" if weighting == "on" else "off" if weighting else None, words)
    return Selection(scope, narrowed, top, shape())


def nothing_left(scope: Scope) -> None:
    """Filters that let nothing through; an agent or work type that no session of the scope has is named as that.

    It stays chosen when the organization is changed, for so says the address: whoever is sent it reads the same.
    """
    listed = load(Choices(scope)).frames[0]
    strange = []
    for name, kind in (("agent", "agent_id"), ("work", "work_type")):
        known, named = set(listed.loc[listed["kind"] == kind, "value"]), _text(name)
        if named is not None and named not in known and len(known) < CHOICES:
            strange.append(name)
    if not strange:
        messages.nothing_left("retrievals")
        return
    messages.in_no_session([WHO[name].lower() for name in strange], scope)
    with st.container(horizontal=True, gap="small"):
        for name in strange:
            st.button(f"Any {WHO[name].lower()}", key=f"clear_{name}", on_click=_clear, args=(name,))


def _clear(name: str) -> None:
    say(**{name: None})


def ignored() -> list[str]:
    """What the address says about this page and cannot be, by the names of the controls."""
    return not_understood(
        {
            "agent": ("Agent", _text("agent")),
            "work": ("Work type", _text("work")),
            "outcome": ("Outcome", _known("outcome", OUTCOME_NAMES)),
            "weighting": ("Weighting", _known("weighting", WEIGHTING_NAMES)),
            "query": ("Query contains", _text("query")),
            "k": ("Top k", _said_depth()),
            "cell": ("Cell of the map", chosen_cell()),
            "retrieval": ("Opened retrieval", opened_retrieval()),
            "part": ("Part", _known("part", PARTS)),
            "left": ("Reason", chosen_reason()),
        }
    )


def chosen_cell() -> tuple[int, int] | None:
    """The cell of the heat map in the address, as ranks from 0; the address counts from 1, as the page does."""
    before, dash, after = (said("cell") or "").partition("-")
    if not dash or not _is_rank(before) or not _is_rank(after):
        return None
    return int(before) - 1, int(after) - 1


def choose_cell(cell: tuple[int, int] | None) -> None:
    """Put a cell into the address, or take it out."""
    say(cell=None if cell is None else f"{cell[0] + 1}-{cell[1] + 1}")


def opened_retrieval() -> str | None:
    """The retrieval in the address."""
    return _text("retrieval")


def chosen_part() -> str:
    """Which part of the page below the table is shown."""
    return _known("part", PARTS) or next(iter(PARTS))


def chosen_reason() -> str | None:
    """For which reason the retrievals are left out that are listed; for every reason unless the address names one."""
    return _known("left", REASONS)


def choose_reason(names: dict[str, str]) -> None:
    """The control that keeps one reason; ``names`` says beside each how many there are."""
    _one_of("left", "Reason", names, width=420)


def choose_part(*, able: bool = True) -> None:
    """The control that switches the part; where nothing is comparable there is only what was left out."""
    parts = tuple(PARTS) if able else (LEFT_OUT,)
    st.session_state["pick_part"] = chosen_part() if able else LEFT_OUT
    st.segmented_control(
        "More", parts, format_func=PARTS.__getitem__, key="pick_part", on_change=_picked, args=("part",),
        required=True, label_visibility="collapsed",
    )  # fmt: skip


def _is_rank(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= len(str(DEEPEST_RANK)) and 1 <= int(text) <= DEEPEST_RANK


def _as_they_are(values: list[str], named: str | None) -> dict[str, str]:
    """Values as their own labels; one that only the address names is there too, and finds nothing if it is unknown."""
    known = {value: marked(value) for value in values}
    if named is not None:
        known.setdefault(named, marked(named))
    return known


def _one_of(name: str, label: str, names: dict[str, str], *, width: int) -> str | None:
    chosen = _known(name, names)
    st.session_state[f"pick_{name}"] = chosen or ALL
    st.selectbox(
        label, names, format_func=names.__getitem__, key=f"pick_{name}", on_change=_picked, args=(name,), width=width
    )
    return chosen


def _known(name: str, names: Iterable[str]) -> str | None:
    value = said(name)
    return value if value in set(names) else None


def _text(name: str) -> str | None:
    """What the address says, if a store could hold it at all."""
    value = said(name)
    return value if value is not None and is_storable(value) and len(value) <= LONGEST else None


def _words() -> str | None:
    words = _text("query")
    st.session_state["pick_query"] = words or ALL
    st.text_input(
        "Query contains", key="pick_query", on_change=_picked, args=("query",), max_chars=LONGEST, width=180,
        help=glossary.QUERY_CONTAINS,
    )  # fmt: skip
    return words


def _said_depth() -> int | None:
    value = said("k") or ""
    return int(value) if _is_rank(value) and int(value) <= POOL else None


def _depth() -> int:
    top = _said_depth() or TOP
    st.session_state["pick_k"] = top
    st.number_input(
        "Top k", 1, POOL, step=1, key="pick_k", on_change=_picked, args=("k",), width=100, help=glossary.TOP_K
    )
    return top


def _picked(name: str) -> None:
    """Write a choice into the address; what is at its default has no place in it."""
    value = st.session_state[f"pick_{name}"]
    at_default = (
        value in (None, ALL) or (name == "k" and value == TOP) or (name == "part" and value == next(iter(PARTS)))
    )
    if isinstance(value, str) and not is_storable(value):
        at_default = True
    say(**{name: None if at_default else str(value), "cell": said("cell") if name in ("part", "left") else None})
