"""Tally files are intact or refused."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from typing import Any

import pytest
from tests.evaluators.shards.scenes import read_scene, write_scene

from vidscore_evaluators.errors import TallyError
from vidscore_evaluators.shards.dealing import Shard
from vidscore_evaluators.shards.tally_files import shard_from_bytes, shard_to_bytes
from vidscore_evaluators.tally_bytes import seal

MAGIC = b"vidscore-shard-2"
START = len(MAGIC) + 16


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The tally file of one of two shards."""
    folder = tmp_path_factory.mktemp("scene")
    write_scene(folder)
    return shard_to_bytes(read_scene(folder, "f1", "map").tally(Shard(1, 2)))


def changed(file: bytes, change: Callable[[dict[str, Any]], object]) -> bytes:
    """The file with another header and a matching checksum."""
    (length,) = struct.unpack_from("<Q", file, START)
    begin = START + 8
    header = json.loads(file[begin : begin + length])
    change(header)
    encoded = json.dumps(header).encode()
    return seal(struct.pack("<Q", len(encoded)) + encoded + file[begin + length :], MAGIC)


def test_a_tally_file_is_read_back_to_the_same_bytes(file: bytes) -> None:
    assert shard_to_bytes(shard_from_bytes(file)) == file


@pytest.mark.parametrize("share", [0.0, 0.001, 0.01, 0.1, 0.5, 0.9, 0.999])
def test_a_truncated_tally_file_is_refused(file: bytes, share: float) -> None:
    with pytest.raises(TallyError, match="not a complete tally file"):
        shard_from_bytes(file[: int(len(file) * share)])


@pytest.mark.parametrize("share", [0.0, 0.001, 0.01, 0.1, 0.5, 0.9, 0.999])
def test_a_file_with_one_bit_flipped_is_refused(file: bytes, share: float) -> None:
    damaged = bytearray(file)
    damaged[int(len(file) * share)] ^= 4
    with pytest.raises(TallyError, match="not a complete tally file"):
        shard_from_bytes(bytes(damaged))


@pytest.mark.parametrize(
    "change",
    [
        lambda header: header.clear(),
        lambda header: header.update(run=[]),
        lambda header: header["run"].update(judges={}),
        lambda header: header["run"]["judges"].pop(),
        lambda header: header["run"]["judges"][0].update(parameters=7),
        lambda header: header["run"].update(software=["numpy"]),
        lambda header: header["run"].update(truth="00"),
        lambda header: header["run"].update(warnings=[{"code": "x"}]),
        lambda header: header.update(shard={"number": 3, "count": 2}),
        lambda header: header.update(shard={"number": 1.5, "count": 2}),
        lambda header: header.update(shard="12"),
        lambda header: header.update(cited=[[["truth", ["", "street"], 1]]]),
        lambda header: header.update(cited=[[["nobody", ["", "street"], 1], "file"]]),
        lambda header: header.update(tally_bytes=[1 << 60]),
        lambda header: header.update(tally_bytes=[-5, *header["tally_bytes"], 5]),
        lambda header: header["tally_bytes"].reverse(),
    ],
)  # fmt: skip
def test_an_invalid_header_is_refused(
    file: bytes, change: Callable[[dict[str, Any]], object]
) -> None:
    with pytest.raises(TallyError):
        shard_from_bytes(changed(file, change))


def test_a_header_that_nests_too_deeply_is_refused() -> None:
    deep = b"[" * 100_000
    with pytest.raises(TallyError):
        shard_from_bytes(seal(struct.pack("<Q", len(deep)) + deep, MAGIC))


def test_a_header_that_ends_beyond_the_file_is_refused() -> None:
    with pytest.raises(TallyError):
        shard_from_bytes(seal(struct.pack("<Q", 1 << 62) + b"{}", MAGIC))


def test_another_kind_of_file_is_refused_as_a_tally() -> None:
    with pytest.raises(TallyError, match="the first bytes are not those of a tally"):
        shard_from_bytes(b"sequence,frame,class\n")
