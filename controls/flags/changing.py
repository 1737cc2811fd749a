"""The matrix of organizations and flags, and a change of them: pick, preview, say why, confirm."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import uuid4
from zlib import crc32

import streamlit as st

from controls import glossary, knobs, messages
from controls.address import not_understood, said, say
from controls.choosing import follow
from controls.figures import Figure, cards
from controls.flags import messages as flag_messages
from controls.flags.confirm import FLAG, Staged, confirm, show_outcomes
from controls.flags.preview import previews, show_previews
from controls.flags.states import stale_overrides, table
from controls.grid import WRAPPED, grid
from controls.knobs import Knob
from controls.loading import may_write
from queries.flags.registry import DEFAULT_STALE, FLAGS, NAMES, STATES, as_state, known_flag
from queries.scope import isolated

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    import pandas as pd

    from analysis.flags import Organization
    from controls.view import View

MOST = 25  # organizations of one change: each is previewed, confirmed by name and reported
WINDOWS = ("7d", "30d")
LONGEST_STALE = range(1, 3651)
NEW = Knob(
    "state", "New state", STATES, "", glossary.FLAG_STATES
)  # none is proposed; not "to", which is the last day of a window
WINDOW = Knob("days", "Preview on the last", WINDOWS, "7d")
ONE_LINE = 36  # characters of a state that a cell of the matrix shows without breaking them into lines
STALE_COLUMNS = {
    "organization": st.column_config.TextColumn("Organization", width=130),
    "reason": st.column_config.TextColumn("Reason", width=240),
    "days": st.column_config.NumberColumn("Days", width=55),
    "actor": st.column_config.TextColumn("By", width=85),
    "flag": st.column_config.TextColumn("Flag", width=200),
    "state": st.column_config.TextColumn("State", width=60),
    "id": st.column_config.TextColumn("Id", width=110),
}
STALE, STALE_LABEL = "stale", "Stale after days"


def stale_after() -> int:
    """After how many days an override counts as stale; part of the address, drawn beside the figures."""
    return _said_age() or DEFAULT_STALE


def _said_age() -> int | None:
    found = said(STALE) or ""
    short = found.isascii() and found.isdecimal() and len(found) <= len(str(LONGEST_STALE[-1]))
    return int(found) if short and int(found) in LONGEST_STALE else None


def ignored() -> list[str]:
    """What the address says about this page and cannot be."""
    return [*knobs.ignored((FLAG, NEW, WINDOW)), *not_understood({STALE: (STALE_LABEL, _said_age())})]


def figures(found: list[Organization], objects: pd.DataFrame, as_of: datetime) -> None:
    """How many flags are set, and how many of them need someone to look; of as many organizations as were read."""
    every = int(objects["total"].max()) if len(objects) else 0
    st.markdown(f":small[:gray[as of {as_of:%H:%M:%S} UTC · read from the store with every run]]")
    cells = [cell for org in found for cell in org.cells.values()]
    shown = (
        ("Organizations", every, glossary.ORGANIZATIONS),
        ("Overrides", sum(cell.state != "absent" for cell in cells), glossary.OVERRIDES),
        ("Stale", sum(cell.stale for cell in cells), glossary.STALE),
        ("Set outside", sum(cell.outside for cell in cells), glossary.SET_OUTSIDE),
        ("Unreadable", sum(org.malformed is not None for org in found), glossary.UNREADABLE),
    )
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="center"):
        cards(Figure(label, messages.number(value), explained=explained) for label, value, explained in shown)
        # not bound to the address by Streamlit, which fails on a number that is too large for it
        st.session_state["pick_stale"] = stale_after()
        st.number_input(
            STALE_LABEL,
            LONGEST_STALE[0],
            LONGEST_STALE[-1],
            key="pick_stale",
            on_change=_age_picked,
            help=glossary.STALE,
            width=160,
        )
    if every > len(found):
        flag_messages.not_all_organizations(len(found), every)


def _age_picked() -> None:
    chosen = st.session_state["pick_stale"]
    say(**{STALE: None if chosen == DEFAULT_STALE else str(chosen)})


def matrix(found: list[Organization], *, choosing: bool) -> None:
    """Organizations by flags; where whoever asks may change them rows can be chosen, and those in the address are."""
    shown = table(found)
    if not any(org.others for org in found):
        shown = shown.drop(columns="others")
    ids = tuple(shown["id"])
    key = f"flag_matrix_{crc32(repr(ids).encode())}"
    if choosing:
        follow(key, [ids.index(org) for org in _named() if org in ids][:MOST])
    choice = {"on_select": _rows_chosen(key, ids), "selection_mode": "multi-row"} if choosing else {}
    grid(
        shown,
        hide_index=True,
        key=key,
        height="auto",
        row_height=WRAPPED if shown[list(NAMES)].map(len).gt(ONE_LINE).any(axis=None) else None,
        column_config={
            "organization": st.column_config.TextColumn("Organization", width=130, pinned=True),
            **{
                flag.name: st.column_config.TextColumn(
                    flag.name, width=190, help=glossary.flag(flag.description, flag.default, flag.owner)
                )
                for flag in FLAGS
            },
            "others": st.column_config.TextColumn("Other keys (read-only)", width=170),
            "id": st.column_config.TextColumn("Id", width=110),
        },
        **choice,
    )
    stale = stale_overrides(found)
    if not stale.empty:
        with st.expander(f"{messages.counted(len(stale), 'stale override')}, with the reason"):
            grid(stale, hide_index=True, key="stale_overrides", row_height=WRAPPED, column_config=STALE_COLUMNS)
    others = {org.id: org.others for org in found if org.others}
    if others:
        with st.expander("Keys that Rankscope does not know: shown, never changed"):
            st.json(others, expanded=2)


def change(found: list[Organization], view: View) -> None:
    """The way to a change, for those who may make it; the others read why they see none."""
    show_outcomes()
    if not view.principal.may("operator"):
        flag_messages.flags_need_an_operator()
        return
    if not may_write():
        flag_messages.read_only_store()
        return
    st.subheader("Change a flag")
    targets = _targets(found)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        flag = FLAG.draw(st.segmented_control, required=True)
        NEW.draw(st.segmented_control, format_func=lambda state: known_flag(flag).choice(state))
        days = int(WINDOW.draw(st.segmented_control, required=True).removesuffix("d"))
    known = known_flag(flag)
    if NEW.understood is None:
        flag_messages.choose_a_state(known, {org.cells[flag].state for org in targets if org.malformed is None})
        _left_out(targets)
        return
    new = as_state(NEW.understood)
    st.caption(f"{known.description} Set to {new}, it means: {known.effect(new)}.")
    changing = [org for org in targets if org.malformed is None and org.cells[flag].state != new]
    _left_out(targets)
    if already := sum(org.malformed is None for org in targets) - len(changing):
        st.caption(f"{messages.counted(already, 'organization')} chosen: already {new}, nothing to change.")
    if not changing:
        return
    foreseen = previews(view.principal.reach, changing, flag, new, days)
    if foreseen is None:
        return
    show_previews(changing, flag, new, foreseen, days)
    if st.button(f"Review {messages.counted(len(changing), 'change')}", type="primary", key="review"):
        staged = [
            Staged(org.id, org.name, flag, org.cells[flag].state, new, uuid4(), foreseen[org.id].figures)
            for org in changing
        ]
        confirm(staged, days)


def _targets(found: list[Organization]) -> list[Organization]:
    """The organizations that the address names, of those in scope; a scope of one is the choice itself."""
    by_id = {org.id: org for org in found}
    named = _named()
    chosen = [org for org in named if org in by_id]
    flag_messages.targets_left_out(len(named) - len(chosen), len(chosen[MOST:]), MOST)
    if len(found) == 1:
        return found
    chosen = chosen[:MOST]
    st.session_state["pick_target"] = chosen

    def label(org: str) -> str:
        return f"{isolated(by_id[org].name)} · {isolated(org)}"

    st.multiselect(
        "Organizations",
        list(by_id),
        format_func=label,
        key="pick_target",
        on_change=_picked,
        max_selections=MOST,
        placeholder="Choose rows above, or organizations here",
    )
    return [by_id[org] for org in chosen]


def _named() -> list[str]:
    """The organizations in the address, each once, whether they are there or not."""
    return list(dict.fromkeys(st.query_params.get_all("target")))


def _picked() -> None:
    say(target=st.session_state["pick_target"][:MOST])


def _rows_chosen(key: str, ids: tuple[str, ...]) -> Callable[[], None]:
    """Take the rows' ids as they were when the table was drawn, so that no later order can lead astray."""

    def chosen() -> None:
        rows = st.session_state[key]["selection"]["rows"]
        say(target=[ids[row] for row in rows if 0 <= row < len(ids)][:MOST])

    return chosen


def _left_out(targets: list[Organization]) -> None:
    if not targets:
        flag_messages.choose_an_organization()
    unreadable = sum(org.malformed is not None for org in targets)
    if unreadable:
        flag_messages.unreadable_flags(unreadable)
