"""`vidscore score`."""

from __future__ import annotations

from typing import Any

import click

from vidscore_cli.command_tree import command
from vidscore_cli.options import (
    all_faults_option,
    data_options,
    evaluator_options,
    format_option,
    output_option,
    strict_option,
    view_options,
    workers_option,
)


@command(
    "score",
    examples=(
        "vidscore score spotgeo --truth truth.json --detections detections.json",
        "vidscore score neovision2 --truth truth/ --detections detections/ --format json",
        "vidscore score spotgeo --set tau=5 --truth truth.json --detections detections.json",
    ),
)
@evaluator_options()
@data_options()
@click.option(
    "--on-error",
    type=click.Choice(["refuse", "skip"]),
    default="refuse",
    show_default=True,
    help="What to do with rows that cannot be read: refuse the file, or leave them out.",
)
@workers_option()
@format_option("table", "json", "csv")
@output_option()
@view_options()
@strict_option()
@all_faults_option()
def score(**choices: Any) -> None:
    """Score detections in files against truth in files.

    EVALUATOR is one or more names that `vidscore evaluators` lists; a --manifest may name them
    instead.
    """
    from vidscore_cli.scoring_files import FileScoring, score_files

    score_files(FileScoring(**choices))
