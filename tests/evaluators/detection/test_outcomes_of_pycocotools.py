"""Outcomes of coco equal pycocotools' matches, detection by detection and object by object."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from tests.evaluators.detection.pycocotools_peer import Scene, evaluated

from vidscore_evaluators.alignment import align
from vidscore_evaluators.annotations import ObjectFlag, Side
from vidscore_evaluators.outcome_table import OUTCOMES, OperatingPoint, Outcome, Outcomes
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.testing import Thing, make_annotations

VIDEO = ("", "video")
LABELS = ("a", "b", "c")
THRESHOLD_ROW = {0.5: 0, 0.75: 5}
"""Row of each threshold among pycocotools' ten."""


class Row(NamedTuple):
    """A row of a frame, and the matched row of the other side."""

    frame: int
    row: int
    outcome: Outcome
    partner: int | None


def random_scene(seed: int, frames: int, objects: int, detections: int) -> tuple[Scene, Scene]:
    """Boxes near each other in every frame, some of them crowds; all confidences differ."""
    random = np.random.default_rng(seed)
    confidences = iter(random.permutation(frames * detections) / (frames * detections))
    truth: Scene = {}
    found: Scene = {}
    for frame in range(frames):
        truth[frame] = [
            Thing(_box(random), _label(random), flags=ObjectFlag.CROWD * (random.random() < 0.15))
            for _ in range(objects)
        ]
        found[frame] = [
            Thing(_near(random, truth[frame]), _label(random), float(next(confidences)))
            for _ in range(detections)
        ]
    return truth, found


def _label(random: np.random.Generator) -> str:
    return LABELS[int(random.integers(len(LABELS)))]


def _box(random: np.random.Generator) -> tuple[float, ...]:
    x, y = random.uniform(0, 150, 2)
    width, height = random.uniform(20, 80, 2)
    return (x, y, x + width, y + height)


def _near(random: np.random.Generator, things: list[Thing]) -> tuple[float, ...]:
    if not things or random.random() < 0.2:
        return _box(random)
    box = np.array(things[int(random.integers(len(things)))].coordinates)
    return tuple((box + random.uniform(-6, 6, 4)).tolist())


def by_pycocotools(
    truth: Scene, detections: Scene, threshold: float
) -> tuple[list[Row], list[Row]]:
    """`gtMatches` and `dtMatches` of all areas and 100 detections, as rows of either side.

    A detection that matches a crowd is ignored and names it. An object names its matched detection,
    unless it is a crowd, for which pycocotools names the last of many. A row in no match list,
    beyond 100 detections of a class, is ignored.
    """
    place = {
        side: dict(enumerate(((f, row) for f, own in scene.items() for row in range(len(own))), 1))
        for side, scene in ((Side.TRUTH, truth), (Side.DETECTIONS, detections))
    }
    told: dict[Side, dict[tuple[int, int], Row]] = {
        side: {at: Row(*at, Outcome.IGNORED, None) for at in places.values()}
        for side, places in place.items()
    }

    def tell(side: Side, own: int, other: int, outcome: Outcome, *, named: bool = True) -> None:
        away = Side.DETECTIONS if side is Side.TRUTH else Side.TRUTH
        at = place[side][own]
        told[side][at] = Row(*at, outcome, place[away][other][1] if other and named else None)

    column = THRESHOLD_ROW[threshold]
    images: list[Any] = evaluated(truth, detections, LABELS).evalImgs
    for image in images:
        if image is None or image["aRng"] != [0, 1e5**2]:
            continue
        for own, other, ignored in zip(
            image["dtIds"],
            image["dtMatches"][column].astype(int).tolist(),
            image["dtIgnore"][column].tolist(),
            strict=True,
        ):
            unpunished = Outcome.TRUE_POSITIVE if other else Outcome.FALSE_POSITIVE
            tell(Side.DETECTIONS, own, other, Outcome.IGNORED if ignored else unpunished)
        for own, other, ignored in zip(
            image["gtIds"],
            image["gtMatches"][column].astype(int).tolist(),
            image["gtIgnore"].tolist(),
            strict=True,
        ):
            found = Outcome.TRUE_POSITIVE if other else Outcome.FALSE_NEGATIVE
            outcome = Outcome.IGNORED if ignored else found
            tell(Side.TRUTH, own, other, outcome, named=not ignored)
    return list(told[Side.TRUTH].values()), list(told[Side.DETECTIONS].values())


def rows_of(table: Outcomes, side: Side) -> list[Row]:
    own = table.take(table.of_side(side))
    return [
        Row(frame, row, OUTCOMES[code], None if partner < 0 else partner)
        for frame, row, code, partner in zip(
            own.frames.tolist(),
            own.rows.tolist(),
            own.outcomes.tolist(),
            own.partners.tolist(),
            strict=True,
        )
    ]


@pytest.mark.parametrize("threshold", [0.5, 0.75])
@pytest.mark.parametrize(
    ("seed", "frames", "objects", "detections"),
    [(1, 40, 6, 12), (2, 10, 12, 30), (3, 60, 2, 3), (4, 3, 20, 330)],
)
def test_outcomes_are_the_matches_of_pycocotools(
    seed: int, frames: int, objects: int, detections: int, threshold: float
) -> None:
    """Crowded frames, some with more than 100 detections of a class."""
    truth, found = random_scene(seed, frames, objects, detections)
    of_truth, of_detections = by_pycocotools(truth, found, threshold)
    table = create_evaluator("coco").outcomes(
        align(make_annotations({VIDEO: truth}), make_annotations({VIDEO: found})),
        OperatingPoint(threshold),
    )
    assert rows_of(table, Side.TRUTH) == of_truth
    assert rows_of(table, Side.DETECTIONS) == of_detections
    outcomes = {row.outcome for row in of_detections}
    assert len(outcomes) == 3, "a scene without one of the outcomes shows little"
