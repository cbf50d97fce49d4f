"""Criteria with ``base = polygon``: they compare polygons, not the boxes around them."""

from __future__ import annotations

import math
from dataclasses import fields

import numpy as np
import pytest
import shapely
from msgspec.structs import replace

from vidscore_evaluators import score
from vidscore_evaluators._dont_care import RULES
from vidscore_evaluators._scene_builder import make_scene
from vidscore_evaluators.alignment import align
from vidscore_evaluators.annotations import Annotations, ObjectFlag
from vidscore_evaluators.arrays import FloatArray
from vidscore_evaluators.errors import ParameterError
from vidscore_evaluators.geometry import bounding_boxes
from vidscore_evaluators.quadrilaterals import corners_of_boxes, outlines_of
from vidscore_evaluators.registry import _BUILT_IN, create_evaluator, evaluator_class
from vidscore_evaluators.report import Report
from vidscore_evaluators.similarity import Similarity, find_candidates
from vidscore_evaluators.tally import merge_tallies
from vidscore_evaluators.testing import Thing, make_annotations

VIDEO = ("", "video")
SQUARE = (0.0, 0.0, 20.0, 0.0, 20.0, 20.0, 0.0, 20.0)
DIAMOND = (0.0, 10.0, 10.0, 0.0, 20.0, 10.0, 10.0, 20.0)
"""200 px^2 in a square of 400: an overlap of 1/2, with the same envelope."""

WITH_BASE = (
    *("f1", "map", "coco", "log-amr", "errors", "hausdorff", "emd", "ospa"),
    *("clear", "identity", "hota", "track-hausdorff", "track-emd", "track-ospa", "ospa2"),
)


def one_frame(*things: Thing) -> Annotations:
    return make_annotations({VIDEO: {0: things}}, arity=8)


def report_of(
    name: str, truth: Annotations, detections: Annotations, **parameters: object
) -> Report:
    evaluator = create_evaluator(name, parameters)
    return evaluator.report(evaluator.tally(truth, detections))


def test_every_criterion_has_the_polygon_base() -> None:
    """All but the two protocols, which have their own similarities."""
    with_base = {
        name
        for name in _BUILT_IN
        if any(entry.name == "base" for entry in fields(evaluator_class(name).Parameters))
    }
    assert with_base == set(WITH_BASE) == set(_BUILT_IN) - {"spotgeo", "neovision2"}


@pytest.mark.parametrize("name", WITH_BASE)
def test_a_diamond_differs_from_its_square(name: str) -> None:
    """Under IoU of boxes the answer is perfect; their polygons share one half."""
    truth = one_frame(Thing(SQUARE, "a", track_id=1))
    detections = one_frame(Thing(DIAMOND, "a", track_id=1))
    names = {entry.name for entry in fields(evaluator_class(name).Parameters)}
    above_one_half = {"threshold": 0.55} if "threshold" in names else {}
    measure = create_evaluator(name).ranking[0]
    by_box, by_polygon, perfect = (
        report_of(name, truth, side, base=base, **above_one_half).value(measure)
        for side, base in ((detections, "iou"), (detections, "polygon"), (truth, "polygon"))
    )
    assert by_box == perfect
    assert by_polygon != perfect


@pytest.mark.parametrize(("threshold", "expected"), [(0.45, 1), (0.5, 1), (0.55, 0), (0.95, 0)])
def test_a_diamond_matches_a_square_up_to_one_half(threshold: float, expected: int) -> None:
    truth, detections = one_frame(Thing(SQUARE)), one_frame(Thing(DIAMOND))
    found = report_of("f1", truth, detections, base="polygon", threshold=threshold)
    assert found.value("true_positives") == expected
    boxes = report_of("f1", truth, detections, base="iou", threshold=threshold)
    assert boxes.value("true_positives") == 1


def test_distances_of_one_diamond_and_one_square_are_one_half() -> None:
    truth, detections = one_frame(Thing(SQUARE)), one_frame(Thing(DIAMOND))
    for name in ("hausdorff", "emd", "ospa"):
        assert report_of(name, truth, detections, base="polygon").value(name) == 0.5


def test_confidences_extend_polygons_like_boxes() -> None:
    """A solid of height 1/2 on the diamond: I~ = 200/2, U~ = 400 + 200/2 - 100."""
    truth, detections = one_frame(Thing(SQUARE)), one_frame(Thing(DIAMOND, confidence=0.5))
    found = report_of("ospa", truth, detections, base="polygon", confidence_extended=True)
    assert found.value("ospa") == 1 - 100 / 400


def random_boxes(random: np.random.Generator, flags: bool = True) -> tuple[Annotations, ...]:
    """Upright boxes on both sides in three frames, with don't-care of every kind."""

    def frame(detected: bool) -> list[Thing]:
        things = []
        for track in range(6):
            x, y, width, height = random.uniform(1, 25, size=4)
            flag = int(random.choice([0, 0, 0, *map(int, ObjectFlag)])) if flags else 0
            things.append(
                Thing(
                    (x, y, x + width, y + height),
                    "ab"[track % 2],
                    float(random.random()) if detected else 1.0,
                    track,
                    0 if detected else flag,
                )
            )
        return things

    return tuple(
        make_annotations({VIDEO: {number: frame(detected) for number in range(3)}})
        for detected in (False, True)
    )


def as_corners(side: Annotations) -> Annotations:
    return replace(side, coordinates=corners_of_boxes(side.coordinates))


def turned(side: Annotations, angle: float) -> Annotations:
    turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    points = side.coordinates.reshape(-1, 4, 2) @ turn.T
    return replace(side, coordinates=points.reshape(-1, 8))


def figures(report: Report) -> FloatArray:
    values = [row.value for row in report.rows()]
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


@pytest.mark.parametrize("name", WITH_BASE)
def test_polygons_of_upright_boxes_give_the_same_as_boxes(name: str) -> None:
    """To the last bit: as boxes, as four corners, and with either side as boxes."""
    for seed in range(4):
        truth, detections = random_boxes(np.random.default_rng(seed))
        expected = figures(report_of(name, truth, detections, base="iou"))
        for mine in (truth, as_corners(truth)):
            for theirs in (detections, as_corners(detections)):
                found = figures(report_of(name, mine, theirs, base="polygon"))
                np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", WITH_BASE)
def test_rotating_everything_changes_no_figure(name: str) -> None:
    """Crowds and regions rotate with the rest."""
    truth, detections = map(as_corners, random_boxes(np.random.default_rng(11)))
    parameters = {"base": "polygon"}
    still = figures(report_of(name, truth, detections, **parameters))
    for angle in (0.3, 1.2, 2.9):
        found = report_of(name, turned(truth, angle), turned(detections, angle), **parameters)
        np.testing.assert_allclose(figures(found), still, atol=1e-11)


@pytest.mark.parametrize("corners", [DIAMOND, DIAMOND[::-1], DIAMOND[2:] + DIAMOND[:2]])
def test_direction_and_first_corner_make_no_difference(corners: tuple[float, ...]) -> None:
    truth = one_frame(Thing(SQUARE))
    expected = report_of("ospa", truth, one_frame(Thing(DIAMOND)), base="polygon")
    found = report_of("ospa", truth, one_frame(Thing(corners)), base="polygon")
    assert found.value("ospa") == expected.value("ospa")


def test_a_polygon_without_area_is_similar_to_nothing() -> None:
    """Not even to itself, like a flat box."""
    flat = one_frame(Thing((0, 0, 10, 10, 20, 20, 5, 5)))
    assert report_of("f1", flat, flat, base="polygon", threshold=0.05).value("f1") == 0.0


def test_the_similarity_of_polygons_equals_shapelys_to_1e_12() -> None:
    """All pairs of 60 rectangles at any angle with 50 others."""
    random = np.random.default_rng(3)

    def some(count: int) -> FloatArray:
        boxes = bounding_boxes(random.uniform(0, 60, size=(count, 4)))
        angles = random.uniform(0, math.tau, size=count)
        centres = np.tile((boxes[:, :2] + boxes[:, 2:]) / 2, 4)
        offsets = (corners_of_boxes(boxes) - centres).reshape(-1, 4, 2)
        cosines, sines = np.cos(angles)[:, None], np.sin(angles)[:, None]
        x, y = offsets[..., 0], offsets[..., 1]
        points = np.stack([x * cosines - y * sines, x * sines + y * cosines], axis=2)
        corners: FloatArray = centres + points.reshape(-1, 8)
        return corners

    truth, detections = some(60), some(50)
    found = Similarity("polygon").of_pairs(
        outlines_of(truth)[:, None], outlines_of(detections)[None, :]
    )
    mine = np.asarray(shapely.polygons(truth.reshape(-1, 1, 4, 2)))
    theirs = np.asarray(shapely.polygons(detections.reshape(1, -1, 4, 2)))
    shared = np.asarray(shapely.area(shapely.intersection(mine, theirs)))
    union = shapely.area(mine) + shapely.area(theirs) - shared
    assert np.abs(found - shared / union).max() < 1e-12


def test_a_crowd_absorbs_by_the_fraction_of_the_polygon_inside_it() -> None:
    """Half of the square is in the diamond; all of it is in the diamond's envelope."""
    truth = one_frame(Thing(DIAMOND, flags=ObjectFlag.CROWD))
    detections = one_frame(Thing(SQUARE))

    def false_positives(base: str, threshold: float) -> float | None:
        report = report_of("f1", truth, detections, base=base, threshold=threshold)
        return report.value("false_positives")

    assert false_positives("polygon", 0.5) == 0
    assert false_positives("polygon", 0.55) == 1
    assert false_positives("iou", 0.55) == 0


@pytest.mark.parametrize(
    ("regions", "forgiven"),
    [
        pytest.param([(0, 0, 30, 0, 30, 8, 0, 8)], 0, id="32 % of the diamond"),
        pytest.param([(0, 0, 30, 0, 30, 11, 0, 11)], 1, id="59.5 %"),
        pytest.param(
            [(0, 0, 30, 0, 30, 8, 0, 8), (0, 6, 30, 6, 30, 9, 0, 9)], 0, id="40.5 % of two"
        ),
        pytest.param(
            [(0, 0, 30, 0, 30, 8, 0, 8), (0, 12, 30, 12, 30, 30, 0, 30)], 1, id="64 % of two"
        ),
    ],
)
def test_a_region_forgives_by_the_fraction_of_the_polygon_inside_it(
    regions: list[tuple[float, ...]], forgiven: int
) -> None:
    """Up to h = 10, the part of the diamond above y = h has h^2 of 200."""
    things = [Thing(corners, flags=ObjectFlag.REGION) for corners in regions]
    report = report_of("f1", one_frame(*things), one_frame(Thing(DIAMOND)), base="polygon")
    assert report.value("false_positives") == 1 - forgiven


def test_the_library_accepts_the_polygon_base() -> None:
    """Four corners in arrays; boxes on the other side become four corners."""
    report = score(
        "ospa",
        {"sequence": ["s"], "frame": [0], "x1": [0], "y1": [0], "x2": [20], "y2": [20]},
        {
            "sequence": ["s"],
            "frame": [0],
            **{
                f"{axis}{corner + 1}": [DIAMOND[2 * corner + index]]
                for corner in range(4)
                for index, axis in enumerate("xy")
            },
        },
        base="polygon",
    )
    assert report.value("ospa") == 0.5


def warned(report: Report) -> dict[str, int | None]:
    return {warning.code: warning.count for warning in report.warnings}


@pytest.mark.parametrize("name", WITH_BASE)
def test_a_report_that_compares_envelopes_warns_about_it(name: str) -> None:
    """With the number of objects, an example, and advice."""
    truth = one_frame(Thing(SQUARE, track_id=1), Thing(DIAMOND, track_id=2))
    report = report_of(name, truth, truth)
    [warning] = [entry for entry in report.warnings if entry.code == "bounding_boxes_compared"]
    assert warning.count == 2
    assert "frame 0 of sequence video" in warning.message
    assert "base=polygon" in warning.message
    assert "bounding_boxes_compared" not in warned(report_of(name, truth, truth, base="polygon"))


def test_upright_corners_and_regions_give_no_warning() -> None:
    """Computed corners may be off by rounding; regions are compared as they are."""
    computed = (0.1, 0.1, 20.1 + 1e-12, 0.1, 20.1, 20.1 - 1e-12, 0.1 - 1e-13, 20.1)
    truth = one_frame(Thing(computed), Thing(SQUARE[::-1]), Thing(DIAMOND, flags=ObjectFlag.REGION))
    assert "bounding_boxes_compared" not in warned(report_of("f1", truth, one_frame(Thing(SQUARE))))
    tilted = one_frame(Thing((0, 0, 20, 0.1, 20, 20, 0, 20)))
    assert warned(report_of("f1", truth, tilted))["bounding_boxes_compared"] == 1


def test_the_warning_counts_all_parts_of_an_input() -> None:
    """Two tallies of one frame each warn like one tally of both."""
    sides = [make_annotations({VIDEO: {number: [Thing(DIAMOND)]}}) for number in range(2)]
    evaluator = create_evaluator("f1")
    tallies = [evaluator.tally(side, side) for side in sides]
    [warning] = evaluator.report(merge_tallies(tallies)).warnings
    assert (warning.code, warning.count) == ("bounding_boxes_compared", 4)


@pytest.mark.parametrize("at_least", [0.0, 1e-9, 0.3])
def test_the_gate_of_envelopes_drops_no_pair_that_is_similar_enough(at_least: float) -> None:
    """All pairs of 150 objects in a frame, enough for the grid."""
    random = np.random.default_rng(13)
    sides = [
        one_frame(*(Thing(tuple(corners)) for corners in random.uniform(0, 40, size=(150, 8))))
        for _ in range(2)
    ]
    similarity = Similarity("polygon")
    scene = make_scene(align(*sides), RULES["standard"], similarity)
    found = find_candidates(scene, similarity, at_least)
    every = similarity.of_pairs(
        scene.truth.coordinates[:, None], scene.detections.coordinates[None, :]
    )
    expected = {
        (detection, target) for target, detection in np.argwhere(every >= at_least).tolist()
    }
    pairs = list(zip(found.detections.tolist(), found.targets.tolist(), strict=True))
    assert set(pairs) == expected
    assert len(pairs) == len(expected)
    assert found.similarities.tolist() == [every[target, row] for row, target in pairs]


def test_inclusive_pixels_are_only_for_upright_boxes() -> None:
    with pytest.raises(ParameterError, match="true with base polygon"):
        create_evaluator("map", {"base": "polygon", "inclusive_pixels": True})


def test_regions_that_count_separately_do_so_for_polygons() -> None:
    """KITTI's rule: 32 % in each of two regions is not half, although 64 % of both would be."""
    strips = [(0, 0, 30, 0, 30, 8, 0, 8), (0, 12, 30, 12, 30, 30, 0, 30)]
    truth = one_frame(*(Thing(corners, flags=ObjectFlag.REGION) for corners in strips))
    found = {
        rule: report_of("f1", truth, one_frame(Thing(DIAMOND)), base="polygon", dont_care=rule)
        for rule in ("standard", "kitti")
    }
    assert found["standard"].value("false_positives") == 0
    assert found["kitti"].value("false_positives") == 1


@pytest.mark.parametrize(("height_px", "counted"), [(19.9, 1), (20.0, 0)])
def test_the_height_of_a_polygon_is_that_of_the_box_around_it(
    height_px: float, counted: int
) -> None:
    """The diamond is 20 pixels high."""
    report = report_of(
        *("f1", one_frame(), one_frame(Thing(DIAMOND))),
        base="polygon",
        forgiven_height_px=height_px,
    )
    assert report.value("false_positives") == counted
