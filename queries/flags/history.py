"""What was changed, by whom and why: the audit as pages read it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003 - frames read the rows' types as the program runs
from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import BigInteger, Text, and_, cast, func, literal, or_, select, tuple_
from sqlalchemy.dialects.postgresql import aggregate_order_by

from queries import own_schema, schema
from queries.engine import AGGREGATE, LIST
from queries.flags.entries import spoken
from queries.flags.states import LONGEST_FEATURES
from queries.organizations import SHOWN, by_name, in_scope, shown_name

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Select

    from queries.scope import Scope

audit = own_schema.flag_changes
PAGE = 50
LONGEST_PREVIEW = 20_000


@dataclass(frozen=True)
class FlagChangeRow:
    """One change with the name of its organization, and the change that took it back, if one did."""

    id: int
    org_id: str
    name: str
    flag: str
    old: str
    new: str
    reason: str
    actor: str
    changed_at: datetime
    reverts_id: int | None
    reverted_by: int | None
    source: str
    request_id: str


def _reverted_by(scope: Scope) -> ColumnElement[int]:
    """The first change that took one back, from a map that is made once.

    No index leads to it, and of a join the planner makes a loop in a loop where it expects few rows.
    """
    later = audit.alias("later")
    first_last = aggregate_order_by(later.c.id, later.c.id.desc())  # the last of a name stays in the map
    reverts = (
        select(func.jsonb_object_agg(_named(later.c.org_id, later.c.reverts_id), first_last))
        .where(later.c.reverts_id.is_not(None), scope.organizations(later.c.org_id))
        .scalar_subquery()
    )
    return cast(reverts.op("->>", return_type=Text())(_named(audit.c.org_id, audit.c.id)), BigInteger)


def _named(org: ColumnElement[str], number: ColumnElement[int]) -> ColumnElement[str]:
    return func.concat(number, " ", org, type_=Text())


def _rows(scope: Scope, *more: ColumnElement[Any]) -> Select[Any]:
    orgs = schema.organizations
    return select(
        audit.c.id,
        audit.c.org_id,
        func.coalesce(shown_name(orgs), audit.c.org_id),
        audit.c.flag,
        spoken(audit.c.old_state),
        spoken(audit.c.new_state),
        audit.c.reason,
        audit.c.actor,
        audit.c.changed_at,
        audit.c.reverts_id,
        _reverted_by(scope),
        audit.c.source,
        cast(audit.c.request_id, Text),
        *more,
    ).select_from(audit.outerjoin(orgs, orgs.c.id == audit.c.org_id))


@dataclass(frozen=True)
class FlagHistory:
    """Changes newest first; ``before`` is the id of the entry that the page before ended with."""

    scope: Scope
    flag: str | None = None
    words: str | None = None
    before: int | None = None
    size: int = PAGE
    row: ClassVar[type] = FlagChangeRow
    limit: ClassVar[float] = AGGREGATE

    def wanted(self) -> list[ColumnElement[bool]]:
        """What narrows it; words are found in reason and actor, literally."""
        wanted = [self.scope.organizations(audit.c.org_id)]
        if self.flag is not None:
            wanted.append(audit.c.flag == self.flag)
        if self.words:
            found_in = (audit.c.reason, audit.c.actor)
            wanted.append(or_(*(column.icontains(self.words, autoescape=True) for column in found_in)))
        if self.before is not None:
            last = audit.alias("last")
            mine = self.scope.reach.where(last.c.org_id)  # not the scope's alone: it may have been narrowed since
            at = select(last.c.changed_at).where(mine, last.c.id == self.before).scalar_subquery()
            wanted.append(tuple_(audit.c.changed_at, audit.c.id) < tuple_(at, literal(self.before, BigInteger)))
        return wanted

    def statement(self) -> Select[Any]:
        """One page by its keys and not by counting rows."""
        newest_first = (audit.c.changed_at.desc(), audit.c.id.desc())
        return _rows(self.scope).where(*self.wanted()).order_by(*newest_first).limit(self.size)


@dataclass(frozen=True)
class FileCutRow:
    """There is more."""

    more: int


@dataclass(frozen=True)
class FileCut:
    """Whether a history has more changes than its size; no row where it has not."""

    whole: FlagHistory
    row: ClassVar[type] = FileCutRow
    limit: ClassVar[float] = AGGREGATE

    @property
    def scope(self) -> Scope:
        """That of the history."""
        return self.whole.scope

    def statement(self) -> Select[Any]:
        """Rows are passed over without a look at what they hold."""
        return select(literal(1)).select_from(audit).where(*self.whole.wanted()).limit(1).offset(self.whole.size)


@dataclass(frozen=True)
class OpenedChangeRow(FlagChangeRow):
    """One change with everything that was known when it was made, and when its flag was next changed."""

    preview: str | None
    next_at: datetime | None


@dataclass(frozen=True)
class OpenedChange:
    """The change of an id, if it lies in scope."""

    scope: Scope
    id: int
    row: ClassVar[type] = OpenedChangeRow
    limit: ClassVar[float] = LIST

    def statement(self) -> Select[Any]:
        """The preview travels as text, as it was stored."""
        later = audit.alias("after")
        same = and_(later.c.org_id == audit.c.org_id, later.c.flag == audit.c.flag, later.c.id > audit.c.id)
        next_at = select(func.min(later.c.changed_at)).where(same).scalar_subquery()
        preview = func.left(cast(audit.c.preview, Text), LONGEST_PREVIEW)
        return _rows(self.scope, preview, next_at).where(
            self.scope.organizations(audit.c.org_id), audit.c.id == self.id
        )


@dataclass(frozen=True)
class FlagObjectRow:
    """One organization's features as stored, unparsed; ``total`` is how many there are in scope."""

    org_id: str
    name: str
    features: str | None
    total: int


@dataclass(frozen=True)
class FlagObjects:
    """The organizations in scope with their features as text: one malformed value fails no other."""

    scope: Scope
    row: ClassVar[type] = FlagObjectRow
    limit: ClassVar[float] = LIST

    def statement(self) -> Select[Any]:
        """By name, as many as a page can show; cut where a value is no longer a set of flags."""
        orgs = schema.organizations
        features = func.left(cast(orgs.c.features, Text), LONGEST_FEATURES)
        return (
            select(orgs.c.id, shown_name(orgs), features, func.count().over())
            .where(in_scope(self.scope))
            .order_by(*by_name(orgs))
            .limit(SHOWN)
        )
