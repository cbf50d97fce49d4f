"""Batches as they are kept."""

from __future__ import annotations

import hashlib
import random
import zlib

import pytest

from vidscore_server.hosting.payloads import STORED_BLOCK_BYTES, pack_data

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
def test_what_does_not_get_smaller_is_kept_as_it_is_in_the_form_of_zlib(size: int) -> None:
    data = random.Random(size).randbytes(size)
    payload, digest = pack_data(data)
    assert zlib.decompress(payload) == data
    assert len(payload) <= size + 11 + 5 * (size // STORED_BLOCK_BYTES)
    assert digest == hashlib.sha256(data).digest()


@pytest.mark.parametrize("size", SIZES)
def test_what_gets_smaller_is_compressed_where_it_is_worth_it(size: int) -> None:
    data = (b"0123456789" * size)[:size]
    payload, digest = pack_data(data)
    assert zlib.decompress(payload) == data
    assert (len(payload) < size) == (size >= 2_000)
    assert digest == hashlib.sha256(data).digest()
