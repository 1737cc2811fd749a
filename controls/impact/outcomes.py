"""How sessions ended where feedback changed their block and where it kept it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from analysis.impact import OUTCOMES, OutcomeComparison, compare_outcomes
from analysis.intervals import DRAWS, FLOOR
from controls.messages import counted, number

if TYPE_CHECKING:
    from analysis.impact import OutcomeMix
    from controls.impact.answers import Impact

SIDES = ("feedback changed the block", "feedback kept the block")
CAVEAT = (
    f"Bars are shares of sessions with an outcome; whiskers hold the middle 95 % of {DRAWS:,} draws of whole sessions, "
    "or are Wilson's interval (Newcombe's of a difference) where all or none ended so. "
    "This compares, it does not explain: feedback changes the block where observations have a history, "
    "and such sessions differ in more than that."
)
DRAWN = (
    "These are the sessions of the retrievals that were drawn, and a session counts as changed by those alone: where "
    "another of its retrievals was changed it stands on the wrong side, which makes a difference look smaller."
)


def compared(found: Impact) -> OutcomeComparison | None:
    """How sessions ended on both sides, drawn once, so that titles and bars agree; none without a comparable order."""
    if found.part is None or not found.now["comparable"]:
        return None
    return compare_outcomes(
        {
            (bool(changed), None if pd.isna(outcome) else str(outcome)): int(sessions)
            for changed, outcome, sessions in found.part.itertuples(index=False)
        }
    )


def bars(found: OutcomeComparison) -> dict[str, dict[str, tuple[float, float, float]]]:
    """The shares of each side that has enough sessions, as the chart takes them."""
    return {
        side: {name: (each.value, each.low, each.high) for name, each in zip(OUTCOMES, mix.shares, strict=True)}
        for side, mix in zip(SIDES, (found.changed, found.kept), strict=True)
        if mix.shares is not None
    }


def behind(found: OutcomeComparison, *, drawn: bool = False) -> None:
    """How many sessions stand behind each side, and what is missing where a side has too few."""
    for side, mix in zip(SIDES, (found.changed, found.kept), strict=True):
        st.caption(f"{counted(mix.judged, 'session')} where {side}{_open(mix)}{_collecting(mix)}.")
    if drawn:
        st.caption(DRAWN)
    st.caption(CAVEAT)


def _open(mix: OutcomeMix) -> str:
    told = [f"{number(mix.open_sessions)} without an outcome yet"] if mix.open_sessions else []
    told += [f"{number(mix.unknown_outcome)} with an unknown one"] if mix.unknown_outcome else []
    return f", and {' and '.join(told)}" if told else ""


def _collecting(mix: OutcomeMix) -> str:
    return f": collecting data, {FLOOR} are needed before shares are shown" if mix.shares is None else ""


def in_short(found: OutcomeComparison | None) -> None:
    """What the comparison says in a line on top, for whoever came for it; nothing where another part is shown."""
    if found is not None:
        st.text(f"{finding(found)}. Outcomes, below the list, has the rest.")


def finding(found: OutcomeComparison) -> str:
    """What the comparison says, with its interval; never more than it can."""
    if found.accepted is None:
        return "Collecting data: too few sessions to compare"
    low, high = 100 * found.accepted.low, 100 * found.accepted.high
    points = f"{100 * found.accepted.value:+.3g} pt"
    if low <= 0 <= high:
        return f"No clear difference in accepted sessions ({points}, {low:+.3g} to {high:+.3g})"
    more = "more" if low > 0 else "less"
    return f"Sessions whose block changed were accepted {more} often ({points}, {low:+.3g} to {high:+.3g})"
