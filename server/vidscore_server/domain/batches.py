"""The encoding of batches, and their stored form.

A stored batch is the received message, compressed. Only the `BatchCodec`, which the api layer
provides, knows the form of messages: no rule depends on it.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from msgspec import Struct, structs

from vidscore_evaluators.annotations import Annotations, SequenceKey, Side
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.names import control_faults, holds_controls
from vidscore_evaluators.registry import is_built_in
from vidscore_server.settings import Settings
from vidscore_server.store.errors import StoreDamagedError
from vidscore_server.store.records import FrameName, FrameNumbers

COMPRESSION_LEVEL = 1
"""Level 1 keeps up with the network; higher levels save little on coordinates."""

SAMPLE_BYTES = 1_000
"""A batch is compressed if a sample of this size from its middle shrinks by an eighth or more.

Coordinates that use all of their bits do not shrink, and trying to compress them costs more than
all other work on a batch.
"""

SAMPLE_WINDOW_BITS = 10
SAMPLE_MEMORY_LEVEL = 4

STORED_BLOCK_BYTES = 0xFFFF

MAXIMUM_BATCH_BYTES = 512 << 20
"""Bytes of a batch: the largest message that a server can be set to take."""

DAMAGED = "a stored batch is damaged: restore a backup, then score the submission again"

DAMAGED_SCORE = "a stored score is damaged: score the submission again"

UNREADABLE = (StoreDamagedError, AttributeError, KeyError, TypeError, ValueError)
"""Errors that reading damaged stored numbers raises."""

_ZLIB_HEADER = b"\x78\x01"
"""Deflate with a window of 32 KiB, the fastest level, no dictionary."""


class BatchRules(Struct, frozen=True):
    """Limits of every batch of one side.

    Attributes:
        arity: Coordinates per object, from the configuration.
        settings: The server's limits.
    """

    arity: int
    settings: Settings


ReadBatch = Callable[[BatchRules], Annotations]
"""Reads a batch under rules; raises a `LimitError`, or an `InputError` with every fault."""


class NotAlikeError(Exception):
    """Batches cannot be read as one, or one of them breaks a rule: read each alone."""


class BatchCodec(Protocol):
    """The encoding of batches; a message is a batch as the api layer has received it."""

    def data_of(self, message: Any, /) -> bytes:
        """The bytes of a message; equal messages have equal bytes."""

    def read_batch(self, message: Any, source: str, rules: BatchRules) -> Annotations:
        """Check a message and turn it into annotations.

        Raises:
            LimitError: If it is larger than allowed.
            InputError: With every fault.
        """

    def read_alike_batches(
        self, messages: Sequence[Any], data: Sequence[bytes], source: str, rules: BatchRules
    ) -> tuple[Annotations, list[int]]:
        """Check messages as one; return them joined, and the number of frames of each.

        Raises:
            NotAlikeError: If one of them breaks a rule; `read_batch` says which.
            InputError: Likewise.
        """

    def write_batch(self, annotations: Annotations) -> Any:
        """Annotations as a message."""

    def read_stored_batches(self, batches: Iterable[bytes], arity: int) -> Annotations:
        """Stored batches as one, regardless of the present limits."""

    def read_stored_runs(self, batches: Iterable[bytes], arity: int) -> Iterator[Annotations]:
        """The same, in runs that fit in memory."""

    def stored_sizes(self, data: bytes, arity: int) -> tuple[int, list[tuple[SequenceKey, int]]]:
        """Number of frames of a stored batch, and the bytes of each of its sequences as columns."""


def pack(data: bytes) -> tuple[bytes, bytes]:
    """Stored form of a batch, and the SHA-256 of its bytes before compression."""
    kept = zlib.compress(data, COMPRESSION_LEVEL) if _is_compressible(data) else _stored(data)
    return kept, hashlib.sha256(data).digest()


def _is_compressible(data: bytes) -> bool:
    middle = len(data) // 2
    sample = data[middle : middle + SAMPLE_BYTES]
    if len(sample) < SAMPLE_BYTES:
        return False  # too small for compression to be worth its time
    # With only the memory that the sample needs: allocating the default costs ten times as much.
    compressor = zlib.compressobj(
        COMPRESSION_LEVEL, zlib.DEFLATED, SAMPLE_WINDOW_BITS, SAMPLE_MEMORY_LEVEL
    )
    size = len(compressor.compress(sample)) + len(compressor.flush())
    return 8 * size <= 7 * SAMPLE_BYTES


def _stored(data: bytes) -> bytes:
    """Bytes as a zlib stream of stored blocks (RFC 1950, RFC 1951 section 3.2.4).

    The same as zlib at level 0, without the quarter of a megabyte that zlib would allocate.
    """
    parts = [_ZLIB_HEADER]
    for start in range(0, max(1, len(data)), STORED_BLOCK_BYTES):
        block = data[start : start + STORED_BLOCK_BYTES]
        last, size = start + len(block) == len(data), len(block)
        parts += struct.pack("<BHH", last, size, size ^ 0xFFFF), block
    parts.append(zlib.adler32(data).to_bytes(4, "big"))
    return b"".join(parts)


def inflate(packed: bytes, most: int) -> bytes:
    """Decompress a zlib stream, up to a maximum.

    Args:
        packed: The stream.
        most: Maximum number of bytes that it may hold.

    Raises:
        StoreDamagedError: If it is not a zlib stream, or holds more.
    """
    unpacker = zlib.decompressobj()
    try:
        data = unpacker.decompress(packed, most)
    except zlib.error:
        raise StoreDamagedError(DAMAGED) from None
    if not unpacker.eof or unpacker.unused_data:
        raise StoreDamagedError(DAMAGED)
    return data


def unpack(payload: bytes, digest: bytes | None = None) -> bytes:
    """A batch's bytes, from its stored form.

    Args:
        payload: The stored form, from `pack`.
        digest: Its SHA-256, if that was stored too.

    Raises:
        StoreDamagedError: If it is not what was stored: the disk or somebody has changed it.
    """
    data = inflate(payload, MAXIMUM_BATCH_BYTES)
    if digest is not None and hashlib.sha256(data).digest() != digest:
        raise StoreDamagedError(DAMAGED)
    return data


def unpacked(batches: Iterable[tuple[bytes, bytes | None]]) -> Iterator[bytes]:
    """The bytes of batches, one by one.

    Args:
        batches: Stored forms from `pack`, with their digests if these were stored.

    Raises:
        StoreDamagedError: If one is not what was stored.
    """
    return (unpack(*batch) for batch in batches)


def frame_names(batch: Annotations) -> list[FrameName]:
    """Domain, sequence and number of every frame, in order."""
    keys = [tuple(key) for key in batch.sequences]
    return [
        (*keys[index], number)
        for index, number in zip(
            batch.frame_sequences.tolist(), batch.frame_numbers.tolist(), strict=True
        )
    ]


def name_faults(batch: Annotations, source: str) -> list[Fault]:
    """Names of a batch that hold control characters.

    Args:
        batch: Whole frames.
        source: Where they stand, for messages.
    """
    named = [
        *((f"sequences[{row}]", part) for row, key in enumerate(batch.sequences) for part in key),
        *((f"labels[{row}]", label) for row, label in enumerate(batch.labels)),
    ]
    return [
        fault
        for field, name in named
        if holds_controls(name)  # hardly any name does
        for fault in control_faults(name, field, source)
    ]


def rule_faults(
    evaluators: Iterable[Evaluator[Any]], side: Side, batch: Annotations, source: str
) -> list[Fault]:
    """Faults that evaluators find in a batch, without duplicates.

    The rules of plug-ins are checked by `vidscore_server.domain.plug_ins`.

    Args:
        evaluators: The evaluators.
        side: Side of the batch.
        batch: Whole frames.
        source: Where they stand, for messages.
    """
    faults = (
        fault
        for evaluator in evaluators
        if not has_own_rules(evaluator)
        for fault in evaluator.input_faults(side, batch)
    )
    return placed_faults(faults, source)


def has_own_rules(evaluator: Evaluator[Any]) -> bool:
    """Whether an evaluator is that of a plug-in, and has rules for its input."""
    return not is_built_in(evaluator.name) and type(evaluator).faults is not Evaluator.faults


def placed_faults(faults: Iterable[Fault], source: str) -> list[Fault]:
    """Faults of an evaluator with their place in the request, without duplicates."""
    placed = (structs.replace(fault, source=source, field=_frame_field(fault)) for fault in faults)
    return list(dict.fromkeys(placed))


def _frame_field(fault: Fault) -> str:
    """A column of frames, because the rows of an evaluator's faults are frames."""
    return fault.field if fault.field and fault.field.startswith("frame_") else "frame_numbers"


@contextmanager
def placed_in(source: str) -> Iterator[None]:
    """Add the place in the request to the faults of an input error."""
    try:
        yield
    except InputError as error:
        placed = [structs.replace(fault, source=source) for fault in error.faults]
        raise type(error)(placed) from None


def repeated_frames(
    names: Iterable[FrameName], before: Container[FrameName], source: str
) -> list[Fault]:
    """A fault for each frame of a batch that was received before.

    Args:
        names: Frames of the batch, in order.
        before: Frames received before.
        source: Path of the batch in its request.
    """
    return [
        Fault(
            f"frame {number} of sequence {'/'.join(filter(None, (domain, sequence)))[:80]} again",
            "each frame once",
            source=source,
            entry=row,
            field="frame_numbers",
        )
        for row, (domain, sequence, number) in enumerate(names)
        if (domain, sequence, number) in before
    ]


def frame_numbers(joined: Annotations, counts: Iterable[int]) -> Iterator[FrameNumbers]:
    """Numbers of the frames of joined batches by their sequences, batch by batch.

    Args:
        joined: The batches, joined.
        counts: Frames of each, 1 or more.
    """
    keys = [(key.domain, key.sequence) for key in joined.sequences]
    rows, numbers = joined.frame_sequences.tolist(), joined.frame_numbers.tolist()
    start = 0
    for count in counts:
        own, end = rows[start : start + count], start + count
        if own.count(own[0]) == count:  # the usual batches of a live system
            yield {keys[own[0]]: numbers[start:end]}
        else:
            found: dict[tuple[str, str], list[int]] = {}
            for row, number in zip(own, numbers[start:end], strict=True):
                found.setdefault(keys[row], []).append(number)
            yield found
        start = end
