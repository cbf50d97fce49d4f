"""A specification knows its frames and classes, and converts to plain dictionaries and back."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import numpy as np
import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st

from vidscore_evaluators.convert import to_dict
from vidscore_evaluators.errors import SpecificationError
from vidscore_evaluators.specification import (
    MAXIMUM_FRAMES,
    BenchmarkSpec,
    DomainSpec,
    EvaluatorSpec,
    FrameRanges,
    SequenceSpec,
    spec_from_dict,
)
from vidscore_evaluators.validation import MAXIMUM_FRAME_NUMBER

RANGES = st.lists(
    st.tuples(st.integers(0, 40), st.integers(0, 6)).map(lambda pair: (pair[0], sum(pair))),
    max_size=6,
)
NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
PARAMETERS = st.dictionaries(
    NAMES.filter(bool),
    st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | NAMES
    | st.lists(NAMES, max_size=2).map(tuple)
    | st.lists(st.integers(0, 9), max_size=2).map(tuple),
    max_size=3,
)
SEQUENCES = st.builds(
    SequenceSpec,
    name=NAMES.filter(bool),
    domain=NAMES,
    frame_count=st.none() | st.integers(0, 1000),
    first_frame=st.integers(0, 5),
    frames=st.none() | RANGES.map(FrameRanges.of),
    dont_care_frames=RANGES.map(FrameRanges.of),
    image_width=st.none() | st.integers(1, 2**31 - 1),
    image_height=st.none() | st.integers(1, 4000),
)
SPECS = st.builds(
    BenchmarkSpec,
    title=NAMES,
    evaluators=st.lists(
        st.builds(EvaluatorSpec, NAMES.filter(bool), PARAMETERS),
        max_size=2,
        unique_by=lambda entry: entry.name,
    ).map(tuple),
    domains=st.lists(
        st.builds(
            DomainSpec,
            NAMES,
            st.none() | st.sampled_from([(), ("Car",), ("Car", "Bus")]),
        ),
        max_size=2,
        unique_by=lambda entry: entry.name,
    ).map(tuple),
    sequences=st.lists(SEQUENCES, max_size=3, unique_by=lambda entry: entry.key).map(tuple),
    classes=st.none() | st.sampled_from([(), ("Car",), ("Car", "Bus")]),
)


def _numbers(ranges: list[tuple[int, int]]) -> set[int]:
    return {number for first, last in ranges for number in range(first, last + 1)}


@given(RANGES)
def test_ranges_are_the_set_of_their_numbers(ranges: list[tuple[int, int]]) -> None:
    frames, expected = FrameRanges.of(ranges), _numbers(ranges)
    assert frames.numbers().tolist() == sorted(expected)
    assert len(frames) == len(expected)
    probe = np.arange(60, dtype=np.int64)
    assert set(probe[frames.contains(probe)].tolist()) == expected


@given(RANGES)
def test_ranges_of_one_set_are_equal(ranges: list[tuple[int, int]]) -> None:
    frames = FrameRanges.of(ranges)
    assert FrameRanges.of([(number, number) for number in _numbers(ranges)]) == frames
    assert FrameRanges.of(ranges[::-1]) == frames
    assert FrameRanges.of(np.array(ranges, dtype=np.int64).reshape(-1, 2)) == frames
    for (_, last), (first, _) in zip(frames.ranges, frames.ranges[1:], strict=False):
        assert first > last + 1


@pytest.mark.parametrize("pair", [(-1, 2), (3, 2)])
def test_impossible_ranges_are_refused(pair: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="first before last"):
        FrameRanges.of([pair])


def test_evaluated_frames_are_the_list_or_else_those_of_the_count_or_else_unknown() -> None:
    listed = FrameRanges(((2, 3),))
    assert SequenceSpec("s", frame_count=9, frames=listed).evaluated_frames == listed
    assert SequenceSpec("s", frame_count=9, first_frame=1).evaluated_frames == (
        FrameRanges(((1, 9),))
    )
    assert SequenceSpec("s", frame_count=0).evaluated_frames == FrameRanges()
    assert SequenceSpec("s").evaluated_frames is None


def test_classes_are_those_of_the_domain_if_it_lists_any() -> None:
    spec = BenchmarkSpec(domains=(DomainSpec("a", ("x",)), DomainSpec("b"), DomainSpec("c", ())))
    assert spec.classes_of("a") == ("x",)
    assert spec.classes_of("b") is None
    assert spec.classes_of("c") == ()
    assert spec.classes_of("d") is None


def test_domains_that_list_no_classes_have_those_of_the_specification() -> None:
    domains = (DomainSpec("a", ("x",)), DomainSpec("b"), DomainSpec("c", ()))
    spec = BenchmarkSpec(domains=domains, classes=("y", "x"))
    assert [spec.classes_of(name) for name in "abcd"] == [("x",), ("y", "x"), (), ("y", "x")]
    assert spec.listed_labels == ("y", "x")


@given(SPECS)
def test_a_specification_survives_dictionaries_json_and_toml(spec: BenchmarkSpec) -> None:
    document = to_dict(spec)
    assert spec_from_dict(document) == spec
    assert spec_from_dict(json.loads(json.dumps(document))) == spec
    assert spec_from_dict(tomllib.loads(tomli_w.dumps(document))) == spec


@given(SPECS)
def test_a_specification_that_was_read_gives_the_same_dictionaries(spec: BenchmarkSpec) -> None:
    document = to_dict(spec)
    assert to_dict(spec_from_dict(document)) == document


def test_unset_fields_are_left_out() -> None:
    assert to_dict(BenchmarkSpec()) == {}
    assert to_dict(BenchmarkSpec(sequences=(SequenceSpec("s"),))) == {"sequences": [{"name": "s"}]}


# --- A specification from outside is read completely, or refused with every fault and its place


KEYS = ("title", "evaluators", "domains", "sequences", "name", "domain", "classes", "frames")
FIELDS = (*KEYS, "frame_count", "first_frame", "dont_care_frames", "image_width", "parameters")


def _faults(document: object) -> list[str]:
    with pytest.raises(SpecificationError) as caught:
        spec_from_dict(document, source="m.toml")  # type: ignore[arg-type]  # hostile on purpose
    return [str(fault) for fault in caught.value.faults]


def test_a_frame_can_replace_a_range_of_one() -> None:
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
def test_values_that_are_not_tables_are_refused(document: object) -> None:
    assert _faults(document) == [f"m.toml, the document: found {document!r}, expected an object"]


def test_two_entries_without_a_name_are_two_faults_and_not_a_repeat() -> None:
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
def test_enormous_numbers_are_refused_without_counting(entry: dict[str, Any]) -> None:
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


def test_a_long_text_is_shortened_in_the_message() -> None:
    [fault] = _faults({"sequences": [{"name": "s", "frame_count": "9" * 10_000}]})
    assert len(fault) < 250


def test_an_unpaired_surrogate_is_not_a_name() -> None:
    """JSON can spell such a text, but it can be written to no file and sent over no wire."""
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


def test_class_numbers_become_texts_of_their_digits() -> None:
    spec = spec_from_dict({"domains": [{"name": "d", "classes": [1, "car"]}]})
    assert spec.domains[0].classes == ("1", "car")
    assert _faults({"domains": [{"name": "d", "classes": [1, "1"]}]})
    assert _faults({"domains": [{"name": "d", "classes": [True]}]})
    assert _faults({"domains": [{"name": "d", "classes": [1.5]}]})
