"""An empty sequence or domain has rows like all others."""

from __future__ import annotations

from pathlib import Path

import pytest

from vidscore_evaluators import score
from vidscore_evaluators.errors import InputError
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.report import Report
from vidscore_evaluators.specification import BenchmarkSpec, SequenceSpec
from vidscore_evaluators.testing import Thing, make_annotations

CAR = Thing((0, 0, 10, 10), "car", 1.0, 1)
TRUTH = make_annotations({("Air", "a"): {0: [CAR]}, ("Tower", "b"): {0: [], 4: []}}, arity=4)
DETECTIONS = make_annotations({("Air", "a"): {0: [CAR]}}, arity=4)

DEFINED = {"f1": {"f1", "f1_m_partial", "f1_m_full"}, "clear": {"f1"}, "identity": {"idf1"}}
"""Measures that are 1 if both sides are empty."""


def figures(report: Report, sequence: str | None) -> dict[str, object]:
    return {
        row.measure: row.value
        for row in report.rows()
        if (row.domain, row.sequence, row.label) == ("Tower", sequence, None)
    }


@pytest.mark.parametrize("sequence", [None, "b"])
@pytest.mark.parametrize("name", ["f1", "clear", "identity", "hota"])
def test_counts_are_zero_f1_is_one_and_the_rest_is_undefined(
    name: str, sequence: str | None
) -> None:
    """For sequences and for domains, as the pages say."""
    report = score(name, TRUTH, DETECTIONS)
    found = figures(report, sequence)
    of_sets = {name for name in figures(report, None) if name.endswith("_class_mean")}
    assert found.keys() >= figures(report, None).keys() - of_sets
    for measure in create_evaluator(name).measures:
        if measure.name in of_sets:
            continue
        expected = 0 if measure.unit == "count" else None
        if measure.name in DEFINED.get(name, {"hota"}):
            expected = 1
        assert found[measure.name] == expected, measure.name


@pytest.mark.parametrize("name", ["map", "coco", "log-amr", "errors"])
def test_a_domain_without_objects_has_undefined_figures(name: str) -> None:
    """These criteria have no rows by sequence."""
    found = figures(score(name, TRUTH, DETECTIONS), None)
    measures = {measure.name: measure.unit for measure in create_evaluator(name).measures}
    assert found == {name: 0 if unit == "count" else None for name, unit in measures.items()}


@pytest.mark.parametrize("name", ["f1", "clear", "identity", "hota", "map"])
def test_an_empty_part_changes_no_other_row(name: str) -> None:
    """All other rows equal those of the truth without the empty sequence."""
    alone = make_annotations({("Air", "a"): {0: [CAR]}}, arity=4)
    report = score(name, TRUTH, DETECTIONS)
    assert [row for row in report.rows() if row.domain != "Tower"] == score(
        name, alone, DETECTIONS
    ).rows()


def test_a_sequence_without_evaluated_frames_has_no_rows() -> None:
    """Frames that are not evaluated are not empty frames."""
    truth = make_annotations(
        {("", "a"): {0: [CAR]}, ("", "b"): {0: []}},
        arity=4,
        dont_care=[(("", "b"), 0)],
    )
    detections = make_annotations({("", "a"): {0: [CAR]}}, arity=4)
    rows = score("clear", truth, detections).rows()
    assert {row.sequence for row in rows} == {None, "a"}


@pytest.mark.parametrize("name", ["mots", "visdrone-mot"])
def test_an_empty_truth_file_differs_from_a_missing_one(tmp_path: Path, name: str) -> None:
    """Its sequence has no evaluated frame, unless a manifest lists some."""
    row = {"mots": "1 1001 1 6 8 8240l0", "visdrone-mot": "1,1,10,20,30,40,1,4,0,0"}[name] + "\n"
    rows = {("t", "a"): row, ("t", "b"): "", ("d", "a"): row, ("d", "b"): row}
    for (side, sequence), text in rows.items():
        (tmp_path / side).mkdir(exist_ok=True)
        (tmp_path / side / f"{sequence}.txt").write_text(text)
    sides = (tmp_path / "t", tmp_path / "d")
    with pytest.raises(InputError, match=r"of it; a manifest with its frame_count lists them"):
        score("f1", *sides, format=name)
    known = BenchmarkSpec(sequences=(SequenceSpec("b", frame_count=2),))
    assert score("f1", *sides, format=name, specification=known).value("false_positives") == 1
