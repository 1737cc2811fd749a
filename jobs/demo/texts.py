"""The hand-written part of the demo: who remembers what, and which sessions asked for it."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5

FOLDER = Path(__file__).parent / "data"
NAMES = ("tidewater", "quillworks", "hostile")
NAMESPACE = UUID("5b0f6c1e-7d5a-4c58-9d6f-0d6a3c1d7e42")  # any; fixed, so that links into the demo stay good
LONG_WORD = "deploylog" * 400


@dataclass(frozen=True)
class Observation:
    """One memory as an agent wrote it."""

    id: UUID
    key: str
    project: str
    agent: str
    age: timedelta
    text: str
    tags: tuple[str, ...]
    title: str | None
    kind: str
    depth: int


@dataclass(frozen=True)
class Session:
    """One piece of work: what its agent asked the memory, and how it ended; ``None`` while it runs."""

    id: str
    project: str
    agent: str
    age: timedelta
    work_type: str
    outcome: str | None
    queries: tuple[str, ...]
    misleading: frozenset[UUID]


@dataclass(frozen=True)
class LostRow:
    """A log row that never arrived: the session by place, the row by weighted rank."""

    session: int
    rank: int


@dataclass(frozen=True)
class Organization:
    """One tenant of the demo with everything it remembers and did, oldest session first."""

    id: str
    name: str
    age: timedelta
    features: dict[str, Any]
    projects: tuple[tuple[str, str], ...]
    observations: tuple[Observation, ...]
    sessions: tuple[Session, ...]
    weighting_off: timedelta | None
    weighting_off_reason: str
    lost_row: LostRow | None


def organizations() -> tuple[Organization, ...]:
    """Two lively organizations and a hostile one."""
    return tuple(_organization(_read(name), _read(f"{name}.sessions")["sessions"]) for name in NAMES)


def identity(*parts: str) -> UUID:
    """The id of a thing of the demo, the same on every machine."""
    return uuid5(NAMESPACE, "/".join(parts))


def _read(name: str) -> dict[str, Any]:
    with (FOLDER / f"{name}.toml").open("rb") as file:
        return tomllib.load(file)


def _organization(found: dict[str, Any], sessions: list[dict[str, Any]]) -> Organization:
    projects = tuple((project["id"], project["name"]) for project in found["projects"])
    ids = [project for project, _ in projects]
    observations = tuple(_observation(found["id"], ids, entry) for entry in found["observations"])
    known = {observation.key: observation.id for observation in observations}
    return Organization(
        id=found["id"],
        name=found["name"],
        age=timedelta(days=found["age"]),
        features=found["features"],
        projects=projects,
        observations=observations,
        sessions=tuple(_session(found["id"], ids, known, n, entry) for n, entry in enumerate(sessions)),
        weighting_off=timedelta(days=found["weighting_off"]) if "weighting_off" in found else None,
        weighting_off_reason=found.get("weighting_off_reason", ""),
        lost_row=LostRow(**found["lost_row"]) if "lost_row" in found else None,
    )


def _observation(org: str, projects: list[str], entry: dict[str, Any]) -> Observation:
    return Observation(
        id=identity(org, "observation", entry["key"]),
        key=entry["key"],
        project=_project(projects, entry["project"]),
        agent=entry["agent"],
        age=timedelta(days=entry["age"]),
        text=entry["text"].replace("@long@", LONG_WORD),
        tags=tuple(entry["tags"]),
        title=entry.get("title"),
        kind=entry.get("kind", "observation"),
        depth=entry.get("depth", 0),
    )


def _session(org: str, projects: list[str], known: dict[str, UUID], n: int, entry: dict[str, Any]) -> Session:
    return Session(
        id=entry.get("id", f"ses_{org.removeprefix('org_')}_{n + 1:03}"),
        project=_project(projects, entry["project"]),
        agent=entry["agent"],
        age=timedelta(days=entry["age"]),
        work_type=entry["work"],
        outcome=entry.get("outcome"),
        queries=tuple(entry["queries"]),
        misleading=frozenset(known[key] for key in entry.get("misleading", ())),
    )


def _project(projects: list[str], named: str | int) -> str:
    """A project by id, or by its place where the id is no name to write out."""
    project = projects[named] if isinstance(named, int) else named
    if project not in projects:
        raise ValueError(f"expected one of the projects {', '.join(projects)}; found {project}")
    return project
