"""`vidscore serve`: run a server, with an option for each of its settings."""

from __future__ import annotations

import os
import signal
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from vidscore_cli.command_tree import Command
from vidscore_cli.output import say
from vidscore_evaluators.runtime import ending_signals

if TYPE_CHECKING:
    from vidscore_evaluators.parameters import ParameterDescription
    from vidscore_server.addresses import ListenAddress

COMMAND_LINE = "command line"
"""Name of the options as a source of settings."""


class _ServeCommand(Command):
    """A command with an option per setting of the server, from the setting's declaration."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """The options; built only when this command is used, so that no other command waits."""
        return [*self.params, *setting_options(), *super().get_params(ctx)[len(self.params) :]]


@click.command(
    "serve",
    cls=_ServeCommand,
    examples=(
        "vidscore serve",
        "vidscore serve --listen 127.0.0.1:0 --workers 2 --maximum-streams 10",
        "vidscore serve --store site.db --web 127.0.0.1:8080",
    ),
)
@click.option(
    "--config",
    metavar="FILE",
    type=click.Path(readable=False),
    help="TOML file of settings, by the names below.",
)
def serve(config: str | None, **typed: Any) -> None:
    """Run a scoring server.

    It runs until it is stopped (Ctrl-C, SIGTERM or a closed terminal), and lets running streams end
    first. Each setting may also be in the --config file or in the environment, as
    VIDSCORE_SERVER_NAME; options override the environment, which overrides the file.
    """
    # Until the server listens and drains: the first process of a container gets no signal for which
    # it has no handler.
    for number in ending_signals():
        signal.signal(number, _end)
    from vidscore_server.settings import SettingsError, load_settings

    flags = {name: value for name, value in typed.items() if value is not None}
    try:
        settings = load_settings(None if config is None else Path(config), os.environ, flags)
    except SettingsError as error:
        if any(fault.source == COMMAND_LINE for fault in error.faults):
            raise click.UsageError(str(error)) from None
        raise
    # gRPC is loaded only after the settings are checked.
    from vidscore_server.start import run

    run(settings, _announce)


@cache
def setting_options() -> tuple[click.Option, ...]:
    """An option for each setting; None if not typed, so that other sources count."""
    from vidscore_evaluators.parameters import describe_parameters
    from vidscore_server.settings import Settings

    return tuple(_option(description) for description in describe_parameters(Settings))


def _end(*_: object) -> NoReturn:
    raise SystemExit(0)


def _announce(address: ListenAddress, site: str) -> None:
    reach = "this machine only" if address.is_loopback else "other machines can reach it"
    say(f"vidscore serves at {address} ({reach})")
    if site:
        say(f"The site is at {site}")


def _option(description: ParameterDescription) -> click.Option:
    flag = "--" + description.name.replace("_", "-")
    shown = description.bounds.description
    if description.type_name == "boolean":
        off = flag.replace("--", "--no-", 1)
        shown += f"  [default: {(flag if description.default else off).removeprefix('--')}]"
        return click.Option([f"{flag}/{off}"], default=None, help=shown)
    if description.default != "":
        shown += f"  [default: {description.default}]"
    choices = click.Choice(description.choices) if description.choices else click.STRING
    metavar = None if description.choices else description.type_name.upper()
    return click.Option([flag], type=choices, metavar=metavar, default=None, help=shown)
