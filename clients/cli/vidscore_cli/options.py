"""Options that several commands share, each declared once."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial, wraps
from typing import Any

import click
from click.core import ParameterSource

from vidscore_cli.command_tree import ConnectionOption
from vidscore_cli.completions import (
    FORMAT_NAMES,
    complete_evaluator,
    complete_format,
    complete_setting,
)
from vidscore_cli.input_paths import EvaluatorPath, InputPath
from vidscore_cli.session import DEFAULT_ADDRESS, Session

Decorator = Callable[[Any], Any]
"""Adds options to the function of a command."""

ANYWHERE = "a file, a folder or an address such as s3://bucket/folder"
"""Where the data of commands may be."""


class NumberRange(click.FloatRange):
    """A number between two bounds, which ``nan`` is not."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Read a number."""
        number = float(super().convert(value, param, ctx))
        if math.isnan(number):
            self.fail(f"{value} is not a number.", param, ctx)
        return number


def format_option(*choices: str) -> Decorator:
    """``--format``; the first choice is the default."""
    return click.option(
        "--format",
        "format_",
        type=click.Choice(choices),
        default=choices[0],
        show_default=True,
        help="Format of the output.",
    )


def output_option(how: str = "") -> Decorator:
    """``--output``: a file that is written completely or not at all.

    Args:
        how: A further sentence about the file.
    """
    whole = "Write to this file instead of standard output; it is written completely or not at all."
    return click.option(
        "--output",
        metavar="FILE",
        type=click.Path(),
        default="-",
        help=f"{whole} {how}".rstrip(),
    )


def all_faults_option() -> Decorator:
    """``--all-faults``: errors list every fault."""
    return click.option(
        "--all-faults",
        is_flag=True,
        expose_value=False,
        callback=_want_all_faults,
        help="List every fault of an input one by one, without a limit.",
    )


def data_options() -> Decorator:
    """``--truth``, ``--detections``, and how to read them."""
    return together(
        truth_option(),
        click.option(
            "--detections",
            metavar="PATH",
            type=InputPath(),
            required=True,
            help=f"Detections to score: {ANYWHERE}.",
        ),
        input_format_option(),
        image_size_option(),
        confidence_scale_option(),
    )


def on_error_option() -> Decorator:
    """``--on-error``."""
    return click.option(
        "--on-error",
        type=click.Choice(["refuse", "skip"]),
        default="refuse",
        show_default=True,
        help="What to do with rows that cannot be read: refuse the file, or leave them out.",
    )


def operating_point_options(whose: str = "") -> Decorator:
    """``--at-threshold`` and ``--at-confidence``.

    Args:
        whose: Who may choose, if not everybody may.
    """
    may = f"; {whose}" if whose else ""
    option = partial(click.option, type=float)
    similarity = (
        f"Similarity that a match needs, for evaluators with thresholds{may}. "
        "[default: the evaluator's, or the first of several; 0.5 for hota]"
    )
    confidence = f"Ignore detections below this confidence{may}. [default: use all]"
    return together(
        option("--at-threshold", metavar="SIMILARITY", help=similarity),
        option("--at-confidence", metavar="CONFIDENCE", help=confidence),
    )


def confidence_scale_option() -> Decorator:
    """``--confidence-scale``."""
    return click.option(
        "--confidence-scale",
        metavar="SCALE",
        callback=_check_confidence_scale,
        help="Map confidences of detections to 0 to 1: sigmoid, or MIN,MAX (0,100 for percent).",
    )


def truth_option(*, required: bool = True, help_: str = f"Ground truth: {ANYWHERE}.") -> Decorator:
    """``--truth``."""
    return click.option(
        "--truth",
        metavar="PATH",
        type=InputPath(),
        required=required,
        help=help_,
    )


def evaluator_options(metavar: str = "[EVALUATOR]...") -> Decorator:
    """``EVALUATOR...``, ``--set`` and ``--manifest``.

    Args:
        metavar: Name of the arguments, if they are more than evaluators.
    """
    return together(
        click.argument(
            "evaluators",
            metavar=metavar,
            nargs=-1,
            type=EvaluatorPath(),
            shell_complete=complete_evaluator,
        ),
        settings_option(),
        manifest_option(),
    )


def manifest_option() -> Decorator:
    """``--manifest``."""
    return click.option(
        "--manifest",
        metavar="FILE",
        type=InputPath(),
        help="TOML file with what the data does not say: evaluators, classes, frames.",
    )


def selection_options() -> Decorator:
    """``--domain``, ``--sequence``, ``--label`` and ``--frames``.

    The command gets them as one `vidscore_evaluators.selection.Selection`, named ``selection``.
    """
    repeated = partial(click.option, metavar="NAME", multiple=True)
    one_domain = "Only this sequence, or DOMAIN/NAME for one domain; may be repeated."
    numbers = "Only these frames, both ends included: 100:200 or 100:200,300; may be repeated."
    options = together(
        repeated("--domain", "only_domains", help="Only this domain; may be repeated."),
        repeated("--sequence", "only_sequences", help=one_domain),
        repeated("--label", "only_labels", help="Score only this label; may be repeated."),
        repeated("--frames", "only_frames", metavar="FIRST:LAST", help=numbers),
    )

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def with_selection(**given: Any) -> Any:
            from vidscore_evaluators.errors import ParameterError
            from vidscore_evaluators.selection import Selection

            names = ("domains", "sequences", "labels")
            typed = {name: given.pop(f"only_{name}") or None for name in names}
            ranges = given.pop("only_frames")
            try:
                selection = Selection(**typed, frames=",".join(ranges) if ranges else None)
            except ParameterError as error:
                text = error.faults[0].description
                raise click.BadParameter(text, param_hint="--frames") from None
            return function(selection=selection, **given)

        decorated: Callable[..., Any] = options(with_selection)
        return decorated

    return decorate


def settings_option() -> Decorator:
    """``--set``."""
    return click.option(
        "--set",
        "settings",
        metavar="[EVALUATOR.]NAME=VALUE",
        multiple=True,
        shell_complete=complete_setting,
        help="Set a parameter (see `vidscore evaluators NAME`); may be repeated.",
    )


def number_option(name: str, least: int, most: int, default: int, help_: str) -> Decorator:
    """An option that takes an integer."""
    return click.option(
        name, type=click.IntRange(least, most), default=default, show_default=True, help=help_
    )


def online_option() -> Decorator:
    """``--online``."""
    return click.option(
        "--online",
        is_flag=True,
        help="Streaming accuracy: judge each frame by the last answer that had arrived by "
        "its time.",
    )


def workers_option() -> Decorator:
    """``--workers``."""
    return number_option(
        "--workers", 1, 1024, 1, "Number of processes that score; the scores do not depend on it."
    )


def view_options() -> Decorator:
    """``--sequences`` and ``--curves``."""
    return together(
        click.option("--sequences", is_flag=True, help="In a table, show each sequence too."),
        click.option("--curves", is_flag=True, help="In a table, show the points of curves."),
    )


def strict_option(left_undone: str = "written") -> Decorator:
    """``--strict``.

    Args:
        left_undone: Completes 'nothing is ...' in the help.
    """
    return click.option(
        "--strict",
        is_flag=True,
        help=f"Treat warnings as errors: nothing is {left_undone}, and exit with 1.",
    )


def input_format_option() -> Decorator:
    """``--input-format``."""
    return click.option(
        "--input-format",
        metavar="FORMAT",
        shell_complete=complete_format,
        default="auto",
        show_default=True,
        help=f"{FORMAT_NAMES}, or auto to recognise it by the content.",
    )


def side_option() -> Decorator:
    """``--side``."""
    return click.option(
        "--side",
        type=click.Choice(["truth", "detections"]),
        default="truth",
        show_default=True,
        help="Side of the data.",
    )


def image_size_option() -> Decorator:
    """``--image-size``."""
    help_ = "Size of every image in pixels, for formats that lack it (yolo-text)."
    return size_option("--image-size", help_)


def size_option(name: str, help_: str) -> Decorator:
    """An option that takes the width and height of images."""
    return click.option(name, metavar="WIDTHxHEIGHT", callback=_read_image_size, help=help_)


_connection_option = partial(click.option, cls=ConnectionOption)


def server_options(*, instead: str = "") -> Decorator:
    """``--server``, ``--site``, ``--tls`` and its files, ``--token`` and ``--plaintext-token``.

    The command gets them as one `ServerChoice`, named ``server``.

    Args:
        instead: For a command that works without a server: help text of ``--server``. The command
            then gets None if none is named, whatever VIDSCORE_SERVER or the file of sites says.
    """
    address = (
        click.option("--server", metavar="HOST:PORT", help=instead)
        if instead
        else _connection_option(
            "--server",
            metavar="HOST:PORT",
            envvar="VIDSCORE_SERVER",
            help="Address of the server; VIDSCORE_SERVER sets it as well. "
            f"[default: that of the default site, else {DEFAULT_ADDRESS}]",
        )
    )
    options = together(
        address,
        _connection_option(
            "--site",
            metavar="NAME",
            help="Server and token that `vidscore login` has saved under this name.",
        ),
        connection_options(),
    )

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def with_choice(**given: Any) -> Any:
            typed = {name: given.pop(name) for name in ("server", *CONNECTION)}
            site = given.pop("site")
            if instead and typed["server"] is None and site is None:
                return function(server=None, **given)
            from vidscore_cli.sites import choose_server

            environment = {name: _move_out(typed, name) for name in ("server", "token")}
            return function(server=choose_server(typed, site, environment), **given)

        decorated: Callable[..., Any] = options(with_choice)
        return decorated

    return decorate


CONNECTION = ("tls", "tls_root", "tls_certificate", "tls_key", "token", "plaintext_token")
"""Names of the options of `connection_options`."""


def connection_options() -> Decorator:
    """``--tls`` and its files, ``--token`` and ``--plaintext-token``."""
    return together(
        _connection_option("--tls", is_flag=True, help="Encrypt the connection."),
        _connection_option(
            "--tls-root",
            metavar="FILE",
            type=InputPath(),
            help="PEM file of the authorities to trust; implies --tls.",
        ),
        _connection_option(
            "--tls-certificate",
            metavar="FILE",
            type=InputPath(),
            help="PEM file of this client's certificate, if the server requires one; implies "
            "--tls.",
        ),
        _connection_option(
            "--tls-key",
            metavar="FILE",
            type=InputPath(),
            help="PEM file of the private key of --tls-certificate.",
        ),
        _connection_option(
            "--token",
            metavar="SECRET",
            envvar="VIDSCORE_TOKEN",
            help="Secret of the token; prefer `vidscore login` or VIDSCORE_TOKEN, because others "
            "can see options.",
        ),
        _connection_option(
            "--plaintext-token",
            is_flag=True,
            help="Allow the token to be sent unencrypted to another machine.",
        ),
    )


def secret_file_option() -> Decorator:
    """``--secret-file``."""
    return click.option(
        "--secret-file",
        metavar="PATH",
        type=click.Path(),
        help="Write the secret to this new file, which only you can read.",
    )


def time_option(name: str, help_: str) -> Decorator:
    """An option that takes a date, or a date and time; without an offset, it is in UTC."""
    return click.option(
        name, metavar="TIME", callback=_read_time, help=f"{help_}: 2026-05-01[T12:00:00Z]."
    )


def records_options() -> Decorator:
    """``--format`` and ``--output`` of a command that lists something."""
    return together(format_option("table", "json", "csv"), output_option())


def together(*options: Decorator) -> Decorator:
    """Several options as one decorator, in the order of the help."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def _read_image_size(
    _ctx: click.Context, _parameter: click.Parameter, text: str | None
) -> tuple[int, int] | None:
    if text is None:
        return None
    match = re.fullmatch(r"([1-9][0-9]{0,5})x([1-9][0-9]{0,5})", text)
    if match is None:
        raise click.BadParameter(f"{text!r} is not a size like 1920x1080")
    return int(match[1]), int(match[2])


def _check_confidence_scale(
    _ctx: click.Context, _parameter: click.Parameter, text: str | None
) -> str | None:
    if text is not None:
        from vidscore_evaluators.errors import ParameterError
        from vidscore_evaluators.validation import EXPECTED, ConfidenceScale

        try:
            ConfidenceScale.parse(text)
        except ParameterError:
            raise click.BadParameter(f"{text!r}, expected {EXPECTED}") from None
    return text


def _move_out(typed: dict[str, Any], name: str) -> str | None:
    """The value of an option if it comes from the environment; it then was not typed."""
    source = click.get_current_context().get_parameter_source(name)
    if source is not ParameterSource.ENVIRONMENT:
        return None
    value: str | None = typed[name]
    typed[name] = None
    return value


def _read_time(
    _ctx: click.Context, _parameter: click.Parameter, text: str | None
) -> datetime | None:
    if text is None:
        return None
    try:
        time = datetime.fromisoformat(text)
        return time if time.tzinfo is not None else time.replace(tzinfo=UTC)
    except ValueError:
        raise click.BadParameter(
            f"{text!r} is neither a date nor a date and time such as 2026-05-01T12:00:00Z"
        ) from None


def _want_all_faults(ctx: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    session = ctx.find_object(Session)
    if session is not None:
        session.all_faults = session.all_faults or wanted
