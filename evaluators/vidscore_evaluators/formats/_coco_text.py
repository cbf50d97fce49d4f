"""COCO's entries, read by a compiled loop from the bytes directly into columns.

It reads what programs usually write: numbers for ids, known keys at most once, polygons, runs, and
strings of runs. Any other text is left to the parser, with its faults; so is text whose numbers
break a rule. The result equals that of the parser and the rules of `_coco_entries`.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

import numpy as np
import orjson
from msgspec import Struct
from msgspec.structs import replace

from vidscore_evaluators.annotations import BOX
from vidscore_evaluators.arrays import AnyArray, FlagArray, FloatArray, IntArray, starts_from_counts
from vidscore_evaluators.formats._coco_entries import ANNOTATION_RULES, RESULT_RULES, Entries, Rules
from vidscore_evaluators.formats._coco_segmentations import FlatSegmentations, Form
from vidscore_evaluators.kernels.reading import count_bytes, parse_coco

_INTEGERS = ("image_id", "category_id", "track_id", "instance_id", "iscrowd", "ignore")
_NUMBERS = ("score", "area")
_KEYS = (*_INTEGERS, "segmentation", "bbox", *_NUMBERS)
"""Keys in the order of the compiled loop."""

_OF_SEGMENTATION = 4


class TextEntries(Struct, frozen=True, eq=False):
    """Entries that were read from text.

    Attributes:
        entries: All of them.
        document: The object without them; None if the text is only their array.
    """

    entries: Entries
    document: dict[str, Any] | None


def read_text(data: bytes) -> TextEntries | None:
    """The entries of results, or of an object's annotations; None if the parser is needed.

    Args:
        data: UTF-8 without a byte order mark.
    """
    if not _is_utf8(data):
        return None
    is_object = data.lstrip(b" \t\r\n")[:1] == b"{"
    rules = ANNOTATION_RULES if is_object else RESULT_RULES
    found = _Found.of(data, rules)
    if found is None or not found.read_rest(data):
        return None
    columns = found.columns(rules)
    if not all(rules[key].fits(column) for key, column in columns.items()):
        return None
    boxes, missing = found.boxes()
    if not rules["bbox"].fits(boxes[~missing]):
        return None
    entries = Entries(
        {**columns, "bbox": boxes, "segmentation": found.segmentations()},
        np.arange(found.count, dtype=np.int64),
    )
    if not is_object:
        return TextEntries(entries, None)
    start, end = found.totals[:2].tolist()
    try:
        document = orjson.loads(data[:start] + b"[]" + data[end:])
    except orjson.JSONDecodeError:
        return None
    return TextEntries(entries, document)


def _is_utf8(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


class _Found(Struct, frozen=True, eq=False):
    """Results of the compiled loop, in arrays with spare room.

    Attributes:
        room: Number of entries that fit.
        count: Number of entries.
        totals: Start and end of their array in an object; numbers of parts, coordinates, runs,
            characters, and numbers that are not yet read.
        integers: (10, room) columns of `_INTEGERS`; then for each segmentation its form, its length
            in parts, runs or characters, and its height and width.
        numbers: Boxes, columns of `_NUMBERS`, and coordinates of polygons' parts.
        part_lengths: Number of coordinates of each part.
        runs: Runs.
        characters: Characters.
        unread: Places in `numbers`, each with the start and end of its number in the text.
    """

    room: int
    count: int
    totals: IntArray
    integers: IntArray
    numbers: FloatArray
    part_lengths: IntArray
    runs: IntArray
    characters: FlagArray
    unread: IntArray

    @classmethod
    def of(cls, data: bytes, rules: Rules) -> _Found | None:
        """Read a text by the rules of its entries; None if it cannot be."""
        text = np.frombuffer(data + b"\0", dtype=np.uint8)
        # Room for the largest possible number; untouched memory costs nothing.
        room, commas = (count_bytes(text, len(text), ord(character)) for character in "{,")
        most = commas + 1
        found = cls(
            room=room,
            count=0,
            totals=np.zeros(7, dtype=np.int64),
            integers=np.empty((len(_INTEGERS) + _OF_SEGMENTATION, room), dtype=np.int64),
            numbers=np.empty((BOX + len(_NUMBERS)) * room + most),
            part_lengths=np.empty(most, dtype=np.int64),
            runs=np.empty(most, dtype=np.int64),
            characters=np.empty(len(data), dtype=np.uint8),
            unread=np.empty((most, 3), dtype=np.int64),
        )
        count = parse_coco(
            *(text, len(data), _bits(rules), _bits(_required(rules)), _defaults(rules), room),
            *(found.integers, found.numbers, found.part_lengths, found.runs),
            *(found.characters, found.unread, found.totals),
        )
        return None if count < 0 else replace(found, count=count)

    def read_rest(self, data: bytes) -> bool:
        """Read the numbers with many digits or decimals; return whether all are finite."""
        unread = self.unread[: self.totals[-1]]
        numbers = [float(data[start:end]) for _, start, end in unread.tolist()]
        self.numbers[unread[:, 0]] = numbers
        return all(map(math.isfinite, numbers))

    def columns(self, rules: Rules) -> dict[str, AnyArray]:
        """(N,) columns of the rules' keys."""
        first = BOX * self.room
        numbers = self.numbers[first : first + len(_NUMBERS) * self.room]
        named = zip(
            (*_INTEGERS, *_NUMBERS),
            (*self.integers[: len(_INTEGERS)], *numbers.reshape(len(_NUMBERS), self.room)),
            strict=True,
        )
        return {key: column[: self.count] for key, column in named if key in rules}

    def boxes(self) -> tuple[FloatArray, AnyArray]:
        """(N, 4) boxes, NaN if left out, and a mask of those."""
        boxes = self.numbers[: BOX * self.count].reshape(-1, BOX)
        return boxes, np.isnan(boxes[:, 0])

    def segmentations(self) -> FlatSegmentations:
        """The segmentations."""
        parts, coordinates, runs, characters = self.totals[2:-1].tolist()
        forms, lengths, *size = self.integers[len(_INTEGERS) :, : self.count]
        starts = np.zeros(self.count, dtype=np.int64)
        for form in (Form.POLYGONS, Form.RUNS, Form.TEXT):
            own = forms == form
            starts[own] = starts_from_counts(lengths[own])[:-1]
        part_lengths = self.part_lengths[:parts]
        first = (BOX + len(_NUMBERS)) * self.room
        return FlatSegmentations(
            forms=forms,
            own_sizes=np.stack(size, axis=1),
            starts=starts,
            lengths=lengths,
            coordinates=self.numbers[first : first + coordinates],
            part_starts=starts_from_counts(part_lengths)[:-1],
            part_lengths=part_lengths,
            runs=self.runs[:runs],
            characters=self.characters[:characters],
        )


def _bits(keys: Collection[str]) -> int:
    """The bits of some keys; keys that are not read have none."""
    return sum(1 << bit for bit, key in enumerate(_KEYS) if key in keys)


def _required(rules: Rules) -> set[str]:
    """Keys that each entry must have; its box may be missing beside a segmentation."""
    return {key for key, rule in rules.items() if rule.default is None} - {"bbox"}


def _defaults(rules: Rules) -> FloatArray:
    """Default of each key that an entry leaves out; NaN for a box."""
    given = {key: rule.default for key, rule in rules.items() if rule.default is not None}
    given |= {"segmentation": 0, "bbox": math.nan}
    return np.array([given.get(key, 0) for key in _KEYS], dtype=np.float64)
