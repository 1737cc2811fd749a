"""Who of an observation's cluster says what it says: near words can be the opposite, and one cluster hold both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import Text, and_, case, exists, func, or_, select

from queries import own_schema, schema
from queries.engine import LIST
from queries.observation.aggregated import decided, latest_pass

if TYPE_CHECKING:
    from uuid import UUID

    from sqlalchemy import CTE, Select

    from queries.scope import Scope


@dataclass(frozen=True)
class VoicesRow:
    """How many members are known to say it, itself among them, by how many agents; the ids of the others.

    ``against`` are those of them that contradict it.
    """

    members: int
    agents: int
    apart: object
    against: object


@dataclass(frozen=True)
class Voices:
    """Who of its cluster says the same by the last pass: all of it, unless members contradict each other.

    Then those who contradict what it contradicts, and not it, as Drift Alerts counts a side; what triage dismissed is
    no contradiction. Of many equal texts a pass compares each with the newest of the other side alone: what
    contradicts one of the observation's own words contradicts it too.
    """

    scope: Scope
    id: UUID
    triaged: bool = True
    row: ClassVar[type] = VoicesRow
    limit: ClassVar[float] = LIST

    def statement(self) -> Select[Any]:
        """One row, of zeros where it is in no cluster; where all say the same, the agents are the pass's."""
        latest = latest_pass(self.scope, self.id)
        cluster, conflicts = self._cluster(latest), self._conflicts(latest)
        words = select(cluster.c.content_hash).where(cluster.c.id == self.id).scalar_subquery()
        own = or_(cluster.c.id == self.id, func.coalesce(cluster.c.content_hash == words, False))
        against = _against(conflicts, select(cluster.c.id).where(own), "against")
        beside = _against(conflicts, select(against.c.id), "beside")
        ids = select(cluster.c.id)
        cut = exists().where(conflicts.c.older.in_(ids), conflicts.c.newer.in_(ids))
        known = and_(cluster.c.id.not_in(select(against.c.id)), or_(own, cluster.c.id.in_(select(beside.c.id))))
        opposed = cluster.c.id.in_(select(against.c.id))
        each = select(cluster, or_(~cut, known).label("known"), opposed.label("opposed")).cte("each")
        return select(
            func.count().filter(each.c.known),
            case(
                (func.bool_and(each.c.known), func.max(each.c.agents)),
                else_=func.count(each.c.agent_id.distinct()).filter(each.c.known),
            ),
            func.array_agg(each.c.id.cast(Text)).filter(~each.c.known),
            func.array_agg(each.c.id.cast(Text)).filter(each.c.opposed),
        )

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

    def _conflicts(self, latest: CTE) -> CTE:
        found = own_schema.contradictions
        here = and_(found.c.org_id == self.scope.org, found.c.run_id == latest.c.id)
        joined, dismissed, _ = decided(latest.join(found, here), triaged=self.triaged)
        return select(found.c.older, found.c.newer).select_from(joined).where(~dismissed).cte("conflicts")


def _against(conflicts: CTE, some: Select[Any], name: str) -> CTE:
    """Whoever contradicts one of some."""
    sides = (conflicts.c.older, conflicts.c.newer)
    newer, older = (select(other.label("id")).where(side.in_(some)) for side, other in (sides, sides[::-1]))
    return newer.union(older).cte(name)
