"""Opposition pairs as an operator edits them, checked by what the detector makes of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from queries.drift.opposing import PairError, tidy
from ranking.contradictions.opposition import compiled

if TYPE_CHECKING:
    from collections.abc import Iterable

    from queries.drift.opposing import Pairs


def checked_pairs(given: Iterable[tuple[str | None, str | None]]) -> Pairs:
    """The pairs as they can be kept, or ``PairError``: two words of one stem are no opposites to the detector."""
    pairs = tidy(given)
    try:
        compiled(pairs)
    except ValueError:
        raise PairError(
            "a pair: expected two words that differ in more than their ending, found one of one stem"
        ) from None
    return pairs
