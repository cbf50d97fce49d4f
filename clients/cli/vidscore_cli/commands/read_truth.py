"""`vidscore benchmark read-truth`: a revision of the truth as a file, for its organisers."""

from __future__ import annotations

import click

from vidscore_cli.command_tree import command
from vidscore_cli.options import server_options
from vidscore_cli.output import SECRET_MODE, check_file, say, write_atomically
from vidscore_cli.progress import ProgressBar
from vidscore_cli.remote import open_client, to_annotations
from vidscore_cli.sites import ServerChoice
from vidscore_cli.waiting import Breaks
from vidscore_evaluators.names import counted

FORMATS_OF_FILES = ("generic-csv", "coco-json", "spotgeo-json")
"""Formats of a single file."""


@command(
    "read-truth",
    examples=(
        "vidscore benchmark read-truth sky truth.csv",
        "vidscore benchmark read-truth sky first.json --revision 1 --to spotgeo-json",
    ),
)
@click.argument("benchmark", metavar="BENCHMARK")
@click.argument("file", metavar="FILE", type=click.Path())
@click.option(
    "--revision",
    metavar="NUMBER",
    type=click.IntRange(0, 1_000_000_000),
    default=0,
    help="Number of the revision. [default: the newest]",
)
@click.option(
    "--to",
    "to_format",
    type=click.Choice(FORMATS_OF_FILES),
    default=FORMATS_OF_FILES[0],
    show_default=True,
    help="Format of FILE.",
)
@server_options()
def read_truth(
    server: ServerChoice, benchmark: str, file: str, revision: int, to_format: str
) -> None:
    """Write a revision of the truth to FILE. For organisers; the audit record notes it.

    FILE contains hidden truth: only you can read it.
    """
    from vidscore_evaluators.annotations import Side, concatenate
    from vidscore_evaluators.formats.convert import convert
    from vidscore_evaluators.formats.source import Source

    path = check_file(file)
    with ProgressBar() as bar, open_client(server) as client:
        bar.stage("reading")
        name = client.benchmarks.get(benchmark).name  # fails at once if no server answers
        read = client.benchmarks.read_truth(name, revision, retry=Breaks(bar.say).retry())
        parts = [to_annotations(frames) for frames in read]
    if not parts:
        raise click.ClickException(f"the truth of {benchmark} has no frames")
    truth = concatenate(parts)
    conversion = convert(Source(truth, benchmark), to_format, Side.TRUTH)
    write_atomically(path, conversion.files[""], SECRET_MODE)
    say(f"{file}: {counted(truth.frame_count, 'frame')} of truth")
    for remark in conversion.remarks:
        say(f"Changed: {remark}", err=True)
