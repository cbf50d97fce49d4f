"""Fingerprints of annotations that do not depend on order, batches or tables.

A fingerprint is the sum, modulo 2**64 in each of two lanes, of a hash of every frame and every
object together with the names of its frame and class. A hash is a weighted sum of the columns'
bits, mixed. Sums commute, so the parts of a stream and one whole file have the same fingerprint.
Different data have different fingerprints, except for collisions, which can be made on purpose.

Times of frames are included, although no score depends on them: data that were stored, sent again
or uploaded as another revision are the same only with the same times. A frame without a time has
the same hash as if no frame had times.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from vidscore_evaluators.annotations import Annotations, SequenceKey
from vidscore_evaluators.arrays import AnyArray, IntArray
from vidscore_evaluators.kernels import hash_rows

HashArray = NDArray[np.uint64]

_LANE_SEEDS = (0x9E3779B97F4A7C15, 0xD1B54A32D192ED03)
_LANES = len(_LANE_SEEDS)
_SEEDS = np.array(_LANE_SEEDS, dtype=np.uint64)[:, np.newaxis]
_WORD = 1 << 64
_FLOAT, _OPTIONAL_FLOAT = 0, 1
_KINDS = {np.dtype(np.float64): _FLOAT, np.dtype(np.int64): 2, np.dtype(np.uint8): 3}
"""Numbers of the column types, as the kernel has them."""


class Fingerprint(Struct, frozen=True):
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

    @classmethod
    def from_hex(cls, digits: str) -> Fingerprint:
        """Inverse of `str`.

        Raises:
            ValueError: If these are not 32 hexadecimal digits.
        """
        data = bytes.fromhex(digits)
        if len(data) != 16:
            raise ValueError(f"a fingerprint has 16 bytes, not {len(data)}")
        return cls((int.from_bytes(data[:8], "big"), int.from_bytes(data[8:16], "big")))


def fingerprint(annotations: Annotations) -> Fingerprint:
    """Fingerprint of every frame and object: names, numbers, times, coordinates, flags, columns."""
    of_frames, frames = _hashed(
        _frame_columns(annotations),
        _Names(_same_in_lanes(annotations.sequences), annotations.frame_sequences),
        _Names(_SEEDS, np.zeros(annotations.frame_count, dtype=np.int64)),
        keep=True,
    )
    of_objects, _ = _hashed(
        _object_columns(annotations),
        _Names(frames, annotations.object_frames),
        _Names(_same_in_lanes(annotations.labels), annotations.label_indices),
        keep=False,
    )
    return of_frames + of_objects


class _Names(NamedTuple):
    """Names of N rows.

    Attributes:
        hashes: (lanes, K) hash of each name.
        of_rows: (N,) name of each row.
    """

    hashes: HashArray
    of_rows: IntArray

    def checked(self, row_count: int) -> _Names:
        """The same, after checks that the kernel does not make.

        Raises:
            ValueError: If the number of rows differs.
            IndexError: If a row has no name.
        """
        if self.of_rows.shape != (row_count,):
            raise ValueError(f"names for {self.of_rows.shape} of {row_count} rows")
        if row_count and not 0 <= self.of_rows.min() <= self.of_rows.max() < self.hashes.shape[1]:
            raise IndexError("a row with a name that is not there")
        of_rows = np.ascontiguousarray(self.of_rows, dtype=np.int64)
        return _Names(np.ascontiguousarray(self.hashes), of_rows)


class _Column(Struct, frozen=True, eq=False):
    """A column of rows that is hashed under a name.

    Attributes:
        name: Name from which its weights are derived.
        values: (N,) values.
        optional: Whether NaN means missing. A part of the data without the column is NaN in the
            whole.
    """

    name: str
    values: AnyArray
    optional: bool = False

    @property
    def kind(self) -> int:
        """Its type, as the kernel numbers it."""
        return _OPTIONAL_FLOAT if self.optional else _KINDS[self.values.dtype]


def _hashed(
    columns: Sequence[_Column], first: _Names, second: _Names, *, keep: bool
) -> tuple[Fingerprint, HashArray]:
    """The sum of the hashes of rows with two names each and, with `keep`, the (lanes, N) hashes."""
    [count] = {len(column.values) for column in columns}
    first, second = first.checked(count), second.checked(count)
    kept = count if keep else 0
    hashes, totals = np.empty((_LANES, kept), dtype=np.uint64), np.empty(_LANES, dtype=np.uint64)
    hash_rows(
        count,
        first.hashes,
        first.hashes.shape[1],
        first.of_rows,
        second.hashes,
        second.hashes.shape[1],
        second.of_rows,
        np.array([column.kind for column in columns], dtype=np.uint8),
        np.array([column.values.ctypes.data for column in columns], dtype=np.int64),
        np.array([column.values.strides[0] for column in columns], dtype=np.int64),
        _weights(tuple(column.name for column in columns)),
        len(columns),
        kept,
        hashes,
        totals,
    )
    lanes = totals.tolist()
    return Fingerprint((lanes[0], lanes[1])), hashes


def _frame_columns(annotations: Annotations) -> list[_Column]:
    times_s = annotations.frame_times_s
    return [
        _Column("frame_number", _integers(annotations.frame_numbers)),
        _Column("frame_flags", _integers(annotations.frame_flags)),
        *([] if times_s is None else [_Column("frame_time_s", _times(times_s), True)]),
    ]


def _times(times_s: AnyArray) -> AnyArray:
    """Times, with 0 as -1: 0 would hash as a missing time, and no time is below 0."""
    return np.where(times_s == 0.0, -1.0, times_s)


def _object_columns(annotations: Annotations) -> list[_Column]:
    coordinates = enumerate(_numbers(annotations.coordinates).T)
    further, masks = annotations.columns.items(), annotations.masks
    return [
        *(_Column(f"coordinate_{index}", values) for index, values in coordinates),
        _Column("confidence", _numbers(annotations.confidences)),
        _Column("track_id", _integers(annotations.track_ids)),
        _Column("flags", _integers(annotations.flags)),
        *(_Column(f"column {name}", _numbers(column), True) for name, column in further),
        *([] if masks is None else [_Column("mask", masks.digests().view(np.int64))]),
    ]


def _numbers(values: AnyArray) -> AnyArray:
    """Values as numbers that the kernel reads, without a copy where possible."""
    return np.asarray(values, dtype=np.float64)


def _integers(values: AnyArray) -> AnyArray:
    """Values as integers that the kernel reads."""
    return values if values.dtype in _KINDS else values.astype(np.int64)


@lru_cache(maxsize=1024)
def _weights(names: tuple[str, ...]) -> HashArray:
    """(lanes, C) odd weights of columns; each column has its own, so swapped columns differ."""
    digests = [
        hashlib.blake2b(f"{seed} {name}".encode(), digest_size=8).digest()
        for seed in _LANE_SEEDS
        for name in names
    ]
    weights = np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)
    return weights.reshape(_LANES, len(names)) | np.uint64(1)


def _same_in_lanes(names: tuple[str | SequenceKey, ...]) -> HashArray:
    """(lanes, K) hash of each name, the same in each lane."""
    hashes = np.frombuffer(b"".join(map(_digest, names)), dtype="<u8").astype(np.uint64)
    in_lanes: HashArray = np.empty((_LANES, len(hashes)), dtype=np.uint64)
    in_lanes[:] = hashes
    return in_lanes


@lru_cache(maxsize=1 << 14)
def _digest(name: str | SequenceKey) -> bytes:
    """Eight bytes; cached, since both sides and every batch of a stream repeat the names."""
    text = name if isinstance(name, str) else "\x00".join(name)
    return hashlib.blake2b(text.encode(), digest_size=8).digest()
