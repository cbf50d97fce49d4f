"""Whether a server serves."""

from __future__ import annotations

import click

from vidscore_cli.failures import ServerUnreachableError
from vidscore_cli.remote import server_errors
from vidscore_client import Health, connect


def check_health(server: str, timeout_s: float) -> None:
    """Say that a server serves.

    Args:
        server: Its address.
        timeout_s: Seconds to wait for its answer.

    Raises:
        ServerUnreachableError: If it cannot be reached, or does not serve.
    """
    with server_errors(server), connect(server, timeout_s=timeout_s) as client:
        health = client.health()
    if health is not Health.SERVING:
        raise ServerUnreachableError(f"the server at {server} does not serve: it is {health}")
    click.echo(f"{server} serves")
