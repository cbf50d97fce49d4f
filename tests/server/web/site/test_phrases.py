"""Times, counts, digits and probabilities as pages write them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from vidscore_server.web.site.phrases import (
    chance_text,
    counted,
    digits_for,
    duration_text,
    listed,
    ordinal,
    shortened,
    time_text,
)
from vidscore_server.web.site.service import ServiceError


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("laboratory-of-vision-seven", "laboratory-…vision-seven"),
        ("laboratory-of-vision-six", "laboratory-of-vision-six"),
    ],
)
def test_a_long_name_keeps_its_end_beside_a_curve(name: str, short: str) -> None:
    assert shortened(name) == short


def test_a_time_is_in_utc_with_the_month_as_a_word() -> None:
    assert time_text(datetime(2026, 11, 2, 8, 4, tzinfo=UTC)) == "2 Nov 2026, 08:04 UTC"
    assert time_text(None) == ""


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (1.0, "one second"),
        (0.5, "0.5 seconds"),
        (90.0, "90 seconds"),
        (3600.0, "one hour"),
        (5400.0, "90 minutes"),
        (7 * 86400.0, "seven days"),
    ],
)
def test_a_duration_is_in_the_largest_unit_that_fits(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("a submission first already exists", "A submission first already exists."),
        ("truth.csv, line 1: found x", "truth.csv, line 1: found x."),
        ("Too late!", "Too late!"),
        ("frames: found 2", "frames: found 2."),
        ("", ""),
    ],
)
def test_a_refusal_is_a_sentence_in_which_names_keep_their_letters(
    message: str, shown: str
) -> None:
    assert ServiceError("ABORTED", "LATE", message).message == shown


def test_counts_and_lists_are_in_words() -> None:
    assert (counted(1, "team"), counted(3, "team")) == ("one team", "three teams")
    assert (listed(["a"]), listed(["a", "b", "c"])) == ("a", "a, b and c")
    assert [ordinal(number) for number in (1, 10, 11, 12, 21, 22, 111)] == [
        "first", "tenth", "11th", "12th", "21st", "22nd", "111th",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("values", "digits"),
    [
        ([1.0, 20.0], 0),
        ([0.62, 0.6, None], 2),
        ([0.61234567, 0.5], 4),
        ([0.123456, 0.123457], 6),
        ([0.99999, 0.9999], 5),
        ([0.99999, 1.0], 4),
        ([], 0),
    ],
)
def test_a_column_has_as_many_digits_as_its_order_needs(
    values: list[float | None], digits: int
) -> None:
    assert digits_for(values) == digits


@pytest.mark.parametrize(
    ("chance", "in_tenths", "text"),
    [
        (0.764, False, "0.76"),
        (0.0, False, "< 0.01"),
        (1.0, False, "> 0.99"),
        (0.7, True, "0.7"),
        (0.0, True, "< 0.1"),
        (1.0, True, "> 0.9"),
        (0.1, True, "0.1"),
        (0.9, True, "0.9"),
    ],
)
def test_a_probability_is_never_shown_as_certain(chance: float, in_tenths: bool, text: str) -> None:
    assert chance_text(chance, in_tenths=in_tenths) == text
