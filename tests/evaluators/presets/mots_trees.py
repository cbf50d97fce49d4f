"""Seeded worlds of tracked masks, in the layouts of MOTSChallenge and of KITTI MOTS."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from pycocotools import mask as coco_mask
from tests.evaluators.presets.trackeval_tables import write_rows
from trackeval.datasets import KittiMOTS, MOTSChallenge

from vidscore_evaluators.arrays import IntArray

HEIGHT, WIDTH = 48, 64
FRAMES = 8
REGION = 10_000
"""Label of the pixels of a region; other labels are 1000 times the class plus the track number."""

Images = list[IntArray]
"""A label image for each frame; 0 is the background."""


def make_world(random: np.random.Generator) -> tuple[Images, Images]:
    """Objects that hide each other, and a tracker that confuses them; pixels are integers, so
    that an IoU of exactly one half occurs.
    """
    count = 7
    places = random.integers(0, 44, (count, 2))
    sizes = random.choice([6, 8, 12, 16], (count, 2))
    classes = random.integers(1, 3, count)
    names = np.arange(count) + 20
    truth: Images = []
    found: Images = []
    for _ in range(FRAMES):
        places = places + random.integers(-2, 3, places.shape)
        if random.random() < 0.3:
            one, other = random.choice(count, 2, replace=False)
            names[[one, other]] = names[[other, one]]
        true, own = np.zeros((2, HEIGHT, WIDTH), dtype=np.int64)
        for _ in range(int(random.integers(0, 3))):
            _paint(true, random.integers(0, 40, 2), random.choice([8, 20], 2), REGION)
        shown, seen = random.random((2, count)) < 0.8
        if random.random() < 0.1:
            shown[:] = False
        for index in range(count):
            if shown[index]:
                label = 1000 * int(classes[index]) + index
                _paint(true, places[index], sizes[index], label)
            if seen[index]:
                label = 1000 * int(classes[index]) + int(names[index])
                half = [sizes[index][0], sizes[index][1] // random.choice([1, 1, 2])]
                shift = random.integers(-1, 2, 2) * int(half[1] == sizes[index][1])
                _paint(own, places[index] + shift, half, label)
        for extra in range(int(random.poisson(0.7))):
            label = 1000 * int(random.integers(1, 3)) + 90 + extra
            _paint(own, random.integers(0, 40, 2), random.choice([4, 8], 2), label)
        truth.append(true)
        found.append(own)
    return truth, found


def _paint(image: IntArray, place: Any, size: Any, label: int) -> None:
    (top, left), (height, width) = np.maximum(place, 0), size
    image[top : top + height, left : left + width] = label


def rows_of(images: Images, first: int) -> list[list[object]]:
    """MOTS rows of label images."""
    rows: list[list[object]] = []
    for frame, image in enumerate(images, start=first):
        for label in np.unique(image[image > 0]).tolist():
            encoded: Any = coco_mask.encode(np.asfortranarray((image == label).astype(np.uint8)))
            size = [HEIGHT, WIDTH, encoded["counts"].decode()]
            rows.append([frame, label, label // 1000, *size])
    return rows


def write_mots(root: Path, worlds: Mapping[str, tuple[Images, Images]]) -> tuple[Path, Path]:
    """Files of MOTSChallenge; returns the folders of truth and detections."""
    truth, found = root / "gt" / "MOTS-train", root / "trackers" / "MOTS-train" / "T" / "data"
    for name, (true, own) in worlds.items():
        write_rows(truth / name / "gt" / "gt.txt", rows_of(true, 1), " ")
        info = f"[Sequence]\nname={name}\nseqLength={FRAMES}\n"
        (truth / name / "seqinfo.ini").write_text(info)
        write_rows(found / f"{name}.txt", rows_of(own, 1), " ")
    write_rows(
        root / "gt" / "seqmaps" / "MOTS-train.txt", [["name"], *([key] for key in worlds)], ""
    )
    return truth, found


def write_kitti_mots(root: Path, worlds: Mapping[str, tuple[Images, Images]]) -> tuple[Path, Path]:
    """Files of KITTI MOTS; returns the folders of truth and detections."""
    truth, found = root / "gt", root / "trackers" / "T" / "data"
    for name, (true, own) in worlds.items():
        write_rows(truth / "label_02" / f"{name}.txt", rows_of(true, 0), " ")
        write_rows(found / f"{name}.txt", rows_of(own, 0), " ")
    rows = [[name, "empty", "000000", f"{FRAMES - 1:06d}"] for name in worlds]
    write_rows(truth / "evaluate_mots.seqmap.val", rows, " ")
    return truth, found


def mots_dataset(root: Path) -> Any:
    """trackeval's dataset over a tree of MOTSChallenge."""
    return _quiet(MOTSChallenge, root)


def kitti_mots_dataset(root: Path) -> Any:
    """trackeval's dataset over a tree of KITTI MOTS."""
    return _quiet(KittiMOTS, root)


def _quiet(dataset: Any, root: Path) -> Any:
    folders = {"GT_FOLDER": str(root / "gt"), "TRACKERS_FOLDER": str(root / "trackers")}
    with contextlib.redirect_stdout(io.StringIO()):
        return dataset({**folders, "PRINT_CONFIG": False})
