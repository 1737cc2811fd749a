"""The retrievals that Feedback Impact leaves out, one by one: why, and what in the log shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from controls import glossary
from controls.grid import WRAPPED, grid
from controls.impact import rank_gaps
from controls.impact.filters import ALL, REASON_WORDS, choose_reason
from controls.impact.opening_rows import first_cells, first_columns, open_below
from controls.messages import MISSING, counted, number
from controls.opening import choose_to_open
from queries.impact.listed import LISTED
from queries.impact.opened import MOST_CANDIDATES
from queries.retrievals import FAULTS

if TYPE_CHECKING:
    from collections.abc import Hashable

    from controls.impact.answers import Impact
    from queries.scope import Scope

FIRST = "Each stands under the first rule that it breaks."
MEND = (
    "Hand ids and ranks to whoever runs the log writer: missing ranks are lost rows, doubled ones a retrieval logged "
    "twice, or two under one id."
)
OFF = "Weighting off is no fault and nothing to mend; such retrievals come after the faults."


def listed(found: Impact, scope: Scope) -> None:
    """Every reason with its count to choose from, the newest retrievals it leaves, and how to read and mend them."""
    rows = found.left_out
    if rows is None:
        return
    counts = {name: int(found.now[name]) for name in REASON_WORDS}
    if not any(counts.values()):
        st.info("Nothing is left out: every retrieval of this selection is comparable.", icon=":material/check_circle:")
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        choose_reason(_names(counts, found.about))
        labels = dict(zip(rows["retrieval"], rows["query"].fillna(MISSING), strict=True))
        choose_to_open("choose_left_out", "a retrieval", labels, open_below)
    if rows.empty:
        st.info("No retrieval of this selection is left out for this reason.", icon=":material/search_off:")
        return
    shown = set(rows["reason"])
    first = f" {FIRST}" if len(shown) > 1 else ""
    mend = f" {MEND}" if shown.intersection(FAULTS) else ""
    off = f" {OFF}" if "unweighted" in shown else ""
    st.caption(f"{_how_many(rows, found.about)}{first}{mend}{off}")
    _table(rows, scope)


def _names(counts: dict[str, int], about: str) -> dict[str, str]:
    every = {ALL: f"Every reason: {about}{number(sum(counts.values()))}"}
    return every | {
        name: f"{words[:1].upper()}{words[1:]}: {about}{number(counts[name])}" for name, words in REASON_WORDS.items()
    }


def _how_many(rows: pd.DataFrame, about: str) -> str:
    total = int(rows["total"].iloc[0])
    if about:
        return f"{number(len(rows))} of those drawn, newest first; {about}{number(total)} there are in all."
    return f"The first {LISTED} of {number(total)}, newest first." if total > LISTED else "Newest first."


def _table(rows: pd.DataFrame, scope: Scope) -> None:
    organization = {"organization": rows["organization"]} if scope.org is None else {}
    records = rows.to_dict("records")
    grid(
        pd.DataFrame(
            {
                **first_cells(rows),
                **organization,
                "reason": rows["reason"].map(REASON_WORDS),
                "query": rows["query"],
                "shown_by": [_shown_by(row) for row in records],
                "rows": [_rows(row) for row in records],
                "agent": rows["agent"].fillna(MISSING),
                "session": rows["session_id"],
                "id": rows["retrieval"],
            }
        ),
        hide_index=True,
        height=min(WRAPPED * len(rows) + 40, 330),
        row_height=WRAPPED,
        key="left_out",
        column_config={
            **first_columns("open_left_out", rows),
            "organization": st.column_config.TextColumn("Organization", width=140),
            "reason": st.column_config.TextColumn("Reason", width=150),
            "shown_by": st.column_config.TextColumn("In the log", width=245, help=glossary.RANKS_FROM_ONE),
            "rows": st.column_config.TextColumn("Rows", width=80, help=glossary.ROWS_OF_CANDIDATES),
            "query": st.column_config.TextColumn("Query", width=178),
            "agent": st.column_config.TextColumn("Agent", width=110),
            "session": st.column_config.TextColumn("Session", width=110),
            "id": st.column_config.TextColumn("Retrieval", width=120),
        },
    )  # fmt: skip


def _shown_by(row: dict[Hashable, Any]) -> str:
    """What in the log breaks the rule."""
    if row["reason"] == "incomplete":
        if row["without"] is None:
            return f"more than {MOST_CANDIDATES} rows, ranks not looked at"
        return rank_gaps.gaps(row["without"], row["with_feedback"])
    if row["reason"] == "repeated":
        return f"{counted(row['surplus'], 'row')} too many"
    return f"in {counted(row['unusable'], 'row')}" if row["reason"] == "unreadable" else MISSING


def _rows(row: dict[Hashable, Any]) -> str:
    of = 0 if row["without"] is None else rank_gaps.candidates(row["without"], row["with_feedback"])
    return f"{number(row['log_rows'])} of {of}" if of else number(row["log_rows"])
