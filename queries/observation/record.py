"""What is stored of one observation itself: text, provenance, vectors, and how its weight moved."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003 - frames read the rows' types as the program runs
from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import and_, func, select

from queries import schema
from queries.engine import LIST
from queries.moments import datable
from queries.organizations import shown_name

if TYPE_CHECKING:
    from uuid import UUID

    from sqlalchemy import Select

    from queries.scope import Scope

LONGEST_SHOWN = 100_000  # characters of a text that a page sends; its length says how much more there is
STEPS = 500  # changes of a weight that are drawn, the newest


@dataclass(frozen=True)
class RecordRow:
    """An observation as it is stored, with the names and the session it belongs to."""

    id: str
    org_id: str
    org_name: str
    project_id: str | None
    project_name: str | None
    agent_id: str | None
    session_id: str | None
    session_outcome: str | None
    kind: str
    reflection_depth: int
    granularity: str
    title: str | None
    content: str
    characters: int
    content_hash: str
    source: str | None
    weight: float | None
    importance: float | None
    memory_score: float | None
    tags: list[str]
    task_tag: str | None
    status: str
    created_at: datetime | None
    last_accessed_at: datetime | None


@dataclass(frozen=True)
class Record:
    """One observation of one organization; no row where that organization has none of this id."""

    scope: Scope
    id: UUID
    row: ClassVar[type] = RecordRow
    limit: ClassVar[float] = LIST

    def statement(self) -> Select[Any]:
        """Joined by key to its organization, project and session, each of which may be gone."""
        table, orgs, projects, sessions = (
            schema.observations,
            schema.organizations,
            schema.projects,
            schema.sessions,
        )
        project = and_(projects.c.org_id == table.c.org_id, projects.c.id == table.c.project_id)
        session = schema.session_of(table)
        return (
            select(
                table.c.id,
                table.c.org_id,
                shown_name(orgs),
                table.c.project_id,
                func.left(projects.c.name, 200),
                table.c.agent_id,
                table.c.session_id,
                sessions.c.outcome,
                table.c.kind,
                table.c.reflection_depth,
                table.c.granularity,
                table.c.title,
                func.left(table.c.content, LONGEST_SHOWN),
                func.length(table.c.content),
                table.c.content_hash,
                table.c.source,
                table.c.weight,
                table.c.importance,
                table.c.memory_score,
                table.c.tags,
                table.c.task_tag,
                table.c.status,
                datable(table.c.created_at),
                datable(table.c.last_accessed_at),
            )
            .select_from(table.join(orgs, orgs.c.id == table.c.org_id).outerjoin(projects, project))
            .outerjoin(sessions, session)
            .where(self.scope.tenant(table), table.c.id == self.id)
        )


@dataclass(frozen=True)
class VectorRow:
    """One vector of an observation."""

    route: str
    dimensions: int


@dataclass(frozen=True)
class Vectors:
    """Which routes have a vector of an observation, and of how many dimensions."""

    scope: Scope
    id: UUID
    row: ClassVar[type] = VectorRow
    limit: ClassVar[float] = LIST

    def statement(self) -> Select[Any]:
        """At most one per route, by name."""
        table = schema.observation_embeddings
        return (
            select(table.c.route, func.vector_dims(table.c.embedding))
            .where(table.c.org_id == self.scope.org, table.c.observation_id == self.id)
            .order_by(table.c.route)
        )


@dataclass(frozen=True)
class WeightStepRow:
    """One change of a weight, and the outcome that made it; ``total`` counts all, from ``first_weight`` on."""

    recorded_at: datetime
    session_id: str
    outcome: str
    previous_weight: float
    new_weight: float
    alpha: float
    total: int
    first_weight: float


@dataclass(frozen=True)
class WeightSteps:
    """How an observation's weight moved, the newest 500 changes, newest first."""

    scope: Scope
    id: UUID
    row: ClassVar[type] = WeightStepRow
    limit: ClassVar[float] = LIST

    def statement(self) -> Select[Any]:
        """Read along the index by observation and time."""
        table = schema.observation_weight_history
        columns = (table.c.previous_weight, table.c.new_weight, table.c.alpha)
        first = func.first_value(table.c.previous_weight).over(order_by=(table.c.recorded_at, table.c.id))
        return (
            select(table.c.recorded_at, table.c.session_id, table.c.outcome, *columns, func.count().over(), first)
            .where(
                self.scope.where(table, table.c.recorded_at),
                table.c.observation_id == self.id,
            )
            .order_by(table.c.recorded_at.desc(), table.c.id.desc())
            .limit(STEPS)
        )
