"""Fingerprints of annotations that do not depend on order, batches or tables.

A fingerprint is the sum, modulo 2**64 in each of two lanes, of a hash of every frame and every
object together with the names of its frame and class. A hash is a weighted sum of the columns'
bits, mixed. Sums commute, so the parts of a stream
and one whole file have the same fingerprint. It tells equal data from unequal data and is no
protection against someone who builds a collision on purpose.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from vidscore_evaluators.annotations import Annotations, SequenceKey
from vidscore_evaluators.arrays import AnyArray

HashArray = NDArray[np.uint64]

_LANE_SEEDS = (0x9E3779B97F4A7C15, 0xD1B54A32D192ED03)
_MULTIPLIERS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_SHIFTS = (np.uint64(30), np.uint64(27), np.uint64(31))
_WORD = 1 << 64
_HALF_WORD = np.uint64(32)

_BLOCK_ROWS = 1 << 14
"""Rows that are hashed at a time, so that a block's columns stay in the processor's cache."""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """Two 64-bit lanes; fingerprints add."""

    lanes: tuple[int, int] = (0, 0)

    def __add__(self, other: Fingerprint) -> Fingerprint:
        """Fingerprint of both contents together."""
        first, second = (
            (mine + yours) % _WORD for mine, yours in zip(self.lanes, other.lanes, strict=True)
        )
        return Fingerprint((first, second))

    def __str__(self) -> str:
        """32 hexadecimal digits."""
        return "".join(f"{lane:016x}" for lane in self.lanes)

    def to_bytes(self) -> bytes:
        """Sixteen bytes, the digits of `str`."""
        return b"".join(lane.to_bytes(8, "big") for lane in self.lanes)

    @classmethod
    def from_bytes(cls, data: bytes) -> Fingerprint:
        """Inverse of `to_bytes`.

        Raises:
            ValueError: If these are not sixteen bytes.
        """
        if len(data) != 16:
            raise ValueError(f"a fingerprint has 16 bytes, not {len(data)}")
        return cls((int.from_bytes(data[:8], "big"), int.from_bytes(data[8:16], "big")))


def fingerprint(annotations: Annotations) -> Fingerprint:
    """Fingerprint of every frame and object: names, numbers, coordinates, flags and columns."""
    first, second = _totals(annotations)
    return Fingerprint((first % _WORD, second % _WORD))


def _totals(annotations: Annotations) -> list[int]:
    """Sum of all hashes in each lane."""
    frames = _frame_hashes(annotations)
    labels = _as_hashes(map(_digest, annotations.labels))
    columns = _columns(annotations)
    totals = [int(lane.sum(dtype=np.uint64)) for lane in frames]
    object_frames = annotations.object_frames
    for start in range(0, annotations.object_count, _BLOCK_ROWS):
        rows = slice(start, start + _BLOCK_ROWS)
        frame_rows, label_rows = object_frames[rows], annotations.label_indices[rows]
        label_hashes = labels[_uniform(label_rows)]
        words = [(column, _words(_uniform(column.values[rows]))) for column in columns]
        for lane, seed in enumerate(_LANE_SEEDS):
            state = frames[lane][frame_rows] ^ label_hashes
            for column, bits in words:
                state += column.weighted(bits, seed, rows)
            totals[lane] += int(_finish(state).sum(dtype=np.uint64))
    return totals


def _frame_hashes(annotations: Annotations) -> list[HashArray]:
    """(F,) hash of each frame, in each lane."""
    sequences = _as_hashes(map(_digest, annotations.sequences))
    numbers, flags = _words(annotations.frame_numbers), _words(annotations.frame_flags)
    return [
        _finish(
            (sequences ^ np.uint64(seed))[annotations.frame_sequences]
            + numbers * _key(seed, "frame_number")
            + flags * _key(seed, "frame_flags")
        )
        for seed in _LANE_SEEDS
    ]


@dataclass(frozen=True, eq=False)
class _Column:
    """A column of objects that is hashed under a name.

    Attributes:
        name: What its weights are derived from.
        values: (N,) values.
        optional: Whether NaN stands for no content: a part of the data that lacks the column is
            NaN in the whole.
    """

    name: str
    values: AnyArray
    optional: bool = False

    def weighted(self, words: HashArray, seed: int, rows: slice) -> HashArray:
        """The words of some rows with the column's weight in a lane."""
        weighted = words * _key(seed, self.name)
        if self.optional:
            return np.where(np.isnan(self.values[rows]), np.uint64(0), weighted)
        return weighted


def _columns(annotations: Annotations) -> list[_Column]:
    coordinates = enumerate(annotations.coordinates.T)
    return [
        *(_Column(f"coordinate_{index}", values) for index, values in coordinates),
        _Column("confidence", annotations.confidences),
        _Column("track_id", annotations.track_ids),
        _Column("flags", annotations.flags),
        *(_Column(f"column {name}", column, True) for name, column in annotations.columns.items()),
    ]


def _uniform(values: AnyArray) -> AnyArray:
    """The first value alone where all are equal, as they are in many a column."""
    return values[:1] if (values == values[0]).all() else values


@lru_cache(maxsize=1024)
def _key(seed: int, name: str) -> np.uint64:
    """The odd weight of a column: with one for each, swapped columns are told apart."""
    digest = hashlib.blake2b(f"{seed} {name}".encode(), digest_size=8).digest()
    return np.uint64(int.from_bytes(digest, "little") | 1)


def _words(column: AnyArray) -> HashArray:
    """64 bits of each value, equal for equal values."""
    if column.dtype == np.float64:
        # 0.0 and -0.0 are one number with two bit patterns; adding 0.0 leaves the first.
        bits = (column + 0.0).view(np.uint64)
        # Small whole numbers fill the high bits alone, which a product never brings down.
        return bits ^ (bits >> _HALF_WORD)
    return column.astype(np.uint64)


def _finish(state: HashArray) -> HashArray:
    """Mix the bits of every state: the finaliser of the splitmix64 generator."""
    mixed = (state ^ (state >> _SHIFTS[0])) * _MULTIPLIERS[0]
    mixed = (mixed ^ (mixed >> _SHIFTS[1])) * _MULTIPLIERS[1]
    return mixed ^ (mixed >> _SHIFTS[2])


def _as_hashes(digests: Iterable[bytes]) -> HashArray:
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)


@lru_cache(maxsize=1 << 14)
def _digest(name: str | SequenceKey) -> bytes:
    """Eight bytes; remembered, because both sides and every batch of a stream name the same."""
    text = name if isinstance(name, str) else "\x00".join(name)
    return hashlib.blake2b(text.encode(), digest_size=8).digest()
