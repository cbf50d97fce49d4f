"""Generic CSV: one file for any number of sequences, with columns by name in any order.

``domain,sequence,frame,class,x,y`` or ``x1,y1,x2,y2`` or ``x1,y1,...,x4,y4`` and
``confidence,track_id,flags``. Sequence, frame and one set of coordinates are required. Further
columns hold numbers and are kept by name; `vidscore_evaluators.formats.column_names` has the other
names that columns may have. A row without coordinates lists its frame. The flags are
words joined by ``|``: ``ignore``, ``crowd``, ``region``, ``distractor`` for the object and
``dont_care_frame`` for the frame.

Arrays with the same column names (a dictionary, a data frame) mean the same as such a file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from vidscore_evaluators.annotations import (
    NO_TRACK,
    FrameFlag,
    ObjectFlag,
    SequenceKey,
    Side,
)
from vidscore_evaluators.arrays import BoolArray, FloatArray, IntArray
from vidscore_evaluators.formats.column_names import COORDINATES, KINDS, REQUIRED, named_columns
from vidscore_evaluators.formats.csv_columns import read_columns, split_csv
from vidscore_evaluators.formats.fault_list import RowChecks
from vidscore_evaluators.formats.files import read_bytes
from vidscore_evaluators.formats.packed import InputPath
from vidscore_evaluators.formats.row_frames import RowColumns, group_rows
from vidscore_evaluators.formats.source import Format, Reading, ReadLimits, Source, accept_pair
from vidscore_evaluators.formats.table import EMPTY, Table, TextColumn
from vidscore_evaluators.validation import MAXIMUM_COORDINATE_PX, MAXIMUM_FRAME_NUMBER

NAME = "generic-csv"
FRAME_FLAG = "dont_care_frame"
_OBJECT_FLAGS = {flag.name.lower(): flag for flag in ObjectFlag if flag.name is not None}
_EXPECTED = "a CSV file with the columns sequence, frame and coordinates"


def read(path: InputPath, side: Side, limits: ReadLimits) -> Reading:
    """Read a file.

    Raises:
        InputError: If there is no such file, or its header is not one of this format.
    """
    del side
    file = split_csv(read_bytes(path, _EXPECTED, limits), str(path))
    columns = named_columns(file.header, str(path), line=1)
    rows = read_columns(replace(file, header=columns.names), columns.kinds)
    reading = read_table(rows.table, str(path), NAME)
    rows.faults.absorb(reading.faults)
    source = replace(reading.source, warnings=columns.notes)
    faults = rows.faults.relocated(columns.as_typed)
    return Reading(source, faults, rows.skipped + reading.skipped)


def matches(path: InputPath, head: bytes) -> bool:
    """Whether a file's first line names a sequence and a frame."""
    del path
    names = {name.strip(' "\r').lower() for name in _first_line(head).split(",")}
    return names.issuperset(REQUIRED)


def _first_line(head: bytes) -> str:
    lines = head.decode("utf-8-sig", errors="replace").splitlines()
    return lines[0] if lines else ""


def read_table(table: Table, name: str, format_name: str | None) -> Reading:
    """Turn typed columns of this format, from a file or from arrays, into annotations.

    Args:
        table: The columns; sequence, frame and coordinates are among them.
        name: What to call the whole in messages.
        format_name: Format that the source is said to have.
    """
    arity = max(size for size, names in COORDINATES.items() if set(names) <= set(table.numbers))
    names = COORDINATES[arity]
    coordinates = np.stack([table.numbers[name] for name in names], axis=1)
    holds_object: BoolArray = np.count_nonzero(np.isnan(coordinates), axis=1) < arity
    checks = RowChecks(table)
    _check_frames(checks, table)
    _check_objects(checks, table, names, holds_object)
    good = ~checks.faulty
    if checks.faulty.any():
        table, coordinates, holds_object = table.take(good), coordinates[good], holds_object[good]
    rows = _row_columns(table, coordinates, holds_object)
    annotations, places = group_rows(rows, table)
    source = Source(annotations, name, format_name, places)
    return Reading(source, checks.faults, int(checks.faulty.sum()))


def _check_frames(checks: RowChecks, table: Table) -> None:
    sequences, frames = table.texts["sequence"], table.wholes["frame"]
    checks.refuse(sequences.where(""), "sequence", sequences, "the name of a sequence")
    expected = f"a whole number from 0 to {MAXIMUM_FRAME_NUMBER}"
    checks.refuse((frames < 0) | (frames > MAXIMUM_FRAME_NUMBER), "frame", frames, expected)
    if "flags" in table.texts:
        flags = table.texts["flags"]
        known = {*_OBJECT_FLAGS, FRAME_FLAG}
        wrong = np.array([not known.issuperset(_words(text)) for text in flags.texts], dtype=bool)
        expected = "words out of " + ", ".join(sorted(known)) + ", joined by |"
        checks.refuse(wrong[flags.codes], "flags", flags, expected)


def _check_objects(
    checks: RowChecks, table: Table, names: Sequence[str], holds_object: BoolArray
) -> None:
    expected = f"a number from -{MAXIMUM_COORDINATE_PX:g} to {MAXIMUM_COORDINATE_PX:g}"
    for name in names:
        column = table.numbers[name]
        fits = np.abs(column) <= MAXIMUM_COORDINATE_PX
        checks.refuse(holds_object & ~fits, name, column, expected)
    confidences = table.numbers.get("confidence")
    if confidences is not None:
        wrong = holds_object & ~np.isfinite(confidences)
        checks.refuse(wrong, "confidence", confidences, "a finite number")
    tracks = table.wholes.get("track_id")
    if tracks is not None:
        wrong = (tracks < NO_TRACK) & (tracks != EMPTY)
        checks.refuse(holds_object & wrong, "track_id", tracks, "-1 (no track), 0 or more")
    stray = ~holds_object & _says_more(table)
    expected = "coordinates, or nothing but a frame in the row"
    checks.refuse(stray, names[0], "no coordinates", expected)


def _says_more(table: Table) -> BoolArray:
    """Whether a row has a class, a confidence or a track, which only an object has."""
    says = np.zeros(len(table), dtype=np.bool_)
    if "class" in table.texts:
        says |= ~table.texts["class"].where("")
    if "confidence" in table.numbers:
        says |= ~np.isnan(table.numbers["confidence"])
    if "track_id" in table.wholes:
        says |= table.wholes["track_id"] >= 0
    return says


def _row_columns(table: Table, coordinates: FloatArray, holds_object: BoolArray) -> RowColumns:
    count = len(table)
    sequences, sequence_of_row = _sequences(table)
    tracks = table.wholes.get("track_id", np.full(count, NO_TRACK, dtype=np.int64))
    flags = table.texts.get("flags", _one_text(count))
    bits = np.array([_object_bits(text) for text in flags.texts], dtype=np.uint8)
    frame_bits = np.array(
        [FrameFlag.DONT_CARE * (FRAME_FLAG in _words(text)) for text in flags.texts],
        dtype=np.uint8,
    )
    return RowColumns(
        sequences=sequences,
        sequence_of_row=sequence_of_row,
        frame_numbers=table.wholes["frame"],
        frame_flags=frame_bits[flags.codes],
        holds_object=holds_object,
        coordinates=coordinates,
        labels=table.texts.get("class", _one_text(count)),
        confidences=table.numbers.get("confidence", np.ones(count)),
        track_ids=np.where(tracks == EMPTY, NO_TRACK, tracks),
        flags=bits[flags.codes],
        columns={name: column for name, column in table.numbers.items() if name not in KINDS},
    )


def _sequences(table: Table) -> tuple[tuple[SequenceKey, ...], IntArray]:
    """The (domain, sequence) pairs in use, sorted, and that of each row."""
    sequences = table.texts["sequence"]
    domains = table.texts.get("domain", _one_text(len(table)))
    pairs = domains.codes * max(1, len(sequences.texts)) + sequences.codes
    used, index = np.unique(pairs, return_inverse=True)
    keys = [
        SequenceKey(domains.texts[domain], sequences.texts[sequence])
        for domain, sequence in zip(*np.divmod(used, max(1, len(sequences.texts))), strict=True)
    ]
    ordered = sorted(keys)
    rank = {key: position for position, key in enumerate(ordered)}
    ranks = np.array([rank[key] for key in keys], dtype=np.int64)
    return tuple(ordered), ranks[index.reshape(-1)]


def _one_text(count: int) -> TextColumn:
    return TextColumn(np.zeros(count, dtype=np.int64), ("",))


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.casefold().split("|")] if text else []


def _object_bits(text: str) -> int:
    return sum(flag for word, flag in _OBJECT_FLAGS.items() if word in _words(text))


FORMAT = Format(
    name=NAME,
    title="generic CSV: sequence, frame and coordinates as columns, one file",
    matches=matches,
    read=read,
    pair=accept_pair,
)
