"""Uploaded files: read and check them before anything is submitted.

They are read by the readers of all formats, and checked against their benchmark by CheckDetections:
nothing is scored here. Faults are located by the lines of the file.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from vidscore_evaluators.annotations import Annotations, Side, sequence_name
from vidscore_evaluators.arrays import IntArray
from vidscore_evaluators.errors import Fault, InputError, told_faults, told_place
from vidscore_evaluators.formats import AUTO, read_source
from vidscore_evaluators.formats.source import ReadLimits, Source
from vidscore_evaluators.plausibility.inputs import warnings_of_side
from vidscore_evaluators.preparation import scaled
from vidscore_evaluators.presets import format_of
from vidscore_evaluators.report import ReportWarning
from vidscore_evaluators.specification import EvaluatorSpec
from vidscore_evaluators.submitting import (
    rank_by_confidence,
    refuse_image_names,
    submitted_order,
    submitted_stream,
)
from vidscore_server.processes import run_bounded
from vidscore_server.web.site.phrases import things
from vidscore_server.web.site.service import ServiceError
from vidscore_server.web.site.spool import Typed, UploadLimits

MOST_FAULTS = 200
"""Maximum number of faults that a page lists; it gives the number of the rest."""

MOST_FILES = 20_000
SMALL_BYTES = 4 << 20
"""Size below which any text takes little memory to read."""

HEAD_BYTES = 4096
"""Number of first bytes that are searched for control characters: packed files have some."""

READ_TIMEOUT_S = 600.0
"""Time for reading a file."""

UNPACKED_SHARE = 4
"""Maximum unpacked size of an archive, as a multiple of the maximum size of a file."""

_FIELDS = {"--input-format": "“Format”", "--confidence-scale": "“Scale of the confidences”"}
"""Names in the form for options of the command line."""

_FOUND = re.compile(
    r"found (?P<found>.*), expected (?P<expected>.*?)(?:; (?P<advice>.*))?", re.DOTALL
)
_INDEXED = re.compile(r"(?:.*\.)?(?P<column>\w+)\[(?P<row>\d+)\].*")


class FaultRow(Struct, frozen=True):
    """One fault as a row of a table.

    Attributes:
        place: Place in the file.
        found: What was found, or the whole message.
        expected: What was expected.
        advice: What to do.
    """

    place: str
    found: str
    expected: str = ""
    advice: str = ""


class Checked(Struct, frozen=True):
    """Result of a check.

    Attributes:
        faults: Why the file is refused; the first faults.
        fault_count: Number of all faults.
        doubts: Warnings that must be accepted.
        notes: Remarks of the reader.
        input_format: Name of its format.
        frames: Number of its frames.
        objects: Number of its objects.
        sequences: Names of its sequences.
        labels: Names of its labels.
        stream: Name of its stream.
    """

    faults: tuple[FaultRow, ...] = ()
    fault_count: int = 0
    doubts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    input_format: str = ""
    frames: int = 0
    objects: int = 0
    sequences: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    stream: str = ""


class FileFrames(Struct, frozen=True, eq=False):
    """Detections of a file.

    Attributes:
        source: The detections as read.
        frames: Their frames by sequence and number.
        order: (F,) row of each of these frames in `source`.
        warnings: Doubts about them.
    """

    source: Source
    frames: Annotations
    order: IntArray
    warnings: tuple[ReportWarning, ...]

    def line_of(self, row: int) -> str:
        """File and line, or entry, of a frame."""
        positions = self.source.positions
        return "" if positions is None else positions.located(Fault("", ""), self.order[row]).place


def read_file(
    path: Path, typed: Typed, evaluators: Sequence[str], taken: UploadLimits
) -> FileFrames:
    """Read an uploaded file, as `vidscore submit` reads it.

    Args:
        path: Its path.
        typed: Its format, and how its confidences are mapped.
        evaluators: Evaluators of the benchmark, which may imply the format if none was chosen.
        taken: The limits.

    Raises:
        InputError: With every fault.
    """
    most = taken.maximum_bytes
    limits = ReadLimits(most, MOST_FILES, UNPACKED_SHARE * most)
    known = [EvaluatorSpec(name) for name in evaluators]
    name = typed.input_format
    if name == AUTO:
        name = format_of(known, name)
    source = read_source(path, Side.DETECTIONS, format_name=name, limits=limits)
    refuse_image_names(source)
    if source.annotations.frame_count > taken.maximum_frames:
        found = things(source.annotations.frame_count, "frame")
        expected = f"at most maximum_frames = {taken.maximum_frames}"
        raise InputError([Fault(found, expected, str(path))])
    ranked = rank_by_confidence(evaluators)
    doubts = warnings_of_side(Side.DETECTIONS, source.annotations, ranked=ranked)
    warnings = (*source.warnings, *doubts)
    source = scaled(source, typed.confidence_scale or None)
    order, frames = submitted_order(source.annotations), source.annotations
    if not np.array_equal(order, np.arange(len(order))):
        frames = frames.take_frames(order)
    return FileFrames(source, frames, order, warnings)


async def read_bounded(
    path: Path, typed: Typed, evaluators: Sequence[str], taken: UploadLimits
) -> FileFrames:
    """Read an uploaded file, in a separate process with bounded memory.

    A few bytes can hold any number of rows. A small text, which takes little memory, is read here.

    Args:
        path: As for `read_file`.
        typed: The same.
        evaluators: The same.
        taken: The same.

    Raises:
        InputError: With every fault.
    """
    if await asyncio.to_thread(_is_small_text, path):
        return await asyncio.to_thread(read_file, path, typed, evaluators, taken)
    work = partial(read_file, path, typed, evaluators, taken)
    try:
        return await run_bounded(work, taken.reading_bytes, timeout_s=READ_TIMEOUT_S)
    except MemoryError:
        found = "more than can be read here"
        expected = f"at most maximum_reading_bytes = {taken.reading_bytes} in memory"
    except TimeoutError:
        found, expected = "a file that takes longer to read", f"at most {READ_TIMEOUT_S:g} s"
    advice = "submit it with vidscore submit"
    raise InputError([Fault(found, expected, str(path), advice=advice)])


def _is_small_text(path: Path) -> bool:
    with path.open("rb") as file:
        data = file.read(SMALL_BYTES + 1)
    head = data[:HEAD_BYTES].translate(None, b"\t\r\n")
    return len(data) <= SMALL_BYTES and (not head or min(head) >= ord(" "))


def pieces(
    frames: Annotations, limits: UploadLimits, start: int = 0
) -> Iterator[tuple[int, Annotations]]:
    """Frames from a row on, cut into the pieces to send, each with the row of its first frame."""
    for begin, end in cuts(frames, limits, start):
        yield begin, frames.frame_run(begin, end).with_used_tables()


def cuts(frames: Annotations, limits: UploadLimits, start: int = 0) -> Iterator[tuple[int, int]]:
    """Start and end rows of the pieces of frames, so that no call is large."""
    starts = frames.frame_starts
    while start < frames.frame_count:
        most_objects = starts[start] + limits.batch_objects
        most = int(np.searchsorted(starts, most_objects, side="right")) - 1
        stop = min(max(start + 1, most), start + limits.batch_frames, frames.frame_count)
        yield start, stop
        start = stop


def doubts_and_notes(
    warnings: Iterable[ReportWarning], source: Source, path: Path
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Doubts about a file, and remarks of its reader."""
    texts = {on_page(with_place(one, source), path): one.is_note for one in warnings}
    doubts = tuple(text for text, is_note in texts.items() if not is_note)
    return doubts, tuple(text for text, is_note in texts.items() if is_note)


def checked_file(read: FileFrames, path: Path) -> Checked:
    """The result of reading alone."""
    frames = read.frames.with_used_tables()
    doubts, notes = doubts_and_notes(read.warnings, read.source, path)
    return Checked(
        doubts=doubts,
        notes=notes,
        input_format=read.source.format or "",
        frames=frames.frame_count,
        objects=frames.object_count,
        sequences=tuple(map(sequence_name, frames.sequences)),
        labels=tuple(filter(None, frames.labels)),
        stream=submitted_stream(read.frames),
    )


def refused_file(error: InputError, path: Path) -> Checked:
    """The faults of an unreadable file."""
    told = told_faults(error.faults)
    rows = []
    for fault, count in told[:MOST_FAULTS]:
        texts = (told_place(fault, count), fault.found, fault.expected, fault.advice)
        rows.append(FaultRow(*(on_page(text or "", path) for text in texts)))
    return Checked(faults=tuple(rows), fault_count=len(told))


Call = Callable[..., Awaitable[dict[str, Any]]]
"""Makes a call as the visitor."""


async def held_to_benchmark(
    checked: Checked, read: FileFrames, benchmark: str, call: Call, limits: UploadLimits
) -> Checked:
    """Check a readable file against its benchmark, without submitting anything.

    Args:
        checked: The result of reading.
        read: The file.
        benchmark: Resource name of the benchmark.
        call: Makes a call as the visitor.
        limits: Limits of one call.

    Raises:
        ServiceError: If the error does not concern the file.
    """
    faults: dict[FaultRow, None] = {}
    doubts = dict.fromkeys(checked.doubts)
    for start, piece in pieces(read.frames, limits):
        try:
            answer = await call(
                "SubmissionService/CheckDetections", benchmark=benchmark, detections=piece
            )
        except ServiceError as error:
            if error.code not in {"INVALID_ARGUMENT", "RESOURCE_EXHAUSTED", "OUT_OF_RANGE"}:
                raise
            faults.update(dict.fromkeys(_rows_of(error, read, start, piece)))
            continue
        doubts.update(dict.fromkeys(answer["warnings"]))
    shown = tuple(_first_of_kind(faults))
    return replace(
        checked, faults=shown[:MOST_FAULTS], fault_count=len(shown), doubts=tuple(doubts)
    )


def _first_of_kind(faults: dict[FaultRow, None]) -> Iterator[FaultRow]:
    """The first fault of each kind: faults that differ in more than their place."""
    told = set()
    for fault in faults:
        if (key := replace(fault, place="")) not in told:
            told.add(key)
            yield fault


def _rows_of(
    error: ServiceError, read: FileFrames, start: int, piece: Annotations
) -> Iterator[FaultRow]:
    if not error.faults:
        yield FaultRow("", error.message)
    for fault in error.faults:
        match = _FOUND.fullmatch(fault.description)
        place = _place(fault.field, read, start, piece)
        if match is None:
            yield FaultRow(place, fault.description)
        else:
            yield FaultRow(place, match["found"], match["expected"], match["advice"] or "")


def _place(field: str, read: FileFrames, start: int, piece: Annotations) -> str:
    """Place in the file of a field of a batch: its frame, or the first frame that uses its name."""
    match = _INDEXED.fullmatch(field)
    row = _frame_of(match["column"], int(match["row"]), piece) if match else None
    if row is None:
        return ""
    where = read.line_of(start + row)
    return on_page(where, Path(read.source.name))


def _frame_of(column: str, row: int, piece: Annotations) -> int | None:
    """Row of the frame to which an entry of a column in a piece belongs."""
    if column.startswith("frame_"):
        found = np.array([row])
    elif column == "sequences":
        found = np.flatnonzero(piece.frame_sequences == row)
    else:
        objects = (
            np.flatnonzero(piece.label_indices == row)
            if column == "labels"
            else np.array([row // piece.arity if column == "coordinates" else row])
        )
        known = objects[objects < piece.object_count]
        found = piece.object_frames[known]
    first = found[found < piece.frame_count][:1].tolist()
    return first[0] if first else None


def with_place(warning: ReportWarning, source: Source) -> str:
    """A warning with the place of its example in the file."""
    if warning.example is None:
        return warning.message
    place = source.place_of(warning.example.sequence, warning.example.frame)
    return f"{warning.message} ({place})"


def on_page(text: str, path: Path) -> str:
    """A text with the sender's file name, and with fields of the form for options.

    Args:
        text: A text about a file, as the command line writes it.
        path: Path of the file on the server.
    """
    for option, field in _FIELDS.items():
        text = text.replace(option, field)
    return text.replace(f"{path.parent}/", "").replace(str(path.parent), "the folder")
