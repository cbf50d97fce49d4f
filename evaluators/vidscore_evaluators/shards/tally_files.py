"""Tally files: the tally of a shard as bytes, and back.

A file is a magic word, a checksum of the rest, the length of a JSON header, the header, and the
bytes of a tally for each evaluator (`vidscore_evaluators.tally_bytes`). Equal tallies of a shard
give equal bytes.
"""

from __future__ import annotations

import json
import struct
from typing import Annotated

from msgspec import Meta, MsgspecError, Struct, convert, to_builtins

from vidscore_evaluators.errors import ParameterError, TallyError
from vidscore_evaluators.names import counted
from vidscore_evaluators.report import FrameExample
from vidscore_evaluators.shards.dealing import Shard
from vidscore_evaluators.shards.readings import Readings
from vidscore_evaluators.shards.runs import Run
from vidscore_evaluators.shards.tallying import ShardTally
from vidscore_evaluators.tally_bytes import (
    UNREADABLE,
    seal,
    tally_from_bytes,
    tally_to_bytes,
    unseal,
)

_MAGIC = b"vidscore-shard-2"
_LENGTH = struct.Struct("<Q")


class ShardHeader(Struct, frozen=True):
    """The header of a tally file, as it stands there in JSON.

    Attributes:
        run: What its shard has in common with the others.
        shard: Its shard.
        cited: The frames that warnings may cite, each with its place in the files.
        tally_bytes: Lengths of its tallies.
        readings: Results of reading its part; None if it has read the whole data.
    """

    run: Run
    shard: Shard
    cited: tuple[tuple[FrameExample, str], ...]
    tally_bytes: tuple[Annotated[int, Meta(ge=0)], ...]
    readings: Readings | None

    def __post_init__(self) -> None:
        """Refuse a part without its reading, or a reading without its part.

        Raises:
            ValueError: If it is one.
        """
        if self.run.in_parts != (self.readings is not None):
            raise ValueError("a part without its reading, or a reading without its part")


def shard_to_bytes(tally: ShardTally) -> bytes:
    """Write the tally of a shard."""
    tallies = [tally_to_bytes(one) for one in tally.tallies]
    header = ShardHeader(
        tally.run,
        tally.shard,
        tuple(sorted(tally.places.items())),
        tuple(map(len, tallies)),
        tally.readings,
    )
    # msgspec's own JSON has no names of files that are not UTF-8.
    encoded = json.dumps(to_builtins(header), sort_keys=True, separators=(",", ":")).encode()
    return seal(b"".join([_LENGTH.pack(len(encoded)), encoded, *tallies]), _MAGIC)


def header_from_bytes(data: bytes) -> ShardHeader:
    """Read the header of a tally file, and check that the file is complete.

    Raises:
        TallyError: If the bytes are not a tally file of this version, or are damaged.
    """
    return _opened(data)[0]


def shard_from_bytes(data: bytes) -> ShardTally:
    """Read what `shard_to_bytes` wrote.

    Memory is bounded by a small multiple of the length of `data`, whatever the bytes claim.

    Raises:
        TallyError: If the bytes are not a tally file of this version, or are damaged.
    """
    header, tallies = _opened(data)
    read = [tally_from_bytes(one) for one in tallies]
    if len(read) != len(header.run.judges):
        whole = counted(len(header.run.judges), "evaluator")
        raise TallyError(f"{counted(len(read), 'tally', 'tallies')} of {whole}")
    return ShardTally(header.run, header.shard, read, dict(header.cited), header.readings)


def _opened(data: bytes) -> tuple[ShardHeader, list[bytes]]:
    try:
        body = unseal(data, _MAGIC)
        (length,) = _LENGTH.unpack_from(body)
        header = convert(json.loads(body[_LENGTH.size : _LENGTH.size + length]), ShardHeader)
        return header, _cut(body, _LENGTH.size + length, header.tally_bytes)
    # Before msgspec 0.20 its errors are no ValueErrors.
    except (*UNREADABLE, MsgspecError, ParameterError) as error:
        raise TallyError(f"this is not a complete tally file: {error}") from error


def _cut(body: bytes, offset: int, lengths: tuple[int, ...]) -> list[bytes]:
    if offset + sum(lengths) != len(body):
        raise ValueError("the tallies are not as long as the header says")
    tallies = []
    for length in lengths:
        tallies.append(body[offset : offset + length])
        offset += length
    return tallies
