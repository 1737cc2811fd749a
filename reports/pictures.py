"""What the pictures of a report show, whoever draws them: a title that says the finding, and bars."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from analysis.drift.alerts import OPEN
from reports.summary import BANDS, SEVERE, Bar, peaks
from reports.texts import digits

if TYPE_CHECKING:
    from reports.summary import Summary

LABELS = 6  # of a long series
MOST_HARM = 100


class Picture(NamedTuple):
    """Bars under their finding; ``upright`` ones are a series, of which every so many-th bar is labelled.

    A scale ends at ``most`` or, without one, at the highest bar.
    """

    title: str
    bars: list[Bar]
    upright: bool = False
    wide: bool = False
    unit: str = ""
    most: float | None = None

    @property
    def every(self) -> int:
        """How many bars share a label."""
        return 1 if len(self.bars) <= BANDS else -(-len(self.bars) // LABELS)

    @property
    def full(self) -> float:
        """The value that fills the whole length."""
        return self.most or max((bar.value for bar in self.bars), default=0) or 1

    def shown(self, bar: Bar) -> str:
        """The value beside a bar; in a long series only the highest has one, and nothing where words stand in it."""
        short = self.every > 1 and bar not in peaks(self.bars)
        if bar.instead or (self.upright and (not bar.value or short)):
            return ""
        return digits(bar.value)


def pictures(summary: Summary) -> list[Picture]:
    """Kinds, triage, severity, age, harm, and days."""
    days, step = summary.by_day()
    unit = "a column is a day" if step == 1 else f"a column is {step:,} days"
    return [
        Picture(_kinds(summary), summary.by_kind()),
        Picture(_waiting(summary), summary.by_state()),
        Picture(_severity(summary), summary.by_severity(), upright=True, unit="severity, from"),
        Picture(_ages(summary), summary.by_age()),
        Picture(_days(summary), days, upright=True, wide=True, unit=unit),
        Picture(_harm(summary), _harmful(summary), wide=True, most=MOST_HARM),
    ]


def _kinds(summary: Summary) -> str:
    most = peaks(summary.by_kind())
    if not most:
        return "No alert of any kind"
    each = "" if len(most) == 1 else " each"
    return f"Most are {_named(most)}: {most[0].value:,.0f}{each} of {summary.number:,}"


def _named(bars: list[Bar]) -> str:
    return " and ".join(bar.label for bar in bars)


def _waiting(summary: Summary) -> str:
    if not summary.lists(*OPEN):
        return f"What waits for a decision is not listed: {summary.besides(*OPEN) or 'none'}"
    return f"{summary.open:,} of {summary.number:,} wait for a decision"


def _severity(summary: Summary) -> str:
    return f"{summary.severe:,} of {summary.number:,} are of severity {SEVERE} or more"


def _ages(summary: Summary) -> str:
    most = peaks(summary.by_age())
    if not summary.lists(*OPEN):
        return "What is open is not listed"
    return f"Age of what is open: most {_named(most)}" if most else "Nothing is open"


def _days(summary: Summary) -> str:
    days, step = summary.by_day()
    most = peaks(days)
    if not most:
        return "No statement has a date"
    span = "on {} other day" if step == 1 else "in {} other column"
    many = f" and {span.format(f'{len(most) - 1:,}')}s"
    others = {1: "", 2: f" and {span.format('one')}"}.get(len(most), many)
    when = f"on {most[0].label}" if step == 1 else f"in the {step:,} days from {most[0].label}"
    each = "" if len(most) == 1 else " each"
    return f"Most newer statements were written {when}{others}: {most[0].value:,.0f}{each}"


def _harmful(summary: Summary) -> list[Bar]:
    return [Bar(f"{found.number:,}. {found.kind}", found.harm) for found in summary.by_harm()]


def _harm(summary: Summary) -> str:
    worst = summary.by_harm()
    if not worst:
        return "None has a harm above 0"
    return f"Alert {worst[0].number:,} ranks highest by harm: {digits(worst[0].harm)} of {MOST_HARM}"
