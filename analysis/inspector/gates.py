"""The gates between an observation and the memory block that lie in recall: scope, status, vector, legs, pool."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from analysis.inspector.names import route_name
from queries.recall.legs import ROUTES

if TYPE_CHECKING:
    from queries.recall.exact_places import ExactPlaces, FusedPlace, LegPlace

MOST_DIGITS = 17  # tell any two floats apart


class Verdict(StrEnum):
    """What became of an observation: the gate that lost it, or that it is there."""

    THERE = "there"
    UNANSWERED = "unanswered"
    CHOOSE = "choose"
    SCOPE = "scope"
    INACTIVE = "inactive"
    NUMBERS = "numbers"
    VECTOR = "vector"
    ROUTE = "route"
    FUSED = "fused"
    HEAD = "head"
    SESSIONS = "sessions"
    FLOOR = "floor"
    DUPLICATE = "duplicate"
    DIVERSITY = "diversity"
    BUDGET = "budget"
    STAGE = "stage"


class State(StrEnum):
    """How an observation fared at a gate; missed is a leg that did not find it while another did."""

    PASSED = "passed"
    MISSED = "missed"
    LOST = "lost here"
    NOT_REACHED = "not reached"


@dataclass(frozen=True)
class Gate:
    """One gate: what it is called, how the observation fared, its rank from 0 and score there, and what was needed."""

    name: str
    state: State
    words: str = ""
    rank: int | None = None
    score: float | None = None
    needed: float | None = None


@dataclass(frozen=True)
class Loss:
    """Where an observation was lost, in a sentence that says what it would have needed."""

    verdict: Verdict
    sentence: str


def apart(one: float, other: float) -> tuple[str, str]:
    """Two numbers with three significant digits, or as many more as it takes to tell them apart."""
    for digits in range(3, MOST_DIGITS):
        shown = f"{one:.{digits}g}", f"{other:.{digits}g}"
        if shown[0] != shown[1]:
            return shown
    return f"{one:.3g}", f"{other:.3g}"


def route_gate(route: str) -> str:
    """What the gate of a route is called: how an observation may be found."""
    return f"by {route_name(route)}"


def recall_gates(seen: ExactPlaces, *, recalled: bool) -> tuple[list[Gate], Loss | None]:
    """The gates of recall for an active observation, and where it was lost unless it is among the candidates."""
    by_vector = [leg for leg in seen.legs if ROUTES[leg.leg] is not None]
    has_vector = any(leg.dimensions == seen.dimensions for leg in by_vector)
    fused = seen.fused
    found = recalled or any(leg.within for leg in seen.legs)
    loss = None if recalled else _loss(seen, by_vector, has_vector=has_vector)
    missed = State.LOST if loss is not None and loss.verdict is Verdict.ROUTE else State.MISSED
    gates = []
    if by_vector:
        lost = loss is not None and loss.verdict is Verdict.VECTOR
        state = State.PASSED if has_vector else State.LOST if lost else State.MISSED
        gates.append(Gate("vector", state, vector_words(seen, by_vector)))
    for leg in seen.legs:
        state = State.PASSED if leg.within else missed
        if loss is not None and loss.verdict is Verdict.VECTOR:
            state = State.NOT_REACHED
        gates.append(Gate(route_gate(leg.leg), state, leg_words(leg, seen.dimensions), leg.rank, leg.score, leg.last))
    if fused is not None:
        lost = loss is not None and loss.verdict is Verdict.FUSED
        state = State.LOST if lost else State.PASSED if found else State.NOT_REACHED
        gates.append(Gate("fused pool", state, fused_words(fused), fused.rank, fused.score, fused.last))
    lost = loss is not None and loss.verdict is Verdict.NUMBERS
    words = "" if not seen.unsound else f"its {' and '.join(seen.unsound)} is not a finite number"
    reached = recalled or lost
    gates.append(Gate("finite numbers", State.LOST if lost else State.PASSED if reached else State.NOT_REACHED, words))
    return gates, loss


def _loss(seen: ExactPlaces, by_vector: list[LegPlace], *, has_vector: bool) -> Loss:
    unheard = all(leg.rank is None for leg in seen.legs)
    if by_vector and not has_vector and unheard:
        more = "" if len(by_vector) == len(seen.legs) else ", and keywords do not find it either"
        needed = f"It would need a vector of {seen.dimensions} dimensions."
        return Loss(Verdict.VECTOR, f"Lost before recall: {vector_words(seen, by_vector)}{more}. {needed}")
    inside = [leg for leg in seen.legs if leg.within]
    if not inside:
        return Loss(Verdict.ROUTE, _beyond_pools(seen))
    if seen.fused is not None and not seen.fused.within:
        return Loss(Verdict.FUSED, f"Lost after the routes were fused: {fused_words(seen.fused)}.")
    if seen.unsound:
        names = " and ".join(seen.unsound)
        return Loss(Verdict.NUMBERS, f"Left out by recall: its {names} is not a finite number, so it cannot be ranked.")
    leg = min(inside, key=lambda one: one.rank or 0)
    place = f"exact rank {_rank(leg)} {route_gate(leg.leg)} is within the pool of {leg.pool}"
    return Loss(
        Verdict.ROUTE,
        f"Lost in recall although its {place}: the approximate index did not return it, or it was stored or changed "
        "after this ranking. Ask again; if it stays away, an exact search would find it.",
    )


def _beyond_pools(seen: ExactPlaces) -> str:
    """The leg in which it came nearest to the pool, and what would have brought it in."""
    ranked = [leg for leg in seen.legs if leg.rank is not None]
    if not ranked:
        if not seen.legs:
            return "Lost in recall: the question has neither a vector nor a word to look for."
        told = (f"{route_name(leg.leg)}: {leg_words(leg, seen.dimensions)}" for leg in seen.legs)
        return f"Lost in recall: {'; '.join(told)}."
    leg = min(ranked, key=lambda one: (one.rank or 0) - one.pool)
    others = f", its nearest of {len(seen.legs)} routes" if len(seen.legs) > 1 else ""
    needed = "" if leg.last is None else f" It would need to score above {leg.last:.3g}, or a pool of {_rank(leg):,}."
    return f"Lost in recall: {route_gate(leg.leg)}{others}, {leg_words(leg, seen.dimensions)}.{needed}"


def _rank(leg: LegPlace) -> int:
    return (leg.rank or 0) + 1


def vector_words(seen: ExactPlaces, by_vector: list[LegPlace]) -> str:
    """What is stored of it to compare the question's vector with."""
    sizes = sorted({leg.dimensions for leg in by_vector if leg.dimensions is not None})
    if not sizes:
        return "it has no vector"
    if seen.dimensions in sizes:
        legs = sum(leg.dimensions == seen.dimensions for leg in by_vector)
        return f"{seen.dimensions} dimensions" + (
            f" on {legs} of {len(by_vector)} routes" if len(by_vector) > 1 else ""
        )
    found = " and ".join(map(str, sizes))
    return f"its vector has {found} dimensions, the question's {seen.dimensions}"


def leg_words(leg: LegPlace, dimensions: int) -> str:
    """Rank and score against the pool's last, or why the leg cannot see it."""
    if leg.rank is None or leg.score is None:
        return _unseen(leg, dimensions)
    place = f"rank {leg.rank + 1:,} of {leg.rows:,}"
    if leg.within:
        return f"{place} with score {leg.score:.3g}, within the pool of {leg.pool:,}"
    if leg.last is None:
        return f"{place} with score {leg.score:.3g}, beyond the pool of {leg.pool:,}"
    score, last = apart(leg.score, leg.last)
    return f"{place} with score {score}, beyond the pool of {leg.pool:,}, whose last has {last}"


def _unseen(leg: LegPlace, dimensions: int) -> str:
    if ROUTES[leg.leg] is None:
        if leg.holds_term:
            return "it holds a term of the question, too common to be looked up beyond the newest"
        return "it holds no term of the question"
    if leg.dimensions is None:
        return "no vector on this route"
    if leg.dimensions != dimensions:
        return f"a vector of {leg.dimensions} dimensions on this route"
    return "a vector without direction on this route"


def fused_words(fused: FusedPlace) -> str:
    """Rank and score among what the legs' pools hold, against the last that is kept."""
    if fused.rank is None or fused.score is None:
        return f"in none of the pools, which hold {fused.rows:,}"
    place = f"rank {fused.rank + 1:,} of {fused.rows:,}"
    if fused.within or fused.last is None:
        return f"{place} with score {fused.score:.3g}, {fused.candidates:,} are kept"
    score, last = apart(fused.score, fused.last)
    return f"{place} with score {score}, {fused.candidates:,} are kept and the last of them has {last}"
