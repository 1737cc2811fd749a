"""When the log last had an observation before some moment, whoever asked for it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, func, select, true

from queries import schema

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, FromClause

    from queries.scope import Scope
    from queries.shape import LogShape

BEGINNING = datetime.min.replace(tzinfo=UTC)


def by_anyone(scope: Scope) -> Scope:
    """The scope without its project: a session of no project or of another one recalls this one's memory too."""
    return replace(scope, project=None)


def with_last_retrieval(
    table: FromClause, scope: Scope, shape: LogShape, by: datetime, needed: ColumnElement[bool]
) -> tuple[FromClause, ColumnElement[Any]]:
    """Observations beside when the log last had each before ``by``, where that is ``needed``; null where it never had.

    One look at the end of an index for each, however long the log is; without such an index the log is read once.
    """
    if shape.created_at and shape.by_observation:
        logs = schema.retrieval_ab_logs
        its_own = (logs.c.org_id == table.c.org_id, logs.c.observation_id == table.c.id)
        last: FromClause = (
            select(logs.c.created_at.label("at"))
            .where(*its_own, logs.c.created_at < by, needed)
            .order_by(logs.c.created_at.desc())
            .limit(1)
            .lateral("last")
        )
        return table.outerjoin(last, true()), last.c.at
    log = shape.rows(replace(by_anyone(scope), since=BEGINNING, until=by))
    names = (log.c.org_id, log.c.observation_id)
    last = select(*names, func.max(log.c.at).label("at")).group_by(*names).cte("last")
    its_own = (last.c.org_id == table.c.org_id, last.c.observation_id == table.c.id)
    return table.outerjoin(last, and_(*its_own)), last.c.at
