"""What a report is about: what was asked, of which data, by which programs. Never by whom or when: that is audited."""

from __future__ import annotations

import platform
import zlib
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from analysis.alerts import AlertFilter, Found

FORMAT_VERSION = 1
# What decides the bytes of a file: another version of one of these is another input.
PACKAGES = ("SQLAlchemy", "psycopg", "numpy", "typst")


@dataclass(frozen=True)
class Statement:
    """One SQL statement as the database was given it, its parameters apart, and how often it was asked."""

    name: str
    text: str
    parameters: Mapping[str, object]
    times: int = 1


@dataclass(frozen=True)
class About:
    """The question behind a report and the state of the data that answered it; equal ones give equal files.

    ``statements`` is called after the last alert was read: only then is all the SQL known.
    """

    filter: AlertFilter
    found: Found
    org_id: str | None = None
    org_name: str | None = None
    project_id: str | None = None
    permalink: str = ""
    statements: Callable[[], tuple[Statement, ...]] = tuple

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
        }

    def to_json(self) -> dict[str, object]:
        """The head of every machine-readable file."""
        return {
            "report": "drift alerts",
            "format_version": FORMAT_VERSION,
            "parameters": self.parameters(),
            "data_version": self.found.data_version,
            "as_of": self.found.as_of.isoformat(),
            "observations": {"active": self.found.active, "considered": self.found.considered},
            "detected": self.found.detected,
            "permalink": self.permalink or None,
        }

    def subject(self) -> str:
        """Whose alerts these are, as tenants call themselves: hostile text, to be escaped by whoever shows it."""
        who = "all organizations in reach" if self.org_id is None else self.org_name or self.org_id
        return who if self.project_id is None else f"{who}, project {self.project_id}"

    def facts(self) -> list[tuple[str, str]]:
        """What a reader has to know before the first figure, label and value; values are hostile text."""
        asked, found = self.filter, self.found
        chosen = [f"threshold {asked.threshold:g}", f"severity from {asked.least_severity:g}"]
        lists = (("kinds", asked.kinds), ("agents", asked.agents), ("states", asked.states))
        chosen += [f"{name} {', '.join(sorted(map(str, some)))}" for name, some in lists if some is not None]
        chosen += [] if asked.since is None else [f"since {asked.since:%Y-%m-%d %H:%M} UTC"]
        read = f"{found.considered:,} of {found.active:,} active observations"
        facts = [
            ("Scope", self.subject()),
            ("Chosen", " · ".join(chosen)),
            ("Read", f"{read}; {found.detected:,} contradictions before the choice"),
            ("As of", f"{found.as_of:%Y-%m-%d %H:%M:%S} UTC"),
            ("Data version", found.data_version),
        ]
        return facts if not self.permalink else [*facts, ("Address", self.permalink)]


def versions() -> dict[str, str]:
    """The programs that made a file."""
    ours = {package: version(package) for package in PACKAGES}
    return {
        "report_format": str(FORMAT_VERSION),
        "python": platform.python_version(),
        "zlib": zlib.ZLIB_VERSION,
        **ours,
    }
