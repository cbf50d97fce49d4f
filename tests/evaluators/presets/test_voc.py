"""`voc2007` and `voc2012` on seeded files, against an oracle written from VOCdevkit's rules."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.evaluators.presets.voc_oracle import LEVELS_2007, Box, Image, overlap, scores

from vidscore_evaluators.detection._precision_recall import LEVELS_11_VOC
from vidscore_evaluators.scoring import score

PRESETS = {"voc2007": 2007, "voc2012": 2012}
CLASSES = ("aeroplane", "bird", "tvmonitor")


def random_images(seed: int) -> dict[str, Image]:
    """Small integer boxes: duplicates, exact thresholds, ties of confidence and overlap, difficult
    objects, classes without objects or without detections."""
    random = np.random.default_rng(seed)
    decimals = int(random.choice([0, 0, 2]))
    prefix = str(random.choice(["", "2008_"]))
    images = {}
    for number in random.choice(400, int(random.integers(1, 12)), replace=False).tolist():
        image = Image()
        for _ in range(int(random.integers(0, 6))):
            label = str(random.choice(CLASSES[: random.integers(1, 4)]))
            image.objects.append((label, _box(random, decimals), bool(random.random() < 0.25)))
        for _ in range(int(random.integers(0, 12))):
            label, box = str(random.choice(CLASSES)), _box(random, decimals)
            if image.objects and random.random() < 0.8:
                label, near, _ = image.objects[int(random.integers(len(image.objects)))]
                box = _moved(random, near, decimals)
            confidence = round(float(random.random()), int(random.choice([1, 3])))
            image.detections.append((label, confidence, box))
        images[f"{prefix}{number:06d}"] = image
    return images


def _box(random: np.random.Generator, decimals: int) -> Box:
    x, y = random.integers(1, 30, 2) + (random.random(2) if decimals else 0.0)
    width, height = random.integers(0, 12, 2)
    return tuple(round(float(v), decimals) for v in (x, y, x + width, y + height))  # type: ignore[return-value]


def _moved(random: np.random.Generator, box: Box, decimals: int) -> Box:
    values = list(box)
    for _ in range(int(random.integers(0, 3))):
        side = int(random.integers(4))
        step = int(random.integers(-4, 5))
        values[side] = round(values[side] + step, decimals)
    x1, y1, x2, y2 = values
    return (min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2))


def write_files(folder: Path, images: dict[str, Image]) -> tuple[Path, Path]:
    """VOCdevkit's layout: `Annotations/*.xml`, and a result file for each class."""
    annotations, results = folder / "VOC" / "Annotations", folder / "results"
    annotations.mkdir(parents=True)
    results.mkdir()
    for name, image in images.items():
        objects = "".join(
            f"<object><name>{label}</name><pose>Left</pose><difficult>{int(difficult)}</difficult>"
            f"<bndbox><xmax>{box[2]}</xmax><xmin>{box[0]}</xmin><ymax>{box[3]}</ymax>"
            f"<ymin>{box[1]}</ymin></bndbox><part><name>head</name><bndbox><xmin>1</xmin>"
            "<ymin>1</ymin><xmax>9</xmax><ymax>9</ymax></bndbox></part></object>\n"
            for label, box, difficult in image.objects
        )
        text = f"<annotation>\n<filename>{name}.jpg</filename>\n{objects}</annotation>\n"
        (annotations / f"{name}.xml").write_text(text)
    for label in CLASSES:
        rows = [
            " ".join(map(str, (name, confidence, *box))) + "\n"
            for name in sorted(images)
            for class_, confidence, box in images[name].detections
            if class_ == label
        ]
        (results / f"comp3_det_test_{label}.txt").write_text("".join(rows))
    return annotations.parent, results


def compare(folder: Path, seed: int) -> int:
    """Compare both presets with the oracle; returns the number of compared figures."""
    images = random_images(seed)
    truth, results = write_files(folder, images)
    count = 0
    for name, year in PRESETS.items():
        report = score(name, truth, results)
        rows = {row.label: row.value for row in report.rows() if row.measure == "ap"}
        for label, expected in scores(images, year).items():
            # A class with only difficult objects and no detection has no row.
            actual = rows.get(label) if expected is None else rows[label]
            assert actual == pytest.approx(expected, abs=1e-9), (seed, name, label)
            count += 1
    return count


@pytest.mark.parametrize("seed", range(12))
def test_every_figure_equals_that_of_the_rules(tmp_path: Path, seed: int) -> None:
    compare(tmp_path, seed)


@pytest.mark.nightly
def test_every_figure_of_many_scenes_is_that_of_the_rules(tmp_path: Path) -> None:
    assert sum(compare(tmp_path / str(seed), seed) for seed in range(1000, 1400)) > 2000


def test_inclusive_pixels_decide_a_match() -> None:
    """From 1 to 10 and from 1 to 5 share 5 of 10 columns: 1/2 with them, 4/9 without."""
    assert overlap((1, 1, 10, 10), (1, 1, 5, 10)) == 0.5


def test_the_levels_of_2007_are_those_of_matlab() -> None:
    assert tuple(LEVELS_11_VOC.tolist()) == LEVELS_2007
    assert LEVELS_2007[3] == 0.30000000000000004


def test_a_second_detection_of_the_best_object_is_false(tmp_path: Path) -> None:
    """VOCdevkit tries no other object: greedy matching would find both."""
    near: Box = (2, 1, 11, 10)
    image = Image(
        [("bird", (1, 1, 10, 10), False), ("bird", (4, 1, 13, 10), False)],
        [("bird", 0.9, near), ("bird", 0.8, near)],
    )
    truth, results = write_files(tmp_path, {"000001": image})
    assert score("voc2012", truth, results).value("ap") == pytest.approx(0.5)
    assert score("map", truth, results, thresholds=[0.5]).value("ap") == pytest.approx(1.0)


def test_difficult_objects_take_any_number_of_detections(tmp_path: Path) -> None:
    """Neither counted nor penalised: two detections of a difficult object before a true one."""
    box: Box = (1, 1, 10, 10)
    image = Image(
        [("bird", box, True), ("bird", (50, 50, 60, 60), False)],
        [("bird", 0.9, box), ("bird", 0.8, box), ("bird", 0.7, (50, 50, 60, 60))],
    )
    truth, results = write_files(tmp_path, {"000001": image})
    assert score("voc2012", truth, results).value("ap") == 1.0
