"""What was decided about an alert before, by whom, and with which note."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from analysis.drift.weighing import SPOKEN
from controls.drift.worklist import SIGNS
from controls.grid import WRAPPED, grid
from controls.loading import store
from controls.messages import MISSING
from queries.drift.triaging import history
from queries.engine import LIST

if TYPE_CHECKING:
    from analysis.drift.alerts import Listed, State
    from controls.drift.gathering import Drift
    from queries.drift.triaging import TriageEntry

VERDICTS = {"older": "the older is right", "newer": "the newer is right", "both": "both hold, each in its scope"}


def past_decisions(found: Drift, one: Listed) -> None:
    """The newest first; nothing where nobody decided yet or the store keeps none."""
    if not one.triage.version or not found.kept.triage:
        return
    org = found.scope.org or ""
    entries = store().once(
        found.scope.reach, LIST, lambda snapshot: history(snapshot, org, one.fingerprint), name="triage history"
    )
    rows = pd.DataFrame(
        {
            "when": [entry.changed_at for entry in entries],
            "change": [_change(entry) for entry in entries],
            "note": [entry.note for entry in entries],
            "by": [entry.actor for entry in entries],
            "owner": [entry.owner or "" for entry in entries],
            "until": [entry.snoozed_until for entry in entries],
            "threshold": [entry.threshold for entry in entries],
        }
    ).astype({"when": "datetime64[us, UTC]", "until": "datetime64[us, UTC]"})
    if rows["until"].isna().all():
        rows = rows.drop(columns="until")
    moment = "D MMM YYYY, HH:mm"
    grid(
        rows,
        hide_index=True,
        key="triage_history",
        row_height=WRAPPED,
        column_config={
            "when": st.column_config.DatetimeColumn("When (UTC)", format=moment, timezone="UTC", width=140),
            "change": st.column_config.TextColumn("Change", width=140),
            "by": st.column_config.TextColumn("By", width=120),
            "owner": st.column_config.TextColumn("Owner", width=120),
            "note": st.column_config.TextColumn("Note", width=260),
            "until": st.column_config.DatetimeColumn("Until (UTC)", format=moment, timezone="UTC"),
            "threshold": st.column_config.NumberColumn("Threshold", format="%.2f", width=80),
        },
    )


def _change(entry: TriageEntry) -> str:
    new: State = SPOKEN.get(entry.new_state, entry.new_state)  # type: ignore[arg-type]
    verdict = f": {VERDICTS[entry.verdict]}" if entry.verdict in VERDICTS else ""
    return f"{SIGNS.get(new, MISSING)}{verdict}"
