"""PASCAL VOC: a folder of XML annotations, one per image; and result files, one per class.

Source: M. Everingham and J. Winn, "The PASCAL Visual Object Classes Challenge 2012 (VOC2012)
Development Kit", sections 4 and 8. The truth is a folder with ``Annotations/<image>.xml``, that
folder itself, or one such file; detections are a folder of ``comp3_det_<set>_<class>.txt`` (or
``comp4``, or any word), or one such file, with rows ``image confidence xmin ymin xmax ymax``
separated by blanks. The project's readings:

1. Pixels count from 1, and coordinates are used as they are given. VOC's own scorer includes the
   last pixel, which is a parameter of `map` (``inclusive_pixels``) and does not affect reading.
2. The digits at the end of an image's name are its frame number, and the text before them is the
   sequence, as in `vidscore_evaluators.formats._images`.
3. ``difficult`` = 1 flags an ignored object; an object without the element is not ignored. The
   parts of a person, poses, truncation and occlusion are not read.
4. Every annotation file lists its frame. ``ImageSets`` is not read: all annotations are the truth.
5. A file with a document type declaration is refused, so entities cannot occur.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from functools import partial

import numpy as np
from msgspec.structs import replace

from vidscore_evaluators.annotations import Annotations, ObjectFlag, SequenceKey, Side
from vidscore_evaluators.errors import InputError
from vidscore_evaluators.formats._class_files import ClassFiles, check_side, write_class_files
from vidscore_evaluators.formats._csv import CsvRows
from vidscore_evaluators.formats._files import (
    InputPath,
    is_folder,
    read_bytes,
    read_head,
    visible_entries,
)
from vidscore_evaluators.formats._format import (
    Capacity,
    Format,
    WriteOptions,
    Writer,
    class_names,
    shortest_number,
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
from vidscore_evaluators.formats._sequence_files import to_reading
from vidscore_evaluators.formats._table import RowChecks, RowTable, StringColumn, parse_number
from vidscore_evaluators.formats._voc_xml import CORNERS, VocImage, object_faults, parse_voc_xml
from vidscore_evaluators.formats.source import FaultList, Files, Reading, ReadLimits
from vidscore_evaluators.plausibility.image_sizes import ImageSizes

NAME = "pascal-voc"
DIGITS = 6
"""Number of digits of an image's number, as VOC writes it."""

_ANNOTATIONS = "Annotations"
_XML_HEAD = re.compile(rb"(?s)(?:\xef\xbb\xbf)?\s*(?:<\?.*?\?>\s*|<!--.*?-->\s*)*<annotation[\s>]")
_FILE = "an annotation file of PASCAL VOC"
_RESULTS = ClassFiles(
    NAME,
    re.compile(r"(?:.*?_)?det_[^_]+_(.+)"),
    "a result file of PASCAL VOC, as comp3_det_test_car.txt",
    CORNERS,
)
_LAYOUT = {
    Side.TRUTH: "a folder of XML annotations, or one that holds such a folder Annotations",
    Side.DETECTIONS: f"a folder of result files, each {_RESULTS.example}, or one such file",
}


def read(path: InputPath, side: Side, limits: ReadLimits) -> Reading:
    """Read one side.

    Raises:
        InputError: If there is nothing of the kind, or a file cannot be read at all.
    """
    if side is Side.TRUTH:
        return _read_truth(path, limits)
    return _RESULTS.read(path, _LAYOUT[side], limits, _annotation_files)


def matches(path: InputPath, head: bytes) -> bool:
    """Whether a path has annotations, or result files by their names and first row."""
    if not is_folder(path):
        is_result = _RESULTS.is_one(path) and _RESULTS.match_rows(head)
        return is_result or bool(_XML_HEAD.match(head))
    annotations = next(iter(_annotation_files(path)), None)
    if annotations is not None:
        return bool(_XML_HEAD.match(read_head(annotations, _FILE)))
    return _RESULTS.match_folder(path)


# --- files -----------------------------------------------------------------------------------


def _annotation_files(path: InputPath) -> list[InputPath]:
    """The XML files of a folder, sorted by name; of its ``Annotations``, if there is one."""
    folder = path / _ANNOTATIONS if is_folder(path / _ANNOTATIONS) else path
    return [
        file
        for file in visible_entries(folder)
        if file.suffix.lower() == ".xml" and not is_folder(file)
    ]


# --- truth -----------------------------------------------------------------------------------


def _read_truth(path: InputPath, limits: ReadLimits) -> Reading:
    found = _annotation_files(path) if is_folder(path) else [path]
    check_side(found, path, _LAYOUT[Side.TRUTH], limits, _RESULTS.of_folder)
    files = files_of_frames(found)
    images: list[VocImage] = []
    broken, faults = FaultList(), FaultList()
    for file in files.values():
        try:
            images.append(parse_voc_xml(read_bytes(file, _FILE, limits)))
        except InputError as error:
            broken.extend(replace(fault, source=str(file)) for fault in error.faults)
    if broken:
        raise InputError(broken.listed())
    table, skipped = _truth_table(images, list(map(str, files.values())), faults)
    checks = RowChecks(table)
    checks.require_coordinates(CORNERS)
    rows = CsvRows(table, faults, skipped)
    to_columns = partial(_truth_columns, files=files)
    reading = to_reading(rows, checks, to_columns, str(path), NAME)
    sizes = [(0, 0) if image.size is None else image.size[::-1] for image in images]
    reading = with_image_names(reading, files, sizes)
    return replace(reading, source=replace(reading.source, image_sizes=_sizes(files, images)))


def _truth_table(
    images: Sequence[VocImage], sources: Sequence[str], faults: FaultList
) -> tuple[RowTable, int]:
    """The objects of all images as one table, and the number of objects left out."""
    owners: list[int] = []
    entries = []
    skipped = 0
    for owner, image in enumerate(images):
        for entry in image.objects:
            wrong = object_faults(entry)
            faults.extend(replace(fault, source=sources[owner]) for fault in wrong)
            skipped += bool(wrong)
            if not wrong:
                owners.append(owner)
                entries.append(entry)
    numbers = {
        name: np.array([parse_number(entry.texts[name]) for entry in entries], dtype=np.float64)
        for name in CORNERS
    }
    difficult = np.array([entry.texts.get("difficult") == "1" for entry in entries], dtype=np.int64)
    table = RowTable(
        numbers,
        {"difficult": difficult},
        {"name": _strings(entry.texts["name"] for entry in entries)},
        tuple(sources),
        np.array(owners, dtype=np.int64),
        np.array([entry.line for entry in entries], dtype=np.int64),
    )
    return table, skipped


def _strings(values: Iterable[str]) -> StringColumn:
    table: dict[str, int] = {}
    codes = [table.setdefault(value, len(table)) for value in values]
    return StringColumn(np.array(codes, dtype=np.int64), tuple(table))


def _truth_columns(table: RowTable, files: ImageFiles) -> tuple[RowColumns, RowTable]:
    difficult = table.integers["difficult"] == 1
    return rows_of_images(
        table,
        files,
        coordinates=np.stack([table.numbers[name] for name in CORNERS], axis=1),
        labels=table.strings["name"],
        flags=np.where(difficult, ObjectFlag.IGNORE, 0).astype(np.uint8),
    )


def _sizes(files: ImageFiles, images: Sequence[VocImage]) -> ImageSizes:
    """Maximum width and height of the images of each sequence; only if all are known."""
    sizes: dict[SequenceKey, tuple[int, int] | None] = {}
    for (key, _), image in zip(files, images, strict=True):
        known = sizes.get(key, (0, 0))
        if known is None or image.size is None:
            sizes[key] = None
        else:
            sizes[key] = (max(known[0], image.size[0]), max(known[1], image.size[1]))
    return {key: size for key, size in sizes.items() if size is not None}


# --- writing ---------------------------------------------------------------------------------


def _write(annotations: Annotations, side: Side, options: WriteOptions) -> Files:
    """``Annotations/<image>.xml``, or ``comp3_det_test_<class>.txt``."""
    names = image_names(annotations, DIGITS, options)
    labels = class_names(annotations, options)
    if side is Side.DETECTIONS:
        return write_class_files(annotations, "comp3_det_test_", names, labels)
    starts = annotations.frame_starts.tolist()
    return {
        f"{_ANNOTATIONS}/{name}.xml": _xml(annotations, labels, name, rows, size)
        for name, rows, size in zip(
            names, map(range, starts[:-1], starts[1:]), options.image_sizes.tolist(), strict=True
        )
    }


def _xml(
    annotations: Annotations, labels: Sequence[str], name: str, rows: range, size: Sequence[int]
) -> bytes:
    lines = ["<annotation>", f"  <filename>{html.escape(name, quote=False)}.jpg</filename>"]
    width, height = size
    if width and height:
        lines.append(f"  <size><width>{width}</width><height>{height}</height></size>")
    for row in rows:
        label = labels[annotations.label_indices[row]]
        difficult = int(bool(annotations.flags[row] & ObjectFlag.IGNORE))
        box = annotations.coordinates[row].tolist()
        corners = "".join(
            f"<{corner}>{shortest_number(value)}</{corner}>"
            for corner, value in zip(CORNERS, box, strict=True)
        )
        lines += [
            f"  <object><name>{html.escape(label, quote=False)}</name>",
            f"    <difficult>{difficult}</difficult><bndbox>{corners}</bndbox></object>",
        ]
    return ("\n".join([*lines, "</annotation>"]) + "\n").encode()


FORMAT = Format(
    name=NAME,
    title="PASCAL VOC: a folder of XML annotations; result files with a row for each detection",
    read=read,
    writer=Writer(
        folder=True,
        capacity={
            Side.TRUTH: Capacity(confidences=False, flags=ObjectFlag.IGNORE),
            Side.DETECTIONS: Capacity(empty_frames=False),
        },
        write=_write,
        remarks=unnamed_remarks,
    ),
    matches=matches,
    first_pixel=1,
)
