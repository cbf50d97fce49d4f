"""`vidscore merge`: the reports over all shards."""

from __future__ import annotations

from typing import Any

import click

from vidscore_cli.command_tree import command
from vidscore_cli.input_paths import InputPath
from vidscore_cli.options import (
    all_faults_option,
    format_option,
    output_option,
    strict_option,
    view_options,
)
from vidscore_cli.output import check_output
from vidscore_cli.reporting import Presentation, View, write_reports
from vidscore_cli.thresholds import check_thresholds, fail_under_option, parse_thresholds
from vidscore_evaluators.remote_files import data_path


@command(
    "merge",
    examples=(
        "vidscore merge out/1.tally out/2.tally out/3.tally",
        "vidscore merge out/1.tally out/2.tally out/3.tally --format json --output scores.json",
    ),
)
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=InputPath())
@format_option("table", "json", "csv", "markdown", "latex")
@output_option()
@view_options()
@strict_option()
@fail_under_option()
@all_faults_option()
def merge(files: tuple[str, ...], fail_under: tuple[str, ...], **choices: Any) -> int:
    """Merge the tally files of all shards into one report.

    The output is, to the byte, that of `vidscore score` over everything, whatever the order of the
    files. A truncated file, a file of other data, a repeated shard and a missing shard are refused.
    """
    from vidscore_evaluators.shards.merging import merge_files

    check_output(choices["output"])
    merged = merge_files([data_path(file) for file in files])
    thresholds = parse_thresholds(fail_under, merged.evaluators)
    view = View(sequences=choices["sequences"], curves=choices["curves"])
    write_reports(
        merged.reports,
        Presentation(
            choices["format_"], choices["output"], view, choices["strict"], merged.place_of
        ),
    )
    return check_thresholds(thresholds, merged.reports)
