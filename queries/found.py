"""What a search for anything answers with, and how much of each organization it reads."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003 - frames read the rows' types as the program runs
from typing import TYPE_CHECKING

from sqlalchemy import BigInteger, DateTime, Text, cast, func, literal, null, select

from queries import schema

if TYPE_CHECKING:
    from sqlalchemy import ScalarSelect

    from queries.scope import Scope

FOUND = 10  # of each kind; one more is asked for, which tells that there are more
LONGEST_TEXT = 200
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


def share(scope: Scope, bound: int) -> ScalarSelect[int]:
    """How many rows of each organization may be read: all of the bound for a chosen one, else an equal part."""
    every = schema.organizations.alias("every")
    counted = scope.reach.where(every.c.id) if scope.org is None else every.c.id == scope.org
    part = literal(bound, BigInteger) // func.greatest(func.count(every.c.id), 1)
    return select(func.greatest(part, 1)).select_from(every).where(counted).scalar_subquery()
