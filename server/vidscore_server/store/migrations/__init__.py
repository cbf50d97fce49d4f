"""Migrations of the schema, forward only."""

from __future__ import annotations

import secrets
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import Script, ScriptDirectory
from sqlalchemy import Connection, insert, select

from vidscore_server.store.errors import StoreError
from vidscore_server.store.tables import SECRET, site

SECRET_BYTES = 32


def upgrade(connection: Connection, revision: str = "head") -> None:
    """Migrate forward, and make the site's secret if there is none.

    Args:
        connection: The database, in a transaction.
        revision: Target revision; tests stop earlier.

    Raises:
        StoreError: If the database was written by a newer version of vidscore.
    """
    config = migration_config(connection)
    _refuse_newer(config, connection)
    command.upgrade(config, revision)
    if connection.execute(select(site.c.name).where(site.c.name == SECRET)).first() is None:
        row = {"name": SECRET, "value": secrets.token_bytes(SECRET_BYTES)}
        connection.execute(insert(site).values(row))


def migration_config(connection: Connection) -> Config:
    """Alembic's configuration over a connection; there is no file."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    config.attributes["connection"] = connection
    return config


def schema_of(connection: Connection) -> str | None:
    """Revision of a database's schema; None if it has none yet."""
    return MigrationContext.configure(connection).get_current_revision()


def revisions(config: Config) -> list[Script]:
    """Every revision of the schema that this version knows, newest first."""
    return list(ScriptDirectory.from_config(config).walk_revisions())


def refuse_other_schema(connection: Connection) -> None:
    """Check that the schema is this version's.

    Raises:
        StoreError: If it is not.
    """
    newest = revisions(migration_config(connection))[0].revision
    present = schema_of(connection)
    if present != newest:
        raise StoreError(
            f"a server of another version of vidscore owns the store (its schema is {present}, "
            f"here it is {newest}): use that version, or stop the server first"
        )


def _refuse_newer(config: Config, connection: Connection) -> None:
    present = schema_of(connection)
    known = {script.revision for script in revisions(config)}
    if present is not None and present not in known:
        raise StoreError(
            f"the store's schema is {present}, which this version of vidscore does not know: "
            "it was written by a newer one; upgrade this one"
        )
