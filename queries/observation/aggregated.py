"""What the last aggregation pass over an observation's project found about it: its cluster and its contradictions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003 - frames read the rows' types as the program runs
from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import BigInteger, and_, case, cast, func, literal, null, or_, select
from sqlalchemy.dialects.postgresql import BIT

from queries import own_schema, schema
from queries.aggregation_runs import newest_runs
from queries.drift.triage import is_decided, is_dismissed, of_alert
from queries.engine import LIST
from queries.moments import datable

if TYPE_CHECKING:
    from uuid import UUID

    from sqlalchemy import CTE, ColumnElement, FromClause, Join, Select

    from queries.scope import Scope

MEMBERS = 200
SHOWN = 20  # contradictions, the most severe
LONGEST_SIDE = 20_000


def bits_apart(simhash: int) -> ColumnElement[int]:
    """In how many of 64 bits the kept SimHash differs from this one."""
    differing = own_schema.simhashes.c.simhash.op("#")(literal(simhash, BigInteger))
    return func.bit_count(cast(differing, BIT(64)))


def latest_pass(scope: Scope, observation: UUID) -> CTE:
    """The newest finished pass over the observation's project."""
    runs, table = own_schema.aggregation_runs, schema.observations
    project = select(table.c.project_id).where(scope.tenant(table), table.c.id == observation).scalar_subquery()
    mine = and_(runs.c.org_id == scope.org, runs.c.project_id.is_not_distinct_from(project))
    columns = (runs.c.id, runs.c.finished_at, runs.c.checked_at, runs.c.observations, runs.c.active)
    return newest_runs(mine, *columns).cte("latest")


def decided(found: Join, *, triaged: bool) -> tuple[Join, ColumnElement[bool], ColumnElement[Any]]:
    """Contradictions with whether triage dismissed each and for which side it was resolved; as open without triage."""
    if not triaged:
        return found, literal(value=False), null()
    joined = found.outerjoin(own_schema.drift_triage, and_(of_alert(own_schema.contradictions), is_decided()))
    return joined, is_dismissed(), own_schema.drift_triage.c.verdict


@dataclass(frozen=True)
class PassRow:
    """When the pass finished, when it was last seen to hold, and how many of how many observations it read."""

    finished_at: datetime | None
    checked_at: datetime | None
    observations: int | None
    active: int | None


@dataclass(frozen=True)
class LastPass:
    """The pass that cluster and contradictions come from; no row where none ever finished."""

    scope: Scope
    id: UUID
    row: ClassVar[type] = PassRow
    limit: ClassVar[float] = LIST

    def statement(self) -> Select[Any]:
        """Its times and sizes."""
        latest = latest_pass(self.scope, self.id)
        return select(latest.c.finished_at, latest.c.checked_at, latest.c.observations, latest.c.active)


@dataclass(frozen=True)
class MemberRow:
    """One member of the cluster; ``bits`` is missing where its text is another by now."""

    id: str
    canonical: bool
    contradicts: bool
    disputed: bool
    members: int
    agents: int
    sessions: int
    diameter: int
    agent_id: str | None
    session_id: str | None
    created_at: datetime | None
    status: str | None
    content: str | None
    bits: int | None


@dataclass(frozen=True)
class ClusterMembers:
    """The observation's cluster, itself among them, with each member's Hamming distance to the observation."""

    scope: Scope
    id: UUID
    simhash: int
    row: ClassVar[type] = MemberRow
    limit: ClassVar[float] = LIST

    def statement(self) -> Select[Any]:
        """The canonical first, then by time; a member that is gone keeps its row."""
        latest, table, kept = latest_pass(self.scope, self.id), schema.observations, own_schema.simhashes
        mine, each = own_schema.clusters.alias("mine"), own_schema.clusters.alias("member")
        own = and_(mine.c.org_id == self.scope.org, mine.c.run_id == latest.c.id, mine.c.observation_id == self.id)
        together = and_(
            each.c.org_id == self.scope.org, each.c.run_id == mine.c.run_id, each.c.cluster == mine.c.cluster
        )
        same = and_(
            kept.c.org_id == self.scope.org,
            kept.c.observation_id == each.c.observation_id,
            kept.c.content_hash == func.md5(table.c.content),
        )
        stored = and_(table.c.org_id == self.scope.org, table.c.id == each.c.observation_id)
        return (
            select(
                each.c.observation_id,
                each.c.canonical,
                each.c.contradicts,
                each.c.disputed,
                func.count().over(),
                each.c.agents,
                each.c.sessions,
                each.c.diameter,
                table.c.agent_id,
                table.c.session_id,
                datable(table.c.created_at),
                table.c.status,
                func.left(table.c.content, 500),
                bits_apart(self.simhash),
            )
            .select_from(latest.join(mine, own).join(each, together).outerjoin(table, stored).outerjoin(kept, same))
            .order_by(each.c.canonical.desc(), (each.c.observation_id == self.id).desc(), table.c.created_at)
            .order_by(each.c.observation_id)
            .limit(MEMBERS)
        )


@dataclass(frozen=True)
class DisputeRow:
    """A contradiction between the canonical of a cluster and a member, with what was decided about it."""

    older: str
    newer: str
    fingerprint: str
    dismissed: bool
    verdict: str | None


@dataclass(frozen=True)
class ClusterDisputes:
    """What disputes the observation's cluster by the pass, also what triage dismissed since."""

    scope: Scope
    id: UUID
    triaged: bool = True
    row: ClassVar[type] = DisputeRow
    limit: ClassVar[float] = LIST

    def statement(self) -> Select[Any]:
        """In the order in which they were found."""
        latest, found = latest_pass(self.scope, self.id), own_schema.contradictions
        mine, first, each = (own_schema.clusters.alias(name) for name in ("mine", "first", "member"))
        own = and_(mine.c.org_id == self.scope.org, mine.c.run_id == latest.c.id, mine.c.observation_id == self.id)

        def together(other: FromClause) -> ColumnElement[bool]:
            same = and_(other.c.run_id == mine.c.run_id, other.c.cluster == mine.c.cluster)
            return and_(other.c.org_id == self.scope.org, same)

        is_older = found.c.older == first.c.observation_id
        against = case((is_older, found.c.newer), else_=found.c.older)
        here = and_(found.c.org_id == self.scope.org, found.c.run_id == latest.c.id)
        joined, dismissed, verdict = decided(
            latest.join(mine, own)
            .join(first, and_(together(first), first.c.canonical))
            .join(found, and_(here, or_(is_older, found.c.newer == first.c.observation_id)))
            .join(each, and_(together(each), each.c.observation_id == against)),
            triaged=self.triaged,
        )
        columns = (found.c.older, found.c.newer, found.c.fingerprint, dismissed, verdict)
        return select(*columns).select_from(joined).order_by(found.c.place)


@dataclass(frozen=True)
class ContradictionRow:
    """One contradiction that the observation is part of, with the other side as it is stored now."""

    fingerprint: str
    side: str
    kind: str
    rule: str
    overlap: float
    severity: float
    evidence: object
    other: str
    agent_id: str | None
    session_id: str | None
    created_at: datetime | None
    status: str | None
    content: str | None
    dismissed: bool
    verdict: str | None
    total: int
    standing: int


@dataclass(frozen=True)
class ContradictionsOf:
    """The most severe contradictions of the observation; ``side`` says which of the two it is.

    Those that triage dismissed come last, and are not ``standing``; a store may keep no triage to ask.
    """

    scope: Scope
    id: UUID
    triaged: bool = True
    row: ClassVar[type] = ContradictionRow
    limit: ClassVar[float] = LIST

    def statement(self) -> Select[Any]:
        """Of equal severity in the order in which they were found."""
        latest, table, found = latest_pass(self.scope, self.id), schema.observations, own_schema.contradictions
        is_older = found.c.older == self.id
        other = case((is_older, found.c.newer), else_=found.c.older)
        here = and_(
            found.c.org_id == self.scope.org,
            found.c.run_id == latest.c.id,
            or_(is_older, found.c.newer == self.id),
        )
        stored = and_(table.c.org_id == self.scope.org, table.c.id == other)
        joined, dismissed, verdict = decided(latest.join(found, here).outerjoin(table, stored), triaged=self.triaged)
        return (
            select(
                found.c.fingerprint,
                case((is_older, "older"), else_="newer"),
                found.c.kind,
                found.c.rule,
                found.c.overlap,
                found.c.severity,
                found.c.evidence,
                other,
                table.c.agent_id,
                table.c.session_id,
                datable(table.c.created_at),
                table.c.status,
                func.left(table.c.content, LONGEST_SIDE),
                dismissed,
                verdict,
                func.count().over(),
                func.count().filter(~dismissed).over(),
            )
            .select_from(joined)
            .order_by(dismissed, found.c.severity.desc(), found.c.place)
            .limit(SHOWN)
        )
