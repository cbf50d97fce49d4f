"""`vidscore backup`."""

from __future__ import annotations

import click

from vidscore_cli.command_tree import command
from vidscore_cli.options import server_options
from vidscore_cli.server_choice import ServerChoice


@command(
    "backup",
    examples=("vidscore backup site.backup", "vidscore backup sky.backup --benchmark sky"),
)
@click.argument("file", metavar="FILE", type=click.Path())
@click.option("--benchmark", metavar="NAME", help="Back up this benchmark alone.")
@server_options()
def backup(file: str, benchmark: str | None, server: ServerChoice) -> None:
    """Back up a site, or one benchmark, to a file while the server goes on.

    The file is one moment of everything: benchmarks, truth, submissions and scores, and of a site
    tokens (their hashes) and the audit record, too. Only its owner may read it. For organisers.
    """
    from vidscore_cli.backups import back_up

    back_up(server, benchmark, file)
