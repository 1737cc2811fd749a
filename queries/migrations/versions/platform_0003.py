"""Indexes for the recall of a retrieval."""

from alembic import op

revision = "platform_0003"
down_revision = "platform_0002"
branch_labels = None
depends_on = None

# name: (definition, the query it serves)
INDEXES = {
    "embeddings_route": (
        "observation_embeddings (org_id, route, observation_id)",
        "a vector leg of a retrieval that compares every vector of an organization",
    ),
    "observations_project": (
        "observations (org_id, project_id, id) where status = 'active'",
        "the vector legs of a retrieval inside one project of a large organization",
    ),
    "observations_session": (
        "observations (org_id, session_id, created_at, id) where session_id is not null",
        "the sessions that turns belong to, and the neighbours of an observation",
    ),
}


def upgrade() -> None:
    for name, (definition, serves) in INDEXES.items():
        op.execute(f"create index {name} on {definition}")
        op.execute(f"comment on index {name} is '{serves}'")


def downgrade() -> None:
    for name in INDEXES:
        op.execute(f"drop index {name}")
