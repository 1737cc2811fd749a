"""What an aggregation pass looks at: the scopes there are, whether one has changed, and its newest observations."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime  # noqa: TC003 - frames read the rows' types as the program runs
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import (
    Date,
    and_,
    cast,
    false,
    func,
    literal,
    literal_column,
    null,
    select,
    true,
    tuple_,
    union_all,
)
from sqlalchemy.dialects.postgresql import aggregate_order_by
from sqlalchemy.types import Text

from queries import own_schema, schema
from queries.moments import datable_microseconds
from queries.scope import Reach

if TYPE_CHECKING:
    from sqlalchemy import CTE, ColumnElement, Connection, Select

LIMIT = 10_000  # observations of a scope, the newest (000)
LONGEST = 20_000  # characters of one observation that are compared: ten thousand of these still fit in memory
READING = 30.0  # seconds one statement of a pass may take
# Raise it when a pass finds other things in the same data: every scope is then computed anew.
PROCEDURE = "2"
# Written out: as a parameter the status would keep a generic plan from the index of active rows.
ACTIVE: ColumnElement[str] = literal_column("'active'")
READ = ("org_id", "id", "content", "weight", "created_at", "agent_id", "session_id")


@dataclass(frozen=True)
class AggregationScope:
    """What one pass is about: a project of an organization, or the observations of it that belong to none."""

    org_id: str
    project_id: str | None

    @property
    def reach(self) -> Reach:
        """This organization alone, so that row security keeps a pass from ever touching another."""
        return Reach((self.org_id,))

    @property
    def lock(self) -> int:
        """The number of the scope's advisory lock; two scopes that shared one would only wait for each other."""
        name = json.dumps(["rankscope aggregation", self.org_id, self.project_id]).encode()
        return int.from_bytes(hashlib.blake2b(name, digest_size=8).digest(), "big", signed=True)

    def active(self) -> ColumnElement[bool]:
        """The active observations of this scope as one predicate."""
        table = schema.observations
        project = table.c.project_id.is_(None) if self.project_id is None else table.c.project_id == self.project_id
        return and_(table.c.org_id == self.org_id, project, table.c.status == ACTIVE)


class ScopeFound(NamedTuple):
    """A scope, whether the platform still has it, and the version of its data."""

    scope: AggregationScope
    there: bool
    version: str


@dataclass(frozen=True)
class AggregationScopes:
    """Every scope in reach: all projects, whatever has active observations, and whatever was aggregated before.

    One walk over the active observations versions them all, whatever their number.
    """

    reach: Reach

    def statement(self) -> Select[Any]:
        """One row per organization and project; one that only its own runs remember is no longer there."""
        projects, runs = schema.projects, own_schema.aggregation_runs
        stored = _stored(self.reach.where(schema.observations.c.org_id))
        nothing: tuple[ColumnElement[Any], ...] = (literal_column("0").label("active"), null().label("summed"))
        known = union_all(
            select(stored.c.org_id, stored.c.project_id, true().label("there"), stored.c.active, stored.c.summed),
            select(projects.c.org_id, projects.c.id, true(), *nothing).where(self.reach.where(projects.c.org_id)),
            select(runs.c.org_id, runs.c.project_id, false(), *nothing).where(self.reach.where(runs.c.org_id)),
        ).subquery("known")
        each = (
            select(
                known.c.org_id,
                known.c.project_id,
                func.bool_or(known.c.there).label("there"),
                func.max(known.c.active).label("active"),
                func.max(known.c.summed).label("summed"),
            )
            .group_by(known.c.org_id, known.c.project_id)
            .subquery("each")
        )
        version = _version(each.c.org_id, each.c.active, each.c.summed)
        order = (each.c.org_id, each.c.project_id.nulls_first())
        return select(each.c.org_id, each.c.project_id, each.c.there, version).order_by(*order)

    def ask(self, connection: Connection) -> list[ScopeFound]:
        """The scopes as values."""
        rows = connection.execute(self.statement())
        return [ScopeFound(AggregationScope(org, project), there, version) for org, project, there, version in rows]


@dataclass(frozen=True)
class InputRow:
    """The version of what is read, how many active observations there are, and the snapshot's time."""

    version: str
    active: int
    now: datetime


@dataclass(frozen=True)
class ScopeVersion:
    """A text that differs whenever a pass over the scope would: the same that ``AggregationScopes`` has for it.

    Every active row counts with everything that a pass reads of it, so that inserts, deletes and changes of status,
    project, text, weight or author show, and an access time does not. So do the opposition pairs, and the day: a
    contradiction loses severity as it ages. The store's own row counters would miss a truncate, lag behind, and move
    with every other tenant.
    """

    scope: AggregationScope

    def statement(self) -> Select[Any]:
        """One row, also where the scope has none."""
        stored = _stored(self.scope.active())
        active = func.coalesce(select(stored.c.active).scalar_subquery(), literal_column("0"))
        summed = select(stored.c.summed).scalar_subquery()
        columns: tuple[ColumnElement[Any], ...] = (
            _version(literal(self.scope.org_id), active, summed),
            active,
            func.now(),
        )
        return select(*columns)

    def ask(self, connection: Connection) -> InputRow:
        """The version in this connection's snapshot."""
        return InputRow(*connection.execute(self.statement()).one())


def _stored(where: ColumnElement[bool]) -> CTE:
    """Active observations per scope, counted and hashed; summed, so that neither order nor equal rows matter."""
    table = schema.observations
    summed = func.sum(hashed_row()).label("summed")
    return (
        select(table.c.org_id, table.c.project_id, func.count().label("active"), summed)
        .where(where, table.c.status == ACTIVE)
        .group_by(table.c.org_id, table.c.project_id)
        .cte("stored")
    )


def _version(org_id: ColumnElement[str], active: ColumnElement[int], summed: Any) -> ColumnElement[str]:  # noqa: ANN401 - a number in any guise
    return func.md5(func.concat_ws("/", literal(PROCEDURE), day(), active, summed, func.md5(opposed(org_id))))


def hashed_row() -> ColumnElement[int]:
    """A number of everything that is read of an observation, so that any change of it shows in a sum of them.

    Postgres hashes a row as Σ 31ⁿ · hash of column n. Summed over rows that would be the same again when two rows swap
    a text or a weight, but for an overflow: hence hashed once more, which is not linear.
    """
    table = schema.observations
    row = func.hash_record_extended(tuple_(*(table.c[name] for name in READ)), literal_column("0"))
    return func.hashint8extended(row, literal_column("0"))


def opposed(org_id: ColumnElement[str]) -> ColumnElement[str]:
    """An organization's opposition pairs as one text."""
    pairs = own_schema.opposition_pairs
    pair = func.jsonb_build_array(pairs.c.one, pairs.c.other).cast(Text)
    listed = func.string_agg(pair, aggregate_order_by(literal(","), pair))
    return select(listed).where(pairs.c.org_id == org_id).scalar_subquery()


def day() -> ColumnElement[Any]:
    """Today, UTC: a contradiction loses severity as it ages."""
    return cast(func.timezone("UTC", func.now()), Date)


class ObservationRow(NamedTuple):
    """One observation as a pass reads it; ``simhash`` and ``tokens`` are there if this very text was hashed before."""

    id: str
    content: str
    content_hash: str
    weight: float
    created_us: int | None
    agent_id: str | None
    session_id: str | None
    simhash: int | None
    tokens: int | None


@dataclass(frozen=True)
class NewestObservations:
    """The newest active observations of a scope, with the fingerprints that earlier passes kept."""

    scope: AggregationScope

    def statement(self) -> Select[Any]:
        """The hash is taken of the text itself: a platform need not keep its own up to date."""
        table, kept = schema.observations, own_schema.simhashes
        newest = (
            select(
                *(table.c[name] for name in READ),
                func.md5(table.c.content).label("hash"),
            )
            .where(self.scope.active())
            .order_by(table.c.created_at.desc(), table.c.id)
            .limit(LIMIT + 1)  # one more where there are more, so that the result can say so
            .subquery("newest")
        )
        same_text = and_(
            kept.c.org_id == newest.c.org_id,
            kept.c.observation_id == newest.c.id,
            kept.c.content_hash == newest.c.hash,
        )
        return (
            select(
                newest.c.id.cast(Text),
                func.left(newest.c.content, LONGEST),
                newest.c.hash,
                func.coalesce(newest.c.weight, 1.0),
                datable_microseconds(newest.c.created_at),
                newest.c.agent_id,
                newest.c.session_id,
                kept.c.simhash,
                kept.c.tokens,
            )
            .select_from(newest.outerjoin(kept, same_text))
            .order_by(newest.c.created_at.desc(), newest.c.id)
        )

    def ask(self, connection: Connection) -> list[ObservationRow]:
        """The rows, newest first."""
        return [ObservationRow(*row) for row in connection.execute(self.statement())]


@dataclass(frozen=True)
class OppositionPairs:
    """The words that an organization holds to be opposites."""

    org_id: str

    def statement(self) -> Select[Any]:
        """In one order, so that equal pairs give equal results."""
        table = own_schema.opposition_pairs
        return select(table.c.one, table.c.other).where(table.c.org_id == self.org_id).order_by(*table.c[:3])

    def ask(self, connection: Connection) -> tuple[tuple[str, str], ...]:
        """The pairs; none where the organization keeps to the defaults."""
        return tuple((one, other) for one, other in connection.execute(self.statement()))
