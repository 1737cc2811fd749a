"""What the aggregation job's standing passes found in a scope, provided that they are of today's data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import BigInteger, Text, and_, any_, bindparam, func, select
from sqlalchemy.dialects.postgresql import ARRAY

from queries import own_schema, schema
from queries.aggregation_input import AggregationScopes
from queries.aggregation_runs import StandingRuns
from queries.drift.observed import uuids
from queries.moments import datable_microseconds
from queries.scope import Reach

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import ColumnElement, Connection, Select

    from queries.scope import Scope


def current_runs(connection: Connection, scope: Scope) -> tuple[int, ...] | None:
    """The passes over every project of the scope; None unless each has one and all are of the data as they are."""
    reach = Reach((scope.org or "",))
    standing = StandingRuns(reach).ask(connection)
    if not standing:
        return None
    found = [each for each in AggregationScopes(reach).ask(connection) if each.there]
    if scope.project is not None:
        found = [each for each in found if each.scope.project_id == scope.project]
    runs = [standing.get(each.scope) for each in found]
    current = [run.id for run, each in zip(runs, found, strict=True) if run and run.data_version == each.version]
    return tuple(current) if found and len(current) == len(found) else None


class PassAlertRow(NamedTuple):
    """One contradiction as a pass kept it."""

    project_id: str | None
    fingerprint: str
    kind: str
    rule: str
    overlap: float
    severity: float
    parts: dict[str, float]
    evidence: list[dict[str, Any]]
    older: str
    newer: str


@dataclass(frozen=True)
class PassAlerts:
    """The contradictions of some passes of one organization."""

    org_id: str
    runs: tuple[int, ...]

    def statement(self) -> Select[Any]:
        """In the order in which they were found."""
        found, runs = own_schema.contradictions, own_schema.aggregation_runs
        names: list[ColumnElement[Any]] = [found.c[name] for name in PassAlertRow._fields[1:-2]]
        return (
            select(runs.c.project_id, *names, found.c.older.cast(Text), found.c.newer.cast(Text))
            .select_from(found.join(runs, and_(runs.c.org_id == found.c.org_id, runs.c.id == found.c.run_id)))
            .where(found.c.org_id == self.org_id, found.c.run_id == any_(numbers(self.runs)))
            .order_by(found.c.run_id, found.c.place)
        )

    def ask(self, connection: Connection) -> list[PassAlertRow]:
        """The rows."""
        return [PassAlertRow(*row) for row in connection.execute(self.statement())]


@dataclass(frozen=True)
class SetApart:
    """How many observations these passes left out for a weight that is no number."""

    org_id: str
    runs: tuple[int, ...]

    def ask(self, connection: Connection) -> int:
        """Their sum."""
        runs = own_schema.aggregation_runs
        mine = (runs.c.org_id == self.org_id, runs.c.id == any_(numbers(self.runs)))
        return int(connection.execute(select(func.coalesce(func.sum(runs.c.set_apart), 0)).where(*mine)).scalar_one())


class SideRow(NamedTuple):
    """Where a statement came from."""

    id: str
    agent_id: str | None
    session_id: str | None
    created_us: int | None
    weight: float


@dataclass(frozen=True)
class Sides:
    """Some observations of one organization."""

    org_id: str
    ids: tuple[str, ...]

    def statement(self) -> Select[Any]:
        """By primary key."""
        table = schema.observations
        return select(
            table.c.id.cast(Text),
            table.c.agent_id,
            table.c.session_id,
            datable_microseconds(table.c.created_at),
            func.coalesce(table.c.weight, 1.0),
        ).where(table.c.org_id == self.org_id, table.c.id == any_(uuids(self.ids)))

    def ask(self, connection: Connection) -> list[SideRow]:
        """The rows."""
        return [SideRow(*row) for row in connection.execute(self.statement())]


class ClusterSizeRow(NamedTuple):
    """The cluster of an observation, and how many observations and agents it has, whichever side they are on."""

    id: str
    run: int
    cluster: int
    members: int
    agents: int


@dataclass(frozen=True)
class ClusterSizes:
    """The observations that some passes put into clusters; whatever is in none speaks for itself."""

    org_id: str
    runs: tuple[int, ...]

    def statement(self) -> Select[Any]:
        """One walk over the passes' clusters: a join by observation would be planned as a loop over them."""
        table = own_schema.clusters
        members = func.count().over(partition_by=(table.c.run_id, table.c.cluster))
        mine = (table.c.org_id == self.org_id, table.c.run_id == any_(numbers(self.runs)))
        return select(
            table.c.observation_id.cast(Text), table.c.run_id, table.c.cluster, members, table.c.agents
        ).where(*mine)

    def ask(self, connection: Connection) -> dict[str, ClusterSizeRow]:
        """By observation."""
        return {row[0]: ClusterSizeRow(*row) for row in connection.execute(self.statement())}


def numbers(runs: Sequence[int]) -> ColumnElement[Any]:
    """Runs as one bound array."""
    return bindparam(None, list(runs), type_=ARRAY(BigInteger))
