"""VisDrone-DET text: a file an image, a row an object, pixels counted from 1.

Source: the readme of VisDrone2018-DET-toolkit 1.0.4 (P. Zhu et al., "Vision Meets Drones"). A row
is ``left,top,width,height,score,class,truncation,occlusion``. The truth is a folder with
``annotations/<image>.txt``, a folder of such files, or one; detections likewise. The project's
readings:

1. A box goes from ``left`` to ``left + width``, with nothing added, and coordinates are used as
   they are given.
2. Classes go by the toolkit's names of their numbers, 0 to 11. In the truth a row of class 0 is a
   don't-care region, and ``score`` = 0 flags an ignored object.
3. In detections ``score`` is a confidence, any finite number, and every class is a label.
4. ``truncation`` and ``occlusion`` of the truth are kept as columns; -1, for not known, is empty.
5. The digits at the end of an image's name are the number of its frame, what is before them is the
   sequence, as in `vidscore_evaluators.formats._image_names`. A file without rows lists its frame.
6. One comma after the last value, as some released files have it, is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from vidscore_evaluators.annotations import NO_TRACK, Annotations, ObjectFlag, Side
from vidscore_evaluators.arrays import FloatArray
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats._csv import normalised_rows
from vidscore_evaluators.formats._files import (
    InputPath,
    first_line,
    is_folder,
    read_bytes,
    read_head,
    text_files,
)
from vidscore_evaluators.formats._format import (
    Capacity,
    Format,
    WriteOptions,
    Writer,
    refuse_values,
    shortest_number,
)
from vidscore_evaluators.formats._image_names import (
    ImageFiles,
    files_of_frames,
    frame_of_name,
    name_of_frame,
)
from vidscore_evaluators.formats._row_frames import (
    RowColumns,
    given_areas,
    index_frames,
    with_listed_frames,
)
from vidscore_evaluators.formats._sequence_files import read_plain_files, to_reading
from vidscore_evaluators.formats._table import (
    Kind,
    RowChecks,
    RowTable,
    StringColumn,
    parse_integer,
    parse_number,
)
from vidscore_evaluators.formats.source import FaultList, Files, Reading, ReadLimits
from vidscore_evaluators.validation import MAXIMUM_COORDINATE_PX

NAME = "visdrone-det"
COLUMNS = ("left", "top", "width", "height", "score", "class", "truncation", "occlusion")
CLASSES = (
    *("ignored-regions", "pedestrian", "people", "bicycle", "car", "van", "truck"),
    *("tricycle", "awning-tricycle", "bus", "motor", "others"),
)
"""Names of the classes by number from 0, as the toolkit's readme has them."""

DIGITS = 7
"""Digits of an image's number, as VisDrone writes it."""

_REGION = 0
_FOLDER = "annotations"
_FILE = "a text file of VisDrone-DET rows"
_LAYOUT = "a folder of VisDrone-DET text files, or one that holds such a folder annotations"
_LAST_COMMA = re.compile(rb"(?m),[ \t]*$")


def read(path: InputPath, side: Side, limits: ReadLimits) -> Reading:
    """Read a file or a folder.

    Raises:
        InputError: If there is nothing of the kind, or a file cannot be read at all.
    """
    if not is_folder(path):
        read_head(path, _FILE)  # says what is missing before a name is looked at
    found = _find_files(path)
    if not found or len(found) > limits.maximum_files:
        expected = f"at most maximum_files = {limits.maximum_files}" if found else _LAYOUT
        what = f"{len(found)} files" if found else "nothing of the kind"
        raise InputError([Fault(what, expected, source=str(path))])
    files = files_of_frames(found)
    texts, broken = [], FaultList()
    for file in files.values():
        try:
            rows = normalised_rows(read_bytes(file, _FILE, limits), str(file))
            texts.append(_LAST_COMMA.sub(b"", rows))
        except InputError as error:
            broken.extend(error.faults)
    if broken:
        raise InputError(broken.listed())
    kinds = [Kind.INTEGER if name == "class" else Kind.NUMBER for name in COLUMNS]
    table = read_plain_files(list(map(str, files.values())), texts, COLUMNS, kinds)

    def to_columns(good: RowTable) -> tuple[RowColumns, RowTable]:
        return _with_files(good, files, side)

    return to_reading(table, _check_rows(table.table, side), to_columns, str(path), NAME)


def matches(path: InputPath, head: bytes) -> bool:
    """Whether a first row is one of this format."""
    if not is_folder(path):
        return frame_of_name(path.stem) is not None and _looks_like_rows(head)
    heads = (read_head(file, _FILE) for file in _find_files(path))
    return _looks_like_rows(next((head for head in heads if head.strip()), b""))


def _looks_like_rows(head: bytes) -> bool:
    """Whether a line is eight numbers with a class and two degrees at its end.

    Rows of MOTChallenge with eight columns have a height where the class is.
    """
    fields = first_line(head).removesuffix(",").split(",")
    if len(fields) != len(COLUMNS) or any(parse_number(field) is None for field in fields):
        return False
    label, *degrees = (parse_integer(field) for field in fields[5:])
    return (
        label is not None
        and 0 <= label < len(CLASSES)
        and all(degree in (-1, 0, 1, 2) for degree in degrees)
    )


def _find_files(path: InputPath) -> Sequence[InputPath]:
    if not is_folder(path):
        return [path]
    return text_files(path / _FOLDER if is_folder(path / _FOLDER) else path)


def _check_rows(table: RowTable, side: Side) -> RowChecks:
    checks, numbers = RowChecks(table), table.numbers
    checks.require_coordinates(("left", "top"))
    for name in ("width", "height"):
        fits = (numbers[name] >= 0.0) & (numbers[name] <= MAXIMUM_COORDINATE_PX)
        expected = f"a number from 0 to {MAXIMUM_COORDINATE_PX:g}"
        checks.refuse(~fits, name, numbers[name], expected)
    classes = table.integers["class"]
    known = (classes >= 0) & (classes < len(CLASSES))
    checks.refuse(~known, "class", classes, f"the number of a class, 0 to {len(CLASSES) - 1}")
    if side is Side.DETECTIONS:
        checks.require_finite("score")
    else:
        scores = numbers["score"]
        checks.refuse(~np.isin(scores, (0.0, 1.0)), "score", scores, "1, or 0 (ignored)")
    return checks


def _with_files(table: RowTable, files: ImageFiles, side: Side) -> tuple[RowColumns, RowTable]:
    """The rows, after one for each file, which lists its frame."""
    sequences, of_file, numbers = index_frames(files)
    owners, places = table.source_of_row, np.arange(len(files))
    truth, classes = side is Side.TRUTH, table.integers["class"]
    left, top, width, height = (table.numbers[name] for name in COLUMNS[:4])
    corners = np.stack([left, top, left + width, top + height], axis=1)
    region = classes == _REGION
    ignored = np.where(table.numbers["score"] == 0.0, ObjectFlag.IGNORE, 0)
    flags = np.where(region, ObjectFlag.REGION, ignored).astype(np.uint8)
    rows = RowColumns(
        sequences=sequences,
        sequence_of_row=of_file[owners],
        frame_numbers=numbers[owners],
        frame_flags=np.zeros(len(table), dtype=np.uint8),
        holds_object=np.ones(len(table), dtype=np.bool_),
        coordinates=corners,
        labels=StringColumn(classes, CLASSES),
        confidences=np.ones(len(table)) if truth else table.numbers["score"],
        track_ids=np.full(len(table), NO_TRACK, dtype=np.int64),
        flags=flags if truth else np.zeros(len(table), dtype=np.uint8),
        columns=given_areas(corners, width, height) | (_degrees(table) if truth else {}),
    )
    return with_listed_frames(rows, table, (of_file, numbers), (places, np.ones_like(places)))


def _degrees(table: RowTable) -> dict[str, FloatArray]:
    """Truncation and occlusion, NaN where they are not known."""
    columns = {name: table.numbers[name] for name in ("truncation", "occlusion")}
    return {name: np.where(column == -1.0, np.nan, column) for name, column in columns.items()}


# --- writing ---------------------------------------------------------------------------------


def _write(annotations: Annotations, side: Side, options: WriteOptions) -> Files:
    """``<image>.txt`` for each frame."""
    del options
    place = {name: number for number, name in enumerate(CLASSES)}
    region = (annotations.flags & ObjectFlag.REGION) != 0
    labels = np.array(annotations.labels or ("",), dtype=object)[annotations.label_indices]
    classes = np.array([place.get(label, -1) for label in labels], dtype=np.int64)
    classes = np.where(region, _REGION, classes)
    refuse_values(classes < 0, labels, "class", "a class of VisDrone: " + ", ".join(CLASSES))
    x1, y1, x2, y2 = annotations.coordinates.T
    scores, degrees = annotations.confidences, [np.full(len(x1), -1.0)] * 2
    if side is Side.TRUTH:
        scored = (annotations.flags & (ObjectFlag.IGNORE | ObjectFlag.REGION)) == 0
        scores = scored.astype(np.float64)
        degrees = [_known(annotations, name) for name in ("truncation", "occlusion")]
    columns = (x1, y1, x2 - x1, y2 - y1, scores, classes, *degrees)
    fields = [map(shortest_number, np.asarray(column).tolist()) for column in columns]
    lines = [",".join(map(str, row)) + "\n" for row in zip(*fields, strict=True)]
    starts, files = annotations.frame_starts.tolist(), {}
    for row, number in enumerate(annotations.frame_numbers.tolist()):
        key = annotations.sequences[annotations.frame_sequences[row]]
        content = "".join(lines[starts[row] : starts[row + 1]])
        files[f"{name_of_frame(key, number, DIGITS)}.txt"] = content.encode()
    return files


def _known(annotations: Annotations, name: str) -> FloatArray:
    """(N,) values of a named column, -1 where they are not known."""
    column = annotations.columns.get(name, np.full(annotations.object_count, np.nan))
    return np.where(np.isnan(column), -1.0, column)


FORMAT = Format(
    name=NAME,
    title="VisDrone-DET text: eight values between commas in rows, a file an image",
    read=read,
    writer=Writer(
        folder=True,
        capacity={
            Side.TRUTH: Capacity(
                confidences=False,
                flags=ObjectFlag.IGNORE | ObjectFlag.REGION,
                columns=frozenset({"truncation", "occlusion"}),
            ),
            Side.DETECTIONS: Capacity(),
        },
        write=_write,
    ),
    matches=matches,
    first_pixel=1,
)
