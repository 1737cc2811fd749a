import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ranking.candidates import Column, Flags, Scores
from ranking.limits import finite, within
from ranking.ranking import Ranking

BOOST = 0.05
SESSION_CAP = 50
IDLE_SECONDS = 6 * 3600.0


def session_recency(scores: Scores, shown_before: Flags, boost: float = BOOST) -> Scores:
    """``+ 0.05`` for rows this session was shown before this call: breaks ties, leapfrogs nothing (004)."""
    return scores + boost * shown_before


class SessionMemory:
    """The last 50 ids each session was shown, oldest first; a repeat moves to the back.

    Sessions idle for six hours are forgotten: the document's own map grows for ever. ``now`` is in seconds, passed in.
    """

    def __init__(self, cap: int = SESSION_CAP, idle_seconds: float = IDLE_SECONDS) -> None:
        within("cap", cap, 1)
        within("idle_seconds", idle_seconds, 0)
        self.cap = cap
        self.idle_seconds = idle_seconds
        self._lock = threading.Lock()
        # sessions in the order they were last seen, so that the idle ones stand in front
        self._sessions: OrderedDict[str, tuple[float, OrderedDict[Any, None]]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._sessions)

    def recent(self, session: str | None) -> tuple[Any, ...]:
        """The ids the session was shown, oldest first; none for no session or an unknown one."""
        with self._lock:
            return tuple(self._sessions.get(session or "", (0.0, ()))[1])

    def shown_before(self, session: str | None, ids: Column | Sequence[Any]) -> Flags:
        """Which of these ids the session was shown before."""
        known = frozenset(self.recent(session))
        return np.fromiter(map(known.__contains__, ids), np.bool_, len(ids))

    def record(self, session: str | None, ids: Iterable[Any], now: float) -> None:
        """Remember what was shown, in rank order, and forget sessions that have been idle; no session, no effect."""
        if not session:
            return
        with self._lock:
            _, shown = self._sessions.pop(session, (now, OrderedDict()))
            for label in ids:
                shown[label] = None
                shown.move_to_end(label)
                if len(shown) > self.cap:
                    shown.popitem(last=False)
            self._sessions[session] = (now, shown)
            while self._sessions and next(iter(self._sessions.values()))[0] < now - self.idle_seconds:
                self._sessions.popitem(last=False)


@dataclass(frozen=True)
class SessionRecency:
    """Add a little to rows the session has seen (004); the column says which those are."""

    boost: float = BOOST
    words: ClassVar[str] = "shown to this session before: {delta:+.4f}"

    def __post_init__(self) -> None:
        finite("boost", self.boost)

    def __call__(self, ranking: Ranking) -> Ranking:
        return ranking.scored(self, session_recency(ranking.scores, ranking.column("shown_before"), self.boost))
