"""Read what the command line names: manifest, truth and detections."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import click

from vidscore_evaluators.errors import InputError
from vidscore_evaluators.formats import AUTO, FORMATS, Pair, read_pair
from vidscore_evaluators.formats.coco import unresolved
from vidscore_evaluators.formats.manifest import read_manifest
from vidscore_evaluators.formats.source import Source
from vidscore_evaluators.names import name_advice
from vidscore_evaluators.scoring import scaled
from vidscore_evaluators.specification import BenchmarkSpec


@dataclass(frozen=True)
class InputChoice:
    """Which data, as typed.

    Attributes:
        truth: Path of the truth.
        detections: Path of the detections.
        input_format: Name of their format, or ``auto``.
        image_size: Width and height of every image in pixels, where it is needed and known.
        on_error: Whether rows that cannot be read are refused or skipped.
        confidence_scale: How confidences are mapped to numbers from 0 to 1, where they are.
    """

    truth: str
    detections: str
    input_format: str
    image_size: tuple[int, int] | None = None
    on_error: Literal["refuse", "skip"] = "refuse"
    confidence_scale: str | None = None


def check_format_name(name: str, option: str = "--input-format") -> None:
    """Refuse a format that is none.

    Raises:
        click.BadParameter: If there is no format of that name; the text names those there are.
    """
    if name not in (AUTO, *FORMATS):
        advice = name_advice(name, (AUTO, *FORMATS))
        raise click.BadParameter(f"no format is called {name!r}; {advice}", param_hint=option)


def check_scale_of_side(confidence_scale: str | None, side: str) -> None:
    """Refuse a scale for the truth, whose confidences nobody reads.

    Raises:
        click.UsageError: If there is one.
    """
    if confidence_scale is not None and side == "truth":
        raise click.UsageError("--confidence-scale goes with --side detections")


def read_specification(manifest: str | None) -> BenchmarkSpec:
    """The manifest's specification; an empty one where there is no manifest.

    Raises:
        InputError: With every fault of the manifest.
    """
    return BenchmarkSpec() if manifest is None else read_manifest(Path(manifest))


def read_data(choice: InputChoice, specification: BenchmarkSpec) -> Pair:
    """Read both sides.

    Args:
        choice: Which data.
        specification: What is known of it; detections may belong to its sequences too.

    Raises:
        click.BadParameter: If there is no such format.
        InputError: With every fault of both sides.
    """
    check_format_name(choice.input_format)
    pair = read_pair(
        Path(choice.truth),
        Path(choice.detections),
        format_name=choice.input_format,
        on_error=choice.on_error,
        image_size=choice.image_size,
        known=frozenset(sequence.key for sequence in specification.sequences),
    )
    return replace(pair, detections=scaled(pair.detections, choice.confidence_scale))


def refuse_image_names(detections: Source) -> None:
    """Refuse detections that name their images, where there is no truth to say which these are.

    Raises:
        InputError: If they do.
    """
    faults = unresolved(detections)
    if faults:
        raise InputError(faults.listed())
