"""The words of the demo, read from TOML: what there is in a project, and what can be said about it."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "data"


@dataclass(frozen=True)
class Component:
    """A part of a project: what it does, the data it holds, whom it talks to, and where its code lies."""

    name: str
    operations: tuple[str, str]
    data: tuple[str, str]
    peer: str
    file: str


@dataclass(frozen=True)
class Project:
    """A project with its components, and names for things that only planted observations speak of."""

    id: str
    name: str
    parts: tuple[Component, ...]
    subjects: tuple[str, ...]


@dataclass(frozen=True)
class Topic:
    """What can be said about one concern of any component."""

    name: str
    work: str
    tags: tuple[str, ...]
    what: tuple[str, ...]
    why: tuple[str, ...]
    do: tuple[str, ...]
    misleading: tuple[str, ...]
    query: tuple[str, ...]
    ask: tuple[str, ...]
    reflection: tuple[str, ...]
    event: bool = False
    preference: bool = False


@dataclass(frozen=True)
class Phrases:
    """What surrounds the sentences of a topic, and the values a slot may hold."""

    frames: tuple[str, ...]
    opening: tuple[str, ...]
    person: tuple[str, ...]
    title: tuple[str, ...]
    summary: tuple[str, ...]
    work: tuple[str, ...]
    next: tuple[str, ...]
    follow: tuple[str, ...]
    values: dict[str, tuple[str, ...]] = field(hash=False)


@cache
def project(name: str) -> Project:
    """One project's words."""
    found = read(f"projects/{name}")
    parts = tuple(_component(line) for line in found["components"])
    return Project(found["id"], found["name"], parts, tuple(found["subjects"]))


@cache
def topics() -> tuple[Topic, ...]:
    """Every topic, by name."""
    files = sorted(FOLDER.glob("topics/*.toml"))
    entries = {name: entry for file in files for name, entry in read(f"topics/{file.stem}").items()}
    return tuple(Topic(name, **_frozen(entries[name])) for name in sorted(entries))


@cache
def phrases() -> Phrases:
    """What all topics share."""
    found = read("phrases")
    values = {slot: tuple(options) for slot, options in found.pop("values").items()}
    return Phrases(**_frozen(found), values=values)


def read(name: str) -> dict[str, Any]:
    """One file of the data folder."""
    with (FOLDER / f"{name}.toml").open("rb") as file:
        return tomllib.load(file)


def _component(line: str) -> Component:
    name, operations, data, peer, file = line.split(" | ")
    does, other = operations.split("; ")
    holds, also = data.split("; ")
    return Component(name, (does, other), (holds, also), peer, file)


def _frozen(entry: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in entry.items()}
