"""Batches as they are kept: the received message, compressed; and back to columns."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable

from vidscore.v1 import annotations_pb2
from vidscore_evaluators.annotations import Annotations
from vidscore_server.codec.stored_batches import read_stored_batches
from vidscore_server.store.contract import FrameName

COMPRESSION_LEVEL = 1
"""Level 1 keeps up with the network; higher ones save little on coordinates."""

LARGE_BYTES = 1_000
"""Bytes of a batch from which on it is compressed: below, what compression saves it costs again."""


def pack(message: annotations_pb2.AnnotationBatch) -> tuple[bytes, bytes]:
    """A batch as it is kept, and the SHA-256 of what is kept, before its compression."""
    return pack_data(data_of(message))


def data_of(message: annotations_pb2.AnnotationBatch) -> bytes:
    """A batch's bytes, the same for the same batch."""
    return message.SerializeToString(deterministic=True)


def pack_data(data: bytes) -> tuple[bytes, bytes]:
    """What `pack` gives, of a batch's bytes."""
    level = COMPRESSION_LEVEL if len(data) >= LARGE_BYTES else 0
    return zlib.compress(data, level), hashlib.sha256(data).digest()


def unpack_all(payloads: Iterable[bytes], arity: int) -> Annotations:
    """All batches as one.

    Args:
        payloads: What `pack` made.
        arity: Coordinates that an object has.
    """
    return read_stored_batches(map(zlib.decompress, payloads), arity)


def frame_names(batch: Annotations) -> list[FrameName]:
    """Domain, sequence and number of every frame, in order."""
    keys = [tuple(key) for key in batch.sequences]
    return [
        (*keys[index], number)
        for index, number in zip(
            batch.frame_sequences.tolist(), batch.frame_numbers.tolist(), strict=True
        )
    ]
