"""Skipped images are distinguished from images in which nothing was found."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from tests.evaluators.plausibility.traffic import Columns, rows_where, traffic, without

from vidscore_evaluators import score
from vidscore_evaluators.report import ReportWarning

Sides = tuple[Columns, Columns]


def images(
    *,
    objects: int = 6,
    recall: float = 0.9,
    alarms: float = 2.0,
    hard: float = 0.0,
    sequence: str = "images",
    count: int = 400,
    size_px: float = 100.0,
    last_id: int = 100_000,
) -> Sides:
    """Unrelated images of boxes, with ids as in COCO.

    Args:
        objects: Objects in each image.
        recall: Fraction of them that is found; a tenth of it in hard images.
        alarms: Average number of false positives.
        hard: Fraction of hard images.
        sequence: Name of the sequence.
        count: Number of images.
        size_px: Width and height of boxes.
        last_id: Maximum id of an image; with a smaller range more images are neighbours.
    """
    random = np.random.default_rng(0)
    ids = np.sort(random.choice(last_id, count, replace=False))
    truth = boxes(random, np.repeat(ids, objects), sequence, size_px)
    ease = np.where(random.random(count) < hard, 0.1, 1.0).repeat(objects)
    found = rows_where(truth, random.random(count * objects) < recall * ease)
    false = boxes(random, np.repeat(ids, random.poisson(alarms, count)), sequence, size_px)
    detections = {name: np.concatenate([found[name], false[name]]) for name in found}
    return truth, detections | {"confidence": random.random(len(detections["frame"]))}


def boxes(
    random: np.random.Generator, frames: np.ndarray, sequence: str, size_px: float
) -> Columns:
    x, y = random.uniform((0, 0), (1700, 900), (len(frames), 2)).T
    corners = {"x1": x, "y1": y, "x2": x + size_px, "y2": y + size_px}
    labels = np.where(random.random(len(frames)) < 0.5, "car", "bus")
    return {"sequence": np.full(len(frames), sequence), "frame": frames, "class": labels} | corners


def every(sides: Sides, nth: int) -> Sides:
    """Detections of every n-th image only."""
    truth, detections = sides
    kept = np.unique(truth["frame"])[::nth]
    return truth, rows_where(detections, np.isin(detections["frame"], kept))


def as_images(sides: Sides) -> Sides:
    """One video whose frames are named only by their numbers, without tracks."""
    south = [rows_where(side, side["sequence"] == "south") for side in sides]
    truth, detections = (
        without(side, "track_id") | {"sequence": np.full(len(side["frame"]), "images")}
        for side in south
    )
    return truth, detections


def first(sides: Sides, share: float) -> Sides:
    truth, detections = sides
    last = np.quantile(truth["frame"], share)
    return truth, rows_where(detections, detections["frame"] <= last)


def told(sides: Sides) -> list[ReportWarning]:
    codes = ("frames_without_detections", "detections_end_early")
    return [warning for warning in score("coco", *sides).warnings if warning.code in codes]


@pytest.mark.parametrize(("nth", "missed"), [(2, 200), (4, 300), (10, 360), (40, 390)])
def test_detections_of_every_nth_image_give_one_warning(nth: int, missed: int) -> None:
    [warning] = told(every(images(), nth))
    assert (warning.code, warning.count) == ("frames_without_detections", missed)
    assert "of 400 frames with objects have no detection" in warning.message


def test_images_of_large_objects_with_some_neighbouring_ids_are_not_taken_for_a_video() -> None:
    """Objects of two images overlap by chance."""
    [warning] = told(every(images(size_px=500.0, last_id=8_000), 4))
    assert warning.count == 300


def test_detections_of_the_first_images_give_only_the_warning_of_an_early_end() -> None:
    [warning] = told(first(images(), 0.4))
    assert warning.code == "detections_end_early"


def of_one_label(sides: Sides) -> Sides:
    """A detector of cars, if an image has either cars or buses."""
    truth, detections = sides
    truth = truth | {"class": np.where(truth["frame"] % 4 == 0, "car", "bus")}
    found = rows_where(detections, detections["frame"] % 4 == 0)
    return truth, found | {"class": np.full(len(found["frame"]), "car")}


HONEST: dict[str, Callable[[], Sides]] = {
    "all images": images,
    "a detector that has to be sure": lambda: images(recall=0.15, alarms=0.0),
    "one object in each image": lambda: images(objects=1, recall=0.3, alarms=0.1),
    "one object in each image, and half of the images hard": lambda: images(
        objects=1, recall=0.8, alarms=0.1, hard=0.5
    ),
    "three images in four hard": lambda: images(recall=0.8, alarms=0.1, hard=0.75),
    "every fourth frame of a video": lambda: every(images(sequence="north"), 4),
    "every fourth frame of three videos": lambda: every(traffic(frames=80), 4),
    "every fourth frame of a video that is read as images": lambda: every(
        as_images(traffic(frames=200, vehicles=8, speed_px=1.0)), 4
    ),
    "a detector of one label": lambda: of_one_label(images(alarms=0.0)),
    "few images": lambda: every(images(count=40), 4),
}


@pytest.mark.parametrize("name", HONEST)
def test_images_in_which_nothing_is_found_give_no_warning(name: str) -> None:
    assert told(HONEST[name]()) == []
