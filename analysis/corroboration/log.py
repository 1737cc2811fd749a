"""Which observations the retrievals of a window had among their candidates: what a boost could have touched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.corroboration.packed_arrays import pack, unpack
from queries.replay.logged import READING, ReplayLog, id_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy.typing as npt

    from analysis.corroboration.agreement import HasStore
    from queries.engine import Store
    from queries.scope import Scope

    Whole = npt.NDArray[np.int64]
    Scores = npt.NDArray[np.float64]
    Report = Callable[[int, int, str], None]


@dataclass(frozen=True, eq=False)
class LoggedCandidates:
    """The newest 20 000 retrievals of a window: candidates as numbers into ``ids``, one retrieval after the other.

    ``boosted`` had a boost when they were logged; ``logged`` counts those beyond the newest too.
    """

    ids: tuple[str, ...]
    candidate: Whole
    start: Whole
    boosted: int
    logged: int

    @property
    def retrievals(self) -> int:
        """How many there are here."""
        return len(self.start)

    def first_levels(self, row_of: Mapping[str, int], levels: Scores) -> Scores:
        """For each retrieval the level at which a candidate first is in a cluster; infinite where none ever is."""
        if not self.retrievals:
            return np.empty(0)
        rows = np.array([row_of.get(id_, -1) for id_ in self.ids], np.int64)
        known = np.where(rows >= 0, levels[rows], np.inf) if len(levels) else np.full(len(rows), np.inf)
        return np.asarray(np.minimum.reduceat(known[self.candidate], self.start))

    def to_json(self) -> dict[str, Any]:
        """Every column, packed."""
        columns = {"candidate": pack(self.candidate.astype(np.int32)), "start": pack(self.start.astype(np.int32))}
        return {"ids": list(self.ids), **columns, "boosted": self.boosted, "logged": self.logged}

    @classmethod
    def from_json(cls, said: dict[str, Any]) -> LoggedCandidates:
        """What ``to_json`` wrote."""
        candidate, start = (unpack(said[name]).astype(np.int64) for name in ("candidate", "start"))
        return cls(tuple(said["ids"]), candidate, start, said["boosted"], said["logged"])


def logged_candidates(store: Store, scope: Scope) -> LoggedCandidates:
    """The candidates of one organization's logged retrievals in the scope's window."""
    with store.reading(scope.reach, READING, name="corroboration log") as snapshot:
        log = ReplayLog(scope).read(snapshot)
    ids, candidate = np.unique(log.candidates["id"], return_inverse=True)
    start = np.cumsum(log.size) - log.size
    had = np.nan_to_num(log.candidates["boost"].astype(np.float64)) > 0
    boosted = int(np.logical_or.reduceat(had, start).sum()) if len(start) else 0
    return LoggedCandidates(tuple(id_text(bytes(each)) for each in ids), candidate, start, boosted, log.logged)


def log_in_worker(memory: HasStore, scope: Scope, _params: Mapping[str, Any], report: Report) -> dict[str, Any]:
    """The worker's task ``corroboration_log``."""
    report(0, 1, "reading the log")
    return logged_candidates(memory.store, scope).to_json()
