"""What triage made of contradictions, in words: the same wherever a cluster or a contradiction is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from controls.drift.history import VERDICTS

if TYPE_CHECKING:
    from collections.abc import Sequence


def cluster_is_disputed(settled: Sequence[str]) -> None:
    """A caption that a cluster is disputed, and who is right once all of that is settled."""
    if settled:
        words = "; ".join(VERDICTS[verdict] for verdict in settled)
        st.caption(f"✕ Disputed, settled: {words}. Both sides are still stored.")
    else:
        st.caption("✕ Disputed: a member contradicts the canonical, so part of this is disagreement.")


def of_member(verdict: str | None, canonical: str = "it") -> str:
    """That a member contradicts the canonical, or who of them is right."""
    return f"✕ contradicts {canonical}" if verdict is None else f"✕ settled: {verdict} is right"


def of_contradiction(verdict: str | None, *, dismissed: bool) -> str | None:
    """What was decided about a contradiction; None while nobody did."""
    if dismissed:
        return f"dismissed: {'a false positive' if verdict is None else VERDICTS[verdict]}"
    return None if verdict is None else f"settled: {VERDICTS[verdict]}"
