"""`vidscore validate`: everything that is wrong with one file or folder."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from vidscore_cli.exit_codes import ExitCode
from vidscore_cli.failures import lines_of
from vidscore_cli.inputs import check_format_name, check_scale_of_side
from vidscore_cli.output import STDOUT, deliver, deliver_table
from vidscore_cli.progress import ProgressBar
from vidscore_cli.selection import create_evaluators, select_evaluators
from vidscore_evaluators.annotations import ARITIES
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.evaluator import Evaluator, Side
from vidscore_evaluators.formats import read_source
from vidscore_evaluators.formats.source import Source
from vidscore_evaluators.library import scaled
from vidscore_evaluators.specification import BenchmarkSpec


@dataclass(frozen=True)
class FileCheck:
    """What is typed after `vidscore validate`; the names are those of the options."""

    path: str
    input_format: str
    image_size: tuple[int, int] | None
    confidence_scale: str | None
    side: str
    evaluator: str | None
    format_: str


def check_files(typed: FileCheck, *, all_faults: bool) -> ExitCode:
    """Write what is wrong with a file or folder, or a summary where nothing is.

    Args:
        typed: What is to be checked.
        all_faults: Whether to list every fault, however many.

    Returns:
        `ExitCode.INPUT` where something is wrong.

    Raises:
        click.UsageError: If there is no such format or evaluator.
    """
    check_format_name(typed.input_format)
    check_scale_of_side(typed.confidence_scale, typed.side)
    evaluator = None if typed.evaluator is None else _evaluator(typed.evaluator)
    with ProgressBar() as bar:
        bar.stage("reading")
        source, faults = _check(typed, evaluator)
    if typed.format_ == "json":
        document = {
            "path": typed.path,
            "side": typed.side,
            **({} if source is None else _summary(source)),
            "faults": [dataclasses.asdict(fault) for fault in faults],
        }
        deliver(json.dumps(document, indent=2, ensure_ascii=False), STDOUT)
    elif source is None or faults:
        deliver_table(_refusal(typed.path, faults, all_faults), STDOUT)
    else:
        deliver_table(_acceptance(typed.path, source), STDOUT)
    return ExitCode.INPUT if faults else ExitCode.OK


def _evaluator(name: str) -> Evaluator[Any]:
    specification, _ = select_evaluators([name], [], BenchmarkSpec())
    return create_evaluators(specification, [name], {})[0]


def _check(
    typed: FileCheck, evaluator: Evaluator[Any] | None
) -> tuple[Source | None, Sequence[Fault]]:
    side = Side(typed.side)
    try:
        source = read_source(
            Path(typed.path),
            side,
            format_name=typed.input_format,
            image_size=typed.image_size,
        )
        source = scaled(source, typed.confidence_scale)
    except InputError as error:
        return None, error.faults
    if evaluator is None:
        return source, ()
    try:
        evaluator.check_arity(side, source.annotations.arity)
    except InputError as error:
        return source, [source.locate(fault) for fault in error.faults]
    faults = evaluator.input_faults(side, source.annotations)
    return source, [source.locate(fault) for fault in faults]


def _summary(source: Source) -> dict[str, Any]:
    annotations = source.annotations
    return {
        "format": source.format,
        "shape": ARITIES[annotations.arity],
        "sequences": len(annotations.sequences),
        "frames": annotations.frame_count,
        "objects": annotations.object_count,
        "classes": [label for label in annotations.labels if label],
        "warnings": [dataclasses.asdict(warning) for warning in source.warnings],
    }


def _refusal(path: str, faults: Sequence[Fault], all_faults: bool) -> RenderableType:
    count = "1 fault" if len(faults) == 1 else f"{len(faults)} faults"
    lines = lines_of(faults, all_faults)
    return Group(Text(f"{path}: {count}", style="bold red"), *(_indented(line) for line in lines))


def _acceptance(path: str, source: Source) -> RenderableType:
    summary = _summary(source)
    del summary["warnings"]
    summary["classes"] = ", ".join(summary["classes"]) or "none"
    lines = [f"{name:10} {value}" for name, value in summary.items()]
    lines += [
        f"{'note' if warning.is_note else 'warning':10} {warning.message}"
        for warning in source.warnings
    ]
    return Group(
        Text(f"{path}: nothing is wrong", style="bold"), *(_indented(line) for line in lines)
    )


def _indented(line: str) -> Padding:
    return Padding(Text(line), (0, 0, 0, 2), expand=False)
