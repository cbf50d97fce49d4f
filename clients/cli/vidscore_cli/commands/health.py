"""`vidscore health`: whether a server serves."""

from __future__ import annotations

import click

from vidscore_cli.command_tree import command
from vidscore_cli.failures import ServerUnreachableError
from vidscore_cli.options import NumberRange, server_options
from vidscore_cli.output import say
from vidscore_cli.remote import open_client
from vidscore_cli.sites import ServerChoice


@command("health", examples=("vidscore health", "vidscore health --server 127.0.0.1:50051"))
@server_options()
@click.option(
    "--timeout",
    "timeout_s",
    metavar="SECONDS",
    type=NumberRange(min=0.01, max=3600.0),
    default=5.0,
    show_default=True,
    help="Time to wait for an answer.",
)
def health(server: ServerChoice, timeout_s: float) -> None:
    """Ask a server whether it is serving.

    The exit code is 0 if it does, and 3 if it does not or cannot be reached.
    """
    from vidscore_client import Health

    with open_client(server, timeout_s=timeout_s) as client:
        health = client.health()
    if health is not Health.SERVING:
        raise ServerUnreachableError(f"the server at {server.address} does not serve: {health}")
    say(f"{server.address} serves")
