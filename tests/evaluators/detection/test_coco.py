"""COCO's twelve figures, compared with pycocotools and by hand."""

from __future__ import annotations

import contextlib
import io

import numpy as np
import pytest
from tests.evaluators.detection.pycocotools_peer import Scene, evaluated

from vidscore_evaluators.annotations import Annotations, ObjectFlag
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.report import Report
from vidscore_evaluators.testing import Thing, make_annotations

FIGURES = (
    *("ap", "ap_50", "ap_75", "ap_small", "ap_medium", "ap_large"),
    *("ar_1", "ar_10", "ar_100", "ar_small", "ar_medium", "ar_large"),
)
"""In the order of pycocotools' ``stats``."""

VIDEO = ("", "video")


def report_of(truth: Annotations, detections: Annotations) -> Report:
    evaluator = create_evaluator("coco")
    return evaluator.report(evaluator.tally(truth, detections))


def random_scene(
    seed: int, frames: int, objects: int, detections: int, classes: int
) -> tuple[Scene, Scene]:
    """Objects of all sizes, some crowded; detections near them and anywhere; no ties."""
    random = np.random.default_rng(seed)
    confidences = iter(random.permutation(frames * detections * 2) / (frames * detections * 2))
    truth: Scene = {}
    found: Scene = {}
    for frame in range(frames):
        truth[frame] = [
            Thing(
                _box(random),
                f"c{random.integers(classes)}",
                flags=int(random.random() < 0.1) * ObjectFlag.CROWD,
                columns={"area": float(random.uniform(10, 20_000))},
            )
            for _ in range(random.integers(0, objects + 1))
        ]
        found[frame] = []
        for _ in range(random.integers(0, detections + 1)):
            if truth[frame] and random.random() < 0.7:
                near = truth[frame][random.integers(len(truth[frame]))]
                label = near.label if random.random() < 0.8 else f"c{random.integers(classes)}"
                box = _jittered(random, near.coordinates)
            else:
                label, box = f"c{random.integers(classes)}", _box(random)
            found[frame].append(Thing(box, label, float(next(confidences))))
    return truth, found


def _box(random: np.random.Generator) -> tuple[float, ...]:
    x, y = random.uniform(0, 400, 2)
    width, height = np.exp(random.uniform(np.log(8), np.log(250), 2))
    return (x, y, x + width, y + height)


def _jittered(random: np.random.Generator, box: tuple[float, ...]) -> tuple[float, ...]:
    x1, y1, x2, y2 = box
    spread = np.array([x2 - x1, y2 - y1, x2 - x1, y2 - y1]) * random.choice([0.02, 0.08, 0.2])
    moved = np.array(box) + random.uniform(-0.5, 0.5, 4) * spread
    return tuple(moved.tolist())


def by_pycocotools(truth: Scene, detections: Scene, labels: list[str]) -> dict[str, float | None]:
    """The twelve figures of the reference implementation; -1 becomes None."""
    evaluation = evaluated(truth, detections, labels)
    with contextlib.redirect_stdout(io.StringIO()):
        evaluation.accumulate()
        evaluation.summarize()
    values = evaluation.stats.tolist()
    return {
        name: None if value == -1 else value for name, value in zip(FIGURES, values, strict=True)
    }


@pytest.mark.parametrize(
    ("seed", "frames", "objects", "detections", "classes"),
    [
        (1, 60, 8, 14, 4),
        (2, 5, 3, 4, 2),
        (3, 120, 3, 3, 1),
        (4, 4, 40, 150, 1),
        (5, 30, 20, 30, 12),
    ],
)
def test_all_twelve_figures_are_those_of_pycocotools(
    seed: int, frames: int, objects: int, detections: int, classes: int
) -> None:
    """Random scenes with crowds, area ranges, several classes and more than 100 detections."""
    truth, found = random_scene(seed, frames, objects, detections, classes)
    expected = by_pycocotools(truth, found, [f"c{index}" for index in range(classes)])
    report = report_of(
        make_annotations({VIDEO: truth}, arity=4), make_annotations({VIDEO: found}, arity=4)
    )
    actual = {name: report.value(name) for name in FIGURES}
    assert actual == pytest.approx(expected, abs=1e-9)


def test_the_reference_scenes_give_nontrivial_figures() -> None:
    """The compared figures are neither trivial nor undefined, so agreement means something."""
    truth, found = random_scene(1, 60, 8, 14, 4)
    expected = by_pycocotools(truth, found, ["c0", "c1", "c2", "c3"])
    assert all(value is not None and 0.01 < value < 0.99 for value in expected.values())


def ties(order: int) -> Report:
    """A true and a false detection of one confidence, in either order, and a later true one."""
    truth = [Thing((0, 0, 40, 40), "a"), Thing((100, 0, 140, 40), "a")]
    tied = [Thing((0, 0, 40, 40), "a", 0.5), Thing((300, 0, 340, 40), "a", 0.5)][::order]
    detections = [*tied, Thing((100, 0, 140, 40), "a", 0.3)]
    return report_of(
        make_annotations({VIDEO: {0: truth}}), make_annotations({VIDEO: {0: detections}})
    )


def test_equal_confidences_are_one_step_in_any_order() -> None:
    """Note 1: precision 1/2 at recall 1/2, then 2/3 at 1, monotone 2/3 throughout."""
    values = [ties(order).value("ap") for order in (1, -1)]
    assert values == [pytest.approx(2 / 3)] * 2


def test_ignored_objects_stay_ignored() -> None:
    """Note 3: an ignored object is not a miss, and its detection is not a false positive."""
    ignored = Thing((100, 0, 140, 40), "a", flags=ObjectFlag.IGNORE)
    truth = [Thing((0, 0, 40, 40), "a"), ignored]
    detections = [Thing((0, 0, 40, 40), "a", 0.5), Thing((100, 0, 140, 40), "a", 0.9)]
    report = report_of(
        make_annotations({VIDEO: {0: truth}}), make_annotations({VIDEO: {0: detections}})
    )
    assert report.value("ap") == 1.0


@pytest.mark.parametrize("area", [1.0, 1e12])
def test_an_area_that_a_detection_states_does_not_count(area: float) -> None:
    """Note 5: a false alarm could leave any range, and even all areas, by stating another one.

    Half of the detections are false, the more confident one, which is small like the object.
    """
    false = Thing((100, 0, 130, 30), "a", 0.9, columns={"area": area})
    true = Thing((0, 0, 30, 30), "a", 0.5, columns={"area": area})
    report = report_of(
        make_annotations({VIDEO: {0: [Thing((0, 0, 30, 30), "a")]}}),
        make_annotations({VIDEO: {0: [false, true]}}),
    )
    figures = {name: report.value(name) for name in ("ap", "ap_small", "ap_medium", "ar_small")}
    assert figures == {"ap": 0.5, "ap_small": 0.5, "ap_medium": None, "ar_small": 1.0}


def test_a_figure_without_objects_is_null() -> None:
    """Note 6: no large object, so there is no AP of large ones."""
    report = ties(1)
    assert (report.value("ap_large"), report.value("ar_large")) == (None, None)
    assert report.value("ap_medium", label="a") == pytest.approx(2 / 3)
