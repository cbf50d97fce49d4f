"""The interface of a file format: how it is recognised, read, checked against a truth, and written.

A format writes one side as a few files, whose content is a pure function of the annotations. Data
beyond its `Capacity` is dropped beforehand (`vidscore_evaluators.formats.convert`).
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from itertools import chain, count, pairwise
from types import MappingProxyType

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from vidscore_evaluators.annotations import (
    BOX,
    IMAGES,
    POINT,
    QUADRILATERAL,
    Annotations,
    ObjectFlag,
    SequenceKey,
    Side,
    frame_keys,
)
from vidscore_evaluators.arrays import AnyArray, FloatArray, IntArray
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats._files import InputPath
from vidscore_evaluators.formats.source import (
    Files,
    Numbering,
    PairReading,
    Reading,
    ReadOptions,
    Source,
)
from vidscore_evaluators.names import is_formula
from vidscore_evaluators.validation import MAXIMUM_COORDINATE_PX

NO_FLAG = ObjectFlag(0)
EVERY_FLAG = ObjectFlag.IGNORE | ObjectFlag.CROWD | ObjectFlag.REGION | ObjectFlag.DISTRACTOR

_NO_FORMULA = "a name that no spreadsheet takes for a formula, as one that begins with =, +, - or @"

_WORD = re.compile(r'[^\s,"]+')

_OF_NO_VIDEO = SequenceKey("", IMAGES)

UNNAMED = "object"
"""Class of objects without a class, in files that require one."""


class Capacity(Struct, frozen=True):
    """What one side of a format can represent.

    Attributes:
        arities: Possible numbers of coordinates per object.
        domains: Whether sequences have domains.
        empty_frames: Whether a frame without objects can be listed.
        dont_care_frames: Whether a frame can be marked.
        classes: Whether objects have classes.
        confidences: Whether objects have confidences.
        tracks: Whether objects have track ids.
        flags: Flags that objects can have.
        marks: The flag that all objects of a class have there, by the label of the class.
        columns: Named columns; None for any.
        times: Whether frames have times.
        arrivals: Whether the answers to frames have arrivals.
        masks: Whether objects have masks.
    """

    arities: tuple[int, ...] = (BOX,)
    domains: bool = False
    empty_frames: bool = True
    dont_care_frames: bool = False
    classes: bool = True
    confidences: bool = True
    tracks: bool = False
    flags: ObjectFlag = NO_FLAG
    marks: Mapping[str, ObjectFlag] = MappingProxyType({})
    columns: frozenset[str] | None = frozenset()
    times: bool = False
    arrivals: bool = False
    masks: bool = False


EVERYTHING = Capacity(
    arities=(POINT, BOX, QUADRILATERAL),
    domains=True,
    dont_care_frames=True,
    tracks=True,
    flags=EVERY_FLAG,
    columns=None,
    times=True,
    arrivals=True,
    masks=True,
)
CAPACITY = {
    Side.TRUTH: replace(EVERYTHING, confidences=False, arrivals=False),
    Side.DETECTIONS: EVERYTHING,
}
"""Capacities of both sides in our own formats."""


class WriteOptions(Struct, frozen=True):
    """Facts that writing needs and annotations lack.

    Attributes:
        truth: Annotations that define the numbers of images and classes; None for the written ones.
        image_sizes: (F, 2) width and height of each frame's image in pixels; 0 if unknown.
        unmarked: Don't-care frames that were left out because they cannot be marked.
        numbering: Numbers in the truth's own files; if these have another format, only of classes.
    """

    truth: Annotations | None = None
    image_sizes: IntArray = field(default_factory=lambda: np.zeros((0, 2), dtype=np.int64))
    unmarked: Annotations | None = None
    numbering: Numbering | None = None


class Writer(Struct, frozen=True):
    """How a format is written.

    Attributes:
        folder: Whether it is a folder of files, not one file.
        capacity: What each side can represent.
        write: Returns the content of the files, for annotations within the capacity.
        remarks: Returns other changes to such annotations, in sentences.
        least_frame: Minimum frame number.
    """

    folder: bool
    capacity: Mapping[Side, Capacity]
    write: Callable[[Annotations, Side, WriteOptions], Files]
    remarks: Callable[[Annotations, Side, WriteOptions], tuple[str, ...]] = (
        lambda _annotations, _side, _options: ()
    )
    least_frame: int = 0


class Format(Struct, frozen=True):
    """A file format.

    Attributes:
        name: Its name on the command line.
        title: One line for lists.
        read: Reads one side. Raises InputError if nothing can be read.
        writer: Its writer.
        pair: Checks detections against truth, given the known sequences; if left out, there are no
            checks.
        matches: Whether a path is of this format, by its content; it gets the first bytes, which
            are empty for a folder. Not called if those alone decide
            (`vidscore_evaluators.formats._heads`).
        by_sequence: Whether readers can find sequences without reading the others.
        first_frame: Number of the first frame of a video, if the format defines it.
        first_pixel: Coordinate of the left or upper edge of an image's first pixel, if the format
            defines it.
    """

    name: str
    title: str
    read: Callable[[InputPath, Side, ReadOptions], Reading]
    writer: Writer
    pair: Callable[[Source, Source, frozenset[SequenceKey]], PairReading] = (
        lambda _truth, detections, _known: PairReading(detections)
    )
    matches: Callable[[InputPath, bytes], bool] = lambda _path, _head: False
    by_sequence: bool = False
    first_frame: int | None = None
    first_pixel: int | None = None


# --- shared by writers -----------------------------------------------------------------------


def frame_order(annotations: Annotations) -> IntArray:
    """(F,) rows of the frames in ascending order of domain, sequence and number."""
    ranks = {key: rank for rank, key in enumerate(sorted(set(annotations.sequences)))}
    rank = np.array([ranks[key] for key in annotations.sequences], dtype=np.int64)
    return np.lexsort((annotations.frame_numbers, rank[annotations.frame_sequences]))


def in_order(annotations: Annotations) -> Annotations:
    """The same annotations, with frames sorted by domain, sequence and number."""
    return annotations.take_frames(frame_order(annotations))


def file_name(name: str, what: str) -> str:
    """Check that a name is safe as a file name, and return it.

    Raises:
        InputError: If it is not.
    """
    if not name or name.startswith(".") or set(name) & set('/\\:*?"<>|\0\n\r\t'):
        expected = "a name that a file can have"
        raise InputError([Fault(repr(name), expected, field=what)])
    return name


def refuse_formulas(annotations: Annotations) -> None:
    """Refuse names that a spreadsheet would run, since none is both unchanged and safe.

    Raises:
        InputError: With every such name.
    """
    names = [
        *(("domain", key.domain) for key in annotations.sequences),
        *(("sequence", key.sequence) for key in annotations.sequences),
        *(("class", label) for label in annotations.labels),
        *(("column", name) for name in annotations.columns),
    ]
    faults = dict.fromkeys(
        Fault(repr(name)[:80], _NO_FORMULA, field=field, advice="write a JSON format in its place")
        for field, name in names
        if is_formula(name)
    )
    if faults:
        raise InputError(list(faults))


def refuse_unnamed(annotations: Annotations) -> None:
    """Refuse frames of a sequence without a name, if rows must name their sequence.

    Raises:
        InputError: If there is one.
    """
    used = np.unique(annotations.frame_sequences).tolist()
    if not all(annotations.sequences[row].sequence for row in used):
        raise InputError([Fault("a sequence without a name", "a name", field="sequence")])


def shortest_number(value: float) -> int | float:
    """A number; integers are written without a point."""
    return int(value) if float(value).is_integer() else value


def write_csv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    """A CSV file."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue().encode()


def object_rows(annotations: Annotations, separator: str, *columns: AnyArray) -> list[str]:
    """The row of each object: frame, track, and columns."""
    frames = annotations.frame_numbers[annotations.object_frames]
    return text_rows(separator, frames, annotations.track_ids, *columns)


def text_rows(separator: str, *columns: AnyArray) -> list[str]:
    """Rows of columns, each with its line end."""
    return [separator.join(row) + "\n" for row in zip(*map(_digits, columns), strict=True)]


def _digits(column: AnyArray) -> list[str]:
    """Numbers with all digits, integers without a point."""
    if column.dtype.kind == "b":
        column = column.astype(np.int64)
    return [
        str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
        for value in column.tolist()
    ]


def sequence_texts(
    annotations: Annotations, rows: Sequence[str]
) -> Iterator[tuple[str, AnyArray, bytes]]:
    """Name, frame rows and file content of each sequence; empty without frames."""
    starts, owners = annotations.frame_starts, annotations.frame_sequences
    by_sequence = np.argsort(owners, kind="stable")
    bounds = np.searchsorted(owners[by_sequence], np.arange(len(annotations.sequences) + 1))
    for key, (first, end) in zip(annotations.sequences, pairwise(bounds.tolist()), strict=True):
        frames = by_sequence[first:end]
        # Frames are sorted, so those of a sequence are adjacent.
        text = "".join(rows[starts[frames[0]] : starts[frames[-1] + 1]]) if len(frames) else ""
        yield file_name(key.sequence, "sequence"), frames, text.encode()


def left_top_and_size(annotations: Annotations) -> list[FloatArray]:
    """Columns of boxes: left, top, width and height.

    Raises:
        InputError: If a box is larger than readers accept.
    """
    x1, y1, x2, y2 = annotations.coordinates.T
    columns = [x1, y1, x2 - x1, y2 - y1]
    for name, sizes in zip(("width", "height"), columns[2:], strict=True):
        expected = f"a number from 0 to {MAXIMUM_COORDINATE_PX:g}"
        refuse_values(sizes > MAXIMUM_COORDINATE_PX, sizes, name, expected)
    return columns


def refuse_values(wrong: AnyArray, values: AnyArray, field: str, expected: str) -> None:
    """Refuse values that a format cannot represent, each once.

    Raises:
        InputError: If any is wrong.
    """
    found = dict.fromkeys(str(value) for value in values[wrong].tolist())
    if found:
        raise InputError([Fault(text or "nothing", expected, field=field) for text in found])


def refuse_no_words(texts: Iterable[str], field: str, what: str) -> None:
    """Refuse strings that blank-separated rows cannot hold; readers treat a comma as a blank.

    Raises:
        InputError: With each string that is not one word.
    """
    wrong = dict.fromkeys(text for text in texts if not _WORD.fullmatch(text))
    expected = f"{what} of one word, without comma and quotation mark"
    if wrong:
        raise InputError([Fault(text or "nothing", expected, field=field) for text in wrong])


def refuse_unknown_frames(
    frames: Sequence[tuple[SequenceKey, int]], known: Container[tuple[SequenceKey, int]]
) -> None:
    """Refuse detections of frames that their truth does not have.

    Raises:
        InputError: With each of them.
    """
    faults = [
        Fault(f"frame {number} of sequence {key.sequence}", "a frame of the truth")
        for key, number in frames
        if (key, number) not in known
    ]
    if faults:
        raise InputError(faults)


class ImageNumbers(Struct, frozen=True, eq=False):
    """Numbers of the frames and classes of a truth, equal on both sides of a benchmark.

    Attributes:
        sequences: Sequences of the truth, sorted, numbered from 1.
        frames: Number or other id of each image by sequence and frame: from the truth's own files;
            else, its frame number if it belongs to no video, and the next free number from 1 if it
            belongs to one.
        classes: Number of each class by its label: from the truth's own files, else its rank among
            the sorted labels.
    """

    sequences: tuple[SequenceKey, ...]
    frames: Mapping[tuple[SequenceKey, int], int | str]
    classes: Mapping[str, int]

    @property
    def names(self) -> tuple[str, ...]:
        """A name for each class; objects without a class get one, since files require it."""
        tried = chain([UNNAMED], (f"{UNNAMED} {number}" for number in count(2)))
        unnamed = next(name for name in tried if name not in self.classes)
        return tuple(label or unnamed for label in self.classes)

    @classmethod
    def of(cls, annotations: Annotations, options: WriteOptions, first_class: int) -> ImageNumbers:
        """The numbers of the truth or, without one, of the written annotations."""
        own = Numbering() if options.numbering is None else options.numbering
        truth = in_order(annotations if options.truth is None else options.truth)
        used = np.unique(truth.frame_sequences).tolist()
        sequences = tuple(sorted(truth.sequences[index] for index in used))
        keys = frame_keys(truth)
        lone = {number for key, number in keys if key == _OF_NO_VIDEO}
        others = (number for number in count(1) if number not in lone)
        places = [number if key == _OF_NO_VIDEO else next(others) for key, number in keys]
        listed = sorted({*used_labels(truth), *own.labels.values()})
        # Without images, the numbers are from another format.
        numbered = own.labels if own.frames else dict(enumerate(listed, start=first_class))
        frames = {frame: image for image, frame in own.frames.items()}
        classes = {label: number for number, label in numbered.items()}
        return cls(sequences, frames or dict(zip(keys, places, strict=True)), classes)

    def of_frames(self, annotations: Annotations) -> AnyArray:
        """(F,) number or other id of each frame's image.

        Raises:
            InputError: If a frame is not in the truth.
        """
        keys = frame_keys(annotations)
        refuse_unknown_frames(keys, self.frames)
        return np.array([self.frames[key] for key in keys], dtype=np.object_)

    def of_labels(self, annotations: Annotations) -> IntArray:
        """(labels,) number of the class of each label of a table; -1 for unused labels.

        Raises:
            InputError: If a label in use is not in the truth.
        """
        unknown = [label for label in used_labels(annotations) if label not in self.classes]
        if unknown:
            raise InputError([Fault(repr(label), "a class of the truth") for label in unknown])
        return np.array(
            [self.classes.get(label, -1) for label in annotations.labels], dtype=np.int64
        )


def used_labels(annotations: Annotations) -> list[str]:
    """The labels that objects have, in the order of their table."""
    return [annotations.labels[row] for row in np.unique(annotations.label_indices).tolist()]


def labels_of_objects(annotations: Annotations) -> np.ndarray[tuple[int], np.dtype[np.object_]]:
    """(N,) label of each object."""
    return np.array(annotations.labels or ("",), dtype=object)[annotations.label_indices]


def class_names(annotations: Annotations, options: WriteOptions) -> list[str]:
    """A name for each label; objects without one are `UNNAMED`, since files require a name.

    Raises:
        InputError: If objects without a class would join a class of that name.
    """
    sides = [annotations] if options.truth is None else [annotations, options.truth]
    if {"", UNNAMED}.issubset(label for side in sides for label in used_labels(side)):
        found = f"objects without a class beside the class {UNNAMED!r}"
        raise InputError([Fault(found, "a class for each, since files have none without one")])
    return [label or UNNAMED for label in annotations.labels]


def unnamed_remarks(annotations: Annotations, side: Side, options: WriteOptions) -> tuple[str, ...]:
    """Remark that objects without a class get one."""
    del side, options
    unnamed = "" in used_labels(annotations)
    return ("objects without a class became a class of their own",) if unnamed else ()
