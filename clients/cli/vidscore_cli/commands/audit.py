"""`vidscore audit`."""

from __future__ import annotations

import click

from vidscore_cli.command_tree import command
from vidscore_cli.options import records_options, server_options
from vidscore_cli.server_choice import ServerChoice


@command("audit", examples=("vidscore audit", "vidscore audit --limit 1000 --format csv"))
@click.option(
    "--limit",
    metavar="COUNT",
    type=click.IntRange(1, 10_000_000),
    default=50,
    show_default=True,
    help="Most records that are shown.",
)
@server_options()
@records_options()
def audit(server: ServerChoice, limit: int, format_: str, output: str) -> None:
    """Show who did what on a server, newest first."""
    from vidscore_cli.access_keys import show_audit

    show_audit(server, limit, format_, output)
