"""What the last aggregation found about a retrieval's candidates: who else says the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import and_, any_, bindparam, literal, select
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.types import Uuid

from queries.aggregation_runs import newest_runs
from queries.own_schema import aggregation_runs, clusters

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from sqlalchemy import Connection, Select, Subquery


@dataclass(frozen=True)
class Voices:
    """What a pass found about one observation: its cluster, how many say the same, and whether that is disputed."""

    cluster: int
    corroborating: int
    agents: int
    disputed: bool


@dataclass(frozen=True)
class Corroborated:
    """Voices by observation, and when the pass finished; no time where no pass ever did."""

    voices: dict[UUID, Voices]
    as_of: datetime | None


@dataclass(frozen=True)
class Corroborating:
    """The candidates among the clusters of the scope's latest finished passes, one pass per project."""

    org_id: str
    project_id: str | None
    ids: tuple[UUID, ...]

    def statement(self) -> Select[tuple[object, ...]]:
        """A row per pass that found none of them, too, so that no pass and no cluster can be told apart."""
        latest = self._latest()
        mine = and_(
            clusters.c.org_id == literal(self.org_id),
            clusters.c.run_id == latest.c.id,
            clusters.c.observation_id == any_(bindparam(None, list(self.ids), type_=ARRAY(Uuid))),
        )
        found = (clusters.c.observation_id, clusters.c.cluster, clusters.c.corroboration_score)
        return (
            select(latest.c.finished_at, *found, clusters.c.agents, clusters.c.disputed)
            .select_from(latest.outerjoin(clusters, mine))
            .order_by(latest.c.id)
        )

    def read(self, connection: Connection) -> Corroborated:
        """The voices; where two passes saw an observation, those of the later."""
        rows = connection.execute(self.statement()).all()
        voices = {
            row.observation_id: Voices(row.cluster, row.corroboration_score, row.agents, row.disputed)
            for row in rows
            if row.observation_id is not None
        }
        return Corroborated(voices, max((row.finished_at for row in rows if row.finished_at), default=None))

    def _latest(self) -> Subquery:
        runs = aggregation_runs
        mine = [runs.c.org_id == self.org_id]
        if self.project_id is not None:
            mine.append(runs.c.project_id == self.project_id)
        return newest_runs(and_(*mine), runs.c.id, runs.c.finished_at).subquery()
