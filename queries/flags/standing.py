"""What the audit says each flag should be now, since when, and why."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003 - frames read the rows' types as the program runs
from typing import TYPE_CHECKING, ClassVar

from sqlalchemy import and_, case, exists, func, literal, select, true
from sqlalchemy.dialects.postgresql import distinct_on

from queries import own_schema
from queries.engine import AGGREGATE
from queries.flags.entries import spoken
from queries.flags.series import series

if TYPE_CHECKING:
    from typing import Any

    from sqlalchemy import CTE, Select, Subquery

    from queries.scope import Scope

audit = own_schema.flag_changes


@dataclass(frozen=True)
class StandingRow:
    """The change since which a flag has been as its newest change left it, but for changes soon taken back.

    ``restored`` where it left again what was set outside.
    """

    org_id: str
    flag: str
    id: int
    new: str
    reason: str
    actor: str
    changed_at: datetime
    restored: bool = False


@dataclass(frozen=True)
class StandingChanges:
    """What the audit says each flag should be now, and since when; a flag never changed here has no row."""

    scope: Scope
    row: ClassVar[type] = StandingRow
    limit: ClassVar[float] = AGGREGATE

    def statement(self) -> Select[Any]:
        """One change per organization and flag: the last that was not soon taken back, if it left the state of now.

        Where none did, the state was set outside before all that were taken back: then the first that left it again.
        """
        held = _held(self.scope)
        kept = held.c.size % 2 == 1
        since = (
            select(held.c.org_id, held.c.flag, held.c.id, held.c.reverts_id)
            .where(held.c.until_now)
            .ext(distinct_on(held.c.org_id, held.c.flag))
            .order_by(held.c.org_id, held.c.flag, kept.desc(), case((kept, -held.c.number), else_=held.c.number))
            .cte("since")
        )
        restored = _restored(since)
        theirs = exists().where(restored.c.org_id == since.c.org_id, restored.c.id == since.c.id, restored.c.outside)
        said = (spoken(audit.c.new_state), audit.c.reason, audit.c.actor, audit.c.changed_at)
        return (
            select(since.c.org_id, since.c.flag, since.c.id, *said, theirs)
            .select_from(since.join(audit, and_(audit.c.org_id == since.c.org_id, audit.c.id == since.c.id)))
            .order_by(since.c.org_id, since.c.flag)
        )


def _held(scope: Scope) -> Subquery:
    """The series of each flag's changes, and of which of them on it was found and left in the state of now."""
    told = (audit.c.org_id, audit.c.flag, audit.c.id, audit.c.reverts_id, audit.c.changed_at)
    newest = (audit.c.changed_at.desc(), audit.c.id.desc())
    now = func.first_value(audit.c.new_state).over(partition_by=(audit.c.org_id, audit.c.flag), order_by=newest)
    entries = (
        select(*told, audit.c.old_state, audit.c.new_state, now.label("now"))
        .where(scope.organizations(audit.c.org_id))
        .subquery("entries")
    )
    looked_at = (
        (entries.c.old_state == entries.c.now).label("was"),
        (entries.c.new_state == entries.c.now).label("is"),
    )
    last = series(select(*(entries.c[each.key] for each in told), *looked_at).subquery("looked_at"))
    until_now = func.bool_and(last.c["is"]).over(
        partition_by=(last.c.org_id, last.c.flag), order_by=last.c.number.desc()
    )
    return select(*last.c, until_now.label("until_now")).subquery("held")


def _restored(last: CTE) -> CTE:
    """The way back from each entry that took a change back to whoever had set what that change replaced.

    Set outside is what the entry before did not leave; what it did leave may itself have been restored.
    """
    taken, earlier = audit.alias("taken"), audit.alias("earlier")
    way = select(last.c.org_id, last.c.id, last.c.reverts_id, literal(value=False).label("outside")).cte(
        "restored", recursive=True
    )
    before = (
        select(earlier.c.new_state, earlier.c.reverts_id)
        .where(earlier.c.org_id == taken.c.org_id, earlier.c.flag == taken.c.flag, earlier.c.id < taken.c.id)
        .order_by(earlier.c.id.desc())
        .limit(1)
        .lateral("before")
    )
    outside = taken.c.old_state != func.coalesce(before.c.new_state, "absent")
    further = (
        select(way.c.org_id, way.c.id, case((~outside, before.c.reverts_id)), outside)
        .select_from(way.join(taken, and_(taken.c.org_id == way.c.org_id, taken.c.id == way.c.reverts_id)))
        .outerjoin(before, true())
    )
    return way.union_all(further)
