"""The figures and pictures of a report as numbers: counted while alerts pass by, so that none is held."""

from __future__ import annotations

import heapq
import math
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Literal, NamedTuple

from analysis.drift.alerts import DECIDED, OPEN
from analysis.drift.figures import AGE_NAMES, age_name
from reports.disputes import Disputes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from analysis.drift.alerts import Alert, State
    from reports.about import About

WORST = 8
BANDS = 10  # of severity, ten points each
SEVERE = 70
COLUMNS = 45  # what a page's width shows of a series
STEPS = (1, 7, 28, 91, 364)  # days that one column may stand for
UNDATED = "no date"
NONE = "not listed: none"
SUPERSEDED = "superseded"  # an update, where the other kinds are contradictions
STATES: tuple[State, ...] = ("new", "acknowledged", "investigating", "snoozed", "resolved", "false positive")


Shade = Literal["disputed", "severe", "settled"]


class Bar(NamedTuple):
    """One bar of a picture, and what its colour says."""

    label: str
    value: float
    shade: Shade = "disputed"
    instead: str = ""  # what is said where the value would be wrong


class Worst(NamedTuple):
    """One of the alerts that reached agents most, as the picture of them names it."""

    harm: float
    number: int
    fingerprint: str
    kind: str
    severity: float


@dataclass
class Summary:
    """Counts over every alert of a report; ``number`` is the place of the last one, from 1."""

    as_of: datetime
    asked: frozenset[State] | None = None  # the states that were chosen; None: all
    unlisted: Mapping[State, int] = field(default_factory=dict)  # what was not chosen, by state
    number: int = 0
    both_injected: int = 0
    unlogged: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    states: Counter[str] = field(default_factory=Counter)
    bands: Counter[int] = field(default_factory=Counter)
    days: Counter[int] = field(default_factory=Counter)
    ages: Counter[str] = field(default_factory=Counter)
    orgs: Counter[str] = field(default_factory=Counter)
    worst: list[tuple[float, int, Worst]] = field(default_factory=list)
    disputes: Disputes = field(default_factory=Disputes)

    @classmethod
    def of(cls, about: About) -> Summary:
        """No alert counted yet of what a report is about."""
        return cls(about.as_of, about.filter.states, dict(about.found.unlisted))

    def add(self, alert: Alert) -> None:
        """Count one more alert."""
        self.number += 1
        self.both_injected += (alert.both_injected or 0) > 0
        self.unlogged += alert.both_injected is None
        self.kinds[str(alert.kind)] += 1
        self.states[alert.triage.state] += 1
        self.orgs[alert.org_id] += 1
        self.disputes.add(alert.org_id, alert.older.id, alert.newer.id)
        severity = alert.severity if math.isfinite(alert.severity) else 0.0
        self.bands[min(max(int(severity * BANDS / 100), 0), BANDS - 1)] += 1
        if alert.newer.created_at is not None:
            self.days[_utc(alert.newer.created_at).toordinal()] += 1
        if alert.triage.state in OPEN:
            written = alert.newer.created_at
            self.ages[UNDATED if written is None else age_name(_utc_moment(written), self.as_of)] += 1
        if math.isfinite(alert.harm) and alert.harm > 0:
            found = Worst(alert.harm, self.number, alert.fingerprint, str(alert.kind), severity)
            heapq.heappush(self.worst, (alert.harm, -self.number, found))
            if len(self.worst) > WORST:
                heapq.heappop(self.worst)

    def lists(self, *states: State) -> bool:
        """Whether any of these states was asked for: of the others a report has none, however many there are."""
        return self.asked is None or any(state in self.asked for state in states)

    def besides(self, *states: State) -> int:
        """How many in these states were left out."""
        return sum(self.unlisted.get(state, 0) for state in states)

    @property
    def open(self) -> int:
        """How many still wait for a decision."""
        return sum(self.states[state] for state in OPEN)

    @property
    def superseded(self) -> int:
        """How many pairs have a side that says of the other that it no longer holds."""
        return self.kinds[SUPERSEDED]

    @property
    def contradicting(self) -> int:
        """How many pairs are contradictions by the rules."""
        return self.number - self.superseded

    def by_kind(self) -> list[Bar]:
        """Alerts of each kind, the most frequent first."""
        return [Bar(kind, count) for kind, count in sorted(self.kinds.items(), key=lambda each: (-each[1], each[0]))]

    def by_state(self) -> list[Bar]:
        """Alerts in each state of triage, in the order in which they are worked off."""
        return [self._in_state(state) for state in STATES]

    def _in_state(self, state: State) -> Bar:
        shade: Shade = "settled" if state in DECIDED else "disputed"
        if self.lists(state):
            return Bar(state, self.states[state], shade)
        return Bar(state, 0, shade, f"not listed: {self.besides(state):,}" if self.besides(state) else NONE)

    def by_severity(self) -> list[Bar]:
        """Alerts in each band of ten points of severity."""
        starts = [band * 100 // BANDS for band in range(BANDS)]
        return [
            Bar(f"{start}", self.bands[band], "severe" if start >= SEVERE else "disputed")
            for band, start in enumerate(starts)
        ]

    @property
    def severe(self) -> int:
        """How many are of a severity that should not wait."""
        return sum(count for band, count in self.bands.items() if band * 100 // BANDS >= SEVERE)

    def by_age(self) -> list[Bar]:
        """Open alerts by the age of their newer statement; no bar where none was asked for."""
        if not self.lists(*OPEN):
            return []
        names = [*AGE_NAMES, *[UNDATED] * (UNDATED in self.ages)]
        return [Bar(name, self.ages[name]) for name in names]

    def by_harm(self) -> list[Worst]:
        """The alerts that reached agents most, worst first."""
        return [found for _, _, found in sorted(self.worst, reverse=True)]

    def by_day(self) -> tuple[list[Bar], int]:
        """Newer statements by the day they were written, empty days too, and how many days a column stands for."""
        if not self.days:
            return [], 1
        last = max(self.days)
        span = last - min(self.days) + 1
        step = next((days for days in STEPS if span <= days * COLUMNS), STEPS[-1])
        count = min(math.ceil(span / step), COLUMNS)
        columns = [0] * count
        for day, alerts in self.days.items():
            # what lies before the first column counts there: a date far off must not empty the picture
            columns[max(count - 1 - (last - day) // step, 0)] += alerts
        starts = [last - (count - at) * step + 1 for at in range(count)]
        return [Bar(_day(start), alerts) for start, alerts in zip(starts, columns, strict=True)], step

    def to_json(self) -> dict[str, object]:
        """The counts that a manifest holds."""
        return {
            "alerts": self.number,
            "disputes": self.disputes.count,
            "open": self.open,
            "both_injected": None if self.unlogged else self.both_injected,
            "kinds": dict(sorted(self.kinds.items())),
            "states": {state: self.states[state] for state in STATES if self.states[state]},
            "organizations": dict(sorted(self.orgs.items())),
        }


def findings(summary: Summary) -> list[tuple[str, str, str]]:
    """At most five figures: label, value, and what it means."""
    total = summary.number
    return [
        ("Alerts", f"{total:,}", f"{summary.contradicting:,} may contradict, {summary.superseded:,} superseded"),
        _standing(summary, "Open", OPEN, "wait for a decision"),
        _standing(summary, "Decided", DECIDED, "resolved or no contradiction"),
        ("Severe", f"{summary.severe:,}", _share(summary.severe, total, f"of severity {SEVERE} or more")),
        ("Both sides given", *_together(summary)),
    ]


def _standing(summary: Summary, label: str, states: tuple[State, ...], words: str) -> tuple[str, str, str]:
    """How many stand so, or, where none of them was asked for, how many there are besides."""
    besides = summary.besides(*states)
    if not summary.lists(*states):
        return f"{label}, not listed", f"{besides:,}", f"{words}; left out by the chosen states"
    here = sum(summary.states[state] for state in states)
    return label, f"{here:,}", _share(here, summary.number, words) + f"; {besides:,} more not listed" * bool(besides)


def _together(summary: Summary) -> tuple[str, str]:
    if summary.unlogged:
        return "—", "this store does not log what agents were given"
    return f"{summary.both_injected:,}", _share(summary.both_injected, summary.number, "to one session")


def peak(bars: Iterable[Bar]) -> Bar | None:
    """The highest bar, the first of equals; none where all are empty."""
    highest = max(bars, key=lambda bar: bar.value, default=None)
    return highest if highest is not None and highest.value > 0 else None


def peaks(bars: Iterable[Bar]) -> list[Bar]:
    """The highest bar and those equal to it, in their order."""
    every = list(bars)
    highest = peak(every)
    return [] if highest is None else [bar for bar in every if bar.value == highest.value]


def _share(part: int, whole: int, words: str) -> str:
    return f"{100 * part / whole:.0f} % {words}" if whole else words


def _utc(moment: datetime) -> date:
    return _utc_moment(moment).date()


def _utc_moment(moment: datetime) -> datetime:
    """A moment in UTC; one without a zone is in it already, and one at the calendar's end stays where it is."""
    if moment.tzinfo is None:
        return moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        return moment.replace(tzinfo=UTC)


def _day(ordinal: int) -> str:
    return date.fromordinal(max(ordinal, 1)).isoformat()
