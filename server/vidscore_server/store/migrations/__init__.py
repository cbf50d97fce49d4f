"""Migrations of the schema, forward only."""

from __future__ import annotations

import secrets
from functools import cache
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, insert, select

from vidscore_server.store.errors import StoreError
from vidscore_server.store.tables import SECRET, site

SECRET_BYTES = 32


def upgrade(connection: Connection, revision: str = "head") -> None:
    """Migrate forward, and create the site's secret if there is none.

    Args:
        connection: The database, in a transaction.
        revision: Target revision; tests stop earlier.

    Raises:
        StoreError: If the database was written by a newer version of vidscore.
    """
    present = schema_of(connection)
    _refuse_newer(present)
    if present != revisions()[0]:
        command.upgrade(migration_config(connection), revision)
    if connection.execute(select(site.c.name).where(site.c.name == SECRET)).first() is None:
        row = {"name": SECRET, "value": secrets.token_bytes(SECRET_BYTES)}
        connection.execute(insert(site).values(row))


def migration_config(connection: Connection) -> Config:
    """Alembic's configuration over a connection; there is no file."""
    config = _config()
    config.attributes["connection"] = connection
    return config


def schema_of(connection: Connection) -> str | None:
    """Revision of a database's schema; None if it has none yet."""
    return MigrationContext.configure(connection).get_current_revision()


@cache
def revisions() -> tuple[str, ...]:
    """Every revision of the schema that this version knows, newest first.

    Alembic runs a module to read its revision, so the revisions are cached.
    """
    scripts = ScriptDirectory.from_config(_config()).walk_revisions()
    return tuple(script.revision for script in scripts)


def refuse_other_schema(connection: Connection) -> None:
    """Check that the schema is this version's.

    Raises:
        StoreError: If it is not.
    """
    newest = revisions()[0]
    present = schema_of(connection)
    if present != newest:
        raise StoreError(
            f"a server of another version of vidscore owns the store (its schema is {present}, "
            f"here it is {newest}): use that version, or stop the server first"
        )


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    return config


def _refuse_newer(present: str | None) -> None:
    if present is not None and present not in revisions():
        raise StoreError(
            f"the store's schema is {present}, which this version of vidscore does not know: "
            "it was written by a newer one; upgrade this one"
        )
