"""`vidscore submit`."""

from __future__ import annotations

from typing import Any

import click

from vidscore_cli.command_tree import command
from vidscore_cli.options import (
    all_faults_option,
    confidence_scale_option,
    format_option,
    input_format_option,
    output_option,
    server_options,
    strict_option,
    view_options,
)


@command(
    "submit",
    examples=(
        "vidscore submit sky --detections detections.json --check",
        "vidscore submit sky --detections detections.json",
        "vidscore submit sky --detections detections.json --name falcon --title 'Falcon 2'",
    ),
)
@click.argument("benchmark", metavar="BENCHMARK")
@click.option(
    "--detections",
    metavar="PATH",
    type=click.Path(),
    required=True,
    help="Detections to score: a file or a folder.",
)
@input_format_option()
@confidence_scale_option()
@click.option(
    "--name",
    metavar="NAME",
    help="Last part of the submission's name; by default by chance; the same files find it.",
)
@click.option("--title", metavar="TEXT", default="", help="Title on the leaderboard.")
@click.option(
    "--seal/--no-seal",
    default=True,
    show_default=True,
    help="Whether these are all detections of the submission.",
)
@click.option(
    "--wait/--no-wait", default=True, show_default=True, help="Whether to wait for the score."
)
@click.option(
    "--check",
    is_flag=True,
    help="Ask whether the benchmark would take these detections, and submit nothing.",
)
@click.option(
    "--allow-empty",
    is_flag=True,
    help="Submit a file without any row: the system found nothing at all.",
)
@strict_option("submitted")
@server_options()
@format_option("table", "json", "csv")
@output_option()
@view_options()
@all_faults_option()
def submit(**choices: Any) -> None:
    """Submit detections in files to a hosted benchmark, and wait for the score.

    Interrupted, the same command goes on where it was: frames that the server has are not sent
    again. What is refused leaves nothing and uses no quota. The exit code is 5 if the submission
    fails or is cancelled.
    """
    from vidscore_cli.submitting import FileSubmission, submit_files

    submit_files(FileSubmission(**choices))
