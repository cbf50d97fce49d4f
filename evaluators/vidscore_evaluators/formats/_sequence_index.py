"""Index of sequences: the sequences that each file of a folder has, so that no other file is read.

It is a CSV file in the folder, with the columns ``file``, ``sequence`` and, if needed, ``domain``.
Its entries are checked against each file that is read; a file that it does not name is found by
comparison with the folder.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from msgspec import Struct, field, structs

from vidscore_evaluators.annotations import SequenceKey, concatenate, sequence_name, with_arity
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats._files import (
    SEQUENCE_INDEX,
    InputPath,
    is_folder,
    read_bytes,
    require_folder,
    visible_entries,
)
from vidscore_evaluators.formats._format import frame_order, write_csv
from vidscore_evaluators.formats._sequence_files import check_count, list_files
from vidscore_evaluators.formats._table import EXPECTED_STRING, parse_string
from vidscore_evaluators.formats._times import TIMES_GO_BACK, time_warnings
from vidscore_evaluators.formats._tree_paths import MOST_FOLDERS_DEEP, TreePath
from vidscore_evaluators.formats.source import (
    FaultList,
    Reading,
    ReadOptions,
    Source,
    join_positions,
    listed_names,
    show_text,
)
from vidscore_evaluators.names import is_formula
from vidscore_evaluators.report import ReportWarning

COLUMNS = ("file", "sequence", "domain")
_NEEDED = COLUMNS[:2]
_ANEW = "vidscore index rewrites the list"

ReadFile = Callable[[InputPath, ReadOptions], Reading]
"""Reads one file, of any format."""


class SequenceIndex(Struct, frozen=True):
    """The contents of an index.

    Attributes:
        root: The folder.
        place: The index itself.
        files: For each file, sorted by name, its sequences and the line of each.
    """

    root: InputPath
    place: InputPath
    files: Mapping[str, Mapping[SequenceKey, int]]

    @property
    def sequences(self) -> list[SequenceKey]:
        """All sequences, in order."""
        return sorted(key for keys in self.files.values() for key in keys)

    def path_of(self, name: str) -> InputPath:
        """The path of a file."""
        return self.root / name


def read_index(root: InputPath, place: InputPath, options: ReadOptions) -> SequenceIndex:
    """Read an index, and check it against the names of the files.

    Raises:
        InputError: With every fault, each with line and column.
    """
    data = read_bytes(place, "an index of sequences", options)
    lines = _Lines(place)
    try:
        lines.read(csv.reader(io.StringIO(data.decode("utf-8-sig")), strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        found = f"invalid CSV in UTF-8 ({str(error)[:100]})"
        raise InputError([Fault(found, "lines of CSV", source=str(place))]) from None
    faults = lines.faults
    there = dict.fromkeys(names_below(root))
    for name, keys in lines.files.items():
        if name not in there:
            fault = Fault(show_text(name), "a file of the folder", str(place), advice=_ANEW)
            faults.append(
                structs.replace(fault, line=next(iter(keys.values())), field="column file")
            )
    for name in there.keys() - lines.files.keys():
        expected = f"in a line of {SEQUENCE_INDEX}, as every file of the folder"
        faults.append(Fault("a file that no line names", expected, str(root / name), advice=_ANEW))
    if faults:
        raise InputError(sorted(faults, key=lambda fault: (fault.source or "", fault.line or 0)))
    check_count(len(lines.files), root, "files by sequence", options)
    return SequenceIndex(root, place, dict(sorted(lines.files.items())))


def files_to_index(folder: InputPath) -> Iterator[str]:
    """Paths of the files of a folder into which an index can be written.

    Raises:
        InputError: If it is not such a folder.
    """
    require_folder(folder, "a folder of files")
    if isinstance(folder, TreePath) and folder.is_in_archive:
        raise InputError([Fault("an archive", "a folder of files", source=str(folder))])
    return names_below(folder)


def names_below(folder: InputPath, above: str = "", within: tuple[str, ...] = ()) -> Iterator[str]:
    """Paths of all files below a folder, without hidden ones and those that begin with ``_``.

    Args:
        folder: The folder.
        above: Its path below the first one, with a slash at the end.
        within: The real paths of the folders that it is in.

    Raises:
        InputError: If a link leads back to one of these, or the folder is nested too deep.
    """
    real = os.path.realpath(folder) if isinstance(folder, Path) else str(folder)
    if real in within:
        raise InputError([Fault("a link to a folder that it is in", "", source=str(folder))])
    if len(within) > MOST_FOLDERS_DEEP:
        found = f"a folder more than {MOST_FOLDERS_DEEP} folders deep"
        raise InputError([Fault(found, "", source=f"{str(folder)[:80]}...")])
    for entry in visible_entries(folder):
        if entry.name.startswith("_"):
            continue
        if is_folder(entry):
            yield from names_below(entry, f"{above}{entry.name}/", (*within, real))
        else:
            yield f"{above}{entry.name}"


def write_index(sequences: Mapping[str, Sequence[SequenceKey]]) -> bytes:
    """The index for the given sequences of files.

    Raises:
        InputError: If a sequence is in two files, or a name would run as a formula in spreadsheets.
    """
    owners: dict[SequenceKey, str] = {}
    named = {*sequences, *(text for keys in sequences.values() for key in keys for text in key)}
    expected = "a name that no spreadsheet takes for a formula"
    faults = [Fault(show_text(name), expected) for name in sorted(named) if is_formula(name)]
    for name, keys in sequences.items():
        for key in keys:
            owner = owners.setdefault(key, name)
            if owner != name:
                found = f"sequence {sequence_name(key)}"
                faults.append(Fault(found, f"in one file; it is in {owner} too", source=name))
    if faults:
        raise InputError(faults)
    columns = COLUMNS if any(key.domain for key in owners) else _NEEDED
    rows = ((owner, key.sequence, key.domain)[: len(columns)] for key, owner in owners.items())
    return write_csv(columns, sorted(rows))


class _Lines(Struct):
    """Reads the lines of an index."""

    place: InputPath
    files: dict[str, dict[SequenceKey, int]] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    _owners: dict[SequenceKey, int] = field(default_factory=dict)

    def read(self, lines: Iterator[list[str]]) -> None:
        header = [name.strip() for name in next(lines, [])]
        if set(header) - set(COLUMNS) or len({*header}) < len(header) or set(_NEEDED) - set(header):
            expected = f"columns {', '.join(_NEEDED)} and perhaps {COLUMNS[2]}"
            self._refuse(", ".join(header)[:80] or "an empty file", expected, 1, None)
            return
        for number, cells in enumerate(lines, start=2):
            if not any(cells):
                continue
            if len(cells) != len(header):
                self._refuse(f"{len(cells)} fields", f"{len(header)}, as the header", number, None)
                continue
            self._take(dict(zip(header, cells, strict=True)), number)

    def _take(self, row: Mapping[str, str], line: int) -> None:
        parts = PurePosixPath(row["file"]).parts
        if not parts or parts[0] == "/" or ".." in parts:
            self._refuse(show_text(row["file"]), "a path below the folder", line, "file")
            return
        texts = {name: parse_string(row.get(name, "")) for name in COLUMNS[1:]}
        for name, text in texts.items():
            if text is None or (name in _NEEDED and not text):
                self._refuse(show_text(row[name]), EXPECTED_STRING, line, name)
                return
        key = SequenceKey(texts["domain"] or "", texts["sequence"] or "")
        first = self._owners.setdefault(key, line)
        if first != line:
            found = f"sequence {sequence_name(key)}"
            self._refuse(found, f"in one line; it is in line {first} too", line, "sequence")
            return
        self.files.setdefault("/".join(parts), {})[key] = line

    def _refuse(self, found: str, expected: str, line: int, column: str | None) -> None:
        named = None if column is None else f"column {column}"
        self.faults.append(Fault(found, expected, str(self.place), line=line, field=named))


def read_indexed(index: SequenceIndex, options: ReadOptions, read_file: ReadFile) -> Reading:
    """Read the files of an index that have wanted sequences, and join them.

    Args:
        index: The index.
        options: Options of reading, with the wanted sequences.
        read_file: Reads one file.

    Raises:
        InputError: With every fault: of a file, of files that differ in shape, and of
            contradictions to the index.
    """
    wanted, names = options.wanted, list(index.files)
    if wanted is not None:
        names = [name for name in names if any(map(wanted, index.files[name]))] or names[:1]
    readings: list[Reading] = []
    broken: list[Fault] = []
    for name in names:
        try:
            reading = read_file(index.path_of(name), options)
            broken.extend(_lies(index, name, reading))
            broken.extend(_differences(readings, reading))
        except InputError as error:
            broken.extend(error.faults)
            continue
        readings.append(reading)
    if broken:
        raise InputError(broken)
    faults = FaultList()
    for reading in readings:
        faults.absorb(reading.faults)
    listing = None
    if wanted is not None:
        files = ((name, index.path_of(name)) for name in (SEQUENCE_INDEX, *index.files))
        listing = list_files(index.sequences, files)
    source = _joined([reading.source for reading in readings], index)
    return Reading(source, faults, sum(reading.skipped for reading in readings), listing)


def _lies(index: SequenceIndex, name: str, reading: Reading) -> Iterator[Fault]:
    """Contradictions between an index and a file."""
    said = index.files[name]
    found = set(reading.source.annotations.sequences)
    if reading.listing is not None:
        found.update(reading.listing.sequences)
    for key in sorted(found - said.keys()):
        known = listed_names([sequence_name(one) for one in said])
        expected = f"{known}, as {index.place} says"
        source = str(index.path_of(name))
        yield Fault(f"sequence {sequence_name(key)}", expected, source, advice=_ANEW)
    for key in sorted(said.keys() - found):
        if reading.faults:  # the missing rows may be among the unreadable ones
            return
        fault = Fault(
            f"sequence {sequence_name(key)}, which {name} does not contain",
            "sequences that the file has",
            str(index.place),
            field="column sequence",
            advice=_ANEW,
        )
        yield structs.replace(fault, line=said[key])


def _differences(before: Sequence[Reading], reading: Reading) -> Iterator[Fault]:
    """Differences in shape from the first file; JSON lines have a shape only with objects."""
    told = [one for one in (*before, reading) if one.source.tells_shape]
    if reading in told[1:]:
        here, there = reading.source, told[0].source
        shapes = [
            {
                "format": side.format,
                "coordinates": side.annotations.arity,
                "columns": ", ".join(sorted(side.annotations.columns)),
                "masks": "" if side.annotations.masks is None else "those of all objects",
            }
            for side in (here, there)
        ]
        for what, value in shapes[0].items():
            if value != shapes[1][what]:
                expected = f"{shapes[1][what] or 'none'}, as {there.name} has"
                yield Fault(f"{what}: {value or 'none'}", expected, source=here.name)


def _joined(parts: Sequence[Source], index: SequenceIndex) -> Source:
    """The content of several files as one side, sorted by sequence and frame."""
    name = str(index.root)
    arity = next((part.annotations.arity for part in parts if part.tells_shape), None)
    whole = concatenate([with_arity(part.annotations, arity) for part in parts])
    order = frame_order(whole)
    annotations = whole.take_frames(order)
    table = tuple(sorted(annotations.sequences))
    annotations = annotations.with_tables(table, annotations.labels)
    positions = join_positions([part.positions for part in parts if part.positions is not None])
    positions = structs.replace(
        positions,
        source_of_frame=positions.source_of_frame[order],
        positions=positions.positions[order],
    )
    listed: dict[ReportWarning, None] = {}
    for part in parts:
        for warning in part.warnings:
            # Warnings about all files are given once, whichever files are read.
            if warning.code != TIMES_GO_BACK:
                said = warning.message.replace(part.name, name)
                listed[dataclasses.replace(warning, message=said)] = None
    return Source(
        annotations,
        name,
        parts[0].format,
        positions,
        (*listed, *time_warnings(annotations, name)),
        tells_shape=arity is not None,
    )
