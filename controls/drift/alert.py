"""The opened alert: both statements with their evidence, where each came from, the rule in words, both lives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from analysis.drift.weighing import exposure
from charts.drift_timeline import Given, Life, both_lives
from charts.look import QUIET
from charts.statement import excerpt, statement
from controls import links
from controls.dossier import dossier, happened, span
from controls.drift import messages
from controls.glossary import drift as glossary
from controls.grid import grid
from controls.loading import store
from controls.messages import MISSING, counted, number, percent
from controls.verbatim import verbatim
from queries.drift.observed import Texts
from queries.engine import LIST
from queries.observation.record import LONGEST_SHOWN
from queries.scope import isolated

if TYPE_CHECKING:
    from collections.abc import Mapping

    from analysis.drift.alerts import Listed, Origin
    from controls.drift.gathering import Drift
    from queries.drift.observed import TextRow

WIDTH = 430
TALL = 1_500  # characters above which a text scrolls
RULES = {
    "opposition": "Both speak of the same thing, and one uses a word that counts as the opposite of the other's.",
    "negation": "Both make the same claim, and one of them denies it.",
    "value": "Both fill the same slot, one with another number, version, time, name or quoted text.",
    "superseded": "One says that something no longer holds, or was replaced, and the other still says it.",
}


def statements(found: Drift, one: Listed) -> dict[str, TextRow]:
    """What fired, in words; then the two texts side by side, one below the other where the window is narrow.

    Nothing else stands in them, so that the decisions below are in sight; the texts are handed on to ``ways_from``.
    """
    quoted = [_quoted(one, "older"), _quoted(one, "newer")]
    st.text(
        f"{one.kind.value.capitalize()}: {RULES[one.kind.value]}\nRule: {one.rule}; "
        f"{percent(one.overlap, 1)} of the smaller claim's words agree. Shown by {quoted[0]} against {quoted[1]}."
    )
    asked = Texts(found.scope, (one.older.id, one.newer.id), LONGEST_SHOWN)
    texts = store().once(found.scope.reach, LIST, asked.ask, name="alert")
    with st.container(horizontal=True, gap="small"):
        for side, origin in (("older", one.older), ("newer", one.newer)):
            with st.container(border=True, width=WIDTH + 34):
                _statement(side, one, origin, texts.get(origin.id))
    return texts


def _quoted(one: Listed, side: str) -> str:
    words = [f"“{isolated(word.text)}”" for word in one.evidence if word.side == side]
    return ", ".join(words) or MISSING


def _statement(side: str, one: Listed, origin: Origin, text: TextRow | None) -> None:
    written = "undated" if origin.created_at is None else f"{origin.created_at:%-d %b %Y %H:%M} UTC"
    st.markdown(f"**The {side}**, {written}")
    if text is None:
        st.text("This observation is no longer stored.")
        return
    spans = [(word.start, word.end) for word in one.evidence if word.side == side]
    st.plotly_chart(
        statement(text.content, spans, dark=st.context.theme.type == "dark"),
        key=f"statement_{side}",
        width=WIDTH,
        config=QUIET | {"staticPlot": True},
        alt=f"The {side} statement, its evidence words set apart",
    )
    begin, end = excerpt(text.content, spans)
    if end - begin < text.characters:
        st.caption(f"Characters {number(begin + 1)} to {number(end)} of {number(text.characters)}.")


def ways_from(one: Listed, texts: Mapping[str, TextRow]) -> None:
    """Each text as it is stored, and where it leads, as wide as its statement above."""
    with st.container(horizontal=True, gap="small"):
        for side, origin in (("older", one.older), ("newer", one.newer)):
            if (text := texts.get(origin.id)) is not None:
                with st.container(width=WIDTH + 34):
                    _ways_from(side, origin, text)


def _ways_from(side: str, origin: Origin, text: TextRow) -> None:
    with st.expander(f"The {side} as stored, to copy"):
        tall = len(text.content) > TALL or text.content.count("\n") > TALL // 100
        verbatim(text.content, height=260 if tall else "content")
        if text.characters > len(text.content):
            st.caption(f"The first {number(len(text.content))} of {number(text.characters)} characters.")
    with st.container(horizontal=True, gap="small"):
        st.button(
            "Observation", key=f"to_observation_{side}", type="tertiary", icon=":material/article:", on_click=_go,
            args=("observation.py", "observation", origin.id),
        )  # fmt: skip
        st.button(
            "Inspect its text as a question", key=f"to_inspector_{side}", type="tertiary",
            icon=":material/troubleshoot:", on_click=_go, args=("inspector.py", "q", text.content[:LONGEST_QUESTION]),
        )  # fmt: skip


LONGEST_QUESTION = 500


def _go(page: str, name: str, value: str) -> None:
    links.go(page, **{name: value})


def facts(found: Drift, one: Listed) -> None:
    """Origin, weight, voices behind each side, and what agents were given, side against side."""
    sides = (one.older, one.newer)
    injected = (one.older_injected, one.newer_injected)
    fields = {
        "agent": [side.agent_id or MISSING for side in sides],
        "session": [side.session_id or MISSING for side in sides],
        "weight": [f"{side.weight:.3g}" for side in sides],
        "says the same": [_voices(side) for side in sides],
        f"injected, {counted(found.scope.days, 'day')}": [_times(times) for times in injected],
        "id": [side.id for side in sides],
    }
    both = MISSING if one.both_injected is None else counted(one.both_injected, "session")
    parts = " · ".join(f"{name} {value:.2f}" for name, value in one.parts)
    reach, together = exposure(*injected, one.both_injected)
    st.text(
        f"Harm {one.harm:.3g} from severity {one.severity:.3g} ({parts}); both were given to {both}.",
        help=glossary.harm(one.severity, reach, together, one.harm),
    )
    grid(
        pd.DataFrame([(name, *values) for name, values in fields.items()], columns=["what", "older", "newer"]),
        hide_index=True,
        key="alert_facts",
        column_config={
            "what": st.column_config.TextColumn("", width=130, help=glossary.SAYS_THE_SAME),
            "older": st.column_config.TextColumn("Older"),
            "newer": st.column_config.TextColumn("Newer"),
        },
    )


def _voices(side: Origin) -> str:
    if side.members <= 1:
        return "nobody else known"
    return f"{counted(side.members, 'observation')} by {counted(side.agents, 'agent')}"


def _times(count: int | None) -> str:
    return "not logged" if count is None else counted(count, "time")


def lives(found: Drift, one: Listed) -> None:
    """Writes, corroborations, weight changes, injections and outcomes of both, over all of their lives."""
    told = []
    for side in (one.older, one.newer):
        known = dossier(found.scope, side.id)
        if known is None:
            st.caption("One of the two is no longer stored, so there is no timeline.")
            return
        weight, created, now = span(known)
        marks = happened(known)
        told.append((Life(marks[marks["lane"] != "retrieved"], known.steps, weight, created), now))
    (older, _), (newer, now) = told
    st.plotly_chart(
        both_lives(
            older, newer, now, Given(found.scope.days, one.older_injected, one.newer_injected, one.both_injected)
        ),
        key="alert_lives",
        config=QUIET,
        alt="Both statements over time: weights, writes, corroborations, injections and outcomes",
    )


def missing(found: Drift, fingerprint: str) -> None:
    """That there is no such alert at this threshold, and whether another one has it."""
    searched = found.searched
    other = next((one for one in searched.found if one.fingerprint == fingerprint), None)
    if other is not None and not other.least <= found.wanted.threshold <= other.most:
        messages.alert_at_other_thresholds(other.least, other.most)
    elif found.left_out:
        messages.alert_left_out()
    else:
        steps = zip(searched.steps, searched.totals, strict=True)
        below = (total for step, total in steps if step < found.wanted.threshold)
        # of very many alerts the most severe of each threshold are here: a lower one may have it all the same
        more = searched.worst is not None and max(below, default=0) > searched.worst
        messages.unknown_alert(complete=found.complete, more_below=more)


def current(found: Drift, fingerprint: str) -> Listed | None:
    """The alert of the address among all at this threshold, filtered out or not."""
    return next((one for one in found.every if one.fingerprint == fingerprint), None)
