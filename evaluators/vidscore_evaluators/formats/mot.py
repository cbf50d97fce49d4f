"""MOTChallenge text: one row per object, one file per sequence, frames and pixels counted from 1.

Source: motchallenge.net, instructions; A. Milan et al., "MOT16: A Benchmark for Multi-Object
Tracking", section 3.3 and Table 3. A row is ``frame,id,left,top,width,height,conf`` and up to three
columns more. The truth is ``<root>/<sequence>/gt/gt.txt`` or one such file, detections
are ``<root>/<sequence>.txt``, ``<root>/<sequence>/det/det.txt`` or one such file. The
project's readings:

1. A box goes from ``left`` to ``left + width``, with nothing added. The first pixel's edge is at 1,
   and coordinates are used as they are given.
2. In the truth, ``conf`` = 0 marks an ignored object. Rows of nine columns end with class and
   visibility (MOT16 and later), rows of eight with the class; a visibility of -1 is unknown. In
   rows of seven or ten columns (MOT15), every object is a pedestrian. Ten columns of which the
   eighth holds classes are VisDrone's (`formats.visdrone_mot`), and are refused, as are nine that
   end with UAVDT's out-of-view, occlusion and category, where the values or the name tell.
3. Classes have the names that trackeval gives their numbers. Persons on vehicles, static persons,
   distractors and reflections are flagged as distractors.
4. Detections are pedestrians. Trackers may write a class in the eighth of eight or nine columns; as
   in trackeval, a class above 1 is an error. ``conf`` is a confidence. -1 means no confidence, and
   counts as 1, if all other values of the file lie from 0 to 1; otherwise -1 is a score like the
   others. Further columns are not read.
5. ``seqinfo.ini`` beside ``gt`` gives the number of frames, and all of them are evaluated. Without
   it, a frame of the truth without a row is not evaluated.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from types import MappingProxyType

import numpy as np
from msgspec.structs import replace

from vidscore_evaluators.annotations import (
    BOX,
    NO_TRACK,
    Annotations,
    ObjectFlag,
    SequenceKey,
    Side,
    sequence_name,
)
from vidscore_evaluators.arrays import AnyArray, BoolArray, FloatArray
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats._csv import CsvRows, normalised_rows
from vidscore_evaluators.formats._files import (
    InputPath,
    first_line,
    is_file,
    is_folder,
    read_bytes,
    read_head,
    text_files,
    visible_entries,
)
from vidscore_evaluators.formats._format import (
    Capacity,
    Format,
    WriteOptions,
    Writer,
    left_top_and_size,
    object_rows,
    sequence_texts,
    used_labels,
)
from vidscore_evaluators.formats._row_frames import RowColumns, boxes_of_rows
from vidscore_evaluators.formats._sequence_files import (
    SequenceFiles,
    check_files,
    first_row,
    pair_text_files,
    read_each,
    read_plain_files,
    to_reading,
    wanted_files,
)
from vidscore_evaluators.formats._sequence_lengths import (
    check_beside,
    gap_remarks,
    read_beside,
    read_sequence_info,
    with_frames_without_rows,
    write_sequence_info,
)
from vidscore_evaluators.formats._table import (
    EMPTY,
    Kind,
    RowChecks,
    RowTable,
    StringColumn,
    parse_integer,
    parse_number,
)
from vidscore_evaluators.formats.source import SWAPPED, Files, Reading, ReadLimits, ReadOptions
from vidscore_evaluators.names import counted
from vidscore_evaluators.validation import MAXIMUM_FRAME_NUMBER

NAME = "motchallenge"
COLUMNS = ("frame", "id", "left", "top", "width", "height", "conf", "class", "visibility", "z")
FEWEST_COLUMNS, COLUMNS_WITH_CLASS, MOST_COLUMNS = 7, (8, 9), 10
CLASSES = (
    "pedestrian",
    "person_on_vehicle",
    "car",
    "bicycle",
    "motorbike",
    "non_mot_vehicle",
    "static_person",
    "distractor",
    "occluder",
    "occluder_on_ground",
    "occluder_full",
    "reflection",
    "crowd",
)
"""Names of the classes by number from 1, as in trackeval (MOT16, Table 3; MOT20)."""

DISTRACTORS = frozenset(("person_on_vehicle", "static_person", "distractor", "reflection"))
"""Classes that systems may confuse with pedestrians."""

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
_UNKNOWN = -1


def read(path: InputPath, side: Side, limits: ReadOptions) -> Reading:
    """Read a file or a folder.

    Raises:
        InputError: If there is nothing of the kind, or a file of it cannot be read at all.
    """
    files = find_files(path, side)
    # Without detection files, the folder may well be one of truth, and the other way round.
    swapped = SWAPPED if not files and matches(path, b"") else None
    check_files(files, path, _LAYOUT[side], limits, swapped)
    files, listing = wanted_files(files, limits)
    reading = read_each(files, lambda key, file: _read_file(key, file, side, limits), str(path))
    source = replace(reading.source, annotations=_with_known(reading.source.annotations, side))
    return replace(reading, source=source, listing=listing)


def _with_known(annotations: Annotations, side: Side) -> Annotations:
    """Drop the visibility if no file has it, as in MOT15."""
    if side is Side.DETECTIONS or not annotations.object_count:
        return annotations
    if np.isnan(annotations.columns["visibility"]).all():
        return replace(annotations, columns={})
    return annotations


def matches(path: InputPath, head: bytes) -> bool:
    """Whether a file's first row is of this format, or a folder has such files."""
    if not is_folder(path):
        return _looks_like_rows(head)
    if any(_holds_parts(folder) for folder in (path, *_folders(path))):
        return True
    first = next(iter(text_files(path)), None)
    return first is not None and _looks_like_rows(read_head(first, _FILE))


def _looks_like_rows(head: bytes) -> bool:
    """Whether the first line is seven to ten numbers between commas, the first two integers."""
    fields = first_line(head).split(",")
    return (
        FEWEST_COLUMNS <= len(fields) <= MOST_COLUMNS
        and all(parse_integer(field) is not None for field in fields[:2])
        and all(parse_number(field) is not None for field in fields[2:])
    )


# --- files -----------------------------------------------------------------------------------


def find_files(path: InputPath, side: Side) -> SequenceFiles:
    """The file of each sequence in a folder of the benchmark's layout, or a single one."""
    if not is_folder(path):
        return {SequenceKey("", _sequence_of(path)): path}
    part = _PARTS[0] if side is Side.TRUTH else _PARTS[1]
    for file in (path / part, path / PurePosixPath(part).name):
        if is_file(file):
            return {SequenceKey("", _sequence_of(file)): file}
    flat = {SequenceKey("", file.stem): file for file in text_files(path)}
    nested = {
        SequenceKey("", folder.name): folder / part
        for folder in _folders(path)
        if is_file(folder / part)
    }
    return nested or flat if side is Side.TRUTH else flat or nested


def _sequence_of(file: InputPath) -> str:
    """Name of the sequence of a single file: its folder's if the file has a standard name."""
    if file.name not in ("gt.txt", "det.txt"):
        return file.stem
    folder = file.absolute().parent
    return folder.parent.name if folder.name in ("gt", "det") else folder.name


def _folders(path: InputPath) -> list[InputPath]:
    return [entry for entry in visible_entries(path) if is_folder(entry)]


def _holds_parts(folder: InputPath) -> bool:
    return any(is_file(folder / part) for part in _PARTS)


def _read_file(key: SequenceKey, path: InputPath, side: Side, limits: ReadLimits) -> Reading:
    """Read a file completely, while its rows are in a cache and other threads read other files."""
    rows = _read_rows(path, side, limits)
    is_truth = side is Side.TRUTH
    if is_truth:
        _refuse_uavdt(rows.table, path)
    info, unread = read_beside(lambda: read_sequence_info(path, limits) if is_truth else None, None)
    lengths = {} if info is None else {key: info.length}

    def to_columns(table: RowTable) -> tuple[RowColumns, RowTable]:
        columns = _row_columns(table, key, side)
        if side is Side.DETECTIONS:
            # Per file, so that a shard that reads only some files decides as the whole does.
            columns = replace(columns, confidences=_confidences(columns.confidences))
        return with_frames_without_rows(columns, table, lengths)

    checks = _check_rows(rows.table, side, lengths.get(key, MAXIMUM_FRAME_NUMBER))
    reading = check_beside(unread, to_reading(rows, checks, to_columns, str(path), NAME))
    if info is None or not info.image_size:
        return reading
    return replace(reading, source=replace(reading.source, image_sizes={key: info.image_size}))


def _read_rows(path: InputPath, side: Side, limits: ReadLimits) -> CsvRows:
    text = normalised_rows(read_bytes(path, _FILE, limits), str(path))
    line, row = first_row(text)
    count = row.count(b",") + 1 if row else FEWEST_COLUMNS
    problem = _row_problem(row, count) or _class_problem(text, row, count)
    if problem is not None:
        raise InputError([replace(problem, source=str(path), line=line)])
    kinds: list[Kind | None] = [Kind.INTEGER, Kind.INTEGER, *[Kind.NUMBER] * 5]
    if count in COLUMNS_WITH_CLASS:
        kinds += [Kind.INTEGER, Kind.NUMBER if side is Side.TRUTH else None]
    else:
        kinds += [None] * (MOST_COLUMNS - FEWEST_COLUMNS)
    rows = read_plain_files([path], [text], COLUMNS[:count], kinds[:count])
    # Not read, or missing: the benchmark itself writes -1 for none.
    length = len(rows.table)
    none = {"class": np.full(length, _UNKNOWN, dtype=np.int64)}
    unseen = {"visibility": np.full(length, np.nan)}
    table = replace(
        rows.table,
        integers={**none, **rows.table.integers},
        numbers={**unseen, **rows.table.numbers},
    )
    return replace(rows, table=table)


def _row_problem(row: bytes, count: int) -> Fault | None:
    """Why rows that begin like this cannot be read; None if they can."""
    if count == 1 and len(row.split()) > 1:
        return Fault("values separated by blanks", "values separated by commas")
    if row.endswith(b","):
        return Fault("a comma after the last value", "a row that ends with a value")
    if row and not FEWEST_COLUMNS <= count <= MOST_COLUMNS:
        return Fault(counted(count, "column"), f"{FEWEST_COLUMNS} to {MOST_COLUMNS} columns")
    return None


def _class_problem(text: bytes, row: bytes, count: int) -> Fault | None:
    """Refuse ten columns with a class in the eighth, which in MOTChallenge is a position."""
    if count != MOST_COLUMNS:
        return None
    eighth = parse_integer(row.split(b",")[FEWEST_COLUMNS].decode(errors="replace"))
    if eighth is None or eighth < 0:
        return None  # -1, as in nearly all files, or a position in metres
    kinds = [None] * FEWEST_COLUMNS + [Kind.NUMBER] + [None] * (MOST_COLUMNS - FEWEST_COLUMNS - 1)
    column = read_plain_files([""], [text], COLUMNS, kinds).table.numbers["class"]
    if not ((column >= 0) & (column == np.floor(column))).all() or not column.any():
        return None
    return Fault(
        f"a class ({eighth}) in the eighth of ten columns, as VisDrone's rows have it",
        "-1 or a position, as MOTChallenge's have it",
        advice="choose the format visdrone-mot; here all would count as pedestrians",
    )


def _refuse_uavdt(table: RowTable, path: InputPath) -> None:
    """Refuse the columns of UAVDT's ``gt_whole`` files, if values or the file's name tell them.

    They end with out-of-view (1 to 3), occlusion (1 to 4) and category (1 to 3). Without an object
    out of view and with cars alone, MOTChallenge may have the same values.
    """
    outside, kind = table.numbers["conf"], table.numbers["visibility"]
    if not len(table) or not (
        path.stem.endswith("_gt_whole") or max(outside.max(), kind.max()) > 1
    ):
        return
    columns = ((outside, 3), (table.integers["class"], 4), (kind, 3))
    if not all(np.isin(part, np.arange(1, most + 1)).all() for part, most in columns):
        return
    fault = Fault(
        "out-of-view, occlusion and category, as the rows of UAVDT's gt_whole files end",
        "conf 0 or 1, a class, and a visibility from 0 to 1",
        source=str(path),
        advice="take UAVDT's gt file, whose rows end with 1,-1,-1, or write generic CSV",
    )
    raise InputError([fault])


# --- rows ------------------------------------------------------------------------------------


def _check_rows(table: RowTable, side: Side, last: int) -> RowChecks:
    checks = RowChecks(table)
    frames, numbers = table.integers["frame"], table.numbers
    beyond = (frames > last) & (frames <= MAXIMUM_FRAME_NUMBER)
    checks.refuse(beyond, "frame", frames, "a frame within the seqLength of seqinfo.ini")
    checks.require_frames("frame", least=1)
    checks.require_tracks("id")
    checks.require_coordinates(("left", "top"))
    checks.require_sizes()
    classes = table.integers["class"]
    if side is Side.DETECTIONS:
        checks.require_finite("conf")
        advice = "all detections count as pedestrians: leave the others out"
        checks.refuse(classes > 1, "class", classes, "1 (pedestrian), 0 or -1", advice)
        return checks
    confidences = numbers["conf"]
    checks.refuse(~np.isfinite(confidences), "conf", confidences, "0 (ignored) or another number")
    known = ((classes >= 1) & (classes <= len(CLASSES))) | (classes == _UNKNOWN)
    checks.refuse(~known, "class", classes, f"the number of a class, 1 to {len(CLASSES)}")
    seen = numbers["visibility"]
    beyond = (seen != _UNKNOWN) & ((seen < 0.0) | (seen > 1.0))
    checks.refuse(beyond, "visibility", seen, "a number from 0 to 1, or -1 (unknown)")
    return checks


def _row_columns(table: RowTable, key: SequenceKey, side: Side) -> RowColumns:
    count, numbers = len(table), table.numbers
    flags = np.zeros(count, dtype=np.uint8)
    labels = StringColumn(np.zeros(count, dtype=np.int64), CLASSES)
    confidences = numbers["conf"]
    columns = {}
    if side is Side.TRUTH:
        codes = np.where(table.integers["class"] == _UNKNOWN, 0, table.integers["class"] - 1)
        labels = StringColumn(codes, CLASSES)
        distracts = np.array([name in DISTRACTORS for name in CLASSES])[codes]
        ignored = confidences == 0.0
        flags = np.where(ignored, ObjectFlag.IGNORE, 0).astype(np.uint8)
        flags |= np.where(distracts, ObjectFlag.DISTRACTOR, 0).astype(np.uint8)
        confidences = np.where(ignored, 1.0, confidences)
        seen = numbers["visibility"]
        columns = {"visibility": np.where(seen == _UNKNOWN, np.nan, seen)}
    return RowColumns(
        sequences=(key,),
        sequence_of_row=table.source_of_row,
        frame_numbers=table.integers["frame"],
        frame_flags=np.zeros(count, dtype=np.uint8),
        holds_object=np.ones(count, dtype=np.bool_),
        coordinates=boxes_of_rows(table),
        labels=labels,
        confidences=confidences,
        track_ids=np.where(table.integers["id"] == EMPTY, NO_TRACK, table.integers["id"]),
        flags=flags,
        columns=columns,
    )


def _confidences(given: FloatArray) -> FloatArray:
    """Confidences of a file; -1 means none if all others lie from 0 to 1, else it is a score."""
    none = given == -1.0
    if np.all(none | ((given >= 0.0) & (given <= 1.0))):
        return np.where(none, 1.0, given)
    return given


# --- writing ---------------------------------------------------------------------------------


def _write(annotations: Annotations, side: Side, options: WriteOptions) -> Files:
    """Rows in ``<sequence>/gt/gt.txt`` beside a seqinfo.ini, or in ``<sequence>.txt``."""
    box = left_top_and_size(annotations)
    if side is Side.DETECTIONS:
        _refuse_none(annotations)
        none = np.full(annotations.object_count, _UNKNOWN)
        rows = object_rows(annotations, ",", *box, annotations.confidences, none, none, none)
        files = {f"{name}.txt": text for name, _, text in sequence_texts(annotations, rows)}
        if "det.txt" in files:  # this name marks a folder as that of one sequence
            raise InputError([Fault("'det'", "another name of a sequence", field="sequence")])
        return files
    considered = (annotations.flags & ObjectFlag.IGNORE) == 0
    visibility = annotations.columns.get("visibility", np.ones(annotations.object_count))
    visibility = np.where(np.isnan(visibility), 1.0, visibility)
    rows = object_rows(annotations, ",", *box, considered, _class_numbers(annotations), visibility)
    files = {}
    for name, frames, text in sequence_texts(annotations, rows):
        files[f"{name}/gt/gt.txt"] = text
        if len(frames):
            length = int(annotations.frame_numbers[frames].max())
            sizes = options.image_sizes[frames]
            files[f"{name}/seqinfo.ini"] = write_sequence_info(name, length, sizes)
    return files


def _refuse_none(annotations: Annotations) -> None:
    """Refuse confidences of -1 that a reader would take for none.

    Raises:
        InputError: With each sequence that has one.
    """
    owners = annotations.frame_sequences[annotations.object_frames]
    faults = []
    for owner in np.unique(owners[annotations.confidences == _UNKNOWN]).tolist():
        given = annotations.confidences[owners == owner]
        if not np.array_equal(_confidences(given), given):
            found = f"a confidence of -1 in sequence {sequence_name(annotations.sequences[owner])}"
            advice = "--confidence-scale maps all confidences to numbers from 0 to 1"
            faults.append(Fault(found, "another, as -1 stands for none there", advice=advice))
    if faults:
        raise InputError(faults)


def _class_numbers(annotations: Annotations) -> AnyArray:
    """(N,) number of each object's class.

    Raises:
        InputError: If a class has no number.
    """
    place = {name: number for number, name in enumerate(CLASSES, start=1)}
    table = np.array([place.get(label, 0) for label in annotations.labels], dtype=np.int64)
    unknown = [label for label in used_labels(annotations) if label not in place]
    if unknown:
        expected = "a class of MOTChallenge: " + ", ".join(CLASSES)
        raise InputError([Fault(repr(label), expected, field="class") for label in unknown])
    numbers = table[annotations.label_indices]
    return np.where(_other_distractors(annotations), place["distractor"], numbers)


def _other_distractors(annotations: Annotations) -> BoolArray:
    """(N,) distractors of other classes; the format defines which classes distract."""
    distracts = np.array([label in DISTRACTORS for label in annotations.labels], dtype=np.bool_)
    flagged = (annotations.flags & ObjectFlag.DISTRACTOR) != 0
    others: BoolArray = flagged & ~distracts[annotations.label_indices]
    return others


def _remarks(annotations: Annotations, side: Side, options: WriteOptions) -> tuple[str, ...]:
    """Remark on classes that change, and on the number of frames that a seqinfo.ini adds."""
    if side is Side.TRUTH:
        count = int(_other_distractors(annotations).sum())
        said = f"{counted(count, 'object')} flagged distractor became of that class"
        return (*([said] if count else []), *gap_remarks(annotations, options))
    used = set(used_labels(annotations))
    lost = used - {CLASSES[0], ""} if len(used) == 1 else ()
    return tuple(f"the class {label!r} not written: detections are pedestrians" for label in lost)


_WRITER = Writer(
    folder=True,
    capacity={
        Side.TRUTH: Capacity(
            arities=(BOX,),
            confidences=False,
            tracks=True,
            flags=ObjectFlag.IGNORE | ObjectFlag.DISTRACTOR,
            marks=dict.fromkeys(sorted(DISTRACTORS), ObjectFlag.DISTRACTOR),
            columns=frozenset({"visibility"}),
        ),
        Side.DETECTIONS: Capacity(empty_frames=False, classes=False, tracks=True),
    },
    write=_write,
    remarks=_remarks,
    least_frame=1,
)

FORMAT = Format(
    name=NAME,
    title="MOTChallenge text: rows of frame,id,left,top,width,height,conf, one file per sequence",
    read=read,
    writer=_WRITER,
    by_sequence=True,
    pair=pair_text_files,
    matches=matches,
    first_frame=1,
    first_pixel=1,
)
