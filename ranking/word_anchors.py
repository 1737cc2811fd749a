import datetime as dt
import re
from dataclasses import dataclass

import numpy as np

from ranking.anchors import LARGEST_INTEGER, TimeAnchor, whole_number

_COUNTED = (
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_WORDS = dict(zip(_COUNTED, range(1, 20), strict=True)) | dict(zip(_TENS, range(20, 100, 10), strict=True))
_NUMBERS = _WORDS | {"a": 1, "an": 1, "a couple of": 2, "a couple": 2, "a few": 3} | {
    f"{ten}-{one}": _WORDS[ten] + _WORDS[one] for ten in _TENS for one in _COUNTED[:9]
}  # fmt: skip
_UNITS = {"day": (1, 2), "week": (7, 5), "month": (30, 10), "year": (365, 30)}
_MONTH_NAMES = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_MONTHS = dict(zip(_MONTH_NAMES, range(1, 13), strict=True))
_MONTH = "|".join(_MONTHS)
# the longest first: "twenty-one" before "twenty"
_COUNT = "|".join(sorted(_NUMBERS, key=len, reverse=True)).replace("-", r"[\s-]")

_AGO = re.compile(rf"\b([0-9]+|{_COUNT})\s+(day|week|month|year)s?\s+ago\b")
# what makes a number the end of a longer one: "a hundred and five", "1.5", "3-4", "half a"
_LONGER = re.compile(rf"(?:[0-9][.,]|-|(?:\b(?:{'|'.join(_WORDS)}|hundred|thousand|half)|[0-9])\s+(?:and\s+)?)$")
_FIXED = (
    (re.compile(r"\btoday\b"), TimeAnchor(0, 1)),
    (re.compile(r"\byesterday\b"), TimeAnchor(1, 1)),
    (re.compile(r"\blast\s+week\b"), TimeAnchor(7, 3)),
    (re.compile(r"\blast\s+month\b"), TimeAnchor(30, 7)),
    (re.compile(r"\blast\s+year\b"), TimeAnchor(365, 30)),
    (re.compile(r"\brecently\b"), TimeAnchor(14, 14)),
)
# (pattern with groups year, month, day; tolerance): a day is known to two days, a month to half, a year to four months
_DATES = (
    (re.compile(r"\b(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})\b"), 2),
    (re.compile(rf"\b(?P<month>{_MONTH})\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?:,?\s+(?P<year>\d{{4}}))?\b"), 2),
    (
        re.compile(rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<month>{_MONTH})(?:\s+(?P<year>\d{{4}}))?\b"),
        2,
    ),
    (re.compile(rf"\b(?P<month>{_MONTH})\s+(?P<year>\d{{4}})\b"), 15),
    # without a preposition "may" and "march" are verbs
    (re.compile(rf"\b(?:in|last|since|during)\s+(?P<month>{_MONTH})\b(?!\s+\d)"), 15),
    (re.compile(r"\bin\s+(?P<year>(?:19|20)\d{2})\b"), 120),
)


@dataclass(frozen=True)
class WordAnchorExtractor:
    """Whole words only: numbers as digits or words, relative times, and dates; "extra week" names no time."""

    def anchor(self, query: str, now: np.datetime64 | None = None) -> TimeAnchor | None:
        """The time the query names; dates are looked for first, and only if ``now`` is known."""
        lowered = query.lower()
        dated = _dated(lowered, now) if now is not None else None
        if dated:
            return dated
        ago = next((found for found in _AGO.finditer(lowered) if not _LONGER.search(lowered[: found.start()])), None)
        if ago:
            count = whole_number(ago[1]) if ago[1].isdigit() else _number(ago[1])
            days, tolerance = _UNITS[ago[2]]
            return TimeAnchor(days * count, tolerance) if days * count <= LARGEST_INTEGER else None
        return next((anchor for pattern, anchor in _FIXED if pattern.search(lowered)), None)


def _number(words: str) -> int:
    return _NUMBERS.get(words) or _NUMBERS[re.sub(r"\s", "-", words)]


def _dated(query: str, now: np.datetime64) -> TimeAnchor | None:
    today: dt.date = now.astype("datetime64[D]").item()
    for pattern, tolerance in _DATES:
        match = pattern.search(query)
        date = _date(match.groupdict(), today) if match else None
        if date:
            return TimeAnchor(max((today - date).days, 0), tolerance)
    return None


def _date(parts: dict[str, str | None], today: dt.date) -> dt.date | None:
    """The date meant: mid-month or mid-year if no day is named, the latest past one if no year is; none to come."""
    name = parts.get("month")
    month = 7 if name is None else _MONTHS.get(name) or int(name)
    day = int(parts.get("day") or (1 if name is None else 15))
    year = parts.get("year")
    try:
        if year is not None:
            begins = dt.date(int(year), 1 if name is None else month, int(parts.get("day") or 1))
            return dt.date(int(year), month, day) if begins <= today else None
        this_year = dt.date(today.year, month, day)
        return this_year if this_year <= today else this_year.replace(year=today.year - 1)
    except ValueError:  # the 31st of April, or a leap day a year too early
        return None
