"""`vidscore convert`: one side in the files of another format."""

from __future__ import annotations

import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path

import click
from rich.console import Group
from rich.padding import Padding
from rich.text import Text

from vidscore_cli.inputs import check_format_name, check_scale_of_side, refuse_image_names
from vidscore_cli.output import STDOUT, about, deliver_table, write_atomically
from vidscore_cli.progress import ProgressBar
from vidscore_evaluators.annotations import Side
from vidscore_evaluators.formats import FORMATS, read_pair, read_source
from vidscore_evaluators.formats.convert import Conversion, convert
from vidscore_evaluators.formats.source import Files, Source
from vidscore_evaluators.names import escape_controls, name_advice
from vidscore_evaluators.scoring import scaled


@dataclass(frozen=True)
class FileConversion:
    """What is typed after `vidscore convert`; the names are those of the options."""

    source: str
    target: str
    from_format: str
    to_format: str
    side: str
    truth: str | None
    image_size: tuple[int, int] | None
    confidence_scale: str | None


def convert_files(typed: FileConversion) -> None:
    """Convert a file or folder, and say what was changed and dropped.

    Raises:
        click.UsageError: If what was typed is wrong.
        VidscoreError: If the files are, or the format cannot hold what is in them.
    """
    check_format_name(typed.from_format, "--from")
    check_scale_of_side(typed.confidence_scale, typed.side)
    if typed.to_format not in FORMATS:
        advice = name_advice(typed.to_format, FORMATS)
        said = f"no format is called {typed.to_format!r}; {advice}"
        raise click.BadParameter(said, param_hint="--to")
    _check_target(typed)
    side = Side(typed.side)
    with ProgressBar() as bar:
        bar.stage("reading")
        source, truth = _read(typed, side)
        bar.stage("writing")
        conversion = convert(
            source, typed.to_format, side, truth=truth, image_size=typed.image_size
        )
        _save(conversion, Path(typed.target))
    deliver_table(_summary(typed, source, conversion), STDOUT)


def _check_target(typed: FileConversion) -> None:
    """Refuse a place that cannot be written before any work is done."""
    target, hint = Path(typed.target), "TARGET"
    if typed.truth is not None and Side(typed.side) is Side.TRUTH:
        raise click.UsageError("--truth goes with --side detections")
    if not target.resolve().parent.is_dir():
        raise click.BadParameter(f"there is no folder {target.resolve().parent}", param_hint=hint)
    if target.exists() and target.resolve() == Path(typed.source).resolve():
        raise click.BadParameter(f"{target} is what is converted", param_hint=hint)
    if FORMATS[typed.to_format].writer.folder:
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise click.BadParameter(f"{target} is there, expected a new folder", param_hint=hint)
    elif target.is_dir():
        raise click.BadParameter(f"{target} is a folder, expected a file", param_hint=hint)


def _read(typed: FileConversion, side: Side) -> tuple[Source, Source | None]:
    if typed.truth is None:
        source = read_source(
            Path(typed.source), side, format_name=typed.from_format, image_size=typed.image_size
        )
        refuse_image_names(source)
        return scaled(source, typed.confidence_scale), None
    pair = read_pair(
        Path(typed.truth),
        Path(typed.source),
        format_name=typed.from_format,
        image_size=typed.image_size,
    )
    return scaled(pair.detections, typed.confidence_scale), pair.truth


def _save(conversion: Conversion, target: Path) -> None:
    if conversion.folder:
        _write_folder(conversion.files, target)
    else:
        write_atomically(target, conversion.files[""])


def _write_folder(files: Files, target: Path) -> None:
    """Write a folder through a neighbour that takes its place when it is whole."""
    whole = target.resolve()
    neighbour = whole.with_name(f".{whole.name}.{secrets.token_hex(4)}.part")
    try:
        neighbour.mkdir()
        for name, content in files.items():
            path = neighbour / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        if whole.is_dir():
            whole.rmdir()
        neighbour.rename(whole)
    except OSError as error:
        raise about(target, error) from None
    finally:
        shutil.rmtree(neighbour, ignore_errors=True)


def _summary(typed: FileConversion, source: Source, conversion: Conversion) -> Group:
    count = len(conversion.files)
    lines = [
        f"{'from':8} {source.format}",
        f"{'to':8} {typed.to_format}, {count} file{'s' if count != 1 else ''}",
        *(f"{'changed':8} {remark}" for remark in conversion.remarks),
        *(f"{'warning':8} {warning.message}" for warning in source.warnings),
    ]
    return Group(
        Text(f"{typed.target}: written", style="bold"),
        *(Padding(Text(escape_controls(line)), (0, 0, 0, 2), expand=False) for line in lines),
    )
