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
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from sqlalchemy import text

from queries.errors import StoreError
from queries.flags.applying import LIMIT, LOCK_WAIT, RETRIES, SETTLING, UNIQUE

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from queries.engine import Store
    from queries.flags.change import Kind
    from queries.scope import Reach

log = logging.getLogger("rankscope.changes")

SAVED = "Saved."
ALREADY = "This was already saved. It was not saved twice."
CONFLICT = "Nothing was saved: someone else was faster. What stands now is shown; decide again."
USED = "Nothing was saved: this request was already used for another change."
LOST = "The connection was lost before anything was saved. Nothing was changed."
UNSURE = (
    "The connection was lost while this was being saved, and the database does not answer yet: "
    "whether it was saved is unknown. Look again in a moment; looking changes nothing."
)
LOCK = text("select pg_advisory_xact_lock(:lock)")

Entry = TypeVar("Entry")


@dataclass(frozen=True)
class Outcome(Generic[Entry]):
    """What became of a change. The sentence holds no tenant's text; ``entry`` and ``last`` may.

    ``entry`` is the change's own audit row; ``last`` the newest one where the change was not made.
    """

    kind: Kind
    sentence: str
    entry: Entry | None = None
    last: Entry | None = None


class Change(Protocol[Entry]):
    """A change as a value: what it locks, what its request made already, and how it is made."""

    @property
    def lock(self) -> int:
        """The number of the advisory lock that all changes of the same thing take."""
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


def lock_of(*names: Any) -> int:  # noqa: ANN401 - whatever names the thing
    """The advisory lock of a thing; two things that shared one would only wait for each other."""
    digest = hashlib.blake2b(json.dumps(names).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def make(store: Store, reach: Reach, change: Change[Entry], name: str) -> Outcome[Entry]:
    """Make the change and say what became of it; never raises what the store reports."""
    for attempt in range(RETRIES + 1):
        reached: list[Outcome[Entry]] = []
        try:
            with store.writing(reach, LIMIT, name=name) as connection:
                reached.append(_attempt(connection, change))
            outcome = reached[0]
        except StoreError as error:
            if error.kind == "retry" and attempt < RETRIES:
                time.sleep(random.uniform(0.01, 0.05) * 2**attempt)  # noqa: S311 - so that two do not meet again
                continue
            outcome = _after_error(store, reach, change, reached, error)
        break
    log.info("change name=%s outcome=%s attempts=%d", name, outcome.kind, attempt + 1)
    return outcome


def settle(store: Store, reach: Reach, change: Change[Entry]) -> Outcome[Entry]:
    """What became of a change whose commit got no answer; whoever has its lock knows that its transaction is over."""
    until, pause = time.monotonic() + SETTLING, 0.05
    while time.monotonic() < until:
        try:
            with store.writing(reach, LIMIT, name="look-up") as connection:
                connection.execute(LOCK_WAIT)
                connection.execute(LOCK, {"lock": change.lock})
                entry = change.made(connection)
        except StoreError:
            time.sleep(pause)
            pause *= 2
        else:
            return Outcome("failed", LOST) if entry is None else Outcome("applied", SAVED, entry)
    return Outcome("unknown", UNSURE)


def _attempt(connection: Connection, change: Change[Entry]) -> Outcome[Entry]:
    connection.execute(LOCK_WAIT)
    connection.execute(LOCK, {"lock": change.lock})
    made = change.made(connection)
    if made is not None:
        return Outcome("already", ALREADY, made) if change.is_mine(made) else Outcome("refused", USED, made)
    return change.apply(connection)


def _after_error(
    store: Store, reach: Reach, change: Change[Entry], reached: list[Outcome[Entry]], error: StoreError
) -> Outcome[Entry]:
    log.warning("change kind=%s state=%s", error.kind, error.sqlstate or "none")
    if reached and reached[0].kind != "applied":
        return reached[0]  # nothing was written, so nothing can have been lost
    if reached:
        return settle(store, reach, change)
    return Outcome("refused", USED) if error.sqlstate == UNIQUE else Outcome("failed", error.sentence)
