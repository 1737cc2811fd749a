"""Observations planted one by one, for what looks at a project's texts."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import uuid5

from psycopg import sql

from tests import sample

if TYPE_CHECKING:
    from uuid import UUID

    import psycopg

    Owner = psycopg.Connection[Any]

ALIKE = (
    "Use async/await for database calls.",
    "use async await for database calls",
    "USE async: await, for database calls",
)


def add_observation(
    owner: Owner, org: str, name: str, content: str, project: str | None = "api", **columns: object
) -> UUID:
    """One active observation of yesterday; columns may be given by name."""
    planted = {
        "org_id": org,
        "id": uuid5(sample.NAMESPACE, f"{org}/{project}/{name}"),
        "project_id": project,
        "content": content,
        "content_hash": "unused",
        "created_at": sample.TODAY - timedelta(days=1),
        **columns,
    }
    statement = sql.SQL("insert into observations ({}) values ({})").format(
        sql.SQL(", ").join(map(sql.Identifier, planted)), sql.SQL(", ").join(map(sql.Placeholder, planted))
    )
    owner.execute(statement, planted)
    return planted["id"]  # type: ignore[return-value]


def add_alike(owner: Owner, org: str, project: str | None = "api") -> list[UUID]:
    """Three observations that are one cluster, by three agents, and one that stands alone."""
    ids = [
        add_observation(owner, org, f"alike-{at}", text, project, agent_id=f"agent-{at}", session_id="one")
        for at, text in enumerate(ALIKE)
    ]
    return [*ids, add_observation(owner, org, "alone", "the staging certificate expires in spring", project)]
