"""MOTChallenge text: a row an object, a file a sequence, frames and pixels counted from 1.

Source: motchallenge.net, instructions; A. Milan et al., "MOT16: A Benchmark for Multi-Object
Tracking", section 3.3 and Table 3. A row is ``frame,id,left,top,width,height,conf`` and up to three
columns more. The truth is ``<root>/<sequence>/gt/gt.txt`` or one such file, detections
are ``<root>/<sequence>.txt``, ``<root>/<sequence>/det/det.txt`` or one such file. The
project's readings:

1. A box goes from ``left`` to ``left + width``, with nothing added. The first pixel's edge is at 1,
   and coordinates are used as they are given.
2. In the truth ``conf`` = 0 marks an ignored object. Nine columns end with class and visibility
   (MOT16 and later); with seven or ten (MOT15) every object is a pedestrian. Ten with a class in
   the eighth are another data set's, and refused.
3. Classes go by the names that trackeval gives their numbers. Persons on vehicles, static persons,
   distractors and reflections are flagged as distractors.
4. Detections are pedestrians: their files have no classes. ``conf`` is a confidence from 0 to 1, or
   -1 for none, which counts as 1. Further columns are not read.
5. ``seqinfo.ini`` beside ``gt`` says how many frames there are: all of them are evaluated. Without
   it, a frame of the truth without a row is not.
"""

from __future__ import annotations

import configparser
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from vidscore_evaluators.annotations import NO_TRACK, ObjectFlag, SequenceKey, Side
from vidscore_evaluators.arrays import AnyArray, FloatArray, IntArray, starts_from_counts
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats.csv_columns import CsvRows, plain_rows
from vidscore_evaluators.formats.fault_list import FaultList, RowChecks, show_text
from vidscore_evaluators.formats.files import (
    is_file,
    is_folder,
    read_bytes,
    read_head,
    visible_entries,
)
from vidscore_evaluators.formats.mot_classes import CLASSES, DISTRACTORS
from vidscore_evaluators.formats.packed import InputPath
from vidscore_evaluators.formats.plain_rows import first_row, read_plain_files
from vidscore_evaluators.formats.row_frames import RowColumns, group_rows
from vidscore_evaluators.formats.sequence_files import Files, check_files, pair_text_files
from vidscore_evaluators.formats.source import SWAPPED, Format, Reading, ReadLimits, Source
from vidscore_evaluators.formats.table import EMPTY, Kind, Table, TextColumn, concatenate_tables
from vidscore_evaluators.formats.texts import read_number, read_whole
from vidscore_evaluators.runtime import map_threads
from vidscore_evaluators.specification import MAXIMUM_FRAMES
from vidscore_evaluators.validation import MAXIMUM_COORDINATE_PX, MAXIMUM_FRAME_NUMBER

NAME = "motchallenge"
COLUMNS = ("frame", "id", "left", "top", "width", "height", "conf", "class", "visibility", "z")
FEWEST_COLUMNS, COLUMNS_WITH_CLASS, MOST_COLUMNS = 7, 9, 10
_LAYOUT: Mapping[Side, str] = MappingProxyType(
    {
        Side.TRUTH: "a file of MOTChallenge rows, or a folder of <sequence>/gt/gt.txt",
        Side.DETECTIONS: (
            "a file of MOTChallenge rows, or a folder of <sequence>.txt or <sequence>/det/det.txt"
        ),
    }
)
_FILE = "a text file of MOTChallenge rows"
_PARTS = ("gt/gt.txt", "det/det.txt")


def read(path: InputPath, side: Side, limits: ReadLimits) -> Reading:
    """Read a file or a folder.

    Raises:
        InputError: If there is nothing of the kind, or a file of it cannot be read at all.
    """
    files = _find_files(path, side)
    # Detections without a file may well be a folder of the truth, and the other way round.
    swapped = SWAPPED if not files and matches(path, b"") else None
    check_files(files, path, _LAYOUT[side], limits, swapped)
    broken, faults = FaultList(), FaultList()
    parts: list[CsvRows] = []
    infos: dict[SequenceKey, _SequenceInfo] = {}
    reads = map_threads(lambda file: _read_file(file, side, limits), files.values())
    for (key, file), read_file in zip(files.items(), reads, strict=True):
        try:
            parts.append(read_file())
            info = _sequence_info(file, limits) if side is Side.TRUTH else None
            if info is not None:
                infos[key] = info
        except InputError as error:
            broken.extend(error.faults)
    for part in parts:
        faults.absorb(part.faults)
    if broken:
        broken.absorb(faults)
        raise InputError(broken.listed())
    lengths = {key: info.length for key, info in infos.items()}
    sizes = {key: info.image_size for key, info in infos.items() if info.image_size}
    table = concatenate_tables([part.table for part in parts])
    checks = _check_rows(table, side, tuple(files), lengths)
    faults.absorb(checks.faults)
    good = table.without(checks.faulty)
    rows = _row_columns(good, tuple(files), side)
    listed = _Listed.beside(rows, lengths)
    annotations, places = group_rows(listed.before(rows), listed.before_table(good))
    skipped = sum(part.skipped for part in parts) + int(checks.faulty.sum())
    source = Source(annotations, str(path), NAME, places, image_sizes=sizes)
    return Reading(source, faults, skipped)


def matches(path: InputPath, head: bytes) -> bool:
    """Whether a file's first row is one of this format, or a folder holds such files."""
    if not is_folder(path):
        return looks_like_rows(head)
    if any(_holds_parts(folder) for folder in (path, *_folders(path))):
        return True
    first = next(iter(_text_files(path)), None)
    return first is not None and looks_like_rows(read_head(first, _FILE))


def looks_like_rows(head: bytes) -> bool:
    """Whether the first line is seven to ten numbers between commas, the first two whole."""
    lines = head.decode("utf-8-sig", errors="replace").splitlines() or [""]
    fields = lines[0].split(",")
    return (
        FEWEST_COLUMNS <= len(fields) <= MOST_COLUMNS
        and all(read_whole(field) is not None for field in fields[:2])
        and all(read_number(field) is not None for field in fields[2:])
    )


# --- files -----------------------------------------------------------------------------------


def _find_files(path: InputPath, side: Side) -> Files:
    if not is_folder(path):
        return {SequenceKey("", _sequence_of(path)): path}
    part = _PARTS[0] if side is Side.TRUTH else _PARTS[1]
    for file in (path / part, path / PurePosixPath(part).name):
        if is_file(file):
            return {SequenceKey("", _sequence_of(file)): file}
    flat = {SequenceKey("", file.stem): file for file in _text_files(path)}
    nested = {
        SequenceKey("", folder.name): folder / part
        for folder in _folders(path)
        if is_file(folder / part)
    }
    return nested or flat if side is Side.TRUTH else flat or nested


def _sequence_of(file: InputPath) -> str:
    """Name of the sequence of a single file: its folder's where its own says nothing."""
    if file.name not in ("gt.txt", "det.txt"):
        return file.stem
    folder = file.absolute().parent
    return folder.parent.name if folder.name in ("gt", "det") else folder.name


def _folders(path: InputPath) -> list[InputPath]:
    return [entry for entry in visible_entries(path) if is_folder(entry)]


def _text_files(path: InputPath) -> list[InputPath]:
    return [
        entry for entry in visible_entries(path) if entry.suffix == ".txt" and not is_folder(entry)
    ]


def _holds_parts(folder: InputPath) -> bool:
    return any(is_file(folder / part) for part in _PARTS)


class _SequenceInfo(NamedTuple):
    """What a seqinfo.ini says: frames, and width and height of the images where it has them."""

    length: int
    image_size: tuple[int, int] | None


def _sequence_info(file: InputPath, limits: ReadLimits) -> _SequenceInfo | None:
    """What stands in the seqinfo.ini beside a truth, if there is one."""
    path = file.parent.parent / "seqinfo.ini"
    if file.name != "gt.txt" or not is_file(path):
        return None
    parser = configparser.ConfigParser(interpolation=None)
    expected = f"seqLength = a whole number from 1 to {MAXIMUM_FRAMES} under [Sequence]"
    try:
        parser.read_string(read_bytes(path, "a seqinfo.ini", limits).decode("utf-8-sig"))
        text = parser.get("Sequence", "seqLength")
    except (configparser.Error, UnicodeDecodeError):
        raise InputError([Fault("nothing of the kind", expected, source=str(path))]) from None
    length = read_whole(text)
    if length is None or not 1 <= length <= MAXIMUM_FRAMES:
        raise InputError([Fault(show_text(text), expected, source=str(path), field="seqLength")])
    names = ("imWidth", "imHeight")
    width, height = (read_whole(parser.get("Sequence", name, fallback="")) for name in names)
    return _SequenceInfo(length, (width, height) if width and height else None)


def _read_file(path: InputPath, side: Side, limits: ReadLimits) -> CsvRows:
    text = plain_rows(read_bytes(path, _FILE, limits), str(path))
    line, row = first_row(text)
    count = row.count(b",") + 1 if row else FEWEST_COLUMNS
    problem = _row_problem(row, count) or _class_problem(text, row, count)
    if problem is not None:
        raise InputError([replace(problem, source=str(path), line=line)])
    classed = side is Side.TRUTH and count == COLUMNS_WITH_CLASS
    kinds: list[Kind | None] = [Kind.WHOLE, Kind.WHOLE, *[Kind.NUMBER] * 5]
    kinds += [Kind.WHOLE, Kind.NUMBER] if classed else [None] * (count - FEWEST_COLUMNS)
    rows = read_plain_files([str(path)], [text], COLUMNS[:count], kinds)
    if classed:
        return rows
    # Not read, or not there: -1 is what the benchmark itself writes for none.
    length = len(rows.table)
    table = replace(
        rows.table,
        wholes={**rows.table.wholes, "class": np.full(length, -1, dtype=np.int64)},
        numbers={**rows.table.numbers, "visibility": np.full(length, np.nan)},
    )
    return replace(rows, table=table)


def _row_problem(row: bytes, count: int) -> Fault | None:
    """What is wrong with a first row as a whole."""
    if count == 1 and len(row.split()) > 1:
        return Fault("values separated by blanks", "values separated by commas")
    if row.endswith(b","):
        return Fault("a comma after the last value", "a row that ends with a value")
    if row and not FEWEST_COLUMNS <= count <= MOST_COLUMNS:
        return Fault(f"{count} columns", f"{FEWEST_COLUMNS} to {MOST_COLUMNS} columns")
    return None


def _class_problem(text: bytes, row: bytes, count: int) -> Fault | None:
    """Refuse ten columns with a class in the eighth, which MOTChallenge has for a position."""
    if count != MOST_COLUMNS:
        return None
    eighth = read_whole(row.split(b",")[FEWEST_COLUMNS].decode(errors="replace"))
    if eighth is None or eighth < 0:
        return None  # -1, as nearly all files have it, or a position in metres
    kinds = [None] * FEWEST_COLUMNS + [Kind.NUMBER] + [None] * (MOST_COLUMNS - FEWEST_COLUMNS - 1)
    column = read_plain_files([""], [text], COLUMNS, kinds).table.numbers["class"]
    if not ((column >= 0) & (column == np.floor(column))).all() or not column.any():
        return None
    return Fault(
        f"a class ({eighth}) in the eighth of ten columns, as VisDrone's rows have it",
        "-1 or a position, as MOTChallenge's have it",
        advice="write the classes into generic-csv; here all would count as pedestrians",
    )


# --- rows ------------------------------------------------------------------------------------


def _check_rows(
    table: Table,
    side: Side,
    sequences: tuple[SequenceKey, ...],
    lengths: Mapping[SequenceKey, int],
) -> RowChecks:
    checks = RowChecks(table)
    frames, numbers = table.wholes["frame"], table.numbers
    last = np.array([lengths.get(key, MAXIMUM_FRAME_NUMBER) for key in sequences], dtype=np.int64)
    last = last[table.source_of_row]
    beyond = (frames >= 1) & (frames > last) & (frames <= MAXIMUM_FRAME_NUMBER)
    checks.refuse(beyond, "frame", frames, "a frame within the seqLength of seqinfo.ini")
    wrong = (frames < 1) | (frames > MAXIMUM_FRAME_NUMBER)
    checks.refuse(wrong, "frame", frames, f"a whole number from 1 to {MAXIMUM_FRAME_NUMBER}")
    tracks = table.wholes["id"]
    checks.refuse(tracks < NO_TRACK, "id", tracks, "-1 (no track), 0 or more")
    check_extents(checks, table, ("left", "top"), ("width", "height"))
    confidences = numbers["conf"]
    if side is Side.DETECTIONS:
        checks.refuse(~np.isfinite(confidences), "conf", confidences, "a finite number")
        return checks
    checks.refuse(np.isnan(confidences), "conf", confidences, "0 (ignored) or another number")
    classes = table.wholes["class"]
    known = ((classes >= 1) & (classes <= len(CLASSES))) | (classes == -1)
    checks.refuse(~known, "class", classes, f"the number of a class, 1 to {len(CLASSES)}")
    return checks


def check_extents(
    checks: RowChecks, table: Table, corner: tuple[str, str], size: tuple[str, str]
) -> None:
    """Refuse boxes by corner and size that are no boxes."""
    expected = f"a number from -{MAXIMUM_COORDINATE_PX:g} to {MAXIMUM_COORDINATE_PX:g}"
    for name in corner:
        column = table.numbers[name]
        checks.refuse(~(np.abs(column) <= MAXIMUM_COORDINATE_PX), name, column, expected)
    expected = f"a number from 0 to {MAXIMUM_COORDINATE_PX:g}"
    for name in size:
        column = table.numbers[name]
        fits = (column >= 0.0) & (column <= MAXIMUM_COORDINATE_PX)
        checks.refuse(~fits, name, column, expected)


def boxes_of(
    left: FloatArray, top: FloatArray, width: FloatArray, height: FloatArray
) -> FloatArray:
    """(N, 4) upright boxes from their first corner and their size."""
    boxes = np.empty((len(left), 4))
    boxes[:, 0], boxes[:, 1] = left, top
    np.add(left, width, out=boxes[:, 2])
    np.add(top, height, out=boxes[:, 3])
    return boxes


def _row_columns(table: Table, sequences: tuple[SequenceKey, ...], side: Side) -> RowColumns:
    count, numbers = len(table), table.numbers
    flags = np.zeros(count, dtype=np.uint8)
    labels = TextColumn(np.zeros(count, dtype=np.int64), CLASSES)
    confidences = _confidences(numbers["conf"])
    columns = {}
    if side is Side.TRUTH:
        codes = np.where(table.wholes["class"] == -1, 0, table.wholes["class"] - 1)
        labels = TextColumn(codes, CLASSES)
        distracts = np.array([name in DISTRACTORS for name in CLASSES])[codes]
        flags = np.where(numbers["conf"] == 0.0, ObjectFlag.IGNORE, 0).astype(np.uint8)
        flags |= np.where(distracts, ObjectFlag.DISTRACTOR, 0).astype(np.uint8)
        confidences = np.ones(count)
        columns = {"visibility": numbers["visibility"]}
    return RowColumns(
        sequences=sequences,
        # A table holds its files in the order in which they were read, which is the sequences'.
        sequence_of_row=table.source_of_row,
        frame_numbers=table.wholes["frame"],
        frame_flags=np.zeros(count, dtype=np.uint8),
        holds_object=np.ones(count, dtype=np.bool_),
        coordinates=boxes_of(*(numbers[name] for name in ("left", "top", "width", "height"))),
        labels=labels,
        confidences=confidences,
        track_ids=np.where(table.wholes["id"] == EMPTY, NO_TRACK, table.wholes["id"]),
        flags=flags,
        columns=columns,
    )


def _confidences(given: FloatArray) -> FloatArray:
    """Confidences, -1 being none where all others lie from 0 to 1; else it is a score like them."""
    none = given == -1.0
    if np.all(none | ((given >= 0.0) & (given <= 1.0))):
        return np.where(none, 1.0, given)
    return given


@dataclass(frozen=True, eq=False)
class _Listed:
    """Frames that a seqinfo.ini lists and that have no row, as rows without objects.

    Attributes:
        sequences: (K,) sequence of each frame.
        frames: (K,) number of each.
    """

    sequences: IntArray
    frames: IntArray

    @classmethod
    def beside(cls, rows: RowColumns, lengths: Mapping[SequenceKey, int]) -> _Listed:
        counts = np.array([lengths.get(key, 0) for key in rows.sequences], dtype=np.int64)
        starts = starts_from_counts(counts)
        is_missing = np.ones(int(starts[-1]), dtype=np.bool_)
        is_listed = counts[rows.sequence_of_row] > 0
        of_rows = starts[rows.sequence_of_row] + rows.frame_numbers - 1
        is_missing[of_rows[is_listed]] = False
        missing = np.flatnonzero(is_missing)
        sequences = np.repeat(np.arange(len(counts)), counts)[missing]
        return cls(sequences, missing - starts[sequences] + 1)

    def before(self, rows: RowColumns) -> RowColumns:
        """Rows with these before them."""
        if len(self.frames) == 0:
            return rows
        return replace(
            rows,
            sequence_of_row=np.concatenate([self.sequences, rows.sequence_of_row]),
            frame_numbers=np.concatenate([self.frames, rows.frame_numbers]),
            frame_flags=self._zeros(rows.frame_flags),
            holds_object=self._zeros(rows.holds_object),
            coordinates=self._zeros(rows.coordinates),
            labels=TextColumn(self._zeros(rows.labels.codes), rows.labels.texts),
            confidences=self._zeros(rows.confidences),
            track_ids=self._zeros(rows.track_ids),
            flags=self._zeros(rows.flags),
            columns={name: self._zeros(column) for name, column in rows.columns.items()},
        )

    def before_table(self, table: Table) -> Table:
        """Where the rows stand: a listed frame at the first line of its file."""
        if len(self.frames) == 0:
            return table
        return replace(
            table,
            source_of_row=np.concatenate([self.sequences, table.source_of_row]),
            positions=np.concatenate([np.ones_like(self.frames), table.positions]),
        )

    def _zeros(self, column: AnyArray) -> AnyArray:
        none = np.zeros((len(self.frames), *column.shape[1:]), dtype=column.dtype)
        return np.concatenate([none, column])


FORMAT = Format(
    name=NAME,
    title="MOTChallenge text: frame,id,left,top,width,height,conf in rows, a file a sequence",
    matches=matches,
    read=read,
    pair=pair_text_files,
    first_frame=1,
    first_pixel=1,
)
