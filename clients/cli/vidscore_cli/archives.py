"""Scoring in shards: one shard as a tally file, or all shards by Dask."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from vidscore_cli.input_paths import refuse_input
from vidscore_cli.inputs import FileOptions, InputChoice, check_format_name
from vidscore_cli.options import Decorator, together
from vidscore_cli.output import STDOUT, check_folder, say, write_atomically
from vidscore_cli.progress import ProgressBar
from vidscore_evaluators.errors import ParameterError
from vidscore_evaluators.names import counted
from vidscore_evaluators.remote_files import RemotePath, data_path

if TYPE_CHECKING:
    from vidscore_evaluators.formats.source import Wanted
    from vidscore_evaluators.preparation import DataChoice
    from vidscore_evaluators.selection import Selected, Selection
    from vidscore_evaluators.shards.dealing import Shard
    from vidscore_evaluators.shards.merging import Merged
    from vidscore_evaluators.specification import BenchmarkSpec

LOCAL = "local"
"""Value of ``--dask`` for a cluster on this machine."""

_OF_REPORTS = {
    "format_": "--format",
    "output": "--output",
    "sequences": "--sequences",
    "curves": "--curves",
    "strict": "--strict",
    "fail_under": "--fail-under",
}
"""Options about the output of reports, by parameter name."""


class ArchiveOptions(FileOptions, frozen=True):
    """Options of the files to score, and of how the scoring is divided.

    Attributes:
        shard: The only shard to score; None for all.
        tally: Path of its tally file; None if reports are wanted.
        dask: Address of a Dask scheduler, or ``local``; None for this process.
        shards: Number of shards for Dask.
        run_folder: Folder that keeps Dask's finished shards; None for none.
        cut_frames: Number of frame numbers in each part of a sequence; None for whole sequences.
    """

    shard: Shard | None
    tally: str | None
    dask: str | None
    shards: int
    run_folder: str | None
    cut_frames: int | None

    def check(self, *, online: bool) -> None:
        """Refuse options that exclude each other.

        Args:
            online: Whether answers are judged by their times.

        Raises:
            click.UsageError: If some do, or one lacks another that it needs.
        """
        if self.tally == STDOUT:
            raise click.UsageError("--tally -: expected a file")
        if self.shard is not None and self.tally is None:
            raise click.UsageError("--shard needs --tally: the file for the tally of the shard")
        for option, wanted in (("--tally", self.tally), ("--dask", self.dask)):
            if wanted is not None and online:
                raise click.UsageError(f"{option} and --online exclude each other")
        if self.cut_frames is not None and self.tally is None and self.dask is None:
            raise click.UsageError("--cut-frames needs --tally or --dask")
        if self.tally is not None and self.dask is not None:
            raise click.UsageError("--tally and --dask exclude each other")
        if self.run_folder is not None:
            _check_run_folder(self.run_folder)
        if self.dask is None:
            _refuse_typed({"shards": "--shards", "run_folder": "--run-folder"}, "needs --dask")
        if self.tally is not None:
            _refuse_typed(_OF_REPORTS, "can only be used with vidscore merge, not with --tally")
        if self.dask is not None and self.dask != LOCAL and _is_typed("workers"):
            raise click.UsageError(
                "--workers can only be used with --dask local: a cluster has its own"
            )


def _check_run_folder(run_folder: str) -> None:
    if isinstance(data_path(run_folder), RemotePath):
        raise click.UsageError(f"--run-folder {run_folder}: expected a folder on a disk")
    folder = check_folder(run_folder, "--run-folder")
    if not folder.exists():
        # Files kept in a folder of inputs would be read as inputs.
        refuse_input(str(folder.parent), "--run-folder")


def archive_options() -> Decorator:
    """``--shard``, ``--tally``, ``--dask``, ``--shards``, ``--run-folder``, ``--cut-frames``."""
    return together(
        click.option(
            "--shard",
            metavar="K/N",
            callback=_read_shard,
            help="Score only shard K of N, from 1/N to N/N; for --tally.",
        ),
        click.option(
            "--tally",
            metavar="FILE",
            type=click.Path(),
            help="Write a tally file for `vidscore merge` instead of a report.",
        ),
        click.option(
            "--dask",
            metavar="ADDRESS",
            callback=_check_address,
            help="Score by a Dask cluster, such as tcp://head:8786, or by new processes of this "
            "machine: local. Needs the extra dask.",
        ),
        click.option(
            "--shards",
            type=click.IntRange(1, 65_536),
            default=64,
            show_default=True,
            help="Number of parts for Dask; the scores do not depend on it.",
        ),
        click.option(
            "--run-folder",
            metavar="DIR",
            type=click.Path(),
            help="Keep finished shards in this folder, and score only those that are missing; "
            "for --dask.",
        ),
        click.option(
            "--cut-frames",
            metavar="N",
            type=click.IntRange(1, 1_000_000_000),
            help="Divide sequences every N frame numbers, so that shards can share them; for "
            "evaluators that judge frame by frame. The scores do not depend on it.",
        ),
    )


def write_tally(
    part: Selected,
    choice: ArchiveOptions,
    reading: DataChoice,
    *,
    workers: int,
    progress: ProgressBar,
) -> None:
    """Score a shard and write its tally file.

    Args:
        part: Evaluators, both sides and specification.
        choice: The shard, and the path of its tally file.
        reading: How the data was read.
        workers: Processes to use.
        progress: Shows the progress.

    Raises:
        InputError: With every fault of the data.
        OSError: If the file cannot be written.
    """
    from vidscore_evaluators.shards.dealing import Shard
    from vidscore_evaluators.shards.tally_files import shard_to_bytes
    from vidscore_evaluators.shards.tallying import CheckedData

    shard, tally = choice.shard or Shard(1, 1), choice.tally or ""
    data = CheckedData.of(part, reading)
    scored = data.tally(shard, workers=workers, progress=progress.advance)
    write_atomically(data_path(tally), shard_to_bytes(scored))
    frames = data.sides_of(shard)[0].frame_count
    say(f"{tally}: shard {shard}, {counted(frames, 'frame')}")


def wanted_of_shard(
    choice: ArchiveOptions, specification: BenchmarkSpec, data: InputChoice, selection: Selection
) -> Wanted | None:
    """The sequences that a shard reads; None if it has to read all of them.

    Args:
        choice: The shard, and how sequences are cut.
        specification: The specification, with the evaluators.
        data: The data.
        selection: The part of it to score.

    Raises:
        click.BadParameter: If there is no such format.
        InputError: If no file has a known format.
    """
    if choice.shard is None:
        return None
    from vidscore_evaluators.shards.readings import wanted_by

    check_format_name(data.input_format)
    sides = (data_path(data.truth), data_path(data.detections))
    reading = reading_of(choice, data, selection)
    return wanted_by(choice.shard, specification, *sides, reading)


@contextmanager
def merging_by_dask(
    specification: BenchmarkSpec,
    selection: Selection,
    choice: ArchiveOptions,
    *,
    workers: int,
    progress: ProgressBar,
) -> Iterator[Callable[[InputChoice], Merged]]:
    """A function that scores all shards of some data by Dask.

    Args:
        specification: The specification, with the evaluators.
        selection: The part of the data to score.
        choice: The cluster, the number of shards, and the run folder.
        workers: Processes of a cluster of this machine; one per processor if no number was typed.
        progress: Shows the number of finished shards.

    Raises:
        ClusterLostError: If the cluster cannot be reached, or is lost.
        InputError: With every fault of the data.
        MissingExtraError: If Dask is not installed.
        OSError: If the run folder cannot be written.
    """
    from vidscore_cli.dask_cluster import dask_executor, naming_losses
    from vidscore_evaluators.shards.tasks import ScoringTask, score_by

    address = None if choice.dask in (None, LOCAL) else choice.dask
    folder = None if choice.run_folder is None else Path(choice.run_folder)
    with ExitStack() as stack:
        stack.enter_context(naming_losses(choice.run_folder))
        progress.stage("starting Dask")
        local_workers = workers if _is_typed("workers") else None
        executor = stack.enter_context(dask_executor(address, local_workers))

        def merge(data: InputChoice) -> Merged:
            reading = reading_of(choice, data, selection)
            task = ScoringTask(specification, data.truth, data.detections, reading)
            progress.stage("scoring")
            return score_by(
                executor, task, shards=choice.shards, run_folder=folder, progress=progress.advance
            )

        yield merge


def reading_of(choice: ArchiveOptions, data: InputChoice, selection: Selection) -> DataChoice:
    """How data is read.

    Args:
        choice: How sequences are cut.
        data: The data.
        selection: The part of it to score.
    """
    from vidscore_evaluators.preparation import DataChoice

    return DataChoice(
        data.input_format,
        data.on_error,
        data.confidence_scale,
        selection,
        data.image_size,
        choice.cut_frames,
    )


def _is_typed(name: str) -> bool:
    source = click.get_current_context().get_parameter_source(name)
    return source is ParameterSource.COMMANDLINE


def _refuse_typed(names: dict[str, str], why: str) -> None:
    for name, option in names.items():
        if _is_typed(name):
            raise click.UsageError(f"{option} {why}")


def _read_shard(_ctx: click.Context, _parameter: click.Parameter, text: str | None) -> Shard | None:
    if text is None:
        return None
    from vidscore_evaluators.shards.dealing import Shard

    try:
        return Shard.parse(text)
    except ParameterError as error:
        [fault] = error.faults
        raise click.BadParameter(fault.description) from None


def _check_address(
    _ctx: click.Context, _parameter: click.Parameter, text: str | None
) -> str | None:
    if text is None or text == LOCAL or re.fullmatch(r"[a-z]+://\S+", text):
        return text
    raise click.BadParameter(f"{text!r} is neither {LOCAL} nor an address such as tcp://head:8786")
