"""How many retrievals a process queued, wrote and lost, by organization, and the one warning about each loss."""

from __future__ import annotations

import logging
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from queries.retrieval_log import RetrievalLog

logger = logging.getLogger("rankscope.retrieval")


@dataclass
class LogCounts:
    """Retrievals since the writer started; ``rows`` are the candidate rows of those written."""

    queued: int = 0
    written: int = 0
    rows: int = 0
    dropped: int = 0
    failed: int = 0

    def add(self, other: LogCounts) -> LogCounts:
        """Both together."""
        return LogCounts(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(LogCounts)))


class Tallies:
    """The counts of one process; whoever calls holds the writer's lock."""

    def __init__(self) -> None:
        self.by_org: dict[str, LogCounts] = {}
        self.failures: dict[str, str] = {}  # what last went wrong, by organization
        self.unreported: set[str] = set()
        self.warned: set[str] = set()

    def of(self, org: str) -> LogCounts:
        """One organization's counts, to be changed in place."""
        return self.by_org.setdefault(org, LogCounts())

    def total(self) -> LogCounts:
        """All organizations together."""
        found = LogCounts()
        for counts in self.by_org.values():
            found = found.add(counts)
        return found

    def written(self, batch: Iterable[RetrievalLog]) -> None:
        """Count what a committed transaction held."""
        for org, change in changes(batch).items():
            self.by_org[org] = self.of(org).add(change)

    def failed(self, batch: Iterable[RetrievalLog], kind: str) -> None:
        """Count what was queued and could not be written."""
        self._lose([each.org_id for each in batch], LogCounts(queued=-1, failed=1), kind)

    def abandoned(self, batch: Iterable[RetrievalLog], kind: str) -> None:
        """Count what was queued and never tried."""
        self._lose([each.org_id for each in batch], LogCounts(queued=-1, dropped=1), kind)

    def refused(self, org: str, kind: str) -> None:
        """Count what was not even queued."""
        self._lose([org], LogCounts(dropped=1), kind)

    def warn(self, kind: str) -> None:
        """One line for each kind of failure until the log works again: the counts say how often."""
        if kind not in self.warned:
            self.warned.add(kind)
            logger.warning("retrieval log: %s; retrievals go on, but their log rows may be lost", kind)

    def recovered(self) -> None:
        """The next failure is worth a warning again."""
        if self.warned:
            logger.info("retrieval log: everything that waited is written")
            self.warned.clear()

    def _lose(self, orgs: list[str], change: LogCounts, kind: str) -> None:
        for org in orgs:
            self.by_org[org] = self.of(org).add(change)
            self.failures[org] = kind
            self.unreported.add(org)
        if orgs:
            self.warn(kind)


def changes(batch: Iterable[RetrievalLog]) -> dict[str, LogCounts]:
    """What writing a batch changes in the counts of each of its organizations."""
    found: dict[str, LogCounts] = {}
    for each in batch:
        one = LogCounts(queued=-1, written=1, rows=len(each.rows))
        found[each.org_id] = found.get(each.org_id, LogCounts()).add(one)
    return found
