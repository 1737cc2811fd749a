"""What a search for anything answers with, and how much of each organization it reads."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003 - frames read the rows' types as the program runs
from typing import TYPE_CHECKING, Any

from sqlalchemy import BigInteger, DateTime, Integer, Text, cast, func, literal, null, select, true

from queries import schema

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import ColumnElement, ScalarSelect, Select

    from queries.scope import Scope

FOUND = 10  # of each kind; one more is asked for, which tells that there are more
LONGEST_TEXT = 200
ROUNDS = 8  # of handing on what small organizations leave; each reads the bound once, of an index alone
NEVER, NOWHERE = cast(null(), DateTime(timezone=True)), cast(null(), Text)


@dataclass(frozen=True)
class FoundRow:
    """One thing: its id, whose it is, what it is called or says; when and where it was written, if it was."""

    id: str
    org_id: str
    organization: str
    name: str
    at: datetime | None
    project: str | None


def share(scope: Scope, bound: int, rows_of: Callable[[ColumnElement[str]], Select[Any]]) -> ScalarSelect[int]:
    """How many rows of each organization may be read, so that those of all together stay within the bound.

    All of it for a chosen one. Else an equal part, raised round by round by what organizations with fewer rows leave:
    ``part + (bound - Σ min(rows, part)) // organizations with more rows``.
    """
    if scope.org is not None:
        return select(literal(bound, BigInteger)).scalar_subquery()
    every = schema.organizations.alias("every")
    mine = scope.reach.where(every.c.id)
    equal = literal(bound, BigInteger) // func.greatest(func.count(every.c.id), 1, type_=BigInteger)
    start = select(literal(1, Integer).label("round"), func.greatest(equal, 1, type_=BigInteger).label("part"))
    parts = start.select_from(every).where(mine).cte("parts", recursive=True)
    # one row beyond its part tells that an organization has more, without counting them all
    read = rows_of(every.c.id).limit(parts.c.part + 1).correlate(every, parts).subquery("read")
    theirs = select(func.count().label("rows")).select_from(read).correlate(every, parts).lateral("theirs")
    have_more = func.count().filter(theirs.c.rows > parts.c.part)
    left = literal(bound, BigInteger) - cast(func.sum(func.least(theirs.c.rows, parts.c.part)), BigInteger)
    raised = (
        select((left // func.nullif(have_more, 0, type_=BigInteger)).label("by"))
        .select_from(every.join(theirs, true()))
        .where(mine)
        .correlate(parts)
        .lateral("raised")
    )
    again = select(parts.c.round + 1, parts.c.part + raised.c.by).select_from(parts.join(raised, true()))
    parts = parts.union_all(again.where(parts.c.round < ROUNDS, raised.c.by > 0))
    return select(func.max(parts.c.part)).scalar_subquery()
