"""Contradictions as triage left them: one that was dismissed disputes nothing, one resolved for a side is settled."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    Pair = tuple[str, str]
    Decided = Mapping[str, tuple[bool, str | None]]


class Dispute(NamedTuple):
    """Two observations that contradict each other, and which side triage found right; None while nobody decided."""

    older: str
    newer: str
    verdict: str | None = None


def standing(found: Iterable[tuple[str, str, str]], decided: Decided) -> list[Dispute]:
    """The contradictions (older, newer, fingerprint) that nobody dismissed, with what was ``decided`` about them."""
    told = ((older, newer, *decided.get(name, (False, None))) for older, newer, name in found)
    return [Dispute(older, newer, verdict) for older, newer, dismissed, verdict in told if not dismissed]


def verdicts(disputes: Iterable[Dispute]) -> dict[Pair, str]:
    """Which side of a settled dispute is right, by both ids, the older first."""
    return {(one.older, one.newer): one.verdict for one in disputes if one.verdict is not None}


def between(found: Mapping[Pair, str], one: str, other: str) -> str | None:
    """The verdict on two observations, whichever of them is the older."""
    return found.get((one, other)) or found.get((other, one))


def settled(found: Iterable[str | None]) -> tuple[str, ...]:
    """The verdicts on the contradictions of a cluster once each has one; none before."""
    told = set(found)
    return () if None in told else tuple(sorted(filter(None, told)))
