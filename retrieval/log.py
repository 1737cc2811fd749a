"""Logging a retrieval, as the live path calls it: queued at once, written later, never an error."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from queries.retrieval_log import CandidateRows, RetrievalLog
from queries.scope import EVERYTHING
from retrieval.log_counts import LogCounts
from retrieval.log_writer import LogWriter

if TYPE_CHECKING:
    from queries.engine import Store
    from queries.scope import Reach

__all__ = [
    "CandidateRows",
    "LogCounts",
    "LogWriter",
    "RetrievalLog",
    "log_retrieval_ab",
    "start_log_writer",
]

logger = logging.getLogger("rankscope.retrieval")


class _Process:
    """The writer of this process and whether its absence was mentioned."""

    writer: LogWriter | None = None
    warned = False


def start_log_writer(store: Store, reach: Reach = EVERYTHING, *, name: str | None = None) -> LogWriter:
    """Make the writer that ``log_retrieval_ab`` uses in this process; an earlier one writes what it has and stops."""
    earlier, _Process.writer = _Process.writer, LogWriter(store, reach, name=name)
    if earlier is not None:
        earlier.stop()
    return _Process.writer


def log_retrieval_ab(log: RetrievalLog, writer: LogWriter | None = None) -> bool:
    """Queue one row per candidate and the injection, and return at once whether that was done; nothing is raised (001).

    ``writer`` is this process's own unless another is given.
    """
    chosen = writer or _Process.writer
    try:
        if chosen is not None:
            return chosen.log(log)
        if log.session_id and not _Process.warned:
            _Process.warned = True
            logger.warning("retrieval log: no writer was started in this process, so nothing is logged")
    except Exception as error:  # noqa: BLE001 - a log must not take the retrieval down with it
        logger.warning("retrieval log: a retrieval could not be queued: %s", type(error).__name__)
    return False
