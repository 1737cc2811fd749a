import re
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ranking.dedup import lower_runes

LARGEST_INTEGER = 2**63 - 1
_TOO_MANY_DIGITS = 20


@dataclass(frozen=True)
class TimeAnchor:
    """A time a query names: about ``days`` before now, give or take ``tolerance`` days."""

    days: int
    tolerance: int


class AnchorExtractor(Protocol):
    """Finds the time a query names, if it names one; ``now`` is only needed for absolute dates."""

    def anchor(self, query: str, now: np.datetime64 | None = None) -> TimeAnchor | None:
        """The time the query names, or None."""
        ...


# (pattern, days per unit, tolerance); a pattern with a group multiplies the number in it. Go's \s has no \v.
_S = r"[\t\n\f\r ]+"
_PATTERNS = tuple(
    (re.compile(pattern.replace("_", _S), re.ASCII), days, tolerance)
    for pattern, days, tolerance in (
        (r"([0-9]+)_days?_ago", 1, 2),
        (r"a_couple_(?:of_)?days?_ago", 2, 2),
        (r"yesterday", 1, 1),
        (r"([0-9]+)_weeks?_ago", 7, 5),
        (r"(?:a|last)_week\b", 7, 3),
        (r"([0-9]+)_months?_ago", 30, 10),
        (r"(?:a|last)_month\b", 30, 7),
        (r"(?:a|last)_year\b", 365, 30),
        (r"recently", 14, 14),
    )
)


@dataclass(frozen=True)
class RegexAnchorExtractor:
    """The Go package's patterns, first match wins, quirks included: "extra week" holds "a week" (003)."""

    def anchor(self, query: str, now: np.datetime64 | None = None) -> TimeAnchor | None:  # noqa: ARG002 - as the protocol
        """The first pattern found in the lower-cased query; a number beyond int64 is no number."""
        lowered = lower_runes(query)
        for pattern, days, tolerance in _PATTERNS:
            match = pattern.search(lowered)
            if match is None:
                continue
            total = days * whole_number(match[1]) if pattern.groups else days
            if total <= LARGEST_INTEGER:
                return TimeAnchor(total, tolerance)
        return None


def whole_number(digits: str) -> int:
    """The number, or one beyond int64 for any that long: Python refuses to read thousands of digits."""
    bare = digits.lstrip("0")
    return int(bare or "0") if len(bare) < _TOO_MANY_DIGITS else LARGEST_INTEGER + 1
