"""File formats: recognised by content or chosen by name, read with every fault listed.

`read_source` reads one side, `read_pair` both and holds them against each other, `validate_file`
only says what is wrong. To add a format: write a module with a
`vidscore_evaluators.formats.source.Format` and name it in `FORMATS`.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from vidscore_evaluators.annotations import SequenceKey
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.evaluator import Side
from vidscore_evaluators.formats import (
    coco_json,
    generic_csv,
    kitti,
    motchallenge,
    neovision2_csv,
    spotgeo_json,
    yolo,
)
from vidscore_evaluators.formats.files import is_folder, read_head
from vidscore_evaluators.formats.source import Format, ReadLimits, ReadOptions, Source
from vidscore_evaluators.report import FrameExample, ReportWarning

OnError = Literal["refuse", "skip"]
AUTO = "auto"

FORMATS = MappingProxyType(
    {
        known.name: known
        for known in (
            coco_json.FORMAT,
            spotgeo_json.FORMAT,
            motchallenge.FORMAT,
            neovision2_csv.FORMAT,
            kitti.FORMAT,
            yolo.FORMAT,
            generic_csv.FORMAT,
        )
    }
)
"""Every format by name; content is held against them in this order."""


@dataclass(frozen=True, eq=False)
class Pair:
    """Truth and detections, read and held against each other."""

    truth: Source
    detections: Source

    @property
    def warnings(self) -> tuple[ReportWarning, ...]:
        """What a reader of the scores should know of both."""
        return (*self.truth.warnings, *self.detections.warnings)

    def place_of(self, example: FrameExample) -> str:
        """File and line, or entry, of the frame that a warning names."""
        source = self.truth if example.side is Side.TRUTH else self.detections
        return source.place_of(example.sequence, example.frame)

    def locate(self, fault: Fault) -> Fault:
        """Say file and line, or entry, where an evaluator's fault names a side and a frame row."""
        sides = {Side.TRUTH.value: self.truth, Side.DETECTIONS.value: self.detections}
        side = sides.get(fault.source or "")
        return fault if side is None else side.locate(fault)


def detect_format(path: Path) -> Format:
    """The format of a file or folder, by its content.

    Raises:
        InputError: If there is nothing there, or nothing of a known format.
    """
    what = "a file or folder of annotations"
    folder = is_folder(path, what)
    head = b"" if folder else read_head(path, what)
    for candidate in FORMATS.values():
        if candidate.matches(path, head):
            return candidate
    kind = "a folder" if folder else "a file" if head.strip() else "an empty file"
    titles = "; ".join(known.title for known in FORMATS.values())
    raise InputError([Fault(f"{kind} of no known format", titles, source=str(path))])


def find_format(name: str) -> Format:
    """The format of that name.

    Raises:
        InputError: If there is none.
    """
    if name in FORMATS:
        return FORMATS[name]
    close = difflib.get_close_matches(name, FORMATS, n=1)
    hint = f"did you mean {close[0]}?" if close else "one of " + ", ".join((AUTO, *FORMATS))
    raise InputError([Fault(repr(name), hint, field="format")])


def read_source(
    path: Path,
    side: Side,
    *,
    format_name: str = AUTO,
    on_error: OnError = "refuse",
    limits: ReadLimits = ReadLimits(),
    image_size: tuple[int, int] | None = None,
) -> Source:
    """Read one side.

    Args:
        path: File or folder.
        side: Which side it is; some formats allow in the truth what detections must not have.
        format_name: A name of `FORMATS`, or ``auto`` to go by the content.
        on_error: ``refuse`` to raise where a row or entry is broken, ``skip`` to leave it out with
            the warning ``skipped_rows``.
        limits: How much to take in.
        image_size: Width and height of every image in pixels, for formats that do not say it.

    Raises:
        InputError: With every fault, each with file, line and column or entry.
    """
    chosen = detect_format(path) if format_name == AUTO else find_format(format_name)
    options = ReadOptions(limits.maximum_file_bytes, limits.maximum_files, image_size)
    reading = chosen.read(path, side, options)
    if reading.faults and on_error == "refuse":
        raise InputError(reading.faults.listed())
    return _with_skipped(reading.source, reading.skipped)


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

    def read_side(given: Path | Source, side: Side) -> Source:
        if isinstance(given, Source):
            return given
        return read_source(
            given,
            side,
            format_name=format_name,
            on_error=on_error,
            limits=limits,
            image_size=image_size,
        )

    left, right = _both(
        lambda: read_side(truth, Side.TRUTH), lambda: read_side(detections, Side.DETECTIONS)
    )
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


def _both(first: Callable[[], Source], second: Callable[[], Source]) -> tuple[Source, Source]:
    """Read both sides; where both are broken, say so of both."""
    faults: list[Fault] = []
    sources = []
    for read in (first, second):
        try:
            sources.append(read())
        except InputError as error:
            faults.extend(error.faults)
    if faults:
        raise InputError(faults)
    return sources[0], sources[1]


def _refuse_mixture(truth: Source, detections: Source) -> None:
    formats = {truth.format, detections.format} - {None, generic_csv.NAME}
    if len(formats) > 1:
        expected = f"{truth.format}, as the truth is, or {generic_csv.NAME}"
        raise InputError([Fault(str(detections.format), expected, source=detections.name)])


def _with_skipped(source: Source, skipped: int) -> Source:
    if not skipped:
        return source
    message = f"{source.name}: rows or entries that could not be used were left out"
    warning = ReportWarning("skipped_rows", message, skipped)
    return replace(source, warnings=(*source.warnings, warning))
