"""Similarities of pairs compared with hand calculation, shapely, and their laws."""

from __future__ import annotations

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from vidscore_evaluators.arrays import FloatArray
from vidscore_evaluators.similarity import Similarity, shares_of_detections


def boxes(*rows: tuple[float, ...]) -> FloatArray:
    return np.array(rows, dtype=np.float64)


FIRST = boxes((0, 0, 10, 10))
SHIFTED = boxes((5, 0, 15, 10))


def polygon(box: tuple[float, ...]) -> shapely.Polygon:
    x1, y1, x2, y2 = box
    return shapely.box(x1, y1, x2, y2)


def of_one(similarity: Similarity, first: FloatArray, second: FloatArray, s: float = 1.0) -> float:
    values = similarity.of_pairs(first, second, np.array([1.0]), np.array([s]))
    return float(values[0])


@pytest.mark.parametrize(
    ("base", "extended", "expected"),
    [
        ("iou", False, 1 / 3),
        ("giou", False, 1 / 3),
        ("iou", True, 0.2),  # I~ = 50 / 2, U~ = 100 + 50 - 25
        ("giou", True, 0.2 - (150 - 125) / 150),
    ],
)
def test_boxes_shifted_by_half_with_confidences_one_and_a_half(
    base: str, extended: bool, expected: float
) -> None:
    """10 x 10 boxes, 5 apart: I = 50, U = C = 150; with s = 0.5: I~ = 25, U~ = 125, C~ = 150."""
    similarity = Similarity(base, extended)  # type: ignore[arg-type]  # parametrized texts
    assert of_one(similarity, FIRST, SHIFTED, 0.5) == pytest.approx(expected, abs=1e-15)


def test_giou_of_disjoint_boxes_counts_the_gap() -> None:
    """Two 10 x 10 boxes 10 apart: I = 0, U = 200, C = 300, so GIoU = -1/3."""
    apart = boxes((20, 0, 30, 10))
    assert of_one(Similarity("giou"), FIRST, apart) == pytest.approx(-1 / 3, abs=1e-15)
    assert of_one(Similarity("iou"), FIRST, apart) == 0.0


@pytest.mark.parametrize("base", ["iou", "giou"])
def test_omitted_confidences_are_one(base: str) -> None:
    """With s = 0.5 on the other side: I~ = 25, U~ = 125, C~ = 150 either way."""
    plain, extended = (Similarity(base, one) for one in (False, True))  # type: ignore[arg-type]
    whole, half = np.array([1.0]), np.array([0.5])
    assert extended.of_pairs(FIRST, SHIFTED) == plain.of_pairs(FIRST, SHIFTED)
    for left_out, given in ((None, whole), (whole, None)):
        assert extended.of_pairs(FIRST, SHIFTED, left_out, given) == 1 / 3
    assert extended.of_pairs(FIRST, SHIFTED, None, half) == of_one(extended, FIRST, SHIFTED, 0.5)
    assert extended.of_pairs(FIRST, SHIFTED, half) == of_one(extended, SHIFTED, FIRST, 0.5)


def test_giou_of_boxes_with_inclusive_last_pixels() -> None:
    """2 x 2 pixels each, two between them: U = 8 and C = 6 * 2."""
    similarity = Similarity("giou", inclusive_pixels=True)
    apart = similarity.of_pairs(boxes((0, 0, 1, 1)), boxes((4, 0, 5, 1)))
    assert apart.tolist() == [pytest.approx(-1 / 3, abs=1e-15)]


@pytest.mark.parametrize("base", ["iou", "giou"])
def test_a_box_without_area_is_similar_to_nothing(base: str) -> None:
    """It has the minimum similarity with itself, with an equal box, and with a box around it."""
    similarity = Similarity(base)  # type: ignore[arg-type]  # parametrized texts
    for flat in (boxes((5, 5, 5, 5)), boxes((0, 0, 0, 5)), boxes((0, 0, 5, 0))):
        for other in (flat, boxes((0, 0, 0, 9)), FIRST):
            assert of_one(similarity, flat, other) == similarity.minimum
            assert of_one(similarity, other, flat) == similarity.minimum


def test_a_solid_without_height_shares_nothing() -> None:
    """With confidence 0: I~ = 0, so the IoU is 0, and U~ = C~ = 100, so the GIoU is 0."""
    assert of_one(Similarity("iou", True), FIRST, FIRST, 0.0) == 0.0
    assert of_one(Similarity("giou", True), FIRST, FIRST, 0.0) == 0.0


def test_shares_lie_between_the_bounds_of_the_similarity() -> None:
    """A threshold t needs a share of t, for GIoU of (1 + t)/2; a share of 0 meets no threshold."""
    shares = np.array([1.0, 0.5, 0.25, 0.0])
    assert Similarity("iou").of_shares(shares).tolist() == [1.0, 0.5, 0.25, -np.inf]
    assert Similarity("giou").of_shares(shares).tolist() == [1.0, 0.0, -0.5, -np.inf]


def test_points_lose_similarity_linearly_up_to_the_cutoff() -> None:
    """A distance of 5 with a cut-off of 20 leaves 3/4; from 20 on nothing is left."""
    similarity = Similarity("euclidean", cutoff_px=20.0)
    origin = np.zeros((3, 2))
    points = np.array([(3.0, 4.0), (0.0, 20.0), (100.0, 0.0)])
    assert similarity.of_pairs(origin, points).tolist() == [0.75, 0.0, 0.0]


def test_distances_are_one_minus_the_similarity_and_half_of_that_for_giou() -> None:
    """Section 4.1: d = 1 - IoU, and (1 - GIoU) / 2."""
    values = np.array([1.0, 0.0, -1.0])
    assert Similarity("giou").distances(values).tolist() == [0.0, 0.5, 1.0]
    assert Similarity("iou").distances(values[:2]).tolist() == [0.0, 1.0]


def test_grids_go_from_the_minimum_to_one() -> None:
    """Section 5: thresholds 0, 0.05, ..., 1 for IoU and -1, -0.95, ..., 1 for GIoU."""
    assert Similarity("iou").grid == tuple(float(f"{k * 0.05:.2f}") for k in range(21))
    assert Similarity("giou").grid == tuple(float(f"{k * 0.05:.2f}") for k in range(-20, 21))


def test_the_share_of_a_detection_is_its_part_inside() -> None:
    """Half of the shifted box is inside the first; a box without area has the share 0."""
    pairs = (np.repeat(FIRST, 2, axis=0), np.concatenate([SHIFTED, boxes((1, 1, 1, 1))]))
    assert shares_of_detections(*pairs).tolist() == [0.5, 0.0]


numbers = st.floats(0, 100)
sides = st.floats(0.5, 50)
any_box = st.builds(lambda x, y, w, h: (x, y, x + w, y + h), numbers, numbers, sides, sides)
heights = st.floats(0.05, 1)


@given(any_box, any_box)
def test_boxes_agree_with_polygons(first: tuple[float, ...], second: tuple[float, ...]) -> None:
    """IoU and GIoU equal those of shapely's general polygons."""
    one, other = polygon(first), polygon(second)
    union = one.union(other)
    iou = one.intersection(other).area / union.area
    enclosing = union.envelope.area
    giou = iou - (enclosing - union.area) / enclosing
    assert of_one(Similarity("iou"), boxes(first), boxes(second)) == pytest.approx(iou, abs=1e-9)
    assert of_one(Similarity("giou"), boxes(first), boxes(second)) == pytest.approx(giou, abs=1e-9)


@pytest.mark.parametrize("base", ["iou", "giou"])
@given(corners=st.tuples(any_box, any_box, any_box), tops=st.tuples(heights, heights, heights))
def test_distances_of_solids_are_metric(
    base: str, corners: tuple[tuple[float, ...], ...], tops: tuple[float, ...]
) -> None:
    """Identity, symmetry and the triangle inequality hold, with and without confidences."""
    for extended in (False, True):
        similarity = Similarity(base, extended)  # type: ignore[arg-type]  # parametrized texts

        def distance(i: int, j: int, similarity: Similarity = similarity) -> float:
            pair = similarity.of_pairs(
                boxes(corners[i]), boxes(corners[j]), np.array([tops[i]]), np.array([tops[j]])
            )
            return float(similarity.distances(pair)[0])

        assert distance(0, 0) == pytest.approx(0.0, abs=1e-12)
        assert distance(0, 1) == distance(1, 0)
        assert distance(0, 2) <= distance(0, 1) + distance(1, 2) + 1e-12
