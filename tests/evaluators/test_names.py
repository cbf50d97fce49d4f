"""Names are texts of bearable length that can be written down anywhere."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vidscore_evaluators.names import (
    MAXIMUM_NAME_LENGTH,
    checked_name,
    closest_name,
    name_advice,
)


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0")))
def test_texts_are_names_as_they_are(text: str) -> None:
    assert checked_name(text) == text


@pytest.mark.parametrize("value", [None, 3, b"a", ["a"], ("a",), True, 0.5])
def test_what_is_no_text_is_no_name(value: object) -> None:
    with pytest.raises(ValueError, match="a text"):
        checked_name(value)


def test_a_name_has_at_most_so_many_characters() -> None:
    longest = "é" * MAXIMUM_NAME_LENGTH
    assert checked_name(longest) == longest
    with pytest.raises(ValueError, match=f"at most {MAXIMUM_NAME_LENGTH}"):
        checked_name(longest + "e")


@pytest.mark.parametrize("text", ["a\0b", "\ud800", "a\udfff"])
def test_what_cannot_be_written_down_is_no_name(text: str) -> None:
    with pytest.raises(ValueError, match="whole characters"):
        checked_name(text)


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("thresh", "did you mean threshold?"),
        ("TRESHOLD", "did you mean threshold?"),
        ("Tau", "did you mean tau?"),
        ("t", "there are threshold, tau, Shape"),
        ("shape", "did you mean Shape?"),
        ("colour", "there are threshold, tau, Shape"),
        ("", "there are threshold, tau, Shape"),
    ],
)
def test_advice_names_the_one_that_is_meant_whatever_its_case_or_else_all(
    name: str, advice: str
) -> None:
    assert name_advice(name, ("threshold", "tau", "Shape")) == advice


def test_a_name_that_is_like_none_has_no_closest() -> None:
    assert closest_name("colour", ("threshold", "tau")) is None
    assert closest_name("threshols", ("Threshold", "tau"), cutoff=0.8) == "Threshold"
