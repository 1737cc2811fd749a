"""A report as Markdown that any renderer shows literally.

Tenant text stands only where no dialect looks for markup: whole statements as indented code, which even the oldest
renderers know, and short values as code spans longer than any run of backticks inside. Escaping would not do: bare
addresses become links after the escapes are gone.
"""

from __future__ import annotations

import re
import tempfile
from typing import TYPE_CHECKING, BinaryIO

from reports.fields import encoded
from reports.lead import lead
from reports.legend import LEGEND
from reports.summary import Summary, findings
from reports.tables import feed
from reports.texts import (
    CHECKS,
    MISSING,
    decision,
    digits,
    on_a_line,
    origin,
    parts,
    place,
    standing,
    together,
    unseen,
    visible,
    when,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from analysis.drift.alerts import Alert, Side
    from reports.about import About
    from reports.summary import Bar
    from reports.tables import Out

HELD = 1 << 20  # bytes of the alerts that stay in memory until their summary is known
TERMS = "\n".join(f"- {term}: {meaning}" for term, meaning in LEGEND)
LINE_ENDS = re.compile("\r\n|\n|\r|\u2028|\u2029")


class MarkdownSink:
    """Every alert, below the summary that is only known after the last of them."""

    def __init__(self, about: About, out: Out) -> None:
        self.about = about
        self.out = out
        self.summary = Summary.of(about)
        self.body = tempfile.SpooledTemporaryFile(HELD)  # noqa: SIM115 - closed in finish, or by whoever feeds it

    def add(self, alert: Alert) -> None:
        """Write one alert aside."""
        self.summary.add(alert)
        self.body.write(encoded(_alert(alert, self.summary.number)))

    def finish(self) -> None:
        """Write the summary, then the alerts."""
        with self.body:
            self.out.write(encoded(_head(self.about, self.summary)))
            self.body.seek(0)
            for chunk in iter(lambda: self.body.read(HELD), b""):
                self.out.write(chunk)
            self.out.write(encoded(f"## {CHECKS}\n\n{_known(self.about.checks())}\n"))


def write_markdown(alerts: Iterable[Alert], about: About, out: BinaryIO) -> None:
    """Summary and every alert as Markdown."""
    sink = MarkdownSink(about, out)
    with sink.body:  # also where an alert cannot be read
        feed(alerts, sink)


def code(text: str) -> str:
    """A short text as a code span that its own backticks cannot end."""
    line = on_a_line(text)
    longest = max(map(len, re.findall("`+", line)), default=0)
    fence = "`" * (longest + 1)
    return f"{fence} {line} {fence}" if line.strip() else MISSING


def block(text: str) -> str:
    """A text as indented code, line by line."""
    lines = LINE_ENDS.split(text)
    return "\n".join(f"    {visible(line)}" for line in lines) + "\n"


def _head(about: About, summary: Summary) -> str:
    found = findings(summary)
    figures = [f"- {label}: {value} ({words})" for label, value, words in found]
    days, step = summary.by_day()
    pictures = [
        _table("Kind", summary.by_kind()),
        _table("State", summary.by_state()),
        _table("Severity from", summary.by_severity()),
        _table("Age of open alerts", summary.by_age()),
        _table("Day" if step == 1 else f"{step} days from", [bar for bar in days if bar.value]),
    ]
    parts_ = [
        "# Drift report",
        lead(summary),
        _known(about.facts()),
        "## Summary",
        "\n".join(figures),
        *filter(None, pictures),
    ]
    return "\n\n".join([*parts_, "## Alerts", f"{TERMS}\n\n" if summary.number else "No alert passed the choice.\n\n"])


def _known(facts: Sequence[tuple[str, str]]) -> str:
    return "\n".join(f"- {label}: {code(value)}" for label, value in facts)


def _table(heading: str, bars: Sequence[Bar]) -> str:
    rows = "\n".join(f"| {bar.label} | {bar.instead or format(bar.value, ',.0f')} |" for bar in bars)
    return f"| {heading} | Alerts |\n|---|---:|\n{rows}" if rows else ""


def _alert(alert: Alert, number: int) -> str:
    known = [
        *place(alert),
        ("rule", alert.rule),
        ("severity", parts(alert)),
        ("harm", f"{digits(alert.harm)}: {together(alert)}"),
        ("shared words", digits(alert.overlap)),
        ("state", alert.triage.state),
        *decision(alert),
    ]
    told = "\n".join(f"- {label}: {code(value)}" for label, value in known)
    sides = "\n".join(_side(alert, name) for name in ("older", "newer"))
    return f"### {number:,}. {alert.kind}, severity {digits(alert.severity)}\n\n{told}\n\n{sides}\n"


def _side(alert: Alert, name: str) -> str:
    side: Side = getattr(alert, name)
    told = "\n".join(
        f"- {label}: {code(value)}" for label, value in (*origin(side), ("written", when(side.created_at)))
    )
    rests = ", ".join(code(found.text) for found in alert.evidence if found.side == name)
    evidence = f"Rests on {rests}\n\n" if rests else ""
    hidden = f"{unseen(side.content)}\n\n" if unseen(side.content) else ""
    # a paragraph between list and code, or the code would belong to the list
    heading = f"**{name.capitalize()} statement**\n\n{told}\n\n{standing(side).capitalize()}"
    return f"{heading}\n\n{block(side.content)}\n{evidence}{hidden}"
