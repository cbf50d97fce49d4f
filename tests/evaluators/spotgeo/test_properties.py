"""Properties for all points: the oracle's answer, and no influence of order, frames or splits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.evaluators.spotgeo.helpers import counts, make_points, score, score_frame
from tests.evaluators.spotgeo.oracle import Point, frame_outcomes, released_method

from vidscore_evaluators import _spotgeo_matching
from vidscore_evaluators.geometry import GroupedPoints, MatchedPoints
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.tally_bytes import tally_to_bytes

PROFILES = ["protocol", "kelvins"]
LATTICE = st.tuples(st.integers(0, 16), st.integers(0, 3)).map(
    lambda point: (float(point[0]), float(point[1]))
)
LINE = st.integers(0, 40).map(lambda x: (float(x), 0.0))
TENTHS = st.integers(0, 200).map(lambda x: (x / 10, 0.3))
ANYWHERE = st.tuples(st.floats(0, 25), st.floats(0, 25))


@pytest.fixture(autouse=True, scope="module", params=["as it is", "by matrices", "by pairs"])
def _way(request: pytest.FixtureRequest) -> Iterator[None]:
    """Each expectation holds for every algorithm that matches a frame of its size."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param != "as it is":
            patch.setattr(_spotgeo_matching, "match_few_points", _left_to_a_solver)
        if request.param == "by pairs":
            patch.setattr(_spotgeo_matching, "MAX_MATRIX_CELLS", 0)
        yield


def _left_to_a_solver(left: GroupedPoints, right: GroupedPoints, *_bounds: float) -> MatchedPoints:
    none = np.zeros(0, dtype=np.int64)
    counts = np.where(left.counts * right.counts, -1, 0)
    return MatchedPoints(counts, none, none, np.zeros(0))


def points(most: int) -> st.SearchStrategy[list[Point]]:
    """Points of one kind: lattices and lines make equal sums of distances common."""
    return st.sampled_from([LATTICE, LINE, TENTHS, ANYWHERE]).flatmap(
        lambda kind: st.lists(kind, max_size=most)
    )


FRAMES = st.lists(st.tuples(points(4), points(4)), min_size=1, max_size=4)


@pytest.mark.slow
@pytest.mark.parametrize("profile", PROFILES)
@given(truth=points(4), detections=points(4))
def test_a_frame_scores_as_by_trying_every_matching(
    profile: str, truth: list[Point], detections: list[Point]
) -> None:
    report = score_frame(truth, detections, profile=profile)
    hits, errors = frame_outcomes(truth, detections, profile, 10.0, 3.0)
    misses, alarms = len(truth) - hits, len(detections) - hits
    assert counts(report) == [hits, misses, alarms]
    expected = [float(error + 100 * (misses + alarms)) for error in errors]
    assert report.value("sse") in expected


@pytest.mark.slow
@pytest.mark.parametrize("profile", PROFILES)
@given(frames=FRAMES, random=st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_no_bit(
    profile: str, frames: list[tuple[list[Point], list[Point]]], random: Any
) -> None:
    mixed = [(random.sample(y, len(y)), random.sample(x, len(x))) for y, x in frames]
    assert _table_bytes(profile, mixed) == _table_bytes(profile, frames)


@pytest.mark.slow
@pytest.mark.parametrize("profile", PROFILES)
@given(frames=FRAMES)
def test_a_frame_scores_the_same_beside_any_others(
    profile: str, frames: list[tuple[list[Point], list[Point]]]
) -> None:
    """Each frame as a sequence of its own has, among others, the rows that it has alone."""
    together = score(*_sides(frames), profile=profile)
    for index, (truth, detections) in enumerate(frames):
        name = f"s{index}"
        alone = score(
            make_points({name: {1: truth}}), make_points({name: {1: detections}}), profile=profile
        )
        for measure in ("true_positives", "sse", "mse"):
            assert together.value(measure, sequence=name) == alone.value(measure, sequence=name)


@pytest.mark.slow
@given(frames=FRAMES)
def test_the_number_of_frames_matched_at_once_changes_no_bit(
    frames: list[tuple[list[Point], list[Point]]],
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_spotgeo_matching, "CELLS_PER_CHUNK", 1)
        one_by_one = _table_bytes("protocol", frames)
    assert one_by_one == _table_bytes("protocol", frames)


@pytest.mark.slow
@given(frames=FRAMES)
def test_both_profiles_count_alike(frames: list[tuple[list[Point], list[Point]]]) -> None:
    """They differ only in errors, so counts and F1 are the same."""
    protocol = score(*_sides(frames))
    kelvins = score(*_sides(frames), profile="kelvins")
    for measure in ("true_positives", "false_negatives", "false_positives", "f1"):
        assert kelvins.value(measure) == protocol.value(measure)


@pytest.mark.parametrize(("size", "spread"), [(1, 10), (3, 10), (8, 15), (30, 20), (30, 200)])
def test_without_ties_kelvins_agrees_with_the_released_method(size: int, spread: float) -> None:
    """Random points have no equal sums; tau times the pairs stays under 1000."""
    random = np.random.default_rng(size)
    sequences: list[list[tuple[list[Point], list[Point]]]] = [
        [
            (_random_points(random, size, spread), _random_points(random, size, spread))
            for _ in range(5)
        ]
        for _ in range(20)
    ]
    truth = {
        f"s{k}": {f + 1: frame[0] for f, frame in enumerate(frames)}
        for k, frames in enumerate(sequences)
    }
    detections = {
        f"s{k}": {f + 1: frame[1] for f, frame in enumerate(frames)}
        for k, frames in enumerate(sequences)
    }
    report = score(make_points(truth), make_points(detections), profile="kelvins")
    total_mse = 0.0
    for k, frames in enumerate(sequences):
        tp, fn, fp, sse = released_method(frames, 10.0, 3.0)
        assert counts(report, sequence=f"s{k}") == [tp, fn, fp]
        assert report.value("sse", sequence=f"s{k}") == pytest.approx(sse, rel=1e-12)
        total_mse += sse / (tp + fn + fp) if tp + fn + fp else 0.0
    assert report.value("mse") == pytest.approx(total_mse, rel=1e-12)


def test_equal_sums_of_many_collinear_points_have_one_answer_in_any_order() -> None:
    """Twelve objects and twelve detections on a line: in any order, the minimum sum of squares."""
    objects = [(float(x), 0.0) for x in range(0, 36, 3)]
    detections = [(x + 4.0, 0.0) for x, _ in objects]
    random = np.random.default_rng(7)
    expected = score_frame(objects, detections).value("sse")
    assert expected == 12 * 16.0
    for _ in range(50):
        mixed = [objects[i] for i in random.permutation(12)]
        other = [detections[i] for i in random.permutation(12)]
        assert score_frame(mixed, other).value("sse") == expected


def _random_points(random: np.random.Generator, most: int, spread: float) -> list[Point]:
    found = random.normal(300, spread, (random.integers(0, most + 1), 2))
    return [(float(x), float(y)) for x, y in found]


def _sides(frames: Sequence[tuple[list[Point], list[Point]]]) -> tuple[Any, Any]:
    return (
        make_points({f"s{index}": {1: truth} for index, (truth, _) in enumerate(frames)}),
        make_points({f"s{index}": {1: found} for index, (_, found) in enumerate(frames)}),
    )


def _table_bytes(profile: str, frames: list[tuple[list[Point], list[Point]]]) -> bytes:
    evaluator = create_evaluator("spotgeo", {"profile": profile})
    return tally_to_bytes(evaluator.tally(*_sides(frames)))
