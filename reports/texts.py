"""Tenant text as reports show it: literal, with what cannot be seen made visible and what is too long cut openly."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from analysis.drift.alerts import Alert, Side

MISSING = "—"
BEFORE = 200  # characters kept before evidence that stands too far down
# One character for one: evidence is found by its place.
PICTURES = {code: 0x2400 + code for code in range(0x20) if code not in (0x09, 0x0A)}
PICTURES |= {0x7F: 0x2421} | dict.fromkeys(range(0x80, 0xA0), 0xFFFD) | dict.fromkeys(range(0xD800, 0xE000), 0xFFFD)
ONE_LINE = PICTURES | {0x09: 0x2409, 0x0A: 0x240A, 0x2028: 0x240A, 0x2029: 0x240A}
UNSEEN = re.compile(
    "[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\U000e0000-\U000e007f]"
)
NAMED = 6
PARTS = {"gap": "confidence gap"}
CHECKS = "For whoever checks this"
CLOSING = "Statements are shown as agents wrote them. Marked words are those that the finding rests on."


class Piece(NamedTuple):
    """A stretch of a statement, and whether the finding rests on it."""

    text: str
    evidence: bool


class Excerpt(NamedTuple):
    """What is shown of a statement, and how many characters before and after it are not."""

    before: int
    pieces: tuple[Piece, ...]
    after: int


def visible(text: str) -> str:
    """Text whose control characters appear as their pictures; lines and tabs stay, and so does every place."""
    return text.translate(PICTURES)


def on_a_line(text: str) -> str:
    """Text for the middle of a line: also its line ends appear as pictures."""
    return text.translate(ONE_LINE)


def unseen(text: str) -> str:
    """A sentence on characters that turn the reading direction or cannot be seen, or nothing."""
    found = Counter(UNSEEN.findall(text))
    if not found:
        return ""
    named = [
        f"{unicodedata.name(sign, 'unnamed').lower()} (U+{ord(sign):04X}) × {count:,}"
        for sign, count in sorted(found.items())
    ]
    more = f", and {len(named) - NAMED:,} others" if len(named) > NAMED else ""
    return f"Contains characters that cannot be seen or turn the reading direction: {', '.join(named[:NAMED])}{more}."


def spans(alert: Alert, name: str) -> list[tuple[int, int]]:
    """Where the evidence of one side stands."""
    return [(found.start, found.end) for found in alert.evidence if found.side == name]


def excerpt(content: str, marked: Iterable[tuple[int, int]], limit: int) -> Excerpt:
    """At most ``limit`` characters in pieces: from the start or, where evidence stands further down, just before."""
    found = _joined(marked, len(content))
    first = found[0][0] if found else 0
    start = 0 if first < limit else max(first - BEFORE, 0)
    end = min(start + limit, len(content))
    pieces, at = [], start
    for left, right in found:
        left, right = max(left, at), min(right, end)  # noqa: PLW2901 - cut to what is shown
        if left >= right:
            continue
        pieces += [Piece(content[at:left], evidence=False), Piece(content[left:right], evidence=True)]
        at = right
    pieces.append(Piece(content[at:end], evidence=False))
    return Excerpt(start, tuple(piece for piece in pieces if piece.text), len(content) - end)


def _joined(marked: Iterable[tuple[int, int]], length: int) -> list[tuple[int, int]]:
    """Spans in order, none beyond the text, none overlapping another."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted((max(start, 0), min(end, length)) for start, end in marked):
        if start >= end:
            continue
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def digits(value: float | None) -> str:
    """Three significant digits, thousands separated; what is no number is not zero."""
    if value is None or not math.isfinite(value):
        return MISSING
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"  # noqa: PLR2004 - where separators begin


def hundredths(value: float) -> str:
    """A part of one, to two digits: more of them say nothing to whoever reads."""
    return f"{value:.2f}" if math.isfinite(value) else MISSING


def when(moment: datetime | None) -> str:
    """A moment to the minute."""
    return MISSING if moment is None else f"{moment.isoformat(sep=' ', timespec='minutes')[:16]} UTC"


def counted(count: int, thing: str) -> str:
    """A number with its noun."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def origin(side: Side) -> list[tuple[str, str]]:
    """Where a statement comes from, label and value; values are hostile text."""
    return [("observation", side.id), ("agent", side.agent_id or MISSING), ("session", side.session_id or MISSING)]


def standing(side: Side) -> str:
    """How a statement stands: its weight, how many are known to say it, and how often agents were given it."""
    said = f"said by {counted(side.members, 'observation')} of {counted(side.agents, 'agent')}"
    return f"weight {digits(side.weight)} · {said} · {given(side.injected)}"


def given(count: int | None) -> str:
    """How often agents were given a statement; unknown is not never."""
    return "injections not logged" if count is None else f"given {counted(count, 'time')}"


def together(alert: Alert) -> str:
    """In how many sessions both sides met."""
    both = alert.both_injected
    if both is None:
        return "This store does not log whether one session was given both sides."
    return f"Both sides were given to {counted(both, 'session')}." if both else "No session was given both sides."


def decision(alert: Alert) -> list[tuple[str, str]]:
    """What was decided, by whom and why, label and value; only what is known, and never the state itself."""
    triage = alert.triage
    told = [
        ("right side", {None: "", "both": "both, each in its scope"}.get(triage.verdict, triage.verdict or "")),
        ("owner", triage.owner or ""),
        ("snoozed until", when(triage.snoozed_until) if triage.snoozed_until else ""),
        ("changed by", triage.changed_by or ""),
        ("changed", when(triage.changed_at) if triage.changed_at else ""),
        ("note", triage.note),
    ]
    return [(label, value) for label, value in told if value]


def parts(alert: Alert) -> str:
    """Severity as its parts, and how much the statements have in common."""
    named = [f"{PARTS.get(name, name)} {hundredths(value)}" for name, value in alert.parts]
    return " · ".join([f"Severity {digits(alert.severity)} from {named[0]}" if named else "", *named[1:]])


def place(alert: Alert) -> list[tuple[str, str]]:
    """What an alert is called and where it belongs; values are hostile text."""
    known = [("fingerprint", alert.fingerprint), ("organization", alert.org_id)]
    return known if alert.project_id is None else [*known, ("project", alert.project_id)]


def whole(number: int, shown: int) -> str:
    """Whether every alert is shown, and where the others are."""
    if not number:
        return "No alert passed the choice above."
    if shown == number:
        return f"{counted(number, 'alert')}, by harm, the highest first."
    return (
        f"The {shown:,} of {number:,} alerts that rank highest by harm are shown here; figures and pictures count all. "
        "The CSV, the JSON and the evidence bundle of the same choice hold every one of them."
    )
