"""Neovision2 annotations: one folder per domain, one CSV file per sequence, one row per object.

``<root>/<Domain>/<sequence>.csv`` with the fifteen columns of Table 4 of the Neovision2 Performance
Evaluation Protocol 3.0 (section 4), for truth and detections alike. The project's readings:

1. In the truth, a row with an empty ObjectType only lists its frame, as in the published files. In
   detections it is an error.
2. In the truth, an ObjectType ``DCF`` makes its frame a don't-care frame and needs no coordinates,
   ``DCR`` is a don't-care region, and ``Ambiguous`` is a don't-care object, as is any object with
   ``Ambiguous`` = TRUE. In detections these are labels like any other, and the column Ambiguous is
   not read.
3. Confidences of the truth are not used. Those of detections are finite numbers.
4. SiteInfo and Version are not read.
5. A missing detection file is a sequence without detections, with a warning; a detection file for
   an unknown sequence is an error. Other kinds of files are ignored with a warning.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from vidscore_evaluators.annotations import (
    BOX,
    NO_TRACK,
    QUADRILATERAL,
    Annotations,
    FrameFlag,
    ObjectFlag,
    SequenceKey,
    Side,
    sequence_name,
)
from vidscore_evaluators.arrays import FloatArray
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats._csv import CsvFile, CsvRows, read_columns, split_csv
from vidscore_evaluators.formats._files import (
    InputPath,
    first_line,
    is_folder,
    read_bytes,
    read_head,
    require_folder,
    visible_entries,
)
from vidscore_evaluators.formats._format import (
    Capacity,
    Format,
    WriteOptions,
    Writer,
    file_name,
    refuse_formulas,
    shortest_number,
    write_csv,
)
from vidscore_evaluators.formats._row_frames import RowColumns
from vidscore_evaluators.formats._sequence_files import (
    pair_sequences,
    read_each,
    to_reading,
    wanted_files,
)
from vidscore_evaluators.formats._table import (
    EXPECTED_STRING,
    Kind,
    RowChecks,
    RowTable,
    parse_string,
)
from vidscore_evaluators.formats.source import (
    SWAPPED,
    Files,
    PairReading,
    Reading,
    ReadLimits,
    ReadOptions,
    Source,
    listed_names,
    show_text,
)
from vidscore_evaluators.names import counted
from vidscore_evaluators.report import ReportWarning

NAME = "neovision2-csv"
CORNERS = tuple(f"BoundingBox_{axis}{corner}" for corner in range(1, 5) for axis in "XY")
HEADER = (
    "Frame",
    *CORNERS,
    "ObjectType",
    "Occlusion",
    "Ambiguous",
    "Confidence",
    "SiteInfo",
    "Version",
)
_LAYOUT = "a folder of <Domain>/<sequence>.csv files"
_FILE = "a CSV file with the columns of Neovision2"
_FILES_LOOKED_AT = 20
_READ_KINDS = {
    "Frame": Kind.INTEGER,
    **dict.fromkeys(CORNERS, Kind.NUMBER),
    "ObjectType": Kind.STRING,
    "Occlusion": Kind.STRING,
    "Confidence": Kind.NUMBER,
}
_KINDS = {
    Side.TRUTH: [_READ_KINDS.get(name) for name in HEADER],
    Side.DETECTIONS: [_READ_KINDS.get(name) for name in HEADER],
}
_KINDS[Side.TRUTH][HEADER.index("Ambiguous")] = Kind.STRING


def read(path: InputPath, side: Side, limits: ReadOptions) -> Reading:
    """Read a tree of CSV files.

    Raises:
        InputError: If there is no such tree, or a file in it cannot be read at all; with every
            fault of the tree.
    """
    require_folder(path, _LAYOUT)
    found, warnings = _find_files(path, limits)
    files, listing = wanted_files(found, limits)
    reading = read_each(files, lambda key, file: _read_file(key, file, side, limits), str(path))
    source = replace(reading.source, warnings=warnings)
    return replace(reading, source=source, listing=listing)


def pair(truth: Source, detections: Source, known: frozenset[SequenceKey]) -> PairReading:
    """Compare the files of detections with the sequences of the truth."""
    return pair_sequences(
        truth,
        detections,
        known,
        lambda key: str(Path(detections.name, key.domain, f"{key.sequence}.csv")),
    )


# --- files -----------------------------------------------------------------------------------


def _find_files(
    root: InputPath, limits: ReadLimits
) -> tuple[dict[SequenceKey, InputPath], tuple[ReportWarning, ...]]:
    """CSV files by sequence, in order, and a warning about other files there."""
    files: dict[SequenceKey, InputPath] = {}
    others: list[str] = []
    faults: list[Fault] = []
    for domain in visible_entries(root):
        if not is_folder(domain):
            if _is_csv(domain):
                faults.append(Fault("a CSV file here", _LAYOUT, source=str(domain)))
            else:
                others.append(domain.name)
            continue
        for path in visible_entries(domain):
            key = SequenceKey(domain.name, path.stem)
            if is_folder(path) or not _is_csv(path):
                others.append(sequence_name(SequenceKey(domain.name, path.name)))
            elif wrong := [name for name in key if parse_string(name) != name]:
                faults += [Fault(show_text(name), EXPECTED_STRING, str(path)) for name in wrong]
            elif key in files:
                faults.append(Fault(repr(path.name), "each sequence once", source=str(domain)))
            else:
                files[key] = path
    if len(files) > limits.maximum_files:
        expected = f"at most maximum_files = {limits.maximum_files}"
        faults.append(Fault(f"{len(files)} files", expected, source=str(root)))
    if not files and not faults:
        faults.append(Fault("no CSV file", _LAYOUT, source=str(root)))
    if faults:
        raise InputError(faults)
    if not others:
        return files, ()
    message = f"no CSV files, left alone: {listed_names(others)}"
    return files, (ReportWarning("ignored_files", message, len(others)),)


def _is_csv(path: InputPath) -> bool:
    return path.suffix.lower() == ".csv"


def _read_file(key: SequenceKey, path: InputPath, side: Side, limits: ReadLimits) -> Reading:
    """Read a file completely, while its rows are in a cache and other threads read other files."""
    rows = _read_rows(path, side, limits)
    to_columns = partial(_row_columns, sequence=key, side=side)
    return to_reading(rows, _check_rows(rows.table, side), to_columns, str(path), NAME)


def _read_rows(path: InputPath, side: Side, limits: ReadLimits) -> CsvRows:
    file = split_csv(read_bytes(path, _FILE, limits), str(path))
    faults = _header_faults(file)
    if faults:
        raise InputError(faults)
    return read_columns(replace(file, header=HEADER), _KINDS[side])


def _header_faults(file: CsvFile) -> list[Fault]:
    found = file.header
    if len(found) != len(HEADER):
        expected = f"{len(HEADER)} columns: {','.join(HEADER)}"
        return [Fault(counted(len(found), "column"), expected, source=file.source, line=1)]
    return [
        Fault(
            show_text(name), f"'{expected}'", source=file.source, line=1, field=f"column {number}"
        )
        for number, (name, expected) in enumerate(zip(found, HEADER, strict=True), start=1)
        if name.casefold() != expected.casefold()
    ]


def matches(path: InputPath, head: bytes) -> bool:
    """Whether a path is a folder of folders with CSV files, one of the first with its columns."""
    del head
    if not is_folder(path):
        return False
    files = (
        file
        for domain in visible_entries(path)
        if is_folder(domain)
        for file in visible_entries(domain)
        if _is_csv(file) and not is_folder(file)
    )
    return any(
        looks_like_header(read_head(file, _FILE)) for file in islice(files, _FILES_LOOKED_AT)
    )


def looks_like_header(head: bytes) -> bool:
    """Whether a first line names some of the columns, even if others are wrong."""
    line = first_line(head).casefold()
    return sum(name.casefold() in line for name in CORNERS) >= len(CORNERS) // 2


# --- rows ------------------------------------------------------------------------------------


def _check_rows(table: RowTable, side: Side) -> RowChecks:
    checks = RowChecks(table)
    checks.require_frames("Frame")
    words = ("Occlusion", "Ambiguous") if side is Side.TRUTH else ("Occlusion",)
    for name in words:
        column = table.strings[name]
        checks.refuse(~column.where("true", "false", ""), name, column, "TRUE or FALSE")
    labels = table.strings["ObjectType"]
    if side is Side.TRUTH:
        needs_corners = ~labels.where("", "dcf")
    else:
        # A row without a class is one fault, whatever else it lacks.
        needs_corners = ~labels.where("")
        expected = "a class, since a row is a detection"
        checks.refuse(~needs_corners, "ObjectType", labels, expected, SWAPPED)
        checks.require_finite("Confidence", needs_corners)
    checks.require_coordinates(CORNERS, needs_corners)
    return checks


def _row_columns(table: RowTable, sequence: SequenceKey, side: Side) -> tuple[RowColumns, RowTable]:
    labels = table.strings["ObjectType"]
    holds_object = np.ones(len(table), dtype=np.bool_)
    frame_flags = flags = np.zeros(len(table), dtype=np.uint8)
    confidences = table.numbers["Confidence"]
    if side is Side.TRUTH:
        is_region = labels.where("dcr")
        ignored = table.strings["Ambiguous"].where("true") | labels.where("ambiguous")
        holds_object = ~labels.where("", "dcf")
        frame_flags = labels.where("dcf") * np.uint8(FrameFlag.DONT_CARE)
        flags = np.where(is_region, ObjectFlag.REGION, ignored * ObjectFlag.IGNORE).astype(np.uint8)
        confidences = np.ones(len(table))
    rows = RowColumns(
        sequences=(sequence,),
        sequence_of_row=table.source_of_row,
        frame_numbers=table.integers["Frame"],
        frame_flags=frame_flags,
        holds_object=holds_object,
        coordinates=np.stack([table.numbers[name] for name in CORNERS], axis=1),
        labels=labels,
        confidences=confidences,
        track_ids=np.full(len(table), NO_TRACK, dtype=np.int64),
        flags=flags,
        columns={"occlusion": _occlusion(table)},
    )
    return rows, table


def _occlusion(table: RowTable) -> FloatArray:
    """1 if occluded, 0 if not, NaN if the file does not say."""
    column = table.strings["Occlusion"]
    return np.where(column.where(""), np.nan, column.where("true").astype(np.float64))


# --- writing ---------------------------------------------------------------------------------


def _write(annotations: Annotations, side: Side, options: WriteOptions) -> Files:
    del options
    refuse_formulas(annotations)
    rows: list[list[Sequence[object]]] = [[] for _ in annotations.sequences]
    objects = _object_rows(annotations, side)
    starts = annotations.frame_starts.tolist()
    marked = ((annotations.frame_flags & FrameFlag.DONT_CARE) != 0).tolist()
    blank = [""] * len(HEADER)
    for row, number in enumerate(annotations.frame_numbers.tolist()):
        own = rows[annotations.frame_sequences[row]]
        found = objects[starts[row] : starts[row + 1]]
        if marked[row]:
            own.append([number, *blank[1:9], "DCF", *blank[10:]])
        elif not found:
            own.append([number, *blank[1:]])
        own.extend([number, *fields] for fields in found)
    files = {}
    for (domain, name), lines in zip(annotations.sequences, rows, strict=True):
        path = f"{file_name(domain, 'domain')}/{file_name(name, 'sequence')}.csv"
        files[path] = write_csv(HEADER, lines)
    return files


def _object_rows(annotations: Annotations, side: Side) -> list[list[object]]:
    """The row of each object, without its frame."""
    occlusion = annotations.columns.get("occlusion", np.full(annotations.object_count, np.nan))
    rows: list[list[object]] = []
    for label, corners, confidence, flags, occluded in zip(
        annotations.label_indices.tolist(),
        _corners(annotations).tolist(),
        annotations.confidences.tolist(),
        annotations.flags.tolist(),
        occlusion.tolist(),
        strict=True,
    ):
        name = "DCR" if flags & ObjectFlag.REGION else annotations.labels[label]
        if not name:
            raise InputError([Fault("an object without a class", "a class", field="class")])
        if side is Side.TRUTH and name.casefold() == "dcf":
            raise InputError([Fault(repr(name), "another class: it marks a frame", field="class")])
        rows.append(
            [
                *map(shortest_number, corners),
                name,
                "" if math.isnan(occluded) else str(occluded != 0).upper(),
                str(bool(flags & ObjectFlag.IGNORE)).upper(),
                1.0 if side is Side.TRUTH else shortest_number(confidence),
                *("", ""),
            ]
        )
    return rows


def _corners(annotations: Annotations) -> FloatArray:
    """(N, 8) corners in order along the outline."""
    if annotations.arity == QUADRILATERAL:
        return annotations.coordinates
    return annotations.coordinates[:, [0, 1, 2, 1, 2, 3, 0, 3]]


def _remarks(annotations: Annotations, side: Side, options: WriteOptions) -> tuple[str, ...]:
    """Remark on degrees of occlusion, since the format only has occluded or not."""
    del side, options
    column = annotations.columns.get("occlusion", np.zeros(0))
    count = int((~np.isin(column, (0.0, 1.0)) & ~np.isnan(column)).sum())
    said = counted(count, "value")
    return (f"{said} of the column occlusion written as TRUE, which is 1",) if count else ()


_WRITER = Writer(
    folder=True,
    capacity={
        Side.TRUTH: Capacity(
            arities=(BOX, QUADRILATERAL),
            domains=True,
            dont_care_frames=True,
            confidences=False,
            flags=ObjectFlag.IGNORE | ObjectFlag.REGION,
            marks={"dcr": ObjectFlag.REGION, "ambiguous": ObjectFlag.IGNORE},
            columns=frozenset({"occlusion"}),
        ),
        Side.DETECTIONS: Capacity(
            arities=(BOX, QUADRILATERAL),
            domains=True,
            empty_frames=False,
            columns=frozenset({"occlusion"}),
        ),
    },
    write=_write,
    remarks=_remarks,
)

FORMAT = Format(
    name=NAME,
    title="Neovision2: a folder of <Domain>/<sequence>.csv files",
    read=read,
    writer=_WRITER,
    by_sequence=True,
    pair=pair,
    matches=matches,
    first_frame=0,
)
