"""YOLO text: one file per image, one row per object, in fractions of the image's width and height.

A row is ``class cx cy width height``, separated by blanks: the number of a class, from 0, and the
centre and size of a box as fractions of the image's width and height. In detections, a confidence
may come last; an integer above 1 there is an error, as trackers write track ids last.
``classes.txt`` in the given folder, or in one of its folders, names the classes, one per line.
The project's readings:

1. Files are ``<folder>/<name>.txt`` or ``<folder>/<sequence>/<name>.txt``. The digits at the end of
   a name are its frame number, and a file without rows lists its frame. If the folder has no
   subfolders, the text before the digits is the sequence, or `IMAGES` if it is empty.
2. The size of the images is not in the files and must be given; it applies to all that are read.
3. Boxes are not clipped to the image, whose first pixel's edge is at 0.
4. Without ``classes.txt``, classes are named by their numbers; detections then take the names of
   a truth that has them.
"""

from __future__ import annotations

from functools import partial
from itertools import islice

import numpy as np
from msgspec.structs import replace

from vidscore_evaluators.annotations import (
    Annotations,
    SequenceKey,
    Side,
    frame_keys,
    sequence_name,
)
from vidscore_evaluators.arrays import BoolArray, FloatArray, IntArray
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats._files import (
    InputPath,
    first_head,
    first_line,
    is_file,
    is_folder,
    read_bytes,
    require_folder,
    text_files,
    visible_entries,
)
from vidscore_evaluators.formats._format import (
    Capacity,
    Format,
    ImageNumbers,
    WriteOptions,
    Writer,
    file_name,
    refuse_values,
    unnamed_remarks,
)
from vidscore_evaluators.formats._images import ImageFiles, files_of_frames, rows_of_images
from vidscore_evaluators.formats._row_frames import RowColumns
from vidscore_evaluators.formats._sequence_files import (
    check_count,
    check_files,
    list_files,
    pair_sequences,
    read_blank_separated,
    to_reading,
)
from vidscore_evaluators.formats._table import (
    EXPECTED_STRING,
    Kind,
    RowChecks,
    RowTable,
    StringColumn,
    parse_integer,
    parse_number,
    parse_string,
)
from vidscore_evaluators.formats.source import (
    Files,
    Listing,
    Numbering,
    PairReading,
    Reading,
    ReadLimits,
    ReadOptions,
    Source,
    show_text,
)

NAME = "yolo-text"
CLASSES_FILE = "classes.txt"
"""Names of the classes, one per line, in the order of their numbers."""

COLUMNS = ("class", "cx", "cy", "width", "height", "confidence")
_KINDS = {"class": Kind.INTEGER, **dict.fromkeys(COLUMNS[1:], Kind.NUMBER)}
GREATEST_PART = 1e3
"""Maximum centre and size, relative to the image; a larger value must be in pixels."""

MOST_CLASSES = 100_000
_FILE = "a text file of YOLO rows"
_LAYOUT = "a folder of YOLO text files, named by frame"
_EXPECTED_CONFIDENCE = "a confidence, not an integer above 1"
_EXPECTED_SIZE = "the size of its images (--image-size, image_size)"


def read(path: InputPath, side: Side, options: ReadOptions) -> Reading:
    """Read a folder.

    Raises:
        InputError: If there is no such folder, the size of its images is not given, or a file
            cannot be read at all.
    """
    require_folder(path, _LAYOUT)
    if options.image_size is None:
        raise InputError(
            [Fault("boxes in fractions of an image", _EXPECTED_SIZE, source=str(path))]
        )
    frames = _find_files(path)
    check_files({key: file for (key, _), file in frames.items()}, path, _LAYOUT, options)
    check_count(len(frames), path, _LAYOUT, options)
    frames, listing = _wanted_files(frames, options)
    names = _class_names(path, options)
    rows = read_blank_separated(frames.values(), _FILE, options, COLUMNS, _KINDS)
    checks = _check_rows(rows.table, side, names, scaled=options.scaled)
    to_columns = partial(_with_files, frames=frames, names=names, image_size=options.image_size)
    reading = replace(to_reading(rows, checks, to_columns, str(path), NAME), listing=listing)
    if side is Side.DETECTIONS and not names:
        return reading  # its classes may be those of the truth
    labels = dict(enumerate(names)) or {int(one): one for one in reading.source.annotations.labels}
    files = {_image_name(file, path): frame for frame, file in frames.items()}
    numbering = Numbering(files, labels)
    return replace(reading, source=replace(reading.source, numbering=numbering))


def pair(truth: Source, detections: Source, known: frozenset[SequenceKey]) -> PairReading:
    """Check detections against the sequences of the truth, and take its class names."""
    numbering = truth.numbering
    if truth.format == NAME and numbering is not None and detections.numbering is None:
        found = detections.annotations
        names = [numbering.labels.get(int(label), label) for label in found.labels if label]
        if len(set(names)) == len(found.labels):
            detections = replace(detections, annotations=replace(found, labels=tuple(names)))
    return pair_sequences(truth, detections, known, lambda key: f"{detections.name}/{key.sequence}")


def matches(path: InputPath, head: bytes) -> bool:
    """Whether a folder has text files with rows of this format."""
    del head
    if not is_folder(path):
        return False
    folders = [path, *_folders(path)]
    files = (file for folder in folders for file in _text_files(folder))
    fields = first_line(first_head(files, _FILE)).split()
    return (
        len(COLUMNS) - 1 <= len(fields) <= len(COLUMNS)
        and parse_integer(fields[0]) is not None
        and all(parse_number(field) is not None for field in fields)
    )


# --- files -----------------------------------------------------------------------------------


def _find_files(path: InputPath) -> ImageFiles:
    """The file of each frame, in order."""
    folders = _folders(path)
    files = (file for folder in folders or [path] for file in _text_files(folder))
    return files_of_frames(files, folder_is_sequence=bool(folders))


def _image_name(file: InputPath, root: InputPath) -> int | str:
    """The path of a file below the folder, without suffix."""
    return file.stem if file.parent == root else f"{file.parent.name}/{file.stem}"


def _wanted_files(files: ImageFiles, options: ReadOptions) -> tuple[ImageFiles, Listing | None]:
    """The files of wanted sequences, as `vidscore_evaluators.formats._sequence_files` chooses."""
    if options.wanted is None:
        return files, None
    keys = sorted({key for key, _ in files})
    names = ((f"{sequence_name(key)}/{number}", file) for (key, number), file in files.items())
    chosen = {frame: file for frame, file in files.items() if options.wanted(frame[0])}
    return chosen or dict(islice(files.items(), 1)), list_files(keys, names)


def _folders(path: InputPath) -> list[InputPath]:
    return [entry for entry in visible_entries(path) if is_folder(entry) and _text_files(entry)]


def _text_files(folder: InputPath) -> list[InputPath]:
    return [file for file in text_files(folder) if file.name != CLASSES_FILE]


def _class_names(path: InputPath, limits: ReadLimits) -> tuple[str, ...]:
    """Names of the classes, by number; empty if there is no file of them."""
    candidates = [folder / CLASSES_FILE for folder in (path, *_folders(path))]
    file = next((file for file in candidates if is_file(file)), None)
    if file is None:
        return ()
    text = read_bytes(file, "a file of class names", limits).decode(errors="surrogateescape")
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").rstrip("\n").split("\n")
    faults = [
        Fault(show_text(line), EXPECTED_STRING, source=str(file), line=number)
        for number, line in enumerate(lines, start=1)
        if not parse_string(line)
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


# --- rows ------------------------------------------------------------------------------------


def _check_rows(table: RowTable, side: Side, names: tuple[str, ...], *, scaled: bool) -> RowChecks:
    checks = RowChecks(table)
    classes = table.integers["class"]
    most = len(names) or MOST_CLASSES
    expected = f"the number of a class, 0 to {most - 1}"
    checks.refuse((classes < 0) | (classes >= most), "class", classes, expected)
    for name in ("cx", "cy", "width", "height"):
        column = table.numbers[name]
        least = 0.0 if name in ("width", "height") else -GREATEST_PART
        fits = (column >= least) & (column <= GREATEST_PART)
        expected = f"a part of the image, {least:g} to {GREATEST_PART:g}"
        checks.refuse(~fits, name, column, expected)
    given = table.numbers.get("confidence")
    if side is Side.DETECTIONS and given is not None:
        checks.require_finite("confidence")
        advice = (
            "trackers write the track id last: write the confidence in its place; if it is a "
            "percentage, state its scale (--confidence-scale 0,100)"
        )
        if not scaled:
            checks.refuse(_are_tracks(given), "confidence", given, _EXPECTED_CONFIDENCE, advice)
    return checks


def _are_tracks(confidences: FloatArray) -> BoolArray:
    """(N,) whether each is an integer above 1, which must be the id of a track."""
    tracks: BoolArray = (confidences > 1.0) & (confidences == np.floor(confidences))
    return tracks


def _with_files(
    table: RowTable,
    frames: ImageFiles,
    names: tuple[str, ...],
    image_size: tuple[int, int],
) -> tuple[RowColumns, RowTable]:
    classes = table.integers["class"]
    return rows_of_images(
        table,
        frames,
        coordinates=_boxes(table, image_size),
        labels=StringColumn(classes, names) if names else StringColumn.of_integers(classes),
        confidences=table.confidences("confidence"),
    )


def _boxes(table: RowTable, image_size: tuple[int, int]) -> FloatArray:
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


# --- writing ---------------------------------------------------------------------------------


def _write(annotations: Annotations, side: Side, options: WriteOptions) -> Files:
    sizes = options.image_sizes[annotations.object_frames]
    if not sizes.all():
        raise InputError([Fault("boxes to write in fractions of an image", _EXPECTED_SIZE)])
    images = ImageNumbers.of(annotations, options, first_class=0)
    lines = _lines(annotations, images, side, sizes)
    names = "".join(f"{name}\n" for name in images.names)
    # If classes are numbers of a truth without names, some numbers may be unused.
    dense = list(images.classes.values()) == list(range(len(images.classes)))
    files = {CLASSES_FILE: names.encode()} if names and dense and annotations.frame_count else {}
    starts = annotations.frame_starts.tolist()
    for row, name in enumerate(_image_names(annotations, options)):
        files[f"{name}.txt"] = "".join(lines[starts[row] : starts[row + 1]]).encode()
    return files


def _image_names(annotations: Annotations, options: WriteOptions) -> list[str]:
    """The name of each frame's image: from the truth's own files, if these have all of them."""
    own = Numbering() if options.numbering is None else options.numbering
    known = {frame: str(name) for name, frame in own.frames.items()}
    frames = frame_keys(annotations)
    if all(frame in known for frame in frames):
        return [known[frame] for frame in frames]
    if any(key.sequence == CLASSES_FILE for key, _ in frames):
        expected = "another name of a sequence, since the names of classes are there"
        raise InputError([Fault(repr(CLASSES_FILE), expected, field="sequence")])
    return [f"{file_name(key.sequence, 'sequence')}/{number:06d}" for key, number in frames]


def _lines(
    annotations: Annotations, images: ImageNumbers, side: Side, image_sizes: IntArray
) -> list[str]:
    """The row of each object, given its image's width and height."""
    width, height = image_sizes.T
    x1, y1, x2, y2 = annotations.coordinates.T
    classes = images.of_labels(annotations)[annotations.label_indices].tolist()
    parts = [(x1 + x2) / 2 / width, (y1 + y2) / 2 / height, (x2 - x1) / width, (y2 - y1) / height]
    for name, part in zip(COLUMNS[1:-1], parts, strict=True):
        expected = f"a part of the image, {-GREATEST_PART:g} to {GREATEST_PART:g}"
        refuse_values(np.abs(part) > GREATEST_PART, part, name, expected)
    columns = [np.asarray(part).tolist() for part in parts]
    if side is Side.DETECTIONS:
        given = annotations.confidences
        refuse_values(_are_tracks(given), given, "confidence", _EXPECTED_CONFIDENCE)
        columns.append(annotations.confidences.tolist())
    return [
        " ".join([str(number), *map(repr, values)]) + "\n"
        for number, *values in zip(classes, *columns, strict=True)
    ]


def _remarks(annotations: Annotations, side: Side, options: WriteOptions) -> tuple[str, ...]:
    """Remark that fractions of images of different sizes cannot be read back here."""
    count = len(np.unique(options.image_sizes[annotations.object_frames], axis=0))
    several = f"boxes are parts of images of {count} sizes, and reading them here takes one for all"
    return (*unnamed_remarks(annotations, side, options), *([several] if count > 1 else []))


_WRITER = Writer(
    folder=True,
    capacity={
        Side.TRUTH: Capacity(confidences=False),
        Side.DETECTIONS: Capacity(),
    },
    write=_write,
    remarks=_remarks,
)

FORMAT = Format(
    name=NAME,
    title="YOLO text: class, centre and size as fractions of the image, one file per frame",
    read=read,
    writer=_WRITER,
    by_sequence=True,
    pair=pair,
    matches=matches,
    first_pixel=0,
)
