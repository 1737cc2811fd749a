"""The trust strip: how old the figures are, how much stands behind them, and what is missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from controls import glossary
from controls.messages import counted, percent
from queries.retrievals import POOL

if TYPE_CHECKING:
    from datetime import datetime


@dataclass(frozen=True)
class Trust:
    """What a page knows about the log behind its figures."""

    as_of: datetime
    newest: datetime | None
    rows: int | None  # where the log could not be read, nothing is known of it
    retrievals: int | None
    complete: int | None  # where a page does not look at whole retrievals, it cannot say
    truncated: int
    repeated: int
    unusable: int
    degraded: tuple[str, ...] = ()


def strip(trust: Trust) -> None:
    """One line under the title; what needs attention stands first, in ochre with a sign."""
    alarms = [f":orange[:material/warning: {sentence}]" for sentence in (*trust.degraded, *_alarms(trust))]
    facts = [f"as of {trust.as_of:%H:%M} UTC", _behind(trust)]
    if trust.newest is not None:
        facts.append(f"newest {trust.newest:%-d %b %H:%M}")
    if trust.retrievals and trust.complete is not None:
        facts.append(f"log coverage {percent(trust.complete, trust.retrievals)}")
    if trust.truncated:
        facts.append(f"{counted(trust.truncated, 'pool')} full at {POOL}")
    st.markdown(
        " · ".join(f":small[{part}]" for part in (*alarms, f":gray[{' · '.join(facts)}]")),
        help=glossary.LOG_COVERAGE_AND_POOL,
    )


def _behind(trust: Trust) -> str:
    if trust.rows is None or trust.retrievals is None:
        return "the log could not be read: log rows and retrievals unknown"
    return f"{counted(trust.rows, 'log row')} in {counted(trust.retrievals, 'retrieval')}"


def _alarms(trust: Trust) -> list[str]:
    incomplete = 0 if trust.complete is None or trust.retrievals is None else trust.retrievals - trust.complete
    faults = (
        (incomplete, "retrieval", "logged incompletely"),
        (trust.repeated, "retrieval", "logged twice"),
        (trust.unusable, "row", "without a finite score"),
    )
    return [f"{counted(n, noun)} {fault}" for n, noun, fault in faults if n]
