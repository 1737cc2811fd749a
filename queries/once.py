"""A change that is made whole, once, or not at all: locked, compared, written with its audit row, committed.

A second click is the same request; a commit whose answer was lost is looked up, never repeated.
"""

from __future__ import annotations

import hashlib
import json
import logging
import random
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Generic, Literal, Protocol, TypeVar

from sqlalchemy import text

from queries.errors import StoreError

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from queries.engine import Store
    from queries.scope import Reach

log = logging.getLogger("rankscope.changes")

LIMIT = 4.0  # seconds of the whole transaction; its locks are held for milliseconds
LOCK_WAIT = text("select set_config('lock_timeout', '2000', true)")
LOCK = text("select pg_advisory_xact_lock(:lock)")
RETRIES = 3
SETTLING = 8.0  # seconds in which a lost answer is looked for
UNIQUE = "23505"

NOTHING = "Nothing was changed"
SAVED = "Saved."
ALREADY = "This change was already applied. It was not applied twice."
CONFLICT = "Nothing was saved: someone else was faster. What stands now is shown; decide again."
USED = "Nothing was changed: this request was already used for another change."
LOST = "The connection was lost before the change was saved. Nothing was changed."
UNSURE = (
    "The connection was lost while the change was being saved, and the database does not answer yet: "
    "whether it was saved is unknown. Check again in a moment; checking changes nothing."
)

Entry = TypeVar("Entry")
Kind = Literal["applied", "already", "conflict", "refused", "failed", "unknown"]


@dataclass(frozen=True)
class Outcome(Generic[Entry]):
    """What became of a change. The sentence holds no tenant's text; ``entry`` and ``last`` may.

    ``entry`` is the change's own audit row; ``last`` the newest one where the change was not made, and ``found`` what
    stands then, where that is a word.
    """

    kind: Kind
    sentence: str
    entry: Entry | None = None
    last: Entry | None = None
    found: str | None = None


class Change(Protocol[Entry]):
    """A change as a value: what it locks, what its request made already, and how it is made."""

    name: ClassVar[str]
    done: ClassVar[str]  # the sentence of a change that was made

    def lock(self, connection: Connection, reach: Reach) -> str | None:
        """Wait for the lock that all changes of the same thing take; why there is nothing to change, if so."""
        ...

    def made(self, connection: Connection) -> Entry | None:
        """The audit row of this change's request id, if there is one."""
        ...

    def is_mine(self, entry: Entry) -> bool:
        """Whether an audit row with this request id says what this change does."""
        ...

    def apply(self, connection: Connection) -> Outcome[Entry]:
        """Compare and write, or say why not."""
        ...


def take_lock(connection: Connection, *names: str) -> None:
    """Wait for the advisory lock of a thing; two things that shared one would only wait for each other."""
    digest = hashlib.blake2b(json.dumps(names).encode(), digest_size=8).digest()
    connection.execute(LOCK, {"lock": int.from_bytes(digest, "big", signed=True)})


def make(store: Store, reach: Reach, change: Change[Entry]) -> Outcome[Entry]:
    """Make the change and say what became of it; never raises what the store reports."""
    for attempt in range(RETRIES + 1):
        reached: list[Outcome[Entry]] = []
        try:
            with store.writing(reach, LIMIT, name=change.name) as connection:
                reached.append(_attempt(connection, reach, change))
            outcome = reached[0]
        except StoreError as error:
            if error.kind == "retry" and attempt < RETRIES:
                time.sleep(random.uniform(0.01, 0.05) * 2**attempt)  # noqa: S311 - so that two do not meet again
                continue
            outcome = _after_error(store, reach, change, reached, error)
        break
    log.info("change name=%s outcome=%s attempts=%d", change.name, outcome.kind, attempt + 1)
    return outcome


def settle(store: Store, reach: Reach, change: Change[Entry]) -> Outcome[Entry]:
    """What became of a change whose commit got no answer, by its request id on a fresh connection.

    Whoever has its lock knows that the transaction in question has ended: it held that lock until then.
    """
    until, pause = time.monotonic() + SETTLING, 0.05
    while time.monotonic() < until:
        try:
            with store.writing(reach, LIMIT, name=f"{change.name} look-up") as connection:
                connection.execute(LOCK_WAIT)
                change.lock(connection, reach)
                entry = change.made(connection)
        except StoreError:
            time.sleep(pause)
            pause *= 2
        else:
            return Outcome("failed", LOST) if entry is None else Outcome("applied", change.done, entry)
    return Outcome("unknown", UNSURE)


def _attempt(connection: Connection, reach: Reach, change: Change[Entry]) -> Outcome[Entry]:
    connection.execute(LOCK_WAIT)
    if (missing := change.lock(connection, reach)) is not None:
        return Outcome("refused", missing)
    made = change.made(connection)
    if made is not None:
        return Outcome("already", ALREADY, made) if change.is_mine(made) else Outcome("refused", USED, made)
    return change.apply(connection)


def _after_error(
    store: Store, reach: Reach, change: Change[Entry], reached: list[Outcome[Entry]], error: StoreError
) -> Outcome[Entry]:
    log.warning("change name=%s kind=%s state=%s", change.name, error.kind, error.sqlstate or "none")
    if reached and reached[0].kind != "applied":
        return reached[0]  # nothing was written, so nothing can have been lost
    if reached:
        return settle(store, reach, change)
    if error.sqlstate == UNIQUE:
        return Outcome("refused", USED)
    certain = NOTHING.lower() in error.sentence.lower()
    return Outcome("failed", error.sentence if certain else f"{NOTHING}. {error.sentence}")
