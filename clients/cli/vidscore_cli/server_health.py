"""Whether a server serves."""

from __future__ import annotations

from vidscore_cli.failures import ServerUnreachableError
from vidscore_cli.output import say
from vidscore_cli.remote import open_client
from vidscore_cli.server_choice import ServerChoice
from vidscore_client import Health


def check_health(server: ServerChoice, timeout_s: float) -> None:
    """Say that a server serves.

    Args:
        server: The server.
        timeout_s: Seconds to wait for its answer.

    Raises:
        ServerUnreachableError: If it cannot be reached, or does not serve.
    """
    with open_client(server, timeout_s=timeout_s) as client:
        health = client.health()
    if health is not Health.SERVING:
        raise ServerUnreachableError(f"the server at {server.address} does not serve: {health}")
    say(f"{server.address} serves")
