"""`vidscore convert`: one side in the files of another format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from vidscore_cli.command_tree import command
from vidscore_cli.completions import FORMAT_NAMES, complete_format
from vidscore_cli.input_paths import InputPath, refuse_input
from vidscore_cli.inputs import check_format_name, check_scale_of_side
from vidscore_cli.options import (
    all_faults_option,
    confidence_scale_option,
    image_size_option,
    side_option,
)
from vidscore_cli.output import (
    STDOUT,
    atomic_folder,
    check_folder_of,
    deliver_table,
    headed,
    write_atomically,
)
from vidscore_cli.progress import ProgressBar
from vidscore_evaluators.names import counted, name_advice
from vidscore_evaluators.remote_files import (
    DataPath,
    RemotePath,
    check_store,
    data_path,
    is_there,
    write_files,
)

if TYPE_CHECKING:
    from rich.console import RenderableType

    from vidscore_evaluators.annotations import Side
    from vidscore_evaluators.formats.convert import Conversion
    from vidscore_evaluators.formats.source import Source


class FileConversion(Struct, frozen=True):
    """Options of `vidscore convert`, by name."""

    source: str
    target: str
    from_format: str
    to_format: str
    side: str
    truth: str | None
    image_size: tuple[int, int] | None
    confidence_scale: str | None


@command(
    "convert",
    examples=(
        "vidscore convert truth.json truth.csv --to generic-csv",
        "vidscore convert truth truth-coco.json --to coco-json",
        "vidscore convert detections found.json --to coco-json --side detections --truth truth",
    ),
)
@click.argument("source", type=InputPath())
@click.argument("target", type=click.Path())
@click.option(
    "--from",
    "from_format",
    metavar="FORMAT",
    shell_complete=complete_format,
    default="auto",
    show_default=True,
    help="Format of SOURCE and of --truth, or auto to recognise it by the content.",
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
    type=InputPath(),
    help="Truth of the detections, whose numbers of images and classes are used.",
)
@image_size_option()
@confidence_scale_option()
@all_faults_option()
def convert(**choices: Any) -> None:
    """Write truth or detections in another format.

    SOURCE is truth, unless --side detections is given. TARGET is a file or a new folder, as the
    format requires. Data that the format cannot hold is dropped, with a message.
    """
    from vidscore_evaluators.annotations import Side
    from vidscore_evaluators.formats import FORMATS
    from vidscore_evaluators.formats.convert import convert as convert_source

    typed = FileConversion(**choices)
    check_format_name(typed.from_format, "--from")
    check_scale_of_side(typed.confidence_scale, typed.side)
    if typed.to_format not in FORMATS:
        advice = name_advice(typed.to_format, FORMATS)
        said = f"unknown format {typed.to_format!r}; {advice}"
        raise click.BadParameter(said, param_hint="--to")
    _check_target(typed)
    side = Side(typed.side)
    with ProgressBar() as bar:
        bar.stage("reading")
        source, truth = _read(typed, side)
        bar.stage("writing")
        conversion = convert_source(
            source, typed.to_format, side, truth=truth, image_size=typed.image_size
        )
        _save(conversion, data_path(typed.target))
    deliver_table(_summary(typed, source, conversion), STDOUT)


def _check_target(typed: FileConversion) -> None:
    """Refuse a target that cannot be written, before any work is done."""
    from vidscore_evaluators.annotations import Side
    from vidscore_evaluators.formats import FORMATS

    target, hint = data_path(typed.target), "TARGET"
    if typed.truth is not None and Side(typed.side) is Side.TRUTH:
        raise click.UsageError("--truth needs --side detections")
    if isinstance(target, RemotePath):
        _check_remote(typed, target)
        return
    check_folder_of(target, hint)
    refuse_input(typed.target, hint)
    if FORMATS[typed.to_format].writer.folder:
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise click.BadParameter(f"{target} exists, expected a new folder", param_hint=hint)
    elif target.is_dir():
        raise click.BadParameter(f"{target} is a folder, expected a file", param_hint=hint)


def _check_remote(typed: FileConversion, target: RemotePath) -> None:
    from vidscore_evaluators.formats import FORMATS

    check_store(target)
    refuse_input(typed.target, "TARGET")
    if FORMATS[typed.to_format].writer.folder and is_there(target):
        said = f"{target} exists, expected a new folder"
        raise click.BadParameter(said, param_hint="TARGET")


def _read(typed: FileConversion, side: Side) -> tuple[Source, Source | None]:
    from vidscore_evaluators.formats import read_pair, read_source
    from vidscore_evaluators.preparation import scaled
    from vidscore_evaluators.submitting import refuse_image_names

    if typed.truth is None:
        source = read_source(
            data_path(typed.source),
            side,
            format_name=typed.from_format,
            image_size=typed.image_size,
            scaled=typed.confidence_scale is not None,
        )
        refuse_image_names(source)
        return scaled(source, typed.confidence_scale), None
    pair = read_pair(
        data_path(typed.truth),
        data_path(typed.source),
        format_name=typed.from_format,
        image_size=typed.image_size,
        scaled=typed.confidence_scale is not None,
    )
    return scaled(pair.detections, typed.confidence_scale), pair.truth


def _save(conversion: Conversion, target: DataPath) -> None:
    if isinstance(target, RemotePath):
        write_files(target, conversion.files)
    elif conversion.folder:
        with atomic_folder(target) as folder:
            for name, content in conversion.files.items():
                path = folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
    else:
        write_atomically(target, conversion.files[""])


def _summary(typed: FileConversion, source: Source, conversion: Conversion) -> RenderableType:
    return headed(
        f"{typed.target}: written",
        [
            f"{'from':8} {source.format}",
            f"{'to':8} {typed.to_format}, {counted(len(conversion.files), 'file')}",
            *(f"{'changed':8} {remark}" for remark in conversion.remarks),
            *(f"{'warning':8} {warning.message}" for warning in source.warnings),
        ],
    )
