"""How alerts came and went over the days, and how often they were confirmed at each threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from analysis.drift.figures import AGE_NAMES, FLOOR, precision_by_threshold, trend
from analysis.drift.search import STEPS
from charts.drift import precision_curve, trends
from charts.look import QUIET
from controls.drift import messages
from controls.messages import counted

if TYPE_CHECKING:
    from controls.drift.gathering import Drift


def draw_trends(found: Drift) -> None:
    """Alerts by the day they arose and the open ones by age, of everything at this threshold."""
    if not found.kept.decisions and not found.kept.nothing:
        messages.no_history()
        return
    days, undated = trend(found.every, found.decided, found.scope.since, found.scope.until)
    frame = pd.DataFrame(
        [(day.day, day.arisen, *day.open_by_age) for day in days], columns=["day", "arisen", *AGE_NAMES]
    )
    if frame[["arisen", *AGE_NAMES]].to_numpy().any():
        arose = "Alerts per day, and open" if frame["arisen"].any() else "None arose; open"
        st.plotly_chart(
            trends(frame, AGE_NAMES),
            key="drift_trends",
            config=QUIET,
            alt=f"{arose} alerts by age at the end of each day",
        )
    else:
        messages.no_trend(found.scope)
    if undated:
        st.caption(f"{counted(undated, 'alert')} without a date: in no bar.")


def draw_precision(found: Drift) -> None:
    """How often alerts were confirmed at each threshold, by the verdicts given here; counted while they are too few."""
    if not found.kept.verdicts:
        return
    shares = precision_by_threshold(found.verdicts, STEPS)
    if all(each.share is None for each in shares):
        messages.collecting_verdicts(max(each.judged for each in shares), FLOOR)
        return
    st.plotly_chart(
        precision_curve(
            pd.DataFrame([vars(each) for each in shares]).astype({"share": "float64"}), found.wanted.threshold
        ),
        key="drift_precision",
        config=QUIET,
        alt="Share of judged alerts that were confirmed, by threshold, with its interval",
    )
