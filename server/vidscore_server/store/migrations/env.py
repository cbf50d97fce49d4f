"""Run by alembic: migrate over the connection that `vidscore_server.store.migrations` passes."""

from __future__ import annotations

from alembic import context

from vidscore_server.store.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
