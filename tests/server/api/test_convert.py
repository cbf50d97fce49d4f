"""Specifications and reports have the same content on the wire as elsewhere."""

from __future__ import annotations

from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vidscore_evaluators.convert import to_dict
from vidscore_evaluators.errors import SpecificationError
from vidscore_evaluators.live import Coverage
from vidscore_evaluators.report import Block, Curve, Report, ReportWarning, Scores, report_to_dict
from vidscore_evaluators.specification import (
    BenchmarkSpec,
    DomainSpec,
    EvaluatorSpec,
    FrameRanges,
    SequenceSpec,
)
from vidscore_protos.forms import FormError
from vidscore_protos.v1 import report_pb2, specification_pb2
from vidscore_server.api.convert import (
    read_specification,
    write_coverage,
    write_report,
    write_specification,
)
from vidscore_server.status import field_path

# --- Specifications survive the wire, and every fault in one is named by its path


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=5)
FULL_NAMES = TEXTS.filter(bool)
RANGES = st.lists(
    st.tuples(st.integers(0, 50), st.integers(0, 5)).map(lambda pair: (pair[0], sum(pair))),
    max_size=3,
).map(FrameRanges.of)
PARAMETERS = st.one_of(
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
            name=FULL_NAMES,
            parameters=st.dictionaries(FULL_NAMES, PARAMETERS, max_size=3),
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
                st.lists(FULL_NAMES, max_size=3, unique_by=str.casefold).map(tuple),
            ),
        ),
        max_size=2,
        unique_by=lambda entry: entry.name,
    ).map(tuple),
    sequences=st.lists(
        st.builds(
            SequenceSpec,
            name=FULL_NAMES,
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
    classes=st.none() | st.lists(FULL_NAMES, max_size=3, unique_by=str.casefold).map(tuple),
)


@given(SPECIFICATIONS)
def test_a_specification_survives_the_wire(specification: BenchmarkSpec) -> None:
    data = write_specification(to_dict(specification)).SerializeToString()
    message = specification_pb2.BenchmarkSpec.FromString(data)
    assert read_specification(message, "specification") == specification


def test_a_parameter_type_without_a_message_raises_an_error() -> None:
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


# --- A report on the wire has the same content as its JSON form


NAMES = st.text(max_size=4)
VALUES = st.none() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False)
DIMENSION = st.none() | NAMES


@st.composite
def blocks(draw: st.DrawFn) -> Block:
    count = draw(st.integers(1, 3))
    columns = st.lists(VALUES, min_size=count, max_size=count)
    names = st.lists(DIMENSION, min_size=count, max_size=count)
    return Block(
        measures=draw(st.dictionaries(NAMES, columns, min_size=1, max_size=2)),
        domains=draw(names),
        classes=draw(names),
        sequences=draw(names),
    )


@st.composite
def curves(draw: st.DrawFn) -> Curve:
    count = draw(st.integers(1, 3))
    columns = st.dictionaries(
        NAMES, st.lists(VALUES, min_size=count, max_size=count), min_size=1, max_size=2
    )
    return Curve(draw(NAMES), draw(columns), draw(DIMENSION), draw(DIMENSION))


REPORTS = st.builds(
    Report,
    evaluator=NAMES,
    version=NAMES,
    parameters=st.dictionaries(
        NAMES, st.booleans() | st.integers(0, 9) | st.floats(0, 9) | NAMES, max_size=3
    ),
    truth_digest=NAMES,
    detections_digest=NAMES,
    scores=st.builds(
        Scores,
        blocks=st.lists(blocks(), max_size=2).map(tuple),
        curves=st.lists(curves(), max_size=2).map(tuple),
        warnings=st.lists(
            st.builds(ReportWarning, NAMES, NAMES, st.integers(0, 9)), max_size=2
        ).map(tuple),
    ),
    specification=st.just(
        to_dict(BenchmarkSpec(title="t", sequences=(SequenceSpec("a", frame_count=3),)))
    ),
    software=st.dictionaries(NAMES, NAMES, max_size=2),
    preset=st.none() | NAMES,
)


def _value(message: report_pb2.Value) -> int | float | None:
    kind = message.WhichOneof("kind")
    value: int | float | None = None if kind is None else getattr(message, kind)
    return value


def _optional(message: Any, name: str) -> str | None:
    value: str | None = getattr(message, name) if message.HasField(name) else None
    return value


def _json_form(message: report_pb2.Report) -> dict[str, Any]:
    """The JSON form, derived here only from the comments in the .proto."""
    return {
        "evaluator": message.evaluator,
        "version": message.version,
        **({"preset": message.preset} if message.HasField("preset") else {}),
        "parameters": {
            entry.name: getattr(entry, entry.WhichOneof("value")) for entry in message.parameters
        },
        "truth_digest": message.truth_digest,
        "detections_digest": message.detections_digest,
        "software": dict(message.software),
        "specification": {
            "title": message.specification.title,
            "sequences": [
                {"name": entry.name, "frame_count": entry.frame_count}
                for entry in message.specification.sequences
            ],
        },
        "scores": [
            {
                "domain": _optional(score, "domain"),
                "label": _optional(score, "label"),
                "sequence": _optional(score, "sequence"),
                "measure": score.measure,
                "value": _value(score.value),
            }
            for score in message.scores
        ],
        "curves": [
            {
                "domain": _optional(curve, "domain"),
                "label": _optional(curve, "label"),
                "name": curve.name,
                "points": [
                    {
                        column.name: _value(value)
                        for column, value in zip(curve.columns, point, strict=True)
                    }
                    for point in zip(*(column.values for column in curve.columns), strict=True)
                ],
            }
            for curve in message.curves
        ],
        "warnings": [
            {"code": entry.code, "message": entry.message, "count": entry.count}
            for entry in cast("list[Any]", message.warnings)
        ],
    }


@given(REPORTS)
def test_a_report_survives_the_wire(report: Report) -> None:
    data = write_report(report).SerializeToString()
    expected = report_to_dict(report)
    found = _json_form(report_pb2.Report.FromString(data))
    assert found == expected
    # 1 == 1.0 == True in Python, so the types are compared as well.
    assert repr(found["scores"]) == repr(expected["scores"])
    assert repr(sorted(found["parameters"].items())) == repr(sorted(expected["parameters"].items()))


def test_a_summary_leaves_out_only_single_sequences_and_curves() -> None:
    report = Report(
        evaluator="e",
        version="1",
        parameters={},
        truth_digest="",
        detections_digest="",
        scores=Scores(
            blocks=(
                Block({"a": (1,)}),
                Block({"a": (2, 3)}, sequences=(None, "s"), domains=("d", "d")),
            ),
            curves=(Curve("c", {"x": (1,)}),),
            warnings=(ReportWarning("w", "."),),
        ),
    )
    message = write_report(report, summary_only=True)
    assert [(score.domain, score.value.count) for score in message.scores] == [("", 1), ("d", 2)]
    assert len(message.curves) == 0
    assert len(message.warnings) == 1


def test_coverage_says_which_side_waits() -> None:
    message = write_coverage(Coverage(paired=1, waiting_for_detections=2, waiting_for_truth=3))
    assert message.paired_frames == 1
    assert message.frames_waiting_for_detections == 2
    assert message.frames_waiting_for_truth == 3
