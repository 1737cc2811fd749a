from dataclasses import dataclass, fields
from math import exp, log2

from ranking.contradictions.lexicon import SECURITY
from ranking.words import tokenize

_RECENCY, _DOMAIN, _FREQUENCY = 0.4, 0.3, 0.3
_MONTH = 30.0
_ORDINARY = 0.4
_CROWD = 3.0


@dataclass(frozen=True, slots=True)
class Severity:
    """How much a contradiction matters, and of what that is made; a part nobody knows is None and does not count."""

    recency: float | None
    domain: float
    frequency: float
    gap: float

    @property
    def score(self) -> float:
        """``100·(0.4·recency + 0.3·domain + 0.3·frequency)·(1 − gap/2)``, weights shared out again without a date."""
        known = _DOMAIN * self.domain + _FREQUENCY * self.frequency
        base = known / (_DOMAIN + _FREQUENCY) if self.recency is None else _RECENCY * self.recency + known
        return 100.0 * base * (1.0 - self.gap / 2.0)


PARTS = tuple(field.name for field in fields(Severity))


def recency(days: float) -> float:
    """``exp(−days/30)`` of the newer side: what was said this week misleads the next retrieval."""
    return exp(-max(days, 0.0) / _MONTH)


def domain(older: str, newer: str) -> float:
    """1 where a side speaks of security or compliance, 0.4 elsewhere."""
    return 1.0 if _of_security(older) or _of_security(newer) else _ORDINARY


def _of_security(text: str) -> bool:
    # no letter beyond ASCII is several small ones
    words = tokenize(text.lower()) if text.isascii() else [word.lower() for word in tokenize(text)]
    return not SECURITY.isdisjoint(words)


def frequency(standing: int) -> float:
    """``min(1, log2(1 + observations on both sides)/3)``: 1 from seven on."""
    return min(1.0, log2(1 + standing) / _CROWD)
