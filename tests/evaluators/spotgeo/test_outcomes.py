"""The outcome of each point: rules by hand, and sums that equal the figures of the report."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist
from tests.evaluators.spotgeo.helpers import Point, make_points, score
from tests.evaluators.spotgeo.oracle import frame_outcomes
from tests.support.outcome_rows import Row, outcomes_of, rows_of
from tests.support.tree import ROOT

from vidscore_evaluators.annotations import Annotations, Side
from vidscore_evaluators.errors import ParameterError
from vidscore_evaluators.outcome_table import OperatingPoint, Outcome, Outcomes
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.testing import make_annotations
from vidscore_evaluators.validation import Columns, build_annotations

TRUTH = ROOT.parent / "shared" / "data" / "spotgeo" / "train_anno.json"
PROFILES = ["protocol", "kelvins"]


def table_of(truth: Annotations, detections: Annotations, **parameters: object) -> Outcomes:
    return outcomes_of(create_evaluator("spotgeo", parameters), truth, detections)


def of_frame(
    truth: Sequence[Point], detections: Sequence[Point], **parameters: object
) -> list[Row]:
    """Rows of one frame of one sequence."""
    sides = [make_points({"s": {1: points}}) for points in (truth, detections)]
    return rows_of(table_of(sides[0], sides[1], **parameters))


def hit(row: int, partner: int, share: float) -> list[Row]:
    """A true positive: the object bears the error of the pair."""
    return [
        Row("truth", 1, row, "true_positive", partner, share),
        Row("detections", 1, partner, "true_positive", row, 0.0),
    ]


def test_a_hit_a_miss_and_a_false_alarm() -> None:
    """A pair 4 px apart adds 16; the miss and the false alarm add 100 each."""
    found = of_frame([(100, 100), (200, 200)], [(10, 10), (204, 200)])
    assert found == [
        Row("truth", 1, 0, "false_negative", -1, 100.0),
        Row("truth", 1, 1, "true_positive", 1, 16.0),
        Row("detections", 1, 0, "false_positive", -1, 100.0),
        Row("detections", 1, 1, "true_positive", 1, 0.0),
    ]


@pytest.mark.parametrize(
    ("distance_px", "profile", "share"),
    [
        (2.0, "protocol", 0.0),
        (2.0, "kelvins", 0.0),
        (3.0, "protocol", 0.0),
        (3.0, "kelvins", 3.0),
        (4.0, "protocol", 16.0),
        (4.0, "kelvins", 4.0),
        (10.0, "protocol", 100.0),
        (10.0, "kelvins", 0.0),
    ],
)
def test_a_pair_adds_the_regression_error_of_its_profile(
    distance_px: float, profile: str, share: float
) -> None:
    """Exactly epsilon, and exactly tau, which is still a true positive."""
    found = of_frame([(5, 7)], [(5 + distance_px, 7)], profile=profile)
    assert found == hit(0, 0, share)


def test_distances_are_on_both_sides_of_a_pair_and_nowhere_else() -> None:
    table = table_of(
        make_points({"s": {1: [(0, 0), (300, 0)]}}), make_points({"s": {1: [(3, 4), (0, 300)]}})
    )
    expected = [5.0, math.nan, 5.0, math.nan]
    np.testing.assert_array_equal(table.distances_px, expected)
    assert np.isnan(table.similarities).all()


def test_a_pair_more_than_tau_apart_is_a_miss_and_a_false_alarm() -> None:
    assert of_frame([(0, 0)], [(math.nextafter(10.0, 11.0), 0)]) == [
        Row("truth", 1, 0, "false_negative", -1, 100.0),
        Row("detections", 1, 0, "false_positive", -1, 100.0),
    ]


def test_among_equal_sums_of_distances_the_minimum_error_is_matched() -> None:
    """0-4 and 2-6 add 16 + 16; 0-6 and 2-4, whose distances add up to 8 too, 36 + 0."""
    found = of_frame([(2, 0), (0, 0)], [(6, 0), (4, 0)])
    assert found == [
        Row("truth", 1, 0, "true_positive", 0, 16.0),
        Row("truth", 1, 1, "true_positive", 1, 16.0),
        Row("detections", 1, 0, "true_positive", 0, 0.0),
        Row("detections", 1, 1, "true_positive", 1, 0.0),
    ]


def test_more_pairs_take_precedence_over_nearer_pairs() -> None:
    """10-12 is nearest, but only 1-10 and 12-20 leave nothing over."""
    found = of_frame([(10, 0), (20, 0)], [(12, 0), (1, 0)])
    assert found == [
        Row("truth", 1, 0, "true_positive", 1, 81.0),
        Row("truth", 1, 1, "true_positive", 0, 64.0),
        Row("detections", 1, 0, "true_positive", 1, 0.0),
        Row("detections", 1, 1, "true_positive", 0, 0.0),
    ]


def test_frames_that_are_not_scored_are_ignored() -> None:
    """A don't-care frame, and one that the truth does not list; the frames around them count."""
    key = ("", "s")
    truth = make_annotations(
        {key: {1: [(0, 0)], 2: [(0, 0)], 4: [(0, 0)]}}, arity=2, dont_care=[(key, 2)]
    )
    detections = make_points({"s": {number: [(0, 0)] for number in (1, 2, 3, 4)}})
    rows = rows_of(table_of(truth, detections))
    assert rows == [
        *hit(0, 0, 0.0),
        Row("truth", 2, 0, "ignored", -1, 0.0),
        Row("detections", 2, 0, "ignored", -1, 0.0),
        Row("detections", 3, 0, "ignored", -1, 0.0),
        *(row._replace(frame=4) for row in hit(0, 0, 0.0)),
    ]


def test_coinciding_points_are_matched_one_to_one() -> None:
    found = of_frame([(1, 1), (1, 1)], [(1, 1), (1, 1), (1, 1)])
    partners = {row.partner for row in found if row.side == "truth"}
    assert len(partners) == 2
    assert [row.outcome for row in found].count("true_positive") == 4
    assert [row.outcome for row in found].count("false_positive") == 1


@pytest.mark.parametrize("names", ["threshold", "confidence"])
def test_there_is_no_operating_point(names: str) -> None:
    truth = make_points({"s": {1: []}})
    with pytest.raises(ParameterError, match=f"at_{names}: found 0.5, expected none"):
        outcomes_of(create_evaluator("spotgeo"), truth, truth, OperatingPoint(**{names: 0.5}))


POINTS = st.lists(
    st.tuples(st.integers(0, 16), st.integers(0, 3)).map(lambda xy: (float(xy[0]), float(xy[1]))),
    max_size=4,
)


@pytest.mark.parametrize("profile", PROFILES)
@given(truth=POINTS, detections=POINTS)
def test_the_pairs_of_a_frame_are_a_best_matching(
    profile: str, truth: list[Point], detections: list[Point]
) -> None:
    """By trying every matching: as many pairs, and the errors of one of the best."""
    rows = of_frame(truth, detections, profile=profile)
    hits = [row for row in rows if row.outcome == "true_positive" and row.side == "truth"]
    count, errors = frame_outcomes(truth, detections, profile, 10.0, 3.0)
    assert len(hits) == count
    assert sum((Fraction(row.share) for row in hits), Fraction(0)) in errors
    assert len({row.partner for row in hits}) == count


@pytest.mark.parametrize("objects", [30, 80])
def test_partners_in_crowded_frames_are_those_of_the_best_matching(objects: int) -> None:
    """By scipy, frame by frame, with rows of both sides in any order."""
    random = np.random.default_rng(objects)
    truth, detections = {}, {}
    for frame in (1, 2, 5):
        at = random.uniform(0, 5 * objects**0.5, size=(objects, 2))
        truth[frame] = at.tolist()
        found = at + random.normal(scale=4.0, size=at.shape)
        detections[frame] = random.permutation(found)[: objects - frame].tolist()
    table = table_of(make_points({"s": truth}), make_points({"s": detections}))
    hits = [row for row in rows_of(table) if row.outcome == "true_positive"]
    expected: set[tuple[str, int, int, int]] = set()
    for frame, points in truth.items():
        distances = cdist(points, detections[frame])
        costs = np.where(distances <= 10, distances, 1e6)
        pairs = np.transpose(linear_sum_assignment(costs)).tolist()
        for row, partner in pairs:
            if distances[row, partner] <= 10:
                expected |= {("truth", frame, row, partner), ("detections", frame, partner, row)}
    assert {(hit.side, hit.frame, hit.row, hit.partner) for hit in hits} == expected


def real_truth() -> Annotations:
    """The challenge's truth, in two domains, each with one sequence named like one of the other."""
    if not TRUTH.exists():
        # We may not ship it, so its absence is a failure nowhere.
        pytest.skip("the challenge's truth is not on this machine")
    entries = json.loads(TRUTH.read_text(encoding="utf-8"))
    keys = [(f"d{entry['sequence_id'] % 2}", str(entry["sequence_id"] // 2)) for entry in entries]
    table = {key: row for row, key in enumerate(dict.fromkeys(keys))}
    return build_annotations(
        Columns(
            arity=2,
            sequences=list(table),
            frame_sequences=[table[key] for key in keys],
            frame_numbers=[entry["frame"] for entry in entries],
            object_counts=[entry["num_objects"] for entry in entries],
            coordinates=np.array([xy for entry in entries for xy in entry["object_coords"]]),
        )
    )


def made_up(truth: Annotations) -> Annotations:
    """Nine of ten objects, displaced in thousandths, and one point anywhere in each frame."""
    random = np.random.default_rng(17)
    found = truth.take_objects(random.random(truth.object_count) < 0.9)
    near = found.coordinates + np.round(random.normal(scale=4.0, size=(len(found.flags), 2)), 3)
    frames = np.concatenate([found.object_frames, np.arange(found.frame_count)])
    anywhere = random.uniform((0, 0), (639, 479), size=(found.frame_count, 2))
    order = np.lexsort((random.random(len(frames)), frames))
    points = np.clip(np.concatenate([near, anywhere])[order], 0.0, (639.0, 479.0))
    return build_annotations(
        Columns(
            arity=2,
            sequences=list(truth.sequences),
            frame_sequences=truth.frame_sequences,
            frame_numbers=truth.frame_numbers,
            object_counts=np.bincount(frames, minlength=found.frame_count),
            coordinates=points,
        )
    )


@pytest.mark.slow
@pytest.mark.parametrize("parameters", [{}, {"profile": "kelvins", "tau": 7.7}], ids=PROFILES)
def test_outcomes_of_the_real_truth_add_up_to_the_report(parameters: dict[str, object]) -> None:
    """Counted and summed in rational numbers, of everything, of domains and of sequences."""
    truth = real_truth()
    detections = made_up(truth)
    table = table_of(truth, detections, **parameters)
    report = score(truth, detections, **parameters)
    square = Fraction(report.parameters["tau"]) ** 2
    rows = {row[:4]: row.value for row in report.rows()}
    parts = {key[:3] for key in rows}
    assert len(parts) == 1 + 2 + 1280
    for domain, label, sequence in parts:
        part = table.where(domain=domain, sequence=sequence)
        hits = part.count(Outcome.TRUE_POSITIVE, Side.TRUTH)
        misses = part.count(Outcome.FALSE_NEGATIVE, Side.TRUTH)
        alarms = part.count(Outcome.FALSE_POSITIVE, Side.DETECTIONS)
        errors = part.shares[part.are(Outcome.TRUE_POSITIVE)].tolist()
        sse = sum(map(Fraction, errors), Fraction(0)) + square * (misses + alarms)
        expected = {
            "true_positives": hits,
            "false_negatives": misses,
            "false_positives": alarms,
            "sse": float(sse),
        }
        key = (domain, label, sequence)
        assert {name: rows[*key, name] for name in expected} == expected
        assert math.fsum(part.shares.tolist()) == pytest.approx(float(sse), rel=1e-12)
    assert {"true_positives", "false_negatives", "false_positives", "mse"} <= set(
        create_evaluator("spotgeo", parameters).outcome_figures(table)
    )


@pytest.mark.parametrize("profile", PROFILES)
def test_every_figure_of_the_real_truth_follows_from_its_outcomes(profile: str) -> None:
    truth = real_truth()
    detections = made_up(truth)
    evaluator = create_evaluator("spotgeo", {"profile": profile})
    table = outcomes_of(evaluator, truth, detections)
    report = score(truth, detections, profile=profile)
    for domain in (None, "d0", "d1"):
        figures = evaluator.outcome_figures(table.where(domain=domain))
        assert figures == {
            measure.name: report.value(measure.name, domain=domain)
            for measure in evaluator.measures
        }


def test_a_square_of_tau_that_is_not_exact_in_binary64_is_counted_exactly() -> None:
    """Three misses at tau = 0.7 cost 3 * 0.7^2, rounded once."""
    truth = make_points({"s": {1: [(0, 0), (9, 9), (99, 99)]}})
    detections = make_points({"s": {1: []}})
    evaluator = create_evaluator("spotgeo", {"tau": 0.7, "epsilon": 0.1})
    figures = evaluator.outcome_figures(outcomes_of(evaluator, truth, detections))
    assert figures["sse"] == float(3 * Fraction(0.7) ** 2)
