"""VisDrone-DET text: one file per image, one row per object, pixels counted from 1.

Source: the readme of VisDrone2018-DET-toolkit 1.0.4 (P. Zhu et al., "Vision Meets Drones"). A row
is ``left,top,width,height,score,class,truncation,occlusion``. The truth is a folder with
``annotations/<image>.txt``, a folder of such files, or one; detections likewise. The project's
readings:

1. A box goes from ``left`` to ``left + width``, with nothing added, and coordinates are used as
   they are given.
2. Classes 0 to 11 have the toolkit's names. In the truth, a row of class 0 is a don't-care region,
   and ``score`` = 0 flags an ignored object.
3. In detections, ``score`` is a confidence, any finite number, and every class is a label.
4. ``truncation`` and ``occlusion`` of the truth are kept as columns; -1, which means unknown, is
   kept as empty.
5. The digits at the end of an image's name are its frame number, and the text before them is the
   sequence, as in `vidscore_evaluators.formats._images`. A file without rows lists its frame.
6. A single trailing comma in a row, as in some released files, is ignored.
"""

from __future__ import annotations

import re
from functools import partial

import numpy as np

from vidscore_evaluators.annotations import Annotations, ObjectFlag, Side
from vidscore_evaluators.formats._files import (
    InputPath,
    first_head,
    first_line,
    is_folder,
    text_files_at,
)
from vidscore_evaluators.formats._format import (
    Capacity,
    Format,
    WriteOptions,
    Writer,
    left_top_and_size,
    text_rows,
)
from vidscore_evaluators.formats._images import (
    ImageFiles,
    files_of_frames,
    frame_of_name,
    image_names,
    rows_of_images,
    with_image_names,
)
from vidscore_evaluators.formats._row_frames import RowColumns, boxes_of_rows, given_areas
from vidscore_evaluators.formats._sequence_files import (
    check_count,
    read_plain_files,
    read_texts,
    to_reading,
)
from vidscore_evaluators.formats._table import Kind, RowChecks, RowTable, StringColumn, parse_number
from vidscore_evaluators.formats._visdrone import (
    CLASSES,
    COLUMNS,
    DEGREES,
    REGION,
    are_class_and_degrees,
    check_objects,
    degree_remarks,
    degrees_of,
    written_classes,
    written_degrees,
)
from vidscore_evaluators.formats.source import Files, Reading, ReadLimits

NAME = "visdrone-det"
DIGITS = 7
"""Number of digits of an image's number, as VisDrone writes it."""

_FOLDER = "annotations"
_FILE = "a text file of VisDrone-DET rows"
_LAYOUT = "a folder of VisDrone-DET text files, or one that holds such a folder annotations"
_LAST_COMMA = re.compile(rb"(?m),[ \t]*$")


def read(path: InputPath, side: Side, limits: ReadLimits) -> Reading:
    """Read a file or a folder.

    Raises:
        InputError: If there is nothing of the kind, or a file cannot be read at all.
    """
    found = text_files_at(path, _FOLDER)
    check_count(len(found), path, _LAYOUT, limits)
    files = files_of_frames(found)
    texts = [_LAST_COMMA.sub(b"", rows) for rows in read_texts(files.values(), _FILE, limits)]
    kinds = [Kind.INTEGER if name == "class" else Kind.NUMBER for name in COLUMNS]
    table = read_plain_files(files.values(), texts, COLUMNS, kinds)
    checks = _check_rows(table.table, side)
    to_columns = partial(_with_files, files=files, side=side)
    return with_image_names(to_reading(table, checks, to_columns, str(path), NAME), files)


def matches(path: InputPath, head: bytes) -> bool:
    """Whether a first row is of this format."""
    if not is_folder(path):
        return frame_of_name(path.stem) is not None and _looks_like_rows(head)
    return _looks_like_rows(first_head(text_files_at(path, _FOLDER), _FILE))


def _looks_like_rows(head: bytes) -> bool:
    """Whether a line is eight numbers that end with a class and two degrees.

    MOTChallenge rows with eight columns have a height in the place of the class.
    """
    fields = first_line(head).removesuffix(",").split(",")
    if len(fields) != len(COLUMNS) or any(parse_number(field) is None for field in fields):
        return False
    return are_class_and_degrees(fields[5:])


def _check_rows(table: RowTable, side: Side) -> RowChecks:
    checks = RowChecks(table)
    check_objects(checks, table, side)
    return checks


def _with_files(table: RowTable, files: ImageFiles, side: Side) -> tuple[RowColumns, RowTable]:
    truth, classes = side is Side.TRUTH, table.integers["class"]
    width, height, corners = table.numbers["width"], table.numbers["height"], boxes_of_rows(table)
    region = classes == REGION
    ignored = np.where(table.numbers["score"] == 0.0, ObjectFlag.IGNORE, 0)
    flags = np.where(region, ObjectFlag.REGION, ignored).astype(np.uint8)
    return rows_of_images(
        table,
        files,
        coordinates=corners,
        labels=StringColumn(classes, CLASSES),
        confidences=None if truth else table.numbers["score"],
        flags=flags if truth else None,
        columns=given_areas(corners, width, height) | (degrees_of(table) if truth else {}),
    )


# --- writing ---------------------------------------------------------------------------------


def _write(annotations: Annotations, side: Side, options: WriteOptions) -> Files:
    """``<image>.txt`` for each frame."""
    classes = written_classes(annotations, (annotations.flags & ObjectFlag.REGION) != 0)
    scores, degrees = annotations.confidences, [np.full(annotations.object_count, -1.0)] * 2
    if side is Side.TRUTH:
        scored = (annotations.flags & (ObjectFlag.IGNORE | ObjectFlag.REGION)) == 0
        scores = scored.astype(np.float64)
        degrees = written_degrees(annotations)
    lines = text_rows(",", *left_top_and_size(annotations), scores, classes, *degrees)
    starts, names = annotations.frame_starts.tolist(), image_names(annotations, DIGITS, options)
    return {
        f"{name}.txt": "".join(lines[starts[row] : starts[row + 1]]).encode()
        for row, name in enumerate(names)
    }


FORMAT = Format(
    name=NAME,
    title="VisDrone-DET text: rows of eight comma-separated values, one file per image",
    read=read,
    writer=Writer(
        folder=True,
        capacity={
            Side.TRUTH: Capacity(
                confidences=False,
                flags=ObjectFlag.IGNORE | ObjectFlag.REGION,
                marks={CLASSES[REGION]: ObjectFlag.REGION},
                columns=frozenset(DEGREES),
            ),
            Side.DETECTIONS: Capacity(),
        },
        write=_write,
        remarks=lambda annotations, _side, _options: tuple(degree_remarks(annotations)),
    ),
    matches=matches,
    first_pixel=1,
)
