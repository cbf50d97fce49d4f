"""File formats: recognised by content or chosen by name, read with every fault listed.

`read_source` reads one side, `read_pair` both and holds them against each other, `validate_file`
only says what is wrong. To add a format: write a module with a
`vidscore_evaluators.formats.source.Format` and name it in
`vidscore_evaluators.formats.detection.FORMATS`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Literal

from vidscore_evaluators.annotations import SequenceKey, Side
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats import generic_csv
from vidscore_evaluators.formats.detection import (
    AUTO,
    FORMATS,
    detect_format,
    find_format,
    locate,
)
from vidscore_evaluators.formats.packed import STANDARD_INPUT, opened
from vidscore_evaluators.formats.source import ReadLimits, ReadOptions, Source
from vidscore_evaluators.plausibility.warnings import warnings_of_positions
from vidscore_evaluators.report import FrameExample, ReportWarning

__all__ = [
    "AUTO",
    "FORMATS",
    "OnError",
    "Pair",
    "detect_format",
    "find_format",
    "read_pair",
    "read_source",
    "validate_file",
]

OnError = Literal["refuse", "skip"]


@dataclass(frozen=True, eq=False)
class Pair:
    """Truth and detections, read and held against each other."""

    truth: Source
    detections: Source

    @cached_property
    def warnings(self) -> tuple[ReportWarning, ...]:
        """What a reader of the scores should know of both."""
        sizes = {**self.truth.image_sizes, **self.detections.image_sizes}
        return (
            *self.truth.warnings,
            *self.detections.warnings,
            *warnings_of_positions(Side.TRUTH, self.truth.annotations, sizes),
            *warnings_of_positions(Side.DETECTIONS, self.detections.annotations, sizes),
        )

    def place_of(self, example: FrameExample) -> str:
        """File and line, or entry, of the frame that a warning names."""
        source = self.truth if example.side is Side.TRUTH else self.detections
        return source.place_of(example.sequence, example.frame)

    def locate(self, fault: Fault) -> Fault:
        """Say file and line, or entry, where an evaluator's fault names a side and a frame row."""
        sides = {Side.TRUTH.value: self.truth, Side.DETECTIONS.value: self.detections}
        side = sides.get(fault.source or "")
        return fault if side is None else side.locate(fault)


def read_source(
    path: Path,
    side: Side,
    *,
    format_name: str = AUTO,
    on_error: OnError = "refuse",
    limits: ReadLimits = ReadLimits(),
    image_size: tuple[int, int] | None = None,
    beside: str | None = None,
) -> Source:
    """Read one side.

    Args:
        path: File or folder, in zip or gzip or not, a pipe, or ``-`` for standard input.
        side: Which side it is; some formats allow in the truth what detections must not have.
        format_name: A name of `FORMATS`, or ``auto`` to go by the content.
        on_error: ``refuse`` to raise where a row or entry is broken, ``skip`` to leave it out with
            the warning ``skipped_rows``.
        limits: How much to take in.
        image_size: Width and height of every image in pixels, for formats that do not say it.
        beside: Format of the truth that detections go with, where it is known.

    Raises:
        InputError: With every fault, each with file, line and column or entry.
    """
    options = ReadOptions(**asdict(limits) | {"image_size": image_size})
    with opened(path, limits) as place:
        found = locate(place, format_name, side, beside)
        try:
            reading = found.format.read(found.path, side, options)
            if reading.faults and on_error == "refuse":
                raise InputError(reading.faults.listed())
        except InputError as error:
            raise InputError(found.explained(error.faults)) from None
    return _with_skipped(_with_sizes(reading.source, image_size), reading.skipped)


def read_pair(
    truth: Path | Source,
    detections: Path | Source,
    *,
    format_name: str = AUTO,
    on_error: OnError = "refuse",
    known: frozenset[SequenceKey] = frozenset(),
    limits: ReadLimits = ReadLimits(),
    image_size: tuple[int, int] | None = None,
) -> Pair:
    """Read both sides and hold the detections to the truth, as their format asks.

    Args:
        truth: Path of the truth, or what was read from it.
        detections: Path of the detections, or what was read from it.
        format_name: As for `read_source`; for both sides.
        on_error: As for `read_source`.
        known: Sequences that detections may name besides those of the truth.
        limits: How much to take in.
        image_size: As for `read_source`; for both sides.

    Raises:
        InputError: With every fault of both sides.
    """
    if truth == detections == STANDARD_INPUT:
        raise InputError([Fault("standard input for both sides", "one of them as a file")])

    def read_side(given: Path | Source, side: Side, beside: str | None) -> Source:
        if isinstance(given, Source):
            return given
        return read_source(
            given,
            side,
            format_name=format_name,
            on_error=on_error,
            limits=limits,
            image_size=image_size,
            beside=beside,
        )

    faults: list[Fault] = []
    left = _attempt(lambda: read_side(truth, Side.TRUTH, None), faults)
    beside = None if left is None else left.format
    right = _attempt(lambda: read_side(detections, Side.DETECTIONS, beside), faults)
    if left is None or right is None:
        raise InputError(faults)
    _refuse_mixture(left, right)
    if right.format is None:
        return Pair(left, right)
    paired = FORMATS[right.format].pair(left, right, known.union(left.annotations.sequences))
    if paired.faults and on_error == "refuse":
        raise InputError(paired.faults.listed())
    return Pair(left, _with_skipped(paired.detections, paired.skipped))


def validate_file(
    path: Path,
    *,
    side: Side = Side.TRUTH,
    format_name: str = AUTO,
    limits: ReadLimits = ReadLimits(),
    image_size: tuple[int, int] | None = None,
) -> list[Fault]:
    """Everything that is wrong with a file or folder; nothing where it can be read."""
    try:
        read_source(path, side, format_name=format_name, limits=limits, image_size=image_size)
    except InputError as error:
        return list(error.faults)
    return []


def _attempt(read: Callable[[], Source], faults: list[Fault]) -> Source | None:
    """Read a side; where it is broken, gather why, so that the other side is looked at too."""
    try:
        return read()
    except InputError as error:
        faults.extend(error.faults)
        return None


def _refuse_mixture(truth: Source, detections: Source) -> None:
    formats = {truth.format, detections.format} - {None, generic_csv.NAME}
    if len(formats) > 1:
        expected = f"{truth.format}, as the truth is, or {generic_csv.NAME}"
        raise InputError([Fault(str(detections.format), expected, source=detections.name)])


def _with_sizes(source: Source, image_size: tuple[int, int] | None) -> Source:
    """The source with the size of its images where its files do not say it."""
    if image_size is None or source.image_sizes:
        return source
    sizes = dict.fromkeys(source.annotations.sequences, image_size)
    return replace(source, image_sizes=sizes)


def _with_skipped(source: Source, skipped: int) -> Source:
    if not skipped:
        return source
    message = f"{source.name}: rows or entries that could not be used were left out"
    warning = ReportWarning("skipped_rows", message, skipped)
    return replace(source, warnings=(*source.warnings, warning))
