from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ranking.candidates import Candidates, Flags, Positions, Scores
from ranking.limits import within
from ranking.options import Option
from ranking.ranking import Ranking

DEFAULT_SHARE = 0.6
DEFAULT_CAP = 0.12


class Granularity(Option):
    """What a row of the store is: a single observation, one turn of a session, or a whole session."""

    OBSERVATION = "observation"
    TURN = "turn"
    SESSION = "session"


def turn_support(best_turn: Scores, share: float = DEFAULT_SHARE, cap: float = DEFAULT_CAP) -> Scores:
    """``min(0.12, 0.6·best turn)``, 0 without a turn: bounded, so turns lift a session but never carry it (002)."""
    return np.minimum(cap, share * np.maximum(best_turn, 0.0))


@dataclass(frozen=True, eq=False)
class SessionEvidence:
    """Per row: whether it is a session, what its turns add, how many there are, and its best turn (-1: none)."""

    is_session: Flags
    support: Scores
    supporting_turns: Positions
    best_turn: Positions


def session_evidence(
    scores: Scores,
    session: Any,  # noqa: ANN401 - an Arrow array of names or nulls, as is the next
    granularity: Any,  # noqa: ANN401
    share: float = DEFAULT_SHARE,
    cap: float = DEFAULT_CAP,
) -> SessionEvidence:
    """What the turns among the rows say for the sessions among them; a row without a session supports nobody."""
    is_session, is_turn = (
        _where(pc.equal(granularity, pa.scalar(kind.value, pa.large_string())))
        for kind in (Granularity.SESSION, Granularity.TURN)
    )
    named = _where(pc.is_valid(session))
    turns = np.flatnonzero(is_turn & named)
    codes = np.asarray(session.dictionary_encode("encode").indices, dtype=np.intp)
    groups = int(codes.max(initial=-1)) + 1
    best = np.zeros(groups)
    np.maximum.at(best, codes[turns], scores[turns])
    count = np.bincount(codes[turns], minlength=groups).astype(np.intp)
    winner = np.full(groups, -1, dtype=np.intp)
    # written backwards, so that of equal turns the first stands; a turn that scores nothing names no routes
    first_best = turns[(scores[turns] == best[codes[turns]]) & (scores[turns] > 0)][::-1]
    winner[codes[first_best]] = first_best
    support = np.where(is_session & named, turn_support(best, share, cap)[codes], 0.0)
    return SessionEvidence(
        is_session, support, np.where(is_session & named, count[codes], 0), np.where(named, winner[codes], -1)
    )


def sessions_to_fetch(candidates: Candidates) -> tuple[str, ...]:
    """Sessions known only through their turns, as first seen: what the caller fetches and adds with leg ranks of -1.

    A row that no leg returned scores 0, so such a session stands on its turns' support alone (002).
    """
    session, granularity = candidates.texts("session"), candidates.texts("granularity")
    present, spoken = (
        session.filter(pc.equal(granularity, pa.scalar(kind.value, pa.large_string()))).unique().drop_null()
        for kind in (Granularity.SESSION, Granularity.TURN)
    )
    missing: list[str] = spoken.filter(pc.invert(pc.is_in(spoken, value_set=present))).to_pylist()
    return tuple(missing)


def _where(flags: Any) -> Flags:  # noqa: ANN401 - an Arrow array of booleans or nulls
    return np.asarray(pc.fill_null(flags, False), dtype=np.bool_)  # noqa: FBT003 - Arrow names it so


@dataclass(frozen=True)
class SessionSupport:
    """Where sessions are present, keep only them, lifted by their best turn; otherwise leave all as it is (002)."""

    share: float = DEFAULT_SHARE
    cap: float = DEFAULT_CAP
    words: ClassVar[str] = "its best turn adds {share:g} of its score, at most {cap:g}: {delta:+.4f}"
    dropped: ClassVar[str] = "sessions were found, and this row is not one"

    def __post_init__(self) -> None:
        within("share", self.share, 0)
        within("cap", self.cap, 0)

    def __call__(self, ranking: Ranking) -> Ranking:
        scores = ranking.scores
        found = session_evidence(scores, ranking.texts("session"), ranking.texts("granularity"), self.share, self.cap)
        if not found.is_session.any():
            return ranking.scored(self, scores)
        return ranking.kept(self, found.is_session, scores + found.support)
