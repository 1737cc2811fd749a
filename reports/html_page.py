"""A report as one HTML file: no script, no request, light and dark, on screen and on paper."""

from __future__ import annotations

import base64
import hashlib
import tempfile
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from analysis.drift.alerts import DECIDED
from reports.fields import encoded
from reports.lead import lead
from reports.legend import LEGEND
from reports.pictures import pictures
from reports.summary import Summary, findings
from reports.svg import drawn
from reports.tables import feed
from reports.texts import (
    CHECKS,
    CLOSING,
    counted,
    decision,
    digits,
    excerpt,
    on_a_line,
    origin,
    parts,
    place,
    spans,
    standing,
    together,
    unseen,
    visible,
    when,
    whole,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from analysis.drift.alerts import Alert, Side
    from reports.about import About
    from reports.tables import Out

STYLE = (Path(__file__).parent / "page.css").read_text(encoding="utf-8")
DIGEST = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
# Nothing may be loaded, run, sent or framed; the one style is known by its hash.
POLICY = f"default-src 'none'; style-src 'sha256-{DIGEST}'; base-uri 'none'; form-action 'none'"
HELD = 1 << 20
WHOLE = 1_000  # alerts with all that is known of them; after these, what they say
LARGEST = 4_400_000  # bytes of alerts: with style, summary and list the file stays below 5 MB
LONGEST = 3_000  # characters of one statement
SHORT = 1_200  # characters of both statements that still fit on a page together
NAME, NOTE = 300, 2_000  # characters of an id or an agent, and of what someone wrote
LISTED = 200


class HtmlSink:
    """The worst alerts in full, as many more as there is room for, and all in the figures; they come worst first."""

    def __init__(self, about: About, out: Out) -> None:
        self.about = about
        self.out = out
        self.summary = Summary.of(about)
        self.listed: list[str] = []
        self.shown = 0
        self.size = 0
        self.body = tempfile.SpooledTemporaryFile(HELD)  # noqa: SIM115 - closed in finish, or by whoever feeds it

    def add(self, alert: Alert) -> None:
        """Count one alert, and draw it while there is room."""
        self.summary.add(alert)
        # once one did not fit none is shown any more: the shown ones are the worst, without a gap
        if self.shown < self.summary.number - 1:
            return
        drawn_as = _alert if self.shown < WHOLE else _compact
        article = encoded(drawn_as(alert, self.summary.number))
        if self.size + len(article) > LARGEST:
            return
        self.body.write(article)
        self.shown += 1
        self.size += len(article)
        if self.shown <= LISTED:
            self.listed.append(_line(alert, self.shown))

    def finish(self) -> None:
        """Write summary and pictures, then the alerts."""
        with self.body:
            self.out.write(encoded(_head(self.about, self.summary, self.listed, self.shown)))
            self.body.seek(0)
            for chunk in iter(lambda: self.body.read(HELD), b""):
                self.out.write(chunk)
            self.out.write(encoded(_foot(self.about)))


TERMS = f"<dl>{''.join(f'<dt>{term}</dt><dd>{escape(meaning)}</dd>' for term, meaning in LEGEND)}</dl>"


def write_html(alerts: Iterable[Alert], about: About, out: BinaryIO) -> None:
    """Summary, pictures and the worst alerts with both statements."""
    sink = HtmlSink(about, out)
    with sink.body:  # also where an alert cannot be read
        feed(alerts, sink)


def tenant(text: str, limit: int = NAME) -> str:
    """A short tenant text, inert, in a direction of its own."""
    line = on_a_line(text)
    cut = line if len(line) <= limit else f"{line[:limit]}… ({len(line) - limit:,} more)"
    return f"<bdi>{escape(cut)}</bdi>"


def _head(about: About, summary: Summary, listed: Sequence[str], shown: int) -> str:
    figures = "".join(
        f'<div class="figure"><div class="label">{escape(label)}</div><div class="number">{escape(value)}</div>'
        f'<div class="words">{escape(words)}</div></div>'
        for label, value, words in findings(summary)
    )
    note = "" if 0 < shown == summary.number else ' class="note"'
    cut = f'<p class="note">{whole(summary.number, shown)}</p>' if shown < summary.number else ""
    charts = "".join(map(drawn, pictures(summary)))
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(on_a_line(about.title()))}</title>
<style>{STYLE}</style>
</head>
<body>
<p class="eyebrow">Rankscope</p>
<h1>Drift report</h1>
<p class="subject">{tenant(about.subject())}</p>
<p class="lead">{escape(lead(summary))}</p>
{_known(about.facts())}
{cut}
<div class="figures">{figures}</div>
<h2>Summary</h2>
<div class="charts">{charts}</div>
<h2>Alerts</h2>
<p{note}>{whole(summary.number, shown)}</p>
{TERMS if shown else ""}
{_list(listed, shown)}
"""


def _foot(about: About) -> str:
    checks = f"<h2>{CHECKS}</h2>\n{_known(about.checks())}"
    return f"{checks}\n<footer>{escape(CLOSING)}</footer>\n</body>\n</html>\n"


def _known(facts: Sequence[tuple[str, str]]) -> str:
    return f"<dl>{''.join(f'<dt>{escape(label)}</dt><dd>{tenant(value, 2_000)}</dd>' for label, value in facts)}</dl>"


def _link(number: int, shown: int) -> str:
    return f'<a href="#alert-{number}">{number:,}</a>' if number <= shown else f"{number:,}"


def _list(listed: Sequence[str], shown: int) -> str:
    if not listed:
        return ""
    right = "".join(f'<th class="right">{name}</th>' for name in ("Harm", "Severity"))
    heads = f'<th class="right">No.</th><th>Kind</th><th>Rule</th>{right}<th>State</th>'
    more = f"<p>The list names the first {len(listed):,} of {shown:,}.</p>" if len(listed) < shown else ""
    table = f"<table><tr>{heads}<th>Newer statement</th></tr>{''.join(listed)}</table>"
    return f'<div class="scroll">{table}</div>{more}<h2>Evidence</h2>'


def _line(alert: Alert, number: int) -> str:
    return (
        f'<tr><td class="right">{_link(number, number)}</td><td class="nowrap">{escape(str(alert.kind))}</td>'
        f'<td>{tenant(alert.rule, 80)}</td><td class="right">{digits(alert.harm)}</td>'
        f'<td class="right">{digits(alert.severity)}</td>'
        f'<td class="nowrap">{escape(alert.triage.state)}</td>'
        f'<td class="nowrap">{when(alert.newer.created_at)}</td></tr>'
    )


def _alert(alert: Alert, number: int) -> str:
    short = ' class="short"' if len(alert.older.content) + len(alert.newer.content) <= SHORT else ""
    state = {"new": "open"}.get(alert.triage.state, "settled" if alert.triage.state in DECIDED else "seen")
    known = [*place(alert), *decision(alert)]
    told = "".join(
        f"<div><dt>{label}</dt><dd>{tenant(value, NOTE if label == 'note' else NAME)}</dd></div>"
        for label, value in known
    )
    return f"""<article id="alert-{number}"{short}>
<header><h3>{number:,}. {escape(str(alert.kind)).capitalize()}</h3>
<span class="measure">severity <b>{digits(alert.severity)}</b></span>
<span class="measure">harm <b>{digits(alert.harm)}</b></span>
<span class="measure">shared words <b>{digits(alert.overlap)}</b></span>
<span class="state {state}">{escape(alert.triage.state)}</span></header>
<p class="why">{tenant(alert.rule)}</p>
<p class="why fine">{escape(parts(alert))}. {escape(together(alert))}</p>
<div class="sides">{_side(alert, "older")}{_side(alert, "newer")}</div>
<div class="foot triage"><dl>{told}</dl></div>
</article>
"""


def _compact(alert: Alert, number: int) -> str:
    """Both statements with their evidence, and how to find the rest of it in the other files."""
    sides = "".join(f'<section class="side">{_statement(alert, name)}</section>' for name in ("older", "newer"))
    return f"""<article id="alert-{number}">
<header><h3>{number:,}. {escape(str(alert.kind)).capitalize()}</h3>
<span class="measure">severity <b>{digits(alert.severity)}</b> · harm <b>{digits(alert.harm)}</b></span>
<span class="measure">{escape(alert.triage.state)} · {tenant(alert.fingerprint)}</span></header>
<div class="sides">{sides}</div>
</article>
"""


def _statement(alert: Alert, name: str) -> str:
    side: Side = getattr(alert, name)
    shown = excerpt(side.content, spans(alert, name), LONGEST)
    text = "".join(
        f"<mark>{escape(visible(piece.text))}</mark>" if piece.evidence else escape(visible(piece.text))
        for piece in shown.pieces
    )
    notes = [
        f"{counted(shown.before, 'character')} before this not shown." if shown.before else "",
        f"{counted(shown.after, 'character')} after this not shown." if shown.after else "",
        unseen(side.content),
    ]
    told = "".join(f'<p class="unseen">{escape(note)}</p>' for note in notes if note)
    return f'<blockquote dir="auto">{text}</blockquote>{told}'


def _side(alert: Alert, name: str) -> str:
    side: Side = getattr(alert, name)
    known = "".join(f"<dt>{label}</dt><dd>{tenant(value)}</dd>" for label, value in origin(side))
    return (
        f'<section class="side"><h4>{name.capitalize()} statement <span>{when(side.created_at)}</span></h4>'
        f'{_statement(alert, name)}<p class="standing">{escape(standing(side))}</p>'
        f"<dl>{known}</dl></section>"
    )
