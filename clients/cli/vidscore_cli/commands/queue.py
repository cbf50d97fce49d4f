"""`vidscore queue`: submissions that wait, run or have failed on a server."""

from __future__ import annotations

from dataclasses import asdict

import click

from vidscore_cli.command_tree import command
from vidscore_cli.options import records_options, server_options
from vidscore_cli.output import say
from vidscore_cli.records import write_records
from vidscore_cli.remote import open_client
from vidscore_cli.sites import ServerChoice

COLUMNS = ("name", "team", "state", "state_reason", "state_time", "frame_count")


@command("queue", examples=("vidscore queue", "vidscore queue --state failed"))
@click.option(
    "--state",
    "states",
    metavar="STATE",
    multiple=True,
    help="Only submissions in this state, such as failed; may be repeated. "
    "[default: sealed, waiting_for_truth, scoring, failed]",
)
@server_options()
@records_options()
def queue(server: ServerChoice, states: tuple[str, ...], format_: str, output: str) -> None:
    """List the submissions of all benchmarks that wait, run or have failed. For organisers."""
    with open_client(server) as client:
        found = client.queue(states)
    say(", ".join(f"{count} {state}" for state, count in found.counts.items()), err=True)
    records = [asdict(entry) for entry in found.submissions]
    write_records(records, COLUMNS, format_, output, empty="nothing waits")
