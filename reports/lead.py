"""What a report comes to, in the sentences that stand before every figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reports.texts import counted

if TYPE_CHECKING:
    from reports.summary import Summary

WORDS = "Words are compared, not meaning: whether two statements contradict each other is for people to decide."
OVER = "one says that the other no longer holds"


def lead(summary: Summary) -> str:
    """How many pairs, in how many disputes, and of what sort; and that none of it is decided."""
    return f"{_pairs(summary)} {WORDS}" if summary.number else WORDS


def _pairs(summary: Summary) -> str:
    if summary.number == 1:
        return f"1 pair of statements: {OVER if summary.superseded else 'they may contradict each other'}."
    told = [
        f"{summary.contradicting:,} may contradict each other" if summary.contradicting else "",
        f"in {summary.superseded:,} {OVER}" if summary.superseded else "",
    ]
    disputes = f"{counted(summary.disputes.count, 'dispute')} (pairs that share an observation are one)"
    return f"{summary.number:,} pairs of statements in {disputes}: {', '.join(filter(None, told))}."
