"""Health's checks: five figures, every check with its band and what to do, and where each organization stands."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from analysis.health import finding
from controls import glossary, messages
from controls.address import said, say
from controls.messages import MISSING, counted, number
from controls.scope import enter
from controls.trust import Trust

if TYPE_CHECKING:
    from analysis.health import Check, Judged
    from controls.health_answers import Memory
    from queries.scope import Scope
    from queries.shape import LogShape

PARTS = {
    "memory": "Memory",
    "top": "Top observations",
    "budget": "Context budget",
    "coverage": "Coverage",
    "runs": "Runs and writers",
    "system": "System",
}
HEAD = ("vectorless", "never", "collapsed", "coverage", "aggregation")
SIGNS = {"good": "● in order", "watch": "◆ watch", "red": "✕ act", "unknown": "cannot be known"}
METRIC_WIDTH = 158
DAY = 48  # hours up to which an age is told in hours


def chosen_part() -> str:
    """Which part of the page is shown."""
    value = said("part")
    return value if value in PARTS else next(iter(PARTS))


def choose_part() -> None:
    """The control that switches the part."""
    st.session_state["pick_part"] = chosen_part()
    st.segmented_control(
        "Part", PARTS, format_func=PARTS.__getitem__, key="pick_part", on_change=_picked, args=("part", PARTS),
        required=True, label_visibility="collapsed",
    )  # fmt: skip


def choose(name: str, label: str, options: dict[str, str]) -> str:
    """A choice inside a part, kept in the address; the first is the default."""
    value = said(name)
    chosen = value if value in options else next(iter(options))
    st.session_state[f"pick_{name}"] = chosen
    st.segmented_control(
        label, options, format_func=options.__getitem__, key=f"pick_{name}", on_change=_picked, args=(name, options),
        required=True, label_visibility="collapsed",
    )  # fmt: skip
    return chosen


def _picked(name: str, options: dict[str, str]) -> None:
    value = st.session_state[f"pick_{name}"]
    say(**{name: None if value == next(iter(options)) else value})


def trust_of(memory: Memory, shape: LogShape) -> Trust:
    """What the log's own counts say, and which figures this store cannot give."""
    log = memory.found.frames.get("log", pd.DataFrame())
    newest = log["newest"].max() if len(log) else pd.NaT
    degraded = [] if shape.retrieval_id else ["this store logs no retrieval id: lost retrievals cannot be counted"]
    if memory.found.failed:
        degraded.append(f"{counted(len(memory.found.failed), 'question')} could not be answered")
    counts = {name: int(memory.counts.get(name, 0)) for name in ("retrievals", "truncated", "repeated", "unusable")}
    return Trust(
        as_of=memory.found.as_of,
        newest=None if pd.isna(newest) else newest.to_pydatetime(),
        rows=int(memory.counts.get("log_rows", 0)),
        complete=int(memory.counts["complete"]) if "complete" in memory.counts else None,
        degraded=tuple(degraded),
        **counts,
    )


def unanswered(memory: Memory) -> None:
    """One line for each figure that the store could not give, with what would mend it."""
    for name, error in memory.found.failed.items():
        messages.left_out(name.capitalize(), error)


def figures(memory: Memory) -> None:
    """The five that most often need a hand."""
    found = {each.check.name: each for each in memory.checks}
    with st.container(horizontal=True, gap="small"):
        for name in HEAD:
            each = found[name]
            st.metric(
                each.check.label, shown(each.check, each.value), SIGNS[each.band], delta_color="off", delta_arrow="off",
                border=True, width=METRIC_WIDTH, height="stretch", help=glossary.check(*explained(each.check)),
            )  # fmt: skip


def shown(check: Check, value: float | None) -> str:
    """Three significant digits; hours become minutes below one of them and days beyond two days."""
    if value is None:
        return MISSING
    if check.is_share:
        return f"{100 * value:.3g} %"
    if math.isinf(value):
        return "never"
    if value < 1:
        return f"{60 * value:.0f} min" if value >= 1 / 60 else "under 1 min"
    return f"{value:.3g} h" if value < DAY else f"{number(value / 24)} days"


def limits(check: Check) -> str:
    """The bands in words."""
    word, beyond = ("from", "below") if check.falling else ("up to", "above")
    watch, red = shown(check, check.watch), shown(check, check.red)
    if check.watch == check.best:
        return f"in order at {watch}, act {beyond} {red}"
    return f"in order {word} {watch}, act {beyond} {red}"


def explained(check: Check) -> tuple[str, str, str]:
    """The formula, the bands and what to do, for a tooltip."""
    return check.formula, limits(check).capitalize(), check.todo


def rows(memory: Memory) -> pd.DataFrame:
    """The checks as the chart takes them."""
    return pd.DataFrame(
        {
            "label": [each.check.label for each in memory.checks],
            "place": [None if each.value is None else each.check.place(each.value) for each in memory.checks],
            "band": [each.band for each in memory.checks],
            "shown": [shown(each.check, each.value) for each in memory.checks],
            "limits": [limits(each.check) for each in memory.checks],
        }
    ).astype({"place": "float64"})


def title(memory: Memory) -> str:
    """What the checks say together."""
    return finding(memory.checks)


def table(memory: Memory) -> None:
    """Every check with its counts, band, formula and what to do; what needs a hand first."""
    order = {"red": 0, "watch": 1, "good": 2, "unknown": 3}
    checks = sorted(memory.checks, key=lambda each: order[each.band])
    st.dataframe(
        pd.DataFrame(
            {
                "check": [each.check.label for each in checks],
                "value": [shown(each.check, each.value) for each in checks],
                "band": [SIGNS[each.band] for each in checks],
                "counts": [_counts(each) for each in checks],
                "todo": [each.check.todo for each in checks],
                "limits": [limits(each.check) for each in checks],
                "formula": [each.check.formula for each in checks],
                "exact": [MISSING if each.value is None else repr(each.value) for each in checks],
            }
        ),
        hide_index=True,
        key="checks",
        column_config={
            "check": st.column_config.TextColumn("Check", width=150, pinned=True),
            "value": st.column_config.TextColumn("Now", width=75),
            "band": st.column_config.TextColumn("Band", width=95),
            "counts": st.column_config.TextColumn("Of", width=130),
            "todo": st.column_config.TextColumn("What to do when it is red", width=520),
            "limits": st.column_config.TextColumn("Bands", width=240),
            "formula": st.column_config.TextColumn("Formula", width=420),
            "exact": st.column_config.TextColumn("All digits", width=150),
        },
    )


def _counts(each: Judged) -> str:
    if each.whole is None or each.part is None:
        return MISSING
    return f"{number(each.part)} of {number(each.whole)}"


def organizations(memory: Memory, scope: Scope) -> None:
    """Where each organization stands, the worst first; its button moves the scope there."""
    if scope.org is not None or len(memory.by_org) < 2:  # noqa: PLR2004 - one is what the checks already show
        return
    listed = []
    for org, checks in memory.by_org.items():
        by_band = {band: [each.check.label for each in checks if each.band == band] for band in ("red", "watch")}
        listed.append((org, by_band["red"], by_band["watch"]))
    listed.sort(key=lambda row: (-len(row[1]), -len(row[2]), row[0]))
    entered = st.column_config.ButtonColumn(
        "", width="small", type="tertiary", key="enter", on_click=_enter_clicked,
        args=(tuple(org for org, _, _ in listed),),
    )  # fmt: skip
    st.dataframe(
        pd.DataFrame(
            {
                "organization": [memory.names.get(org, org) for org, _, _ in listed],
                "open": "Open",
                "act": [", ".join(red) or MISSING for _, red, _ in listed],
                "watch": [", ".join(watch) or MISSING for _, _, watch in listed],
                "id": [org for org, _, _ in listed],
            }
        ),
        hide_index=True,
        key="organizations",
        column_config={
            "organization": st.column_config.TextColumn("Organization", width=180, pinned=True),
            "open": entered,
            "act": st.column_config.TextColumn("✕ Act on", width=330),
            "watch": st.column_config.TextColumn("◆ Watch", width=330),
            "id": st.column_config.TextColumn("Id", width="small"),
        },
    )


def _enter_clicked(orgs: tuple[str, ...]) -> None:
    clicked = st.session_state["enter"]
    if clicked is not None and 0 <= clicked["row"] < len(orgs):
        enter(orgs[clicked["row"]])
