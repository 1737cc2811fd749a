"""The worklist: alerts by harm, severity as its parts, how far each reached agents; a row's button opens it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd
import streamlit as st

from charts.look import DISPUTED
from controls import glossary
from controls.address import say
from controls.drift import filters, messages
from controls.drift.alert import current
from controls.grid import WRAPPED, grid
from controls.links import clicked
from controls.loading import store
from controls.messages import MISSING, counted, number
from controls.opening import choose_to_open
from queries.drift.observed import Excerpts
from queries.engine import LIST
from queries.scope import isolated
from reports.disputes import Disputes

if TYPE_CHECKING:
    from streamlit.elements.lib.column_types import ColumnConfig

    from analysis.drift.alerts import Listed, Origin
    from controls.drift.gathering import Drift
    from queries.drift.observed import TextRow

PAGE = 50
SNIPPET = 300  # characters of a statement in the list
SEEN, AHEAD = 40, 20  # of which so many are seen at once, and so many stand before the words that matter
LONGEST_WORD = 22  # characters of an evidence word in the list
ROW, HEAD = 35, 38  # pixels
HEIGHT, LOW = 668, 101  # of the list by itself, and with two rows above an alert that is open
SIGNS = {
    "new": "● new",
    "acknowledged": "◐ acknowledged",
    "investigating": "◑ investigating",
    "resolved": "✓ resolved",
    "false positive": "✕ false positive",
    "snoozed": "◌ snoozed",
}
REOPENED = "↻ reopened"


def state_of(one: Listed, found: Drift) -> str:
    """Where triage stands, with a sign; an alert that was judged under other words is marked."""
    reopened = one.triage.state == "new" and (one.older.id, one.newer.id) in found.earlier
    return REOPENED if reopened else SIGNS[one.triage.state]


class Step(NamedTuple):
    """An alert, or none, and the page of the list that is on show with it: what a way through the list leads to."""

    fingerprint: str | None
    page: int


def take(step: Step) -> None:
    """Put an alert and its page into the address, or take the alert out."""
    say(alert=step.fingerprint, page=None if step.page == 1 else str(step.page))


def page_on_show(found: Drift) -> int:
    """The page that holds the open alert, or held it before it left the list; else the one that the address names."""
    opened = filters.opened()
    one = None if opened is None else current(found, opened)
    return min(filters.page() or 1, _pages(found)) if one is None else step_to(found, one).page


def worklist(found: Drift) -> None:
    """One page of the listed alerts, worst first; from the open alert on, and round to it, for two rows are seen."""
    pages, page, chosen = _pages(found), page_on_show(found), filters.opened()
    if chosen is None and page < (filters.page() or 1):
        messages.no_such_page()
    rows = found.listed[(page - 1) * PAGE : page * PAGE]
    opened, lead = None if chosen is None else current(found, chosen), "most harmful"
    if opened is not None:
        before, with_it = _places(found, opened)
        begin = before - (page - 1) * PAGE
        if begin < len(rows):  # else it has left the list's end, and none comes next
            rows, lead = rows[begin:] + rows[:begin], "open one" if before < with_it else "next one"
    shown = _shown(found, rows, chosen)
    fingerprints = tuple(one.fingerprint for one in rows)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.caption(
            f"{counted(len(found.listed), 'alert')}{_in_disputes(found.listed)}, the {lead} first"
            + (f": {number((page - 1) * PAGE + 1)} to {number((page - 1) * PAGE + len(rows))}." if pages > 1 else ".")
            + f" Chosen among the {number(len(found.every))} most severe of {number(found.total)}."
            * bool(found.left_out),
            width="content",
        )
        if chosen is None:
            first = Step(fingerprints[0], page)
            st.button("Open the first", key="next_alert", shortcut="N", on_click=take, args=(first,))
        told = zip(fingerprints, shown["conflict"], shown["older"], strict=True)
        choose_to_open(
            "choose_alert",
            "an alert",
            {name: f"{words}: {text}" for name, words, text in told},
            lambda name: take(Step(name, page)),
        )
    # above an open alert, which has the texts, two rows of one line lead to the next
    row, beside, says = (WRAPPED, 130, 196) if chosen is None else (ROW, 210, 245)
    grid(
        shown,
        hide_index=True,
        key=f"worklist_{page}",
        height=min(HEIGHT if chosen is None else LOW, HEAD + row * len(rows)),
        row_height=row,
        column_config=_columns(fingerprints, page, beside, says),
    )
    if pages > 1:
        key = f"pick_page_{page}"  # begins at the address's page; a value set beforehand is warned about
        st.pagination(pages, default=page, key=key, on_change=_turned, args=(key,))


def _shown(found: Drift, rows: tuple[Listed, ...], chosen: str | None) -> pd.DataFrame:
    """Alerts as rows of the list, of which the chosen one is marked."""
    texts = _texts(found, rows)
    older, newer = ([_snippet(texts, one, side) for one in rows] for side in ("older", "newer"))
    return pd.DataFrame(
        {
            "open": ["▸ Open" if one.fingerprint == chosen else "Open" for one in rows],
            "harm": [one.harm for one in rows],
            "older": older,
            "newer": newer,
            "conflict": [conflict(one) for one in rows],
            "state": [state_of(one, found) for one in rows],
            "both": [_counted(one.both_injected) for one in rows],
            "kind": [one.kind.value for one in rows],
            "injected": [f"{_counted(one.older_injected)} / {_counted(one.newer_injected)}" for one in rows],
            "severity": [one.severity for one in rows],
            "parts": [[dict(one.parts).get(name, 0.0) for name in glossary.SEVERITY_PARTS] for one in rows],
            **{name: [dict(one.parts).get(name) for one in rows] for name in glossary.SEVERITY_PARTS},
            "overlap": [one.overlap for one in rows],
            "arose": [one.newer.created_at for one in rows],
            "agents": [" / ".join((one.older.agent_id or MISSING, one.newer.agent_id or MISSING)) for one in rows],
            "project": [one.project_id for one in rows],
            "owner": [one.triage.owner or "" for one in rows],
            "fingerprint": [one.fingerprint for one in rows],
        }
    ).astype({"arose": "datetime64[us, UTC]"})


def _columns(fingerprints: tuple[str, ...], page: int, beside: int, says: int) -> dict[str, Any]:
    """Every column as it is drawn; ``beside`` and ``says`` are the widths of what conflicts and of each statement."""
    return {
        "open": st.column_config.ButtonColumn(
            "", width=62, type="tertiary", key="open_alert", on_click=_clicked, args=(fingerprints, page)
        ),
        "state": st.column_config.TextColumn("State", width=112),
        "harm": _bar("Harm", glossary.HARM),
        "severity": _bar("Severity", glossary.SEVERITY),
        "parts": st.column_config.BarChartColumn(
            "Parts",
            width=70,
            y_min=0,
            y_max=1,
            color=DISPUTED,
            help=glossary.SEVERITY_IN_PARTS,
        ),
        "kind": st.column_config.TextColumn("Kind", width=90),
        "conflict": st.column_config.TextColumn("Conflict", width=beside, help=glossary.CONFLICT_WORDS),
        "older": st.column_config.TextColumn("Older says", width=says),
        "newer": st.column_config.TextColumn("Newer says", width=says),
        "both": st.column_config.TextColumn("Both", width=52, help=glossary.GIVEN_BOTH),
        "injected": st.column_config.TextColumn("Injected", width=75, help=glossary.SIDES_INJECTED),
        **{
            name: st.column_config.NumberColumn(name.capitalize(), width=85, format="%.2f", help=explained)
            for name, explained in glossary.SEVERITY_PARTS.items()
        },
        "overlap": st.column_config.NumberColumn("Overlap", width=75, format="%.2f", help=glossary.CLAIM_OVERLAP),
        "arose": st.column_config.DatetimeColumn(
            "Arose (UTC)", format="D MMM YYYY", timezone="UTC", width=105, help=glossary.AROSE
        ),
        "agents": st.column_config.TextColumn("Agents, older / newer", width=170),
        "project": st.column_config.TextColumn("Project", width=100),
        "owner": st.column_config.TextColumn("Owner", width=100),
        "fingerprint": st.column_config.TextColumn("Fingerprint", width=120),
    }


def step_to(found: Drift, one: Listed) -> Step:
    """An alert and the page that holds it, or would if it were listed."""
    return Step(one.fingerprint, min(_places(found, one)[0] // PAGE + 1, _pages(found)))


def neighbours(found: Drift, one: Listed | None) -> tuple[Step | None, Step | None]:
    """The alerts before and after one by harm, also where it has just left the list; the first, where it is unknown."""
    before, after = (0, 0) if one is None else _places(found, one)
    return _step(found, before - 1), _step(found, after)


def _step(found: Drift, place: int) -> Step | None:
    return Step(found.listed[place].fingerprint, place // PAGE + 1) if 0 <= place < len(found.listed) else None


def _places(found: Drift, one: Listed) -> tuple[int, int]:
    """How many of the list come before an alert, and how many before or with it."""
    keys, mine = [(-each.harm, each.fingerprint) for each in found.listed], (-one.harm, one.fingerprint)
    return bisect_left(keys, mine), bisect_right(keys, mine)


def _pages(found: Drift) -> int:
    return max(1, -(-len(found.listed) // PAGE))


def _in_disputes(listed: tuple[Listed, ...]) -> str:
    """How many disputes the alerts are, as reports count them, where they are fewer."""
    disputes = Disputes()
    for one in listed:
        disputes.add("", one.older.id, one.newer.id)
    return f" in {counted(disputes.count, 'dispute')}" if disputes.count < len(listed) else ""


def _bar(label: str, explained: str) -> ColumnConfig:
    return st.column_config.ProgressColumn(
        label, width=90, format="%.3g", min_value=0, max_value=100, help=explained, color=DISPUTED
    )


def _turned(key: str) -> None:
    take(Step(None, st.session_state[key]))  # an open alert has no row on another page


def _clicked(fingerprints: tuple[str, ...], page: int) -> None:
    if (fingerprint := clicked("open_alert", fingerprints)) is not None:
        take(Step(fingerprint, page))


def _texts(found: Drift, rows: tuple[Listed, ...]) -> dict[tuple[str, int], TextRow]:
    places = {(_side(one, side).id, _begin(one, side)) for one in rows for side in ("older", "newer")}
    excerpts = Excerpts(found.scope, tuple(sorted(places)), SNIPPET)
    return store().once(found.scope.reach, LIST, excerpts.ask, name="worklist")


def _side(one: Listed, side: str) -> Origin:
    return one.older if side == "older" else one.newer


def _begin(one: Listed, side: str) -> int:
    """The first character of a snippet: the text's own, where the words that matter are seen with it."""
    spans = [(word.start, word.end) for word in one.evidence if word.side == side]
    first, end = min(spans, default=(0, 0))
    return 0 if end <= SEEN else max(0, first - AHEAD)


def _snippet(texts: dict[tuple[str, int], TextRow], one: Listed, side: str) -> str:
    begin = _begin(one, side)
    row = texts.get((_side(one, side).id, begin))
    if row is None:
        return "no longer stored"
    content = row.content
    if begin:  # half a word says nothing
        partial, space, rest = content[:AHEAD].partition(" ")
        content = rest + content[AHEAD:] if space else partial + content[AHEAD:]
    words = " ".join(content.split())
    return "…" * bool(begin) + words + "…" * (begin + len(row.content) < row.characters)


def conflict(one: Listed) -> str:
    """The words of both sides that the finding rests on."""
    return f"{_words(one, 'older')} ↔ {_words(one, 'newer')}"


def _words(one: Listed, side: str) -> str:
    """The words of one side that the finding rests on, each cut where it is long."""
    words = (" ".join(word.text.split()) for word in one.evidence if word.side == side)
    cut = (word if len(word) <= LONGEST_WORD else f"{word[:LONGEST_WORD]}…" for word in words)
    return ", ".join(map(isolated, cut)) or MISSING


def _counted(value: int | None) -> str:
    return MISSING if value is None else number(value)
