"""`vidscore init`: a store for hosted benchmarks, and a token for its organiser."""

from __future__ import annotations

import click

from vidscore_cli.command_tree import command
from vidscore_cli.options import secret_file_option
from vidscore_cli.output import place_of, say, secret_output


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
    from vidscore_server.domain.administration import initialise
    from vidscore_server.store import shown_location

    with secret_output(secret_file) as write:
        made = initialise(store)
        done = "is ready" if made.is_first else "has a further organiser's token"
        place = place_of(secret_file)
        say(f"The store {shown_location(store)} {done}. {place}", err=True)
        write(made.secret)
