from enum import StrEnum
from typing import NamedTuple

from ranking.contradictions.claim import Span

# two values of these kinds say of when a claim is, and make two claims of one
WHEN = frozenset({"date", "weekday"})


class Kind(StrEnum):
    """What makes two claims conflict."""

    OPPOSITION = "opposition"
    NEGATION = "negation"
    VALUE = "value"
    SUPERSEDED = "superseded"


class Conflict(NamedTuple):
    """Why two claims cannot both stand: the kind, the spans that show it on each side, and how much they share."""

    kind: Kind
    left: tuple[Span, ...]
    right: tuple[Span, ...]
    overlap: float
    rule: str

    def moved(self, left: int, right: int) -> "Conflict":
        """The same with the spans of each side counted from so far before."""
        if not (left or right):
            return self
        return self._replace(
            left=tuple((start + left, end + left) for start, end in self.left),
            right=tuple((start + right, end + right) for start, end in self.right),
        )
