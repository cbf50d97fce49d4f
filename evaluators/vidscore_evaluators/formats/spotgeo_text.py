"""The usual text of spotGEO JSON, read as columns without making an object of each entry.

Programs write the format with its keys in one order and without free white space. Then the text
without its numbers is known but for the objects of each entry, and the numbers without the text
are one flat array, which a JSON parser reads in half the time of the nested one. That the text is
of this kind is checked to the last byte; where it is not, nothing is said about it, and it is read
entry by entry.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from operator import itemgetter
from typing import NamedTuple

import numpy as np
import orjson

from vidscore_evaluators.arrays import FloatArray, IntArray, starts_from_counts

KEYS = ("sequence_id", "frame", "num_objects", "object_coords")
GREATEST_WHOLE = 2**53 - 1
"""Greatest whole number up to which a binary64 tells each from the next."""

LEADING = 3
"""Numbers of an entry before its coordinates."""

_POINT = 2
_NUMERIC = b"0123456789+-."
_BETWEEN = bytes(set(range(256)) - set(_NUMERIC) - {ord(",")})
_HEAD = b'{"sequence_id":,"frame":,"num_objects":,"object_coords":['

_KINDS = 7
_OTHER, _NUMBER, _COLON, _OPEN, _COMMA, _CLOSE, _END = range(_KINDS)


class FlatColumns(NamedTuple):
    """The numbers of E entries with N objects: whole numbers but for the (N, 2) coordinates."""

    sequence_ids: IntArray
    frames: IntArray
    counts: IntArray
    coordinates: FloatArray


def read_flat_columns(data: bytes) -> FlatColumns | None:
    """The columns of a text, or None where it is not of the usual kind.

    Args:
        data: UTF-8 without a byte order mark.
    """
    text = _compact(data)
    lengths = _object_counts(text)
    if lengths is None or not _numbers_stand_right(text):
        return None
    flat = _numbers(text)
    sizes = LEADING + _POINT * lengths
    if flat is None or len(flat) != sizes.sum():
        return None
    return _columns(flat, lengths, starts_from_counts(sizes))


def _compact(data: bytes) -> bytes:
    """The text without the blanks that JSON writers put after separators."""
    compact = data.strip()
    for blank in (b" ", b"\n"):
        if blank in compact:
            compact = compact.replace(b"," + blank, b",").replace(b":" + blank, b":")
    return compact


def _object_counts(text: bytes) -> IntArray | None:
    """Objects of each entry; None where something but numbers is not as usual.

    Without what numbers are made of, each entry is the same but for its objects.
    """
    bare = text.translate(None, _NUMERIC)
    if not (bare.startswith(b"[{") and bare.endswith(b"]}]")):
        return None
    entries = bare[1:-2].split(b"},")
    counts = {entry: _object_count(entry) for entry in set(entries)}
    if None in counts.values():
        return None
    return np.fromiter(map(counts.__getitem__, entries), dtype=np.int64, count=len(entries))


def _object_count(entry: bytes) -> int | None:
    count = entry.count(b"[,]")
    return count if entry == _HEAD + b",".join([b"[,]"] * count) + b"]" else None


def _kinds() -> bytes:
    """Of each byte, what it is to a number beside it."""
    kinds = bytearray(256)
    for signs, kind in (
        (_NUMERIC, _NUMBER),
        (b":", _COLON),
        (b"[", _OPEN),
        (b",", _COMMA),
        (b"]", _CLOSE),
        (b"}", _END),
    ):
        for sign in signs:
            kinds[sign] = kind
    return bytes(kinds)


def _wrongs() -> bytes:
    """Of each pair of kinds, ``first * _KINDS + second``, whether it is no such text."""
    wrong = {
        *product((_OTHER, _CLOSE, _END), [_NUMBER]),
        *product([_NUMBER], (_OTHER, _COLON, _OPEN)),
        *product([_COLON], set(range(_KINDS)) - {_NUMBER, _OPEN}),
        *product([_COMMA], (_COMMA, _CLOSE, _END)),
        (_OPEN, _COMMA),
    }
    pairs = product(range(_KINDS), repeat=2)
    return bytes(pair in wrong for pair in pairs).ljust(256, b"\0")


_KIND_OF = _kinds()
_IS_WRONG = _wrongs()


def _numbers_stand_right(text: bytes) -> bool:
    """Whether numbers stand wherever one must, and nowhere else but in the arrays of no object.

    A number begins after ``:``, ``[`` or ``,`` and ends before ``,``, ``]`` or ``}``, and none of
    these stand side by side where there should be one between them.
    """
    kinds = np.frombuffer(text.translate(_KIND_OF), dtype=np.uint8)
    pairs = kinds[:-1] * np.uint8(_KINDS) + kinds[1:]
    return b"\1" not in pairs.tobytes().translate(_IS_WRONG)


def _numbers(text: bytes) -> list[int | float] | None:
    """Every number, in order; None where one is none."""
    # An entry without objects has nothing after its last comma.
    flat = text.translate(None, _BETWEEN).replace(b",,", b",").rstrip(b",")
    try:
        numbers: list[int | float] = orjson.loads(b"[%b]" % flat)
    except orjson.JSONDecodeError:
        return None
    return numbers


def _columns(
    flat: Sequence[int | float], lengths: IntArray, starts: IntArray
) -> FlatColumns | None:
    """Part the numbers; None where a count is wrong, or a whole number is written as another."""
    leading = (starts[:-1, np.newaxis] + np.arange(LEADING)).reshape(-1)
    if set(map(type, itemgetter(*leading.tolist())(flat))) != {int}:
        return None
    numbers = np.fromiter(flat, dtype=np.float64, count=len(flat))
    is_coordinate = np.ones(len(flat), dtype=np.bool_)
    is_coordinate[leading] = False
    whole = numbers[leading]
    if np.abs(whole).max() > GREATEST_WHOLE:
        return None
    ids, frames, counts = whole.astype(np.int64).reshape(-1, LEADING).T
    if not np.array_equal(counts, lengths):
        return None
    return FlatColumns(ids, frames, counts, numbers[is_coordinate].reshape(-1, _POINT))
