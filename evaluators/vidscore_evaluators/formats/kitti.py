"""KITTI tracking text: one row per object, one file per sequence, frames and pixels counted from 0.

Source: the readme of the KITTI tracking benchmark's development kit. A row has, separated by
blanks, ``frame track_id type truncated occluded alpha left top right bottom height width length x y
z rotation_y`` and, in results, ``score``. The truth and detections are a folder of
``<sequence>.txt`` files, a folder that holds such a ``label_02``, or one file. The project's
readings:

1. A box goes from ``left`` to ``right``, with nothing added. A type in the detections that differs
   from a type in the truth only in case is read as the type in the truth.
2. In the truth, a row of type ``DontCare`` is a don't-care region. In detections it is an error.
3. ``truncated`` and ``occluded`` are kept as the columns ``truncation`` and ``occlusion``; -1,
   which means unknown, is kept as empty. 3D fields and angles are ignored.
4. ``score`` is a confidence, any finite number; without the column, all are 1.
5. ``evaluate_tracking.seqmap``, with any ending, in the folder of the truth or above it, gives the
   number of frames of each sequence, and all of them are evaluated. Without it, a frame of the
   truth without a row is not evaluated.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
from msgspec.structs import replace

from vidscore_evaluators.annotations import NO_TRACK, Annotations, ObjectFlag, SequenceKey, Side
from vidscore_evaluators.arrays import FloatArray
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats._files import (
    InputPath,
    first_head,
    first_line,
    is_folder,
    text_files_at,
)
from vidscore_evaluators.formats._format import (
    Capacity,
    Format,
    WriteOptions,
    Writer,
    labels_of_objects,
    object_rows,
    refuse_no_words,
    refuse_values,
    sequence_texts,
)
from vidscore_evaluators.formats._row_frames import RowColumns
from vidscore_evaluators.formats._sequence_files import (
    check_files,
    pair_text_files,
    read_blank_separated,
    sequence_files,
    to_reading,
    wanted_files,
)
from vidscore_evaluators.formats._sequence_lengths import PREFIX as SEQMAP
from vidscore_evaluators.formats._sequence_lengths import (
    check_beside,
    read_beside,
    read_sequence_lengths,
    with_frames_without_rows,
)
from vidscore_evaluators.formats._table import (
    EMPTY,
    Kind,
    RowChecks,
    RowTable,
    parse_integer,
    parse_number,
)
from vidscore_evaluators.formats.source import (
    SWAPPED,
    Files,
    PairReading,
    Reading,
    ReadOptions,
    Source,
)
from vidscore_evaluators.validation import MAXIMUM_FRAME_NUMBER

NAME = "kitti-tracking"
REGION = "dontcare"
COLUMNS = (
    *("frame", "track_id", "type", "truncated", "occluded", "alpha"),
    *("left", "top", "right", "bottom"),
    *("height", "width", "length", "x", "y", "z", "rotation_y", "score"),
)
_KINDS = {
    "frame": Kind.INTEGER,
    "track_id": Kind.INTEGER,
    "type": Kind.STRING,
    **dict.fromkeys(("truncated", "occluded"), Kind.NUMBER),
    **dict.fromkeys(("left", "top", "right", "bottom", "score"), Kind.NUMBER),
}
CORNERS = ("left", "top", "right", "bottom")
_FILE = "a text file of KITTI tracking rows"
_LAYOUT = "a file of KITTI tracking rows, or a folder of <sequence>.txt"
_LABELS = "label_02"
_UNKNOWN = -1


def read(path: InputPath, side: Side, limits: ReadOptions) -> Reading:
    """Read a file or a folder.

    Raises:
        InputError: If there is nothing of the kind, or a file cannot be read at all.
    """
    files = sequence_files(path, _LABELS)
    check_files(files, path, _LAYOUT, limits)
    files, listing = wanted_files(files, limits)
    rows = read_blank_separated(files.values(), _FILE, limits, COLUMNS, _KINDS)
    lengths, unread = dict[SequenceKey, int](), list[Fault]()
    if side is Side.TRUTH:
        lengths, unread = read_beside(partial(read_sequence_lengths, path, files, limits), lengths)
    checks = _check_rows(rows.table, side, tuple(files), lengths)

    def to_columns(table: RowTable) -> tuple[RowColumns, RowTable]:
        columns = _row_columns(table, tuple(files))
        return with_frames_without_rows(columns, table, lengths, first=0)

    reading = check_beside(unread, to_reading(rows, checks, to_columns, str(path), NAME))
    return replace(reading, listing=listing)


def matches(path: InputPath, head: bytes) -> bool:
    """Whether a first row is of this format."""
    if not is_folder(path):
        return _looks_like_rows(head)
    return _looks_like_rows(first_head(text_files_at(path, _LABELS), _FILE))


def _looks_like_rows(head: bytes) -> bool:
    fields = first_line(head).split()
    return (
        len(COLUMNS) - 1 <= len(fields) <= len(COLUMNS)
        and parse_integer(fields[0]) is not None
        and all(parse_number(field) is not None for field in fields[3:])
    )


def _check_rows(
    table: RowTable,
    side: Side,
    sequences: tuple[SequenceKey, ...],
    lengths: Mapping[SequenceKey, int],
) -> RowChecks:
    checks = RowChecks(table)
    frames = table.integers["frame"]
    ends = [lengths.get(key, MAXIMUM_FRAME_NUMBER + 1) for key in sequences]
    beyond = frames >= np.array(ends, dtype=np.int64)[table.source_of_row]
    beyond &= frames <= MAXIMUM_FRAME_NUMBER
    checks.refuse(beyond, "frame", frames, "a frame within the length of the seqmap")
    checks.require_frames("frame")
    checks.require_tracks("track_id")
    if side is Side.DETECTIONS:
        types, expected = table.strings["type"], "a class, since a row is a detection"
        checks.refuse(types.where(REGION), "type", types, expected, SWAPPED)
    checks.require_coordinates(CORNERS)
    if side is Side.DETECTIONS:
        checks.require_finite("score")
    return checks


def _row_columns(table: RowTable, sequences: tuple[SequenceKey, ...]) -> RowColumns:
    count, types, tracks = len(table), table.strings["type"], table.integers["track_id"]
    known = {"truncation": "truncated", "occlusion": "occluded"}
    return RowColumns(
        sequences=sequences,
        sequence_of_row=table.source_of_row,
        frame_numbers=table.integers["frame"],
        frame_flags=np.zeros(count, dtype=np.uint8),
        holds_object=np.ones(count, dtype=np.bool_),
        coordinates=np.stack([table.numbers[name] for name in CORNERS], axis=1),
        labels=types,
        confidences=table.confidences("score"),
        track_ids=np.where(tracks == EMPTY, NO_TRACK, tracks),
        flags=np.where(types.where(REGION), ObjectFlag.REGION, 0).astype(np.uint8),
        columns={
            name: np.where(table.numbers[column] == -1.0, np.nan, table.numbers[column])
            for name, column in known.items()
        },
    )


def pair(truth: Source, detections: Source, known: frozenset[SequenceKey]) -> PairReading:
    """Check the detections against the truth: its sequences, and its types, ignoring case."""
    return pair_text_files(truth, _spelt_as(truth, detections), known)


def _spelt_as(truth: Source, detections: Source) -> Source:
    """Detections with the labels of the truth, if these differ only in case."""
    side, labels = detections.annotations, truth.annotations.labels
    spelling = {label.casefold(): label for label in labels} | {label: label for label in labels}
    spelt = [spelling.get(label, spelling.get(label.casefold(), label)) for label in side.labels]
    if spelt == list(side.labels):
        return detections
    table = tuple(dict.fromkeys(spelt))
    places = np.array([table.index(label) for label in spelt], dtype=np.int64)
    renamed = replace(side, labels=table, label_indices=places[side.label_indices])
    return replace(detections, annotations=renamed)


# --- writing ---------------------------------------------------------------------------------


def _write(annotations: Annotations, side: Side, options: WriteOptions) -> Files:
    """Rows in ``<sequence>.txt``."""
    del options
    region = (annotations.flags & ObjectFlag.REGION) != 0
    labels = labels_of_objects(annotations)
    labels = np.where(region, "DontCare", labels)
    refuse_no_words(labels.tolist(), "class", "a class")
    if side is Side.DETECTIONS:
        wrong = np.array([label.casefold() == REGION for label in labels], dtype=np.bool_)
        refuse_values(wrong, labels, "class", "a class, since a row is a detection")
    angles = _constant(annotations, -10)
    unknown_size, unknown_place = _constant(annotations, -1), _constant(annotations, -1000)
    columns = [
        *(labels, _known(annotations, "truncation"), _known(annotations, "occlusion"), angles),
        *annotations.coordinates.T,
        *(unknown_size, unknown_size, unknown_size),
        *(unknown_place, unknown_place, unknown_place, angles),
    ]
    if side is Side.DETECTIONS:
        columns.append(annotations.confidences)
    rows = object_rows(annotations, " ", *columns)
    files = {f"{name}.txt": text for name, _, text in sequence_texts(annotations, rows)}
    expected = "another name of a sequence, since such a file has their lengths"
    faults = [
        Fault(repr(one), expected, field="sequence") for one in files if one.startswith(SEQMAP)
    ]
    if faults:
        raise InputError(faults)
    return files


def _known(annotations: Annotations, name: str) -> FloatArray:
    """(N,) values of a named column, -1 if unknown."""
    column = annotations.columns.get(name)
    if column is None:
        return _constant(annotations, _UNKNOWN)
    return np.where(np.isnan(column), _UNKNOWN, column)


def _constant(annotations: Annotations, value: float) -> FloatArray:
    return np.full(annotations.object_count, value, dtype=np.float64)


_WRITER = Writer(
    folder=True,
    capacity={
        Side.TRUTH: Capacity(
            empty_frames=False,
            confidences=False,
            tracks=True,
            flags=ObjectFlag.REGION,
            marks={REGION: ObjectFlag.REGION},
            columns=frozenset({"truncation", "occlusion"}),
        ),
        Side.DETECTIONS: Capacity(
            empty_frames=False, tracks=True, columns=frozenset({"truncation", "occlusion"})
        ),
    },
    write=_write,
)

FORMAT = Format(
    name=NAME,
    title="KITTI tracking text: rows of 17 or 18 values separated by blanks, one file per sequence",
    read=read,
    writer=_WRITER,
    pair=pair,
    matches=matches,
    first_frame=0,
    first_pixel=0,
)
