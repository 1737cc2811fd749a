"""What processes that log retrievals have written and lost, kept where another process can read it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import BigInteger, delete, func, select, text
from sqlalchemy.dialects.postgresql import aggregate_order_by, insert

from queries import own_schema
from queries.engine import LIST
from queries.errors import StoreError
from queries.scope import EVERYTHING

if TYPE_CHECKING:
    from uuid import UUID

    from sqlalchemy import ColumnElement, Connection, Select

    from queries.engine import Store
    from queries.scope import Reach, Scope

COUNTED = ("queued", "written", "rows", "dropped", "failed")
NAMED, LONGEST_NAME = 3, 60  # of the processes that lost most
RECENT = timedelta(days=1)
UNSEEN = timedelta(days=90)  # after which a process is taken to have ended long ago

# By oid: asking for a table by name is an error where the login may not enter its schema.
CAN_REPORT = text(
    """select exists (select from pg_class c join pg_namespace n on n.oid = c.relnamespace
                       where n.nspname = 'rankscope' and c.relname = 'log_writers'
                         and has_schema_privilege(n.oid, 'usage') and has_table_privilege(c.oid, 'select')
                         and has_table_privilege(c.oid, 'insert') and has_table_privilege(c.oid, 'update'))"""
)


@dataclass(frozen=True)
class WriterReport:
    """One organization's retrievals in one logging process since it started; whole numbers, never differences.

    So a report that is sent twice, because nobody knows whether the first arrived, counts nothing twice.
    """

    org_id: str
    writer: UUID
    name: str
    started_at: datetime
    queued: int
    written: int
    rows: int
    dropped: int
    failed: int
    last_failure: str | None


def can_report(connection: Connection) -> bool:
    """Whether this store has our table and this login may write to it."""
    return bool(connection.execute(CAN_REPORT).scalar_one())


def report(connection: Connection, reports: list[WriterReport]) -> None:
    """Put reports in place of the earlier ones of the same process."""
    if not reports:
        return
    # in one order, so that no two transactions wait for each other
    rows = [asdict(each) for each in sorted(reports, key=lambda each: each.org_id)]
    statement = insert(own_schema.log_writers).values(rows)
    changes = {name: statement.excluded[name] for name in (*COUNTED, "last_failure")} | {
        "seen_at": func.clock_timestamp()
    }
    connection.execute(statement.on_conflict_do_update(index_elements=["org_id", "writer"], set_=changes))


@dataclass(frozen=True)
class ForgetWriters:
    """Take away the reports of processes that have not been seen for 90 days.

    The aggregator does it: a writer that has ended cannot, and one that runs may only add.
    """

    reach: Reach

    def apply(self, connection: Connection) -> int:
        """How many were forgotten."""
        table = own_schema.log_writers
        old = table.c.seen_at < func.now() - UNSEEN
        return connection.execute(delete(table).where(self.reach.where(table.c.org_id), old)).rowcount


@dataclass(frozen=True)
class LogHealthRow:
    """One organization's retrievals over all processes, the first of which began at ``started_at``.

    ``queued`` is as each of them last said, ``losing`` names those that lost most.
    """

    org_id: str
    writers: int
    queued: int
    written: int
    rows: int
    dropped: int
    failed: int
    last_failure: str | None
    losing: str | None
    started_at: datetime
    seen_at: datetime


@dataclass(frozen=True)
class LogHealth:
    """What was logged and lost, one row per organization, by the processes that last reported in the window.

    Their counts are of their whole lives, also of what came before the window: a process counts no days or projects.
    """

    scope: Scope
    row: ClassVar[type] = LogHealthRow
    limit: ClassVar[float] = LIST

    def statement(self) -> Select[Any]:
        """Sums over processes; no row for an organization of which none reported."""
        table = own_schema.log_writers
        newest_failure = aggregate_order_by(table.c.last_failure, table.c.seen_at.desc())
        lost = table.c.dropped + table.c.failed
        names = aggregate_order_by(func.left(table.c.name, LONGEST_NAME), lost.desc(), table.c.name)
        return (
            select(
                table.c.org_id,
                func.count(),
                *_sums(),
                func.array_agg(newest_failure).filter(table.c.last_failure.is_not(None))[1],
                func.array_to_string(func.array_agg(names).filter(lost > 0)[1:NAMED], ", "),
                func.min(table.c.started_at),
                func.max(table.c.seen_at),
            )
            .where(
                self.scope.organizations(table.c.org_id),
                table.c.seen_at >= self.scope.since,
                table.c.seen_at < self.scope.until,
            )
            .group_by(table.c.org_id)
            .order_by(table.c.org_id)
        )


def log_totals(store: Store, limit: float) -> dict[str, int] | None:
    """The same over every organization and the last day; ``None`` where it cannot be told, never zeros."""
    table = own_schema.log_writers
    recent = select(*_sums()).where(table.c.seen_at > func.now() - RECENT)
    try:
        row = store.once(EVERYTHING, limit, lambda connection: connection.execute(recent).one(), name="readyz")
    except StoreError:
        return None
    return dict(zip(COUNTED, row, strict=True))


def _sums() -> list[ColumnElement[int]]:
    table = own_schema.log_writers
    return [func.coalesce(func.sum(table.c[name]), 0).cast(BigInteger) for name in COUNTED]
