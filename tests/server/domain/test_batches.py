"""Batches as they are stored."""

from __future__ import annotations

import hashlib
import random
import zlib

import pytest

from vidscore_server.domain import batches
from vidscore_server.domain.batches import STORED_BLOCK_BYTES, pack, unpack
from vidscore_server.store.errors import StoreDamagedError

SIZES = (
    0,
    1,
    1_998,
    2_000,
    STORED_BLOCK_BYTES - 1,
    STORED_BLOCK_BYTES,
    STORED_BLOCK_BYTES + 1,
    2 * STORED_BLOCK_BYTES,
    200_000,
)


@pytest.mark.parametrize("size", SIZES)
def test_incompressible_batches_are_stored_uncompressed_in_zlib_format(size: int) -> None:
    data = random.Random(size).randbytes(size)
    payload, digest = pack(data)
    assert zlib.decompress(payload) == data
    assert len(payload) <= size + 11 + 5 * (size // STORED_BLOCK_BYTES)
    assert digest == hashlib.sha256(data).digest()


@pytest.mark.parametrize("size", SIZES)
def test_batches_are_compressed_if_that_saves_enough(size: int) -> None:
    data = (b"0123456789" * size)[:size]
    payload, digest = pack(data)
    assert zlib.decompress(payload) == data
    assert (len(payload) < size) == (size >= 2_000)
    assert digest == hashlib.sha256(data).digest()


@pytest.mark.parametrize("size", SIZES)
def test_a_stored_batch_is_read_back_unchanged(size: int) -> None:
    data = random.Random(1).randbytes(size)
    assert unpack(*pack(data)) == data


@pytest.mark.parametrize("size", [0, 1, 5_000])
def test_a_payload_changed_together_with_its_checksum_is_detected_by_its_digest(size: int) -> None:
    data = random.Random(1).randbytes(size)
    _, digest = pack(data)
    other, _ = pack(data + b"x")
    with pytest.raises(StoreDamagedError):
        unpack(other, digest)


@pytest.mark.parametrize("cut", [0, 1, 10, -1])
def test_a_truncated_payload_is_damaged(cut: int) -> None:
    payload, digest = pack(b"0123456789" * 500)
    with pytest.raises(StoreDamagedError):
        unpack(payload[:cut], digest)


def test_a_payload_that_unpacks_to_more_than_any_batch_is_damaged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(batches, "MAXIMUM_BATCH_BYTES", 1_000_000)
    with pytest.raises(StoreDamagedError):
        unpack(zlib.compress(bytes(1_000_001)))
