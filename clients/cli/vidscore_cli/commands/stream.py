"""`vidscore stream`."""

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
    server_options,
    strict_option,
    view_options,
)


@command(
    "stream",
    examples=(
        "vidscore stream spotgeo --truth truth.json --detections detections.json --full-speed",
        "vidscore stream spotgeo --truth truth.json --detections detections.json --rate 50",
    ),
)
@evaluator_options()
@server_options()
@data_options()
@click.option(
    "--rate",
    "rate_fps",
    metavar="FPS",
    type=click.FloatRange(min=0.001, max=1e6),
    default=30.0,
    show_default=True,
    help="Frames that are sent each second.",
)
@click.option("--full-speed", is_flag=True, help="Send as fast as the server takes frames.")
@format_option("table", "json", "csv")
@output_option()
@view_options()
@strict_option()
@all_faults_option()
def stream(**choices: Any) -> None:
    """Replay files to a server and watch the scores move.

    The final report is the one that `vidscore score` gives, to the last bit.
    """
    from vidscore_cli.replaying import Replay, replay_files

    replay_files(Replay(**choices))
