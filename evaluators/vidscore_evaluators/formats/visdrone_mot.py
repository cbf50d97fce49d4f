"""VisDrone-MOT text: one file per sequence, one row per object, frames and pixels counted from 1.

Source: the readme of VisDrone2018-MOT-toolkit (P. Zhu et al., "Vision Meets Drones"). A row is
``frame,id,left,top,width,height,score,class,truncation,occlusion``. The truth is a folder with
``annotations/<sequence>.txt``, a folder of such files, or one; detections likewise. The project's
readings:

1. A box goes from ``left`` to ``left + width``, with nothing added, and coordinates are used as
   they are given.
2. Classes 0 to 11 have the toolkit's names. In the truth, rows of class 0 (ignored regions) and, as
   in the toolkit, of class 11 (others) are don't-care regions, and ``score`` = 0 flags any other
   object as ignored.
3. In detections, ``score`` is a confidence, any finite number, and every class is a label.
4. ``truncation`` and ``occlusion`` are kept as columns; -1, which means unknown, is kept as empty.
5. All frames of the truth from 1 to the last that has a row are evaluated, as in the toolkit.
6. A file of ten columns is recognised as VisDrone's if all of its first rows end with a class from
   0 to 11 and two degrees from -1 to 2. If all of these rows have class 0, each ``score`` must also
   be 0, because MOTChallenge may have three zeros for a position.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace

from vidscore_evaluators.annotations import NO_TRACK, Annotations, ObjectFlag, SequenceKey, Side
from vidscore_evaluators.formats._files import (
    HEAD_BYTES,
    InputPath,
    first_head,
    is_folder,
    text_files_at,
)
from vidscore_evaluators.formats._format import (
    Capacity,
    Format,
    WriteOptions,
    Writer,
    labels_of_objects,
    left_top_and_size,
    object_rows,
    sequence_texts,
)
from vidscore_evaluators.formats._row_frames import RowColumns, boxes_of_rows, given_areas
from vidscore_evaluators.formats._sequence_files import (
    check_files,
    pair_text_files,
    read_plain_files,
    read_texts,
    sequence_files,
    to_reading,
    wanted_files,
)
from vidscore_evaluators.formats._sequence_lengths import gap_remarks, with_frames_without_rows
from vidscore_evaluators.formats._table import (
    EMPTY,
    Kind,
    RowChecks,
    RowTable,
    StringColumn,
    parse_integer,
    parse_number,
)
from vidscore_evaluators.formats._visdrone import (
    CLASSES,
    DEGREES,
    are_class_and_degrees,
    check_objects,
    degree_remarks,
    degrees_of,
    written_classes,
    written_degrees,
)
from vidscore_evaluators.formats._visdrone import COLUMNS as OBJECT_COLUMNS
from vidscore_evaluators.formats.source import Files, Reading, ReadOptions
from vidscore_evaluators.names import counted
from vidscore_evaluators.specification import MAXIMUM_FRAMES
from vidscore_evaluators.validation import MAXIMUM_FRAME_NUMBER

NAME = "visdrone-mot"
COLUMNS = ("frame", "id", *OBJECT_COLUMNS)
REGIONS = ("ignored-regions", "others")
"""Classes whose objects are don't-care regions in the truth."""

_INTEGERS = frozenset(("frame", "id", "class"))
_FOLDER = "annotations"
_FILE = "a text file of VisDrone-MOT rows"
_LAYOUT = "a file of VisDrone-MOT rows, or a folder of <sequence>.txt"


def read(path: InputPath, side: Side, limits: ReadOptions) -> Reading:
    """Read a file or a folder.

    Raises:
        InputError: If there is nothing of the kind, or a file cannot be read at all.
    """
    files = sequence_files(path, _FOLDER)
    check_files(files, path, _LAYOUT, limits)
    files, listing = wanted_files(files, limits)
    texts = read_texts(files.values(), _FILE, limits)
    kinds = [Kind.INTEGER if name in _INTEGERS else Kind.NUMBER for name in COLUMNS]
    rows = read_plain_files(files.values(), texts, COLUMNS, kinds)

    def to_columns(table: RowTable) -> tuple[RowColumns, RowTable]:
        columns = _row_columns(table, tuple(files), side)
        if side is Side.DETECTIONS:
            return columns, table
        return with_frames_without_rows(columns, table, _last_frames(columns))

    reading = to_reading(rows, _check_rows(rows.table, side), to_columns, str(path), NAME)
    return replace(reading, listing=listing)


def matches(path: InputPath, head: bytes) -> bool:
    """Whether the first rows are of this format."""
    if not is_folder(path):
        return _looks_like_rows(head)
    return _looks_like_rows(first_head(text_files_at(path, _FOLDER), _FILE))


def _looks_like_rows(head: bytes) -> bool:
    """Whether every complete row is of this format (reading 6)."""
    lines = head.decode("utf-8-sig", "replace").splitlines()
    if len(head) >= HEAD_BYTES:
        lines.pop()  # truncated
    rows = [line.split(",") for line in lines if line.strip()]
    if not rows or not all(map(_looks_like_row, rows)):
        return False
    return any(parse_integer(row[7]) != 0 for row in rows) or all(
        parse_number(row[6]) == 0.0 for row in rows
    )


def _looks_like_row(fields: Sequence[str]) -> bool:
    if len(fields) != len(COLUMNS):
        return False
    return (
        all(parse_integer(field) is not None for field in fields[:2])
        and all(parse_number(field) is not None for field in fields[2:7])
        and are_class_and_degrees(fields[7:])
    )


def _check_rows(table: RowTable, side: Side) -> RowChecks:
    checks = RowChecks(table)
    # Each frame of the truth up to the last belongs to its sequence.
    most = MAXIMUM_FRAMES if side is Side.TRUTH else MAXIMUM_FRAME_NUMBER
    checks.require_frames("frame", least=1, most=most)
    checks.require_tracks("id")
    check_objects(checks, table, side)
    return checks


def _row_columns(table: RowTable, sequences: tuple[SequenceKey, ...], side: Side) -> RowColumns:
    count, classes, tracks = len(table), table.integers["class"], table.integers["id"]
    truth = side is Side.TRUTH
    width, height, corners = table.numbers["width"], table.numbers["height"], boxes_of_rows(table)
    labels = StringColumn(classes, CLASSES)
    ignored = np.where(table.numbers["score"] == 0.0, ObjectFlag.IGNORE, 0)
    flags = np.where(labels.where(*REGIONS), ObjectFlag.REGION, ignored).astype(np.uint8)
    return RowColumns(
        sequences=sequences,
        sequence_of_row=table.source_of_row,
        frame_numbers=table.integers["frame"],
        frame_flags=np.zeros(count, dtype=np.uint8),
        holds_object=np.ones(count, dtype=np.bool_),
        coordinates=corners,
        labels=labels,
        confidences=np.ones(count) if truth else table.numbers["score"],
        track_ids=np.where(tracks == EMPTY, NO_TRACK, tracks),
        flags=flags if truth else np.zeros(count, dtype=np.uint8),
        columns=given_areas(corners, width, height) | degrees_of(table),
    )


def _last_frames(rows: RowColumns) -> dict[SequenceKey, int]:
    """Greatest frame number with a row, by sequence."""
    last = np.zeros(len(rows.sequences), dtype=np.int64)
    np.maximum.at(last, rows.sequence_of_row, rows.frame_numbers)
    return dict(zip(rows.sequences, last.tolist(), strict=True))


# --- writing ---------------------------------------------------------------------------------


def _write(annotations: Annotations, side: Side, options: WriteOptions) -> Files:
    """Rows in ``<sequence>.txt``."""
    del options
    truth = side is Side.TRUTH
    unscored = (annotations.flags & (ObjectFlag.IGNORE | ObjectFlag.REGION)) != 0
    scores = ~unscored if truth else annotations.confidences
    # A region with class others stays one.
    regions = (annotations.flags & ObjectFlag.REGION) != 0
    regions &= labels_of_objects(annotations) != "others"
    classes, degrees = written_classes(annotations, regions), written_degrees(annotations)
    columns = (*left_top_and_size(annotations), scores, classes, *degrees)
    rows = object_rows(annotations, ",", *columns)
    return {f"{name}.txt": text for name, _, text in sequence_texts(annotations, rows)}


def _remarks(annotations: Annotations, side: Side, options: WriteOptions) -> tuple[str, ...]:
    """Remark on the number of frames before the last row of a sequence, and after it."""
    if side is Side.DETECTIONS:
        return tuple(degree_remarks(annotations))
    last = np.zeros(len(annotations.sequences), dtype=np.int64)
    held, sequences = annotations.object_counts > 0, annotations.frame_sequences
    np.maximum.at(last, sequences[held], annotations.frame_numbers[held])
    kept = annotations.frame_numbers <= last[sequences]
    after = int((~kept).sum())
    said = counted(after, "frame")
    lost = (f"{said} after the last object of its sequence not listed",) if after else ()
    gaps = gap_remarks(annotations.take_frames(kept), options)
    return (*degree_remarks(annotations), *gaps, *lost)


FORMAT = Format(
    name=NAME,
    title="VisDrone-MOT text: rows of ten comma-separated values, one file per sequence",
    read=read,
    writer=Writer(
        folder=True,
        capacity={
            Side.TRUTH: Capacity(
                confidences=False,
                tracks=True,
                flags=ObjectFlag.IGNORE | ObjectFlag.REGION,
                marks=dict.fromkeys(REGIONS, ObjectFlag.REGION),
                columns=frozenset(DEGREES),
            ),
            Side.DETECTIONS: Capacity(empty_frames=False, tracks=True, columns=frozenset(DEGREES)),
        },
        write=_write,
        remarks=_remarks,
        least_frame=1,
    ),
    by_sequence=True,
    pair=pair_text_files,
    matches=matches,
    first_frame=1,
    first_pixel=1,
)
