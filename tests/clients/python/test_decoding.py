"""From messages to reports and descriptions."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vidscore_client._decoding import decode_evaluator, decode_report
from vidscore_client._specification import encode_specification
from vidscore_evaluators.report import (
    Block,
    Curve,
    Report,
    ReportWarning,
    Row,
    Scores,
    report_to_dict,
    report_to_json,
)
from vidscore_protos.v1 import annotations_pb2, evaluator_service_pb2, report_pb2

names = st.none() | st.text(max_size=8)
values = st.none() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
parameter_values = (
    st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | st.tuples(st.text(max_size=3), st.text(max_size=3))
    | st.tuples(st.floats(allow_nan=False, allow_infinity=False))
)
rows = st.builds(Row, names, names, names, st.text(max_size=8), values)
curves = st.builds(
    Curve,
    st.text(max_size=8),
    st.dictionaries(st.text(max_size=4), st.tuples(values, values), min_size=1, max_size=3),
    names,
    names,
)
reports = st.builds(
    Report,
    evaluator=st.text(max_size=8),
    version=st.text(max_size=8),
    parameters=st.dictionaries(st.text(max_size=8), parameter_values, max_size=4),
    truth_digest=st.text(max_size=8),
    detections_digest=st.text(max_size=8),
    software=st.dictionaries(st.sampled_from(["numpy", "scipy", "vidscore"]), st.text(max_size=5)),
    specification=st.sampled_from(
        [
            {},
            {"title": "T", "sequences": [{"name": "a", "frame_count": 3, "frames": [[0, 1]]}]},
            {"domains": [{"name": "d", "classes": []}, {"name": "e"}]},
        ]
    ),
    scores=st.builds(
        Scores,
        st.lists(
            rows.map(
                lambda row: Block(
                    {row.measure: (row.value,)}, (row.domain,), (row.label,), (row.sequence,)
                )
            ),
            max_size=4,
        ).map(tuple),
        st.lists(curves, max_size=2).map(tuple),
        st.lists(
            st.builds(ReportWarning, st.text(max_size=8), st.text(max_size=8), st.integers(0, 9)),
            max_size=2,
        ).map(tuple),
    ),
)


def wire_value(value: Any) -> report_pb2.Value:
    """A value as sent on the wire, following only the text of the proto."""
    if value is None:
        return report_pb2.Value()
    return report_pb2.Value(**{"count" if isinstance(value, int) else "number": value})


def wire_report(report: Report) -> report_pb2.Report:
    """A report as a server sends it, written for this test alone."""
    message = report_pb2.Report(
        evaluator=report.evaluator,
        version=report.version,
        truth_digest=report.truth_digest,
        detections_digest=report.detections_digest,
        preset=report.preset,
        software=report.software,
        specification=encode_specification(["-"], report.specification),
    )
    del message.specification.evaluators[:]
    for name, value in report.parameters.items():
        parameter = message.parameters.add(name=name)
        if isinstance(value, tuple):
            kind = parameter.texts if isinstance(value[0], str) else parameter.numbers
            kind.values.extend(value)
        else:
            kinds = {bool: "boolean", int: "integer", float: "number", str: "text"}
            setattr(parameter, kinds[type(value)], value)
    for row in report.rows():
        message.scores.add(
            domain=row.domain,
            label=row.label,
            sequence=row.sequence,
            measure=row.measure,
            value=wire_value(row.value),
        )
    for curve in report.curves:
        added = message.curves.add(domain=curve.domain, label=curve.label, name=curve.name)
        for name, column in curve.columns.items():
            added.columns.add(name=name, values=[wire_value(value) for value in column])
    for warning in report.warnings:
        message.warnings.add(code=warning.code, message=warning.message, count=warning.count)
    return message


@pytest.mark.slow
@given(reports)
def test_a_report_has_the_json_form_that_the_evaluators_give_it(report: Report) -> None:
    """Equal in values and types, and in text, whose order follows the wire except in
    `software`.
    """
    message = report_pb2.Report.FromString(wire_report(report).SerializeToString())
    decoded = decode_report(message)
    expected = report_to_dict(report)
    assert decoded.to_dict() == expected
    assert json.dumps(decoded.to_dict(), sort_keys=True) == json.dumps(expected, sort_keys=True)


REPORT = Report(
    evaluator="neovision2",
    version="1",
    parameters={"overlap_threshold": 0.2, "frames": "listed"},
    truth_digest="0" * 32,
    detections_digest="1" * 32,
    scores=Scores(
        (Block({"nmotda": (0.5, None), "objects": (2, 3)}, ("Tower",), ("Car", "Bus")),),
        (Curve("roc", {"threshold": (0.95, 0.85), "detection_rate": (0.0, None)}, "Tower", "Car"),),
        (ReportWarning("empty_box", "Boxes without area.", 2),),
    ),
    specification={"title": "T", "classes": ["Car", "Bus"]},
    preset="tower",
    software={"numpy": "2", "scipy": "1", "vidscore": "0"},
)


def test_equal_reports_have_equal_text() -> None:
    assert decode_report(wire_report(REPORT)).to_json() == report_to_json(REPORT)


def test_rows_are_named_tuples_ready_for_a_data_frame() -> None:
    rows = decode_report(wire_report(REPORT)).rows()
    assert rows[0]._fields == ("domain", "label", "sequence", "measure", "value")
    assert rows[0] == ("Tower", "Car", None, "nmotda", 0.5)
    assert [type(row.value) for row in rows] == [float, int, type(None), int]


def test_a_value_is_found_by_its_names() -> None:
    report = decode_report(wire_report(REPORT))
    assert report.value("nmotda", domain="Tower", label="Car") == 0.5
    assert report.value("nmotda", domain="Tower", label="Bus") is None
    with pytest.raises(KeyError, match="measures of this report: nmotda, objects"):
        report.value("f1")
    with pytest.raises(KeyError, match="domain None"):
        report.value("nmotda")


def test_a_curve_is_found_by_its_names() -> None:
    report = decode_report(wire_report(REPORT))
    assert report.curve("roc", domain="Tower", label="Car").points() == [
        {"threshold": 0.95, "detection_rate": 0.0},
        {"threshold": 0.85, "detection_rate": None},
    ]
    with pytest.raises(KeyError, match="no curve 'roc'"):
        report.curve("roc")
    assert report.warnings[0].count == 2


def test_a_description_of_an_evaluator_is_read_completely() -> None:
    message = evaluator_service_pb2.Evaluator(
        name="evaluators/spotgeo",
        version="2",
        title="Points",
        task="detection",
        ranking=["f1", "mse"],
        truth_geometries=[annotations_pb2.GEOMETRY_POINT],
        detection_geometries=[annotations_pb2.GEOMETRY_POINT, annotations_pb2.GEOMETRY_BOX],
        uses_confidences=True,
        needs_tracks=False,
    )
    message.parameters_schema.update({"type": "object", "properties": {"tau": {"default": 10}}})
    message.measures.add(
        name="mse",
        description="Error.",
        unit="px^2",
        minimum=0.0,
        direction=evaluator_service_pb2.DIRECTION_LOWER,
        averaging="pooled",
    )
    message.measures.add(name="count", direction=evaluator_service_pb2.DIRECTION_NONE)
    found = decode_evaluator(message)
    assert (found.name, found.version, found.title) == ("spotgeo", "2", "Points")
    assert found.ranking == ("f1", "mse")
    assert found.truth_geometries == ("point",)
    assert found.detection_geometries == ("point", "box")
    assert found.uses_confidences
    assert not found.needs_tracks
    assert found.parameters_schema["properties"]["tau"]["default"] == 10
    assert (found.measures[0].minimum, found.measures[0].maximum) == (0.0, None)
    assert [measure.direction for measure in found.measures] == ["lower", "none"]


def test_shapes_unknown_to_this_client_are_left_out() -> None:
    message = evaluator_service_pb2.Evaluator(truth_geometries=[99, 2])  # type: ignore[list-item]
    assert decode_evaluator(message).truth_geometries == ("box",)
