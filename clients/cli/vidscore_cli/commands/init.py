"""`vidscore init`."""

from __future__ import annotations

import click

from vidscore_cli.command_tree import command


@command(
    "init",
    examples=(
        "vidscore init --store site.db",
        "vidscore init --store postgresql://vidscore@db.example.org/vidscore",
    ),
)
@click.option(
    "--store",
    metavar="STORE",
    required=True,
    help="File of the store, made where it is not there, or postgresql:// address of its database.",
)
def init(store: str) -> None:
    """Make a store for hosted benchmarks, and the first organiser's token.

    The token's secret goes to standard output, this once; it is kept nowhere. Done again, it makes
    a further token: the way back in when all others are lost.
    """
    from vidscore_cli.access_keys import make_store

    make_store(store)
