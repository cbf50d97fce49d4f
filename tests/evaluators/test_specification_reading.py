"""A specification from outside is read whole, or refused with every fault and its place."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vidscore_evaluators.convert import to_dict
from vidscore_evaluators.errors import SpecificationError
from vidscore_evaluators.specification import MAXIMUM_FRAMES, FrameRanges, spec_from_dict
from vidscore_evaluators.validation import MAXIMUM_FRAME_NUMBER

KEYS = ("title", "evaluators", "domains", "sequences", "name", "domain", "classes", "frames")
FIELDS = (*KEYS, "frame_count", "first_frame", "dont_care_frames", "image_width", "parameters")


def _faults(document: object) -> list[str]:
    with pytest.raises(SpecificationError) as caught:
        spec_from_dict(document, source="m.toml")  # type: ignore[arg-type]  # hostile on purpose
    return [str(fault) for fault in caught.value.faults]


def test_a_frame_may_stand_for_a_range_of_one() -> None:
    spec = spec_from_dict({"sequences": [{"name": "s", "frames": [7, [1, 3], 4]}]})
    assert spec.sequences[0].frames == FrameRanges(((1, 4), (7, 7)))


def test_every_fault_is_listed_with_its_place() -> None:
    document = {
        "titel": "x",
        "evaluators": [{"name": ""}, {"parameters": []}, "spotgeo"],
        "domains": [{"name": "d", "classes": ["Car", "car"]}, {"name": "d"}],
        "sequences": [
            {"name": "s", "frame_count": -1, "first_frame": True, "image_width": 0},
            {"name": "t", "frames": [[3, 1]], "dont_care_frames": ["x"]},
            {"name": "t"},
        ],
    }
    assert _faults(document) == [
        "m.toml, titel: unknown key; did you mean title?",
        "m.toml, evaluators[0].name: found '', expected a name that is not empty",
        "m.toml, evaluators[1].parameters: found [], expected an object of parameters",
        "m.toml, evaluators[1].name: missing",
        "m.toml, evaluators[2]: found 'spotgeo', expected an object",
        (
            "m.toml, domains[0].classes: found ['Car', 'car'], expected labels that differ in "
            "more than case"
        ),
        (
            "m.toml, sequences[0].frame_count: found -1, expected an integer from 0 to "
            f"{MAXIMUM_FRAME_NUMBER}"
        ),
        (
            "m.toml, sequences[0].first_frame: found True, expected an integer from 0 to "
            f"{MAXIMUM_FRAME_NUMBER}"
        ),
        "m.toml, sequences[0].image_width: found 0, expected an integer from 1 to 2147483647",
        (
            "m.toml, sequences[1].frames: found [[3, 1]], expected frames that are not negative, "
            "first before last"
        ),
        (
            "m.toml, sequences[1].dont_care_frames: found ['x'], expected frame numbers or "
            "[first, last] pairs"
        ),
        "m.toml, domains[1].name: found 'd', expected a unique name",
        "m.toml, sequences[2].name: found 't', expected a unique name",
    ]


@pytest.mark.parametrize("document", [None, [], "text", 3])
def test_what_is_no_table_is_refused(document: object) -> None:
    assert _faults(document) == [f"m.toml, the document: found {document!r}, expected an object"]


def test_two_entries_without_name_are_two_faults_and_no_repeat() -> None:
    assert _faults({"sequences": [{}, {}]}) == [
        "m.toml, sequences[0].name: missing",
        "m.toml, sequences[1].name: missing",
    ]


@pytest.mark.parametrize(
    "entry",
    [
        {"frame_count": 10**30},
        {"first_frame": 10**30},
        {"frame_count": MAXIMUM_FRAME_NUMBER, "first_frame": MAXIMUM_FRAME_NUMBER},
        {"frames": [[0, 10**30]]},
        {"frames": [10**30]},
        {"dont_care_frames": [[0, 10**30]]},
        {"image_height": 10**30},
        {"frame_count": MAXIMUM_FRAMES + 1},
        {"frames": [[0, MAXIMUM_FRAME_NUMBER]]},
    ],
    ids=str,
)
def test_enormous_numbers_are_refused_and_not_counted_out(entry: dict[str, Any]) -> None:
    assert len(_faults({"sequences": [{"name": "s", **entry}]})) == 1


def test_frames_are_limited_over_all_sequences_together() -> None:
    half = MAXIMUM_FRAMES // 2 + 1
    names = [{"name": name, "frame_count": half} for name in "ab"]
    assert _faults({"sequences": names}) == [
        (
            f"m.toml, sequences: found {2 * half} frames, expected at most {MAXIMUM_FRAMES} frames "
            "in total"
        )
    ]


def test_a_long_text_is_cut_in_the_message() -> None:
    [fault] = _faults({"sequences": [{"name": "s", "frame_count": "9" * 10_000}]})
    assert len(fault) < 250


def test_half_a_character_is_no_name() -> None:
    """Such a text, which JSON can spell, can be written to no file and sent over no wire."""
    [fault] = _faults({"domains": [{"name": "\ud800"}]})
    assert "domains[0].name" in fault


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False)
        | st.text(max_size=3),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(FIELDS) | st.text(max_size=3), inner, max_size=4)
        ),
        max_leaves=12,
    )
)
def test_any_document_is_a_specification_or_a_specification_error(document: Any) -> None:
    try:
        spec = spec_from_dict(document)
    except SpecificationError:
        return
    assert spec_from_dict(to_dict(spec)) == spec


def test_class_numbers_are_the_texts_of_their_digits() -> None:
    spec = spec_from_dict({"domains": [{"name": "d", "classes": [1, "car"]}]})
    assert spec.domains[0].classes == ("1", "car")
    assert _faults({"domains": [{"name": "d", "classes": [1, "1"]}]})
    assert _faults({"domains": [{"name": "d", "classes": [True]}]})
    assert _faults({"domains": [{"name": "d", "classes": [1.5]}]})
