"""Specifications survive the wire, and every fault in one is named by its path."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vidscore_evaluators.convert import to_dict
from vidscore_evaluators.errors import SpecificationError
from vidscore_evaluators.specification import (
    BenchmarkSpec,
    DomainSpec,
    EvaluatorSpec,
    FrameRanges,
    SequenceSpec,
)
from vidscore_protos.forms import FormError
from vidscore_protos.v1 import specification_pb2
from vidscore_server.api.convert import read_specification, write_specification
from vidscore_server.status import field_path

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=5)
NAMES = TEXTS.filter(bool)
RANGES = st.lists(
    st.tuples(st.integers(0, 50), st.integers(0, 5)).map(lambda pair: (pair[0], sum(pair))),
    max_size=3,
).map(FrameRanges.of)
VALUES = st.one_of(
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.text(max_size=5),
    st.lists(st.floats(allow_nan=False), max_size=3).map(tuple),
    st.lists(st.text(max_size=3), max_size=3).map(tuple),
)
SPECIFICATIONS = st.builds(
    BenchmarkSpec,
    title=TEXTS,
    evaluators=st.lists(
        st.builds(
            EvaluatorSpec,
            name=NAMES,
            parameters=st.dictionaries(NAMES, VALUES, max_size=3),
        ),
        max_size=2,
        unique_by=lambda entry: entry.name,
    ).map(tuple),
    domains=st.lists(
        st.builds(
            DomainSpec,
            name=TEXTS,
            classes=st.one_of(
                st.none(),
                st.lists(NAMES, max_size=3, unique_by=str.casefold).map(tuple),
            ),
        ),
        max_size=2,
        unique_by=lambda entry: entry.name,
    ).map(tuple),
    sequences=st.lists(
        st.builds(
            SequenceSpec,
            name=NAMES,
            domain=TEXTS,
            frame_count=st.none() | st.integers(0, 100),
            first_frame=st.integers(0, 100),
            frames=st.none() | RANGES,
            dont_care_frames=RANGES,
            image_width=st.none() | st.integers(1, 2**31 - 1),
            image_height=st.none() | st.integers(1, 2**31 - 1),
        ),
        max_size=3,
        unique_by=lambda entry: entry.key,
    ).map(tuple),
    classes=st.none() | st.lists(NAMES, max_size=3, unique_by=str.casefold).map(tuple),
)


@given(SPECIFICATIONS)
def test_a_specification_survives_the_wire(specification: BenchmarkSpec) -> None:
    data = write_specification(to_dict(specification)).SerializeToString()
    message = specification_pb2.BenchmarkSpec.FromString(data)
    assert read_specification(message, "specification") == specification


def test_a_parameter_of_a_type_that_no_message_has_is_a_bug_that_shows() -> None:
    with pytest.raises(FormError, match=r"parameters\['y'\]: found {}"):
        write_specification({"evaluators": [{"name": "x", "parameters": {"y": {}}}]})


def test_every_fault_of_a_specification_is_named_by_its_path() -> None:
    message = specification_pb2.BenchmarkSpec()
    evaluator = message.evaluators.add(name="spotgeo")
    evaluator.parameters.add(name="tau", number=5)
    evaluator.parameters.add(name="tau", number=6)
    evaluator.parameters.add(name="epsilon")
    message.evaluators.add(name="spotgeo")
    message.sequences.add(name="", frame_count=-1)
    message.sequences.add(name="a", image_width=0).dont_care_frames.add(first=3, last=1)

    with pytest.raises(SpecificationError) as caught:
        read_specification(message, "configuration.specification")

    assert [field_path(fault) for fault in caught.value.faults] == [
        "configuration.specification.evaluators[0].parameters[1].name",
        "configuration.specification.evaluators[0].parameters[2].value",
        "configuration.specification.sequences[0].name",
        "configuration.specification.sequences[0].frame_count",
        "configuration.specification.sequences[1].dont_care_frames",
        "configuration.specification.sequences[1].image_width",
        "configuration.specification.evaluators[1].name",
    ]
