"""`vidscore audit`: who did what on a server."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from vidscore_cli.command_tree import command
from vidscore_cli.options import records_options, server_options, time_option
from vidscore_cli.records import write_records
from vidscore_cli.remote import open_client
from vidscore_cli.sites import ServerChoice

AUDIT_COLUMNS = ("number", "time", "actor", "action", "resource", "detail")


@command(
    "audit",
    examples=(
        "vidscore audit",
        "vidscore audit --benchmark sky --action UploadTruth",
        "vidscore audit --actor server --since 2026-05-01 --until 2026-05-02T12:00:00Z",
        "vidscore audit --limit 1000 --format csv",
    ),
)
@click.option("--benchmark", metavar="NAME", help="Only actions on this benchmark.")
@click.option(
    "--resource", metavar="NAME", help="Only actions on this resource, such as tokens/..."
)
@click.option("--actor", metavar="NAME", help="Only actions of this token, or of `server` itself.")
@click.option("--action", metavar="NAME", help="Only this action, such as UploadTruth.")
@time_option("--since", "Only what was done then or later")
@time_option("--until", "Only what was done before")
@click.option(
    "--limit",
    metavar="COUNT",
    type=click.IntRange(1, 10_000_000),
    default=50,
    show_default=True,
    help="Maximum number of records to show.",
)
@server_options()
@records_options()
def audit(server: ServerChoice, limit: int, format_: str, output: str, **typed: Any) -> None:
    """Show who did what on a server, newest first."""
    from vidscore_client import AuditFilter

    wanted = AuditFilter(**{name: value for name, value in typed.items() if value is not None})
    with open_client(server) as client:
        found = client.audit(limit, wanted)
    write_records([asdict(record) for record in found], AUDIT_COLUMNS, format_, output)
