"""Strings, numbers and integers in the fields of a file."""

from __future__ import annotations

import pytest

from vidscore_evaluators.formats._table import parse_integer, parse_number, parse_string


@pytest.mark.parametrize(
    ("field", "value"),
    [("1", 1.0), (" 1.5\t", 1.5), ("-.5", -0.5), ("5.", 5.0), ("+1e3", 1000.0), ("1E-2", 0.01)],
)
def test_decimal_numbers_are_numbers(field: str, value: float) -> None:
    assert parse_number(field) == value


@pytest.mark.parametrize(
    "field",
    [
        "nan",
        "inf",
        "-Infinity",
        "1e999",
        "0x1F",
        "1_000",
        "\uff11",
        "1,5",
        ".",
        "-",
        "e5",
        "1 2",
        "true",
    ],
)
def test_everything_else_is_not_a_number(field: str) -> None:
    assert parse_number(field) is None


@pytest.mark.parametrize(
    ("field", "value"), [("4", 4), ("4.0", 4), ("-7", -7), ("9223372036854775807", 2**63 - 1)]
)
def test_numbers_without_fraction_are_integers(field: str, value: int) -> None:
    assert parse_integer(field) == value


@pytest.mark.parametrize(
    "field", ["4.5", "9223372036854775808", "-9223372036854775808", "1e17", "9" * 5000]
)
def test_fractions_and_more_than_64_bits_are_not_integers(field: str) -> None:
    assert parse_integer(field) is None


def test_strings_lose_only_their_surrounding_blanks() -> None:
    assert parse_string(" a b\t") == "a b"
    assert parse_string("\xa0a") == "\xa0a"


@pytest.mark.parametrize("field", ["a\x00b", "a\nb", "\x7f", "\x85", "\udcff", "ä" * 128])
def test_control_characters_and_long_strings_are_refused(field: str) -> None:
    assert parse_string(field) is None
