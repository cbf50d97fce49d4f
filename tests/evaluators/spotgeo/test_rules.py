"""Each rule of the metric document and of the released scorer, worked out by hand.

tau = 10, epsilon = 3 and the 3-4-5 triangle do most of the work: (6, 8) lies at exactly 10, and
integer multiples of (1.8, 2.4) at other distances.
"""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from tests.evaluators.spotgeo.helpers import counts, make_points, score, score_frame, values

ORIGIN = (0.0, 0.0)
PROFILES = ["protocol", "kelvins"]


@pytest.mark.parametrize(
    ("detection", "true_positives", "protocol_sse", "kelvins_sse"),
    [
        pytest.param((0, 0), 1, 0.0, 0.0, id="on the spot"),
        pytest.param((0, 2), 1, 0.0, 0.0, id="within epsilon"),
        pytest.param((0, 3), 1, 0.0, 3.0, id="exactly epsilon: eq. 11 has <=, the scorer <"),
        pytest.param((0, math.nextafter(3, 4)), 1, math.nextafter(3, 4) ** 2, math.nextafter(3, 4),
                     id="just over epsilon"),
        pytest.param((3, 4), 1, 25.0, 5.0, id="between: d^2, or d for the scorer"),
        pytest.param((6, 8), 1, 100.0, 0.0, id="exactly tau: a hit; the scorer drops its error"),
        pytest.param((0, math.nextafter(10, 11)), 0, 200.0, 200.0, id="just over tau: FN and FP"),
        pytest.param((30, 40), 0, 200.0, 200.0, id="far off"),
    ],
)  # fmt: skip
def test_one_object_and_one_detection(
    detection: tuple[float, float],
    true_positives: int,
    protocol_sse: float,
    kelvins_sse: float,
) -> None:
    """Eqs. 5 to 11: a hit up to tau inclusive; a miss and a false positive cost tau^2 each."""
    for profile, sse in (("protocol", protocol_sse), ("kelvins", kelvins_sse)):
        report = score_frame([ORIGIN], [detection], profile=profile)
        miss = 1 - true_positives
        assert counts(report) == [true_positives, miss, miss]
        assert report.value("sse") == sse
        assert report.value("mse") == sse / (true_positives + 2 * miss)


@pytest.mark.parametrize("profile", PROFILES)
def test_epsilon_zero_forgives_nothing_but_an_exact_hit(profile: str) -> None:
    report = score_frame([ORIGIN, (50, 0)], [ORIGIN, (50, 1)], profile=profile, epsilon=0)
    assert report.value("sse") == 1.0


@pytest.mark.parametrize("profile", PROFILES)
def test_the_challenges_own_example(profile: str) -> None:
    """Scoring page: four predictions, three objects; TP = {1, 2}, FP = {3, 4}, FN = {3}.

    x1 within epsilon of y1; x2 within tau of y2 and y3, nearer to y2; x3 over tau from y3; x4 far.
    SSE = 0 + d(x2, y2)^2 + 3 tau^2 with d(x2, y2) = 5 (5 instead of 25 in the scorer).
    """
    objects = [(100, 100), (200, 100), (200, 112)]
    predictions = [(101, 100), (200, 105), (200, 130), (300, 300)]
    report = score_frame(objects, predictions, profile=profile)
    assert counts(report) == [2, 1, 2]
    assert report.value("sse") == {"protocol": 25, "kelvins": 5}[profile] + 300


@pytest.mark.parametrize("profile", PROFILES)
def test_an_object_without_detections_is_missed_and_a_detection_without_object_is_false(
    profile: str,
) -> None:
    """Eq. 8."""
    assert counts(score_frame([ORIGIN, (50, 50)], [], profile=profile)) == [0, 2, 0]
    assert counts(score_frame([], [ORIGIN, (50, 50)], profile=profile)) == [0, 0, 2]


@pytest.mark.parametrize("profile", PROFILES)
def test_two_detections_of_one_object_are_a_hit_and_a_false_alarm(profile: str) -> None:
    report = score_frame([ORIGIN], [(0, 4), (0, 5)], profile=profile)
    assert counts(report) == [1, 0, 1]
    assert report.value("sse") == {"protocol": 16, "kelvins": 4}[profile] + 100


@pytest.mark.parametrize("profile", PROFILES)
def test_more_pairs_take_precedence_over_less_distance(profile: str) -> None:
    """(0 - 0.5) alone is nearest, but leaves two unmatched: two pairs of 9.5 and 8.5 win."""
    objects, detections = [(0.0, 0.0), (9.0, 0.0)], [(0.5, 0.0), (-9.5, 0.0)]
    report = score_frame(objects, detections, profile=profile)
    assert counts(report) == [2, 0, 0]
    assert report.value("sse") == {"protocol": 9.5**2 + 8.5**2, "kelvins": 18.0}[profile]


@pytest.mark.parametrize("profile", PROFILES)
def test_the_minimum_sum_of_distances_decides_among_as_many_pairs(profile: str) -> None:
    """4 + 4 < 0 + sqrt(80) of the nearest pair and what it leaves over."""
    objects, detections = [(0.0, 0.0), (4.0, 0.0)], [(4.0, 0.0), (4.0, 8.0)]
    # 0-0: 4, 0-1: sqrt(80), 1-0: 0, 1-1: 8. Straight 4 + 8 = 12, crossed sqrt(80) + 0 = 8.94.
    report = score_frame(objects, detections, profile=profile)
    d = math.sqrt(80)
    assert report.value("sse") == {"protocol": d * d, "kelvins": d}[profile]


def test_three_by_three_worked_by_hand() -> None:
    """Objects at 0, 4, 8 and detections at 5, 9, 13 of one line.

    Shifted by one each: 5 + 5 + 5 = 15. Leaving 13 to 4 (9): 0-5 (5), 8-9 (1), the sum is 15 too,
    and so is 0-9 (9), 4-5 (1), 8-13 (5). The least squares are 25 + 25 + 25 = 75.
    """
    objects = [(0.0, 0.0), (4.0, 0.0), (8.0, 0.0)]
    detections = [(13.0, 0.0), (5.0, 0.0), (9.0, 0.0)]
    report = score_frame(objects, detections)
    assert counts(report) == [3, 0, 0]
    assert report.value("sse") == 75.0


def test_equal_sums_go_to_the_minimum_regression_error() -> None:
    """Objects at 0 and 5, detections at 5 and 8: 5 + 3 = 8 + 0.

    Metric document: 25 + 0 = 25 against 64 + 0. Released scorer's errors: 5 + 3 = 8 against
    8 + 0 = 8, so that either will do.
    """
    objects, detections = [(0.0, 0.0), (5.0, 0.0)], [(5.0, 0.0), (8.0, 0.0)]
    assert score_frame(objects, detections).value("sse") == 25.0
    assert score_frame(objects, detections, profile="kelvins").value("sse") == 8.0


def test_among_equal_sums_the_scorers_own_errors_decide_in_its_profile() -> None:
    """Objects at 0 and 2, detections at 2 and 4: 2 + 2 (both forgiven) = 4 + 0."""
    objects, detections = [(0.0, 0.0), (2.0, 0.0)], [(2.0, 0.0), (4.0, 0.0)]
    for profile in PROFILES:
        assert score_frame(objects, detections, profile=profile).value("sse") == 0.0


@pytest.mark.parametrize("profile", PROFILES)
def test_f1_mse_and_the_rest_of_a_set_worked_by_hand(profile: str) -> None:
    """Two sequences: a with TP 2 (errors 0 and d = 5), FN 1; b with TP 1 (0), FP 2."""
    truth = make_points({"a": {1: [(0, 0), (50, 0), (90, 0)], 2: []}, "b": {1: [(0, 0)]}})
    detections = make_points(
        {"a": {1: [(0, 1), (53, 4)], 2: []}, "b": {1: [(0, 0), (60, 60), (90, 90)]}}
    )
    report = score(truth, detections, profile=profile)
    e = {"protocol": 25, "kelvins": 5}[profile]
    assert counts(report) == [3, 1, 2]
    assert values(report, "precision", "recall") == [3 / 5, 3 / 4]
    assert values(report, "f1", "one_minus_f1") == [6 / 9, 3 / 9]
    assert report.value("sse") == e + 300
    assert counts(report, sequence="a") == [2, 1, 0]
    assert values(report, "sse", "mse", sequence="a") == [e + 100, (e + 100) / 3]
    assert counts(report, sequence="b") == [1, 0, 2]
    assert values(report, "sse", "mse", sequence="b") == [200, 200 / 3]
    pooled, summed = (e + 300) / 6, (e + 300) / 3
    assert report.value("mse") == {"protocol": pooled, "kelvins": summed}[profile]


def test_mse_of_the_released_scorer_grows_with_the_number_of_sequences() -> None:
    """K empty-handed sequences have MSE tau^2 each: 100 pooled, 100 K summed."""
    truth = make_points({f"s{number}": {1: [ORIGIN]} for number in range(7)})
    nothing = make_points({})
    assert score(truth, nothing).value("mse") == 100.0
    assert score(truth, nothing, profile="kelvins").value("mse") == 700.0


@pytest.mark.parametrize("profile", PROFILES)
def test_an_empty_input_is_perfect_except_for_precision_and_recall(profile: str) -> None:
    """Neither object nor detection: F1 = 1 and MSE = 0; P = R = 0 by convention."""
    for truth in (make_points({}), make_points({"s": {1: [], 2: []}})):
        report = score(truth, make_points({}), profile=profile)
        assert counts(report) == [0, 0, 0]
        assert values(report, "precision", "recall") == [0.0, 0.0]
        assert values(report, "f1", "one_minus_f1", "sse", "mse") == [1.0, 0.0, 0.0, 0.0]


def test_only_misses_give_f1_zero() -> None:
    report = score_frame([ORIGIN], [])
    assert values(report, "precision", "recall", "f1", "one_minus_f1") == [0, 0, 0, 1]


def test_a_frame_does_not_help_another() -> None:
    """The object of frame 1 and the detection of frame 2 are at one place and never matched."""
    truth = make_points({"s": {1: [ORIGIN], 2: []}})
    detections = make_points({"s": {1: [], 2: [ORIGIN]}})
    assert counts(score(truth, detections)) == [0, 1, 1]


def test_tau_and_epsilon_are_parameters() -> None:
    """d = 5: a hit of no error within tau = 6, epsilon = 5; a miss within tau = 4."""
    assert score_frame([ORIGIN], [(3, 4)], tau=6, epsilon=5).value("sse") == 0.0
    assert counts(score_frame([ORIGIN], [(3, 4)], tau=4)) == [0, 1, 1]


def test_tau_square_is_exact_whatever_tau() -> None:
    """With tau = 0.1 a miss costs the square of the binary number nearest to 0.1, rounded once."""
    report = score_frame([ORIGIN], [], tau=0.1, epsilon=0)
    assert report.value("sse") == float(Fraction(0.1) ** 2)
