"""What of the stored memory reaches agents, by project or agent and time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from controls.health import head
from controls.loading import load, shape
from controls.messages import counted, digits, number
from queries.drawn import WHOLE
from queries.health.coverage import Coverage, steps

if TYPE_CHECKING:
    from datetime import datetime

    from queries.health.coverage import By
    from queries.scope import Scope

BY = {"project": "By project", "agent": "By agent"}
NOT_LOGGED = "This store does not log which observations were injected, so what reached agents cannot be known."


def coverage(scope: Scope) -> tuple[pd.DataFrame, list[str], list[str], int] | None:
    """Cells, names of rows and columns as the map takes them, and the last column that is over; none where said so.

    Of a window that began today nothing is over: its only column is told, as far as it has come.
    """
    if not shape().injected:
        st.info(NOT_LOGGED, icon=":material/data_alert:")
        return None
    chosen = head.choose("by", "Rows", BY)
    by: By = "agent" if chosen == "agent" else "project"
    share = shape().stored_share(scope)
    answer = load(Coverage(scope, by, shape(), share))
    found = answer.frames[0]
    if share < WHOLE:
        st.caption(f"≈ Drawn from {digits(100 * share)} % of the observations; choose an organization to count all.")
    if found.empty:
        st.info("Nothing is stored in this scope.", icon=":material/search_off:")
        return None
    rows = found[["org_id", "name"]].drop_duplicates().reset_index(drop=True)
    names = [f"(no {by})" if pd.isna(name) else str(name) for name in rows["name"]]
    if scope.org is None:
        names = [f"{org} · {name}" for org, name in zip(rows["org_id"], names, strict=True)]
    cells = found.assign(row=found.groupby(["org_id", "name"], sort=False, dropna=False).ngroup())
    columns = steps(scope)
    over = [end <= answer.as_of for _, end in columns]
    labels = [
        _label(begin, end - pd.Timedelta(days=1)) + ("" if is_over else " so far")
        for (begin, end), is_over in zip(columns, over, strict=True)
    ]
    return cells, names, labels, max(sum(over) - 1, 0)


def _label(first: datetime, last: datetime) -> str:
    return f"{first:%-d %b}" if first.date() == last.date() else f"{first:%-d %b} to {last:%-d %b}"


def below(cells: pd.DataFrame, names: list[str], labels: list[str], told: int) -> None:
    """How to read the map and what to do about a pale row; who had nothing is counted in the column that is told."""
    every = int(cells["names"].max())
    if every > len(names):
        st.caption(f"The {len(names)} largest of {number(every)} rows; the title counts all of them.")
    here = cells[cells["step"] == told]
    quiet = int(((here["stored"] > 0) & (here["injected"] == 0)).sum())
    without = f"{counted(quiet, 'row')} of {number(len(names))} without any in {labels[told]}. " if quiet else ""
    st.caption(
        f"{without}A cell is the share of what was stored by then (written by that agent, or for that project) that at "
        "least one retrieval of that time put into a block. A row that stays pale is memory nobody is given: ask the "
        "Inspector's Why not? about one of its observations. An empty cell: nothing was stored yet."
    )
