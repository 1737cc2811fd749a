"""Who of an observation's cluster says what it says: near words can be the opposite, and one cluster hold both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import Text, and_, case, func, or_, select

from queries import own_schema, schema
from queries.engine import LIST
from queries.observation.aggregated import decided, latest_pass

if TYPE_CHECKING:
    from uuid import UUID

    from sqlalchemy import CTE, Select

    from queries.scope import Scope


@dataclass(frozen=True)
class VoicesRow:
    """How many members do not contradict it, itself among them, by how many agents; and the ids of those that do."""

    members: int
    agents: int
    against: object


@dataclass(frozen=True)
class Voices:
    """Who of its cluster contradicts the observation by the last pass, but for what triage dismissed, and the rest.

    Of many equal texts a pass compares each with the newest of the other side alone: what contradicts one of the
    observation's own words contradicts it too.
    """

    scope: Scope
    id: UUID
    triaged: bool = True
    row: ClassVar[type] = VoicesRow
    limit: ClassVar[float] = LIST

    def statement(self) -> Select[Any]:
        """One row, of zeros where it is in no cluster; where nobody is against it, the agents are the pass's."""
        latest = latest_pass(self.scope, self.id)
        cluster = self._cluster(latest)
        against = self._against(latest, cluster)
        opposed = against.c.observation_id.is_not(None)
        agents = func.count(cluster.c.agent_id.distinct()).filter(~opposed)
        return select(
            func.count().filter(~opposed),
            case((func.bool_or(opposed), agents), else_=func.coalesce(func.max(cluster.c.agents), 0)),
            func.array_agg(cluster.c.id.cast(Text)).filter(opposed),
        ).select_from(cluster.outerjoin(against, against.c.observation_id == cluster.c.id))

    def _cluster(self, latest: CTE) -> CTE:
        table, kept = schema.observations, own_schema.simhashes
        mine, each = own_schema.clusters.alias("mine"), own_schema.clusters.alias("member")
        own = and_(mine.c.org_id == self.scope.org, mine.c.run_id == latest.c.id, mine.c.observation_id == self.id)
        together = and_(
            each.c.org_id == self.scope.org, each.c.run_id == mine.c.run_id, each.c.cluster == mine.c.cluster
        )
        stored = and_(table.c.org_id == self.scope.org, table.c.id == each.c.observation_id)
        hashed = and_(kept.c.org_id == self.scope.org, kept.c.observation_id == each.c.observation_id)
        return (
            select(each.c.observation_id.label("id"), each.c.agents, table.c.agent_id, kept.c.content_hash)
            .select_from(latest.join(mine, own).join(each, together).outerjoin(table, stored).outerjoin(kept, hashed))
            .cte("cluster")
        )

    def _against(self, latest: CTE, cluster: CTE) -> CTE:
        """Either side of a contradiction whose other side has the observation's own words."""
        found = own_schema.contradictions
        words = select(cluster.c.content_hash).where(cluster.c.id == self.id).scalar_subquery()
        alike = select(cluster.c.id).where(or_(cluster.c.id == self.id, cluster.c.content_hash == words))
        here = and_(found.c.org_id == self.scope.org, found.c.run_id == latest.c.id)
        joined, dismissed, _ = decided(latest.join(found, here), triaged=self.triaged)
        newer, older = (
            select(other.label("observation_id")).select_from(joined).where(side.in_(alike), ~dismissed)
            for side, other in ((found.c.older, found.c.newer), (found.c.newer, found.c.older))
        )
        return newer.union(older).cte("against")
