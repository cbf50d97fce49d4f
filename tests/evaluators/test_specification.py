"""A specification knows its frames and classes, and goes to plain dictionaries and back."""

from __future__ import annotations

import json
import tomllib

import numpy as np
import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st

from vidscore_evaluators.convert import to_dict
from vidscore_evaluators.specification import (
    BenchmarkSpec,
    DomainSpec,
    EvaluatorSpec,
    FrameRanges,
    SequenceSpec,
    spec_from_dict,
)

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


def test_evaluated_frames_are_the_list_or_else_all_of_the_count_or_else_unknown() -> None:
    listed = FrameRanges(((2, 3),))
    assert SequenceSpec("s", frame_count=9, frames=listed).evaluated_frames == listed
    assert SequenceSpec("s", frame_count=9, first_frame=1).evaluated_frames == (
        FrameRanges(((1, 9),))
    )
    assert SequenceSpec("s", frame_count=0).evaluated_frames == FrameRanges()
    assert SequenceSpec("s").evaluated_frames is None


def test_classes_are_those_of_the_domain_if_it_has_some() -> None:
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
def test_the_dictionaries_of_what_was_read_are_the_same(spec: BenchmarkSpec) -> None:
    document = to_dict(spec)
    assert to_dict(spec_from_dict(document)) == document


def test_what_is_unset_is_left_out() -> None:
    assert to_dict(BenchmarkSpec()) == {}
    assert to_dict(BenchmarkSpec(sequences=(SequenceSpec("s"),))) == {"sequences": [{"name": "s"}]}
