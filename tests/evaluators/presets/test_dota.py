"""`dota` on seeded files, against an oracle written from DOTA_devkit's rules."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from tests.evaluators.presets.dota_oracle import Corners, Image, scores

from vidscore_evaluators.detection._precision_recall import LEVELS_11_NUMPY
from vidscore_evaluators.report import Report
from vidscore_evaluators.scoring import score

CLASSES = ("plane", "ship", "small-vehicle")


def _rectangle(centre: tuple[float, float], size: tuple[float, float], angle: float) -> Corners:
    """Four corners, rounded as in DOTA's files."""
    along = np.array([math.cos(angle), math.sin(angle)]) * size[0] / 2
    across = np.array([-math.sin(angle), math.cos(angle)]) * size[1] / 2
    corners = [along + across, across - along, -along - across, along - across]
    return tuple(round(float(v), 1) for corner in corners for v in np.array(centre) + corner)


def random_images(seed: int) -> dict[str, Image]:
    """Rotated, upright and crowded objects, difficult ones, ties, classes of one side only."""
    random = np.random.default_rng(seed)
    images = {}
    for number in random.choice(3000, int(random.integers(1, 10)), replace=False).tolist():
        image = Image()
        shapes = []
        for _ in range(int(random.integers(0, 8))):
            centre = tuple(random.uniform(20, 90, size=2).round(1))
            size = (float(random.integers(10, 40)), float(random.integers(5, 20)))
            angle = float(random.choice([0.0, random.uniform(0, math.tau)]))
            label = str(random.choice(CLASSES))
            shapes.append((label, centre, size, angle))
            corners = _rectangle(centre, size, angle)
            image.objects.append((label, corners, bool(random.random() < 0.25)))
        for _ in range(int(random.integers(0, 20))):
            label = str(random.choice(CLASSES))
            corners = _rectangle((50, 50), (20, 10), float(random.uniform(0, 3)))
            if shapes and random.random() < 0.85:
                label, centre, size, angle = shapes[int(random.integers(len(shapes)))]
                moved = np.array(centre) + random.integers(-3, 4, size=2)
                turned = angle + float(random.choice([0.0, 0.1, -0.3]))
                corners = _rectangle((moved[0], moved[1]), size, turned)
                if random.random() < 0.5:
                    corners = corners[6:] + corners[:6]  # From another corner.
            confidence = round(float(random.random()), int(random.choice([1, 4])))
            image.detections.append((label, confidence, corners))
        images[f"P{number:04d}"] = image
    return images


def write_files(folder: Path, images: dict[str, Image]) -> tuple[Path, Path]:
    """The layout of the data set, and of uploads to its server."""
    labels, results = folder / "train" / "labelTxt", folder / "results"
    labels.mkdir(parents=True)
    results.mkdir()
    for name, image in images.items():
        rows = [
            " ".join(map(str, (*corners, label, int(difficult)))) + "\n"
            for label, corners, difficult in image.objects
        ]
        (labels / f"{name}.txt").write_text("imagesource:GoogleEarth\ngsd:0.13\n" + "".join(rows))
    for label in CLASSES:
        rows = [
            " ".join(map(str, (name, confidence, *corners))) + "\n"
            for name in sorted(images)
            for class_, confidence, corners in images[name].detections
            if class_ == label
        ]
        (results / f"Task1_{label}.txt").write_text("".join(rows))
    return labels.parent, results


def dota(folder: Path, images: dict[str, Image]) -> Report:
    return score("dota", *write_files(folder, images))


def compare(folder: Path, seed: int) -> int:
    """Compare the preset with the oracle; returns the number of figures that are not null."""
    images = random_images(seed)
    report = dota(folder, images)
    expected = scores(images)
    for label, value in expected.items():
        if value is not None:
            assert report.value("ap", label=label) == pytest.approx(value, abs=1e-9), (seed, label)
    reported = {row.label for row in report.rows() if row.measure == "ap" and row.value is not None}
    assert reported == {label for label, value in expected.items() if value is not None}
    return sum(value is not None for value in expected.values())


@pytest.mark.parametrize("seed", range(12))
def test_every_figure_equals_that_of_the_rules(tmp_path: Path, seed: int) -> None:
    compare(tmp_path, seed)


@pytest.mark.nightly
def test_every_figure_of_many_scenes_is_that_of_the_rules(tmp_path: Path) -> None:
    assert sum(compare(tmp_path / str(seed), seed) for seed in range(1000, 1300)) > 1000


SQUARE: Corners = (0, 0, 20, 0, 20, 20, 0, 20)
DIAMOND: Corners = (0, 10, 10, 0, 20, 10, 10, 20)


def test_the_levels_are_those_of_numpy() -> None:
    """As the development kit computes them; three are above the decimal."""
    assert LEVELS_11_NUMPY.tolist() == np.arange(0.0, 1.1, 0.1).tolist()
    assert [level for level in range(11) if LEVELS_11_NUMPY[level] > level / 10] == [3, 6, 7]


def test_an_overlap_of_exactly_one_half_is_not_a_match(tmp_path: Path) -> None:
    """A diamond in a square: the kit requires more than 1/2, and does not use envelopes."""
    image = Image([("ship", SQUARE, False)], [("ship", 0.9, DIAMOND)])
    assert dota(tmp_path, {"P0001": image}).value("ap") == 0.0


def test_a_second_detection_of_the_best_object_is_false(tmp_path: Path) -> None:
    """The kit tries no other object, even if one overlaps enough: precision 1/2 at the end."""
    beside: Corners = (5, 0, 25, 0, 25, 20, 5, 20)
    near: Corners = (1, 0, 21, 0, 21, 20, 1, 20)
    image = Image(
        [("ship", SQUARE, False), ("ship", beside, False)],
        [("ship", 0.9, near), ("ship", 0.8, near)],
    )
    assert dota(tmp_path, {"P0001": image}).value("ap") == pytest.approx(6 / 11)


def test_difficult_objects_are_neither_counted_nor_penalised(tmp_path: Path) -> None:
    """Two detections of a difficult object before the one of the other."""
    beside: Corners = (50, 0, 70, 0, 70, 20, 50, 20)
    image = Image(
        [("ship", SQUARE, True), ("ship", beside, False)],
        [("ship", 0.9, SQUARE), ("ship", 0.8, SQUARE), ("ship", 0.7, beside)],
    )
    assert dota(tmp_path, {"P0001": image}).value("ap") == 1.0


def test_the_preset_is_named_in_the_report(tmp_path: Path) -> None:
    report = dota(tmp_path, {"P0001": Image([("ship", SQUARE, False)], [])})
    assert (report.evaluator, report.preset) == ("map", "dota")
    assert report.warnings == () or {entry.code for entry in report.warnings} == {"no_detections"}
