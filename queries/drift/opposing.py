"""The words an organization holds to be opposites: read, replaced as a whole, reset, and the audit of it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime  # noqa: TC003 - frames read the rows' types as the program runs
from typing import TYPE_CHECKING, Any, ClassVar, Literal
from uuid import UUID  # noqa: TC003 - as above

from sqlalchemy import delete, insert, select

from queries import own_schema
from queries.aggregation_input import OppositionPairs
from queries.once import CONFLICT, SAVED, Outcome, take_lock
from queries.scope import is_storable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Connection, Select

    from queries.scope import Reach

table, audit = own_schema.opposition_pairs, own_schema.opposition_changes
MOST, LONGEST = 500, 60
KEPT = 50  # entries of the history that are shown, the newest

Pair = tuple[str, str]
Pairs = tuple[Pair, ...]


class PairError(ValueError):
    """A pair that cannot be kept: what was expected, and what was found."""


@dataclass(frozen=True)
class PairsEntry:
    """One row of the audit."""

    id: int
    request_id: UUID
    action: str
    added: list[list[str]]
    removed: list[list[str]]
    digest: str
    actor: str
    changed_at: datetime


def digest(pairs: Iterable[Pair]) -> str:
    """A short text that is the same for the same pairs in any order; of none, where the defaults hold."""
    return hashlib.sha256(json.dumps(sorted(pairs)).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def tidy(given: Iterable[tuple[str | None, str | None]]) -> Pairs:
    """Pairs as they are kept: trimmed, each once whichever side stands first, or ``PairError``."""
    kept: dict[frozenset[str], Pair] = {}
    for one, other in given:
        left, right = (one or "").strip(), (other or "").strip()
        if not left and not right:
            continue
        if not left or not right or left.lower() == right.lower():
            raise PairError("a pair: expected two different words, found the same or nothing on one side")
        if max(len(left), len(right)) > LONGEST:
            raise PairError(f"a word: expected at most {LONGEST} characters, found {max(len(left), len(right))}")
        if not (is_storable(left) and is_storable(right)):
            raise PairError("a word: expected text that can be stored, found a NUL or half a character")
        kept.setdefault(frozenset((left.lower(), right.lower())), (left, right))
    if not 1 <= len(kept) <= MOST:
        raise PairError(f"pairs: expected 1 to {MOST}, found {len(kept)}; reset instead to use the defaults")
    return tuple(kept.values())


@dataclass(frozen=True)
class SetPairs:
    """Replace an organization's pairs, given the digest of those seen; ``new`` None goes back to the defaults.

    ``shown`` are the pairs that stood on the page, the defaults where the organization kept none: what is added and
    removed is told against them.
    """

    org_id: str
    seen: str
    new: Pairs | None
    shown: Pairs
    defaults: Pairs
    request_id: UUID
    actor: str
    name: ClassVar[str] = "opposition pairs"
    done: ClassVar[str] = SAVED

    @property
    def action(self) -> Literal["edited", "reset"]:
        """What the audit calls it."""
        return "reset" if self.new is None else "edited"

    def lock(self, connection: Connection, _reach: Reach) -> None:
        """The organization's pairs as a whole."""
        take_lock(connection, "rankscope opposition pairs", self.org_id)

    def made(self, connection: Connection) -> PairsEntry | None:
        """The audit row of this request."""
        mine = (audit.c.org_id == self.org_id, audit.c.request_id == self.request_id)
        return _one(connection, _entries().where(*mine))

    def is_mine(self, entry: PairsEntry) -> bool:
        """Whether that row leads to these pairs."""
        return (entry.action, entry.digest) == (self.action, digest(self.new or ()))

    def apply(self, connection: Connection) -> Outcome[PairsEntry]:
        """Replace all rows and append the audit row, if the pairs are still those that were seen."""
        stored = OppositionPairs(self.org_id).ask(connection)
        if digest(stored) != self.seen:
            return Outcome("conflict", CONFLICT, last=last_change(connection, self.org_id))
        connection.execute(delete(table).where(table.c.org_id == self.org_id))
        if self.new is not None:
            named = {"org_id": self.org_id, "changed_by": self.actor}
            connection.execute(insert(table), [{**named, "one": one, "other": other} for one, other in self.new])
        after = set(self.defaults if self.new is None else self.new)
        said = {
            "action": self.action,
            "added": sorted(map(list, after - set(self.shown))),
            "removed": sorted(map(list, set(self.shown) - after)),
            "digest": digest(self.new or ()),
            "actor": self.actor,
        }
        adding = insert(audit).values(org_id=self.org_id, request_id=self.request_id, **said)
        made = connection.execute(adding.returning(audit.c.id, audit.c.changed_at)).one()
        entry = PairsEntry(id=made.id, request_id=self.request_id, changed_at=made.changed_at, **said)  # type: ignore[arg-type]
        return Outcome("applied", SAVED, entry)


def _entries() -> Select[Any]:
    return select(*(audit.c[name] for name in PairsEntry.__dataclass_fields__))


def _one(connection: Connection, statement: Select[Any]) -> PairsEntry | None:
    row = connection.execute(statement).one_or_none()
    return None if row is None else PairsEntry(*row)


def last_set(connection: Connection, org_id: str) -> tuple[str, datetime] | None:
    """Who set the organization's pairs, and when, as the pairs themselves say; none where the defaults hold."""
    newest = select(table.c.changed_by, table.c.changed_at).where(table.c.org_id == org_id)
    row = connection.execute(newest.order_by(table.c.changed_at.desc(), table.c.changed_by).limit(1)).one_or_none()
    return None if row is None else (row.changed_by, row.changed_at)


def last_change(connection: Connection, org_id: str) -> PairsEntry | None:
    """The newest change of an organization's pairs."""
    mine = _entries().where(audit.c.org_id == org_id)
    return _one(connection, mine.order_by(audit.c.id.desc()).limit(1))


def changes(connection: Connection, org_id: str) -> list[PairsEntry]:
    """The changes of an organization's pairs, newest first."""
    mine = _entries().where(audit.c.org_id == org_id)
    return [PairsEntry(*row) for row in connection.execute(mine.order_by(audit.c.id.desc()).limit(KEPT))]
