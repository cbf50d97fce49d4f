"""Batches as they are kept: the received message, compressed; and back to columns."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable

from vidscore.v1 import annotations_pb2
from vidscore_evaluators.annotations import Annotations, concatenate, empty_annotations
from vidscore_server.codec.annotations_codec import read_stored_batch
from vidscore_server.store.contract import FrameName

COMPRESSION_LEVEL = 1
"""Level 1 keeps up with the network; higher ones save little on coordinates."""

JOIN_AFTER = 1024
"""Batches that are kept apart before they are joined: many small ones cost memory."""


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
    joined: list[Annotations] = []
    parts: list[Annotations] = [empty_annotations(arity)]
    for payload in payloads:
        parts.append(read_stored_batch(zlib.decompress(payload), arity))
        if len(parts) > JOIN_AFTER:
            joined.append(concatenate(parts))
            parts = []
    return concatenate([*joined, *parts])


def frame_names(batch: Annotations) -> list[FrameName]:
    """Domain, sequence and number of every frame, in order."""
    keys = [tuple(key) for key in batch.sequences]
    return [
        (*keys[index], number)
        for index, number in zip(
            batch.frame_sequences.tolist(), batch.frame_numbers.tolist(), strict=True
        )
    ]
