"""Seeded COCO files with every case on which scorers differ, and pycocotools' figures for them."""

from __future__ import annotations

import contextlib
import copy
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

from vidscore_evaluators.formats import read_pair
from vidscore_evaluators.presets import find_preset
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.scoring import score
from vidscore_evaluators.tally import merge_tallies

FIGURES = (
    *("ap", "ap_50", "ap_75", "ap_small", "ap_medium", "ap_large"),
    *("ar_1", "ar_10", "ar_100", "ar_small", "ar_medium", "ar_large"),
)
"""In the order of pycocotools' ``stats``."""

Figures = dict[str | None, dict[str, float | None]]
"""Figures by class, and of all classes (None)."""

Files = tuple[dict[str, Any], list[dict[str, Any]]]
"""Truth and results."""


def random_files(seed: int) -> Files:
    """Truth and results whose images and entries are unordered.

    There are equal scores, duplicates, IoU at exact thresholds, crowds, ignored objects, areas at
    the ends of ranges, more than 100 detections per image, and classes without objects.
    """
    random = np.random.default_rng(seed)
    classes, decimals = int(random.integers(1, 6)), int(random.choice([0, 0, 1, 2]))
    dense = random.random() < 0.15
    ids = random.choice(1000, int(random.integers(1, 15)), replace=False).tolist()
    annotations: list[dict[str, Any]] = []
    results: list[dict[str, Any]] = []
    for image in ids:
        mine = []
        for _ in range(int(random.integers(0, 8))):
            box = _box(random, decimals)
            own = box[2] * box[3]
            entry = {
                "image_id": image,
                "category_id": int(random.integers(1, classes + 1)),
                "bbox": box,
                "area": float(random.choice([own, 32.0**2, 96.0**2, own * 0.7])),
                "iscrowd": int(random.random() < 0.15),
            }
            if random.random() < 0.2:
                entry["ignore"] = int(random.random() < 0.5)
            mine.append(entry)
        annotations += mine
        for _ in range(int(random.integers(0, 260 if dense else 14))):
            box, label = _box(random, decimals), int(random.integers(1, classes + 1))
            if mine and random.random() < 0.75:
                near = mine[int(random.integers(len(mine)))]
                box, label = _moved(random, near["bbox"], decimals), near["category_id"]
            score = round(float(random.random()), int(random.choice([1, 2])))
            results.append({"image_id": image, "category_id": label, "bbox": box, "score": score})
    random.shuffle(annotations)
    random.shuffle(results)
    truth = {
        "images": [{"id": image} for image in ids],
        "categories": [{"id": number, "name": f"c{number}"} for number in range(1, classes + 3)],
        "annotations": [entry | {"id": index} for index, entry in enumerate(annotations, start=1)],
    }
    return truth, results


def _box(random: np.random.Generator, decimals: int) -> list[float]:
    most = int(random.choice([12, 40, 120]))
    values = np.concatenate([random.integers(0, 60, 2), random.integers(0, most, 2)])
    noise = random.random(4) if decimals else 0.0
    return [float(value) for value in np.round(values + noise, decimals)]


def _moved(random: np.random.Generator, box: list[float], decimals: int) -> list[float]:
    moved = list(box)
    if random.random() < 0.7:
        side, power = int(random.integers(4)), int(random.integers(0, decimals + 1))
        step = float(random.integers(-3, 4)) * 10.0**-power
        moved[side] = max(0.0, round(moved[side] + step, decimals))
    return moved


def write_files(
    folder: Path, truth: dict[str, Any], results: list[dict[str, Any]]
) -> tuple[Path, Path]:
    folder.mkdir(parents=True, exist_ok=True)
    paths = folder / "instances.json", folder / "results.json"
    for path, document in zip(paths, (truth, results), strict=True):
        path.write_text(json.dumps(document))
    return paths


def by_pycocotools(
    truth: dict[str, Any],
    results: list[dict[str, Any]],
    kind: Literal["bbox", "segm"] = "bbox",
    images: Sequence[int] | None = None,
) -> Figures:
    """The twelve figures of all classes and of each; None where pycocotools has -1.

    Args:
        truth: The truth.
        results: The results.
        kind: What is compared.
        images: The evaluated images, ``imgIds``; None for all.
    """
    with contextlib.redirect_stdout(io.StringIO()):
        reference = COCO()
        dataset: Any = copy.deepcopy(truth) | {"info": {}}
        reference.dataset = dataset
        reference.createIndex()
        evaluation = COCOeval(reference, reference.loadRes(copy.deepcopy(results)), kind)
        if images is not None:
            evaluation.params.imgIds = list(images)
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    precision, recall = evaluation.eval["precision"], evaluation.eval["recall"]
    figures: Figures = {None: _named([None if x == -1 else x for x in evaluation.stats.tolist()])}
    for row, category in enumerate(evaluation.params.catIds):
        ap = [precision[:, :, row, size, 2] for size in range(4)]
        ar = [recall[:, row, size, 2] for size in range(4)]
        few = [recall[:, row, 0, limit] for limit in range(2)]
        parts = [ap[0], ap[0][:1], ap[0][5:6], *ap[1:], *few, *ar]
        figures[f"c{category}"] = _named([_mean(part) for part in parts])
    return figures


def compare(preset: str, folder: Path, files: Files, kind: Literal["bbox", "segm"]) -> int:
    """Compare a preset with pycocotools; returns the number of compared figures."""
    truth, results = files
    if not results:
        return 0  # pycocotools cannot read empty results.
    report = score(preset, *write_files(folder, truth, results))
    rows = {(row.label, row.measure): row.value for row in report.rows()}
    count = 0
    for label, figures in by_pycocotools(truth, results, kind).items():
        for name, expected in figures.items():
            actual = rows.get((label, name))  # An entirely empty class has no row.
            assert actual == pytest.approx(expected, abs=1e-9), (label, name)
            count += 1
    return count


def check_any_split(preset: str, paths: tuple[Path, Path], seed: int) -> None:
    """Any division and order of frames gives the same bits."""
    [entry] = find_preset(preset).evaluators
    evaluator = create_evaluator(entry.name, entry.parameters)
    pair = read_pair(*paths)
    sides = pair.truth.annotations, pair.detections.annotations
    whole = evaluator.report(evaluator.tally(*sides))
    random = np.random.default_rng(seed)
    part_of = random.integers(0, 3, 1001)
    tallies = []
    for part in random.permutation(3).tolist():
        pieces = []
        for side in sides:
            rows = np.flatnonzero(part_of[side.frame_numbers] == part)
            pieces.append(side.take_frames(random.permutation(rows)))
        tallies.append(evaluator.tally(*pieces))
    merged = evaluator.report(merge_tallies(tallies))
    assert merged.rows() == whole.rows()
    assert merged.truth_digest == whole.truth_digest


def _named(values: list[float | None]) -> dict[str, float | None]:
    return dict(zip(FIGURES, values, strict=True))


def _mean(values: np.ndarray[Any, Any]) -> float | None:
    defined = values[values > -1]
    return float(defined.mean()) if len(defined) else None
