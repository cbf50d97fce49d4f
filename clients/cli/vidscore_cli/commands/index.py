"""`vidscore index`: which file of a folder contains which sequences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from vidscore_cli.command_tree import command
from vidscore_cli.inputs import check_format_name
from vidscore_cli.options import all_faults_option, input_format_option, side_option
from vidscore_cli.output import say, write_atomically
from vidscore_cli.progress import ProgressBar
from vidscore_evaluators.names import counted
from vidscore_evaluators.remote_files import data_path

if TYPE_CHECKING:
    from vidscore_evaluators.annotations import Side


@command(
    "index",
    examples=(
        "vidscore index truth/",
        "vidscore index detections/ --side detections",
    ),
)
@click.argument("folder", type=click.Path(readable=False))
@input_format_option()
@side_option()
@all_faults_option()
def index(folder: str, input_format: str, side: Side | str) -> None:
    """Write an index of the sequences in each file of a folder.

    A shard then reads only its own files. FOLDER has files that name their sequences in their rows,
    in generic CSV, JSON lines, Parquet or Arrow. The index is written into it as _sequences.csv;
    you may also write it by hand.
    """
    from vidscore_evaluators.annotations import Side
    from vidscore_evaluators.formats import index_folder

    check_format_name(input_format)
    with ProgressBar() as bar:
        bar.stage("reading")
        written = index_folder(data_path(folder), Side(side), format_name=input_format)
    target = f"{folder.rstrip('/')}/_sequences.csv"
    write_atomically(data_path(target), written)
    count = len(written.splitlines()) - 1
    say(f"{target}: {counted(count, 'sequence')}")
