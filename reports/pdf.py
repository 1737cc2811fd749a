"""A report as PDF: the same content as the HTML page, set in type, real text on every page."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from analysis.alerts import OPEN
from reports.fields import encoded
from reports.glyphs import FAMILIES, on_a_line, printed
from reports.pictures import pictures
from reports.summary import Summary, findings
from reports.tables import feed
from reports.texts import (
    CLOSING,
    counted,
    decision,
    digits,
    excerpt,
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
    from collections.abc import Iterable, Sequence

    from analysis.alerts import Alert, Side
    from reports.about import About
    from reports.pictures import Picture
    from reports.tables import Out

TYPESETTER = Path(__file__).parent / "typesetter.py"
PATIENCE = 120  # seconds; 300 alerts take about two
SHOWN = 300  # alerts
LARGEST = 1_000_000  # characters of all statements: what is set in type is held in memory
LONGEST = 2_000  # characters of one statement
SHORT = 900  # characters of both statements that still fit on a page together
NAME, NOTE = 200, 1_000  # characters of an id or an agent, and of what someone wrote


class PdfError(Exception):
    """A PDF that could not be made, in one sentence that says what to take instead."""


class PdfSink:
    """The worst alerts in full and all of them in the figures; they come worst first."""

    def __init__(self, about: About, out: Out) -> None:
        self.about = about
        self.out = out
        self.summary = Summary(about.as_of)
        self.alerts: list[dict[str, object]] = []
        self.size = 0

    def add(self, alert: Alert) -> None:
        """Count one alert, and keep it while there is room."""
        self.summary.add(alert)
        if len(self.alerts) < self.summary.number - 1:
            return
        self.size += min(len(alert.older.content), LONGEST) + min(len(alert.newer.content), LONGEST)
        if len(self.alerts) < SHOWN and self.size <= LARGEST:
            self.alerts.append(_alert(alert, self.summary.number))

    def finish(self) -> None:
        """Set it in type."""
        given = json.dumps(_document(self.about, self.summary, self.alerts), ensure_ascii=False)
        self.out.write(typeset(given))


def write_pdf(alerts: Iterable[Alert], about: About, out: BinaryIO) -> None:
    """Summary, pictures and the worst alerts with both statements."""
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


def _document(about: About, summary: Summary, alerts: Sequence[dict[str, object]]) -> dict[str, object]:
    return {
        "title": "Drift report",
        "fonts": FAMILIES,
        "subject": _short(about.subject()),
        "version": f"data version {_short(about.found.data_version)}",
        # an archived document has to have a date; the data's, for the clock's would make every copy another
        "date": [about.as_of.year, about.as_of.month, about.as_of.day],
        "foot": f"Rankscope · as of {about.as_of:%Y-%m-%d} (UTC)",
        "facts": [(label, _short(value, 1_000)) for label, value in about.facts()],
        "cut": whole(summary.number, len(alerts)) if len(alerts) < summary.number else "",
        "figures": findings(summary),
        "pictures": [_picture(each) for each in pictures(summary)],
        "told": whole(summary.number, len(alerts)),
        "alerts": list(alerts),
        "closing": CLOSING,
    }


def _picture(picture: Picture) -> dict[str, object]:
    rows = [
        {"label": bar.label, "value": bar.value, "shown": picture.shown(bar), "shade": bar.shade}
        for bar in picture.bars
    ]
    return {**picture._asdict(), "bars": rows, "every": picture.every}


def _alert(alert: Alert, number: int) -> dict[str, object]:
    known = [*place(alert), *decision(alert)]
    return {
        "heading": f"{number:,}. {str(alert.kind).capitalize()}",
        "severity": f"severity {digits(alert.severity)}",
        "harm": f"harm {digits(alert.harm)}",
        "state": alert.triage.state,
        "shade": "severe" if alert.triage.state in OPEN else "settled",
        "rule": _short(alert.rule),
        "parts": f"{parts(alert)} · shared words {digits(alert.overlap)}. {together(alert)}",
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
