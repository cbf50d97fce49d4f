"""`vidscore validate`."""

from __future__ import annotations

from typing import Any

import click

from vidscore_cli.command_tree import command
from vidscore_cli.options import (
    all_faults_option,
    complete_evaluator,
    confidence_scale_option,
    format_option,
    image_size_option,
    input_format_option,
    side_option,
    strict_option,
    truth_option,
)
from vidscore_cli.session import Session


@command(
    "validate",
    examples=(
        "vidscore validate truth.json",
        "vidscore validate detections.json --side detections --evaluator spotgeo",
        "vidscore validate detections.json --truth truth.json",
    ),
)
@click.argument("path", type=click.Path())
@truth_option(required=False, help_="Ground truth to hold PATH against, which then are detections.")
@input_format_option()
@image_size_option()
@confidence_scale_option()
@side_option()
@click.option(
    "--evaluator",
    metavar="NAME",
    shell_complete=complete_evaluator,
    help="Hold the data to the rules of this evaluator.",
)
@strict_option()
@format_option("table", "json")
@all_faults_option()
@click.pass_obj
def validate(session: Session, /, **choices: Any) -> int:
    """List everything that is wrong with a file or folder, or looks wrong, and what is in it.

    Exits with 1 where something is wrong. What only looks wrong is a warning.
    """
    from vidscore_cli.checking_files import FileCheck, check_files

    return check_files(FileCheck(**choices), all_faults=session.all_faults)
