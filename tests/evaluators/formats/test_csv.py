"""CSV as typed columns: the fast path and the slow path never disagree."""

from __future__ import annotations

import csv
import io
import math
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vidscore_evaluators.errors import InputError
from vidscore_evaluators.formats import _csv
from vidscore_evaluators.formats._csv import (
    CsvRows,
    ParsedColumn,
    SlowRows,
    parse_chunk,
    read_columns,
    split_csv,
)
from vidscore_evaluators.formats._table import EMPTY, Kind, StringColumn

KINDS = (Kind.INTEGER, Kind.NUMBER, Kind.STRING)
COLUMNS = (("frame", Kind.INTEGER), ("x", Kind.NUMBER), ("class", Kind.STRING))

plain_integers = st.integers(-(10**9), 10**18).map(str)
plain_numbers = st.one_of(
    st.integers(-(10**9), 10**9).map(str),
    st.decimals(-9999, 9999, places=3).map(str),
    st.floats(-1e9, 1e9).map(repr),
)
FIELDS = """
    - . -. 1. .5 -.5 +1 1e3 1e999 -0 0.0 007 1.2.3 --1 1- nan inf -inf 0x1F 1_000 null true
    [1] {} 1;2 9223372036854775807 9223372036854775808 -9223372036854775808 4.0 4.5
    12345678 123456789 1234567. 1.2345678. 1.23456789.1
    9007199254740993 900719925474099.3 -900719925474099.1 .9007199254740993 9007199254740991.
    -1234567 99999999.9 \uff11\uff12
"""
odd_fields = st.sampled_from([*FIELDS.split(), "", "1 2", " 7", "7 ", "\x00", "\xa0"])
labels = st.sampled_from(
    [
        "",
        "Car",
        " Car",
        "car ",
        "Tractor-Trailer",
        "a" * 255,
        "b" * 256,
        "é",
        "\x01",
        "\x7f",
        "Käse",
    ]
)
rows = st.tuples(
    st.one_of(plain_integers, odd_fields), st.one_of(plain_numbers, odd_fields), labels
).map(",".join)
odd_rows = st.sampled_from(["", " ", "1,2", "1,2,3,4", '1,2,"Car"', '1,2,"Ca', '1,2,Ca"r', ",,"])


def values_of(column: ParsedColumn) -> list[Any]:
    """A column as values that compare as equal, including NaN."""
    if isinstance(column, StringColumn):
        return [column.values[code] for code in column.codes.tolist()]
    if column.dtype == np.float64:
        return [None if math.isnan(value) else value for value in column.tolist()]
    return list(column.tolist())


def column_of(rows: CsvRows, name: str) -> ParsedColumn:
    columns: dict[str, ParsedColumn] = {
        **rows.table.numbers,
        **rows.table.integers,
        **rows.table.strings,
    }
    return columns[name]


def read(text: str | bytes, kinds: tuple[Kind | None, ...] = KINDS) -> CsvRows:
    data = text if isinstance(text, bytes) else text.encode()
    return read_columns(split_csv(data, "a.csv"), kinds)


def write(*lines: str) -> bytes:
    return ("frame,x,class\n" + "\n".join(lines) + "\n").encode()


@given(st.lists(st.one_of(rows, odd_rows), max_size=6))
@example(["1,2,Car", "2,3.5,Bus"])
def test_the_fast_path_declines_or_agrees_with_the_slow_path(lines: list[str]) -> None:
    data = "".join(line + "\n" for line in lines).encode()
    slow = SlowRows(data, COLUMNS, "a.csv", 2)
    fast = None if b'"' in data else parse_chunk(data, KINDS)
    if fast is not None:
        assert slow.skipped == 0
        assert [values_of(column) for column in fast] == [
            values_of(column) for column in slow.columns()
        ]


@given(st.lists(st.tuples(st.integers(0, 10**12), st.floats(-1e9, 1e9)), min_size=1, max_size=50))
def test_well_formed_numbers_are_read_fast_and_to_the_last_bit(
    values: list[tuple[int, float]],
) -> None:
    data = "".join(f"{integer},{number!r},Car\n" for integer, number in values).encode()
    columns = parse_chunk(data, KINDS)
    assert columns is not None
    assert values_of(columns[0]) == [integer for integer, _ in values]
    assert values_of(columns[1]) == [number for _, number in values]


@given(st.lists(st.decimals(-99999, 99999, places=2), min_size=1, max_size=50))
def test_short_decimals_are_the_nearest_binary_numbers(values: list[Any]) -> None:
    columns = parse_chunk("".join(f"0,{value},\n" for value in values).encode(), KINDS)
    assert columns is not None
    assert values_of(columns[1]) == [float(value) for value in values]


@given(st.lists(st.from_regex(r"[+-]?[0-9]{0,19}\.?[0-9]{0,19}", fullmatch=True), max_size=20))
@example(["0.", "00.", "-0.", ".0", "-0", "0", "1234567.", ".1234567", "12345678.", ".12345678"])
@example(["0.000123456789012345678", "000.1234567890123456789", "9999999999999999999", "1e22"])
def test_numbers_of_up_to_nineteen_digits_are_what_python_reads(fields: list[str]) -> None:
    short = [field for field in fields if 0 < sum(map(str.isdigit, field)) <= 19]
    columns = parse_chunk("".join(f"0,{field},\n" for field in short).encode(), KINDS)
    assert columns is not None
    assert [value.hex() for value in values_of(columns[1])] == [
        float(field).hex() for field in short
    ]


@given(st.integers(2**52, 2**53 - 1), st.integers(0, 9))
@example(2**53 - 1, 1)
def test_a_number_halfway_between_two_becomes_the_even_one(mantissa: int, halvings: int) -> None:
    """A difference of one in the last of nineteen digits gives the nearer one."""
    middle = Decimal(2 * mantissa + 1) / 2 ** (1 + halvings)
    digits = min(19, len(middle.as_tuple().digits))
    step = Decimal(1).scaleb(middle.adjusted() - digits + 1)
    fields = [str(middle + offset * step) for offset in (-1, 0, 1)]
    columns = parse_chunk("".join(f"0,{field},\n" for field in fields).encode(), KINDS)
    assert columns is not None
    assert values_of(columns[1]) == [float(field) for field in fields]


@given(
    st.from_regex(r"-?[0-9]{1,9}(\.[0-9]{1,7})?", fullmatch=True),
    st.lists(st.tuples(st.integers(0, 17), st.integers(0, 1), st.integers(0, 255)), max_size=2),
)
@example("0", [(1, 0, ord("."))])
@example("0", [(0, 1, ord("."))])
@example("1.25", [(1, 1, ord("/"))])
@example("1.25", [(1, 1, ord("-"))])
@example("1.25", [(1, 1, 0xAE)])
@example("1.25", [(0, 1, ord("."))])
def test_a_number_with_changed_bytes_is_read_as_on_the_slow_path_or_declined(
    number: str, changes: list[tuple[int, int, int]]
) -> None:
    field = bytearray(number.encode())
    for place, removed, byte in changes:
        if byte not in b'",\r\n':
            field[place : place + removed] = bytes([byte])
    data = b"0,1.5,\n0,%b,\n" % bytes(field)
    fast = parse_chunk(data, KINDS)
    if fast is not None:
        slow = SlowRows(data, COLUMNS, "a.csv", 2)
        assert slow.skipped == 0
        assert values_of(fast[1]) == values_of(slow.columns()[1])


@given(st.lists(rows, max_size=30), st.integers(1, 60))
def test_the_size_of_chunks_makes_no_difference(lines: list[str], chunk_bytes: int) -> None:
    data = write(*lines)
    whole = read(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_csv, "CHUNK_BYTES", chunk_bytes)
        parts = read(data)
    assert parts.skipped == whole.skipped
    assert parts.faults.listed() == whole.faults.listed()
    assert parts.table.positions.tolist() == whole.table.positions.tolist()
    for name in ("frame", "x", "class"):
        assert values_of(column_of(parts, name)) == values_of(column_of(whole, name))


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=20), min_size=1, max_size=300))
def test_any_strings_survive_or_are_refused(texts: list[str]) -> None:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows(
        [["1", "2", text] for text in texts]
    )
    result = read("frame,x,class\n" + out.getvalue())
    clean = [text.strip(" \t") for text in texts if not _has_control(text)]
    kept = values_of(result.table.strings["class"])
    assert kept == clean
    assert result.skipped == len(texts) - len(clean)


def _has_control(text: str) -> bool:
    return any(ord(letter) < 32 or 127 <= ord(letter) < 160 for letter in text.strip(" \t"))


def test_more_labels_than_a_small_table_holds_are_distinguished() -> None:
    names = [f"class{number:05d}" for number in range(6000)]
    result = read(write(*(f"0,1,{name}" for name in names)))
    assert values_of(result.table.strings["class"]) == names


def test_an_empty_field_is_empty_in_each_kind_of_column() -> None:
    table = read(write(",,", "1,,Car")).table
    assert table.integers["frame"].tolist() == [EMPTY, 1]
    assert np.isnan(table.numbers["x"]).all()
    assert values_of(table.strings["class"]) == ["", "Car"]


def test_each_invalid_field_is_a_fault_with_line_and_column() -> None:
    result = read(write("1,2,Car", "x,nan,Car", "2,0x1F,Car", "3,4,Car"))
    assert [
        (fault.line, fault.field, fault.found, fault.expected) for fault in result.faults.listed()
    ] == [
        (3, "column frame", "'x'", "an integer"),
        (3, "column x", "'nan'", "a finite number"),
        (4, "column x", "'0x1F'", "a finite number"),
    ]
    assert result.skipped == 2
    assert result.table.positions.tolist() == [2, 5]


def test_a_row_of_the_wrong_width_says_how_many_columns_it_has() -> None:
    faults = read(write("1,2", "1,2,Car,4")).faults.listed()
    assert [(fault.line, fault.found) for fault in faults] == [(2, "2 columns"), (3, "4 columns")]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_of_every_system_are_accepted(end: str) -> None:
    table = read(f"frame,x,class{end}1,2,Car{end}{end}3,4,Bus").table
    assert table.integers["frame"].tolist() == [1, 3]
    assert table.positions.tolist() == [2, 4]


def test_quotes_and_spaces_around_fields_are_accepted() -> None:
    table = read('frame,x,class\n "1", 2.5 ,"Car, red"\n').table
    assert table.integers["frame"].tolist() == [1]
    assert values_of(table.strings["class"]) == ["Car, red"]


def test_a_byte_order_mark_is_not_part_of_the_header() -> None:
    assert split_csv(b"\xef\xbb\xbfframe,x\n", "a.csv").header == ("frame", "x")


def test_bytes_that_are_not_utf_8_are_a_fault_of_their_line() -> None:
    result = read(b"frame,x,class\n1,2,Car\n1,2,\xff\xfe\n")
    (fault,) = result.faults.listed()
    assert str(fault).endswith(
        "line 3, column class: found bytes that are not valid UTF-8, expected text in UTF-8"
    )


def test_an_unclosed_quote_is_a_fault_and_not_an_endless_row() -> None:
    result = read('frame,x,class\n1,2,"Car\n3,4,Bus\n')
    assert result.skipped >= 1
    assert result.faults.listed()[0].line == 2


@pytest.mark.parametrize("data", [b"", b"\n\n", b" \r\n", b"\xef\xbb\xbf"])
def test_an_empty_file_has_no_header(data: bytes) -> None:
    with pytest.raises(InputError, match="an empty file"):
        split_csv(data, "a.csv")


def test_utf_16_is_named() -> None:
    with pytest.raises(InputError, match="UTF-16"):
        split_csv("frame,x\n".encode("utf-16"), "a.csv")


def test_a_header_alone_has_no_rows() -> None:
    assert len(read("frame,x,class").table) == 0


def test_columns_without_a_type_may_contain_anything() -> None:
    table = read("frame,x,class\n1,nonsense,Car\n", (Kind.INTEGER, None, Kind.STRING)).table
    assert table.integers["frame"].tolist() == [1]


@pytest.mark.parametrize(
    ("header", "found"),
    [
        (b"sequence;frame;x;y", "columns separated by semicolons"),
        (b"sequence\tframe\tx\ty", "columns separated by tabs"),
        (b"sequence|frame|x|y", "columns separated by vertical bars"),
        (b'sequence,"frame', "'sequence,\"frame'"),
        (b"sequence,\xff", "'sequence,\N{REPLACEMENT CHARACTER}'"),
        (b"", "an empty file"),
        ("sequence,frame".encode("utf-16"), "text in UTF-16"),
    ],
)
def test_an_invalid_header_is_named(header: bytes, found: str) -> None:
    with pytest.raises(InputError) as caught:
        split_csv(header + b"\n", "a.csv")
    [fault] = caught.value.faults
    assert (fault.source, fault.line, fault.found) == ("a.csv", 1, found)


def test_other_delimiters_may_be_part_of_a_name() -> None:
    assert split_csv(b"frame,x;y,z|t\n", "a.csv").header == ("frame", "x;y", "z|t")
    assert split_csv(b"frame\n", "a.csv").header == ("frame",)
