"""Generic CSV: one file for any number of sequences, with columns by name in any order.

``domain,sequence,frame,time_s,arrival_s,class,x,y`` or ``x1,y1,x2,y2`` or ``x1,y1,...,x4,y4`` and
``confidence,track_id,flags``. Sequence, frame and one set of coordinates are required. `ALIASES`
are names by which other tools call these columns. Further columns hold numbers and are kept by
name, unless their names are surely mistyped. A row without coordinates lists its frame. The flags
are words joined by ``|``: ``ignore``, ``crowd``, ``region``, ``distractor`` for the object and
``dont_care_frame`` for the frame. The time and the arrival are the frame's, too: any of its rows
may have them.

Arrays with the same column names (a dictionary, a data frame) mean the same as such a file.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Sequence
from types import MappingProxyType

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from vidscore_evaluators.annotations import (
    BOX,
    NO_TRACK,
    POINT,
    QUADRILATERAL,
    Annotations,
    FrameFlag,
    ObjectFlag,
    SequenceKey,
    Side,
)
from vidscore_evaluators.arrays import BoolArray, FloatArray, IntArray
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats._csv import read_columns, split_csv
from vidscore_evaluators.formats._files import InputPath, first_line, read_bytes
from vidscore_evaluators.formats._format import (
    CAPACITY,
    Format,
    WriteOptions,
    Writer,
    refuse_formulas,
    refuse_unnamed,
    shortest_number,
    write_csv,
)
from vidscore_evaluators.formats._heads import GENERIC
from vidscore_evaluators.formats._row_frames import RowColumns, group_rows
from vidscore_evaluators.formats._table import (
    EMPTY,
    Kind,
    RowChecks,
    RowTable,
    StringColumn,
    parse_number,
)
from vidscore_evaluators.formats._times import ARRIVAL, check_times, time_warnings
from vidscore_evaluators.formats._times import COLUMN as TIME
from vidscore_evaluators.formats.source import Files, Reading, ReadLimits, Source, show_text
from vidscore_evaluators.masks import Masks
from vidscore_evaluators.names import closest_name
from vidscore_evaluators.report import ReportWarning

NAME = GENERIC
FRAME_FLAG = "dont_care_frame"
_OBJECT_FLAGS = {flag.name.lower(): flag for flag in ObjectFlag if flag.name is not None}
_EXPECTED = "a CSV file with the columns sequence, frame and coordinates"

COORDINATES = MappingProxyType(
    {
        POINT: ("x", "y"),
        BOX: ("x1", "y1", "x2", "y2"),
        QUADRILATERAL: ("x1", "y1", "x2", "y2", "x3", "y3", "x4", "y4"),
    }
)
"""Names of the coordinates, by their number."""

KINDS = MappingProxyType(
    {
        "domain": Kind.STRING,
        "sequence": Kind.STRING,
        "frame": Kind.INTEGER,
        TIME: Kind.NUMBER,
        ARRIVAL: Kind.NUMBER,
        "class": Kind.STRING,
        "confidence": Kind.NUMBER,
        "track_id": Kind.INTEGER,
        "flags": Kind.STRING,
        **dict.fromkeys((*COORDINATES[POINT], *COORDINATES[QUADRILATERAL]), Kind.NUMBER),
    }
)
"""Kinds of the columns of the format."""

ALIASES = MappingProxyType(
    {
        **dict.fromkeys(("score", "scores", "conf", "prob", "probability"), "confidence"),
        **dict.fromkeys(("label", "category", "class_id", "class_name"), "class"),
        **dict.fromkeys(("track", "tracker_id", "tracking_id"), "track_id"),
    }
)
"""Columns by their aliases."""

MASK_ROW = "mask_row"
"""A column of integers besides those of the format: the index of a row's mask."""

REQUIRED = ("sequence", "frame")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_NAME_OF_INDEX = re.compile(r"|Unnamed: [0-9]+(_level_[0-9]+)?")
_MAXIMUM_COLUMNS = 64
_CLOSE = 0.8
_CLOSE_TO_ALIAS = 0.85


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
    source = replace(reading.source, warnings=(*columns.notes, *reading.source.warnings))
    faults = rows.faults.relocated(columns.as_typed)
    return Reading(source, faults, rows.skipped + reading.skipped)


def matches(path: InputPath, head: bytes) -> bool:
    """Whether a file's first line names a sequence and a frame."""
    del path
    names = {name.strip(' "\r').lower() for name in first_line(head).split(",")}
    return names.issuperset(REQUIRED)


def read_table(
    table: RowTable, name: str, format_name: str | None, masks: Masks | None = None
) -> Reading:
    """Turn typed columns of this format, from a file or from arrays, into annotations.

    Args:
        table: The columns; sequence, frame and coordinates are among them.
        name: Name of the source in messages.
        format_name: Format of the source.
        masks: Masks that the column `MASK_ROW` of integers refers to; it is negative in a row
            without a mask. They are used if all objects have one.
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
    rows = _with_masks(_row_columns(table, coordinates, holds_object), table, masks)
    annotations, positions = group_rows(rows, table)
    warnings = time_warnings(annotations, name)
    source = Source(annotations, name, format_name, positions, warnings)
    return Reading(source, checks.faults, int(checks.faulty.sum()))


def _check_frames(checks: RowChecks, table: RowTable) -> None:
    sequences = table.strings["sequence"]
    checks.refuse(sequences.where(""), "sequence", sequences, "the name of a sequence")
    checks.require_frames("frame")
    domains = table.strings.get("domain", _one_string(len(table)))
    check_times(checks, table, table.integers["frame"], sequences.codes, domains.codes)
    if "flags" in table.strings:
        flags = table.strings["flags"]
        known = {*_OBJECT_FLAGS, FRAME_FLAG}
        wrong = np.array([not known.issuperset(_words(text)) for text in flags.values], dtype=bool)
        expected = "words out of " + ", ".join(sorted(known)) + ", joined by |"
        checks.refuse(wrong[flags.codes], "flags", flags, expected)


def _check_objects(
    checks: RowChecks, table: RowTable, names: Sequence[str], holds_object: BoolArray
) -> None:
    checks.require_coordinates(names, holds_object)
    checks.require_finite("confidence", holds_object)
    if "track_id" in table.integers:
        checks.require_tracks("track_id", holds_object & (table.integers["track_id"] != EMPTY))
    stray = ~holds_object & _says_more(table)
    expected = "coordinates, or nothing but a frame in the row"
    checks.refuse(stray, names[0], "no coordinates", expected)


def _says_more(table: RowTable) -> BoolArray:
    """Whether a row has a class, a confidence or a track, which only objects have."""
    says = np.zeros(len(table), dtype=np.bool_)
    if "class" in table.strings:
        says |= ~table.strings["class"].where("")
    if "confidence" in table.numbers:
        says |= ~np.isnan(table.numbers["confidence"])
    if "track_id" in table.integers:
        says |= table.integers["track_id"] >= 0
    return says


def _row_columns(table: RowTable, coordinates: FloatArray, holds_object: BoolArray) -> RowColumns:
    count = len(table)
    sequences, sequence_of_row = sequences_of(table)
    tracks = table.integers.get("track_id", np.full(count, NO_TRACK, dtype=np.int64))
    flags = table.strings.get("flags", _one_string(count))
    bits = np.array([_object_bits(text) for text in flags.values], dtype=np.uint8)
    frame_bits = np.array(
        [FrameFlag.DONT_CARE * (FRAME_FLAG in _words(text)) for text in flags.values],
        dtype=np.uint8,
    )
    return RowColumns(
        sequences=sequences,
        sequence_of_row=sequence_of_row,
        frame_numbers=table.integers["frame"],
        frame_flags=frame_bits[flags.codes],
        holds_object=holds_object,
        coordinates=coordinates,
        labels=table.strings.get("class", _one_string(count)),
        confidences=table.numbers.get("confidence", np.ones(count)),
        track_ids=np.where(tracks == EMPTY, NO_TRACK, tracks),
        flags=bits[flags.codes],
        columns={name: column for name, column in table.numbers.items() if name not in KINDS},
        frame_times_s=table.numbers.get(TIME),
        frame_arrivals_s=table.numbers.get(ARRIVAL),
    )


def _with_masks(rows: RowColumns, table: RowTable, masks: Masks | None) -> RowColumns:
    if masks is None or (table.integers[MASK_ROW][rows.holds_object] < 0).any():
        return rows
    return replace(rows, masks=masks, mask_rows=table.integers[MASK_ROW])


def sequences_of(table: RowTable) -> tuple[tuple[SequenceKey, ...], IntArray]:
    """The (domain, sequence) pairs in use, sorted, and the index of each row's pair."""
    sequences = table.strings["sequence"]
    domains = table.strings.get("domain", _one_string(len(table)))
    pairs = domains.codes * max(1, len(sequences.values)) + sequences.codes
    used, index = np.unique(pairs, return_inverse=True)
    keys = [
        SequenceKey(domains.values[domain], sequences.values[sequence])
        for domain, sequence in zip(*np.divmod(used, max(1, len(sequences.values))), strict=True)
    ]
    ordered = sorted(keys)
    rank = {key: position for position, key in enumerate(ordered)}
    ranks = np.array([rank[key] for key in keys], dtype=np.int64)
    return tuple(ordered), ranks[index.reshape(-1)]


def _one_string(count: int) -> StringColumn:
    return StringColumn(np.zeros(count, dtype=np.int64), ("",))


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.casefold().split("|")] if text else []


def object_words(bits: int) -> str:
    """The words of an object's flags, from their bits."""
    return "|".join(word for word, flag in _OBJECT_FLAGS.items() if bits & flag)


def _object_bits(text: str) -> int:
    return sum(flag for word, flag in _OBJECT_FLAGS.items() if word in _words(text))


# --- names of columns ------------------------------------------------------------------------


class NamedColumns(Struct, frozen=True):
    """Columns by the names of the format, in the order in which they came.

    Attributes:
        names: Name of each.
        kinds: Kind of each.
        typed: Names in the file, if they differ.
        notes: A note for each of these.
    """

    names: tuple[str, ...]
    kinds: tuple[Kind, ...]
    typed: dict[str, str]
    notes: tuple[ReportWarning, ...]

    def as_typed(self, fault: Fault) -> Fault:
        """The fault with its column named as in the file, and advice if it is a further column."""
        name = (fault.field or "").removeprefix("column ")
        if fault.advice is None and name in self.names and name not in KINDS:
            return replace(fault, advice="leave it out if no evaluator needs it")
        typed = self.typed.get(name)
        return fault if typed is None else replace(fault, field=f"column {typed}")


def named_columns(names: Sequence[str], source: str, line: int | None = None) -> NamedColumns:
    """Recognise the columns of a header.

    Args:
        names: Their names in the header.
        source: Name of the file, for messages.
        line: Line of the header, for messages.

    Raises:
        InputError: With every name that is repeated, missing, or surely mistyped.
    """
    if line is not None and any(parse_number(name) is not None for name in names):
        advice = "write the names of the columns into the first line"
        raise InputError([Fault("no header", "", source=source, line=line, advice=advice)])
    faults = [*_problems(names)]
    if faults:
        raise InputError([replace(fault, source=source, line=line) for fault in faults])
    plain = tuple(ALIASES.get(name, name) for name in names)
    typed = {ALIASES[name]: name for name in names if name in ALIASES}
    notes = tuple(
        ReportWarning("column_alias", f"{source}: the column {name} was read as {meant}")
        for meant, name in typed.items()
    )
    return NamedColumns(plain, tuple(KINDS.get(name, Kind.NUMBER) for name in plain), typed, notes)


def _problems(names: Sequence[str]) -> Iterator[Fault]:
    yield from _missing(names)
    for name in dict.fromkeys(names):
        yield from _misnamed(name)
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield Fault("a column twice", "each column once", field=_field(name))
    for meant in dict.fromkeys(ALIASES.values()):
        same = [name for name in dict.fromkeys(names) if ALIASES.get(name, name) == meant]
        if len(same) > 1:
            found = f"the columns {' and '.join(same)}, which all mean {meant}"
            yield Fault(found, "", advice="keep only one of them")
    yield from _too_many(names)


def _missing(names: Sequence[str]) -> Iterator[Fault]:
    for name in REQUIRED:
        if name not in names:
            advice = f"the columns {', '.join(REQUIRED)} and coordinates must be there"
            yield Fault("missing", "", field=_field(name), advice=advice)
    present = {name for names_ in COORDINATES.values() for name in names_ if name in names}
    if present not in [set(wanted) for wanted in COORDINATES.values()]:
        listed = ",".join(name for name in names if name in present)
        expected = " or ".join(",".join(wanted) for wanted in COORDINATES.values())
        yield Fault(f"the coordinates {listed}" if listed else "no coordinates", expected)


def _misnamed(name: str) -> Iterator[Fault]:
    if name in KINDS or name in ALIASES:
        return
    field = _field(name)
    meant = _meant(name.strip())
    if _NAME_OF_INDEX.fullmatch(name):
        advice = "if it is the index of a data frame, write with index=False"
        yield Fault("a column without a name", "", field=field, advice=advice)
    elif meant is not None:
        yield Fault("unknown column", "", field=field, advice=f"did you mean {meant}?")
    elif not _NAME.fullmatch(name):
        yield Fault("unknown column", "a name of letters, digits and underscores", field=field)


def _meant(name: str) -> str | None:
    """The column that a mistyped name surely means."""
    if name.lower() in (*KINDS, *ALIASES):
        return name.lower()
    # Many two-letter names are similar; `time_ms` and `time` are columns of their own.
    known = [entry for entry in KINDS if len(entry) > 2 and entry not in (TIME, ARRIVAL)]
    return closest_name(name, known, _CLOSE) or closest_name(name, ALIASES, _CLOSE_TO_ALIAS)


def _too_many(names: Sequence[str]) -> Iterator[Fault]:
    if len(names) > _MAXIMUM_COLUMNS:
        yield Fault(f"{len(names)} columns", f"at most {_MAXIMUM_COLUMNS} columns")


def refuse_too_many(names: Sequence[str]) -> None:
    """Refuse more columns than a reader accepts.

    Raises:
        InputError: If there are.
    """
    faults = list(_too_many(names))
    if faults:
        raise InputError(faults)


def refuse_own_names(annotations: Annotations, others: Collection[str] = ()) -> None:
    """Refuse further numbers that would be read as columns of the format.

    Args:
        annotations: One side; JSON lines and messages may name numbers freely.
        others: Names of further columns of the written format.

    Raises:
        InputError: With every such name, or one that would be read as a mistyped column.
    """
    own, expected = {*KINDS, *ALIASES, *others}, "another name than the format's own columns have"
    faults = [fault for name in annotations.columns for fault in _misnamed(name)]
    faults += [
        Fault("further numbers", expected, field=_field(name))
        for name in annotations.columns
        if name in own
    ]
    if faults:
        raise InputError(faults)


def _field(name: str) -> str:
    return f"column {name or show_text(name)}"


# --- writing ---------------------------------------------------------------------------------


def _write(annotations: Annotations, side: Side, options: WriteOptions) -> Files:
    del options
    refuse_formulas(annotations)
    refuse_unnamed(annotations)
    refuse_own_names(annotations)
    names = COORDINATES[annotations.arity]
    extra = sorted(annotations.columns)
    place = ["domain", "sequence", "frame"]
    header = ["class", *names, "confidence", "track_id", "flags"]
    if side is Side.TRUTH:
        header.remove("confidence")
    times: list[list[object]] = [[] for _ in range(annotations.frame_count)]
    for name, seconds in (
        (TIME, annotations.frame_times_s),
        (ARRIVAL, annotations.frame_arrivals_s),
    ):
        if seconds is not None:
            place.append(name)
            for known, value in zip(times, seconds.tolist(), strict=True):
                known.append(_or_empty(value))
    refuse_too_many([*place, *header, *extra])
    objects = _object_rows(annotations, side, extra)
    rows: list[Sequence[object]] = []
    starts = annotations.frame_starts.tolist()
    frame_flags = ((annotations.frame_flags & FrameFlag.DONT_CARE) != 0).tolist()
    for row, number in enumerate(annotations.frame_numbers.tolist()):
        key = annotations.sequences[annotations.frame_sequences[row]]
        marked, own = frame_flags[row], objects[starts[row] : starts[row + 1]]
        front = [*key, number, *times[row]]
        if marked or not own:
            flags = FRAME_FLAG if marked else ""
            rows.append([*front, *[""] * (len(header) - 1), flags, *[""] * len(extra)])
        rows.extend([*front, *fields] for fields in own)
    return {"": write_csv([*place, *header, *extra], rows)}


def _or_empty(value: float) -> object:
    return "" if math.isnan(value) else shortest_number(value)


def _object_rows(annotations: Annotations, side: Side, extra: Sequence[str]) -> list[list[object]]:
    """The row of each object, without its frame."""
    sure = side is Side.TRUTH
    rows: list[list[object]] = []
    others = [annotations.columns[name].tolist() for name in extra]
    words = {bits: object_words(bits) for bits in np.unique(annotations.flags).tolist()}
    for label, coordinates, confidence, track, flags, *values in zip(
        annotations.label_indices.tolist(),
        annotations.coordinates.tolist(),
        annotations.confidences.tolist(),
        annotations.track_ids.tolist(),
        annotations.flags.tolist(),
        *others,
        strict=True,
    ):
        rows.append(
            [
                annotations.labels[label],
                *map(shortest_number, coordinates),
                *([] if sure else [shortest_number(confidence)]),
                "" if track == NO_TRACK else track,
                words[flags],
                *map(_or_empty, values),
            ]
        )
    return rows


FORMAT = Format(
    name=NAME,
    title="generic CSV: sequence, frame and coordinates as columns, one file",
    read=read,
    writer=Writer(
        folder=False,
        capacity={side: replace(own, masks=False) for side, own in CAPACITY.items()},
        write=_write,
    ),
    matches=matches,
)
