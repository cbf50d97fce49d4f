"""Fingerprints of annotations that do not depend on order, batches or tables.

A fingerprint is the sum, modulo 2**64 in each of two lanes, of a hash of every frame and every
object together with the names of its frame and class. Sums commute, so the parts of a stream
and one whole file have the same fingerprint. It tells equal data from unequal data and is no
protection against someone who builds a collision on purpose.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.arrays import AnyArray

HashArray = NDArray[np.uint64]

_SEEDS = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD1B54A32D192ED03))
_MULTIPLIERS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_SHIFTS = (np.uint64(30), np.uint64(27), np.uint64(31))
_WORD = 1 << 64


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
        """Inverse of `to_bytes`."""
        return cls((int.from_bytes(data[:8], "big"), int.from_bytes(data[8:16], "big")))


def fingerprint(annotations: Annotations) -> Fingerprint:
    """Fingerprint of every frame and object: names, numbers, coordinates, flags and columns."""
    first, second = (_lane(annotations, seed) for seed in _SEEDS)
    return Fingerprint((first, second))


def _lane(annotations: Annotations, seed: np.uint64) -> int:
    sequences = _hash_texts("\x00".join(key) for key in annotations.sequences)
    labels = _hash_texts(annotations.labels)
    frames = _absorb(np.full(annotations.frame_count, seed), sequences[annotations.frame_sequences])
    for frame_column in (annotations.frame_numbers, annotations.frame_flags):
        frames = _absorb(frames, _bits(frame_column))
    objects = np.repeat(frames, annotations.object_counts)
    objects = _absorb(objects, labels[annotations.label_indices])
    for column in (
        *annotations.coordinates.T,
        annotations.confidences,
        annotations.track_ids,
        annotations.flags,
    ):
        objects = _absorb(objects, _bits(column))
    for name in sorted(annotations.columns):
        objects = _absorb(objects, _hash_texts([name])[0] ^ _bits(annotations.columns[name]))
    total = int(frames.sum(dtype=np.uint64)) + int(objects.sum(dtype=np.uint64))
    return total % _WORD


def _absorb(state: HashArray, word: HashArray) -> HashArray:
    """Mix one word into every state: the finaliser of the splitmix64 generator."""
    mixed = (state ^ word) + _SEEDS[0]
    mixed = (mixed ^ (mixed >> _SHIFTS[0])) * _MULTIPLIERS[0]
    mixed = (mixed ^ (mixed >> _SHIFTS[1])) * _MULTIPLIERS[1]
    return mixed ^ (mixed >> _SHIFTS[2])


def _bits(column: AnyArray) -> HashArray:
    if column.dtype == np.float64:
        # 0.0 and -0.0 are one number with two bit patterns; adding 0.0 leaves the first.
        return np.ascontiguousarray(column + 0.0).view(np.uint64)
    return column.astype(np.uint64)


def _hash_texts(texts: Iterable[str]) -> HashArray:
    digests = [hashlib.blake2b(text.encode(), digest_size=8).digest() for text in texts]
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)
