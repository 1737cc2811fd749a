"""The memory block that a pipeline fills: its text against its budget, and what was left out before and at its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from analysis.inspector.listing import dropped, left_out
from analysis.inspector.names import stage_name
from controls.messages import counted
from queries.scope import marked
from ranking.dedup import Dedup
from ranking.floor import Floor, FloorMode, clamped
from ranking.mmr import Mmr
from ranking.relevance import Head
from ranking.session_support import SessionSupport

if TYPE_CHECKING:
    from analysis.inspector.listing import Dropped
    from retrieval.retrieve import Retrieval


def block(found: Retrieval) -> None:
    """The text the agent would be given, against its budget, what did not fit first, and what never came so far."""
    packed = found.block
    st.progress(
        min(packed.tokens / packed.budget, 1.0) if packed.budget else 1.0,
        text=f"{packed.tokens:,} of {packed.budget:,} tokens, {counted(len(packed.ids), 'observation')}",
    )
    if packed.text:
        st.code(packed.text, language=None, wrap_lines=True)
    else:
        st.caption("The block is empty.")
    before = "; ".join(f"{each.rows:,} left out by {_by(each)}" for each in dropped(found))
    also = f" {before}." if before else ""
    missed = left_out(found)
    if missed is None:
        st.caption(f"Every row fits.{also}")
    else:
        free = max(packed.budget - packed.tokens, 0)
        st.caption(f"First not to fit: № {missed.place}, {missed.tokens:,} tokens where {free:,} are left.{also}")
        st.text(marked(missed.title))


def _by(what: Dropped) -> str:
    """The stage that dropped rows, and the setting by which it did."""
    stage = what.stage
    if isinstance(stage, Mmr):
        return f"{stage_name(stage)}, which chose {what.kept:,}"
    if isinstance(stage, Head):
        return f"{stage_name(stage)}, which keeps {stage.k:,}"
    if isinstance(stage, Floor):
        least = f"{clamped(stage.value):g}"
        asked = f"{least} of the best score" if stage.mode is FloorMode.RELATIVE_TO_TOP else f"a score of {least}"
        return f"the floor, which asks for {asked}"
    if isinstance(stage, Dedup):
        return f"{stage_name(stage)}, as copies" + (f" or beyond its limit of {stage.limit:,}" if stage.limit else "")
    if isinstance(stage, SessionSupport):
        return f"{stage_name(stage)}, which keeps whole sessions alone"
    return stage_name(stage)
