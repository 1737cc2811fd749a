"""Feedback Impact's trust strip, its finding, its tables, and what a click on them opens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from controls import glossary
from controls.address import say
from controls.flags.why import why_on
from controls.grid import grid
from controls.impact import cells
from controls.impact.filters import LEFT_OUT, REASON_WORDS, choose_cell
from controls.impact.opening_rows import first_cells, first_columns, open_below
from controls.links import go
from controls.messages import MISSING, counted, digits, number, percent
from controls.opening import choose_to_open
from controls.trust import Trust
from queries.impact.listed import LISTED
from queries.impact.moves import MOST_CELLS
from retrieval.pipelines import WEIGHTING_OFF

if TYPE_CHECKING:
    from controls.impact.answers import Impact
    from queries.scope import Scope
    from queries.shape import LogShape

MAP = "rank_map"


def trust_of(found: Impact, shape: LogShape) -> Trust:
    """What the window's own sums say about the log behind it."""
    now, timeless = found.now, found.timeless
    degraded = []
    if now["unbalanced"]:
        unbalanced = f"{found.about}{number(now['unbalanced'])}"
        degraded.append(f"{unbalanced} of those logged incompletely are unbalanced: rank changes that do not sum to 0")
    if timeless:
        degraded.append(f"{counted(timeless, 'row')} without a time, in no figure")
    if not shape.injected:
        degraded.append(
            "this store does not log which observations were injected: injection rate and flips are unknown"
        )
    if not shape.retrieval_id:
        degraded.append("this store logs no retrieval id: equal queries of one session count as one")
    if not shape.created_at:
        degraded.append("this store logs no time: a retrieval takes its session's")
    return Trust(
        as_of=found.as_of,
        newest=found.newest,
        rows=int(now["log_rows"]),
        retrievals=int(now["retrievals"]),
        complete=int(now["complete"]),
        truncated=int(now["truncated"]),
        repeated=int(now["repeated"]),
        unusable=int(now["unusable_rows"]),
        degraded=tuple(degraded),
        share=found.share,
        drawn=float(now["drawn"]),
    )


def finding(now: pd.Series[float], top: int, about: str, scope: Scope, *, leads: bool) -> None:
    """The page's answer in one sentence, then what it was formed of and what was left out, and the way to that."""
    if now["comparable"]:
        changed = percent(now["top_k"], now["comparable"])
        st.subheader(f"Feedback changed the top {top} in {about}{changed} of retrievals")
    else:
        st.subheader("No retrieval in this selection can say what feedback changed")
    left = [f"{about}{number(now[name])} {words}" for name, words in REASON_WORDS.items() if now[name]]
    told = f"Based on {about}{counted(int(now['comparable']), 'comparable retrieval')}"
    if left:
        told += f"; counted apart: {', '.join(left)}"
    if now["block_reordered"]:
        told += f". In {about}{number(now['block_reordered'])} later stages chose the block, so flips leave them out"
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(f"{told}.", width="content")
        if left and leads:
            st.button(
                "List what is left out", key="list_left_out", type="tertiary", icon=":material/arrow_forward:",
                on_click=say, kwargs={"part": LEFT_OUT},
            )  # fmt: skip
    if scope.org is not None and now["unweighted"] and not now["comparable"]:
        _ways_on(scope, scope.org)


def _ways_on(scope: Scope, org: str) -> None:
    """Where an organization's weighting was off: what switched it off, and what it would have changed."""
    with st.container(horizontal=True, gap="small"):
        st.button(
            "Why weighting was off: its flag here", key="unweighted_flag", type="tertiary",
            icon=":material/arrow_forward:", on_click=go, args=("feature_flags.py",),
            kwargs=why_on(scope, org, WEIGHTING_OFF, now=False),
        )  # fmt: skip
        st.button(
            "What it would have changed: What-if with weighting on", key="unweighted_what_if", type="tertiary",
            icon=":material/arrow_forward:", on_click=go, args=("what_if.py",), kwargs={"w": "on"},
        )  # fmt: skip


def flips(now: pd.Series[float], about: str = "") -> str:
    """How often feedback moved something across the budget's cut, for the measure's part."""
    if not now["block_known"]:
        return "Injection flips cannot be counted: no comparable retrieval has a logged block."
    per_hundred = digits(100 * now["flips"] / now["block_known"])
    entered, known = counted(int(now["flips"]) // 2, "observation"), counted(int(now["block_known"]), "retrieval")
    return (
        f"{about}{entered} entered the block through feedback and as many were kept out, in "
        f"{about}{number(now['block_changed'])} of {about}{known}: {about}{per_hundred} flips per 100 retrievals."
    )


def cell_clicked() -> None:
    """Put the clicked cell into the address; a click beside the cells changes nothing."""
    chosen: Any = st.session_state.get(MAP)
    points = chosen["selection"]["points"] if chosen else []
    if points and "customdata" in points[0]:
        before, after, *_ = points[0]["customdata"]
        choose_cell((int(before), int(after)))
        say(retrieval=None)


def not_drawn(moves: pd.DataFrame, outside: int, deepest: int) -> None:
    """How many candidates the map leaves out, and how they are seen all the same."""
    if outside:
        st.caption(
            f"{counted(outside, 'candidate')} with a rank beyond {deepest} not drawn on the map, but counted in both "
            "titles: *Cell of the map* below has their cells too."
        )
    if len(moves) >= MOST_CELLS:
        st.caption(
            f"Only the {number(MOST_CELLS)} commonest combinations of ranks, weight and injection are counted in these "
            "pictures; a narrower filter or a shorter window counts all."
        )


def retrievals(
    listed: pd.DataFrame, moves: pd.DataFrame, cell: tuple[int, int] | None, top: int, about: str = ""
) -> None:
    """The retrievals of a cell, or those that feedback changed most; each opens below."""
    total = int(listed["total"].iloc[0]) if len(listed) else 0
    if cell is None:
        st.markdown("**Retrievals that feedback changed most**")
    else:
        place = f"rank {cell[0] + 1} without and {cell[1] + 1} with feedback"
        st.markdown(f"**{about}{counted(total, 'retrieval')} with a candidate at {place}**")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        cells.choose(moves, cell)
        queries = listed["query"].fillna(MISSING)
        choose_to_open(
            "choose_retrieval", "a retrieval", dict(zip(listed["retrieval"], queries, strict=True)), open_below
        )
        if cell is not None:
            st.button("Show all retrievals", key="no_cell", on_click=choose_cell, args=(None,), type="tertiary")
    if about and total:
        st.caption(
            f"{number(len(listed))} of those drawn, most flips first, then most places moved; {about}{number(total)} "
            "there are in all, among which others may have moved further."
        )
    elif total > LISTED:
        st.caption(f"The first {LISTED} of {number(total)}, most flips first, then most places moved.")
    grid(
        pd.DataFrame(
            {
                **first_cells(listed),
                "query": listed["query"],
                "flips": listed["flips"],
                "shift": listed["shift"],
                "top": listed["top_moved"].map({True: "● changed", False: "○ kept"}),
                "first": listed["first_moved"].map({True: "● changed", False: "○ kept"}),
                "agent": listed["agent"].fillna(MISSING),
                "work": listed["work_type"].fillna(MISSING),
                "outcome": listed["outcome"].fillna(MISSING),
                "id": listed["retrieval"],
            }
        ),
        hide_index=True,
        height=min(38 * len(listed) + 40, 330) if len(listed) else "auto",
        key="retrievals",
        column_config={
            **first_columns("open_retrieval", listed),
            "query": st.column_config.TextColumn("Query", width=330),
            "flips": st.column_config.NumberColumn(
                "Flips", width=65, help=glossary.FLIPS_BY_FEEDBACK
            ),
            "shift": st.column_config.NumberColumn("Places moved", width=100, format="localized"),
            "top": st.column_config.TextColumn(f"Top {top}", width=95),
            "first": st.column_config.TextColumn("Top 1", width=95),
            "agent": st.column_config.TextColumn("Agent", width=120),
            "work": st.column_config.TextColumn("Work", width=85),
            "outcome": st.column_config.TextColumn("Outcome", width=90),
            "id": st.column_config.TextColumn("Retrieval", width=120),
        },
    )  # fmt: skip
