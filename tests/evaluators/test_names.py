"""Names are texts of bounded length that can be written anywhere."""

from __future__ import annotations

import difflib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vidscore_evaluators.names import (
    MAXIMUM_NAME_LENGTH,
    checked_name,
    closest_name,
    counted,
    did_you_mean,
    escape_controls,
    holds_controls,
    is_formula,
    name_advice,
)


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0")))
def test_texts_are_accepted_as_names_unchanged(text: str) -> None:
    assert checked_name(text) == text


@pytest.mark.parametrize("value", [None, 3, b"a", ["a"], ("a",), True, 0.5])
def test_a_name_must_be_a_text(value: object) -> None:
    with pytest.raises(ValueError, match="a text"):
        checked_name(value)


def test_the_length_of_a_name_is_limited() -> None:
    longest = "é" * MAXIMUM_NAME_LENGTH
    assert checked_name(longest) == longest
    with pytest.raises(ValueError, match=f"at most {MAXIMUM_NAME_LENGTH}"):
        checked_name(longest + "e")


@pytest.mark.parametrize("text", ["a\0b", "\ud800", "a\udfff"])
def test_a_name_that_cannot_be_written_is_refused(text: str) -> None:
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
def test_advice_suggests_the_meant_name_in_any_case_or_else_lists_all(
    name: str, advice: str
) -> None:
    assert name_advice(name, ("threshold", "tau", "Shape")) == advice


def test_the_only_known_name_is_one() -> None:
    assert name_advice("127.0.0.1:50051", ("list",)) == "there is list"


def test_a_name_unlike_all_others_gets_no_suggestion() -> None:
    assert closest_name("colour", ("threshold", "tau")) is None
    assert closest_name("threshols", ("Threshold", "tau"), cutoff=0.8) == "Threshold"


def test_few_of_many_names_are_compared_character_by_character(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Names such as those of Waymo; comparing one with a thousand of them took 0.2 s."""
    known = [f"segment-{7919**5 * row}_{row}_000_with_camera_labels" for row in range(1000, 2000)]
    compared: list[str] = []
    nearest = difflib.get_close_matches

    def recorded(word: str, possibilities: list[str], **more: Any) -> list[str]:
        compared.extend(possibilities)
        return nearest(word, possibilities, **more)

    monkeypatch.setattr(difflib, "get_close_matches", recorded)
    for wrong in (known[700].replace("_with_camera_labels", ""), known[700][:20] + known[700][21:]):
        assert closest_name(wrong, known) == known[700]
    assert len(compared) == 20


# Category Cc; line and paragraph separator; the directional characters of Unicode's bidirectional
# algorithm.
CONTROLS = [
    *map(chr, range(0x20)),
    *map(chr, range(0x7F, 0xA0)),
    *"\u2028\u2029\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069",
]


@pytest.mark.parametrize("control", CONTROLS, ids=ascii)
def test_control_characters_are_never_shown_unescaped(control: str) -> None:
    assert holds_controls(f"a{control}b")
    shown = escape_controls(f"a{control}b")
    assert shown == f"a{control.encode('unicode_escape').decode()}b" or control in "\t\n\r"
    assert not holds_controls(shown)


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cf", "Zl", "Zp"])))
def test_readable_text_is_shown_unchanged(text: str) -> None:
    assert not holds_controls(text)
    assert escape_controls(text) == text


def test_joined_letters_and_variation_selectors_stay() -> None:
    """A family of emoji is joined by U+200D, which changes no direction."""
    assert escape_controls("\U0001f468\u200d\U0001f469") == "\U0001f468\u200d\U0001f469"
    assert escape_controls("a\nb\x1b", but="\n") == "a\nb\\x1b"


@pytest.mark.parametrize(
    "text", ["=1+1", "=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", "-", "+", "--1", "-1_0"]
)
def test_a_text_that_a_spreadsheet_would_run_is_a_formula(text: str) -> None:
    assert is_formula(text)


@pytest.mark.parametrize("text", ["", "1", "-1", "+1.5", "-.5", "-1e-9", "+3.", "a=b", "'=1", " "])
def test_numbers_and_other_texts_are_not_formulas(text: str) -> None:
    assert not is_formula(text)


def test_a_name_with_the_same_letters_says_how_they_are_composed() -> None:
    """As file systems of Macs write them; both look the same on a screen."""
    assert did_you_mean("cafe\u0301", ["bridge", "caf\u00e9"]) == (
        "did you mean caf\u00e9? Its letters are composed in another way: "
        "'caf\\xe9', not 'cafe\\u0301'"
    )
    assert did_you_mean("\u00e9", ["e\u0301"]) is not None
    assert did_you_mean("brigde", ["bridge"]) == "did you mean bridge?"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (counted(0, "row"), "0 rows"),
        (counted(1, "row"), "1 row"),
        (counted(2, "row"), "2 rows"),
        (counted(1, "family", "families"), "1 family"),
        (counted(3, "family", "families"), "3 families"),
        (counted(12_000, "frame"), "12000 frames"),
        (counted(12_000, "frame", form=","), "12,000 frames"),
    ],
)
def test_a_count_of_one_has_the_singular(text: str, said: str) -> None:
    assert text == said
