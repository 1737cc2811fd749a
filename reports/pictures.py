"""Charts as SVG drawn by hand: no script, no font, no colour of their own; the page's style gives them those."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from reports.summary import BANDS, peak
from reports.texts import counted, digits

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reports.summary import Bar, Summary

WIDTH, WIDE = 460, 960
ROW, LABEL, VALUE = 26, 118, 62
TALL = 150
BASE = 22  # below the columns, for their labels
SEVERE = 70
SETTLED = ("resolved", "false positive")


def charts(summary: Summary) -> str:
    """The pictures of a report; each title says the finding."""
    days, step = summary.by_day()
    drawn = [
        figure(kinds_title(summary), _rows(summary.by_kind(), lambda _: "bar")),
        figure(states_title(summary), _rows(summary.by_state(), lambda bar: _shade(bar.label))),
        figure(severity_title(summary), _columns(summary.by_severity(), WIDTH, _severe, "severity")),
        figure(age_title(summary), _rows(summary.by_age(), lambda _: "bar")),
        figure(days_title(summary), _columns(days, WIDE, lambda _: "bar", f"{counted(step, 'day')} a column"), "wide"),
    ]
    return f'<div class="charts">{"".join(drawn)}</div>'


def figure(title: str, drawing: str, shape: str = "") -> str:
    """A picture under its finding."""
    kind = f' class="{shape}"' if shape else ""
    return f"<figure{kind}><figcaption>{escape(title)}</figcaption>{drawing}</figure>"


def kinds_title(summary: Summary) -> str:
    """Which kind is the most frequent."""
    most = peak(summary.by_kind())
    return "No kind: no alert" if most is None else f"Most are {most.label}: {most.value:,.0f} of {summary.number:,}"


def states_title(summary: Summary) -> str:
    """How far triage has come."""
    return f"{summary.open:,} of {summary.number:,} wait for a decision"


def severity_title(summary: Summary) -> str:
    """How many are severe."""
    severe = sum(count for band, count in summary.bands.items() if band * 100 // BANDS >= SEVERE)
    return f"{severe:,} of {summary.number:,} are of severity {SEVERE} or more"


def age_title(summary: Summary) -> str:
    """How old what is open is."""
    most = peak(summary.by_age())
    return "Nothing is open" if most is None else f"Most open alerts: {most.label} since the newer statement"


def days_title(summary: Summary) -> str:
    """When the contradictions came about."""
    days, step = summary.by_day()
    most = peak(days)
    if most is None:
        return "No statement has a date"
    return f"Newer statements by date: most {'on' if step == 1 else 'from'} {most.label} ({most.value:,.0f})"


def harm_title(summary: Summary) -> str:
    """How far the worst reached."""
    worst = summary.by_harm()
    return f"Alert {worst[0].number:,} did most harm: {digits(worst[0].harm)}" if worst else "None reached an agent"


def _shade(state: str) -> str:
    return "bar settled" if state in SETTLED else "bar"


def _severe(bar: Bar) -> str:
    return "bar severe" if float(bar.label) >= SEVERE else "bar"


def _rows(bars: Sequence[Bar], shade: Callable[[Bar], str]) -> str:
    """Horizontal bars, label before and value after; the longest fills the width."""
    most = max((bar.value for bar in bars), default=0) or 1
    room = WIDTH - LABEL - VALUE
    drawn = []
    for at, bar in enumerate(bars):
        y = at * ROW
        length = room * bar.value / most
        drawn.append(
            f'<text x="{LABEL - 10}" y="{y + 17}" text-anchor="end">{escape(bar.label)}</text>'
            f'<rect class="track" x="{LABEL}" y="{y + 5}" width="{room}" height="{ROW - 10}" rx="2"/>'
            f'<rect class="{shade(bar)}" x="{LABEL}" y="{y + 5}" width="{length:.1f}" height="{ROW - 10}" rx="2"/>'
            f'<text class="value" x="{LABEL + room + 8}" y="{y + 17}">{bar.value:,.0f}</text>'
        )
    return _svg(WIDTH, max(len(bars) * ROW, ROW), drawn)


def _columns(bars: Sequence[Bar], width: int, shade: Callable[[Bar], str], unit: str) -> str:
    """Columns over a base line; first, middle and last are labelled where not all can be."""
    most = max((bar.value for bar in bars), default=0) or 1
    step = width / max(len(bars), 1)
    every = 1 if len(bars) <= BANDS else max(len(bars) // 6, 1)
    drawn = [f'<line class="axis" x1="0" x2="{width}" y1="{TALL}" y2="{TALL}"/>']
    for at, bar in enumerate(bars):
        tall = (TALL - 20) * bar.value / most
        middle = (at + 0.5) * step
        drawn.append(
            f'<rect class="{shade(bar)}" x="{at * step + step * 0.12:.1f}" y="{TALL - tall:.1f}" '
            f'width="{step * 0.76:.1f}" height="{tall:.1f}" rx="1.5"/>'
        )
        if bar.value and (len(bars) <= BANDS or bar.value == most):
            drawn.append(
                f'<text class="value" x="{middle:.1f}" y="{TALL - tall - 5:.1f}" text-anchor="middle">'
                f"{bar.value:,.0f}</text>"
            )
        if at % every == 0 and (len(bars) <= BANDS or middle < width - 60):
            drawn.append(
                f'<text x="{middle:.1f}" y="{TALL + 16}" text-anchor="middle">{escape(bar.label)}</text>'
                if len(bars) <= BANDS
                else f'<text x="{at * step:.1f}" y="{TALL + 16}">{escape(bar.label)}</text>'
            )
    drawn.append(f'<text x="{width}" y="{TALL + BASE + 12}" text-anchor="end">{escape(unit)}</text>')
    return _svg(width, TALL + BASE + 16, drawn)


def _svg(width: int, height: int, drawn: Sequence[str]) -> str:
    return f'<svg viewBox="0 0 {width} {height}" role="img" aria-hidden="true">{"".join(drawn)}</svg>'
