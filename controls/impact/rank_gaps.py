"""Which ranks of a retrieval are missing or doubled, in words: what whoever mends the log writer looks for."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from controls.messages import MISSING, counted, number
from queries.impact.opened import MOST_CANDIDATES

if TYPE_CHECKING:
    from collections.abc import Sequence

    Ranks = Sequence[int | None]

NAMED = 5  # ranks written out; of more the rest is counted


@dataclass(frozen=True)
class _Order:
    """What is wrong with the ranks of one order."""

    missing: list[int]
    doubled: list[int]
    nowhere: int
    outside: int


def gaps(without: Ranks, with_feedback: Ranks) -> str:
    """What is wrong with the ranks without → with feedback, from 1; said once where both lack the same."""
    one, other = _order(without), _order(with_feedback)
    told = (
        _ranks(one.missing, other.missing, "missing"),
        _ranks(one.doubled, other.doubled, "doubled"),
        _times(one.nowhere, other.nowhere, "row", "without a rank"),
        _times(one.outside, other.outside, "rank", f"outside 1 to {MOST_CANDIDATES}"),
    )
    return ", ".join(filter(None, told))


def candidates(without: Ranks, with_feedback: Ranks) -> int:
    """How many candidates there were, by the last rank that either order names; 0 where none does."""
    return max(_in_reach([*without, *with_feedback]), default=-1) + 1


def _order(ranks: Ranks) -> _Order:
    known = Counter(_in_reach(ranks))
    missing = [rank for rank in range(max(known, default=-1)) if rank not in known]
    doubled = [rank for rank in sorted(known) if known[rank] > 1]
    nowhere = ranks.count(None)
    return _Order(missing, doubled, nowhere, len(ranks) - nowhere - known.total())


def _in_reach(ranks: Ranks) -> list[int]:
    return [rank for rank in ranks if rank is not None and 0 <= rank < MOST_CANDIDATES]


def _ranks(one: list[int], other: list[int], what: str) -> str:
    if not one and not other:
        return ""
    which = _named(one) if one == other else f"{_named(one)} → {_named(other)}"
    return f"rank{'s' if max(len(one), len(other)) > 1 else ''} {which} {what}"


def _named(ranks: list[int]) -> str:
    more = f" and {number(len(ranks) - NAMED)} more" if len(ranks) > NAMED else ""
    return ", ".join(str(rank + 1) for rank in ranks[:NAMED]) + more or MISSING


def _times(one: int, other: int, noun: str, what: str) -> str:
    if one == other:
        return f"{counted(one, noun)} {what}" if one else ""
    return f"{number(one)} → {counted(other, noun)} {what}"
