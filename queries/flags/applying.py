"""Change one flag in one transaction: lock, compare, merge, audit, commit; and find out what a lost commit did."""

from __future__ import annotations

import logging
import random
import time
from typing import TYPE_CHECKING, Any

from sqlalchemy import Boolean, Text, bindparam, cast, func, literal, select, text, update
from sqlalchemy.dialects.postgresql import JSONB

from queries import schema
from queries.errors import StoreError
from queries.flags.change import Outcome
from queries.flags.entries import append, entry_of_id, entry_of_request, last_entry
from queries.flags.registry import known_flag
from queries.organizations import LONGEST_FEATURES, flag_states

if TYPE_CHECKING:
    from sqlalchemy import Connection, Select, Update

    from queries.engine import Store
    from queries.flags.change import SetFlag
    from queries.flags.registry import State
    from queries.scope import Reach

log = logging.getLogger("rankscope.flags")

LIMIT = 4.0  # seconds of the whole transaction; its locks are held for milliseconds
LOCK_WAIT = text("select set_config('lock_timeout', '2000', true)")
RETRIES = 3
SETTLING = 8.0  # seconds in which a lost answer is looked for
UNIQUE = "23505"

NOTHING = "Nothing was changed"
APPLIED = "The flag was changed."
ALREADY = "This change was already applied. It was not applied twice."
CONFLICT = "Nothing was changed: the flag is no longer what this page showed."
MOVED_ON = "Nothing was changed: the flag was changed again after the entry that was to be reverted."
NO_SUCH_ENTRY = "Nothing was changed: there is no such entry to revert, or it says something else."
NO_ORGANIZATION = "Nothing was changed: this organization does not exist here, or you may not see it."
PROTECTED = "Nothing was changed: this flag is protected, and takes two people outside this dashboard."
USED = "Nothing was changed: this request was already used for another change."
LOST = "The connection was lost before the change was saved. Nothing was changed."
UNSURE = (
    "The connection was lost while the change was being saved, and the database does not answer yet: "
    "whether it was saved is unknown. Check again in a moment; checking changes nothing."
)


class _Progress:
    """How far an attempt came: only a commit that was sent can have changed anything."""

    outcome: Outcome | None = None


def change_flag(store: Store, reach: Reach, change: SetFlag) -> Outcome:
    """Make the change whole, once, or not at all, and say which; never raises what the store reports."""
    for attempt in range(RETRIES + 1):
        progress = _Progress()
        try:
            outcome = _attempt(store, reach, change, progress)
        except StoreError as error:
            if error.kind == "retry" and attempt < RETRIES:
                time.sleep(random.uniform(0.01, 0.05) * 2**attempt)  # noqa: S311 - so that two do not meet again
                continue
            outcome = _after_error(store, reach, change, progress, error)
        break
    log.info("flag change outcome=%s attempts=%d", outcome.kind, attempt + 1)
    return outcome


def settle(store: Store, reach: Reach, change: SetFlag) -> Outcome:
    """What became of a change whose commit got no answer, by its request id on a fresh connection.

    Whoever has the row's lock knows that the transaction in question has ended: it held that lock until then.
    """
    until, pause = time.monotonic() + SETTLING, 0.05
    while time.monotonic() < until:
        try:
            with store.writing(reach, LIMIT, name="flag look-up") as connection:
                connection.execute(LOCK_WAIT)
                connection.execute(_locked(reach, change)).one_or_none()
                entry = entry_of_request(connection, change.request_id)
        except StoreError:
            time.sleep(pause)
            pause *= 2
        else:
            return Outcome(change, "failed", LOST) if entry is None else Outcome(change, "applied", APPLIED, entry)
    return Outcome(change, "unknown", UNSURE)


def _attempt(store: Store, reach: Reach, change: SetFlag, progress: _Progress) -> Outcome:
    with store.writing(reach, LIMIT, name="flag change") as connection:
        connection.execute(LOCK_WAIT)
        outcome = _apply(connection, reach, change)
        progress.outcome = outcome
    return outcome


def _after_error(store: Store, reach: Reach, change: SetFlag, progress: _Progress, error: StoreError) -> Outcome:
    log.warning("flag change kind=%s state=%s", error.kind, error.sqlstate or "none")
    reached = progress.outcome
    if reached is not None and reached.kind != "applied":
        return reached  # nothing was written, so nothing can have been lost
    if reached is not None:
        return settle(store, reach, change)
    if error.sqlstate == UNIQUE:
        return Outcome(change, "refused", USED)
    certain = NOTHING.lower() in error.sentence.lower()
    return Outcome(change, "failed", error.sentence if certain else f"{NOTHING}. {error.sentence}")


def _apply(connection: Connection, reach: Reach, change: SetFlag) -> Outcome:
    row = connection.execute(_locked(reach, change)).one_or_none()
    if row is None:
        return Outcome(change, "refused", NO_ORGANIZATION)
    if (made := entry_of_request(connection, change.request_id)) is not None:
        same = (made.org_id, made.flag, made.new) == (change.org_id, change.flag, change.new)
        return Outcome(change, "already" if same else "refused", ALREADY if same else USED, entry=made)
    if (not_made := _obstacle(connection, change, row.features)) is not None:
        return not_made
    connection.execute(_merge(change))
    return Outcome(change, "applied", APPLIED, entry=append(connection, change))


def _obstacle(connection: Connection, change: SetFlag, features: str | None) -> Outcome | None:
    """Why the change cannot be made to what is stored, if it cannot."""
    if known_flag(change.flag).protected:
        return Outcome(change, "refused", PROTECTED)
    states = flag_states(features)
    if states.malformed is not None:
        return Outcome(change, "refused", f"Nothing was changed: the stored flags are {states.malformed}.")
    found: State = states.state(change.flag)  # type: ignore[assignment]
    why = CONFLICT if found != change.seen else _refused_revert(connection, change)
    if why is None:
        return None
    return Outcome(change, "conflict", why, found=found, last=last_entry(connection, change.org_id, change.flag))


def _refused_revert(connection: Connection, change: SetFlag) -> str | None:
    """Why an entry cannot be reverted by this change, if it cannot."""
    if change.reverts_id is None:
        return None
    entry = entry_of_id(connection, change.org_id, change.reverts_id)
    if entry is None or (entry.flag, entry.old, entry.new) != (change.flag, change.new, change.seen):
        return NO_SUCH_ENTRY
    last = last_entry(connection, change.org_id, change.flag)
    return MOVED_ON if last is None or last.id != entry.id else None


def _locked(reach: Reach, change: SetFlag) -> Select[Any]:
    """The row, held against other writers; not against those who only refer to it."""
    table = schema.organizations
    features = func.left(cast(table.c.features, Text), LONGEST_FEATURES).label("features")
    mine = (table.c.id == change.org_id, reach.where(table.c.id))
    return select(features).where(*mine).with_for_update(key_share=True)


def _merge(change: SetFlag) -> Update:
    """The one key set or removed by the database itself: no other key passes through here."""
    table = schema.organizations
    stored = func.coalesce(cast(table.c.features, JSONB), cast(literal("{}"), JSONB))
    key = bindparam("flag", change.flag, type_=Text)
    if change.new == "absent":
        merged = stored.op("-", return_type=JSONB)(key)
    else:
        added = func.jsonb_build_object(key, cast(literal(change.new == "on"), Boolean))
        merged = stored.op("||", return_type=JSONB)(added)
    return update(table).where(table.c.id == change.org_id).values(features=merged)
