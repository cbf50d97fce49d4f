"""`vidscore convert`."""

from __future__ import annotations

from typing import Any

import click

from vidscore_cli.command_tree import command
from vidscore_cli.options import (
    FORMAT_NAMES,
    all_faults_option,
    complete_format,
    confidence_scale_option,
    image_size_option,
    side_option,
)


@command(
    "convert",
    examples=(
        "vidscore convert truth.json truth.csv --to generic-csv",
        "vidscore convert truth truth-coco.json --to coco-json",
        "vidscore convert detections found.json --to coco-json --side detections --truth truth",
    ),
)
@click.argument("source", type=click.Path())
@click.argument("target", type=click.Path())
@click.option(
    "--from",
    "from_format",
    metavar="FORMAT",
    shell_complete=complete_format,
    default="auto",
    show_default=True,
    help="Format of SOURCE and of --truth, or auto to go by the content.",
)
@click.option(
    "--to",
    "to_format",
    metavar="FORMAT",
    required=True,
    shell_complete=complete_format,
    help=f"{FORMAT_NAMES}.",
)
@side_option()
@click.option(
    "--truth",
    metavar="PATH",
    type=click.Path(),
    help="Truth that detections belong to: its numbers of images and classes are used.",
)
@image_size_option()
@confidence_scale_option()
@all_faults_option()
def convert(**choices: Any) -> None:
    """Write truth or detections in another format.

    TARGET is a file or a new folder, as the format asks. What the format cannot hold is dropped,
    and said.
    """
    from vidscore_cli.converting_files import FileConversion, convert_files

    convert_files(FileConversion(**choices))
