"""`visdrone-det` on seeded files, against an oracle written from the toolkit's rules."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.evaluators.presets.visdrone_oracle import THRESHOLDS, Row, scores

from vidscore_evaluators.presets import find_preset
from vidscore_evaluators.scoring import score

SIZE = 80
Box = tuple[float, float, float, float]
Images = dict[str, tuple[list[Row], list[Row]]]


def random_images(seed: int) -> Images:
    """Ignored regions, `others`, ties, exact thresholds, files that are not sorted by score."""
    random = np.random.default_rng(seed)
    decimals = int(random.choice([0, 0, 2]))
    crowded = random.random() < 0.1
    images: Images = {}
    for number in random.choice(50, int(random.integers(1, 6)), replace=False).tolist():
        truth: list[Row] = [
            (*_box(random, 0, 40), 0.0, 0) for _ in range(int(random.choice([0, 0, 1, 2])))
        ]
        for _ in range(int(random.integers(0, 9))):
            label = int(random.choice([1, 1, 4, 4, 9, 11]))
            truth.append((*_box(random, decimals, 14), float(label != 11), label))
        random.shuffle(truth)
        objects = [row for row in truth if row[5]]
        detections: list[Row] = []
        for _ in range(int(random.integers(0, 620 if crowded else 16))):
            box, label = _box(random, decimals, 14), int(random.choice([0, 1, 2, 4, 9, 11]))
            if objects and random.random() < 0.8:
                near = objects[int(random.integers(len(objects)))]
                box, label = _moved(random, near, decimals), near[5]
            detections.append((*box, round(float(random.random()), 1), label))
        if random.random() < 0.6:
            detections.sort(key=lambda row: -row[4])
        images[f"0000{seed % 10}_02999_d_{number:07d}"] = (
            [_plain(row) for row in truth],
            detections,
        )
    return images


def _plain(row: Row) -> Row:
    return (*map(float, row[:5]), int(row[5]))  # type: ignore[return-value]


def _box(random: np.random.Generator, decimals: int, most: int) -> Box:
    x, y = random.integers(0, SIZE - most, 2)
    width, height = random.integers(0 if most < 20 else 1, most, 2)
    left, top, across, down = (
        round(float(value + (random.random() if decimals else 0.0)), decimals)
        for value in (x, y, width, height)
    )
    return left, top, across, down


def _moved(random: np.random.Generator, row: Row, decimals: int) -> Box:
    values = list(row[:4])
    for _ in range(int(random.integers(0, 3))):
        side = int(random.integers(4))
        values[side] = max(0.0, round(values[side] + float(random.integers(-3, 4)), decimals))
    left, top, width, height = values
    return left, top, width, height


def write_files(folder: Path, images: Images) -> tuple[Path, Path]:
    """The benchmark's layout: `annotations/<image>.txt`, and a file of results for each image."""
    truth, results = folder / "set" / "annotations", folder / "results"
    truth.mkdir(parents=True)
    results.mkdir()
    for name, (objects, detections) in images.items():
        rows = [f"{_values(row[:4])},{row[4]:g},{row[5]},0,1,\n" for row in objects]
        (truth / f"{name}.txt").write_text("".join(rows))
        rows = [f"{_values(row[:5])},{row[5]},-1,-1\n" for row in detections]
        (results / f"{name}.txt").write_text("".join(rows))
    return truth.parent, results


def _values(row: tuple[float, ...]) -> str:
    return ",".join(f"{value:g}" for value in row)


def compare(folder: Path, seed: int) -> int:
    """Compare the preset with the oracle; returns the number of compared figures."""
    images = random_images(seed)
    truth, results = write_files(folder, images)
    report = score("visdrone-det", truth, results)
    expected = scores(images, SIZE)
    actual = {name: report.value(name) for name in expected}
    assert actual == pytest.approx(expected, abs=1e-9), seed
    return len(expected)


@pytest.mark.parametrize("seed", range(12))
def test_all_seven_figures_equal_those_of_the_rules(tmp_path: Path, seed: int) -> None:
    compare(tmp_path, seed)


@pytest.mark.nightly
def test_all_figures_of_many_scenes_are_those_of_the_rules(tmp_path: Path) -> None:
    assert sum(compare(tmp_path / str(seed), seed) for seed in range(1000, 1300)) > 2000


def test_the_thresholds_are_those_of_matlab() -> None:
    [entry] = find_preset("visdrone-det").evaluators
    assert tuple(entry.parameters["thresholds"]) == THRESHOLDS
