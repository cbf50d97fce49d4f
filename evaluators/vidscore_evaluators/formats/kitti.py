"""KITTI tracking text: a row an object, a file a sequence, frames and pixels counted from 0.

Source: the readme of the KITTI tracking benchmark's development kit. A row has, between blanks,
``frame track_id type truncated occluded alpha left top right bottom height width length x y z
rotation_y`` and, in results, ``score``. The truth and detections are a folder of
``<sequence>.txt`` files, a folder that holds such a ``label_02``, or one file. The project's
readings:

1. A box goes from ``left`` to ``right``, with nothing added.
2. In the truth a row of type ``DontCare`` is a don't-care region. In detections it is an error.
3. ``truncated`` and ``occluded`` are kept as the columns ``truncation`` and ``occlusion``; -1, for
   not known, is empty. The angle and what is said of three dimensions are not read.
4. ``score`` is a confidence, any finite number; without the column, all are 1.
5. A frame without a row is not listed.
"""

from __future__ import annotations

import numpy as np

from vidscore_evaluators.annotations import NO_TRACK, ObjectFlag, SequenceKey, Side
from vidscore_evaluators.errors import InputError
from vidscore_evaluators.formats.csv_columns import CsvRows, plain_rows
from vidscore_evaluators.formats.fault_list import FaultList, RowChecks
from vidscore_evaluators.formats.files import is_folder, read_bytes, read_head, visible_entries
from vidscore_evaluators.formats.packed import InputPath
from vidscore_evaluators.formats.plain_rows import column_count, read_plain_files
from vidscore_evaluators.formats.row_frames import RowColumns, group_rows
from vidscore_evaluators.formats.sequence_files import Files, check_files, pair_text_files
from vidscore_evaluators.formats.source import SWAPPED, Format, Reading, ReadLimits, Source
from vidscore_evaluators.formats.table import EMPTY, Kind, Table
from vidscore_evaluators.formats.texts import read_number, read_whole
from vidscore_evaluators.validation import MAXIMUM_COORDINATE_PX, MAXIMUM_FRAME_NUMBER

NAME = "kitti-tracking"
REGION = "dontcare"
COLUMNS = (
    *("frame", "track_id", "type", "truncated", "occluded", "alpha"),
    *("left", "top", "right", "bottom"),
    *("height", "width", "length", "x", "y", "z", "rotation_y", "score"),
)
_KINDS = {
    "frame": Kind.WHOLE,
    "track_id": Kind.WHOLE,
    "type": Kind.TEXT,
    **dict.fromkeys(("truncated", "occluded"), Kind.NUMBER),
    **dict.fromkeys(("left", "top", "right", "bottom", "score"), Kind.NUMBER),
}
CORNERS = ("left", "top", "right", "bottom")
_FILE = "a text file of KITTI tracking rows"
_LAYOUT = "a file of KITTI tracking rows, or a folder of <sequence>.txt"
_LABELS = "label_02"


def read(path: InputPath, side: Side, limits: ReadLimits) -> Reading:
    """Read a file or a folder.

    Raises:
        InputError: If there is nothing of the kind, or a file cannot be read at all.
    """
    files = _find_files(path)
    check_files(files, path, _LAYOUT, limits)
    rows = _read_files(files, limits)
    checks = _check_rows(rows.table, side)
    rows.faults.absorb(checks.faults)
    good = rows.table.without(checks.faulty)
    annotations, places = group_rows(_row_columns(good, tuple(files), side), good)
    skipped = rows.skipped + int(checks.faulty.sum())
    return Reading(Source(annotations, str(path), NAME, places), rows.faults, skipped)


def matches(path: InputPath, head: bytes) -> bool:
    """Whether a first row is one of this format."""
    if not is_folder(path):
        return _looks_like_rows(head)
    heads = (read_head(file, _FILE) for file in _find_files(path).values())
    first = next((head for head in heads if head.strip()), b"")
    return _looks_like_rows(first)


def _looks_like_rows(head: bytes) -> bool:
    lines = head.decode("utf-8-sig", errors="replace").splitlines() or [""]
    fields = lines[0].split()
    return (
        len(COLUMNS) - 1 <= len(fields) <= len(COLUMNS)
        and read_whole(fields[0]) is not None
        and read_number(fields[2]) is None
        and all(read_number(field) is not None for field in fields[3:])
    )


def _find_files(path: InputPath) -> Files:
    if not is_folder(path):
        return {SequenceKey("", path.stem): path}
    if is_folder(path / _LABELS):
        path = path / _LABELS
    return {
        SequenceKey("", entry.stem): entry
        for entry in visible_entries(path)
        if entry.suffix == ".txt" and not is_folder(entry)
    }


def _read_files(files: Files, limits: ReadLimits) -> CsvRows:
    broken = FaultList()
    texts = []
    for path in files.values():
        try:
            texts.append(plain_rows(read_bytes(path, _FILE, limits), str(path), blanks=True))
        except InputError as error:
            broken.extend(error.faults)
    if broken:
        raise InputError(broken.listed())
    scored = column_count(texts) == len(COLUMNS)
    columns = COLUMNS if scored else COLUMNS[:-1]
    names = [str(path) for path in files.values()]
    return read_plain_files(names, texts, columns, [_KINDS.get(name) for name in columns])


def _check_rows(table: Table, side: Side) -> RowChecks:
    checks = RowChecks(table)
    frames, tracks, types = table.wholes["frame"], table.wholes["track_id"], table.texts["type"]
    expected = f"a whole number from 0 to {MAXIMUM_FRAME_NUMBER}"
    checks.refuse((frames < 0) | (frames > MAXIMUM_FRAME_NUMBER), "frame", frames, expected)
    checks.refuse(tracks < NO_TRACK, "track_id", tracks, "-1 (no track), 0 or more")
    if side is Side.DETECTIONS:
        checks.refuse(
            types.where(REGION), "type", types, "a class, since a row is a detection", SWAPPED
        )
    expected = f"a number from -{MAXIMUM_COORDINATE_PX:g} to {MAXIMUM_COORDINATE_PX:g}"
    for name in CORNERS:
        column = table.numbers[name]
        checks.refuse(~(np.abs(column) <= MAXIMUM_COORDINATE_PX), name, column, expected)
    scores = table.numbers.get("score")
    if scores is not None and side is Side.DETECTIONS:
        checks.refuse(~np.isfinite(scores), "score", scores, "a finite number")
    return checks


def _row_columns(table: Table, sequences: tuple[SequenceKey, ...], side: Side) -> RowColumns:
    count, types, tracks = len(table), table.texts["type"], table.wholes["track_id"]
    scores = table.numbers.get("score") if side is Side.DETECTIONS else None
    known = {"truncation": "truncated", "occlusion": "occluded"}
    return RowColumns(
        sequences=sequences,
        sequence_of_row=table.source_of_row,
        frame_numbers=table.wholes["frame"],
        frame_flags=np.zeros(count, dtype=np.uint8),
        holds_object=np.ones(count, dtype=np.bool_),
        coordinates=np.stack([table.numbers[name] for name in CORNERS], axis=1),
        labels=types,
        confidences=np.ones(count) if scores is None else scores,
        track_ids=np.where(tracks == EMPTY, NO_TRACK, tracks),
        flags=np.where(types.where(REGION), ObjectFlag.REGION, 0).astype(np.uint8),
        columns={
            name: np.where(table.numbers[column] == -1.0, np.nan, table.numbers[column])
            for name, column in known.items()
        },
    )


FORMAT = Format(
    name=NAME,
    title="KITTI tracking text: 17 or 18 values between blanks in rows, a file a sequence",
    matches=matches,
    read=read,
    pair=pair_text_files,
    first_frame=0,
    first_pixel=0,
)
