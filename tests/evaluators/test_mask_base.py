"""Criteria with ``base = mask``: they compare pixels of objects, not the boxes around them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from msgspec.structs import replace
from tests.evaluators.test_polygon_base import WITH_BASE, figures, report_of

from vidscore_evaluators._dont_care import RULES
from vidscore_evaluators.alignment import align
from vidscore_evaluators.annotations import Annotations, ObjectFlag, concatenate
from vidscore_evaluators.arrays import BoolArray
from vidscore_evaluators.errors import InputError
from vidscore_evaluators.fingerprint import fingerprint
from vidscore_evaluators.mask_forms import masks_from_counts
from vidscore_evaluators.masks import Masks, no_masks
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.tally import merge_tallies
from vidscore_evaluators.testing import Thing, make_annotations

VIDEO = ("", "video")
HEIGHT, WIDTH = 40, 50
SQUARE = (10.0, 10.0, 20.0, 20.0)


def masks_of(images: Sequence[BoolArray]) -> Masks:
    """Masks of pixels, (height, width) each."""
    counts = []
    for pixels in images:
        flat = pixels.T.reshape(-1)
        ends = np.flatnonzero(np.diff(flat, prepend=False, append=not flat[-1]))
        counts.append(np.diff(ends, prepend=0).tolist())
    sizes = np.array([pixels.shape for pixels in images], dtype=np.int64).reshape(-1, 2)
    return masks_from_counts(counts, sizes)


def box_pixels(box: Sequence[float]) -> BoolArray:
    x1, y1, x2, y2 = map(int, box)
    pixels = np.zeros((HEIGHT, WIDTH), dtype=np.bool_)
    pixels[y1:y2, x1:x2] = True
    return pixels


def with_masks(side: Annotations, images: Sequence[BoolArray] | None = None) -> Annotations:
    """The same objects with masks: the given ones, or all pixels of the boxes."""
    shown = [box_pixels(box) for box in side.coordinates.tolist()] if images is None else images
    return replace(side, masks=masks_of(shown))


def one_frame(*things: Thing) -> Annotations:
    return make_annotations({VIDEO: {0: things}})


def triangle() -> BoolArray:
    """55 pixels of the square of 100, including all of its left column."""
    pixels = np.zeros((HEIGHT, WIDTH), dtype=np.bool_)
    pixels[10:20, 10:20] = np.tri(10, dtype=np.bool_)
    return pixels


def random_boxes(seed: int) -> tuple[Annotations, Annotations]:
    """Boxes of integers on both sides in three frames, with don't-care rows of every kind."""
    random = np.random.default_rng(seed)

    def frame(detected: bool) -> list[Thing]:
        things = []
        for track in range(6):
            x, y, width, height = random.integers(1, 20, size=4).tolist()
            flag = int(random.choice([0, 0, 0, *map(int, ObjectFlag)]))
            confidence = round(float(random.random()), 1) if detected else 1.0
            box = (x, y, x + width, y + height)
            things.append(Thing(box, "ab"[track % 2], confidence, track, 0 if detected else flag))
        return things

    truth, detections = (
        make_annotations({VIDEO: {number: frame(detected) for number in range(3)}})
        for detected in (False, True)
    )
    return truth, detections


@pytest.mark.parametrize("name", WITH_BASE)
def test_masks_of_whole_boxes_give_the_same_as_boxes(name: str) -> None:
    """To the last bit, with crowds, ignored objects, regions and equal confidences."""
    for seed in range(4):
        truth, detections = random_boxes(seed)
        expected = figures(report_of(name, truth, detections, base="iou"))
        found = report_of(name, with_masks(truth), with_masks(detections), base="mask")
        np.testing.assert_array_equal(figures(found), expected)


def test_regions_give_the_same_in_single_frames_as_in_all_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("vidscore_evaluators._inside_regions._RUNS_AT_ONCE", 1)
    for seed in range(8):
        truth, detections = random_boxes(seed)
        expected = figures(report_of("f1", truth, detections, base="iou"))
        found = report_of("f1", with_masks(truth), with_masks(detections), base="mask")
        np.testing.assert_array_equal(figures(found), expected)


@pytest.mark.parametrize("rule", sorted(set(RULES) - {"visdrone"}))
def test_every_rule_treats_masks_like_boxes(rule: str) -> None:
    """All but VisDrone's, which rounds boxes."""
    for seed in range(4):
        truth, detections = random_boxes(seed)
        expected = figures(report_of("clear", truth, detections, base="iou", dont_care=rule))
        sides = with_masks(truth), with_masks(detections)
        found = figures(report_of("clear", *sides, base="mask", dont_care=rule))
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", WITH_BASE)
def test_a_triangle_differs_from_its_square(name: str) -> None:
    """Under IoU of boxes the answer is perfect; their masks share 55 of 100 pixels."""
    truth = with_masks(one_frame(Thing(SQUARE, "a", track_id=1)))
    detections = with_masks(one_frame(Thing(SQUARE, "a", track_id=1)), [triangle()])
    measure = create_evaluator(name).ranking[0]
    above = {"threshold": 0.6} if "threshold" in create_evaluator(name).parameters.__dict__ else {}
    by_box, by_mask, perfect = (
        report_of(name, truth, side, base=base, **above).value(measure)
        for side, base in ((detections, "iou"), (detections, "mask"), (truth, "mask"))
    )
    assert by_box == perfect
    assert by_mask != perfect


def test_the_distance_of_a_triangle_and_its_square_is_the_part_not_shared() -> None:
    truth = with_masks(one_frame(Thing(SQUARE)))
    detections = with_masks(one_frame(Thing(SQUARE)), [triangle()])
    for name in ("hausdorff", "emd", "ospa"):
        assert report_of(name, truth, detections, base="mask").value(name) == 1 - 55 / 100


def test_boxes_beside_masks_are_not_used() -> None:
    """Not even if they lie apart."""
    truth = with_masks(one_frame(Thing(SQUARE)), [triangle()])
    far = with_masks(one_frame(Thing((30.0, 30.0, 31.0, 31.0))), [triangle()])
    assert report_of("f1", truth, far, base="mask").value("f1") == 1.0
    assert report_of("f1", truth, far, base="iou").value("f1") == 0.0


def test_empty_masks_are_similar_to_nothing() -> None:
    empty = with_masks(one_frame(Thing(SQUARE)), [np.zeros((HEIGHT, WIDTH), dtype=np.bool_)])
    report = report_of("f1", empty, empty, base="mask", threshold=0.05)
    assert (report.value("false_positives"), report.value("false_negatives")) == (1, 1)


def test_a_crowd_absorbs_by_the_fraction_of_the_mask_inside_it() -> None:
    """All of the triangle is in the square, and 55 % of the square in the triangle."""
    square, corner = box_pixels(SQUARE), triangle()
    for crowd, detection, false_positives in ((square, corner, 0), (corner, square, 1)):
        truth = with_masks(one_frame(Thing(SQUARE, flags=ObjectFlag.CROWD)), [crowd])
        found = with_masks(one_frame(Thing(SQUARE)), [detection])
        report = report_of("f1", truth, found, base="mask", threshold=0.6)
        assert report.value("false_positives") == false_positives


def test_regions_forgive_by_the_fraction_inside_their_union() -> None:
    """Two regions have 40 % of the square each, and 60 % together."""
    parts = [box_pixels((10, 10, 14, 20)), box_pixels((12, 10, 16, 20))]
    things = [Thing(SQUARE, flags=ObjectFlag.REGION) for _ in parts]
    found = with_masks(one_frame(Thing(SQUARE)))
    both = with_masks(one_frame(*things), parts)
    assert report_of("f1", both, found, base="mask").value("false_positives") == 0
    one = with_masks(one_frame(things[0]), parts[:1])
    assert report_of("f1", one, found, base="mask").value("false_positives") == 1


def test_equal_detections_are_sorted_by_their_masks() -> None:
    """In any order of rows, the same one of two that differ only in the mask is first."""
    truth = with_masks(one_frame(Thing(SQUARE, "a", track_id=1)))
    images = [triangle(), box_pixels((10, 10, 20, 19)), box_pixels((10, 11, 20, 20))]
    images = [
        image | box_pixels((10, 10, 11, 20)) | box_pixels((10, 10, 20, 11)) for image in images
    ]
    side = one_frame(*(Thing(SQUARE, "a", confidence=0.5, track_id=2) for _ in images))
    reports = []
    for order in ((0, 1, 2), (2, 1, 0), (1, 2, 0)):
        detections = with_masks(side, [images[index] for index in order])
        reports.append(figures(report_of("map", truth, detections, base="mask")))
    np.testing.assert_array_equal(reports[0], reports[1])
    np.testing.assert_array_equal(reports[0], reports[2])


def test_division_and_order_of_frames_change_nothing() -> None:
    truth, detections = (with_masks(side) for side in random_boxes(3))
    evaluator = create_evaluator("coco", {"base": "mask"})
    whole = evaluator.tally(truth, detections)
    parts = [
        evaluator.tally(truth.take_frames(np.array(rows)), detections.take_frames(np.array(rows)))
        for rows in ([2, 0], [1])
    ]
    merged = merge_tallies(parts)
    assert (merged.truth, merged.detections) == (whole.truth, whole.detections)
    assert evaluator.report(merged).rows() == evaluator.report(whole).rows()


def test_objects_without_masks_are_refused() -> None:
    side, bare = with_masks(one_frame(Thing(SQUARE))), one_frame(Thing(SQUARE))
    evaluator = create_evaluator("f1", {"base": "mask"})
    with pytest.raises(InputError, match="objects without masks"):
        evaluator.tally(side, bare)
    joined = concatenate([side, bare])
    with pytest.raises(InputError, match="objects without masks"):
        evaluator.tally(joined, joined)


def test_frames_with_masks_of_several_sizes_are_refused_by_name() -> None:
    truth = with_masks(one_frame(Thing(SQUARE)))
    other = with_masks(one_frame(Thing(SQUARE)), [triangle().T])
    with pytest.raises(InputError) as caught:
        create_evaluator("f1", {"base": "mask"}).tally(truth, other)
    [fault] = caught.value.faults
    assert fault.source == "detections"
    assert fault.found == "a mask of 40 x 50 pixels in frame 0 of sequence video"
    assert fault.expected == "50 x 40 pixels, as the first mask of that frame"


def test_masks_follow_their_objects() -> None:
    """Through runs, choices and joins of frames and objects, and through alignment."""
    truth, detections = (with_masks(side) for side in random_boxes(5))

    def follows(side: Annotations) -> bool:
        return side.masks is not None and bool(
            (side.masks.boxes() == side.coordinates).all() and side.masks.count == side.object_count
        )

    parts = [truth.frame_run(2, 3), truth.take_frames(np.array([1, 0]))]
    chosen = truth.take_objects(np.array([1, 4, 9]))
    joined = concatenate([*parts, make_annotations({("", "empty"): {0: []}}, arity=4)])
    aligned = align(truth, detections.take_frames(np.array([2, 0])))
    sides = [*parts, chosen, joined, aligned.truth, aligned.detections]
    assert all(map(follows, sides))
    assert truth.nbytes - replace(truth, masks=None).nbytes == truth.masks.nbytes  # type: ignore[union-attr]


def test_fingerprints_distinguish_masks() -> None:
    """Equal masks are equal in any part; another pixel, another size, or no mask differs."""
    side = one_frame(Thing(SQUARE))
    moved, wide = triangle(), np.zeros((WIDTH, HEIGHT), dtype=np.bool_)
    moved[0, 0] = True
    wide[:HEIGHT, :] = triangle()[:, :HEIGHT]
    images = [triangle(), moved, wide]
    prints = [fingerprint(with_masks(side, [image])) for image in images] + [fingerprint(side)]
    assert len(set(prints)) == len(prints)
    assert fingerprint(with_masks(side, [triangle()])) == prints[0]
    assert fingerprint(replace(side.take_frames(np.zeros(1, dtype=bool)), masks=no_masks())) == (
        fingerprint(side.take_frames(np.zeros(1, dtype=bool)))
    )
