"""Formats with a file per sequence or per frame: their files, their rows, and checks of both sides.

Rows of such files have no header; those of many small files become one table.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from vidscore_evaluators.alignment import with_near_names
from vidscore_evaluators.annotations import SequenceKey, concatenate, sequence_name
from vidscore_evaluators.arrays import IntArray
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats._csv import (
    CsvFile,
    CsvRows,
    line_count,
    normalised_rows,
    read_columns,
)
from vidscore_evaluators.formats._files import (
    InputPath,
    byte_count,
    read_bytes,
    text_files_at,
)
from vidscore_evaluators.formats._row_frames import RowColumns, group_rows
from vidscore_evaluators.formats._table import (
    EXPECTED_STRING,
    Kind,
    RowChecks,
    RowTable,
    parse_string,
)
from vidscore_evaluators.formats.source import (
    FaultList,
    Listing,
    PairReading,
    Reading,
    ReadLimits,
    ReadOptions,
    Source,
    join_positions,
    listed_names,
    show_text,
)
from vidscore_evaluators.report import ReportWarning
from vidscore_evaluators.runtime import map_threads

SequenceFiles = Mapping[SequenceKey, InputPath]
"""The file of each sequence, in order."""


def sequence_files(path: InputPath, folder: str) -> SequenceFiles:
    """The files that `text_files_at` finds, each called as its sequence."""
    return {SequenceKey("", file.stem): file for file in text_files_at(path, folder)}


def check_count(
    count: int,
    root: InputPath,
    layout: str,
    limits: ReadLimits,
    advice: str | None = None,
    others: Sequence[Fault] = (),
) -> None:
    """Refuse a folder with no files, or too many.

    Args:
        count: The number of files.
        root: The folder.
        layout: The expected content.
        limits: Limits on their number.
        advice: Advice if there are none.
        others: Other faults of the folder.

    Raises:
        InputError: With every fault.
    """
    faults = list(others)
    if not count:
        faults.append(Fault("nothing of the kind", layout, source=str(root), advice=advice))
    if count > limits.maximum_files:
        expected = f"at most maximum_files = {limits.maximum_files}"
        faults.append(Fault(f"{count} files", expected, source=str(root)))
    if faults:
        raise InputError(faults)


def check_files(
    files: SequenceFiles,
    root: InputPath,
    layout: str,
    limits: ReadLimits,
    advice: str | None = None,
) -> None:
    """The same for the files of sequences, whose names may also be invalid for sequences."""
    faults = [
        Fault(show_text(name), EXPECTED_STRING, source=str(path))
        for key, path in files.items()
        for name in key
        if parse_string(name) != name
    ]
    check_count(len(files), root, layout, limits, advice, faults)


def wanted_files(
    files: SequenceFiles, options: ReadOptions
) -> tuple[SequenceFiles, Listing | None]:
    """The files of wanted sequences, and the listing of all if some are left out.

    If no sequence is wanted, one file is read all the same: without a file, a side has no shape.

    Args:
        files: The file of each sequence; at least one.
        options: Defines which sequences are wanted.
    """
    if options.wanted is None:
        return files, None
    listing = list_files(files, ((sequence_name(key), path) for key, path in files.items()))
    chosen = {key: path for key, path in files.items() if options.wanted(key)}
    return chosen or dict(islice(files.items(), 1)), listing


def list_files(
    sequences: Iterable[SequenceKey],
    files: Iterable[tuple[str, InputPath]],
    empty: frozenset[SequenceKey] = frozenset(),
) -> Listing:
    """Facts about a side that its file names alone give.

    Args:
        sequences: All sequences, in order.
        files: Name and path of each file.
        empty: Sequences that are known to have no frames.

    Raises:
        InputError: If a file is inaccessible.
    """
    digest = hashlib.blake2b(digest_size=16)
    for name, path in files:  # whose names need not be UTF-8
        digest.update(f"{name}\0{byte_count(path)}\n".encode(errors="surrogateescape"))
    return Listing(tuple(sequences), digest.hexdigest(), empty)


def read_each(
    files: SequenceFiles, read_file: Callable[[SequenceKey, InputPath], Reading], name: str
) -> Reading:
    """Read every file completely, in a few threads, and join the results.

    Args:
        files: At least one file.
        read_file: Reads the file of a sequence, with positions and without warnings.
        name: Name of the source.

    Raises:
        InputError: If a file cannot be read at all; with every fault.
    """
    parts: list[Source] = []
    broken, faults, skipped = FaultList(), FaultList(), 0
    for read in map_threads(lambda item: read_file(*item), files.items()):
        try:
            part = read()
        except InputError as error:
            broken.extend(error.faults)
            continue
        parts.append(part.source)
        faults.absorb(part.faults)
        skipped += part.skipped
    if broken:
        broken.absorb(faults)
        raise InputError(broken.listed())
    source = replace(
        parts[0],
        annotations=concatenate([part.annotations for part in parts]),
        name=name,
        image_sizes={key: size for part in parts for key, size in part.image_sizes.items()},
        positions=join_positions([part.positions for part in parts if part.positions is not None]),
    )
    return Reading(source, faults, skipped)


def pair_sequences(
    truth: Source,
    detections: Source,
    known: frozenset[SequenceKey],
    file_of: Callable[[SequenceKey], str],
) -> PairReading:
    """Compare the files of detections with the sequences of the truth.

    Args:
        truth: The truth.
        detections: The detections.
        known: Sequences that detections may belong to.
        file_of: Name of the file of a sequence of detections, for error messages.
    """
    faults = FaultList()
    table = detections.annotations.sequences
    unknown = frozenset(table) - known
    expected = "a sequence of the truth or of the manifest"
    for key, advice in with_near_names(unknown, known):
        found = f"sequence {sequence_name(key)}"
        faults.add(Fault(found, expected, source=file_of(key), advice=advice))
    missing = sorted({*truth.annotations.sequences} - {*table})
    if missing:
        names = listed_names([sequence_name(key) for key in missing])
        message = f"sequences without a detection file count as without detections: {names}"
        warning = ReportWarning("missing_detection_file", message, len(missing))
        detections = replace(detections, warnings=(*detections.warnings, warning))
    if unknown:
        strange = np.array([key in unknown for key in table], dtype=np.bool_)
        dropped = strange[detections.annotations.frame_sequences]
        detections = detections.without_frames(dropped, unknown)
    return PairReading(detections, faults, len(unknown))


def pair_text_files(
    truth: Source, detections: Source, known: frozenset[SequenceKey]
) -> PairReading:
    """The same for text files; a single file belongs to a single sequence, whatever their names."""
    only = truth.annotations.sequences
    found = detections.annotations
    alone = detections.positions is not None and detections.positions.sources == (detections.name,)
    if alone and len(only) == 1 and len(found.sequences) == 1:
        renamed = replace(found, sequences=only)
        return PairReading(replace(detections, annotations=renamed), FaultList())
    return pair_sequences(
        truth, detections, known, lambda key: str(Path(detections.name, f"{key.sequence}.txt"))
    )


def to_reading(
    rows: CsvRows,
    checks: RowChecks,
    to_columns: Callable[[RowTable], tuple[RowColumns, RowTable]],
    name: str,
    format_name: str,
) -> Reading:
    """Turn the valid rows of files into a source.

    Args:
        rows: The rows.
        checks: Checks of their table.
        to_columns: Makes columns of the valid rows, and a table with the place of each.
        name: Name of the source.
        format_name: Name of the format.
    """
    rows.faults.absorb(checks.faults)
    annotations, positions = group_rows(*to_columns(rows.table.without(checks.faulty)))
    skipped = rows.skipped + int(checks.faulty.sum())
    return Reading(Source(annotations, name, format_name, positions), rows.faults, skipped)


def read_blank_separated(
    files: Collection[InputPath],
    expected: str,
    limits: ReadLimits,
    columns: Sequence[str],
    kinds: Mapping[str, Kind],
) -> CsvRows:
    """Read files whose columns are separated by blanks.

    Args:
        files: The files.
        expected: What each should be, for error messages.
        limits: Limits of their size.
        columns: Names of the columns; the last one may be missing.
        kinds: Kinds of the columns that are read.

    Raises:
        InputError: If a file cannot be read at all; with every fault.
    """
    texts = read_texts(files, expected, limits, partial(normalised_rows, blanks=True))
    first = next(filter(None, (first_row(text)[1] for text in texts)), b"")
    if first.count(b",") + 1 != len(columns):
        columns = columns[:-1]
    return read_plain_files(files, texts, columns, [kinds.get(name) for name in columns])


def read_texts(
    files: Collection[InputPath],
    expected: str,
    limits: ReadLimits,
    to_rows: Callable[[bytes, str], bytes] = normalised_rows,
) -> list[bytes]:
    """Read the rows of files.

    Args:
        files: The files.
        expected: What each should be, for error messages.
        limits: Limits of their size.
        to_rows: Returns the rows of a file from its content and name, for `read_plain_files`.

    Raises:
        InputError: If a file cannot be read at all; with every fault.
    """
    texts, faults = [], FaultList()
    for path in files:
        try:
            texts.append(to_rows(read_bytes(path, expected, limits), str(path)))
        except InputError as error:
            faults.extend(error.faults)
    if faults:
        raise InputError(faults.listed())
    return texts


def read_plain_files(
    files: Iterable[InputPath | str],
    texts: Sequence[bytes],
    header: Sequence[str],
    kinds: Sequence[Kind | None],
) -> CsvRows:
    """Read the rows of files as one table.

    Args:
        files: The files, or their names.
        texts: Their rows, as `vidscore_evaluators.formats._csv.normalised_rows` returns them.
        header: Names of the columns.
        kinds: Kind of each column; None to skip a column.

    Returns:
        The rows; each row and fault refers to its own file and line.
    """
    names, quoted = tuple(map(str, files)), FaultList()
    plain = [_without_quotes(name, text, quoted) for name, text in zip(names, texts, strict=True)]
    lines = np.array([line_count(text) for text in plain], dtype=np.int64)
    first = np.cumsum(lines) - lines + 1
    rows = read_columns(CsvFile("", tuple(header), b"".join(plain), 0, first_line=1), kinds)

    def place(fault: Fault) -> Fault:
        file = _file_of(np.array([fault.line or 1]), first)[0]
        return replace(fault, source=names[file], line=int((fault.line or 1) - first[file] + 1))

    faults = rows.faults.relocated(place)
    faults.absorb(quoted)
    owners = _file_of(rows.table.positions, first)
    table = replace(
        rows.table,
        sources=names,
        source_of_row=owners,
        positions=rows.table.positions - first[owners] + 1,
    )
    return CsvRows(table, faults, rows.skipped + quoted.total)


def first_row(text: bytes) -> tuple[int, bytes]:
    """Line number and content of the first row; the content is empty if there is no row."""
    for number, line in enumerate(io.BytesIO(text), start=1):
        if line.strip(b" \t,\n"):
            return number, line.rstrip(b"\n")
    return 1, b""


def _file_of(lines: IntArray, first: IntArray) -> IntArray:
    # Files without lines start where the next one does, and contain no line.
    owners: IntArray = np.searchsorted(first, lines, side="right") - 1
    return owners


def _without_quotes(name: str, text: bytes, faults: FaultList) -> bytes:
    """Blank out lines with quotation marks: an unpaired one would swallow the lines after it."""
    if b'"' not in text:
        return text
    lines = text.split(b"\n")
    for index, line in enumerate(lines):
        if b'"' in line:
            faults.add(Fault("a quotation mark", "none in a row", source=name, line=index + 1))
            lines[index] = b""
    return b"\n".join(lines)
