"""The trust strip: how old the figures are, how much stands behind them, and what is missing."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

import streamlit as st

from analysis.intervals import Z
from controls import glossary
from controls.messages import counted, digits, percent
from queries.drawn import WHOLE
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
    share: float = WHOLE  # of the log's pages that were read; the counts of a part are estimates
    drawn: float = 0.0  # retrievals that these rest on
    more: tuple[str, ...] = ()  # what else there is to say about what stands behind the figures


def strip(trust: Trust) -> None:
    """One line under the title; what needs attention stands first, in ochre with a sign."""
    alarms = [f":orange[:material/warning: {sentence}]" for sentence in (*trust.degraded, *_alarms(trust))]
    facts = [f"as of {trust.as_of:%H:%M} UTC", _behind(trust)]
    if trust.newest is not None:
        facts.append(f"newest {trust.newest:%-d %b %H:%M}")
    if trust.retrievals and trust.complete is not None:
        facts.append(f"log coverage {percent(trust.complete, trust.retrievals)}")
    if trust.truncated:
        facts.append(f"{counted(trust.truncated, 'retrieval')} at the limit of {POOL} candidates")
    facts.extend(trust.more)
    st.markdown(
        " · ".join(f":small[{part}]" for part in (*alarms, f":gray[{' · '.join(facts)}]")),
        help=glossary.LOG_COVERAGE_AND_POOL,
    )


def _behind(trust: Trust) -> str:
    if trust.rows is None or trust.retrievals is None:
        return "the log could not be read: log rows and retrievals unknown"
    behind = f"{counted(trust.rows, 'log row')} in {counted(trust.retrievals, 'retrieval')}"
    return behind if trust.share >= WHOLE else f"≈ {behind}, {in_part(trust.share, trust.drawn)}"


def in_part(share: float, drawn: float) -> str:
    """That figures are drawn from a part of the log, and to how many points a share of all retrievals is good."""
    return (
        f"drawn from {digits(100 * share)} % of the log: over all organizations shares are good to {points(drawn)}, "
        f"counts to ±{digits(100 * Z / sqrt(max(drawn, 1.0)), 2)} %; choose one to count it whole"
    )


def points(drawn: float) -> str:
    """To how many points a share is good, 95 times in 100, that was formed of so many: a share of a half at worst."""
    return f"±{digits(100 * Z * 0.5 / sqrt(max(drawn, 1.0)), 2)} points"


def _alarms(trust: Trust) -> list[str]:
    incomplete = 0 if trust.complete is None or trust.retrievals is None else trust.retrievals - trust.complete
    faults = (
        (incomplete, "retrieval", "logged incompletely"),
        (trust.repeated, "retrieval", "logged twice"),
        (trust.unusable, "row", "without a finite score"),
    )
    about = "" if trust.share >= WHOLE else "≈ "
    return [f"{about}{counted(n, noun)} {fault}" for n, noun, fault in faults if n]
