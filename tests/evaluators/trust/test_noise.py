"""Rankings with other annotations: noise on boxes, points and masks."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace
from tests.evaluators.test_mask_base import (
    HEIGHT,
    WIDTH,
    box_pixels,
    masks_of,
    triangle,
    with_masks,
)
from tests.evaluators.trust.contests import SQUARE, VIDEO, points_contest, squares_contest

from vidscore_evaluators.annotations import BOX_AREA, ObjectFlag
from vidscore_evaluators.arrays import BoolArray, FloatArray
from vidscore_evaluators.fingerprint import fingerprint
from vidscore_evaluators.masks import Masks
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.testing import Thing, make_annotations, shuffled
from vidscore_evaluators.trust.noise import jittered, noise_effect
from vidscore_evaluators.trust.systems import Contest


def test_noise_keeps_to_its_bound_and_leaves_regions_unchanged() -> None:
    truth = make_annotations(
        {
            VIDEO: {
                0: [
                    *[SQUARE] * 200,
                    Thing((0.0, 0.0, 1.0, 1.0)),
                    Thing((5.0, 5.0, 9.0, 9.0), flags=int(ObjectFlag.REGION)),
                ]
            }
        }
    )
    moved = jittered(truth, 2.0, np.random.default_rng(0))
    change = moved.coordinates - truth.coordinates
    assert np.abs(change[:200]).max() <= 2.0
    assert np.abs(change[:200]).max() > 1.9
    assert (moved.coordinates[:, 2:] >= moved.coordinates[:, :2]).all()
    assert (change[-1] == 0.0).all()


def test_noise_changes_an_order_that_depends_on_a_threshold_and_no_clear_one() -> None:
    """An overlap of 7/13 is close to 0.5: with 2 px of noise it is often below."""
    close = noise_effect(create_evaluator("f1"), squares_contest(), 2.0, trials=40)
    assert 0.0 < close.changed < 1.0
    assert 0.0 < close.distance < 1.0
    assert close.above[0, 1] + close.above[1, 0] == pytest.approx(1.0)
    clear = noise_effect(create_evaluator("spotgeo"), points_contest(), 0.1, trials=5)
    assert (clear.changed, clear.distance) == (0.0, 0.0)


def test_noise_does_not_depend_on_the_order_of_frames_and_objects() -> None:
    """Files and uploads in any order: every object moves by the same, so ranks are equal."""
    contest = points_contest()
    mixed = replace(contest, truth=shuffled(contest.truth, 3))
    evaluator = create_evaluator("ospa", {"base": "euclidean"})
    effects = [noise_effect(evaluator, one, 40.0, trials=10) for one in (contest, mixed)]
    assert effects[0].changed > 0.0
    assert np.array_equal(effects[0].trials, effects[1].trials)
    moved = [
        fingerprint(jittered(one.truth, 4.0, np.random.default_rng(7))) for one in (contest, mixed)
    ]
    assert moved[0] == moved[1]


@pytest.mark.slow
def test_noise_does_not_depend_on_workers() -> None:
    contest = squares_contest()
    alone = noise_effect(create_evaluator("f1"), contest, 2.0, trials=6)
    shared = noise_effect(create_evaluator("f1"), contest, 2.0, trials=6, workers=2)
    assert np.array_equal(alone.trials, shared.trials)


def test_given_areas_are_not_used_for_displaced_boxes() -> None:
    truth = make_annotations({VIDEO: {0: [SQUARE]}})
    given = replace(truth, columns={BOX_AREA: np.array([100.5]), "area": np.array([50.0])})
    assert list(jittered(given, 1.0, np.random.default_rng(0)).columns) == ["area"]


def pixels_of(masks: Masks) -> list[BoolArray]:
    """Every pixel of some masks, (height, width) each."""
    images = []
    for row in range(masks.count):
        runs = masks.runs[masks.starts[row] : masks.starts[row + 1]]
        flat = np.repeat(np.arange(len(runs)) % 2 == 1, runs)
        images.append(flat.reshape(masks.sizes[row, ::-1]).T)
    return images


def stretched(pixels: BoolArray, box: FloatArray) -> BoolArray:
    """The pixels whose centres come from a pixel of the mask, one by one."""
    rows, columns = np.nonzero(pixels)
    own = (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1)
    moved = np.zeros_like(pixels)
    for y in range(pixels.shape[0]):
        for x in range(pixels.shape[1]):
            across = own[0] + (x + 0.5 - box[0]) / (box[2] - box[0]) * (own[2] - own[0])
            down = own[1] + (y + 0.5 - box[1]) / (box[3] - box[1]) * (own[3] - own[1])
            inside = own[0] <= across < own[2] and own[1] <= down < own[3]
            moved[y, x] = inside and pixels[int(down), int(across)]
    return moved


@pytest.mark.parametrize("bound_px", [0.3, 4.0])
def test_masks_are_displaced_and_stretched_with_the_boxes_around_them(bound_px: float) -> None:
    """To the pixel, within the image; a mask of an object of the same box as another, too."""
    random = np.random.default_rng(11)
    rough = np.zeros((HEIGHT, WIDTH), dtype=np.bool_)
    rough[12:28, 10:34] = random.random((16, 24)) < 0.6
    images = [triangle(), box_pixels((10, 10, 20, 20)), rough, box_pixels((0, 5, 9, 40))]
    boxes = [(10, 10, 20, 20), (10, 10, 20, 20), (10, 12, 34, 28), (0, 5, 9, 40)]
    truth = with_masks(
        make_annotations({VIDEO: {0: [Thing(tuple(map(float, box))) for box in boxes]}}), images
    )
    moved = jittered(truth, bound_px, np.random.default_rng(3))
    assert moved.masks is not None
    ends = np.array([WIDTH, HEIGHT, WIDTH, HEIGHT], dtype=np.float64)
    changed = 0
    for image, box, found in zip(images, moved.coordinates, pixels_of(moved.masks), strict=True):
        np.testing.assert_array_equal(found, stretched(image, np.clip(box, 0.0, ends)))
        changed += bool((found != image).any())
    assert changed == (0 if bound_px < 0.5 else len(images))


def test_noise_leaves_masks_of_regions_and_empty_ones_and_removes_none() -> None:
    """Not even one of a pixel at the edge of the image, or of an object that is thinner."""
    corner, none, all_of_it = (np.zeros((HEIGHT, WIDTH), dtype=np.bool_) for _ in range(3))
    corner[0, 0], all_of_it[:] = True, True
    images = [corner] * 50 + [box_pixels((20, 10, 21, 30)), none, all_of_it, triangle()]
    things = [SQUARE] * 53 + [Thing((10.0, 10.0, 20.0, 20.0), flags=int(ObjectFlag.REGION))]
    truth = with_masks(make_annotations({VIDEO: {0: things}}), images)
    found = jittered(truth, 3.0, np.random.default_rng(0)).masks
    assert found is not None
    assert (found.areas()[:51] > 0).all()
    assert found.areas()[51] == 0
    np.testing.assert_array_equal(pixels_of(found)[-1], triangle())


@pytest.mark.slow
def test_noise_changes_an_order_of_masks_that_depends_on_a_threshold() -> None:
    """As of boxes, and whatever the order of rows is."""
    plain = squares_contest()

    def masked(contest: Contest) -> Contest:
        wide = [
            replace(
                side,
                masks=masks_of([filled(box) for box in side.coordinates]),
            )
            for side in (contest.truth, *contest.systems.values())
        ]
        return Contest.of(wide[0], dict(zip(contest.systems, wide[1:], strict=True)))

    def filled(box: FloatArray) -> BoolArray:
        pixels = np.zeros((HEIGHT, 150), dtype=np.bool_)
        x1, y1, x2, y2 = box.astype(int)
        pixels[y1:y2, x1:x2] = True
        return pixels

    contest, evaluator = masked(plain), create_evaluator("f1", {"base": "mask"})
    effect = noise_effect(evaluator, contest, 3.0, trials=40)
    assert 0.0 < effect.changed < 1.0
    mixed = replace(contest, truth=shuffled(contest.truth, 3))
    again = noise_effect(evaluator, mixed, 3.0, trials=40)
    assert np.array_equal(effect.trials, again.trials)
