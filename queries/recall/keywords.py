"""Which observations the keyword leg looks at, and what each term of the question counts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from queries.recall.estimates import as_query, rarity

if TYPE_CHECKING:
    from queries.recall.estimates import Estimates

SCORED_TERMS = 16  # the rarest ones of a question; the others hardly tell its answers apart
MATCHES = 600.0  # observations that the index may bring up: reading and scoring one takes some 15 µs
NEWEST = 300  # where terms are too common for the index, this many of the newest are searched for them
SMALL = 1_000  # an organization of this size is searched whole
RARE = 0.01  # a term in fewer observations than this share of them
COMMON_PAIRED = 6  # common terms that are also looked for two at a time


@dataclass(frozen=True)
class Keywords:
    """A question for full text search: what the index is asked, how many of the newest are read, terms and shares.

    ``shares`` add up to 1, so that a score says how much of the question an observation answers. An organization that
    ``is_small`` is read whole, and the index is only asked where it turns out larger than it was estimated.
    """

    lookup: str | None
    newest: int
    is_small: bool
    stored: float
    terms: tuple[str, ...]
    shares: tuple[float, ...]

    @property
    def any_term(self) -> str:
        """The text of a tsquery that matches any of the terms."""
        return " | ".join(self.terms)

    def values(self, pool: int) -> dict[str, object]:
        """What is bound when the keyword leg runs for so many rows.

        A term in a share s of them fills a pool from the newest pool/s, or from s · stored through the index: where
        both are as many, √(pool · stored), the one takes over from the other.
        """
        window = int(max(2 * self.newest, math.sqrt(pool * self.stored)))
        looked_for = {"lookup": self.lookup, "any_term": self.any_term, "terms": list(self.terms)}
        sizes = {"newest": self.newest, "window": window, "is_small": self.is_small, "matches": int(MATCHES)}
        return {**looked_for, **sizes, "shares": list(self.shares)}


def keywords(found: Estimates) -> Keywords | None:
    """How to look for a question's terms, rarest first; none for a question without terms."""
    ranked = sorted(found.terms, key=lambda term: term[1])[:SCORED_TERMS]
    if not ranked:
        return None
    counts = [rarity(share, found.stored) for _, share in ranked]
    total = sum(counts)
    small = found.organization * found.stored <= SMALL
    lookup, all_in = _lookup(ranked, found.stored)
    return Keywords(
        lookup=lookup,
        newest=2 * SMALL if small else 0 if all_in else NEWEST,
        is_small=small,
        stored=found.stored,
        terms=tuple(as_query(term) for term, _ in ranked),
        shares=tuple(count / total for count in counts),
    )


def _lookup(ranked: list[tuple[str, float]], stored: float) -> tuple[str | None, bool]:
    """A tsquery of the rarest terms, then of pairs of commoner ones, that matches few; and whether no term is left out.

    A word that stands in every tenth observation finds too many by itself, and two of them together find few.
    """
    chosen: list[str] = []
    left: list[tuple[str, float]] = []
    budget = max(MATCHES, 2.0 * math.sqrt(stored))
    for term, share in ranked:
        # The rarest is looked up in any case: of what the planner never met it only knows an upper bound.
        if share * stored <= budget or (not chosen and share <= RARE):
            budget -= share * stored
            chosen.append(as_query(term))
        else:
            left.append((term, share))
    for (one, p), (other, q) in combinations(left[:COMMON_PAIRED], 2):
        if p * q * stored <= budget:
            budget -= p * q * stored
            chosen.append(f"({as_query(one)} & {as_query(other)})")
    return " | ".join(chosen) or None, not left
