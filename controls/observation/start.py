"""Where to start without an id: what was retrieved most, and what was written last."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from controls import empty_messages, messages, observations
from controls.loading import shape
from controls.partly import each
from queries.drawn import WHOLE
from queries.health.top import TopObservations
from queries.observation.latest import LatestObservations

if TYPE_CHECKING:
    import pandas as pd

    from queries.engine import Question
    from queries.scope import Scope

ROWS = 10


def lists(scope: Scope) -> None:
    """Ten observations of the scope by how often its window retrieved them, and the ten newest."""
    asked: dict[str, Question] = {
        "newest": LatestObservations(scope, ROWS),
        "most": TopObservations(scope, "most", shape(), ROWS),
    }
    found = each(asked)
    newest, most = found.frames.get("newest"), found.frames.get("most")
    if newest is not None and newest.empty and (most is None or most.empty):
        empty_messages.nothing_stored()
        return
    whose = {"organization": "Organization"} if scope.org is None else {}
    st.subheader("Most retrieved", anchor=False)
    if most is None:
        messages.left_out("What was retrieved most", found.failed["most"])
    else:
        _most(most, scope, whose)
    st.subheader("Newest", anchor=False)
    if newest is None:
        messages.left_out("What is newest", found.failed["newest"])
    else:
        st.caption("Whenever they were written.")
        observations.table(newest.drop(columns="status"), "newest", whose, "one of the newest")


def _most(most: pd.DataFrame, scope: Scope, whose: dict[str, str]) -> None:
    drawn = shape().share(scope) < WHOLE
    st.text(f"In {scope.in_words()}{', of the part of the log that was drawn' if drawn else ''}.")
    if most.empty and not drawn:
        empty_messages.nothing_retrieved()
    elif most.empty:
        st.caption("No retrieval of the window was drawn. Choose an organization: its log is read whole.")
    else:
        counts = {} if drawn else {"retrieved": "Retrieved"}
        observations.table(most, "most", counts | whose, "one of the most retrieved")
