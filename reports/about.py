"""What a report is about: what was asked, of which data, by which programs; by whom and when, where that is given."""

from __future__ import annotations

import platform
import zlib
from dataclasses import dataclass
from datetime import UTC, time, timedelta
from importlib.metadata import version
from typing import TYPE_CHECKING, NamedTuple, Protocol, get_args
from urllib.parse import urlencode

from analysis.drift.alerts import DECIDED, OPEN, State
from analysis.drift.search import STEPS
from reports.legend import MEASURES
from reports.texts import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime

    from analysis.drift.alerts import AlertFilter, Found, Opposed

FORMAT_VERSION = 2  # 1: bundles had no README.txt
# What decides the bytes of a file: another version of one of these is another input.
PACKAGES = ("SQLAlchemy", "psycopg", "numpy", "typst")
SAME = "Same alerts"
TAKEN = "who took this file, and when, stands under Files taken on Drift Alerts, and in the store in rankscope.exports"


class Statement(Protocol):
    """One SQL statement as the database was given it, its parameters apart, and how often it was asked."""

    text: str
    parameters: dict[str, object]
    times: int


class Place(Protocol):
    """What a report needs of a scope."""

    @property
    def org(self) -> str | None: ...  # noqa: D102 - as the scope has them
    @property
    def org_name(self) -> str | None: ...  # noqa: D102
    @property
    def project(self) -> str | None: ...  # noqa: D102
    @property
    def since(self) -> datetime: ...  # noqa: D102
    @property
    def until(self) -> datetime: ...  # noqa: D102


class Taken(NamedTuple):
    """Who asked for a file, as the audit names them, and when: for a file that is read far from the audit."""

    by: str
    at: datetime

    def in_words(self) -> str:
        """Moment and name; the name is hostile text."""
        return f"{self.at.astimezone(UTC):%Y-%m-%d %H:%M} UTC by {self.by}"


@dataclass(frozen=True)
class About:
    """The question behind a report and the state of the data that answered it; equal ones give equal files.

    Severity ages by whole days, so data are as of a day; the moment of an export is the audit's, and an input where a
    file names it (``taken``). ``statements`` is called after the last alert was read: only then is all the SQL known.
    """

    filter: AlertFilter
    found: Found
    org_id: str | None = None
    org_name: str | None = None
    project_id: str | None = None
    window: tuple[datetime, datetime] | None = None
    permalink: str = ""
    statements: Callable[[], Iterable[Statement]] = tuple
    rankscope: str = ""
    taken: Taken | None = None

    @classmethod
    def of(
        cls,
        place: Place,
        chosen: AlertFilter,
        found: Found,
        statements: Callable[[], Iterable[Statement]] = tuple,
        rankscope: str = "",
        *,
        taken: Taken | None = None,
    ) -> About:
        """What a search in a scope is about, asked of Rankscope of a version."""
        return cls(
            chosen,
            found,
            place.org,
            place.org_name,
            place.project,
            (place.since, place.until),
            permalink(place, chosen),
            statements,
            rankscope,
            taken,
        )

    @property
    def as_of(self) -> datetime:
        """The day of the data, at its start, in UTC."""
        return self.found.as_of.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)

    def parameters(self) -> dict[str, object]:
        """Everything that was chosen, as JSON has it; what is null admits all."""
        chosen = self.filter
        return {
            "organization": self.org_id,
            "project": self.project_id,
            "threshold": chosen.threshold,
            "least_severity": chosen.least_severity,
            "kinds": None if chosen.kinds is None else sorted(str(kind) for kind in chosen.kinds),
            "agents": None if chosen.agents is None else sorted(chosen.agents),
            "states": None if chosen.states is None else sorted(chosen.states),
            "since": None if chosen.since is None else chosen.since.isoformat(),
            "injections_since": None if self.window is None else self.window[0].isoformat(),
            "injections_until": None if self.window is None else self.window[1].isoformat(),
        }

    def to_json(self) -> dict[str, object]:
        """The head of every machine-readable file."""
        return {
            "report": "drift alerts",
            "format_version": FORMAT_VERSION,
            "parameters": self.parameters(),
            "data_version": self.found.data_version,
            "as_of": self.as_of.date().isoformat(),
            "observations": {
                "active": self.found.active,
                "considered": self.found.considered,
                "set_apart": self.found.set_apart,
            },
            "detected": self.found.detected,
            "opposition_pairs": None if self.found.opposed is None else self.found.opposed._asdict(),
            "permalink": self.permalink or None,
        }

    def versions(self) -> dict[str, str]:
        """The programs that made a file, and the rules that found what stands in it."""
        return {
            "rankscope": self.rankscope,
            "report_format": str(FORMAT_VERSION),
            "detector": self.found.procedure,
            "python": platform.python_version(),
            "zlib": zlib.ZLIB_RUNTIME_VERSION,
            **{package: version(package) for package in PACKAGES},
        }

    def subject(self) -> str:
        """Whose alerts these are, as tenants call themselves: hostile text, to be escaped by whoever shows it."""
        who = "all organizations in reach" if self.org_id is None else self.org_name or self.org_id
        return who if self.project_id is None else f"{who}, project {self.project_id}"

    def title(self) -> str:
        """What a report is called where it is known by its name alone: also hostile text."""
        return f"Drift report: {self.subject()}, {self.as_of:%Y-%m-%d}"

    def facts(self) -> list[tuple[str, str]]:
        """What a reader has to know before the first figure, label and value; values are hostile text."""
        asked, found = self.filter, self.found
        chosen = [f"threshold {asked.threshold:g}", f"severity from {asked.least_severity:g}"]
        lists = (("kinds", asked.kinds), ("agents", asked.agents), ("states", asked.states))
        chosen += [f"{name} {', '.join(sorted(map(str, some)))}" for name, some in lists if some is not None]
        chosen += [] if asked.since is None else [f"since {asked.since:%Y-%m-%d %H:%M} UTC"]
        read = f"{found.considered:,} of {found.active:,} active observations"
        read += f", {found.set_apart:,} of them set apart for a weight that is no number" if found.set_apart else ""
        pairs = counted(found.detected, "pair")
        decided = sum(count for state, count in found.unlisted if state in DECIDED)
        unlisted = f", {decided:,} of them decided and left out by the chosen states" if decided else ""
        return [
            ("Scope", self.subject()),
            ("Chosen", " · ".join(chosen)),
            ("Read", f"{read}; {pairs} found at this threshold, before the other filters{unlisted}"),
            ("Measures", MEASURES),
            *([] if self.window is None else [("Injections", _days(*self.window))]),
            ("As of", self.told_as_of()),
            *([] if self.taken is None else [("Taken", self.taken.in_words())]),
        ]

    def told_as_of(self) -> str:
        """The day of the data; to the minute in a file that is of one moment anyway."""
        if self.taken is None:
            return f"{self.as_of:%Y-%m-%d} (UTC)"
        return f"{self.found.as_of.astimezone(UTC):%Y-%m-%d %H:%M} UTC"

    def checks(self) -> list[tuple[str, str]]:
        """By what someone can tell whether a report is right, after the last alert; values are hostile text."""
        opposed = self.found.opposed
        return [
            ("Data version", self.found.data_version),
            *([] if opposed is None else [("Opposition pairs", _pairs(opposed))]),
            *([(SAME, f"below the address of your Rankscope: {self.permalink}")] if self.permalink else []),
            ("Taken", TAKEN),
        ]


def permalink(place: Place, chosen: AlertFilter) -> str:
    """The address that shows the same alerts in the dashboard, below wherever it is served.

    None, as an empty text, for what only a command can ask: the page has a slider's steps and whole days.
    """
    whole = chosen.least_severity == int(chosen.least_severity)
    first = chosen.since if chosen.since is None else chosen.since.astimezone(UTC)
    if chosen.threshold not in STEPS or not whole or (first is not None and first.time() != time.min):
        return ""
    last = place.until - timedelta(days=1)
    states = (
        get_args(State) if chosen.states is None else [state for state in get_args(State) if state in chosen.states]
    )
    told = {
        "org": place.org,
        "project": place.project,
        "window": "custom",
        "from": f"{place.since:%Y-%m-%d}",
        "to": f"{last:%Y-%m-%d}",
        "t": f"{chosen.threshold:g}",
        "sev": f"{chosen.least_severity:g}" if chosen.least_severity else None,
        "kind": None if chosen.kinds is None else ",".join(sorted(str(kind) for kind in chosen.kinds)),
        "agent": sorted(chosen.agents or ()) or None,  # each by itself: a name may hold any character
        # the page says nothing where only what is open is shown
        "state": None if set(states) == set(OPEN) else ",".join(states).replace(" ", "_"),
        "since": None if first is None else f"{first:%Y-%m-%d}",
    }
    known = {name: value for name, value in told.items() if value is not None}
    return f"/drift_alerts?{urlencode(known, safe=',', doseq=True)}"


def _pairs(opposed: Opposed) -> str:
    whose = "the defaults" if opposed.defaults else "the organization's own"
    return f"{opposed.number:,}, {whose}, digest {opposed.digest}"


def _days(first: datetime, end: datetime) -> str:
    return (
        f"counted from {first:%Y-%m-%d} to {end - timedelta(microseconds=1):%Y-%m-%d} (UTC), and with them harm, the "
        "order and both sides given; the alerts themselves are of whatever day"
    )
