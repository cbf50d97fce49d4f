"""Scoring in one call applies the specification, refuses invalid input, and can use workers."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace
from tests.evaluators.toy import toy

from vidscore_evaluators.alignment import align
from vidscore_evaluators.annotations import ObjectFlag, SequenceKey
from vidscore_evaluators.errors import GeometryError, InputError
from vidscore_evaluators.preparation import check_sides
from vidscore_evaluators.registry import _BUILT_IN as BUILT_IN
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.scoring import score_annotations
from vidscore_evaluators.specification import BenchmarkSpec, SequenceSpec
from vidscore_evaluators.testing import Thing, make_annotations

TRUTH = make_annotations({("d", "s"): {0: [(1, 1)], 1: []}})
SPEC = BenchmarkSpec(sequences=(SequenceSpec("s", "d", frame_count=5), SequenceSpec("t", "d")))


def test_frames_that_only_the_specification_lists_are_evaluated() -> None:
    [plain] = score_annotations([toy()], TRUTH, TRUTH)
    [specified] = score_annotations([toy()], TRUTH, TRUTH, SPEC)
    assert plain.value("frames") == 2
    assert specified.value("frames") == 5


def test_each_evaluator_gets_a_report_in_order() -> None:
    reports = score_annotations([toy(whole=True), toy()], TRUTH, TRUTH)
    assert [report.parameters["whole"] for report in reports] == [True, False]


def test_every_unknown_sequence_of_the_detections_is_named() -> None:
    detections = make_annotations(
        {("d", "s"): {0: []}, ("e", "s"): {0: []}, ("", "x"): {0: []}, ("d", "t"): {0: []}}, arity=2
    )
    with pytest.raises(InputError) as caught:
        score_annotations([toy()], TRUTH, detections, SPEC)
    assert [fault.found for fault in caught.value.faults] == ["sequence x", "sequence e/s"]


def test_an_unused_name_in_the_table_is_not_a_sequence() -> None:
    detections = TRUTH.with_tables((*TRUTH.sequences, SequenceKey("no", "where")), TRUTH.labels)
    [report] = score_annotations([toy()], TRUTH, detections)
    assert report.value("frames") == 2
    unused = TRUTH.with_tables((*TRUTH.sequences, SequenceKey("e", "s")), TRUTH.labels)
    with pytest.raises(InputError, match="e/s"):
        score_annotations([toy()], unused, make_annotations({("e", "s"): {0: []}}, arity=2))


def test_faults_of_all_evaluators_and_sides_are_listed_once_each() -> None:
    with pytest.raises(InputError) as caught:
        check_sides(
            [toy(limit=0.5), toy(limit=0.5), toy(limit=0.25)], TRUTH, TRUTH, BenchmarkSpec()
        )
    assert [(fault.source, fault.expected) for fault in caught.value.faults] == [
        ("truth", "at most 0.5"),
        ("detections", "at most 0.5"),
        ("truth", "at most 0.25"),
        ("detections", "at most 0.25"),
    ]


def test_a_shape_that_an_evaluator_cannot_use_is_refused() -> None:
    corners = make_annotations({("d", "s"): {0: [(0, 0, 1, 0, 1, 1, 0, 1)]}})
    with pytest.raises(GeometryError, match="detections: found corners, expected points"):
        score_annotations([toy()], TRUTH, corners)


@pytest.mark.parametrize("name", ["f1", "map", "clear", "hota"])
def test_a_criterion_names_the_base_by_which_it_can_compare_points(name: str) -> None:
    points = make_annotations({("", "s"): {0: [Thing((1.0, 2.0), track_id=1)]}})
    with pytest.raises(GeometryError, match="points are compared with base=euclidean"):
        score_annotations([create_evaluator(name)], points, points)
    score_annotations([create_evaluator(name, {"base": "euclidean"})], points, points)


def test_progress_is_reported_up_to_the_end() -> None:
    told: list[tuple[int, int]] = []
    score_annotations(
        [toy()], TRUTH, TRUTH, progress=lambda done, total: told.append((done, total))
    )
    assert told[-1] == (2, 2)


# --- columns of other types ------------------------------------------------------------------

BOX = (1, 5, 9, 12)
SCENES = {
    2: make_annotations({("", "1"): {frame: [(9, 5), Thing((20, 5))] for frame in range(1, 6)}}),
    4: make_annotations({("d", "s"): {0: [Thing(BOX, "a", 0.5, 1)], 3: [Thing(BOX, "b", 0.5, 2)]}}),
    8: make_annotations({("d", "s"): {0: [Thing((1, 5, 9, 5, 9, 12, 1, 12), "Car", 0.5, 1)]}}),
}
OTHER_TYPES = [
    ("frame_sequences", np.int32),
    ("frame_numbers", np.uint32),
    ("frame_flags", np.uint32),
    ("frame_starts", np.int32),
    ("label_indices", np.uint16),
    ("confidences", np.float32),
    ("track_ids", np.int32),
    ("flags", np.int64),
    ("coordinates", np.float32),
    ("coordinates", np.int64),
]


@pytest.mark.slow
@pytest.mark.parametrize("name", list(BUILT_IN))
@pytest.mark.parametrize(("column", "dtype"), OTHER_TYPES)
def test_columns_of_types_that_hold_the_same_numbers_score_the_same(
    name: str, column: str, dtype: type
) -> None:
    """Annotations made from arrays may have narrower types."""
    evaluator = create_evaluator(name)
    truth = SCENES[max(set(evaluator.needs.truth_arities) & set(SCENES))]
    other = replace(truth, **{column: getattr(truth, column).astype(dtype)})
    [expected] = score_annotations([evaluator], truth, truth)
    for sides in ((truth, other), (other, truth)):
        [found] = score_annotations([evaluator], *sides)
        assert found.rows() == expected.rows()
        assert found.truth_digest == expected.truth_digest
        assert found.detections_digest == expected.detections_digest


@pytest.mark.parametrize("name", BUILT_IN)
def test_programs_that_raise_floating_point_errors_get_the_same_report(name: str) -> None:
    """As after ``np.seterr(all="raise")``: the smallest number above 0 is an underflow."""
    evaluator = create_evaluator(name)
    corners = {2: (0, 0), 4: (0, 0, 10, 10), 8: (0, 0, 10, 0, 10, 10, 0, 10)}
    shape = corners[evaluator.needs.truth_arities[0]]
    region = Thing(tuple(100 + number for number in shape), "Car", 1, 8, ObjectFlag.REGION)
    truth = make_annotations({("Tower", "1"): {1: [Thing(shape, "Car", 1, 7), region]}})
    near = tuple(1 + number for number in shape)
    detections = make_annotations({("Tower", "1"): {1: [Thing(near, "Car", 0.5, 7)]}})
    expected = evaluator.report(evaluator.tally(truth, detections))
    with np.errstate(all="raise"):
        found = evaluator.report(evaluator.tally(truth, detections))
        if evaluator.has_outcomes:
            evaluator.outcomes(align(truth, detections))
    assert found == expected
