"""What the pictures of a report show, whoever draws them: a title that says the finding, and bars."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from reports.summary import BANDS, SEVERE, Bar, peak
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
        """The value beside a bar; in a long series only the highest has one."""
        if self.upright and (not bar.value or (self.every > 1 and bar != peak(self.bars))):
            return ""
        return digits(bar.value)


def pictures(summary: Summary) -> list[Picture]:
    """Kinds, triage, severity, age, harm, and days."""
    days, step = summary.by_day()
    unit = "a column is a day" if step == 1 else f"a column is {step:,} days"
    return [
        Picture(_kinds(summary), summary.by_kind()),
        Picture(f"{summary.open:,} of {summary.number:,} wait for a decision", summary.by_state()),
        Picture(_severity(summary), summary.by_severity(), upright=True, unit="severity, from"),
        Picture(_ages(summary), summary.by_age()),
        Picture(_days(summary), days, upright=True, wide=True, unit=unit),
        Picture(_harm(summary), _harmful(summary), wide=True, most=MOST_HARM),
    ]


def _kinds(summary: Summary) -> str:
    most = peak(summary.by_kind())
    return "No alert of any kind" if most is None else f"Most are {most.label}: {most.value:,.0f} of {summary.number:,}"


def _severity(summary: Summary) -> str:
    return f"{summary.severe:,} of {summary.number:,} are of severity {SEVERE} or more"


def _ages(summary: Summary) -> str:
    most = peak(summary.by_age())
    return "Nothing is open" if most is None else f"Age of what is open: most {most.label}"


def _days(summary: Summary) -> str:
    days, step = summary.by_day()
    most = peak(days)
    if most is None:
        return "No statement has a date"
    when = f"on {most.label}" if step == 1 else f"in the {step:,} days from {most.label}"
    return f"Most newer statements were written {when}: {most.value:,.0f}"


def _harmful(summary: Summary) -> list[Bar]:
    return [Bar(f"{found.number:,}. {found.kind}", found.harm) for found in summary.by_harm()]


def _harm(summary: Summary) -> str:
    worst = summary.by_harm()
    if not worst:
        return "None has a harm above 0"
    return f"Alert {worst[0].number:,} ranks highest by harm: {digits(worst[0].harm)} of {MOST_HARM}"
