"""File formats: recognised by content or chosen by name, read with every fault listed.

`read_source` reads one side, `read_pair` both and checks them against each other. To add a format:
write a module with a `vidscore_evaluators.formats._format.Format`, and name it in `_MODULES`, here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from msgspec import Struct
from msgspec.structs import asdict, replace

from vidscore_evaluators.annotations import SequenceKey, Side
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats._files import (
    STANDARD_INPUT,
    InputPath,
    are_worth_a_thread_each,
    entrances,
    find_index,
    is_folder,
    is_plain,
    opened,
    read_head,
)
from vidscore_evaluators.formats._format import Format
from vidscore_evaluators.formats._heads import (
    ARROW,
    COCO,
    COCO_HEAD,
    DATA,
    GENERIC,
    JSON_LINES,
    JSON_LINES_HEAD,
    PARQUET,
    SPOTGEO,
    SPOTGEO_HEAD,
    columns_of_folder,
    is_empty_array,
)
from vidscore_evaluators.formats._tree_paths import TreePath
from vidscore_evaluators.formats.source import (
    FaultList,
    Pair,
    Reading,
    ReadLimits,
    ReadOptions,
    Source,
    Wanted,
    same_data_warnings,
    with_skipped,
)
from vidscore_evaluators.names import name_advice
from vidscore_evaluators.remote_files import DataPath, RemotePath
from vidscore_evaluators.runtime import side_by_side, thread_count

__all__ = [
    "AUTO",
    "FORMATS",
    "OnError",
    "Pair",
    "detect_format",
    "find_format",
    "index_folder",
    "read_pair",
    "read_source",
    "reads_by_sequence",
]

AUTO = "auto"

_MODULES: Mapping[str, str] = MappingProxyType(
    {
        COCO: "coco",
        SPOTGEO: "spotgeo",
        "pascal-voc": "voc",
        "dota": "dota",
        "visdrone-det": "visdrone_det",
        "visdrone-mot": "visdrone_mot",
        "mots": "mots",
        "motchallenge": "mot",
        "neovision2-csv": "neovision2",
        "kitti-tracking": "kitti",
        "yolo-text": "yolo",
        GENERIC: "generic",
        JSON_LINES: "json_lines",
        PARQUET: "parquet",
        ARROW: "arrow",
    }
)
"""Module of each format by name."""

_HEADS: Mapping[str, re.Pattern[bytes]] = MappingProxyType(
    {JSON_LINES: JSON_LINES_HEAD, COCO: COCO_HEAD, SPOTGEO: SPOTGEO_HEAD}
)
"""Formats that are recognised by their first bytes; they are tried before modules are imported."""


class _Formats(Mapping[str, Format]):
    """Every format by its name; its module is imported at the first lookup."""

    def __getitem__(self, name: str) -> Format:
        found: Format = import_module(f"{__name__}.{_MODULES[name]}").FORMAT
        return found

    def __contains__(self, name: object) -> bool:
        return name in _MODULES

    def __iter__(self) -> Iterator[str]:
        return iter(_MODULES)

    def __len__(self) -> int:
        return len(_MODULES)


FORMATS: Mapping[str, Format] = _Formats()
"""Every format by name. Content is matched in this order, but with JSON lines first."""

_COLUMNS = (PARQUET, ARROW)
"""Formats of which a single file can be searched for sequences."""

_MIXING = (GENERIC, JSON_LINES, *_COLUMNS)
"""Formats that can be combined with any format of the other side."""

OnError = Literal["refuse", "skip"]


def read_source(
    path: DataPath,
    side: Side,
    *,
    format_name: str = AUTO,
    on_error: OnError = "refuse",
    limits: ReadLimits = ReadLimits(),
    image_size: tuple[int, int] | None = None,
    wanted: Wanted | None = None,
    scaled: bool = False,
) -> Source:
    """Read one side.

    Args:
        path: File or folder, also in zip or gzip or remote, a pipe, or ``-`` for standard input.
        side: The side; some formats allow in the truth what detections must not have.
        format_name: A name of `FORMATS`, or ``auto`` to detect it by content.
        on_error: ``refuse`` to raise an error if a row or entry is broken, ``skip`` to leave it out
            with the warning ``skipped_rows``.
        limits: Limits of size.
        image_size: Width and height of every image in pixels, for formats without them.
        wanted: Sequences to read; others are skipped if `reads_by_sequence` is true.
        scaled: Whether the caller maps confidences to numbers from 0 to 1.

    Raises:
        InputError: With every fault, each with file, line and column or entry.
    """
    options = ReadOptions(**asdict(limits), image_size=image_size, wanted=wanted, scaled=scaled)
    reading = _read(path, _HowToRead(side, format_name, on_error), options)
    if reading.faults:
        raise InputError(reading.faults.listed())
    return reading.source


def _read(path: DataPath, how: _HowToRead, options: ReadOptions) -> Reading:
    """The side; faults of rows and entries are included if these are to be refused."""
    with opened(path, options) as place:
        index = find_index(place) if how.format_name in (AUTO, *_MIXING) else None
        if index is None:
            reading = how.read(place, options)
        else:
            from vidscore_evaluators.formats._sequence_index import (  # noqa: PLC0415 - few have one
                read_index,
                read_indexed,
            )

            found = read_index(index.parent, index, options)
            reading = read_indexed(found, options, how.read_of_many)
    source = reading.source
    if options.wanted is not None and reading.listing is not None:
        source = source.only_wanted(options.wanted, reading.listing)
    if options.image_size is not None and not source.image_sizes:
        sizes = dict.fromkeys(source.annotations.sequences, options.image_size)
        source = replace(source, image_sizes=sizes)
    return replace(reading, source=with_skipped(source, reading.skipped))


class _HowToRead(Struct, frozen=True):
    """How files of a side are read, by the arguments of `read_source`."""

    side: Side
    format_name: str
    on_error: OnError
    beside: str | None = None

    def read(self, place: InputPath, options: ReadOptions) -> Reading:
        """Read a side; faults of rows and entries are included if these are to be refused."""
        inner, known, is_guess = _locate(place, self.format_name, self.side, self.beside)
        try:
            reading = known.read(inner, self.side, options)
        except InputError as error:
            guess = self._guess(inner, known, is_guess=is_guess)
            if not guess:
                raise
            first, *others = error.faults
            raise InputError([_advised(first, guess), *others]) from None
        if not reading.faults or self.on_error == "skip":
            return replace(reading, faults=FaultList())
        guess = self._guess(inner, known, is_guess=is_guess)
        first = reading.faults.listed()[0]
        advised = {id(first): _advised(first, guess)}
        faults = reading.faults.relocated(lambda fault: advised.get(id(fault), fault))
        return replace(reading, faults=faults)

    def _guess(self, place: InputPath, known: Format, *, is_guess: bool) -> str:
        """Advice about the format of a file that cannot be read; empty if the format is certain."""
        if is_guess:
            return f"it looks most like {known.name}; --input-format chooses another format"
        name = None if self.format_name == AUTO else _recognise(place, self.side, self.beside)
        if name is None and self.format_name != AUTO:
            from vidscore_evaluators.formats._unknown import advice_on  # noqa: PLC0415

            return advice_on(place, lambda entry: _name_within(known, entry))
        if name in (None, known.name):
            return ""
        either = f"read it as that (--input-format {name}), or convert it (vidscore convert)"
        return f"it was read as {known.name} and looks like {name}: {either}"

    def read_of_many(self, place: InputPath, options: ReadOptions) -> Reading:
        """Read one of many files that each name their sequences."""
        reading = self.read(place, options)
        if reading.faults:
            raise InputError(reading.faults.listed())
        if reading.source.format not in _MIXING:
            found = f"a file of {reading.source.format} in a folder with an index"
            raise InputError([Fault(found, ", ".join(_MIXING), source=str(place))])
        return reading


def _advised(fault: Fault, advice: str) -> Fault:
    """The fault with further advice, if there is any."""
    return replace(fault, advice="; ".join(filter(None, (fault.advice, advice))) or None)


def index_folder(folder: DataPath, side: Side, *, format_name: str = AUTO) -> bytes:
    """Index of a folder's files: the sequences that each of them has.

    Args:
        folder: A folder of files that each name their sequences.
        side: The side that they belong to.
        format_name: As for `read_source`; for all files.

    Raises:
        InputError: With every fault: an unreadable file, a sequence that occurs in two files.
    """
    from vidscore_evaluators.formats._sequence_index import (  # noqa: PLC0415 - few make one
        files_to_index,
        write_index,
    )

    options = ReadOptions(wanted=lambda _key: False)
    how = _HowToRead(side, format_name, "refuse")
    sequences: dict[str, tuple[SequenceKey, ...]] = {}
    faults: list[Fault] = []
    with opened(folder, options) as place:
        for name in files_to_index(place):
            try:
                # For some formats, this reads only the names.
                reading = how.read_of_many(place / name, options)
            except InputError as error:
                faults.extend(error.faults)
                continue
            found = reading.listing or reading.source.annotations
            sequences[name] = tuple(found.sequences)
    if not sequences and not faults:
        faults.append(Fault("an empty folder", "files by sequence", source=str(folder)))
    if faults:
        raise InputError(faults)
    return write_index(sequences)


def read_pair(  # noqa: PLR0913 - one argument for each fact that files leave out
    truth: DataPath | Source,
    detections: DataPath | Source,
    *,
    format_name: str = AUTO,
    on_error: OnError = "refuse",
    known: frozenset[SequenceKey] = frozenset(),
    limits: ReadLimits = ReadLimits(),
    image_size: tuple[int, int] | None = None,
    wanted: Wanted | None = None,
    scaled: bool = False,
) -> Pair:
    """Read both sides and check the detections against the truth, as their format requires.

    Args:
        truth: Path of the truth, or its source.
        detections: Path of the detections, or their source.
        format_name: As for `read_source`; for both sides.
        on_error: As for `read_source`.
        known: Sequences that detections may name besides those of the truth.
        limits: Limits of size.
        image_size: As for `read_source`; for both sides.
        wanted: As for `read_source`; for both sides.
        scaled: As for `read_source`.

    Raises:
        InputError: With every fault of both sides.
    """
    if truth == detections == STANDARD_INPUT:
        raise InputError([Fault("standard input for both sides", "one of them as a file")])
    options = ReadOptions(
        **asdict(limits), image_size=image_size, wanted=wanted, paired=True, scaled=scaled
    )
    how = _HowToRead(Side.TRUTH, format_name, on_error)
    of_truth, of_detections = _both_sides(how, options, truth, detections)
    left, right, faults = of_truth.source, of_detections.source, of_detections.faults
    if len({left.format, right.format} - {None, *_MIXING}) > 1:
        *most, last = _MIXING
        expected = f"{left.format}, as the truth is, or {', '.join(most)} or {last}"
        advice = "convert one side (vidscore convert)"
        faults.add(Fault(str(right.format), expected, source=right.name, advice=advice))
    elif right.format is not None and not of_truth.faults:
        # Readable detections are checked against the truth if all of it can be read.
        known = known.union(left.annotations.sequences)
        paired = FORMATS[right.format].pair(left, right, known)
        right = with_skipped(paired.detections, paired.skipped)
        if on_error != "skip":
            faults.absorb(paired.faults)
    if of_truth.faults or faults:
        raise InputError([*of_truth.faults.listed(), *faults.listed()])
    if _is_same_path(truth, detections):
        right = replace(right, warnings=(*right.warnings, *same_data_warnings(left, right)))
    return Pair(left, right)


def _is_same_path(first: DataPath | Source, second: DataPath | Source) -> bool:
    if isinstance(first, Path) and isinstance(second, Path) and first.exists() and second.exists():
        return first.samefile(second)
    return not isinstance(first, Source) and first == second


def _both_sides(
    how: _HowToRead,
    options: ReadOptions,
    truth: DataPath | Source,
    detections: DataPath | Source,
) -> tuple[Reading, Reading]:
    """Both sides; if one cannot be read, the other is still read, for its faults."""

    def attempt(given: DataPath | Source, side: Side, beside: str | None) -> Reading | InputError:
        if isinstance(given, Source):
            return Reading(given)
        try:
            return _read(given, replace(how, side=side, beside=beside), options)
        except InputError as error:
            return error

    left: Reading | InputError
    if are_worth_a_thread_each(truth, detections) and thread_count() > 1:
        # The format beside a file only matters if the file is empty.
        left, right = side_by_side(
            lambda: attempt(truth, Side.TRUTH, None),
            lambda: attempt(detections, Side.DETECTIONS, None),
        )
    else:
        left = attempt(truth, Side.TRUTH, None)
        beside = left.source.format if isinstance(left, Reading) else None
        right = attempt(detections, Side.DETECTIONS, beside)
    if isinstance(left, InputError) or isinstance(right, InputError):
        sides = (left, right)
        found = (one.faults.listed() if isinstance(one, Reading) else one.faults for one in sides)
        raise InputError([fault for faults in found for fault in faults])
    return left, right


def reads_by_sequence(path: DataPath, format_name: str = AUTO) -> bool:
    """Whether single sequences of a path can be found without reading the others.

    Args:
        path: File or folder of a side.
        format_name: As for `read_source`.

    Raises:
        InputError: If nothing of a known format is there.
    """
    named = None if format_name == AUTO else find_format(format_name)
    if named is not None and not named.by_sequence and named.name not in _MIXING:
        return False
    place: InputPath
    if isinstance(path, RemotePath):
        with opened(path, ReadLimits()) as place:
            return _reads_by_sequence(place, named)
    return is_plain(path) and _reads_by_sequence(path, named)


def _reads_by_sequence(path: InputPath, named: Format | None) -> bool:
    in_archive = isinstance(path, TreePath) and path.is_in_archive
    if (named is None or named.name in _MIXING) and find_index(path) is not None:
        return not in_archive
    if named is not None and not named.by_sequence:
        return False
    known = named or detect_format(path)
    return known.by_sequence and not in_archive and (path.is_dir() or known.name in _COLUMNS)


def find_format(name: str) -> Format:
    """The format with a name.

    Raises:
        InputError: If there is none.
    """
    if name in FORMATS:
        return FORMATS[name]
    advice = name_advice(name, (AUTO, *FORMATS))
    raise InputError([Fault(f"no format is called {name!r}", "", field="format", advice=advice)])


def detect_format(path: InputPath) -> Format:
    """The format of a file or folder, by its content.

    Raises:
        InputError: If there is nothing there, or nothing of a known format.
    """
    return _locate(path, AUTO)[1]


def _locate(
    path: InputPath, format_name: str, side: Side | None = None, beside: str | None = None
) -> tuple[InputPath, Format, bool]:
    """Path of the data, its format, and whether this is only the most similar format.

    Args:
        path: File or folder; if an archive, its only entry may be meant.
        format_name: A name of `FORMATS`, or ``auto`` to detect it by content.
        side: The side, if known.
        beside: Format of the truth that detections belong to, if known.

    Raises:
        InputError: If there is no such format, nothing there, or nothing of a known format; the
            text says what is there.
    """
    candidates = entrances(path)
    if format_name != AUTO:
        chosen = find_format(format_name)
        if len(candidates) == 1:
            return path, chosen, False
        fitting = (place for place in candidates if _is_of(chosen, place, _head(place)))
        return next(fitting, candidates[-1]), chosen, False
    for place in candidates:
        name = _recognise(place, side, beside)
        if name is not None:
            return place, FORMATS[name], False
    # This module knows several formats; input of a known one needs no advice.
    from vidscore_evaluators.formats._unknown import nearest_format  # noqa: PLC0415

    last = candidates[-1]
    return last, FORMATS[nearest_format(last, tuple(FORMATS), _recognise)], True


def _recognise(path: InputPath, side: Side | None = None, beside: str | None = None) -> str | None:
    """Name of the format of a file or folder, by its content."""
    if is_folder(path) and (name := columns_of_folder(path)):
        return name  # an archive, which is too large to be tried by every format
    head = _head(path)
    if side is Side.DETECTIONS and beside != SPOTGEO and is_empty_array(head):
        return COCO  # results without detections; spotGEO lists every frame
    # The first key identifies a JSON line; a label may be any word that COCO uses.
    by_head = (name for name, pattern in _HEADS.items() if pattern.match(head))
    others = (name for name in FORMATS if name not in _HEADS and FORMATS[name].matches(path, head))
    return next(by_head, None) or next(others, None)


def _is_of(known: Format, path: InputPath, head: bytes) -> bool:
    pattern = _HEADS.get(known.name)
    return known.matches(path, head) if pattern is None else bool(pattern.match(head))


def _name_within(known: Format, entry: InputPath) -> str | None:
    """The format's name if an entry of a folder may be meant by the folder."""
    whole = is_folder(entry) or known.name in _HEADS  # a file of rows may be one of many
    return known.name if whole and _is_of(known, entry, _head(entry)) else None


def _head(path: InputPath) -> bytes:
    return b"" if is_folder(path) else read_head(path, DATA)
