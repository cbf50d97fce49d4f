"""Outcomes of boxes, worked out by hand, and sums that equal figures and points of curves."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations
from typing import Any, cast

import numpy as np
import pytest
from bench.scenes import neovision2 as scenes
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.evaluators.exact_areas import Box, overlap_ratio
from tests.evaluators.neovision2.helpers import FAR, TEN, Frames, car, region, score, spared, video
from tests.support.outcome_rows import Row, outcomes_of, rows_of

from vidscore_evaluators.annotations import Annotations, ObjectFlag, Side
from vidscore_evaluators.errors import ParameterError
from vidscore_evaluators.neovision2.outcomes import MERGED_INTO
from vidscore_evaluators.outcome_table import OUTCOMES, SIDES, OperatingPoint, Outcome, Outcomes
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.testing import Thing, make_annotations
from vidscore_evaluators.testing.examples import example_count

ONLY = "detection_only_"


def table_of(
    truth: Annotations,
    detections: Annotations,
    at: OperatingPoint = OperatingPoint(),
    **parameters: Any,
) -> Outcomes:
    return outcomes_of(create_evaluator("neovision2", parameters), truth, detections, at)


def of_frame(
    truth: Sequence[Thing],
    detections: Sequence[Thing],
    at: OperatingPoint = OperatingPoint(),
    **parameters: Any,
) -> Outcomes:
    """The table of one frame of a tower sequence."""
    return table_of(video({0: truth}), video({0: detections}), at, **parameters)


def by_class(table: Outcomes, side: str) -> list[tuple[str, int]]:
    """Outcome and partner of each row of a side."""
    return [(row.outcome, row.partner) for row in rows_of(table) if row.side == side]


def only(table: Outcomes, side: str) -> list[tuple[str, int, int]]:
    """Outcome, partner and merged box of each row of a side, in the detection-only score."""
    own = table.take(table.of_side(Side(side)))
    names = (f"{ONLY}outcome", f"{ONLY}partner", MERGED_INTO)
    columns = [own.columns[name].tolist() for name in names]
    return [(OUTCOMES[code].value, *rest) for code, *rest in zip(*columns, strict=True)]


HIT, MISS, ALARM, IGNORED = "true_positive", "false_negative", "false_positive", "ignored"


def test_a_hit_a_miss_and_a_false_alarm_have_the_weights_of_the_costs() -> None:
    truth, detections = [car(*TEN), car(*FAR)], [car(50, 0, 60, 10), car(*TEN)]
    table = of_frame(truth, detections, c_m=0.5, c_f=2.0)
    assert rows_of(table) == [
        Row("truth", 0, 0, HIT, 1, 0.0),
        Row("truth", 0, 1, MISS, -1, 0.5),
        Row("detections", 0, 0, ALARM, -1, 2.0),
        Row("detections", 0, 1, HIT, 0, 0.0),
    ]
    np.testing.assert_array_equal(table.similarities, [1.0, np.nan, np.nan, 1.0])
    assert table.columns[f"{ONLY}share"].tolist() == [0.0, 0.5, 2.0, 0.0]
    np.testing.assert_array_equal(table.columns[f"{ONLY}similarity"], [1.0, np.nan, np.nan, 1.0])


@pytest.mark.parametrize(("height", "hit"), [(2.0, True), (1.999, False)])
def test_an_overlap_of_exactly_the_threshold_matches(height: float, hit: bool) -> None:
    """20 of 100 square pixels are a fifth."""
    table = of_frame([car(*TEN)], [car(0, 0, 10, height)])
    assert by_class(table, "truth") == [(HIT, 0) if hit else (MISS, -1)]
    assert by_class(table, "detections") == [(HIT, 0) if hit else (ALARM, -1)]
    assert only(table, "truth") == [(HIT, 0, -1) if hit else (MISS, -1, -1)]


def test_another_label_is_wrong_by_class_and_right_without_labels() -> None:
    table = of_frame([car(*TEN)], [Thing(TEN, "Bus")])
    assert by_class(table, "truth") == [(MISS, -1)]
    assert by_class(table, "detections") == [(ALARM, -1)]
    assert only(table, "truth") == only(table, "detections") == [(HIT, 0, -1)]


def test_an_unscored_label_counts_only_without_labels() -> None:
    """A tower scores no boats."""
    table = of_frame([Thing(TEN, "Boat")], [Thing(FAR, "Boat")])
    assert by_class(table, "truth") == by_class(table, "detections") == [(IGNORED, -1)]
    assert only(table, "truth") == [(MISS, -1, -1)]
    assert only(table, "detections") == [(ALARM, -1, -1)]
    assert table.shares.tolist() == [0.0, 0.0]


def test_labels_are_written_as_their_class_if_their_domain_scores_it() -> None:
    """Names are compared case-insensitively; a tower's boats keep their label."""
    table = of_frame([Thing(TEN, "CAR"), Thing(FAR, "BOAT")], [Thing(TEN, "car")])
    assert [table.label_names[label] for label in table.labels.tolist()] == ["Car", "BOAT", "Car"]
    assert by_class(table, "truth") == [(HIT, 0), (IGNORED, -1)]


def test_dont_care_frames_and_unlisted_frames_are_ignored() -> None:
    frames: Frames = {number: [car(*TEN)] for number in range(3)}
    detections: Frames = {number: [car(*TEN)] for number in range(4)}
    table = table_of(video(frames, dont_care=[1]), video(detections))
    assert by_class(table, "truth") == [(HIT, 0), (IGNORED, -1), (HIT, 0)]
    assert by_class(table, "detections") == [(HIT, 0), (IGNORED, -1), (HIT, 0), (IGNORED, -1)]
    assert [row[0] for row in only(table, "detections")] == [HIT, IGNORED, HIT, IGNORED]


def test_evaluated_frames_without_rows_are_counted() -> None:
    """Frames 0 and 5 are listed; with all frames, 1 to 4 count too, which neither side has."""
    truth, detections = video({0: [], 5: []}), video({0: []})
    for frames, expected in (("listed", 2), ("all", 6)):
        evaluator = create_evaluator("neovision2", {"frames": frames})
        table = outcomes_of(evaluator, truth, detections)
        assert evaluator.outcome_figures(table)["evaluated_frames"] == expected


def test_frames_between_listed_ones_count_if_all_frames_do() -> None:
    truth, detections = video({0: [], 2: []}), video({1: [car(*TEN)]})
    assert by_class(table_of(truth, detections), "detections") == [(IGNORED, -1)]
    assert by_class(table_of(truth, detections, frames="all"), "detections") == [(ALARM, -1)]


def test_a_dont_care_object_removes_one_detection_of_each_class() -> None:
    """The nearer car would do as well: only pairs with real objects compare overlaps."""
    table = of_frame([spared(*TEN)], [car(*TEN), Thing(TEN, "Bus"), car(0, 0, 10, 3)])
    assert by_class(table, "truth") == [(IGNORED, -1)]
    cars = sorted(by_class(table, "detections")[::2])
    assert cars == [(ALARM, -1), (IGNORED, 0)]
    assert by_class(table, "detections")[1] == (IGNORED, 0)
    assert sum(table.shares.tolist()) == 1.0


def test_real_objects_come_before_dont_care_objects() -> None:
    """The second detection overlaps only the real object, so the first one goes to the other."""
    truth = [spared(0, 0, 10, 10), car(0, 5, 10, 15)]
    table = of_frame(truth, [car(0, 2, 10, 12), car(0, 12, 10, 15)])
    assert by_class(table, "truth") == [(IGNORED, -1), (HIT, 1)]
    assert by_class(table, "detections") == [(IGNORED, 0), (HIT, 1)]


def test_a_detection_of_a_real_and_a_dont_care_object_is_a_true_positive() -> None:
    """However much more of it the don't-care object covers."""
    table = of_frame([spared(*TEN), car(0, 0, 10, 3)], [car(*TEN)])
    assert by_class(table, "truth") == [(IGNORED, -1), (HIT, 0)]
    assert by_class(table, "detections") == [(HIT, 1)]
    assert table.similarities[1] == 0.3


def test_a_region_removes_what_is_inside_it_on_both_sides() -> None:
    truth = [region(0, 0, 100, 100), car(*TEN), spared(20, 0, 30, 10), car(*FAR)]
    table = of_frame(truth, [car(50, 50, 60, 60), car(*FAR)])
    assert by_class(table, "truth") == [(IGNORED, -1)] * 3 + [(HIT, 1)]
    assert by_class(table, "detections") == [(IGNORED, -1), (HIT, 3)]
    assert only(table, "truth") == [(IGNORED, -1, -1)] * 3 + [(HIT, 1, -1)]


def test_among_matchings_with_as_many_pairs_the_greatest_overlap_is_listed() -> None:
    """Each detection overlaps both objects; 1 + 1 is more than 9/11 + 9/11."""
    truth = [car(*TEN), car(0, 1, 10, 11)]
    table = of_frame(truth, [car(0, 1, 10, 11), car(*TEN)])
    assert by_class(table, "truth") == [(HIT, 1), (HIT, 0)]


def test_more_pairs_take_precedence_over_more_overlap() -> None:
    """The first detection equals the first object, and is the only one that the second has:
    3/10 + 1/3 is less than 1, but two pairs.
    """
    truth = [car(*TEN), car(0, 5, 10, 15)]
    table = of_frame(truth, [car(*TEN), car(0, 0, 10, 3)])
    assert by_class(table, "truth") == [(HIT, 1), (HIT, 0)]


def test_one_of_several_equally_good_detections_is_matched() -> None:
    table = of_frame([car(*TEN)], [car(*TEN), car(*TEN)])
    assert sorted(row[0] for row in by_class(table, "detections")) == [ALARM, HIT]


def test_merged_boxes_name_the_first_and_count_once() -> None:
    """Of four detections the first and the third overlap by 80 of 120, and become a box of 120."""
    detections = [car(0, 0, 10, 10), car(*FAR), Thing((0, 2, 10, 12), "Bus"), car(90, 0, 99, 9)]
    table = of_frame([car(0, 0, 10, 6), car(*FAR)], detections)
    assert only(table, "detections") == [
        (HIT, 0, 0),
        (HIT, 1, -1),
        (IGNORED, -1, 0),
        (ALARM, -1, -1),
    ]
    assert only(table, "truth") == [(HIT, 0, -1), (HIT, 1, -1)]
    # The object has 60 of the merged box's 120 square pixels.
    assert table.columns[f"{ONLY}similarity"][0] == 0.5
    assert by_class(table, "detections") == [(HIT, 0), (HIT, 1), (ALARM, -1), (ALARM, -1)]


def test_ground_truth_is_merged_too_and_partners_are_first_members() -> None:
    truth = [spared(*TEN), car(20, 0, 30, 10), car(20, 1, 30, 11), car(20, 2, 30, 12)]
    table = of_frame(truth, [car(*FAR), car(20, 0, 30, 12)])
    assert only(table, "truth") == [
        (IGNORED, -1, -1),
        (HIT, 1, 1),
        (IGNORED, -1, 1),
        (IGNORED, -1, 1),
    ]
    assert only(table, "detections") == [(ALARM, -1, -1), (HIT, 1, -1)]


def test_boxes_that_are_identical_merge() -> None:
    table = of_frame([], [car(*TEN), car(*FAR), car(*TEN, confidence=0.5)])
    assert only(table, "detections") == [(ALARM, -1, 0), (ALARM, -1, -1), (IGNORED, -1, 0)]


def test_the_merged_box_of_a_row_is_numbered_within_its_frame() -> None:
    """The second and third boxes of the second frame, on both sides."""
    frames: Frames = {0: [car(*FAR)], 1: [car(*FAR), car(*TEN), car(0, 1, 10, 11)]}
    table = table_of(video(frames), video(frames))
    expected = [(HIT, 0, -1), (HIT, 0, -1), (HIT, 1, 1), (IGNORED, -1, 1)]
    assert only(table, "truth") == only(table, "detections") == expected


@pytest.mark.parametrize(("shape", "outcome"), [("box", HIT), ("union", ALARM)])
def test_a_merged_box_has_the_stated_shape(shape: str, outcome: str) -> None:
    """25 and 25 share 9 in a corner: enclosed 49, united 41. The object shares 12 with both
    shapes of 49, of which it is more than a fifth, and 8 of 45 with the union."""
    detections = [car(0, 0, 5, 5), car(2, 2, 7, 7)]
    table = of_frame([car(4, 0, 7, 4)], detections, merged_shape=shape)
    assert only(table, "detections")[0] == (outcome, 0 if outcome == HIT else -1, 0)


def test_detections_below_a_confidence_are_ignored_and_merge_with_nothing() -> None:
    """With the unconfident one they make a box of 300, of which the object is a tenth."""
    truth = [car(0, 0, 10, 3)]
    detections = [car(0, 0, 10, 5, confidence=0.9), car(0, 0, 10, 30, confidence=0.7)]
    every = of_frame(truth, detections, overlap_threshold=0.15)
    assert only(every, "detections") == [(ALARM, -1, 0), (IGNORED, -1, 0)]
    at = OperatingPoint(confidence=0.8)
    sure = of_frame(truth, detections, at, overlap_threshold=0.15)
    assert only(sure, "detections") == [(HIT, 0, -1), (IGNORED, -1, -1)]
    assert by_class(sure, "detections") == [(HIT, 0), (IGNORED, -1)]


def test_a_confidence_replaces_the_parameter() -> None:
    sides = ([car(*TEN)], [car(*TEN, confidence=0.5)])
    assert by_class(of_frame(*sides, confidence_threshold=0.6), "truth") == [(MISS, -1)]
    at = OperatingPoint(confidence=0.5)
    assert by_class(of_frame(*sides, at, confidence_threshold=0.6), "truth") == [(HIT, 0)]


def test_another_overlap_threshold_is_a_parameter_and_not_an_operating_point() -> None:
    of_frame([], [], OperatingPoint(threshold=0.2))
    with pytest.raises(ParameterError, match=r"at_threshold: found 0.5, expected 0.2"):
        of_frame([], [], OperatingPoint(threshold=0.5))


LATTICE = st.integers(0, 8).map(float)
SIDE = st.integers(0, 5).map(float)


def things(labels: Sequence[str], flags: Sequence[int], most: int) -> st.SearchStrategy[Any]:
    """Boxes on a coarse lattice, with confidences at and beside those of the curve."""
    return st.lists(
        st.builds(
            lambda x, y, w, h, label, flag, sure: Thing(
                (x, y, x + w, y + h), label, flags=flag, confidence=sure
            ),
            *(LATTICE, LATTICE, SIDE, SIDE),
            st.sampled_from(labels),
            st.sampled_from(flags),
            st.sampled_from((0.0, 0.05, 0.15, 0.5, 0.549, 0.95, 1.0)),
        ),
        max_size=most,
    )


FLAGS = (0, 0, 0, ObjectFlag.IGNORE, ObjectFlag.REGION)
SCENE = st.tuples(
    st.dictionaries(st.integers(0, 2), things(("Car", "BUS", "Boat"), FLAGS, 6), min_size=1),
    st.dictionaries(st.integers(0, 2), things(("car", "Bus", "Boat"), (0,), 6)),
)


@pytest.mark.slow
@settings(max_examples=example_count(40))
@given(scene=SCENE, thresholds=st.sampled_from(("ten", "all")))
def test_outcomes_at_a_confidence_equal_the_point_of_each_curve(
    scene: tuple[Frames, Frames], thresholds: str
) -> None:
    """True and false positives of every class and of detection-only, at every threshold."""
    sides = (video(scene[0]), video(scene[1]))
    parameters: dict[str, Any] = {"thresholds": thresholds, "confidence_threshold": 0.3}
    report = score(*sides, **parameters)
    for curve in report.curves:
        for point in curve.points():
            table = table_of(*sides, OperatingPoint(confidence=point["threshold"]), **parameters)
            found = counted(table, curve.label)
            assert found[1:] == (point["true_positives"], point["false_positives"])


def counted(table: Outcomes, label: str | None) -> tuple[int, int, int]:
    """Objects, true and false positives of a class, or of detection-only, counted plainly."""
    objects = hits = alarms = 0
    codes = table.outcomes if label else table.columns[f"{ONLY}outcome"]
    columns = (table.sides.tolist(), table.labels.tolist(), codes.tolist())
    for side, name, code in zip(*columns, strict=True):
        if label in (None, table.label_names[name]):
            of_truth = SIDES[side] is Side.TRUTH
            objects += of_truth and OUTCOMES[code] is not Outcome.IGNORED
            hits += of_truth and OUTCOMES[code] is Outcome.TRUE_POSITIVE
            alarms += OUTCOMES[code] is Outcome.FALSE_POSITIVE
    return objects, hits, alarms


BOXES = st.lists(
    st.tuples(LATTICE, LATTICE, SIDE, SIDE).map(lambda b: (b[0], b[1], b[0] + b[2], b[1] + b[3])),
    max_size=4,
)


@settings(max_examples=example_count(60))
@given(real=BOXES, dont_care=BOXES, found=BOXES)
def test_the_pairs_are_those_of_the_best_of_all_matchings(
    real: list[Any], dont_care: list[Any], found: list[Any]
) -> None:
    """By trying every matching: real pairs, then all pairs, then the overlap of real pairs."""
    truth = [*(car(*box) for box in real), *(spared(*box) for box in dont_care)]
    table = of_frame(truth, [car(*box) for box in found])
    boxes, others = (
        [cast("Box", tuple(map(Fraction, box))) for box in side]
        for side in ((*real, *dont_care), found)
    )
    ratios = [[overlap_ratio(one, other) for other in others] for one in boxes]
    best = max(_values(ratios, len(real), len(found)))
    pairs = by_class(table, "detections")
    hits = [ratios[partner][row] for row, (outcome, partner) in enumerate(pairs) if outcome == HIT]
    absorbed = [partner for outcome, partner in pairs if outcome == IGNORED]
    assert (len(hits), len(hits) + len(absorbed)) == best[:2]
    assert float(sum(hits)) == pytest.approx(float(best[2]), abs=1e-9)
    partners = [partner for _, partner in pairs if partner >= 0]
    assert len(set(partners)) == len(partners)
    assert all(partner >= len(real) for partner in absorbed)


def _values(
    ratios: list[list[Fraction]], real_count: int, found_count: int
) -> set[tuple[int, int, Fraction]]:
    """Real pairs, all pairs and overlap of real pairs of all matchings; returns the best."""
    least = Fraction(0.2) - Fraction(1, 10**9)
    values = set()
    slots = [*range(len(ratios)), *[None] * found_count]
    for chosen in set(permutations(slots, found_count)):
        pairs = [
            (left, ratios[left][right])
            for right, left in enumerate(chosen)
            if left is not None and ratios[left][right] >= least
        ]
        real = [ratio for left, ratio in pairs if left < real_count]
        values.add((len(real), len(pairs), sum(real, Fraction(0))))
    return values


def test_outcomes_of_many_frames_add_up_to_every_row_of_the_report() -> None:
    """Two domains with regions, don't-care objects and wrong labels; counts and eq. 2 by hand."""
    truth, detections = scenes.scene(1)
    costs: dict[str, Any] = {"c_m": 0.3, "c_f": 0.7}
    table = table_of(truth, detections, **costs)
    report = score(truth, detections, **costs)
    rows = {row[:4]: row.value for row in report.rows()}
    checked = set()
    for domain, label, sequence, measure in rows:
        if measure not in ("nmotda", f"{ONLY}nmotda"):
            continue
        part = table.where(domain=domain, label=label, sequence=sequence)
        prefix = "" if label else ONLY
        objects, hits, alarms = counted(part, label)
        shares = part.shares if label else part.columns[f"{ONLY}share"]
        cost = Fraction(0.3) * (objects - hits) + Fraction(0.7) * alarms
        expected = {
            "ground_truth_objects": objects,
            "true_positives": hits,
            "missed_detections": objects - hits,
            "false_positives": alarms,
            "nmotda": float(1 - cost / objects) if objects else None,
        }
        found = {name: rows[domain, label, sequence, f"{prefix}{name}"] for name in expected}
        assert found == expected
        assert sum(shares.tolist()) == pytest.approx(float(cost))
        checked.add((label is None, sequence is None, objects > 0))
    assert len(checked) >= 6
    assert int((table.columns[MERGED_INTO] >= 0).sum()) > 100


def test_figures_of_outcomes_equal_the_rows_of_the_report() -> None:
    """Averages too, over everything and over the domains of a class."""
    truth, detections = scenes.scene(1)
    evaluator = create_evaluator("neovision2", {"c_m": 0.3, "c_f": 0.7})
    table = outcomes_of(evaluator, truth, detections)
    report = score(truth, detections, c_m=0.3, c_f=0.7)
    rows = {row[:4]: row.value for row in report.rows()}
    left_out = {"az", "detection_only_az"}
    for domain, label, sequence in {key[:3] for key in rows}:
        part = table.where(domain=domain, label=label, sequence=sequence)
        figures = evaluator.outcome_figures(part)
        wanted = {
            key[3]: value
            for key, value in rows.items()
            if key[:3] == (domain, label, sequence) and key[3] not in left_out
        }
        assert {name: figures[name] for name in wanted} == wanted


def test_sequences_of_a_differently_scored_domain_keep_their_own_names() -> None:
    """A helicopter scores boats, whose label is then the class's; a tower's stays unchanged."""
    sides = [
        make_annotations({(domain, "1"): {0: [Thing(TEN, "BOAT")]} for domain in ("Heli", "Tower")})
        for _ in range(2)
    ]
    table = table_of(sides[0], sides[1])
    assert [table.label_names[label] for label in table.labels.tolist()] == [
        *("Boat", "Boat"),
        *("BOAT", "BOAT"),
    ]


def test_figures_count_classes_that_only_one_side_has() -> None:
    """A car is missed, and a bus is false."""
    evaluator = create_evaluator("neovision2")
    truth, detections = video({0: [car(*TEN)]}), video({0: [Thing(FAR, "Bus")]})
    for sides in ((truth, detections), (detections, truth)):
        figures = evaluator.outcome_figures(outcomes_of(evaluator, *sides))
        report = score(*sides)
        names = ("ground_truth_objects", "true_positives", "false_positives")
        assert [figures[name] for name in names] == [1, 0, 1]
        assert figures["nmotda"] == -1.0
        assert figures["mean_nmotda"] == report.value("mean_nmotda") == 0.0
