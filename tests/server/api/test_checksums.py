"""A batch that changed in transit is detected, whoever encoded the message."""

from __future__ import annotations

import random
import zlib

import pytest
from tests.server.scene import HERE, points

from vidscore_protos.v1 import annotations_pb2, organiser_pb2
from vidscore_protos.v1 import submission_service_pb2 as pb
from vidscore_server.api.stream import CHECKED_METHODS, MOST_FIELDS, damage_of

APPEND = "/vidscore.v1.SubmissionService/AppendFrames"
UPLOAD = "/vidscore.v1.BenchmarkService/UploadTruth"
BATCH = points({1: HERE, 2: []})
DATA = BATCH.SerializeToString()


def _append(crc32: int | None) -> bytes:
    append = pb.AppendRequest(
        stream="s", epoch=3, offset=300, detections=BATCH, detections_crc32=crc32
    )
    return append.SerializeToString()


def _within(number: int, *parts: bytes) -> bytes:
    """A length-delimited field of protobuf."""
    inner = b"".join(parts)
    assert len(inner) < 0x80
    return bytes([number << 3 | 2, len(inner)]) + inner


def _fixed(number: int, value: int) -> bytes:
    return bytes([number << 3 | 5]) + value.to_bytes(4, "little")


def test_the_checksum_is_crc_32_over_the_bytes_of_the_batch() -> None:
    """The check value of CRC-32 in every catalogue of CRCs: CBF43926 for 123456789."""
    right = _within(4, b"123456789") + _fixed(5, 0xCBF43926)
    wrong = _within(4, b"123456789") + _fixed(5, 0xCBF43927)
    assert damage_of(APPEND, right) is None
    damage = damage_of(APPEND, wrong)
    assert damage is not None
    assert "cbf43926" in str(damage)
    assert "cbf43927" in str(damage)


def test_every_flipped_bit_of_a_batch_is_detected() -> None:
    data = _append(zlib.crc32(DATA))
    assert damage_of(APPEND, data) is None
    start = data.index(DATA)
    for bit in range(8 * start, 8 * (start + len(DATA))):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        assert damage_of(APPEND, bytes(flipped)) is not None


def test_a_batch_without_a_checksum_is_not_checked() -> None:
    assert damage_of(APPEND, _append(None)) is None


def test_fields_may_come_in_any_order_and_a_batch_in_pieces() -> None:
    """Pieces of a message are joined, as protobuf defines, and so are their bytes."""
    more = annotations_pb2.AnnotationBatch(labels=["car"]).SerializeToString()
    pieces = (_fixed(5, zlib.crc32(DATA + more)), _within(4, DATA), b"\x10\x03", _within(4, more))
    data = b"".join(pieces)
    read = pb.AppendRequest.FromString(data).detections
    assert (list(read.frame_numbers), list(read.labels)) == ([1, 2], ["car"])
    assert damage_of(APPEND, data) is None
    assert damage_of(APPEND, b"".join(pieces[:-1])) is not None


def test_a_batch_of_truth_is_checked_too() -> None:
    def upload(crc32: int) -> bytes:
        request = organiser_pb2.UploadTruthRequest(truth=BATCH, truth_crc32=crc32)
        return request.SerializeToString()

    assert damage_of(UPLOAD, upload(zlib.crc32(DATA))) is None
    assert damage_of(UPLOAD, upload(zlib.crc32(DATA) ^ 1)) is not None


@pytest.mark.parametrize("method", sorted(CHECKED_METHODS))
def test_bytes_that_are_not_a_message_are_left_to_the_decoder(method: str) -> None:
    chance = random.Random(7)
    junk = [chance.randbytes(chance.randrange(60)) for _ in range(5_000)]
    cut = [_append(zlib.crc32(DATA))[:size] for size in range(1, 40)]
    for data in (*junk, *cut, b"\xff" * 1_000_000, _fixed(9, 1) * (MOST_FIELDS + 1)):
        damage_of(method, data)


def test_a_batch_in_more_pieces_than_any_library_writes_is_not_searched() -> None:
    """Otherwise a message of millions of empty fields would block the server."""
    many = _fixed(9, 1) * MOST_FIELDS
    wrong = _within(2, DATA) + _fixed(4, 0)
    assert damage_of(UPLOAD, wrong) is not None
    assert damage_of(UPLOAD, many + wrong) is None
