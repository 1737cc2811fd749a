"""Health's parts about single memories, about budgets, and about what reaches agents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

import pandas as pd
import streamlit as st

from analysis.health.budget import FLOOR, ZONES, budget_map
from controls import links
from controls.address import not_understood, said
from controls.health import head
from controls.loading import load, shape
from controls.messages import MISSING, counted, digits, number, percent
from queries.drawn import WHOLE
from queries.health.budget import BudgetRow, BudgetUse
from queries.health.coverage import Coverage, steps
from queries.health.top import SHOWN, Kind, TopObservations

if TYPE_CHECKING:
    from datetime import datetime

    from analysis.health.budget import BudgetMap
    from queries.health.coverage import By
    from queries.scope import Scope

KINDS: dict[str, str] = {
    "highest": "Highest weight",
    "lowest": "Lowest weight",
    "misleading": "Misleading",
    "outdated": "Outdated",
    "alone": "Low corroboration",
}
TO_DO = {
    "highest": "What feedback trusts most among the window's retrievals. Weights start at 1 and only fall, so many "
    "stand at 1: of those, the most retrieved come first. Nothing to do, unless one of them is wrong.",
    "lowest": "What feedback has pushed down and retrieval still finds. Open one: if it misleads, archive it; if it is "
    "right, look at the sessions that failed with it.",
    "misleading": "Named as misleading by the diagnostics of failed sessions. Correct or archive it: its weight falls "
    "twice as fast from now on, but it is still retrieved.",
    "outdated": "Contradicted by a newer observation and still retrieved. Open it, see the other side, and settle it "
    "in Drift Alerts.",
    "alone": "Retrieved most while the last aggregation pass found nobody else who says it. Ask whether it is true: "
    "one voice can be wrong without anyone noticing.",
}
NOTHING = {
    "highest": "Nothing was retrieved in this window.",
    "lowest": "Nothing was retrieved in this window.",
    "misleading": "No session's diagnostics in this window name an observation as misleading.",
    "outdated": "No aggregation pass found a newer contradiction of anything that was retrieved in this window.",
    "alone": "Nothing that was retrieved stands alone, or no aggregation pass has finished yet.",
}
BY = {"project": "By project", "agent": "By agent"}
NOT_LOGGED = "This store does not log which observations were injected, so what reached agents cannot be known."
WHEN = "D MMM YYYY"


def ignored() -> list[str]:
    """What the address says about this page and cannot be, by the names of the controls."""
    known = {"part": ("Part", head.PARTS), "kind": ("Kind", KINDS), "by": ("Rows", BY)}
    return not_understood({name: (label, options.get(said(name) or "")) for name, (label, options) in known.items()})


def top(scope: Scope) -> None:
    """One list of observations, each opened by its id."""
    kind = head.choose("kind", "Kind", KINDS)
    chosen: Kind = next(each for each in get_args(Kind) if each == kind)
    found = load(TopObservations(scope, chosen, shape())).frames[0]
    st.caption(TO_DO[kind])
    if found.empty:
        st.info(NOTHING[kind], icon=":material/search_off:")
        return
    own = {
        "misleading": {"sessions": "Misled", "helped": "Helped"},
        "outdated": {"severity": "Severity"},
        "alone": {"voices": "Agents"},
    }
    more = own.get(kind, {})
    kept = ["open", "weight", "retrieved", "injected", *more, "content"]
    kept += ["organization"] if scope.org is None else []
    config: dict[str, Any] = {
        "open": links.open_column(f"open_{kind}", tuple(found["id"]), "observation.py", "observation"),
        "weight": st.column_config.NumberColumn("Weight", width=75, format="%.3g"),
        "retrieved": st.column_config.NumberColumn("Retrieved", width=85, format="localized"),
        "injected": st.column_config.NumberColumn("Injected", width=80, format="localized"),
        "content": st.column_config.TextColumn("Text", width=520),
        "organization": st.column_config.TextColumn("Organization", width=150),
        "project_id": st.column_config.TextColumn("Project", width=110),
        "agent_id": st.column_config.TextColumn("Agent", width=110),
        "created_at": st.column_config.DatetimeColumn("Written (UTC)", format=WHEN, timezone="UTC", width=110),
        "id": st.column_config.TextColumn("Id"),
    }
    config |= {name: st.column_config.NumberColumn(label, width=80, format="%.3g") for name, label in more.items()}
    table = found.assign(open="Open")[[*kept, "project_id", "agent_id", "created_at", "id"]]
    st.dataframe(table, hide_index=True, key=f"top_{kind}", column_config=config)
    if len(found) == SHOWN:
        st.caption(f"The first {SHOWN}.")


def budgets(scope: Scope) -> BudgetMap:
    """Work types by tokens and by how their sessions ended."""
    found = load(BudgetUse(scope)).frames[0]
    rows: list[dict[Any, Any]] = found.to_dict("records")
    return budget_map(
        [
            BudgetRow(
                work_type=None if pd.isna(row["work_type"]) else str(row["work_type"]),
                judged=int(row["judged"]),
                accepted=int(row["accepted"]),
                rework=int(row["rework"]),
                rejected=int(row["rejected"]),
                unjudged=int(row["unjudged"]),
                tokens=float(row["tokens"]),
                squares=float(row["squares"]),
            )
            for row in rows
        ]
    )


def points(found: BudgetMap) -> pd.DataFrame:
    """The work types with enough sessions, as the chart takes them."""
    drawn = [(point, point.tokens, point.accepted) for point in found.points if point.tokens and point.accepted]
    return pd.DataFrame(
        [
            {
                "name": point.counts.work_type or "(none)",
                "zone": point.zone,
                "judged": point.counts.judged,
                "tokens": tokens.value,
                "tokens_low": tokens.low,
                "tokens_high": tokens.high,
                "accepted": accepted.value,
                "accepted_low": accepted.low,
                "accepted_high": accepted.high,
            }
            for point, tokens, accepted in drawn
            if tokens and accepted
        ]
    )


def frontier(found: BudgetMap) -> list[tuple[float, float]]:
    """Tokens and share of the work types that none beats in both."""
    return [(point.tokens.value, point.accepted.value) for point in found.frontier if point.tokens and point.accepted]


def budget_table(found: BudgetMap) -> None:
    """Every work type with its counts, its interval and what to try."""
    if not found.points:
        st.info(
            "No session of this window was given a memory block that the store logged.", icon=":material/search_off:"
        )
        return
    if found.tokens is None:
        st.info(
            f"Collecting data: no work type has {FLOOR} sessions with an outcome yet. Choose a longer window.",
            icon=":material/hourglass_empty:",
        )
    st.dataframe(
        pd.DataFrame(
            {
                "work": [point.counts.work_type or "(none)" for point in found.points],
                "zone": [point.zone for point in found.points],
                "tokens": [MISSING if not point.tokens else number(point.tokens.value) for point in found.points],
                "accepted": [
                    MISSING if not point.accepted else percent(point.accepted.value, 1) for point in found.points
                ],
                "interval": [
                    f"{100 * point.accepted.low:.3g} to {100 * point.accepted.high:.3g} %"
                    if point.accepted
                    else MISSING
                    for point in found.points
                ],
                "judged": [point.counts.judged for point in found.points],
                "rework": [point.counts.rework for point in found.points],
                "rejected": [point.counts.rejected for point in found.points],
                "unjudged": [point.counts.unjudged for point in found.points],
                "frontier": ["yes" if point.on_frontier else "" for point in found.points],
                "todo": [ZONES[point.zone] for point in found.points],
            }
        ),
        hide_index=True,
        key="budget",
        column_config={
            "work": st.column_config.TextColumn("Work type", width=130, pinned=True),
            "zone": st.column_config.TextColumn("Zone", width=90),
            "tokens": st.column_config.TextColumn("Tokens", width=70),
            "accepted": st.column_config.TextColumn("Accepted", width=80),
            "interval": st.column_config.TextColumn("95 % interval", width=120),
            "judged": st.column_config.NumberColumn("Sessions", width=75, format="localized"),
            "rework": st.column_config.NumberColumn("Rework", width=70, format="localized"),
            "rejected": st.column_config.NumberColumn("Rejected", width=75, format="localized"),
            "unjudged": st.column_config.NumberColumn("No outcome", width=85, format="localized"),
            "frontier": st.column_config.TextColumn("Frontier", width=70),
            "todo": st.column_config.TextColumn("What to try", width=460),
        },
    )
    st.caption(
        "A session counts as accepted if it was neither rejected nor sent to rework; its tokens are all that it was "
        "given in the window. This compares work types, which differ in more than their budgets: it says what to try."
    )


def coverage(scope: Scope) -> tuple[pd.DataFrame, list[str], list[str], int] | None:
    """Cells, names of rows and columns as the map takes them, and the last whole column; none where that is said."""
    if not shape().injected:
        st.info(NOT_LOGGED, icon=":material/data_alert:")
        return None
    chosen = head.choose("by", "Rows", BY)
    by: By = "agent" if chosen == "agent" else "project"
    share = shape().stored_share(scope)
    found = load(Coverage(scope, by, shape(), share)).frames[0]
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
    labels = [_label(begin, end - pd.Timedelta(days=1)) for begin, end in columns]
    whole = columns[0][1] - columns[0][0]
    told = max(number for number, (begin, end) in enumerate(columns) if end - begin == whole)
    if told < len(columns) - 1:
        labels[-1] += " so far"
    return cells, names, labels, told


def _label(first: datetime, last: datetime) -> str:
    return f"{first:%-d %b}" if first.date() == last.date() else f"{first:%-d %b} to {last:%-d %b}"


def below_coverage(cells: pd.DataFrame, names: list[str]) -> None:
    """How to read the map and what to do about a pale row."""
    last = cells[cells["step"] == cells["step"].max()]
    quiet = int(((last["stored"] > 0) & (last["injected"] == 0)).sum())
    told = f"{counted(quiet, 'row')} of {number(len(names))} without any in the last column. " if quiet else ""
    st.caption(
        f"{told}A cell is the share of what was stored by then (written by that agent, or for that project) that at "
        "least one retrieval of that time put into a block. A row that stays pale is memory nobody is given: ask the "
        "Inspector's Why not? about one of its observations. An empty cell: nothing was stored yet."
    )
