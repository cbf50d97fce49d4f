"""The options of `vidscore serve`, and the way into the server."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import click

from vidscore_cli.output import say
from vidscore_evaluators.parameters import ParameterDescription, describe_parameters
from vidscore_server.settings import ListenAddress, Settings, SettingsError, load_settings

COMMAND_LINE = "command line"
"""What the server calls the options as a source of settings."""


@cache
def setting_options() -> tuple[click.Option, ...]:
    """An option for each setting; what is not typed is None, so that other sources count."""
    return tuple(_option(description) for description in describe_parameters(Settings))


def run_server(config: str | None, typed: Mapping[str, Any]) -> None:
    """Serve until told to stop.

    Args:
        config: File of settings, or None.
        typed: Settings by name, None where not typed.

    Raises:
        click.UsageError: If a setting that was typed is wrong.
        VidscoreError: If one from elsewhere is, or the address cannot be listened at.
    """
    flags = {name: value for name, value in typed.items() if value is not None}
    try:
        settings = load_settings(None if config is None else Path(config), os.environ, flags)
    except SettingsError as error:
        if any(fault.source == COMMAND_LINE for fault in error.faults):
            raise click.UsageError(str(error)) from None
        raise
    # gRPC is loaded only once the settings are known to be right.
    from vidscore_server.start import run

    run(settings, _announce)


def _announce(address: ListenAddress) -> None:
    reach = "this machine only" if address.is_loopback else "other machines can reach it"
    say(f"vidscore serves at {address} ({reach})")


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
