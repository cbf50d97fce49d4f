"""`vidscore restore`."""

from __future__ import annotations

import click

from vidscore_cli.command_tree import command
from vidscore_cli.options import server_options
from vidscore_cli.server_choice import ServerChoice


@command(
    "restore",
    examples=(
        "vidscore restore site.backup --store new.db",
        "vidscore restore sky.backup",
    ),
)
@click.argument("file", metavar="FILE", type=click.Path())
@click.option(
    "--store",
    metavar="STORE",
    help="Restore into this store, which no server uses: a file, made where it is not there, or a "
    "postgresql:// address.",
)
@server_options()
def restore(file: str, store: str | None, server: ServerChoice) -> None:
    """Restore a backup: all of it, or, where anything is wrong with it, nothing.

    A benchmark comes back into a running server, or with --store into a store, beside what is
    there. A site comes back with --store into an empty store alone.
    """
    from vidscore_cli.backups import restore_into_server, restore_into_store

    if store is None:
        restore_into_server(file, server)
    else:
        restore_into_store(file, store)
