import hashlib
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from ranking.contradictions.conflicts import Kind
from ranking.contradictions.severity import Severity


class Evidence(NamedTuple):
    """Words that show a conflict, and where they stand in the text as it was written."""

    side: Literal["older", "newer"]
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two observations that cannot both stand, and why; ``severity`` is 0 to 100, its parts are in ``parts``."""

    older: Any
    newer: Any
    kind: Kind
    evidence: tuple[Evidence, ...]
    overlap: float
    severity: float
    parts: Severity
    fingerprint: str
    rule: str

    @property
    def ids(self) -> tuple[Any, Any]:
        """Both ids, the older first: what ``cluster_near_duplicates`` takes as a dispute."""
        return self.older, self.newer


def fingerprint(one: tuple[Any, str], other: tuple[Any, str], kind: Kind) -> str:
    """The same for the same two ids, contents and kind, whichever side is named first.

    Ids count as they are written: 1 and "1" are one id here, as in a file or a database that keeps them as text.
    """
    sides = sorted((str(label), _digest(content)) for label, content in (one, other))
    return _digest("\0".join([part for side in sides for part in side] + [kind.value]))[:32]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
