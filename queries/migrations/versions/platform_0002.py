"""One injection per retrieval, so that a retrieval that is logged again is found to be there already."""

from alembic import op

revision = "platform_0002"
down_revision = "platform_0001"
branch_labels = None
depends_on = None

# name: (definition, the query it serves)
INDEXES = {
    "unique injections_retrieval": (
        "context_injection_logs (org_id, retrieval_id)",
        "a retrieval is logged once however often it is sent",
    ),
}


def upgrade() -> None:
    for name, (definition, serves) in INDEXES.items():
        unique, _, plain = name.rpartition(" ")
        op.execute(f"create {unique} index {plain} on {definition}")
        op.execute(f"comment on index {plain} is '{serves}'")


def downgrade() -> None:
    op.execute("drop index injections_retrieval")
