import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from ranking.candidates import Flags, Scores
from ranking.limits import within
from ranking.options import Option

MAX_SEQUENCE = 512
DEFAULT_SEQUENCE = 256


class ScorerUsed(Option):
    """Who scored the pairs; a neural scorer that had to be replaced never passes for one."""

    NONE = "none"
    LEXICAL = "lexical"
    DEGRADED_LEXICAL = "degraded_lexical"
    NEURAL = "neural"


class Pair(NamedTuple):
    """A query and one text it is held against."""

    query: str
    title: str
    content: str


@dataclass(frozen=True, eq=False)
class PairScores:
    """A score of 0–1 per pair, and for which pairs the lexical scorer had to stand in."""

    scores: Scores
    fell_back: Flags
    scorer: ScorerUsed

    @property
    def scorer_used(self) -> ScorerUsed:
        """The scorer to name beside these scores."""
        if not self.scores.size:
            return ScorerUsed.NONE
        return ScorerUsed.DEGRADED_LEXICAL if self.fell_back.any() else self.scorer

    def part(self, start: int, stop: int) -> "PairScores":
        """The scores of the pairs from ``start`` to ``stop``: what one of several callers asked for."""
        return PairScores(self.scores[start:stop], self.fell_back[start:stop], self.scorer)


class PairScorer(Protocol):
    """Scores pairs of query and text; several callers' pairs may come in one call, which is one forward pass."""

    @property
    def neural(self) -> bool:
        """Whether a call costs a forward pass, so that calls are worth joining."""
        ...

    def score(self, pairs: Sequence[Pair]) -> PairScores:
        """A score of 0–1 per pair, NaN for a pair that failed."""
        ...


class _SequenceCap:
    """The process-wide cap on the tokens of a pair; a list, so that the first writer wins without a global."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._set: int | None = None

    def set(self, tokens: int) -> int:
        within("tokens", tokens, 1)
        with self._lock:
            if self._set is None:
                self._set = min(tokens, MAX_SEQUENCE)
            return self._set

    def get(self) -> int:
        return self._set or DEFAULT_SEQUENCE


_cap = _SequenceCap()


def set_max_sequence(tokens: int) -> int:
    """Set the cap once per process and return the one that holds: the first setting wins, 512 is the ceiling (004)."""
    return _cap.set(tokens)


def max_sequence() -> int:
    """The cap that holds, 256 unless set; 128 to 192 is what pays on a CPU."""
    return _cap.get()


def unscored(count: int) -> PairScores:
    """Scores of a call that failed as a whole: NaN for every pair."""
    return PairScores(np.full(count, np.nan), np.full(count, fill_value=False), ScorerUsed.NONE)
