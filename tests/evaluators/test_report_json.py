"""Reports are written as JSON and read back without loss."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vidscore_evaluators.machine_text import json_text
from vidscore_evaluators.report import (
    Block,
    Curve,
    Report,
    ReportWarning,
    Row,
    Scores,
    report_from_dict,
    report_to_dict,
    report_to_json,
    row_blocks,
)
from vidscore_evaluators.testing.examples import example_count

TEXTS = st.text(st.characters(codec="utf-8"), max_size=5)
NUMBERS = (
    st.none() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False, allow_infinity=False)
)
PARAMETERS = st.dictionaries(
    TEXTS,
    st.booleans() | NUMBERS | TEXTS | st.lists(NUMBERS, max_size=2).map(tuple),
    max_size=3,
)
CURVES = st.integers(0, 3).flatmap(
    lambda count: st.builds(
        Curve,
        TEXTS,
        st.dictionaries(
            TEXTS, st.lists(NUMBERS, min_size=count, max_size=count).map(tuple), max_size=3
        ),
        st.none() | TEXTS,
        st.none() | TEXTS,
    )
)
REPORTS = st.builds(
    Report,
    evaluator=TEXTS,
    version=TEXTS,
    parameters=PARAMETERS,
    truth_digest=TEXTS,
    detections_digest=TEXTS,
    specification=st.just({"title": "t", "sequences": [{"name": "s", "frames": [[0, 3]]}]}),
    software=st.dictionaries(TEXTS, TEXTS, max_size=2),
    preset=st.none() | TEXTS,
    scores=st.builds(
        Scores,
        blocks=st.lists(st.builds(Row, *[st.none() | TEXTS] * 3, TEXTS, NUMBERS), max_size=4).map(
            row_blocks
        ),
        curves=st.lists(CURVES, max_size=2).map(tuple),
        warnings=st.lists(
            st.builds(ReportWarning, TEXTS, TEXTS, st.integers(0, 9)), max_size=2
        ).map(tuple),
    ),
)


@given(REPORTS)
@settings(max_examples=example_count(60))
def test_a_report_survives_json_text_with_the_type_of_every_number(report: Report) -> None:
    back = report_from_dict(json.loads(report_to_json(report)))
    assert back == report
    assert report_to_json(back) == report_to_json(report)
    assert [(row, type(row.value)) for row in back.rows()] == [
        (row, type(row.value)) for row in report.rows()
    ]
    assert (back.parameters, back.warnings) == (report.parameters, report.warnings)
    assert back.specification == report.specification
    assert back.software == report.software


def test_a_report_that_is_read_back_is_equal_whatever_its_column_layout() -> None:
    """Columns of an evaluator are lists, several measures wide; columns that were read are not."""
    wide = Block({"f1": [0.5, None], "hits": [3, 0]}, classes=["car", "bus"])
    curve = Curve("roc", {"x": [0.0, 1.0], "y": [0, None]}, label="car")
    report = Report("e", "1", {}, "t", "d", Scores((wide,), (curve,)))
    assert report_from_dict(report_to_dict(report)) == report
    for other in (
        Scores((replace(wide, measures={"f1": [0.5, 0.0], "hits": [3, 0]}),), (curve,)),
        Scores((wide,), (Curve("roc", {"x": [0.0, 1.0], "y": [0, 1]}, label="car"),)),
        Scores((wide,), (curve,), (ReportWarning("odd", "Odd."),)),
    ):
        assert report_from_dict(report_to_dict(replace(report, scores=other))) != report


def test_rows_that_are_read_share_blocks() -> None:
    """Successive keys with the same measures are one block; a repeated measure is a new key."""
    keys = [("day", "car", None), ("day", "bus", None), ("night", "car", None)]
    wide = [Row(*key, measure, 0.5) for key in keys for measure in ("f1", "recall")]
    again = [Row(*keys[2], "f1", 1.0), Row(*keys[2], "f1", 2.0), Row(None, None, None, "f1", None)]
    report = Report("e", "1", {}, "t", "d", Scores(row_blocks([*wide, *again])))
    back = report_from_dict(report_to_dict(report))
    assert [block.measures for block in back.scores.blocks] == [
        {"f1": (0.5, 0.5, 0.5), "recall": (0.5, 0.5, 0.5)},
        {"f1": (1.0, 2.0, None)},
    ]
    assert back.rows() == [*wide, *again]


@given(REPORTS)
@settings(max_examples=example_count(60))
def test_curves_with_points_are_read_back_equal(report: Report) -> None:
    back = report_from_dict(report_to_dict(report))
    for before, after in zip(report.curves, back.curves, strict=True):
        assert after.points() == before.points()
        assert (after.name, after.domain, after.label) == (
            before.name,
            before.domain,
            before.label,
        )


def test_the_form_is_the_documented_one() -> None:
    report = Report(
        evaluator="e",
        version="1",
        parameters={"names": ("a",)},
        truth_digest="t",
        detections_digest="d",
        scores=Scores(
            (Block({"hits": (3,), "f1": (None,)}, ("d",)),),
            (Curve("roc", {"x": (0.5,)}),),
            (ReportWarning("odd", "Odd."),),
        ),
    )
    assert json.loads(report_to_json(report)) == {
        "evaluator": "e",
        "version": "1",
        "parameters": {"names": ["a"]},
        "truth_digest": "t",
        "detections_digest": "d",
        "software": {},
        "specification": {},
        "scores": [
            {"domain": "d", "label": None, "sequence": None, "measure": "hits", "value": 3},
            {"domain": "d", "label": None, "sequence": None, "measure": "f1", "value": None},
        ],
        "curves": [{"domain": None, "label": None, "name": "roc", "points": [{"x": 0.5}]}],
        "warnings": [{"code": "odd", "message": "Odd.", "count": 1}],
    }


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_values_that_json_lacks_are_never_written(value: float) -> None:
    report = Report("e", "1", {}, "t", "d", Scores((Block({"f1": (value,)}),)))
    with pytest.raises(ValueError, match="JSON"):
        report_to_json(report)


def test_a_report_without_a_preset_has_no_such_key() -> None:
    """Reports from before presets existed stay the same, byte for byte."""
    report = Report("f1", "1", {}, "", "", Scores(()))
    assert "preset" not in report_to_dict(report)
    assert report_from_dict(report_to_dict(report)).preset is None
    named = report_to_dict(replace(report, preset="mot17"))
    assert list(named)[:3] == ["evaluator", "version", "preset"]
    assert report_from_dict(named).preset == "mot17"


def test_reports_that_call_labels_classes_are_still_read() -> None:
    report = Report("e", "1", {}, "t", "d", Scores((Block({"f1": (0.5,)}, ("day",), ("car",)),)))
    document = report_to_dict(report)
    earlier = [
        {("class" if key == "label" else key): value for key, value in score.items()}
        for score in document["scores"]
    ]
    assert earlier != document["scores"]
    assert report_to_dict(report_from_dict({**document, "scores": earlier})) == document


def test_a_missing_key_is_named() -> None:
    document = report_to_dict(Report("e", "1", {}, "t", "d", Scores(())))
    del document["scores"]
    with pytest.raises(KeyError, match="scores"):
        report_from_dict(document)


def test_texts_stay_readable_and_lines_can_be_joined() -> None:
    report = Report("é", "1", {}, "t", "d", Scores(()))
    assert "é" in report_to_json(report)
    assert "\n" not in report_to_json(report, indent=None)
    assert replace(report, version="2") != report


def test_a_report_writes_its_own_json() -> None:
    report = Report("e", "1", {"tau": 3.0}, "t", "d", Scores(()))
    assert report.to_json(indent=None) == report_to_json(report, indent=None)


DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inside: st.lists(inside) | st.dictionaries(st.text(), inside),
)  # fmt: skip


@given(DOCUMENTS, st.sampled_from([None, 0, 1, 2, 4]))
def test_json_text_has_the_characters_that_python_writes(
    document: object, indent: int | None
) -> None:
    assert json_text(document, indent) == json.dumps(document, indent=indent, ensure_ascii=False)


def test_json_text_of_a_name_that_is_not_utf_8_is_written_too() -> None:
    assert json_text({"file": "a\udcff"}) == '{\n  "file": "a\udcff"\n}'


@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_json_text_refuses_numbers_that_json_lacks(number: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_text([number])
