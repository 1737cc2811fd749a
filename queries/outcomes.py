"""A session's outcome in the store: who holds it, what the session was given, and the weights it moves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import func, select, text, update

from queries import schema

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from sqlalchemy import Connection

# The history is written from what the update itself returned: no row without its change, no change without its row.
# Not now(): that is when the transaction began, before it waited for its turn.
MOVE = text(
    """with change as (
         select * from unnest(cast(:ids as uuid[]), cast(:before as double precision[]),
                              cast(:after as double precision[]), cast(:alpha as double precision[]))
           as t (id, before, after, alpha)),
       moved as (
         update observations o set weight = change.after from change
          where o.org_id = :org_id and o.id = change.id returning o.id, o.project_id)
       insert into observation_weight_history (org_id, project_id, observation_id, session_id, outcome,
                                               previous_weight, new_weight, alpha, recorded_at)
       select :org_id, moved.project_id, id, :session_id, :outcome, change.before, change.after, change.alpha,
              clock_timestamp()
         from moved join change using (id) order by id"""
)


class LockedSession(NamedTuple):
    """A session as it stands while its row is locked."""

    outcome: str | None


class GivenObservation(NamedTuple):
    """An observation that a session was given, as it stands while its row is locked."""

    id: UUID
    weight: float


class WeightChange(NamedTuple):
    """One observation's weight before and after an outcome, and the α between them."""

    observation_id: UUID
    before: float
    after: float
    alpha: float


@dataclass(frozen=True)
class SessionKey:
    """One session; every statement names its organization, which is what lets row security use the keys."""

    org_id: str
    session_id: str

    def lock(self, connection: Connection) -> LockedSession | None:
        """The outcome on record; until the transaction ends, nobody else records one. None for an unknown session."""
        table = schema.sessions
        mine = (table.c.org_id == self.org_id, table.c.id == self.session_id)
        locked = select(table.c.outcome).where(*mine).with_for_update(key_share=True)
        row = connection.execute(locked).one_or_none()
        return None if row is None else LockedSession(*row)

    def learned(self, connection: Connection) -> str | None:
        """The outcome that already moved weights; it stands, whatever the session says."""
        table = schema.observation_weight_history
        mine = (table.c.org_id == self.org_id, table.c.session_id == self.session_id)
        return connection.scalar(select(table.c.outcome).where(*mine).order_by(table.c.id).limit(1))

    def lock_given(self, connection: Connection) -> list[GivenObservation]:
        """All it was given, locked in the order of their ids: those who share some wait, and never for each other."""
        logs, table = schema.context_injection_logs, schema.observations
        mine = (logs.c.org_id == self.org_id, logs.c.session_id == self.session_id)
        given = select(func.unnest(logs.c.observation_ids)).where(*mine)
        wanted = (table.c.org_id == self.org_id, table.c.id.in_(given))
        both = (table.c.id, func.coalesce(table.c.weight, 1.0))  # as every ranking reads it
        locked = select(*both).where(*wanted).order_by(table.c.id).with_for_update(key_share=True)
        return [GivenObservation(*row) for row in connection.execute(locked)]

    def named_misleading(self, connection: Connection) -> frozenset[UUID]:
        """What this session's diagnostics say misled it."""
        table = schema.session_diagnostics
        mine = (table.c.org_id == self.org_id, table.c.session_id == self.session_id)
        return frozenset(connection.scalar(select(table.c.misleading_observation_ids).where(*mine)) or ())

    def failures_of(self, connection: Connection, ids: Sequence[UUID]) -> dict[UUID, int]:
        """How many sessions that were given each observation failed so far; one that none failed with has no entry."""
        table = schema.observation_weight_history
        mine = (table.c.org_id == self.org_id, table.c.observation_id.in_(ids))
        failed = (*mine, table.c.outcome.in_(schema.FAILURES))
        counted = (table.c.observation_id, func.count(table.c.session_id.distinct()))
        rows = connection.execute(select(*counted).where(*failed).group_by(table.c.observation_id))
        return {row[0]: row[1] for row in rows}

    def end(self, connection: Connection, outcome: str) -> None:
        """Put the outcome on record; a session that had ended keeps its time."""
        table = schema.sessions
        mine = (table.c.org_id == self.org_id, table.c.id == self.session_id)
        ended_at = func.coalesce(table.c.ended_at, func.clock_timestamp())
        connection.execute(update(table).where(*mine).values(outcome=outcome, ended_at=ended_at))

    def move(self, connection: Connection, outcome: str, moves: Sequence[WeightChange]) -> None:
        """Set the weights and write their history."""
        ids, before, after, alpha = (list(column) for column in zip(*moves, strict=True))
        values = {"ids": ids, "before": before, "after": after, "alpha": alpha}
        connection.execute(MOVE, {**values, "org_id": self.org_id, "session_id": self.session_id, "outcome": outcome})
