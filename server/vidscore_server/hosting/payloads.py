"""Batches as they are kept: the received message, compressed; and back to columns."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable
from itertools import islice

from vidscore.v1 import annotations_pb2
from vidscore_evaluators.annotations import Annotations, concatenate, empty_annotations
from vidscore_server.codec.stored_batches import read_stored_batches
from vidscore_server.store.contract import FrameName

COMPRESSION_LEVEL = 1
"""Level 1 keeps up with the network; higher ones save little on coordinates."""

JOINED_AT_ONCE = 4096
"""Batches whose fields are joined at a time: as Python's numbers they take much memory."""


def pack(message: annotations_pb2.AnnotationBatch) -> tuple[bytes, bytes]:
    """A batch as it is kept, and the SHA-256 of what is kept, before its compression."""
    data = message.SerializeToString(deterministic=True)
    return zlib.compress(data, COMPRESSION_LEVEL), hashlib.sha256(data).digest()


def unpack_all(payloads: Iterable[bytes], arity: int) -> Annotations:
    """All batches as one.

    Args:
        payloads: What `pack` made.
        arity: Coordinates that an object has.
    """
    parts: list[Annotations] = []
    unpacked = (zlib.decompress(payload) for payload in payloads)
    while some := list(islice(unpacked, JOINED_AT_ONCE)):
        parts.append(read_stored_batches(some, arity))
    return concatenate(parts) if parts else empty_annotations(arity)


def frame_names(batch: Annotations) -> list[FrameName]:
    """Domain, sequence and number of every frame, in order."""
    keys = [tuple(key) for key in batch.sequences]
    return [
        (*keys[index], number)
        for index, number in zip(
            batch.frame_sequences.tolist(), batch.frame_numbers.tolist(), strict=True
        )
    ]
