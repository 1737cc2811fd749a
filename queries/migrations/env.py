"""Alembic's entry: runs on the connection that ``queries.migrate`` hands over, never on a URL of its own."""

from alembic import context

connection = context.config.attributes["connection"]
# Our version table lives in our schema, so that a migrated foreign store gains nothing in its own.
context.configure(connection=connection, version_table_schema="rankscope", transaction_per_migration=False)
with context.begin_transaction():
    context.run_migrations()
