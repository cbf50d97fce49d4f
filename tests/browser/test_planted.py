"""Numbers of the truth are found in each form in which they may be sent."""

from __future__ import annotations

import base64
import gzip
import struct

import pytest
from tests.browser.competition import PLANTED
from tests.browser.planted import planted_in

FIRST = PLANTED[0]


@pytest.mark.parametrize(
    "data",
    [
        b'<rect x="137.92846"/>',
        b"x=137.928",
        b"137.93,",
        b"id-13792846",
        b"\0" + struct.pack("<f", FIRST),
        b"\0" + struct.pack("<d", FIRST),
        gzip.compress(b"1,2,137.92846\n", mtime=0),
        b'"token": "' + base64.b64encode(b"\0\0" + struct.pack("<d", FIRST)) + b'"',
        b"page=" + base64.urlsafe_b64encode(b"frame 1 at 137.92846"),
    ],
)
def test_a_planted_number_is_found(data: bytes) -> None:
    assert planted_in(data) == [FIRST]


def test_detections_near_the_truth_are_not_mistaken_for_it() -> None:
    shifted = ",".join(f"{number + 1.5}" for number in PLANTED).encode()
    assert planted_in(shifted + base64.b64encode(shifted)) == []
