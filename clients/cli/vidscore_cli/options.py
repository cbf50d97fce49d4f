"""Options that several commands share, each declared once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from vidscore_cli.session import Session

Function = TypeVar("Function", bound=Callable[..., Any])
Decorator = Callable[[Function], Function]


def format_option(*choices: str) -> Decorator[Any]:
    """``--format``; the first choice is the default."""
    return click.option(
        "--format",
        "format_",
        type=click.Choice(choices),
        default=choices[0],
        show_default=True,
        help="Form of the output.",
    )


def output_option() -> Decorator[Any]:
    """``--output``: a file that is written whole or not at all."""
    return click.option(
        "--output",
        metavar="FILE",
        type=click.Path(),
        default="-",
        help="Write to this file instead of standard output; it is written whole or not at all.",
    )


def all_faults_option() -> Decorator[Any]:
    """``--all-faults``: errors list every fault."""
    return click.option(
        "--all-faults",
        is_flag=True,
        expose_value=False,
        callback=_want_all_faults,
        help="List every fault of an input, not the first 50.",
    )


def data_options() -> Decorator[Any]:
    """``--truth``, ``--detections`` and ``--input-format``."""
    return _together(
        click.option(
            "--truth",
            metavar="PATH",
            type=click.Path(),
            required=True,
            help="What is there: a file or a folder.",
        ),
        click.option(
            "--detections",
            metavar="PATH",
            type=click.Path(),
            required=True,
            help="What the system says is there: a file or a folder.",
        ),
        input_format_option(),
    )


def evaluator_options() -> Decorator[Any]:
    """``EVALUATOR...``, ``--set`` and ``--manifest``."""
    return _together(
        click.argument(
            "evaluators",
            metavar="[EVALUATOR]...",
            nargs=-1,
            shell_complete=complete_evaluator,
        ),
        click.option(
            "--set",
            "settings",
            metavar="[EVALUATOR.]NAME=VALUE",
            multiple=True,
            help="Set a parameter (see `vidscore evaluators NAME`); may be repeated.",
        ),
        click.option(
            "--manifest",
            metavar="FILE",
            type=click.Path(),
            help="TOML file that says what the data cannot: evaluators, classes, frames.",
        ),
    )


def view_options() -> Decorator[Any]:
    """``--sequences`` and ``--curves``."""
    return _together(
        click.option("--sequences", is_flag=True, help="In a table, show each sequence too."),
        click.option("--curves", is_flag=True, help="In a table, show the points of curves."),
    )


def input_format_option() -> Decorator[Any]:
    """``--input-format``."""
    return click.option(
        "--input-format",
        metavar="FORMAT",
        default="auto",
        show_default=True,
        help="spotgeo-json, neovision2-csv, generic-csv, or auto to go by the content.",
    )


def server_options() -> Decorator[Any]:
    """``--server``, ``--tls`` and ``--tls-root``."""
    return _together(
        click.option(
            "--server",
            metavar="HOST:PORT",
            envvar="VIDSCORE_SERVER",
            default="127.0.0.1:50051",
            show_default=True,
            help="Address of the server; VIDSCORE_SERVER sets it as well.",
        ),
        click.option("--tls", is_flag=True, help="Encrypt the connection."),
        click.option(
            "--tls-root",
            metavar="FILE",
            type=click.Path(),
            help="PEM file of the authorities to trust; implies --tls.",
        ),
    )


def complete_evaluator(
    _ctx: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[str]:
    """Names of evaluators that begin as typed, for shells that complete."""
    from vidscore_evaluators.registry import evaluator_names

    return [name for name in evaluator_names() if name.startswith(incomplete)]


def _together(*options: Decorator[Any]) -> Decorator[Any]:
    """Several options as one decorator, in the order of the help."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def _want_all_faults(ctx: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    session = ctx.find_object(Session)
    if session is not None:
        session.all_faults = session.all_faults or wanted
