"""A change of one flag as a value: what it locks, compares, merges and appends to the audit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from sqlalchemy import Boolean, Text, bindparam, cast, func, literal, select, update
from sqlalchemy.dialects.postgresql import JSONB

from queries import schema
from queries.flags.entries import FlagEntry, append, entry_of_id, entry_of_request, last_entry
from queries.flags.registry import STATES, State, known_flag
from queries.flags.states import LONGEST_FEATURES, flag_states
from queries.once import Outcome
from queries.scope import is_storable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from sqlalchemy import Connection, Update

    from queries.scope import Reach

table = schema.organizations
LONGEST_REASON = 2_000

APPLIED = "The flag was changed."
CONFLICT = "Nothing was changed: the flag is no longer what this page showed."
MOVED_ON = "Nothing was changed: the flag was changed again after the entry that was to be reverted."
NO_SUCH_ENTRY = "Nothing was changed: there is no such entry to revert, or it says something else."
NO_ORGANIZATION = "Nothing was changed: this organization does not exist here, or you may not see it."
PROTECTED = "Nothing was changed: this flag is protected, and takes two people outside this dashboard."


@dataclass(frozen=True)
class SetFlag:
    """Set one flag of one organization to a state, given that another state was seen: never "flip it".

    The request id is made when the question is put to the operator, so that a second click is the same request.
    """

    org_id: str
    flag: str
    seen: State
    new: State
    reason: str
    request_id: UUID
    actor: str
    source: str
    preview: Mapping[str, object] | None = field(default=None, compare=False)
    reverts_id: int | None = None
    name: ClassVar[str] = "flag change"
    done: ClassVar[str] = APPLIED

    def __post_init__(self) -> None:
        known_flag(self.flag)
        if self.seen not in STATES or self.new not in STATES:
            raise ValueError(f"a state is {', '.join(STATES)}; found {self.seen!r} and {self.new!r}")
        if self.seen == self.new:
            raise ValueError(f"a change leads to another state; found {self.new!r} twice")
        if not self.reason.strip() or len(self.reason) > LONGEST_REASON:
            raise ValueError(f"a reason has 1 to {LONGEST_REASON} characters; found {len(self.reason.strip())}")
        if not all(map(is_storable, (self.org_id, self.reason, self.actor, self.source))):
            raise ValueError("expected text that can be stored; found a NUL or half a character")

    def lock(self, connection: Connection, reach: Reach) -> str | None:
        """The organization's row, held against other writers; not against those who only refer to it."""
        mine = (table.c.id == self.org_id, reach.where(table.c.id))
        has_flags = table.c.features.is_not(None)  # named here so that a store without the column says that it lacks it
        held = connection.execute(select(has_flags).where(*mine).with_for_update(key_share=True))
        return NO_ORGANIZATION if held.one_or_none() is None else None

    def made(self, connection: Connection) -> FlagEntry | None:
        """The audit row of this request."""
        return entry_of_request(connection, self.org_id, self.request_id)

    def is_mine(self, entry: FlagEntry) -> bool:
        """Whether that row is about this flag and leads to this state."""
        return (entry.org_id, entry.flag, entry.new) == (self.org_id, self.flag, self.new)

    def apply(self, connection: Connection) -> Outcome[FlagEntry]:
        """Merge the one key and append the audit row, if what is stored allows it."""
        if (obstacle := self._obstacle(connection)) is not None:
            return obstacle
        connection.execute(self._merge())
        return Outcome("applied", APPLIED, entry=append(connection, self))

    def _obstacle(self, connection: Connection) -> Outcome[FlagEntry] | None:
        """Why the change cannot be made to what is stored, if it cannot."""
        if known_flag(self.flag).protected:
            return Outcome("refused", PROTECTED)
        features = func.left(cast(table.c.features, Text), LONGEST_FEATURES)
        states = flag_states(connection.scalar(select(features).where(table.c.id == self.org_id)))
        if states.malformed is not None:
            return Outcome("refused", f"Nothing was changed: the stored flags are {states.malformed}.")
        found = states.state(self.flag)
        why = CONFLICT if found != self.seen else self._refused_revert(connection)
        if why is None:
            return None
        return Outcome("conflict", why, last=last_entry(connection, self.org_id, self.flag), found=found)

    def _refused_revert(self, connection: Connection) -> str | None:
        """Why an entry cannot be reverted by this change, if it cannot."""
        if self.reverts_id is None:
            return None
        entry = entry_of_id(connection, self.org_id, self.reverts_id)
        if entry is None or (entry.flag, entry.old, entry.new) != (self.flag, self.new, self.seen):
            return NO_SUCH_ENTRY
        last = last_entry(connection, self.org_id, self.flag)
        return MOVED_ON if last is None or last.id != entry.id else None

    def _merge(self) -> Update:
        """The one key set or removed by the database itself: no other key passes through here."""
        stored = func.coalesce(cast(table.c.features, JSONB), cast(literal("{}"), JSONB))
        key = bindparam("flag", self.flag, type_=Text)
        if self.new == "absent":
            merged = stored.op("-", return_type=JSONB)(key)
        else:
            added = func.jsonb_build_object(key, cast(literal(self.new == "on"), Boolean))
            merged = stored.op("||", return_type=JSONB)(added)
        return update(table).where(table.c.id == self.org_id).values(features=merged)


def is_outside(outcome: Outcome[FlagEntry]) -> bool:
    """Whether the live state is not the audit's last: then something else than this dashboard set it."""
    return outcome.found is not None and (outcome.last is None or outcome.last.new != outcome.found)
