"""The parts of Feedback Impact below its table: movers, and how sessions ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from analysis.impact import FLOOR, OUTCOMES, OutcomeComparison, compare_outcomes
from controls import glossary, links
from controls.messages import counted, number

if TYPE_CHECKING:
    from analysis.impact import OutcomeMix

SIDES = ("feedback changed the block", "feedback kept the block")
CAVEAT = (
    "Bars are shares of sessions with an outcome; whiskers hold the middle 95 % of 4,000 draws of whole sessions. "
    "This compares, it does not explain: feedback changes the block where observations have a history, "
    "and such sessions differ in more than that."
)
DRAWN = (
    "These are the sessions of the retrievals that were drawn, and a session counts as changed by those alone: where "
    "another of its retrievals was changed it stands on the wrong side, which makes a difference look smaller."
)


def movers(moved: pd.DataFrame, *, drawn: bool = False) -> None:
    """The observations that feedback moved most: up on top, down below."""
    if drawn:
        st.caption("Counted in the retrievals that were drawn, and not estimated: what others moved is not known here.")
    if moved.empty:
        st.info("Feedback moved no observation in this selection.", icon=":material/search_off:")
        return
    ups, downs = moved[moved["places"] > 0], moved[moved["places"] < 0].iloc[::-1]
    for name, words, rows in (("up", "▲ Moved up most", ups), ("down", "▼ Moved down most", downs)):
        st.markdown(f"**{words}**, places summed over retrievals")
        st.dataframe(
            pd.DataFrame(
                {
                    "open": "Open",
                    "places": [f"▲{place}" if place > 0 else f"▼{-place}" for place in rows["places"]],
                    "retrievals": rows["retrievals"],
                    "ways": [f"▲{up} ▼{down}" for up, down in zip(rows["up"], rows["down"], strict=True)],
                    "weight": rows["weight"],
                    "weights": [list(weights or ()) for weights in rows["weights"]],
                    "text": rows["text"].fillna("(no longer stored)"),
                }
            ),
            hide_index=True,
            key=f"movers_{name}",
            column_config={
                "open": links.open_column(
                    f"open_{name}", tuple(rows["observation_id"]), "observation.py", "observation"
                ),
                "places": st.column_config.TextColumn("Places", width=75),
                "retrievals": st.column_config.NumberColumn("Retrievals", width=85, format="localized"),
                "ways": st.column_config.TextColumn("Times", width=95, help=glossary.MOVED_TIMES),
                "weight": st.column_config.NumberColumn("Weight now", width=90, format="%.3g"),
                "weights": st.column_config.LineChartColumn("Its last weights, 0 to 1", width=150, y_min=0, y_max=1),
                "text": st.column_config.TextColumn("Text", width=600),
            },
        )


def outcomes(counts: pd.DataFrame) -> OutcomeComparison:
    """How sessions ended on both sides; drawn once, so that title and bars agree."""
    return compare_outcomes(
        {
            (bool(changed), None if pd.isna(outcome) else str(outcome)): int(sessions)
            for changed, outcome, sessions in counts.itertuples(index=False)
        }
    )


def bars(found: OutcomeComparison) -> dict[str, dict[str, tuple[float, float, float]]]:
    """The shares of each side that has enough sessions, as the chart takes them."""
    return {
        side: {name: (each.value, each.low, each.high) for name, each in zip(OUTCOMES, mix.shares, strict=True)}
        for side, mix in zip(SIDES, (found.changed, found.kept), strict=True)
        if mix.shares is not None
    }


def behind_outcomes(found: OutcomeComparison, *, drawn: bool = False) -> None:
    """How many sessions stand behind each side, and what is missing where a side has too few."""
    for side, mix in zip(SIDES, (found.changed, found.kept), strict=True):
        st.caption(f"{counted(mix.judged, 'session')} where {side}{_open(mix)}{_collecting(mix)}.")
    if drawn:
        st.caption(DRAWN)
    st.caption(CAVEAT)


def _open(mix: OutcomeMix) -> str:
    return f", and {number(mix.open_sessions)} without an outcome yet" if mix.open_sessions else ""


def _collecting(mix: OutcomeMix) -> str:
    return f": collecting data, {FLOOR} are needed before shares are shown" if mix.shares is None else ""


def outcome_finding(found: OutcomeComparison) -> str:
    """What the comparison says, with its interval; never more than it can."""
    if found.accepted is None:
        return "Collecting data: too few sessions to compare"
    low, high = 100 * found.accepted.low, 100 * found.accepted.high
    points = f"{100 * found.accepted.value:+.3g} pt"
    if low <= 0 <= high:
        return f"No clear difference in accepted sessions ({points}, {low:+.3g} to {high:+.3g})"
    more = "more" if low > 0 else "less"
    return f"Sessions whose block changed were accepted {more} often ({points}, {low:+.3g} to {high:+.3g})"
