"""Uploaded files, read and checked before anything of them is submitted.

They are read by the readers of all formats, and held to their benchmark by CheckDetections: nothing
is judged here. What is found is told by the lines of the file.
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
from vidscore_server.web.site.phrases import things
from vidscore_server.web.site.service import ServiceError
from vidscore_server.web.site.spool import Typed, UploadLimits
from vidscore_server.workers import run_bounded

MOST_FAULTS = 200
"""Faults that a page lists; of the rest it says how many there are."""

MOST_FILES = 20_000
SMALL_BYTES = 4 << 20
"""A text of so many bytes takes little memory, whatever it is."""

HEAD_BYTES = 4096
"""Bytes by which a text is told from what is packed: that has control characters there."""

READ_TIMEOUT_S = 600.0
"""Time for reading a file."""

UNPACKED_SHARE = 4
"""Bytes of an archive, unpacked, in files of the largest size."""

_FIELDS = {"--input-format": "“Format”", "--confidence-scale": "“Scale of the confidences”"}
"""What the form calls options of the command line."""

_FOUND = re.compile(
    r"found (?P<found>.*), expected (?P<expected>.*?)(?:; (?P<advice>.*))?", re.DOTALL
)
_INDEXED = re.compile(r"(?:.*\.)?(?P<column>\w+)\[(?P<row>\d+)\].*")


class FaultRow(Struct, frozen=True):
    """One fault as a row of a table.

    Attributes:
        place: Where in the file.
        found: What stands there, or the whole of what is wrong.
        expected: What should.
        advice: What to do.
    """

    place: str
    found: str
    expected: str = ""
    advice: str = ""


class Checked(Struct, frozen=True):
    """What a check has found.

    Attributes:
        faults: Why the file is not taken; the first of them.
        fault_count: Number of all.
        doubts: Warnings that have to be accepted.
        notes: What reading has only noticed.
        input_format: Name of its format.
        frames: Number of its frames.
        objects: Number of its objects.
        sequences: Names of its sequences.
        labels: Names of its labels.
        stream: Name of the stream that it goes into.
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
    """Detections out of a file.

    Attributes:
        source: As they were read.
        frames: Their frames by sequence and number.
        order: (F,) rows of these frames as they were read.
        warnings: What does not look right about them.
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
        path: Where it is.
        typed: Its format, and how its confidences are mapped.
        evaluators: Evaluators of the benchmark, which may say the format where none was chosen.
        taken: How much is taken.

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
    if not source.annotations.frame_count:
        advice = "a system that found nothing is submitted with vidscore submit --allow-empty"
        raise InputError([Fault("no row", "at least one frame", str(path), advice=advice)])
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
    """Read an uploaded file, in a process of its own that may take only so much memory.

    A few bytes can stand for any number of rows. A small text, which takes little, is read here.

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
    """Frames from a row on, cut as they are sent, each piece with the row of its first frame."""
    for begin, end in cuts(frames, limits, start):
        yield begin, frames.frame_run(begin, end).with_used_tables()


def cuts(frames: Annotations, limits: UploadLimits, start: int = 0) -> Iterator[tuple[int, int]]:
    """Rows between which frames go together, so that no call is large."""
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
    """What does not look right about a file, and what reading has only noticed."""
    texts = {on_page(with_place(one, source), path): one.is_note for one in warnings}
    doubts = tuple(text for text, is_note in texts.items() if not is_note)
    return doubts, tuple(text for text, is_note in texts.items() if is_note)


def checked_file(read: FileFrames, path: Path) -> Checked:
    """What reading alone has found."""
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
    """What is wrong with a file that cannot be read."""
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
    """Hold a file that can be read to its benchmark, without submitting anything.

    Args:
        checked: What reading has found.
        read: The file.
        benchmark: Resource name of the benchmark.
        call: Makes a call as the visitor.
        limits: How much goes into one call.

    Raises:
        ServiceError: If it is not about the file.
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
    """Faults that differ in more than their place."""
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
    """Where in the file a field of a batch is: its frame, or the first one of its name."""
    match = _INDEXED.fullmatch(field)
    row = _frame_of(match["column"], int(match["row"]), piece) if match else None
    if row is None:
        return ""
    where = read.line_of(start + row)
    return on_page(where, Path(read.source.name))


def _frame_of(column: str, row: int, piece: Annotations) -> int | None:
    """Row of the first frame of a piece that an entry of one of its columns is about."""
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
    """A warning, and where in the file its example is."""
    if warning.example is None:
        return warning.message
    place = source.place_of(warning.example.sequence, warning.example.frame)
    return f"{warning.message} ({place})"


def on_page(text: str, path: Path) -> str:
    """A text that names the file as its sender knows it, and fields of the form for options.

    Args:
        text: A text about a file, as the command line writes it.
        path: Where the server keeps the file.
    """
    for option, field in _FIELDS.items():
        text = text.replace(option, field)
    return text.replace(f"{path.parent}/", "").replace(str(path.parent), "the folder")
