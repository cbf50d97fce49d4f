"""`vidscore live`: a program in any language answers the clock of a live benchmark."""

from __future__ import annotations

from typing import Any

import click

from vidscore_cli.command_tree import command
from vidscore_cli.options import (
    NumberRange,
    all_faults_option,
    format_option,
    on_error_option,
    output_option,
    server_options,
    view_options,
)
from vidscore_cli.output import check_output


@command(
    "live",
    examples=(
        "vidscore live crossing -- python detector.py",
        "vidscore live crossing --submission falcon --await-ready -- ./detector --model large",
    ),
)
@click.argument("benchmark", metavar="BENCHMARK")
@click.argument("command_", metavar="-- COMMAND...", nargs=-1, required=True)
@click.option(
    "--submission",
    metavar="NAME",
    help="Submission to begin or to continue; by default a new one with a random name.",
)
@click.option("--title", metavar="TEXT", default="", help="Title of a new submission.")
@click.option(
    "--await-ready",
    is_flag=True,
    help="Start the clock only when the program has written its first line, which may be empty.",
)
@click.option(
    "--in-flight",
    metavar="FRAMES",
    type=click.IntRange(1, 1000),
    default=1,
    show_default=True,
    help="Maximum number of frames that the program may have without an answer.",
)
@click.option(
    "--silence-timeout",
    metavar="SECONDS",
    type=NumberRange(0.1, 3600),
    default=60.0,
    show_default=True,
    help="End a program that owes an answer for longer than this after its frame has passed.",
)
@on_error_option()
@click.option(
    "--progress/--no-progress",
    default=True,
    show_default=True,
    help="Whether to show the progress of the clock on standard error, at most once a second.",
)
@format_option("table", "json", "csv", "markdown", "latex")
@output_option()
@view_options()
@all_faults_option()
@server_options()
def live(command_: tuple[str, ...], **choices: Any) -> int:
    """Let a program answer the frames of a live benchmark.

    The program reads the clock on its standard input: {"sequence": "a", "frame": 12, "time_s": 0.4}
    says that this frame is current, and {"time_s": 0.44} that its time has passed without an
    answer. It writes its answers to its standard output, as the lines of `vidscore pipe`. When the
    clock has ended, its input is closed, the submission is sealed and the report is written. The
    exit code is 0 if the submission is certified, 6 if it is scored but not certified, and 1 if the
    program ends or stops answering before the clock ends, or if an answer breaks a rule.
    """
    from vidscore_cli.live_answers import LiveAnswering, answer_with_program

    check_output(choices["output"])
    return answer_with_program(LiveAnswering(command=command_, **choices))
