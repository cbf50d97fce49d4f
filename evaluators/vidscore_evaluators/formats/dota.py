"""DOTA: a text file per image with the four corners of each object; a result file per class.

Source: the page of the DOTA data set and its development kit (CAPTAIN-WHU/DOTA_devkit: readme.md,
dota_utils.py, dota_evaluation_task1.py). The truth is a folder of ``<image>.txt``, a folder that
holds such a ``labelTxt``, or one such file. A row has, between blanks, ``x1 y1 x2 y2 x3 y3 x4 y4
class difficult``; the lines ``imagesource:...`` and ``gsd:...`` may come before. Detections are a
folder of ``Task1_<class>.txt``, or one such file, with rows ``image confidence x1 y1 ... x4 y4``.
The project's readings:

1. The digits at the end of an image's name are the number of its frame; the part before them is
   the sequence, as in `vidscore_evaluators.formats._images`: ``P0706`` is frame 706 of ``P``.
2. ``difficult`` other than 0 flags an ignored object; the development kit cuts images and gives 2
   to cut objects. An object in a row of nine values, without it, is not difficult.
3. Every file of the truth lists its frame. The source of an image and its ground sampling distance
   are not read.
4. Corners may go round either way. Results of task 2, upright boxes, are not read.
"""

from __future__ import annotations

import re
from functools import partial

import numpy as np

from vidscore_evaluators.annotations import QUADRILATERAL, Annotations, ObjectFlag, Side
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats._class_files import ClassFiles, check_side, write_class_files
from vidscore_evaluators.formats._csv import normalised_rows
from vidscore_evaluators.formats._files import InputPath, first_head, is_folder, text_files_at
from vidscore_evaluators.formats._format import (
    Capacity,
    Format,
    WriteOptions,
    Writer,
    class_names,
    refuse_no_words,
    text_rows,
    unnamed_remarks,
)
from vidscore_evaluators.formats._images import (
    ImageFiles,
    files_of_frames,
    image_names,
    rows_of_images,
    with_image_names,
)
from vidscore_evaluators.formats._row_frames import RowColumns
from vidscore_evaluators.formats._sequence_files import (
    read_plain_files,
    read_texts,
    to_reading,
)
from vidscore_evaluators.formats._table import Kind, RowChecks, RowTable, parse_number
from vidscore_evaluators.formats.source import Files, Reading, ReadLimits

NAME = "dota"
CORNERS = ("x1", "y1", "x2", "y2", "x3", "y3", "x4", "y4")
COLUMNS = (*CORNERS, "class", "difficult")
DIGITS = 4
"""Number of digits of an image's number, as DOTA writes it."""

_LABELS = "labelTxt"
_FILE = "a text file of DOTA's objects"
_RESULTS = ClassFiles(
    NAME,
    re.compile(r"Task1_(.+)"),
    "a result file of DOTA's task 1, as Task1_plane.txt",
    CORNERS,
)
_LAYOUT = {
    Side.TRUTH: f"a folder of text files, one for each image, or one that holds such a {_LABELS}",
    Side.DETECTIONS: f"a folder of result files, each {_RESULTS.example}, or one such file",
}
_NO_RESULTS = "an image's name that is not that of a result file"
_HEADER = re.compile(rb"(?mi)^[ \t]*(?:imagesource|gsd)[ \t]*:[^\r\n]*")
_WITHOUT_DIFFICULT = re.compile(rb"(?m)^((?:[^,\n]*,){8}[^,\n]+)$")


def read(path: InputPath, side: Side, limits: ReadLimits) -> Reading:
    """Read one side.

    Raises:
        InputError: If there is nothing of the kind, or a file cannot be read at all.
    """
    if side is Side.TRUTH:
        return _read_truth(path, limits)
    return _RESULTS.read(path, _LAYOUT[side], limits, _truth_files)


def matches(path: InputPath, head: bytes) -> bool:
    """Whether a path has files of objects, or result files by their names and first row."""
    if not is_folder(path):
        return _looks_like_objects(head) or (_RESULTS.is_one(path) and _RESULTS.match_rows(head))
    if _RESULTS.of_folder(path):
        return _RESULTS.match_folder(path)
    return _looks_like_objects(first_head(_truth_files(path), _FILE))


def _looks_like_objects(head: bytes) -> bool:
    """Whether a text begins with a header of DOTA, or with a row of corners and a class."""
    if _HEADER.match(head.removeprefix(b"\xef\xbb\xbf")):
        return True
    fields = next(iter(head.decode("utf-8-sig", errors="replace").splitlines()), "").split()
    return (
        len(COLUMNS) - 1 <= len(fields) <= len(COLUMNS)
        and all(parse_number(field) is not None for field in fields[:8])
        and parse_number(fields[8]) is None
    )


# --- truth -----------------------------------------------------------------------------------


def _truth_files(path: InputPath) -> list[InputPath]:
    """The text files of a folder, sorted by name; of its ``labelTxt``, if there is one."""
    return [file for file in text_files_at(path, _LABELS) if not _RESULTS.is_one(file)]


def _read_truth(path: InputPath, limits: ReadLimits) -> Reading:
    found = _truth_files(path) if is_folder(path) else [path]
    check_side(found, path, _LAYOUT[Side.TRUTH], limits, _RESULTS.of_folder)
    files = files_of_frames(found)
    texts = read_texts(files.values(), _FILE, limits, _rows_of)
    kinds = [*[Kind.NUMBER] * len(CORNERS), Kind.STRING, Kind.INTEGER]
    rows = read_plain_files(files.values(), texts, COLUMNS, kinds)
    checks = RowChecks(rows.table)
    checks.require_coordinates(CORNERS)
    difficult = rows.table.integers["difficult"]
    checks.refuse(difficult < 0, "difficult", difficult, "an integer of 0 or more")
    to_columns = partial(_truth_columns, files=files)
    return with_image_names(to_reading(rows, checks, to_columns, str(path), NAME), files)


def _rows_of(data: bytes, source: str) -> bytes:
    """The rows of a file, each of ten values, without its header; line numbers stay."""
    rows = normalised_rows(_HEADER.sub(b"", data), source, blanks=True)
    return _WITHOUT_DIFFICULT.sub(rb"\1,0", rows)


def _truth_columns(table: RowTable, files: ImageFiles) -> tuple[RowColumns, RowTable]:
    difficult = table.integers["difficult"] != 0
    return rows_of_images(
        table,
        files,
        coordinates=np.stack([table.numbers[name] for name in CORNERS], axis=1),
        labels=table.strings["class"],
        flags=np.where(difficult, ObjectFlag.IGNORE, 0).astype(np.uint8),
    )


# --- writing ---------------------------------------------------------------------------------


def _write(annotations: Annotations, side: Side, options: WriteOptions) -> Files:
    """``labelTxt/<image>.txt``, or ``Task1_<class>.txt``."""
    names = image_names(annotations, DIGITS, options)
    labels = np.array(class_names(annotations, options), dtype=object)
    refuse_no_words(labels.tolist(), "class", "a class")
    if side is Side.DETECTIONS:
        return write_class_files(annotations, "Task1_", names, labels.tolist())
    wrong = [repr(name) for name in names if _RESULTS.name.fullmatch(name)]
    if wrong:
        raise InputError([Fault(name, _NO_RESULTS, field="sequence") for name in wrong])
    difficult = (annotations.flags & ObjectFlag.IGNORE) != 0
    columns = (*annotations.coordinates.T, labels[annotations.label_indices], difficult)
    rows = text_rows(" ", *columns)
    starts = annotations.frame_starts.tolist()
    return {
        f"{_LABELS}/{name}.txt": "".join(rows[first:last]).encode()
        for name, first, last in zip(names, starts[:-1], starts[1:], strict=True)
    }


_WRITER = Writer(
    folder=True,
    capacity={
        Side.TRUTH: Capacity(arities=(QUADRILATERAL,), confidences=False, flags=ObjectFlag.IGNORE),
        Side.DETECTIONS: Capacity(arities=(QUADRILATERAL,), empty_frames=False),
    },
    write=_write,
    remarks=unnamed_remarks,
)

FORMAT = Format(
    name=NAME,
    title="DOTA: text files of objects by four corners, one per image; result files, one per class",
    read=read,
    writer=_WRITER,
    matches=matches,
)
