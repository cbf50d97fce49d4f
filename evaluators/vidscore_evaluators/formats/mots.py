"""MOTS text: one row per mask, one file per sequence, as in MOTSChallenge and KITTI MOTS.

Source: P. Voigtlaender et al., "MOTS: Multi-Object Tracking and Segmentation", and its tools
(mots_tools, file formats). A row is ``frame id class height width rle``, separated by blanks, where
``rle`` is COCO's compressed text of runs. The truth is ``<root>/<sequence>/gt/gt.txt``
(MOTSChallenge), a folder of ``<sequence>.txt`` (KITTI MOTS) or one file; detections are such a
folder or file. The project's readings:

1. Classes are named: 1 is a car, 2 a pedestrian. Class 10 of the truth is a don't-care region; in
   detections it is an error.
2. Frames are numbered as in the files: KITTI MOTS from 0, MOTSChallenge from 1.
3. ``seqinfo.ini`` beside ``gt`` means that frames 1 to its length are evaluated;
   ``evaluate_mots.seqmap``, in the folder of the truth or above it, states the last frame of each
   sequence, from 0 on. Without either, a frame of the truth without a row is not evaluated.
4. A pixel belongs to at most one mask: overlapping masks in a frame are an error, except for
   regions that overlap each other.
5. Boxes are those of the masks, and all confidences are 1.
6. Label images, ``instances/<sequence>/<frame>.png``, are read if there is no text: a pixel is
   1000 times the class plus the instance, or 0, and an image lists its frame.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from vidscore_evaluators.annotations import Annotations, ObjectFlag, SequenceKey, Side
from vidscore_evaluators.arrays import BoolArray, IntArray
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats._csv import CsvRows, normalised_rows
from vidscore_evaluators.formats._file_masks import read_good_masks
from vidscore_evaluators.formats._files import InputPath, first_head, first_line, is_folder
from vidscore_evaluators.formats._format import (
    Capacity,
    Format,
    WriteOptions,
    Writer,
    labels_of_objects,
    refuse_values,
    sequence_texts,
)
from vidscore_evaluators.formats._mots_images import (
    are_label_images,
    find_sequences,
    read_label_images,
)
from vidscore_evaluators.formats._row_frames import RowColumns, with_listed_frames
from vidscore_evaluators.formats._sequence_files import (
    SequenceFiles,
    check_files,
    pair_text_files,
    read_plain_files,
    read_texts,
    to_reading,
)
from vidscore_evaluators.formats._sequence_lengths import (
    MOTS_PREFIX,
    check_beside,
    read_beside,
    read_sequence_info,
    read_sequence_lengths,
    with_frames_without_rows,
)
from vidscore_evaluators.formats._table import (
    Kind,
    RowChecks,
    RowTable,
    StringColumn,
    parse_integer,
)
from vidscore_evaluators.formats.mot import find_files
from vidscore_evaluators.formats.source import (
    SWAPPED,
    FaultList,
    Files,
    Reading,
    ReadLimits,
    Source,
)
from vidscore_evaluators.mask_forms import compressed_texts, masks_from_compressed
from vidscore_evaluators.masks import Masks, no_masks, shared_areas
from vidscore_evaluators.pairs import BoundingBoxes, self_pairs
from vidscore_evaluators.validation import MAXIMUM_FRAME_NUMBER

NAME = "mots"
COLUMNS = ("frame", "id", "class", "height", "width", "rle")
CLASSES = {1: "car", 2: "pedestrian"}
REGION = 10
_FILE = "a text file of MOTS rows"
_LAYOUT: Mapping[Side, str] = {
    Side.TRUTH: (
        "a file of MOTS rows, or a folder of <sequence>/gt/gt.txt, <sequence>.txt or label images"
    ),
    Side.DETECTIONS: "a file of MOTS rows, or a folder of <sequence>.txt or label images",
}
_FOLDERS = ("instances_txt", "label_02")
_GREATEST_SIDE_PX = 1 << 28


def read(path: InputPath, side: Side, limits: ReadLimits) -> Reading:
    """Read a file or a folder.

    Raises:
        InputError: If there is nothing of the kind, or a file cannot be read at all.
    """
    files = _files_of(path, side)
    folders = {} if files else find_sequences(path)
    if folders:
        return _read_images(path, folders, side, limits)
    check_files(files, path, _LAYOUT[side], limits)
    texts = read_texts(files.values(), _FILE, limits, partial(normalised_rows, blanks=True))
    heads = [b"\n".join(line.rpartition(b",")[0] for line in text.split(b"\n")) for text in texts]
    rows = read_plain_files(
        files.values(), heads, COLUMNS[:-1], [Kind.INTEGER] * (len(COLUMNS) - 1)
    )
    lengths, unread = read_beside(lambda: _Lengths.of(path, files, side, limits), _Lengths({}, {}))
    checks = _check_rows(rows.table, side, rows.table.source_of_row, lengths.bounds(tuple(files)))
    masks, mask_of_row = _read_masks(rows.table, texts, checks)

    def to_columns(table: RowTable) -> tuple[RowColumns, RowTable]:
        of_row = mask_of_row[~checks.faulty]
        columns = _row_columns(table, tuple(files), table.source_of_row, masks, of_row)
        # A frame without a row is attributed to the first line of its file.
        return lengths.listed(columns, table, np.arange(len(files)), 1)

    reading = to_reading(rows, checks, to_columns, str(path), NAME)
    reading.faults.extend(_overlap_faults(reading.source))
    return check_beside(unread, reading)


def _read_images(
    path: InputPath, folders: SequenceFiles, side: Side, limits: ReadLimits
) -> Reading:
    """Read label images; each lists its frame, and its objects share no pixels."""
    lengths, unread = read_beside(
        lambda: _Lengths.of(path, folders, side, limits), _Lengths({}, {})
    )
    names = tuple(folders)
    first, last = lengths.bounds(names)
    known = lengths.from_zero
    bounds = {
        key: (int(first[row]), int(last[row])) for row, key in enumerate(names) if key in known
    }
    images = read_label_images(path, folders, bounds, limits)
    of_row = images.sequence_of_image[images.table.source_of_row]
    checks = _check_rows(images.table, side, of_row, (first, last))

    def to_columns(table: RowTable) -> tuple[RowColumns, RowTable]:
        of_row = images.sequence_of_image[table.source_of_row]
        kept = np.flatnonzero(~checks.faulty)
        columns = _row_columns(table, names, of_row, images.masks, kept)
        frames = images.sequence_of_image, images.frame_of_image
        places = np.arange(len(frames[0])), np.zeros_like(frames[0])
        columns, table = with_listed_frames(columns, table, frames, places)
        return lengths.listed(columns, table, images.first_images, 0)

    rows = CsvRows(images.table, FaultList(), 0)
    return check_beside(unread, to_reading(rows, checks, to_columns, str(path), NAME))


def matches(path: InputPath, head: bytes) -> bool:
    """Whether a first row is of this format, or a first image is a label image."""
    if not is_folder(path):
        return _looks_like_rows(head)
    files = _files_of(path, Side.TRUTH)
    if not files:
        return are_label_images(find_sequences(path))
    return _looks_like_rows(first_head(files.values(), _FILE))


def _looks_like_rows(head: bytes) -> bool:
    fields = first_line(head).split()
    return len(fields) == len(COLUMNS) and all(
        parse_integer(field) is not None for field in fields[:-1]
    )


# --- files -----------------------------------------------------------------------------------


def _files_of(path: InputPath, side: Side) -> SequenceFiles:
    for name in _FOLDERS if is_folder(path) else ():
        if is_folder(path / name):
            return find_files(path / name, side)
    return find_files(path, side)


class _Lengths(Struct, frozen=True):
    """Numbers of frames of sequences, if known.

    Attributes:
        from_one: Of sequences whose frames are numbered from 1, by a seqinfo.ini.
        from_zero: Of sequences whose frames are numbered from 0, by a seqmap.
    """

    from_one: Mapping[SequenceKey, int]
    from_zero: Mapping[SequenceKey, int]

    @classmethod
    def of(cls, path: InputPath, files: SequenceFiles, side: Side, limits: ReadLimits) -> _Lengths:
        """Look for both beside the files of a truth; detections have neither.

        Raises:
            InputError: With everything that is wrong with them.
        """
        if side is Side.DETECTIONS:
            return cls({}, {})
        faults, from_one = list[Fault](), dict[SequenceKey, int]()
        for key, file in files.items():
            info, unread = read_beside(partial(read_sequence_info, file, limits), None)
            faults += unread
            if info is not None:
                from_one[key] = info.length
        others = {key: file for key, file in files.items() if key not in from_one}
        read = partial(read_sequence_lengths, path, others, limits, MOTS_PREFIX)
        from_zero, unread = read_beside(read, dict[SequenceKey, int]())
        if faults or unread:
            raise InputError([*faults, *unread])
        return cls(from_one, from_zero)

    def bounds(self, sequences: tuple[SequenceKey, ...]) -> tuple[IntArray, IntArray]:
        """First and last frame of each sequence."""
        first = [int(key in self.from_one) for key in sequences]
        unknown = MAXIMUM_FRAME_NUMBER
        last = [
            self.from_one.get(key, self.from_zero.get(key, unknown + 1) - 1) for key in sequences
        ]
        return np.array(first, dtype=np.int64), np.array(last, dtype=np.int64)

    def listed(
        self, columns: RowColumns, table: RowTable, sources: IntArray, position: int
    ) -> tuple[RowColumns, RowTable]:
        """List the frames without rows.

        Args:
            columns: The rows.
            table: The rows' places in the files.
            sources: The file of each sequence to which its frames without rows are attributed.
            position: Position in these files.
        """
        for known, first in ((self.from_one, 1), (self.from_zero, 0)):
            columns, table = with_frames_without_rows(
                columns, table, known, first, files=sources, position=position
            )
        return columns, table


# --- rows ------------------------------------------------------------------------------------


def _check_rows(
    table: RowTable, side: Side, sequence_of_row: IntArray, bounds: tuple[IntArray, IntArray]
) -> RowChecks:
    checks = RowChecks(table)
    frames, classes = table.integers["frame"], table.integers["class"]
    first, last = (bound[sequence_of_row] for bound in bounds)
    beyond = (frames >= 0) & (frames <= MAXIMUM_FRAME_NUMBER) & ((frames < first) | (frames > last))
    expected = "a frame within the length of the sequence, by its seqinfo.ini or seqmap"
    checks.refuse(beyond, "frame", frames, expected)
    checks.require_frames("frame")
    checks.require_tracks("id")
    known = np.isin(classes, list(CLASSES))
    region = classes == REGION
    if side is Side.TRUTH:
        checks.refuse(~known & ~region, "class", classes, "1 (car), 2 (pedestrian) or 10 (region)")
    else:
        expected = "1 (car) or 2 (pedestrian), since a row is a detection"
        checks.refuse(~known, "class", classes, expected, SWAPPED if region.any() else None)
    for name in ("height", "width"):
        sides = table.integers[name]
        fits = (sides >= 1) & (sides <= _GREATEST_SIDE_PX)
        checks.refuse(~fits, name, sides, "pixels, 1 or more")
    return checks


def _read_masks(table: RowTable, texts: list[bytes], checks: RowChecks) -> tuple[Masks, IntArray]:
    """The masks of the valid rows so far, and (N,) the mask of each row, -1 for none."""
    lines = [text.split(b"\n") for text in texts]
    places = zip(table.source_of_row.tolist(), table.positions.tolist(), strict=True)
    runs = [lines[file][line - 1].rpartition(b",")[2] for file, line in places]
    sizes = np.stack([table.integers["height"], table.integers["width"]], axis=1)

    def make(rows: IntArray) -> Masks:
        return masks_from_compressed([runs[row] for row in rows.tolist()], sizes[rows])

    def refuse(row: int, fault: Fault) -> None:
        column = "column rle" if fault.field == "counts" else "columns height, width"
        checks.refuse_row(row, replace(fault, field=column))

    masks, rows = read_good_masks(make, np.flatnonzero(~checks.faulty), refuse)
    mask_of_row = np.full(len(table), -1, dtype=np.int64)
    mask_of_row[rows] = np.arange(len(rows))
    return masks, mask_of_row


def _row_columns(
    table: RowTable,
    sequences: tuple[SequenceKey, ...],
    sequence_of_row: IntArray,
    masks: Masks,
    mask_rows: IntArray,
) -> RowColumns:
    count, classes = len(table), table.integers["class"]
    region: BoolArray = classes == REGION
    return RowColumns(
        sequences=sequences,
        sequence_of_row=sequence_of_row,
        frame_numbers=table.integers["frame"],
        frame_flags=np.zeros(count, dtype=np.uint8),
        holds_object=np.ones(count, dtype=np.bool_),
        coordinates=masks.boxes()[mask_rows],
        labels=StringColumn(np.where(region, 0, classes), ("ignore", *CLASSES.values())),
        confidences=np.ones(count),
        track_ids=table.integers["id"],
        flags=np.where(region, ObjectFlag.REGION, 0).astype(np.uint8),
        masks=masks,
        mask_rows=mask_rows,
    )


def _overlap_faults(source: Source) -> list[Fault]:
    """A fault for each frame in which a pixel belongs to several masks."""
    side = source.annotations
    masks = no_masks() if side.masks is None else side.masks
    region = (side.flags & ObjectFlag.REGION) != 0

    def overlap(left: IntArray, right: IntArray) -> BoolArray:
        shared: BoolArray = np.zeros(len(left), dtype=np.bool_)
        near = np.flatnonzero(
            (masks.sizes[left] == masks.sizes[right]).all(axis=1) & ~(region[left] & region[right])
        )
        shared[near] = shared_areas(masks, left[near], masks, right[near]) > 0.0
        return shared

    pairs = self_pairs(BoundingBoxes(side.frame_starts, side.coordinates), overlap)
    expected = "each pixel in one mask at most"
    return [
        source.locate(
            Fault(f"masks that overlap in {side.frame_name(frame)}", expected, entry=frame)
        )
        for frame in np.unique(side.object_frames[pairs.left]).tolist()
    ]


# --- writing ---------------------------------------------------------------------------------


def _write(annotations: Annotations, side: Side, options: WriteOptions) -> Files:
    """Rows in ``<sequence>.txt``."""
    del side, options
    numbers = {name: number for number, name in CLASSES.items()}
    region = (annotations.flags & ObjectFlag.REGION) != 0
    labels = labels_of_objects(annotations)
    classes = np.array([numbers.get(label, 0) for label in labels], dtype=np.int64)
    refuse_values((classes == 0) & ~region, labels, "class", " or ".join(numbers))
    refuse_values(annotations.track_ids < 0, annotations.track_ids, "id", "a track id")
    masks = annotations.masks
    if masks is None:
        masks = no_masks()
        boxes = np.ones(annotations.object_count, dtype=np.bool_)
        refuse_values(boxes, np.full(len(boxes), "a box"), "rle", "a mask for each object")
    faults = [replace(fault, entry=None) for fault in _overlap_faults(Source(annotations, ""))]
    if faults:
        raise InputError(faults)
    fields = (
        annotations.frame_numbers[annotations.object_frames].tolist(),
        annotations.track_ids.tolist(),
        np.where(region, REGION, classes).tolist(),
        *masks.sizes.T.tolist(),
        compressed_texts(masks),
    )
    rows = [" ".join(map(str, row)) + "\n" for row in zip(*fields, strict=True)]
    return {f"{name}.txt": text for name, _, text in sequence_texts(annotations, rows)}


_CAPACITY = Capacity(empty_frames=False, confidences=False, tracks=True, masks=True)
_WRITER = Writer(
    folder=True,
    capacity={
        Side.TRUTH: replace(_CAPACITY, flags=ObjectFlag.REGION),
        Side.DETECTIONS: _CAPACITY,
    },
    write=_write,
)

FORMAT = Format(
    name=NAME,
    title="MOTS text: rows of frame, id, class, height, width and runs, one file per sequence",
    read=read,
    writer=_WRITER,
    pair=pair_text_files,
    matches=matches,
    first_pixel=0,
)
