"""What is learned from how a session ended: the weights of all that it was given, once, with their history."""

from __future__ import annotations

import math
import random
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from queries.errors import StoreError
from queries.outcomes import GivenObservation, SessionKey, WeightChange
from queries.schema import OUTCOMES
from queries.scope import Reach, is_storable
from ranking.feedback import Outcome, is_misleading, learning_rate, update_weight
from ranking.options import Option
from retrieval.log_writer import wait_for_log

if TYPE_CHECKING:
    from collections.abc import Iterable
    from uuid import UUID

    from sqlalchemy import Connection

    from queries.engine import Store

__all__ = ["OutcomeStatus", "RecordedOutcome", "WeightChange", "is_misleading", "record_outcome"]

ATTEMPTS = 5
PAUSE = 0.05
LOG_WAIT = 2.0  # seconds that retrievals of the session still in this process's queue are waited for
STILL_WAITING = "Retrievals of the session are not in the log yet: nothing was recorded. Call again in a moment."
# Safe to repeat whatever became of the first attempt: the second finds the outcome on record.
PASSING = frozenset({"retry", "locked", "connection", "restarting", "starting", "unreachable", "busy", "connections"})


class OutcomeStatus(Option):
    """What became of an outcome."""

    RECORDED = "recorded"
    ALREADY = "already"  # the same outcome was recorded before: nothing was changed
    CONTRADICTS = "contradicts"  # another one was: it stands, nothing was changed
    UNKNOWN_SESSION = "unknown_session"  # there is no such session in this organization


@dataclass(frozen=True)
class RecordedOutcome:
    """The outcome on record after a call and the weights that this call moved, by observation id.

    It is none where there is no such session, and where a platform has put another word on record than the three.
    """

    status: OutcomeStatus
    outcome: Outcome | None
    changes: tuple[WeightChange, ...] = ()
    unusable: tuple[GivenObservation, ...] = ()  # given, but their weight is no number: left as they are


def record_outcome(store: Store, org_id: str, session_id: str, outcome: Outcome | str) -> RecordedOutcome:
    """Record how a session ended and move the weights of what it was given, in one transaction, once per session.

    Raises ``StoreError`` when nothing could be recorded; calling again is always safe.
    """
    wanted = Outcome(outcome)
    if not (is_storable(org_id) and is_storable(session_id)):
        return RecordedOutcome(OutcomeStatus.UNKNOWN_SESSION, None)
    if not wait_for_log(org_id, session_id, LOG_WAIT):
        # recorded now, the outcome would be final for what is logged and lost for what still waits
        raise StoreError("log_waits", STILL_WAITING)
    session = SessionKey(org_id, session_id)
    attempts = 0
    while True:
        try:
            with store.writing(Reach((org_id,)), name="outcome") as connection:
                return _record(connection, session, wanted)
        except StoreError as error:
            attempts += 1
            if error.kind not in PASSING or attempts == ATTEMPTS:
                raise
        time.sleep(PAUSE * 2**attempts * random.uniform(0.5, 1))  # noqa: S311 - jitter, nothing secret


def _record(connection: Connection, session: SessionKey, wanted: Outcome) -> RecordedOutcome:
    row = session.lock(connection)
    if row is None:
        return RecordedOutcome(OutcomeStatus.UNKNOWN_SESSION, None)
    learned = session.learned(connection)
    on_record = learned or row.outcome
    if on_record is not None and on_record != wanted:
        return RecordedOutcome(OutcomeStatus.CONTRADICTS, Outcome(on_record) if on_record in OUTCOMES else None)
    if learned is not None:
        return RecordedOutcome(OutcomeStatus.ALREADY, wanted)
    # A platform may have written the outcome itself: its session is then on record, but nothing was learned yet.
    given = session.lock_given(connection)
    usable = [each for each in given if math.isfinite(each.weight)]
    unusable = tuple(each for each in given if not math.isfinite(each.weight))
    changes = _changes(connection, session, wanted, usable)
    if row.outcome is None:
        session.end(connection, wanted)
    elif not changes:
        return RecordedOutcome(OutcomeStatus.ALREADY, wanted, unusable=unusable)
    if changes:
        session.move(connection, wanted, changes)
    return RecordedOutcome(OutcomeStatus.RECORDED, wanted, changes, unusable)


def _changes(
    connection: Connection, session: SessionKey, outcome: Outcome, given: Iterable[GivenObservation]
) -> tuple[WeightChange, ...]:
    """The weights after an outcome; asked while the rows are locked, so that no other outcome comes between."""
    rows = tuple(given)
    named: frozenset[UUID] = frozenset()
    failures: dict[UUID, int] = {}
    failed = outcome is not Outcome.ACCEPTED
    if failed and rows:
        # only a failed session can have been misled, and it counts itself
        named = session.named_misleading(connection)
        failures = session.failures_of(connection, [row.id for row in rows])
    found = []
    for row in rows:
        misled = failed and is_misleading(
            named_by_diagnostics=row.id in named, failed_sessions=failures.get(row.id, 0) + 1
        )
        after = update_weight(row.weight, outcome, misleading=misled)
        found.append(WeightChange(row.id, row.weight, after, learning_rate(outcome, misleading=misled)))
    return tuple(found)
