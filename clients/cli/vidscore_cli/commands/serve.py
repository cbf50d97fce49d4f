"""`vidscore serve`."""

from __future__ import annotations

from typing import Any

import click

from vidscore_cli.command_tree import Command


class _ServeCommand(Command):
    """A command with an option for each setting of the server, made from its declaration."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """The options; asked for when this very command is used, so nothing else waits for it."""
        from vidscore_cli.serving import setting_options

        return [*self.params, *setting_options(), *super().get_params(ctx)[len(self.params) :]]


@click.command(
    "serve",
    cls=_ServeCommand,
    examples=(
        "vidscore serve",
        "vidscore serve --listen 127.0.0.1:0 --workers 2 --maximum-streams 10",
    ),
)
@click.option(
    "--config",
    metavar="FILE",
    type=click.Path(),
    help="TOML file of settings, by the names below.",
)
def serve(config: str | None, **settings: Any) -> None:
    """Run a scoring server.

    It serves until it is told to stop (Ctrl-C or SIGTERM), and lets running streams end first.

    Each setting may also stand in the --config file or in the environment, as
    VIDSCORE_SERVER_NAME; options go before the environment, which goes before the file.
    """
    from vidscore_cli.serving import run_server

    run_server(config, settings)
