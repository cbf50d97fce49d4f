"""`vidscore doctor`."""

from __future__ import annotations

import click

from vidscore_cli.command_tree import command
from vidscore_cli.options import format_option, server_options
from vidscore_cli.server_choice import ServerChoice


@command(
    "doctor",
    examples=(
        "vidscore doctor",
        "vidscore doctor --server scores.example.org:443 --tls --format json",
        "vidscore doctor --store site.db",
    ),
)
@server_options()
@click.option(
    "--store",
    metavar="FILE",
    help="Look at this store's file rather than at a server; nothing in it is changed.",
)
@click.option(
    "--timeout",
    "timeout_s",
    metavar="SECONDS",
    type=click.FloatRange(min=0.01, max=3600.0),
    default=10.0,
    show_default=True,
    help="How long each step may take.",
)
@format_option("text", "json")
def doctor(server: ServerChoice, store: str | None, timeout_s: float, format_: str) -> int:
    """Find out why a server cannot be used, step by step.

    It looks at the address, the connection, the certificate, the server, its version and clock, the
    token and, for organisers, the store and its disk, and says what to do about what it finds.

    The exit code is 0 if no step failed; otherwise that of the first one that did: 2 for the form
    of the address, 3 for the way to the server, 4 for the token, 1 for the rest.
    """
    from vidscore_cli.doctor import examine_server, examine_store

    if store is not None:
        return examine_store(store, format_)
    return examine_server(server, timeout_s, format_)
