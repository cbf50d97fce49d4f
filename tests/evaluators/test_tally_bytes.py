"""Tallies survive serialisation; other bytes are an error, whatever they are."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vidscore_evaluators.errors import TallyError
from vidscore_evaluators.fingerprint import Fingerprint
from vidscore_evaluators.tally import TableSchema, Tally, build_table
from vidscore_evaluators.tally_bytes import seal, tally_from_bytes, tally_to_bytes


def _tally(values: list[float]) -> Tally:
    count = len(values)
    codes = np.arange(count, dtype=np.int64) % 2
    sums = build_table(
        TableSchema(("s",), ("c",), ("n",), ("e",)),
        ["b", "ä"],
        [codes],
        numbers=[np.array(values, dtype=np.float64)],
        counts=[np.ones(count)],
        sums=[np.array(values, dtype=np.float64)],
    )
    return Tally(
        "e 1",
        {"sums": sums, "empty": build_table(TableSchema(("s",)), [], [codes[:0]])},
        Fingerprint((1, 2**64 - 1)),
        Fingerprint((3, 4)),
    )


TALLY = _tally([-1.5, 5e-324, 1e308, 0.1])
DATA = tally_to_bytes(TALLY)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=8))
def test_a_tally_survives_bytes_and_back(values: list[float]) -> None:
    before = _tally(values)
    after = tally_from_bytes(tally_to_bytes(before))
    assert tally_to_bytes(after) == tally_to_bytes(before)
    assert (after.evaluator, after.truth, after.detections) == (
        before.evaluator,
        before.truth,
        before.detections,
    )
    assert after.tables["sums"].exact("e") == before.tables["sums"].exact("e")
    assert after.tables["sums"].texts("s") == before.tables["sums"].texts("s")


def test_a_tally_that_was_read_adds_to_one_that_was_made() -> None:
    twice = tally_to_bytes(TALLY + TALLY)
    assert tally_to_bytes(tally_from_bytes(DATA) + TALLY) == twice


def test_every_truncation_is_refused() -> None:
    for length in range(len(DATA)):
        with pytest.raises(TallyError):
            tally_from_bytes(DATA[:length])


def test_every_flipped_bit_is_refused() -> None:
    for position in range(len(DATA)):
        for bit in range(8):
            flipped = bytearray(DATA)
            flipped[position] ^= 1 << bit
            with pytest.raises(TallyError):
                tally_from_bytes(bytes(flipped))


@given(st.binary(max_size=200))
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(TallyError):
        tally_from_bytes(data)
    with pytest.raises(TallyError):
        tally_from_bytes(seal(data))


def _forged(change: Callable[[dict[str, Any]], object]) -> bytes:
    """The tally with another header under a valid seal, as an attacker would send it."""
    body = DATA[len(DATA) - _body_length() :]
    (length,) = struct.unpack_from("<Q", body)
    header = json.loads(body[8 : 8 + length])
    change(header)
    encoded = json.dumps(header).encode()
    return seal(struct.pack("<Q", len(encoded)) + encoded + body[8 + length :])


def _body_length() -> int:
    return len(DATA) - len(seal(b""))


def _set(header: dict[str, Any], key: str, value: object) -> None:
    header[key] = value


def _table(header: dict[str, Any], **changes: Any) -> None:
    [table] = [entry for entry in header["tables"] if entry["name"] == "sums"]
    table.update(changes)


def test_a_forged_header_that_changes_nothing_is_read() -> None:
    assert tally_to_bytes(tally_from_bytes(_forged(len))) == DATA


@pytest.mark.parametrize("rows", [-1, 0, 3, 5, 10**12, 2**63, 10**400, 4.0, True, None, "4", []])
def test_a_forged_number_of_rows_is_refused(rows: object) -> None:
    with pytest.raises(TallyError):
        tally_from_bytes(_forged(lambda header: _table(header, rows=rows)))


@pytest.mark.parametrize(
    "changes",
    [
        {"texts": [], "numbers": [], "counts": [], "rows": 10**12},
        {"texts": ["s", "t"]},
        {"texts": "s"},
        {"texts": [1]},
        {"texts": None},
        {"numbers": []},
        {"vocabulary": ["b"]},
        {"first": 2, "within": -1},
        {"within": 2},
        {"vocabulary": "bä"},
        {"vocabulary": ["ä", "b"]},
        {"vocabulary": ["b", "ä", "unused"]},
        {"vocabulary": ["b", 3]},
        {"exact": []},
        {"exact": [["1"]] * 5},
        {"exact": [["1", "2"]] * 4},
        {"exact": [["zz"]] * 4},
        {"exact": [["1_0"]] * 4},
        {"exact": [["0x1"]] * 4},
        {"exact": [[1]] * 4},
        {"exact": [[]] * 4},
        {"exact": None},
        {"exact": {"0": ["1"]}},
        {"name": 3},
        {"name": "empty"},
    ],
    ids=str,
)
def test_a_forged_table_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(TallyError):
        tally_from_bytes(_forged(lambda header: _table(header, **changes)))


@pytest.mark.parametrize(
    ("key", "values"),
    [
        ("evaluator", [None, 3, [], {}]),
        ("truth", [None, 3, "", "0g" * 16, "00" * 15, "00" * 17, ["00"] * 16]),
        ("detections", [None, 3, "", "0g" * 16, "00" * 15, "00" * 17, ["00"] * 16]),
        ("tables", [None, 3, "", [], {}, [3], [{}], {"sums": {}}]),
    ],
)
def test_a_forged_field_is_refused(key: str, values: list[object]) -> None:
    for value in values:
        with pytest.raises(TallyError):
            tally_from_bytes(_forged(partial(_set, key=key, value=value)))


@pytest.mark.parametrize("header", [[], 3, "text", None, {}])
def test_a_forged_header_is_refused(header: object) -> None:
    encoded = json.dumps(header).encode()
    with pytest.raises(TallyError):
        tally_from_bytes(seal(struct.pack("<Q", len(encoded)) + encoded))


def test_deep_nesting_is_refused() -> None:
    encoded = b"[" * 100_000
    with pytest.raises(TallyError):
        tally_from_bytes(seal(struct.pack("<Q", len(encoded)) + encoded))


def test_rows_out_of_order_are_refused() -> None:
    """Sums of such tables would be wrong: only neighbouring equal keys are added."""
    body = DATA[len(seal(b"")) :]
    codes = np.array([0, 0, 1, 1], dtype="<i8").tobytes()
    assert body.count(codes) == 1
    with pytest.raises(TallyError, match="order"):
        tally_from_bytes(seal(body.replace(codes, np.array([1, 0, 1, 0], dtype="<i8").tobytes())))


@pytest.mark.parametrize("length", [2**63, 2**64 - 1])
def test_a_forged_length_beyond_all_memory_is_refused(length: int) -> None:
    """The header is intact, as slices end where the bytes do; the next part would begin beyond."""
    table = {
        "name": "t", "texts": ["s"], "numbers": [], "counts": [], "sums": [], "first": None,
        "within": 0, "vocabulary": [], "rows": 0, "exact": [],
    }  # fmt: skip
    header = {
        "evaluator": "e", "truth": "00" * 16, "detections": "00" * 16, "tables": [table],
        "impression": [],
    }  # fmt: skip
    body = struct.pack("<Q", length) + json.dumps(header).encode()
    with pytest.raises(TallyError):
        tally_from_bytes(seal(body))
