"""Corroboration's tables: clusters that open in place, and observations that open on their own page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from analysis.corroboration.rows import member_rows
from controls import links, loading
from controls.address import say
from controls.corroboration.agreement import LOOSER
from controls.glossary import corroboration as glossary
from controls.grid import WRAPPED, grid
from controls.messages import MISSING, counted, number
from controls.opening import choose_to_open
from queries.newest import MemberTexts

if TYPE_CHECKING:
    from analysis.corroboration.clustered import Clustered
    from analysis.corroboration.rows import ClusterRow, MemberRow
    from queries.scope import Scope
    from ranking.clusters import Method

SIGNS = {"independent": "● independent", "repeated": "■ self-repetition", "disputed": "✕ disputed"}
LISTED, AREA_LISTED = 300, 300  # rows of a table; counts and files are always of all
LONGEST = 300  # characters of a text in a list
ORDER = ("open", "role", "cluster", "diff", "text", "bits", "agent", "session", "created_at", "weight", "project", "id")


def texts(scope: Scope, ids: list[str], longest: int = LONGEST) -> dict[str, str]:
    """The beginnings of some observations' texts, cut in the store."""
    if not ids:
        return {}
    frame = loading.load(MemberTexts(scope, tuple(sorted(set(ids))), longest)).frames[0]
    return dict(zip(frame["id"], frame["text"], strict=True))


def cluster_table(rows: list[ClusterRow], scope: Scope, method: Method) -> None:
    """The clusters that the filters leave, those worth most first; each opens by its canonical's id."""
    if not rows:
        st.info(
            f"No cluster here. {LOOSER[method]}, or choose all clusters and the whole map.",
            icon=":material/search_off:",
        )
        return
    if len(rows) > LISTED:
        st.caption(f"The {number(LISTED)} worth most of {counted(len(rows), 'cluster')}; a file holds them all.")
    listed = rows[:LISTED]
    said_by = texts(scope, [row.canonical for row in listed])
    shown = pd.DataFrame(
        {
            "open": "Open",
            "kind": [f"{SIGNS[row.kind]}{', settled' if row.settled else ''}" for row in listed],
            "text": [said_by.get(row.canonical, MISSING) for row in listed],
            "size": [row.size for row in listed],
            "agents": [row.agents for row in listed],
            "boost": [row.boost for row in listed],
            "alone": [row.independent_boost for row in listed],
            "sessions": [row.sessions for row in listed],
            "diameter": pd.Series([row.diameter for row in listed], dtype="float64"),
            "chained": ["↔ chained" if row.chained else "" for row in listed],
            "canonical": [row.canonical for row in listed],
        }
    )
    ids = tuple(row.canonical for row in listed)
    labels = {id_: f"{kind} {text}" for id_, kind, text in zip(ids, shown["kind"], shown["text"], strict=True)}
    choose_to_open("pick_cluster", "a cluster", labels, _open)
    grid(
        shown,
        hide_index=True,
        key="clusters",
        column_config={
            "open": st.column_config.ButtonColumn(
                "", width=60, type="tertiary", key="open_cluster", on_click=_opened, args=("open_cluster", ids)
            ),
            "kind": st.column_config.TextColumn("Kind", width=115),
            "text": st.column_config.TextColumn("Canonical", width=294, help=glossary.CANONICAL),
            "size": st.column_config.NumberColumn("Members", width=75),
            "agents": st.column_config.NumberColumn("Agents", width=65),
            "sessions": st.column_config.NumberColumn("Sessions", width=70),
            "diameter": st.column_config.NumberColumn("Diameter", width=75, format="%.3g", help=glossary.DIAMETER),
            "chained": st.column_config.TextColumn("Chained", width=80, help=glossary.CHAINED),
            "boost": st.column_config.NumberColumn("Boost", width=65, format="%.3g", help=glossary.BOOST_BY_MEMBERS),
            "alone": st.column_config.NumberColumn("By agents", width=75, format="%.3g", help=glossary.BOOST_BY_AGENTS),
            "canonical": st.column_config.TextColumn("Id", width=85),
        },
    )


def _opened(key: str, ids: tuple[str, ...]) -> None:
    if (cluster := links.clicked(key, ids)) is not None:
        _open(cluster)


def _open(cluster: str) -> None:
    say(cluster=cluster)


def area_table(seen: Clustered, rows: list[int], scope: Scope) -> None:
    """The observations inside the area, newest first; each opens on its own page."""
    if not rows:
        st.caption("No observation in this area.")
        return
    few = "" if len(rows) <= AREA_LISTED else f", the newest {number(AREA_LISTED)} listed"
    st.caption(f"{counted(len(rows), 'observation')} in this area{few}.")
    listed = member_rows(seen, rows[:AREA_LISTED])
    said_by = texts(scope, [row.id for row in listed])
    members(listed, said_by, "area_rows", {"cluster": [row.cluster or MISSING for row in listed]})


def members(listed: list[MemberRow], said_by: dict[str, str], key: str, more: dict[str, list[Any]]) -> None:
    """Observations as a table: who wrote what when, and what is told of each besides."""
    shown = pd.DataFrame(
        {
            "open": "Open",
            **more,
            "text": [said_by.get(row.id, MISSING) for row in listed],
            "agent": [row.agent or MISSING for row in listed],
            "session": [row.session or MISSING for row in listed],
            "created_at": pd.Series([row.created_at for row in listed], dtype="datetime64[us, UTC]"),
            "weight": [row.weight for row in listed],
            "project": [row.project or MISSING for row in listed],
            "id": [row.id for row in listed],
        }
    )
    ids = tuple(row.id for row in listed)
    labels = {row.id: f"{row.agent or MISSING} · {said_by.get(row.id, MISSING)}" for row in listed}
    choose_to_open(f"choose_{key}", "an observation", labels, links.open_observation)
    grid(
        shown[[name for name in ORDER if name in shown.columns]],
        hide_index=True,
        key=key,
        row_height=WRAPPED,
        column_config={
            "open": links.open_column(f"{key}_open", ids, "observation.py", "observation"),
            "role": st.column_config.TextColumn("Role", width=109),
            "bits": st.column_config.NumberColumn("Bits apart", width=75),
            "diff": st.column_config.TextColumn("Against the canonical", width=180),
            "cluster": st.column_config.TextColumn("Cluster", width=110),
            "text": st.column_config.TextColumn("Text", width=180),
            "agent": st.column_config.TextColumn("Agent", width=110),
            "session": st.column_config.TextColumn("Session", width=110),
            "created_at": st.column_config.DatetimeColumn(
                "Written (UTC)", format="D MMM YYYY HH:mm", timezone="UTC", width=135
            ),
            "weight": st.column_config.NumberColumn("Weight", width=65, format="%.3g"),
            "project": st.column_config.TextColumn("Project", width=90),
            "id": st.column_config.TextColumn("Id", width=110),
        },
    )
