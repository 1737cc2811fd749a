"""The organizations of the demo: who they are, and what was written for them by hand."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache
from typing import Any
from uuid import UUID, uuid5

from jobs.demo.vocabulary import project, read
from jobs.demo.writing import Memory

NAMES = ("tidewater", "quillworks", "alder", "lumenfield", "hostile", "newfound")
NAMESPACE = UUID("5b0f6c1e-7d5a-4c58-9d6f-0d6a3c1d7e42")  # any; fixed, so that links into the demo stay good
LONG_WORD = "deploylog" * 400


@dataclass(frozen=True)
class Written:
    """A memory written by hand, by whom and when; ``outdated`` is the key of what took its place, and how."""

    memory: Memory
    agent: str
    age: timedelta
    outdated: tuple[str, str] | None


@dataclass(frozen=True)
class WrittenSession:
    """A session written by hand with its outcome; ``None`` while it runs."""

    id: str
    project: str
    agent: str
    age: timedelta
    work_type: str
    outcome: str | None
    queries: tuple[str, ...]
    misleading: frozenset[str]


@dataclass(frozen=True)
class Organization:
    """One tenant of the demo; ``share`` is its part of everything that is not written by hand."""

    id: str
    name: str
    age: timedelta
    share: float
    features: dict[str, Any]
    projects: tuple[tuple[str, str], ...]
    agents: tuple[str, ...]
    people: tuple[str, ...]
    written: tuple[Written, ...]
    sessions: tuple[WrittenSession, ...]
    weighting_off: timedelta | None
    weighting_off_reason: str
    gap: tuple[timedelta, timedelta] | None
    lossy: tuple[timedelta, int] | None

    @property
    def corroborates(self) -> bool:
        """Whether the flag puts the corroboration boost in front of feedback."""
        return self.features.get("corroboration_boost_enabled") is True


@cache
def organizations() -> tuple[Organization, ...]:
    """Four lively organizations, a hostile one and an empty one."""
    return tuple(_organization(name) for name in NAMES)


def copies(wanted: int) -> tuple[Organization, ...]:
    """More organizations like the lively ones, each smaller than the one before, with nothing odd about them."""
    lively = [org for org in organizations() if org.share]
    weights = [(n + 1) ** -0.5 for n in range(wanted)]
    return tuple(
        replace(
            lively[n % len(lively)],
            id=f"org_copy_{n + 1:02}",
            name=f"{lively[n % len(lively)].name} {n + 2}",
            share=weight / sum(weights),
            features={},
            written=(),
            weighting_off=None,
            gap=None,
            lossy=None,
        )
        for n, weight in enumerate(weights)
    )


def identity(*parts: str) -> UUID:
    """The id of a thing of the demo, the same on every machine."""
    return uuid5(NAMESPACE, "/".join(parts))


def _organization(name: str) -> Organization:
    found = read(name)
    projects = tuple(_project(entry) for entry in found["projects"])
    ids = [project_id for project_id, _ in projects]
    return Organization(
        id=found["id"],
        name=found["name"],
        age=timedelta(days=found["age"]),
        share=found["share"],
        features=found["features"],
        projects=projects,
        agents=tuple(found["agents"]),
        people=tuple(found["people"]),
        written=tuple(_written(ids, entry) for entry in found.get("observations", ())),
        sessions=tuple(_session(ids, entry) for entry in found.get("sessions", ())),
        weighting_off=timedelta(days=found["weighting_off"]) if "weighting_off" in found else None,
        weighting_off_reason=found.get("weighting_off_reason", ""),
        gap=tuple(timedelta(days=found["gap"][end]) for end in ("from", "until")) if "gap" in found else None,  # type: ignore[arg-type]
        lossy=(timedelta(days=found["lossy"]["from"]), found["lossy"]["every"]) if "lossy" in found else None,
    )


def _project(entry: str | dict[str, str]) -> tuple[str, str]:
    """Id and name; a name alone is a project whose words lie in a file of their own."""
    if isinstance(entry, dict):
        return entry["id"], entry["name"]
    return project(entry).id, project(entry).name


def _written(projects: list[str], entry: dict[str, Any]) -> Written:
    tags = tuple(entry["tags"])
    memory = Memory(
        key=entry["key"],
        project=_named(projects, entry["project"]),
        about=tags[0],
        topic=tags[-1],
        text=entry["text"].replace("@long@", LONG_WORD),
        tags=tags,
        title=entry.get("title"),
        kind=entry.get("kind", "observation"),
        depth=entry.get("depth", 0),
        misleading=entry.get("misleading", False),
    )
    outdated = (entry["outdated"]["by"], entry["outdated"]["kind"]) if "outdated" in entry else None
    return Written(memory, entry["agent"], timedelta(days=entry["age"]), outdated)


def _session(projects: list[str], entry: dict[str, Any]) -> WrittenSession:
    return WrittenSession(
        id=entry["id"],
        project=_named(projects, entry["project"]),
        agent=entry["agent"],
        age=timedelta(days=entry["age"]),
        work_type=entry["work"],
        outcome=entry.get("outcome"),
        queries=tuple(entry["queries"]),
        misleading=frozenset(entry.get("misleading", ())),
    )


def _named(projects: list[str], named: str | int) -> str:
    """A project by id, or by its place where the id is no name to write out."""
    found = projects[named] if isinstance(named, int) else named
    if found not in projects:
        raise ValueError(f"expected one of the projects {', '.join(projects)}; found {found}")
    return found
