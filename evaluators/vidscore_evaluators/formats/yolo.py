"""YOLO text: a file an image, a row an object, in parts of the image's width and height.

A row is ``class cx cy width height`` between blanks: the number of a class, from 0, and the centre
and size of a box divided by the image's width and height; in detections a confidence may come last.
``classes.txt`` in the given folder, or in one of its folders, names the classes, one a line.
The project's readings:

1. Files are ``<folder>/<name>.txt`` or ``<folder>/<sequence>/<name>.txt``. The digits at the end of
   a name are the number of its frame; a file without rows lists its frame. Where there are no
   folders within the folder, what is before the digits names the sequence, or `IMAGES` where
   there is nothing.
2. The size of the images is not in the files and must be given; it is one for all.
3. Boxes are not clipped to the image, whose first pixel's edge is at 0.
4. Without ``classes.txt`` classes go by their numbers; detections then take the names of a truth
   that has them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from vidscore_evaluators.annotations import NO_TRACK, SequenceKey, Side
from vidscore_evaluators.arrays import FloatArray, IntArray
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats.csv_columns import CsvRows, plain_rows
from vidscore_evaluators.formats.fault_list import FaultList, RowChecks, show_text
from vidscore_evaluators.formats.files import (
    is_file,
    is_folder,
    read_bytes,
    read_head,
    require_folder,
    visible_entries,
)
from vidscore_evaluators.formats.packed import InputPath
from vidscore_evaluators.formats.plain_rows import column_count, read_plain_files
from vidscore_evaluators.formats.row_frames import RowColumns, group_rows
from vidscore_evaluators.formats.sequence_files import check_files, pair_sequences
from vidscore_evaluators.formats.source import (
    IMAGES,
    Format,
    Numbering,
    PairReading,
    Reading,
    ReadLimits,
    ReadOptions,
    Source,
)
from vidscore_evaluators.formats.table import Kind, Table, TextColumn
from vidscore_evaluators.formats.texts import EXPECTED_TEXT, clean_text, read_number, read_whole
from vidscore_evaluators.validation import MAXIMUM_FRAME_NUMBER

NAME = "yolo-text"
CLASSES_FILE = "classes.txt"
"""Names of the classes, one a line, in the order of their numbers."""

COLUMNS = ("class", "cx", "cy", "width", "height", "confidence")
GREATEST_PART = 1e3
"""Greatest centre and size, in images; a larger one is surely in pixels of something vast."""

MOST_CLASSES = 100_000
_FILE = "a text file of YOLO rows"
_LAYOUT = "a folder of YOLO text files, named by frame"
_DIGITS = re.compile(r"(.*?)[-_. ]*([0-9]{1,16})")

Frames = Mapping[tuple[SequenceKey, int], InputPath]


def read(path: InputPath, side: Side, options: ReadOptions) -> Reading:
    """Read a folder.

    Raises:
        InputError: If there is no such folder, the size of its images is not given, or a file
            cannot be read at all.
    """
    require_folder(path, _LAYOUT)
    if options.image_size is None:
        expected = "the size of its images (--image-size, image_size)"
        raise InputError([Fault("boxes in parts of an image", expected, source=str(path))])
    frames = _find_files(path)
    check_files({key: file for (key, _), file in frames.items()}, path, _LAYOUT, options)
    if len(frames) > options.maximum_files:
        expected = f"at most maximum_files = {options.maximum_files}"
        raise InputError([Fault(f"{len(frames)} files", expected, source=str(path))])
    names = _class_names(path, options)
    rows = _read_files(list(frames.values()), options)
    checks = _check_rows(rows.table, side, names)
    rows.faults.absorb(checks.faults)
    good = rows.table.without(checks.faulty)
    annotations, places = group_rows(*_with_files(good, frames, names, side, options.image_size))
    source = Source(annotations, str(path), NAME, places)
    if names:
        source = replace(source, numbering=Numbering(labels=dict(enumerate(names))))
    return Reading(source, rows.faults, rows.skipped + int(checks.faulty.sum()))


def pair(truth: Source, detections: Source, known: frozenset[SequenceKey]) -> PairReading:
    """Hold detections to the sequences of the truth, and name their classes as it does."""
    numbering = truth.numbering
    if truth.format == NAME and numbering is not None and detections.numbering is None:
        found = detections.annotations
        names = [numbering.labels.get(int(label), label) for label in found.labels if label]
        if len(set(names)) == len(found.labels):
            detections = replace(detections, annotations=replace(found, labels=tuple(names)))
    return pair_sequences(truth, detections, known, lambda key: f"{detections.name}/{key.sequence}")


def matches(path: InputPath, head: bytes) -> bool:
    """Whether a folder holds text files of this format's rows."""
    del head
    if not is_folder(path):
        return False
    folders = [path, *_folders(path)]
    heads = (read_head(file, _FILE) for folder in folders for file in _text_files(folder))
    first = next((head for head in heads if head.strip()), b"")
    lines = first.decode("utf-8-sig", errors="replace").splitlines() or [""]
    fields = lines[0].split()
    return (
        len(COLUMNS) - 1 <= len(fields) <= len(COLUMNS)
        and read_whole(fields[0]) is not None
        and all(read_number(field) is not None for field in fields)
    )


# --- files -----------------------------------------------------------------------------------


def _find_files(path: InputPath) -> Frames:
    """The file of each frame, in order."""
    folders = _folders(path)
    frames: dict[tuple[SequenceKey, int], InputPath] = {}
    faults = []
    for folder in folders or [path]:
        for file in _text_files(folder):
            match = _DIGITS.fullmatch(file.stem)
            number = int(match[2]) if match else -1
            if match is None or number > MAXIMUM_FRAME_NUMBER:
                expected = "a name that ends with the number of a frame"
                faults.append(Fault(repr(file.name), expected, source=str(folder)))
                continue
            sequence = folder.name if folders else match[1] or IMAGES
            key = SequenceKey("", sequence), number
            if key in frames:
                found = f"{file.name!r}, frame {number} of {sequence} again"
                faults.append(Fault(found, "each frame once", source=str(folder)))
            frames[key] = file
    if faults:
        raise InputError(faults)
    return dict(sorted(frames.items()))


def _folders(path: InputPath) -> list[InputPath]:
    return [entry for entry in visible_entries(path) if is_folder(entry) and _text_files(entry)]


def _text_files(folder: InputPath) -> list[InputPath]:
    return [
        entry
        for entry in visible_entries(folder)
        if entry.suffix == ".txt" and entry.name != CLASSES_FILE
    ]


def _class_names(path: InputPath, limits: ReadLimits) -> tuple[str, ...]:
    """Names of the classes, by number; empty where no file says them."""
    candidates = [folder / CLASSES_FILE for folder in (path, *_folders(path))]
    file = next((file for file in candidates if is_file(file)), None)
    if file is None:
        return ()
    text = read_bytes(file, "a file of class names", limits).decode(errors="surrogateescape")
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").rstrip("\n").split("\n")
    faults = [
        Fault(show_text(line), EXPECTED_TEXT, source=str(file), line=number)
        for number, line in enumerate(lines, start=1)
        if not clean_text(line)
    ]
    names = [line.strip() for line in lines]
    first = {name: number for number, name in reversed(list(enumerate(names, start=1)))}
    faults += [
        Fault(f"{name!r} again", "each name once", source=str(file), line=number)
        for number, name in enumerate(names, start=1)
        if first[name] != number
    ]
    if faults:
        raise InputError(faults)
    return tuple(names)


def _read_files(files: list[InputPath], limits: ReadLimits) -> CsvRows:
    broken = FaultList()
    texts = []
    for path in files:
        try:
            texts.append(plain_rows(read_bytes(path, _FILE, limits), str(path), blanks=True))
        except InputError as error:
            broken.extend(error.faults)
    if broken:
        raise InputError(broken.listed())
    columns = COLUMNS if column_count(texts) == len(COLUMNS) else COLUMNS[:-1]
    kinds: list[Kind | None] = [Kind.WHOLE, *[Kind.NUMBER] * (len(columns) - 1)]
    return read_plain_files([str(path) for path in files], texts, columns, kinds)


# --- rows ------------------------------------------------------------------------------------


def _check_rows(table: Table, side: Side, names: tuple[str, ...]) -> RowChecks:
    checks = RowChecks(table)
    classes = table.wholes["class"]
    most = len(names) or MOST_CLASSES
    expected = f"the number of a class, 0 to {most - 1}"
    checks.refuse((classes < 0) | (classes >= most), "class", classes, expected)
    for name in ("cx", "cy", "width", "height"):
        column = table.numbers[name]
        least = 0.0 if name in ("width", "height") else -GREATEST_PART
        fits = (column >= least) & (column <= GREATEST_PART)
        expected = f"a part of the image, {least:g} to {GREATEST_PART:g}"
        checks.refuse(~fits, name, column, expected)
    confidences = table.numbers.get("confidence")
    if confidences is not None and side is Side.DETECTIONS:
        checks.refuse(~np.isfinite(confidences), "confidence", confidences, "a finite number")
    return checks


def _with_files(
    table: Table,
    frames: Frames,
    names: tuple[str, ...],
    side: Side,
    image_size: tuple[int, int],
) -> tuple[RowColumns, Table]:
    """Rows of the table after one for each file, which lists its frame."""
    sequences = tuple(sorted({key for key, _ in frames}))
    rank = {key: index for index, key in enumerate(sequences)}
    of_file = np.array([rank[key] for key, _ in frames], dtype=np.int64)
    numbers = np.array([number for _, number in frames], dtype=np.int64)
    files, count = len(frames), len(frames) + len(table)
    owners = np.concatenate([np.arange(files), table.source_of_row])
    codes = np.concatenate([np.zeros(files, dtype=np.int64), table.wholes["class"]])
    rows = RowColumns(
        sequences=sequences,
        sequence_of_row=of_file[owners],
        frame_numbers=numbers[owners],
        frame_flags=np.zeros(count, dtype=np.uint8),
        holds_object=np.arange(count) >= files,
        coordinates=np.concatenate([np.zeros((files, 4)), _boxes(table, image_size)]),
        labels=_labels(codes, names),
        confidences=np.concatenate([np.ones(files), _confidences(table, side)]),
        track_ids=np.full(count, NO_TRACK, dtype=np.int64),
        flags=np.zeros(count, dtype=np.uint8),
    )
    positions = np.concatenate([np.ones(files, dtype=np.int64), table.positions])
    return rows, replace(table, source_of_row=owners, positions=positions)


def _confidences(table: Table, side: Side) -> FloatArray:
    found = table.numbers.get("confidence")
    return np.ones(len(table)) if found is None or side is Side.TRUTH else found


def _labels(codes: IntArray, names: tuple[str, ...]) -> TextColumn:
    if names:
        return TextColumn(codes, names)
    used, index = np.unique(codes, return_inverse=True)
    return TextColumn(index.reshape(-1).astype(np.int64), tuple(map(str, used.tolist())))


def _boxes(table: Table, image_size: tuple[int, int]) -> FloatArray:
    """(N, 4) upright boxes in pixels."""
    width, height = image_size
    cx, cy, across, down = (table.numbers[name] for name in ("cx", "cy", "width", "height"))
    edges = (
        (cx - across / 2) * width,
        (cy - down / 2) * height,
        (cx + across / 2) * width,
        (cy + down / 2) * height,
    )
    return np.stack(edges, axis=1)


FORMAT = Format(
    name=NAME,
    title="YOLO text: class, centre and size in parts of the image, a file a frame",
    matches=matches,
    read=read,
    pair=pair,
    first_pixel=0,
)
