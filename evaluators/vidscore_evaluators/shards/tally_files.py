"""Tally files: the tally of a shard as bytes, and back.

A file is a magic word, a checksum of the rest, the length of a JSON header, the header, and the
bytes of a tally for each evaluator (`vidscore_evaluators.tally_bytes`). Equal tallies of a shard
give equal bytes.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from vidscore_evaluators.errors import ParameterError, TallyError
from vidscore_evaluators.names import counted
from vidscore_evaluators.report import FrameExample
from vidscore_evaluators.shards.dealing import Shard
from vidscore_evaluators.shards.plain import example_of
from vidscore_evaluators.shards.readings import Readings, readings_from_plain, readings_to_plain
from vidscore_evaluators.shards.runs import Run, run_from_dict, run_to_dict
from vidscore_evaluators.shards.tallying import Places, ShardTally
from vidscore_evaluators.tally_bytes import UNREADABLE, seal, tally_from_bytes, tally_to_bytes
from vidscore_evaluators.tally_bytes import unseal as unsealed

_MAGIC = b"vidscore-shard-1"
_LENGTH = struct.Struct("<Q")


class ShardHeader(Struct, frozen=True):
    """The header of a tally file.

    Attributes:
        run: What its shard has in common with the others.
        shard: Its shard.
        places: Places in the files of the frames that warnings may cite.
        tally_bytes: Lengths of its tallies.
        readings: Results of reading its part; None if it has read the whole data.
    """

    run: Run
    shard: Shard
    places: Places
    tally_bytes: tuple[int, ...]
    readings: Readings | None = None


def shard_to_bytes(tally: ShardTally) -> bytes:
    """Write the tally of a shard."""
    tallies = [tally_to_bytes(one) for one in tally.tallies]
    places = sorted(
        [example.side.value, *example.sequence, example.frame, place]
        for example, place in tally.places.items()
    )
    header = {
        "run": run_to_dict(tally.run),
        "shard": [tally.shard.number, tally.shard.count],
        "places": places,
        "tally_bytes": [len(one) for one in tallies],
        "readings": readings_to_plain(tally.readings),
    }
    encoded = json.dumps(header, sort_keys=True, separators=(",", ":")).encode()
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
    return ShardTally(header.run, header.shard, read, header.places, header.readings)


def _opened(data: bytes) -> tuple[ShardHeader, list[bytes]]:
    try:
        body = unsealed(data, _MAGIC)
        (length,) = _LENGTH.unpack_from(body)
        header = _header(json.loads(body[_LENGTH.size : _LENGTH.size + length]))
        return header, _cut(body, _LENGTH.size + length, header.tally_bytes)
    except (*UNREADABLE, AttributeError, ParameterError) as error:
        raise TallyError(f"this is not a complete tally file: {error}") from error


def _header(document: Mapping[str, Any]) -> ShardHeader:
    number, count = document["shard"]
    lengths = document["tally_bytes"]
    if not all(type(one) is int and one >= 0 for one in (number, count, *lengths)):
        raise ValueError("an invalid number")
    run, readings = run_from_dict(document["run"]), readings_from_plain(document["readings"])
    if run.in_parts != (readings is not None):
        raise ValueError("a part without its reading, or a reading without its part")
    return ShardHeader(
        run=run,
        shard=Shard(number, count),
        places=dict(map(_place, document["places"])),
        tally_bytes=tuple(lengths),
        readings=readings,
    )


def _place(entry: list[Any]) -> tuple[FrameExample, str]:
    *example, place = entry
    if type(place) is not str:
        raise TypeError("a place that is not a string")
    return example_of(example), place


def _cut(body: bytes, offset: int, lengths: tuple[int, ...]) -> list[bytes]:
    if offset + sum(lengths) != len(body):
        raise ValueError("the tallies are not as long as the header says")
    tallies = []
    for length in lengths:
        tallies.append(body[offset : offset + length])
        offset += length
    return tallies
