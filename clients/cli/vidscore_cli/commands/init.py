"""`vidscore init`."""

from __future__ import annotations

import click

from vidscore_cli.command_tree import command
from vidscore_cli.options import secret_file_option


@command(
    "init",
    examples=(
        "vidscore init --store site.db",
        "vidscore init --store site.db --secret-file organiser.secret",
        "vidscore init --store postgresql://vidscore@db.example.org/vidscore",
    ),
)
@click.option(
    "--store",
    metavar="STORE",
    required=True,
    help="File of the store, made where it is not there, or postgresql:// address of its database.",
)
@secret_file_option()
def init(store: str, secret_file: str | None) -> None:
    """Make a store for hosted benchmarks, and the first organiser's token.

    The token's secret goes to standard output or a file, this once; the store keeps a hash of it.
    Done again, it makes a further token: the way back in when all others are lost. A server may be
    running over the store.
    """
    from vidscore_cli.access_keys import make_store

    make_store(store, secret_file)
