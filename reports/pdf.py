"""A report as PDF: the same content as the HTML page, set in type, real text on every page."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from analysis.drift.alerts import DECIDED
from reports.about import SAME
from reports.fields import encoded
from reports.glyphs import BREAK, FAMILIES, on_a_line, printed
from reports.joining import Joined
from reports.lead import lead
from reports.legend import LEGEND
from reports.pictures import pictures
from reports.summary import Summary, findings
from reports.tables import feed
from reports.texts import (
    CHECKS,
    CLOSING,
    counted,
    decision,
    digits,
    excerpt,
    hundredths,
    origin,
    parts,
    place,
    spans,
    standing,
    together,
    unseen,
    when,
    whole,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analysis.drift.alerts import Alert, Side
    from reports.about import About
    from reports.pictures import Picture
    from reports.tables import Out

TYPESETTER = Path(__file__).parent / "typesetter.py"
PATIENCE = 120  # seconds for a part; it takes about one
PART = 250  # alerts that are set at once: the typesetter holds half a megabyte for each
LARGEST = 400_000  # characters of their statements
LONGEST = 2_000  # characters of one statement
SHORT = 900  # characters of both statements that still fit on a page together
LINE = 40  # letters that fit beside a label, however wide
NAME, NOTE = 200, 1_000  # characters of an id or an agent, and of what someone wrote
FOOT = 60  # characters of a name below every page
SHADES = {"new": "severe", **dict.fromkeys(DECIDED, "settled")}  # what someone has looked at alarms nobody


class PdfError(Exception):
    """A PDF that could not be made, in one sentence that says what to take instead."""


class PdfSink:
    """Every alert, set in parts while they come; what fits into one part is one document with its summary in front."""

    def __init__(self, about: About, out: Out) -> None:
        self.about = about
        self.out = out
        self.summary = Summary.of(about)
        self.alerts: list[dict[str, object]] = []
        self.size = 0
        self.joined: Joined | None = None

    def add(self, alert: Alert) -> None:
        """Count one alert, and set those before it once they are a part."""
        size = min(len(alert.older.content), LONGEST) + min(len(alert.newer.content), LONGEST)
        if self.alerts and (len(self.alerts) == PART or self.size + size > LARGEST):
            self._set()
        self.summary.add(alert)
        self.alerts.append(_alert(alert, self.summary.number))
        self.size += size

    def finish(self) -> None:
        """Set what is left, and the summary."""
        front = _head(self.about) | _front(self.summary)
        told = whole(self.summary.number, self.summary.number)
        if self.joined is None:
            alone = {"layout": "whole", "told": told, "alerts": self.alerts, "closing": CLOSING}
            alone |= {"legend": LEGEND if self.alerts else ()}
            self.out.write(typeset(json.dumps(front | alone, ensure_ascii=False)))
            return
        joined = self._set(CLOSING)
        told = f"{told[:-1]}, on {counted(joined.count, 'page')} numbered from 1."
        alone = {"layout": "front", "told": told, "alerts": [], "closing": ""}
        joined.finish(typeset(json.dumps(front | alone, ensure_ascii=False)), "Summary")

    def _set(self, closing: str = "") -> Joined:
        """Set the alerts that wait, as the next pages."""
        self.joined = self.joined or Joined(self.out)
        last = self.summary.number
        held = f"alerts {last - len(self.alerts) + 1:,} to {last:,}"
        part = {
            "layout": "part",
            "first": self.joined.count + 1,
            "held": held,
            "legend": () if self.joined.count else LEGEND,
        }
        given = _head(self.about) | part | {"alerts": self.alerts, "closing": closing}
        self.joined.add(typeset(json.dumps(given, ensure_ascii=False)), held.capitalize())
        self.alerts, self.size = [], 0
        return self.joined


def write_pdf(alerts: Iterable[Alert], about: About, out: BinaryIO) -> None:
    """Summary, pictures and every alert with both statements."""
    feed(alerts, PdfSink(about, out))


def typeset(given: str) -> bytes:
    """The document, set in a process of its own: what the typesetter keeps for a next time is 100 MB every time."""
    try:
        run = subprocess.run(  # noqa: S603 - our own program; what tenants wrote goes in as data
            [sys.executable, str(TYPESETTER)], input=encoded(given), capture_output=True, timeout=PATIENCE, check=False
        )
    except subprocess.TimeoutExpired:
        raise PdfError(f"the PDF was not ready after {PATIENCE} seconds; take the HTML report and print it") from None
    if run.returncode or not run.stdout.startswith(b"%PDF-"):
        raise PdfError("the PDF could not be set in type; take the HTML report and print it")
    return run.stdout


def _head(about: About) -> dict[str, object]:
    """What every part of a document has, and the facts in front of it."""
    return {
        "title": "Drift report",
        "name": _short(about.title()).replace(BREAK, ""),
        "fonts": FAMILIES,
        "subject": _short(about.subject()),
        "version": f"data version {_short(about.found.data_version)}",
        # an archived document has to have a date; the data's, for the clock's would make every copy another
        "date": [about.as_of.year, about.as_of.month, about.as_of.day],
        "foot": _foot(about),
        "facts": _known(about.facts()),
        "checks": {"title": CHECKS, "known": [*map(_check, about.checks())]},
    }


def _foot(about: About) -> str:
    taken = "" if about.taken is None else f" · taken {_short(about.taken.in_words(), FOOT)}"
    return f"Rankscope · as of {about.told_as_of()}{taken}"


def _known(facts: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(label, _short(value, 1_000)) for label, value in facts]


def _check(fact: tuple[str, str]) -> tuple[str, object]:
    """A fact as it is set; of an address its parameters, each in parts, so that it is copied as it was."""
    label, value = fact
    if label != SAME:
        return label, _short(value, 1_000)
    before, space, address = value.rpartition(" ")
    parameters = re.findall("&?[^&]*", _short(address, 1_000).replace(BREAK, ""))
    return label, [before + space, *(_parts(each) for each in parameters if each)]


def _parts(text: str) -> list[str]:
    """A text that never ends in parts that fit on a line of the widest letters."""
    return [text[at : at + LINE] for at in range(0, len(text), LINE)]


def _front(summary: Summary) -> dict[str, object]:
    figures = findings(summary)
    return {"lead": lead(summary), "figures": figures, "pictures": [_picture(each) for each in pictures(summary)]}


def _picture(picture: Picture) -> dict[str, object]:
    rows = [
        {
            "label": bar.label,
            "value": bar.value,
            "shown": picture.shown(bar),
            "shade": bar.shade,
            "instead": bar.instead,
        }
        for bar in picture.bars
    ]
    return {**picture._asdict(), "bars": rows, "every": picture.every, "full": picture.full}


def _alert(alert: Alert, number: int) -> dict[str, object]:
    known = [*place(alert), *decision(alert)]
    return {
        "heading": f"{number:,}. {str(alert.kind).capitalize()}",
        "severity": f"severity {digits(alert.severity)}",
        "harm": f"harm {digits(alert.harm)}",
        "state": alert.triage.state,
        "shade": SHADES.get(alert.triage.state, "quiet"),
        "rule": _short(alert.rule),
        "parts": f"{parts(alert)} · shared words {hundredths(alert.overlap)}. {together(alert)}",
        "older": _side(alert, "older"),
        "newer": _side(alert, "newer"),
        "known": [(label, _short(value, NOTE if label == "note" else NAME)) for label, value in known],
        "breakable": len(alert.older.content) + len(alert.newer.content) > SHORT,
    }


def _side(alert: Alert, name: str) -> dict[str, object]:
    side: Side = getattr(alert, name)
    shown = excerpt(side.content, spans(alert, name), LONGEST)
    notes = [
        f"{counted(shown.before, 'character')} before this not shown." if shown.before else "",
        f"{counted(shown.after, 'character')} after this not shown." if shown.after else "",
        unseen(side.content),
    ]
    return {
        "heading": f"{name.capitalize()} statement",
        "written": when(side.created_at),
        "pieces": [(printed(piece.text), piece.evidence) for piece in shown.pieces],
        "notes": [note for note in notes if note],
        "standing": standing(side),
        "known": [(label, _short(value)) for label, value in origin(side)],
    }


def _short(text: str, limit: int = NAME) -> str:
    return on_a_line(text if len(text) <= limit else f"{text[:limit]}… ({len(text) - limit:,} more)")
