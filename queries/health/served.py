"""How sessions ended and what they were given, whose figures have a window before: one question per table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import BigInteger, and_, cast, exists, func, select

from queries import schema
from queries.engine import AGGREGATE

if TYPE_CHECKING:
    from sqlalchemy import Select

    from queries.scope import Scope


@dataclass(frozen=True)
class EndedRow:
    """One organization: the window's sessions with an outcome, those accepted, and those of an unknown outcome."""

    org_id: str
    judged: int
    accepted: int
    unknown_outcome: int


@dataclass(frozen=True)
class Ended:
    """Sessions begun in the window by how they ended; one without an outcome has not ended."""

    scope: Scope
    row: ClassVar[type] = EndedRow
    limit: ClassVar[float] = AGGREGATE

    def statement(self) -> Select[Any]:
        """Only organizations with a session that ended have a row."""
        table = schema.sessions
        ended = table.c.outcome
        counts = (ended.in_(schema.OUTCOMES), ended == "accepted", ended.not_in(schema.OUTCOMES))
        return (
            select(table.c.org_id, *(func.count().filter(each) for each in counts))
            .where(self.scope.where(table), ended.is_not(None))
            .group_by(table.c.org_id)
            .order_by(table.c.org_id)
        )


@dataclass(frozen=True)
class AnySessionsRow:
    """Whether there is any session."""

    sessions: bool


@dataclass(frozen=True)
class AnySessions:
    """Whether any session begun in the window has an outcome: the first one found is enough."""

    scope: Scope
    row: ClassVar[type] = AnySessionsRow
    limit: ClassVar[float] = AGGREGATE

    def statement(self) -> Select[Any]:
        """One row."""
        table = schema.sessions
        return select(exists().where(self.scope.where(table), table.c.outcome.in_(schema.OUTCOMES)))


@dataclass(frozen=True)
class MisledRow:
    """One organization: sessions that were diagnosed, and those of them that an observation misled."""

    org_id: str
    diagnosed: int
    misled: int


@dataclass(frozen=True)
class Misled:
    """Sessions diagnosed in the window, and those whose diagnostics name a misleading observation."""

    scope: Scope
    row: ClassVar[type] = MisledRow
    limit: ClassVar[float] = AGGREGATE

    def statement(self) -> Select[Any]:
        """Diagnostics know no project: it is their session's."""
        found, sessions = schema.session_diagnostics, schema.sessions
        at = found.c.created_at
        its_session = and_(sessions.c.org_id == found.c.org_id, sessions.c.id == found.c.session_id)
        named = func.cardinality(found.c.misleading_observation_ids) > 0
        return (
            select(found.c.org_id, func.count(), func.count().filter(named))
            .select_from(found.join(sessions, its_session))
            .where(self.scope.tenant(sessions), at >= self.scope.since, at < self.scope.until)
            .group_by(found.c.org_id)
            .order_by(found.c.org_id)
        )


@dataclass(frozen=True)
class BlocksRow:
    """One organization: memory blocks, those without any observation, and the tokens of all."""

    org_id: str
    blocks: int
    empty: int
    tokens: int


@dataclass(frozen=True)
class Blocks:
    """Memory blocks that agents were given in the window."""

    scope: Scope
    row: ClassVar[type] = BlocksRow
    limit: ClassVar[float] = AGGREGATE

    def statement(self) -> Select[Any]:
        """A block is empty if nothing was found for it, or nothing fitted its budget."""
        given = schema.context_injection_logs
        return (
            select(
                given.c.org_id,
                func.count(),
                func.count().filter(func.cardinality(given.c.observation_ids) == 0),
                cast(func.coalesce(func.sum(given.c.tokens_used), 0), BigInteger),
            )
            .where(self.scope.where(given))
            .group_by(given.c.org_id)
            .order_by(given.c.org_id)
        )
