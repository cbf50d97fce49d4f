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

from vidscore_evaluators.annotations import Annotations
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
    sequences = _hash_texts("\x00".join(key) for key in annotations.sequences)
    labels = _hash_texts(annotations.labels)
    first, second = (_lane(annotations, seed, sequences, labels) for seed in _LANE_SEEDS)
    return Fingerprint((first, second))


def _lane(annotations: Annotations, seed: int, sequences: HashArray, labels: HashArray) -> int:
    frames = _finish(
        (sequences ^ np.uint64(seed))[annotations.frame_sequences]
        + _weighted(annotations.frame_numbers, _key(seed, "frame_number"))
        + _weighted(annotations.frame_flags, _key(seed, "frame_flags"))
    )
    columns = [
        *(
            (f"coordinate_{index}", column)
            for index, column in enumerate(annotations.coordinates.T)
        ),
        ("confidence", annotations.confidences),
        ("track_id", annotations.track_ids),
        ("flags", annotations.flags),
    ]
    keyed = [(_key(seed, name), column) for name, column in columns]
    named = [
        (_key(seed, f"column {name}"), annotations.columns[name]) for name in annotations.columns
    ]
    total = int(frames.sum(dtype=np.uint64))
    object_frames = annotations.object_frames
    for start in range(0, annotations.object_count, _BLOCK_ROWS):
        rows = slice(start, start + _BLOCK_ROWS)
        state = frames[object_frames[rows]] ^ labels[annotations.label_indices[rows]]
        for key, column in keyed:
            state += _weighted(column[rows], key)
        for key, column in named:
            # A part of the data that lacks the column is NaN in the whole: no content.
            state += np.where(np.isnan(column[rows]), np.uint64(0), _weighted(column[rows], key))
        total += int(_finish(state).sum(dtype=np.uint64))
    return total % _WORD


@lru_cache(maxsize=1024)
def _key(seed: int, name: str) -> np.uint64:
    """The odd weight of a column: with one for each, swapped columns are told apart."""
    digest = hashlib.blake2b(f"{seed} {name}".encode(), digest_size=8).digest()
    return np.uint64(int.from_bytes(digest, "little") | 1)


def _weighted(column: AnyArray, key: np.uint64) -> HashArray:
    if column.dtype == np.float64:
        # 0.0 and -0.0 are one number with two bit patterns; adding 0.0 leaves the first.
        bits = (column + 0.0).view(np.uint64)
        # Small whole numbers fill the high bits alone, which a product never brings down.
        return (bits ^ (bits >> _HALF_WORD)) * key
    return column.astype(np.uint64) * key


def _finish(state: HashArray) -> HashArray:
    """Mix the bits of every state: the finaliser of the splitmix64 generator."""
    mixed = (state ^ (state >> _SHIFTS[0])) * _MULTIPLIERS[0]
    mixed = (mixed ^ (mixed >> _SHIFTS[1])) * _MULTIPLIERS[1]
    return mixed ^ (mixed >> _SHIFTS[2])


def _hash_texts(texts: Iterable[str]) -> HashArray:
    digests = [hashlib.blake2b(text.encode(), digest_size=8).digest() for text in texts]
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)
