"""The usual text of spotGEO JSON, read as columns without making an object of each entry.

Programs write the format with its keys in one order, which leaves nothing to find out but the
numbers: a compiled loop goes over the bytes once. Where a text is not of this kind to the last
byte, nothing is said about it, and it is read entry by entry.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vidscore_evaluators.arrays import FloatArray, IntArray
from vidscore_evaluators.kernels import parse_spotgeo

KEYS = ("sequence_id", "frame", "num_objects", "object_coords")
GREATEST_WHOLE = 2**53 - 1
"""Greatest whole number up to which a binary64 tells each from the next."""


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
    text = np.frombuffer(data + b"\0", dtype=np.uint8)
    # Room for the most that there can be; what is not touched costs nothing.
    ids, frames, counts = np.empty((3, data.count(b"{")), dtype=np.int64)
    coordinates = np.empty((data.count(b"["), 2))
    found = parse_spotgeo(text, len(data), ids, frames, counts, coordinates)
    if found < 0:
        return None
    points = coordinates[: int(counts[:found].sum())]
    return FlatColumns(ids[:found], frames[:found], counts[:found], points)
