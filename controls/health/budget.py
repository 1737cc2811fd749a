"""What tokens buy: work types by their budget and by how their sessions ended, without rework or accepted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from analysis.health.budget import ZONES, budget_map
from analysis.intervals import FLOOR
from controls import glossary
from controls.grid import grid
from controls.health import head
from controls.loading import load
from controls.messages import MISSING, number, percent
from queries.health.budget import BudgetRow, BudgetUse

if TYPE_CHECKING:
    from analysis.health.budget import BudgetMap, Ended, WorkTypePoint
    from queries.scope import Scope


NOT_TOLD = "not told apart"
ENDED = {"without_rework": "Without rework", "accepted": "Accepted"}


def chosen() -> Ended:
    """Which share is drawn, and beside it that the default, the first, is not the page's *Accepted*."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if head.choose("ended", "Share", ENDED) == "accepted":
            return "accepted"
        st.caption("Rejected sessions count as good here, other than in *Accepted*.")
        return "without_rework"


def budgets(scope: Scope, ended: Ended) -> BudgetMap:
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
                work_types=int(row["work_types"]),
            )
            for row in rows
        ],
        ended,
    )


def points(found: BudgetMap) -> pd.DataFrame:
    """The work types with enough sessions, as the chart takes them."""
    drawn = [(point, point.tokens, point.share) for point in found.points]
    return pd.DataFrame(
        [
            {
                "name": point.counts.work_type or "(none)",
                "zone": point.zone,
                "told_apart": point.told_apart,
                "judged": point.counts.judged,
                "tokens": tokens.value,
                "tokens_low": tokens.low,
                "tokens_high": tokens.high,
                "share": share.value,
                "share_low": share.low,
                "share_high": share.high,
            }
            for point, tokens, share in drawn
            if tokens and share
        ]
    )


def frontier(found: BudgetMap) -> list[tuple[float, float]]:
    """Tokens and share of the work types that none beats in both."""
    return [(point.tokens.value, point.share.value) for point in found.frontier if point.tokens and point.share]


def _zone(point: WorkTypePoint) -> str:
    return point.zone if point.told_apart or point.zone == "collecting" else f"{point.zone}, {NOT_TOLD}"


def _on_frontier(point: WorkTypePoint) -> str:
    if not point.on_frontier:
        return ""
    return "yes" if point.told_apart else f"yes, {NOT_TOLD}"


def _what_to_try(found: BudgetMap) -> None:
    """A line for each zone that is there, as text, which no window cuts off."""
    present = {point.zone for point in found.points}
    lines = [f"- **{zone}**: {todo}" for zone, todo in ZONES.items() if zone in present]
    if any(NOT_TOLD in _zone(point) for point in found.points):
        lines.append(
            f"- **{NOT_TOLD}**: the 95 % interval of its tokens or of its share holds the mean of all sessions, so "
            "that it may lie in another zone; wait for more sessions before acting on it"
        )
    st.markdown("\n".join(("**What to try**", *lines)))


def table(found: BudgetMap, ended: Ended) -> None:
    """Every work type with its counts and its interval, and what to try in each zone."""
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
    grid(
        pd.DataFrame(
            {
                "work": [point.counts.work_type or "(none)" for point in found.points],
                "zone": [_zone(point) for point in found.points],
                "tokens": [MISSING if not point.tokens else number(point.tokens.value) for point in found.points],
                "share": [MISSING if not point.share else percent(point.share.value, 1) for point in found.points],
                "interval": [
                    f"{100 * point.share.low:.3g} to {100 * point.share.high:.3g} %" if point.share else MISSING
                    for point in found.points
                ],
                "judged": [point.counts.judged for point in found.points],
                "rework": [point.counts.rework for point in found.points],
                "rejected": [point.counts.rejected for point in found.points],
                "unjudged": [point.counts.unjudged for point in found.points],
                "frontier": [_on_frontier(point) for point in found.points],
            }
        ),
        hide_index=True,
        key="budget",
        column_config={
            "work": st.column_config.TextColumn("Work type", width=130, pinned=True),
            "zone": st.column_config.TextColumn("Zone", width=185),
            "tokens": st.column_config.TextColumn("Tokens", width=70),
            "share": st.column_config.TextColumn(ENDED[ended], width=115, help=glossary.SESSIONS_WITH[ended]),
            "interval": st.column_config.TextColumn("95 % interval", width=120),
            "judged": st.column_config.NumberColumn("Sessions", width=75, format="localized"),
            "rework": st.column_config.NumberColumn("Rework", width=70, format="localized"),
            "rejected": st.column_config.NumberColumn("Rejected", width=75, format="localized"),
            "unjudged": st.column_config.NumberColumn("No outcome", width=85, format="localized"),
            "frontier": st.column_config.TextColumn("Frontier", width=125),
        },
    )
    _what_to_try(found)
    if found.is_cut:
        st.caption(
            f"The {len(found.points)} most frequent of {number(found.every)} work types; the others are neither drawn "
            "nor counted."
        )
    st.caption(
        f"{glossary.SESSIONS_WITH[ended]} Tokens are all that a session was given in the window. "
        "This compares work types, which differ in more than their budgets: it says what to try."
    )
