"""Whether pins hold under a pipeline, and pins as a file that a platform's own checks can keep."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from analysis.inspector.inspection import before_budget
from queries.pins import Pin, PinError, expectations, read_expectations
from retrieval.retrieve import AgentSession

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from retrieval.retrieve import Retrieval

VERSION = 1
FORMAT = "rankscope_pins"
FIELDS = frozenset({"name", "query", "project", "work_type", "must_include", "must_precede"})


class Outcome(StrEnum):
    """Whether a pin holds; unknown is a question that could not be answered, which is not the same as failing."""

    HOLDS = "holds"
    FAILS = "fails"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class PinResult:
    """A pin under one pipeline, why it does not hold, and what was not as it should be in its retrieval."""

    pin: Pin
    outcome: Outcome
    reasons: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()
    pipeline: str = ""

    @property
    def holds(self) -> bool:
        """Whether every expectation is met."""
        return self.outcome is Outcome.HOLDS


def check(org_id: str, pins: Iterable[Pin], answer: Callable[[AgentSession, str], Retrieval]) -> tuple[PinResult, ...]:
    """Each pin's result in an organization; equal questions are asked once.

    ``answer`` is given a session of the pin's own project and work type, and retrieves without recording.
    """
    answered: dict[tuple[str, str | None, str | None], Retrieval] = {}
    results = []
    for pin in pins:
        question = (pin.query, pin.project, pin.work_type)
        if question not in answered:
            asking = AgentSession(org_id, project_id=pin.project, work_type=pin.work_type)
            answered[question] = answer(asking, pin.query)
        results.append(judge(pin, answered[question]))
    return tuple(results)


def judge(pin: Pin, found: Retrieval) -> PinResult:
    """One pin against one retrieval: what must be included is in the block, what must precede ranks above.

    An observation that was not returned ranks below all that were; one that must precede has to be returned.
    """
    if found.failed is not None:
        return PinResult(pin, Outcome.UNKNOWN, (found.failed,), found.degraded, found.pipeline)
    ranks = {label: rank for rank, label in enumerate(before_budget(found).ids(), 1)}
    reasons = [
        f"{label} {_place(ranks.get(label))}, not in the block of {len(found.injected)}"
        for label in pin.must_include
        if label not in found.injected
    ]
    for upper, lower in pin.must_precede:
        if upper not in ranks:
            reasons.append(f"{upper} was not returned, so it does not precede {lower}")
        elif lower in ranks and ranks[lower] < ranks[upper]:
            reasons.append(f"{upper} has rank {ranks[upper]}, below {lower} at rank {ranks[lower]}")
    outcome = Outcome.FAILS if reasons else Outcome.HOLDS
    return PinResult(pin, outcome, tuple(reasons), found.degraded, found.pipeline)


def _place(rank: int | None) -> str:
    return "was not returned" if rank is None else f"has rank {rank}"


def to_json(pins: Iterable[Pin], org: str) -> str:
    """Pins as a file: the format with its version, the organization, and each pin with all its fields."""
    listed = [
        {"name": pin.name, "query": pin.query, "project": pin.project, "work_type": pin.work_type, **expectations(pin)}
        for pin in pins
    ]
    return json.dumps({FORMAT: VERSION, "org": org, "pins": listed}, indent=2, ensure_ascii=False) + "\n"


def from_json(text: str, org: str) -> tuple[Pin, ...]:
    """The pins of a file, or ``PinError`` with what was expected where; the file may name no other organization."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise PinError("pins: expected JSON") from None
    version = found.get(FORMAT) if isinstance(found, dict) else None
    if type(version) is not int or version != VERSION:
        raise PinError(f"pins: expected an object with {FORMAT} {VERSION}, found {version!r:.20}")
    if found.get("org", org) != org:
        raise PinError("org: expected the organization asked for, found another in the file")
    listed = found.get("pins")
    if not isinstance(listed, list):
        raise PinError("pins: expected a list")
    pins = tuple(_pin(place, each) for place, each in enumerate(listed, 1))
    if len({pin.name for pin in pins}) != len(pins):
        raise PinError("pins: expected every name once, found one twice")
    return pins


def _pin(place: int, found: Any) -> Pin:  # noqa: ANN401 - whatever the file holds
    if not isinstance(found, dict):
        raise PinError(f"pin {place}: expected an object")
    unknown = sorted(set(found) - FIELDS)
    if unknown:
        # a misspelt expectation would otherwise be met by everything
        raise PinError(f"pin {place}: expected {', '.join(sorted(FIELDS))}, found {unknown[0]!r:.40}")
    for name in ("name", "query"):
        if not isinstance(found.get(name), str):
            raise PinError(f"pin {place}, {name}: expected a text")
    for name in ("project", "work_type"):
        if not isinstance(found.get(name), str | None):
            raise PinError(f"pin {place}, {name}: expected a text or null")
    try:
        include, precede = read_expectations(found)
        return Pin(found["name"], found["query"], include, precede, found.get("project"), found.get("work_type"))
    except PinError as error:
        raise PinError(f"pin {place}, {error}") from None


def pin_of(found: Retrieval, name: str, must_include: Iterable[str], precede: tuple[str, str] | None) -> Pin:
    """A pin on the question of a retrieval, in its project and under its work's budget."""
    made = Pin(name.strip(), found.query, tuple(must_include), () if precede is None else (precede,))
    return replace(made, project=found.session.project_id, work_type=found.session.work_type)
