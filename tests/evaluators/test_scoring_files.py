"""The library's `read` and `score`, as a notebook uses them."""

from __future__ import annotations

import pkgutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import structs

import vidscore
import vidscore_evaluators
from vidscore_evaluators import (
    BenchmarkSpec,
    EvaluatorSpec,
    InputError,
    ParameterError,
    SequenceKey,
    SequenceSpec,
    UnknownEvaluatorError,
    read,
    score,
)
from vidscore_evaluators.annotations import BOX, POINT, QUADRILATERAL, Annotations
from vidscore_evaluators.errors import GeometryError
from vidscore_evaluators.preparation import DataChoice, judged_by, prepare
from vidscore_evaluators.report import Report
from vidscore_evaluators.testing import make_annotations

HEADER = "sequence,frame,x,y\n"
TRUTH = {"sequence": ["1", "1", "1"], "frame": [1, 2, 3], "x": [10, 20, 30], "y": [5, 5, 5]}
NEAR = {**TRUTH, "x": [10, 24, 300]}
"""One detection on its object, one 4 px away, one far away."""


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    truth, detections = tmp_path / "truth.csv", tmp_path / "detections.csv"
    truth.write_text(HEADER + "1,1,10,5\n1,2,20,5\n1,3,30,5\n")
    detections.write_text(HEADER + "1,1,10,5\n1,2,24,5\n1,3,300,5\n")
    return truth, detections


def counts(report: Report) -> list[Any]:
    names = ("true_positives", "false_negatives", "false_positives", "sse")
    return [report.value(name) for name in names]


def test_paths_annotations_and_arrays_score_the_same(files: tuple[Path, Path]) -> None:
    """Two true positives, one 4 px off (16); tau^2 = 100 each for a miss and a false positive."""
    truth, detections = files
    reports = [
        score("spotgeo", truth, detections),
        score("spotgeo", str(truth), str(detections)),
        score("spotgeo", read(truth), read(detections, side="detections")),
        score("spotgeo", TRUTH, NEAR),
        score("spotgeo", truth, NEAR),
    ]
    assert counts(reports[0]) == [2, 1, 1, 216.0]
    assert {(report.truth_digest, report.detections_digest) for report in reports} == {
        (reports[0].truth_digest, reports[0].detections_digest)
    }
    assert all(report.rows() == reports[0].rows() for report in reports)


def test_parameters_are_keywords() -> None:
    assert counts(score("spotgeo", TRUTH, NEAR, tau=4.0, epsilon=3.0))[:3] == [2, 1, 1]
    assert counts(score("spotgeo", TRUTH, NEAR, tau=3.5))[:3] == [1, 2, 2]


def test_several_evaluators_give_reports_in_their_order() -> None:
    reports = score(["spotgeo", EvaluatorSpec("spotgeo", {"tau": 3.5})], TRUTH, NEAR)
    assert [report.value("true_positives") for report in reports] == [2, 1]


def test_keywords_for_several_evaluators_are_refused() -> None:
    with pytest.raises(ParameterError, match="EvaluatorSpec"):
        score(["spotgeo", "spotgeo"], TRUTH, NEAR, tau=3.0)  # type: ignore[call-overload]


def test_workers_do_not_change_a_bit() -> None:
    alone, together = (score("spotgeo", TRUTH, NEAR, workers=workers) for workers in (1, 2))
    assert alone == together


def test_annotations_cannot_be_changed_under_a_report_that_holds_them(
    files: tuple[Path, Path],
) -> None:
    """A report computes its digests when they are first read."""
    truth, detections = read(files[0]), read(files[1], side="detections")
    report = score("spotgeo", truth, detections)
    for column in (detections.coordinates, detections.confidences, detections.frame_numbers):
        with pytest.raises(ValueError, match="read-only"):
            column.sort()
    moved = structs.replace(detections, coordinates=detections.coordinates + 1)
    assert score("spotgeo", truth, moved).value("sse") != report.value("sse")
    assert report == score("spotgeo", *files)


def test_the_text_of_a_file_in_place_of_its_path_is_refused(files: tuple[Path, Path]) -> None:
    """No system has a file with such a long name."""
    with pytest.raises(InputError, match="file name too long"):
        score("spotgeo", files[0].read_text() * 10, files[1])


def test_a_manifest_gives_frames_and_parameters_and_keywords_override_them(tmp_path: Path) -> None:
    path = tmp_path / "manifest.toml"
    path.write_text(
        '[[evaluators]]\nname = "spotgeo"\nparameters = {tau = 3.5}\n'
        '[[sequences]]\nname = "1"\nframes = [1]\n'
    )
    report = score("spotgeo", TRUTH, NEAR, manifest=path)
    assert report.parameters["tau"] == 3.5
    assert report.value("false_negatives") == 0
    assert score("spotgeo", TRUTH, NEAR, manifest=path, tau=5.0).parameters["tau"] == 5.0


def test_specification_and_manifest_together_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="one of them"):
        score("spotgeo", TRUTH, NEAR, specification=BenchmarkSpec(), manifest=tmp_path / "m.toml")


def test_a_sequence_of_the_specification_may_have_detections() -> None:
    elsewhere = {**NEAR, "sequence": ["2", "2", "2"]}
    with pytest.raises(InputError, match="sequence 2"):
        score("spotgeo", TRUTH, elsewhere)
    specification = BenchmarkSpec(sequences=(SequenceSpec("2"),))
    report = score("spotgeo", TRUTH, elsewhere, specification=specification)
    assert report.value("false_negatives") == 3


def test_a_violation_of_the_evaluators_rules_names_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "detections.csv"
    path.write_text(HEADER + "1,1,10,5\n1,2,700,5\n")
    with pytest.raises(InputError) as caught:
        score("spotgeo", TRUTH, path)
    (fault,) = caught.value.faults
    assert (fault.source, fault.line, fault.field) == (str(path), 3, None)
    assert "x = 700.0" in fault.found


@pytest.mark.parametrize(("truth", "told"), [("1,1,10,5\n", [2, 3]), ("1,one,10,5\n", [2, 2])])
def test_unknown_sequences_are_reported_beside_invalid_rows(
    tmp_path: Path, truth: str, told: list[int]
) -> None:
    """If the truth has invalid rows, its sequences are unknown."""
    paths = tmp_path / "truth.csv", tmp_path / "detections.csv"
    for path, rows in zip(paths, (truth, "1,two,20,5\n7,1,10,5\n"), strict=True):
        path.write_text(HEADER + rows)
    with pytest.raises(InputError) as caught:
        score("spotgeo", *paths)
    assert [fault.line for fault in caught.value.faults] == told


def test_a_file_given_for_both_sides_gives_a_warning(files: tuple[Path, Path]) -> None:
    """Its scores are perfect. Equal detections of another file are no mistake that a path shows."""
    truth, _ = files
    link, copy = truth.with_name("link.csv"), truth.with_name("copy.csv")
    link.symlink_to(truth)
    copy.write_bytes(truth.read_bytes())
    found = {path.name: score("f1", truth, path, base="euclidean") for path in (truth, link, copy)}
    assert {name: [one.code for one in report.warnings] for name, report in found.items()} == {
        "truth.csv": ["same_file"],
        "link.csv": ["same_file"],
        "copy.csv": [],
    }
    assert found["truth.csv"].warnings[0].count == 3


def test_both_sides_may_be_in_one_folder(tmp_path: Path) -> None:
    """As the truth and the public detections of MOTChallenge are."""
    for name, row in (("gt/gt.txt", "1,1,1,1,9,9,1,1,1"), ("det/det.txt", "1,-1,2,1,9,9,0.5")):
        path = tmp_path / "street" / name
        path.parent.mkdir(parents=True)
        path.write_text(row + "\n")
    assert score("f1", tmp_path, tmp_path).warnings == ()


def test_skipped_rows_give_a_warning_in_the_report(tmp_path: Path) -> None:
    path = tmp_path / "detections.csv"
    path.write_text(HEADER + "1,1,10,5\n1,two,20,5\n")
    with pytest.raises(InputError, match="line 3, column frame"):
        score("spotgeo", TRUTH, path)
    report = score("spotgeo", TRUTH, path, on_error="skip")
    assert [(warning.code, warning.count) for warning in report.warnings] == [("skipped_rows", 1)]
    assert report.value("true_positives") == 1


def test_invalid_names_are_refused_before_files_are_read() -> None:
    with pytest.raises(UnknownEvaluatorError, match="did you mean spotgeo"):
        score("spotgo", "nothing", "nothing")
    with pytest.raises(ParameterError, match="did you mean tau"):
        score("spotgeo", "nothing", "nothing", tao=3.0)


@pytest.mark.parametrize("data", [7, None, [1, 2], np.zeros((2, 2))])
def test_invalid_data_is_refused(data: Any) -> None:
    with pytest.raises(InputError, match=r"truth: found .*, expected a path"):
        score("spotgeo", data, NEAR)


def test_reading_gives_columns(files: tuple[Path, Path]) -> None:
    annotations = read(files[0])
    assert annotations.sequences == (SequenceKey("", "1"),)
    assert annotations.coordinates[:, 0].tolist() == [10.0, 20.0, 30.0]


@pytest.mark.parametrize("name", vidscore_evaluators.__all__)
def test_no_exported_name_is_that_of_a_module(name: str) -> None:
    """An imported module becomes an attribute of its package, and would replace it."""
    modules = {module.name for module in pkgutil.iter_modules(vidscore_evaluators.__path__)}
    assert name not in modules
    assert getattr(vidscore, name) is getattr(vidscore_evaluators, name)
    assert getattr(vidscore, name).__name__ == name


def test_a_name_that_is_not_exported_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        vidscore_evaluators.nothing  # noqa: B018 - looking it up is the test


def test_importing_the_library_loads_no_heavy_package() -> None:
    code = (
        "import sys; from vidscore_evaluators import read, score; "
        "heavy = ('scipy', 'shapely', 'cv2', 'pandas', 'polars', 'pyarrow', 'matplotlib'); "
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_detections_without_an_object_have_the_shape_of_the_truth(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    """A detector that finds nothing, read once and scored like its file."""
    truth, found = files[0], tmp_path / "found.jsonl"
    found.write_text('{"sequence": "1", "frame": 1, "objects": []}\n')
    whole = score("ospa", truth, found, base="euclidean", cutoff_px=10)
    once = score("ospa", truth, read(found, side="detections"), base="euclidean", cutoff_px=10)
    assert once.rows() == whole.rows()


POINTS, BOXES = [(1.0, 2.0)], [(1.0, 2.0, 5.0, 6.0)]


def frame(objects: list[Any], arity: int) -> Annotations:
    return make_annotations({("", "1"): {1: objects}}, arity=arity)


@pytest.mark.parametrize(
    ("evaluator", "empty", "other", "expected"),
    [
        ("f1", [QUADRILATERAL, POINT], (BOXES, BOX), BOX),
        ("f1", [QUADRILATERAL], ([], BOX), QUADRILATERAL),
        ("f1", [POINT], ([], POINT), BOX),
        ("spotgeo", [BOX, QUADRILATERAL], (POINTS, POINT), POINT),
        ("spotgeo", [BOX], ([], QUADRILATERAL), POINT),
    ],
)
def test_a_side_without_objects_has_the_shape_of_the_other_or_a_default(
    evaluator: str, empty: list[int], other: tuple[list[Any], int], expected: int
) -> None:
    specification = judged_by(evaluator, specification=None, manifest=None, parameters={})
    for arity in empty:
        sides = frame([], arity), frame(*other)
        first = prepare(specification, *sides, DataChoice()).pair.truth
        second = prepare(specification, *sides[::-1], DataChoice()).pair.detections
        assert [side.annotations.arity for side in (first, second)] == [expected, expected]


def test_there_is_no_default_shape_for_evaluators_of_points_and_of_boxes() -> None:
    with pytest.raises(GeometryError):
        score(["spotgeo", "neovision2"], frame([], BOX), frame([], BOX))


def test_a_confidence_outside_its_scale_is_refused_with_its_line(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    found = tmp_path / "found.csv"
    found.write_text("sequence,frame,x,y,confidence\n1,1,10,5,100\n1,2,20,5,101\n")
    assert score("spotgeo", files[0], found, confidence_scale="0,101").value("f1") == 0.8
    with pytest.raises(InputError) as raised:
        score("spotgeo", files[0], found, confidence_scale="0,100")
    [fault] = raised.value.faults
    assert (fault.source, fault.line) == (str(found), 3)
