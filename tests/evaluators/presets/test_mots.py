"""The presets of MOTS against trackeval, on files in the benchmarks' layouts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.evaluators.presets import mots_trees
from tests.evaluators.presets.trackeval_tables import differences, reports_of, trackeval_tables

CLASSES = {"car": "car", "pedestrian": "pedestrian"}


def check_mots(root: Path, seed: int) -> None:
    random = np.random.default_rng([seed, 1])
    worlds = {name: mots_trees.make_world(random) for name in ("MOTS20-02", "MOTS20-05")}
    folders = mots_trees.write_mots(root, worlds)
    dataset = mots_trees.mots_dataset(root)
    table = trackeval_tables(dataset, {"pedestrian": "pedestrian"})
    assert differences(reports_of("mots", *folders), table) == []


def check_kitti_mots(root: Path, seed: int) -> None:
    random = np.random.default_rng([seed, 2])
    worlds = {name: mots_trees.make_world(random) for name in ("0002", "0006")}
    folders = mots_trees.write_kitti_mots(root, worlds)
    dataset = mots_trees.kitti_mots_dataset(root)
    table = trackeval_tables(dataset, CLASSES)
    assert differences(reports_of("kitti-mots", *folders), table) == []


@pytest.mark.parametrize("seed", range(3))
def test_every_figure_of_mots_equals_that_of_trackeval(seed: int, tmp_path: Path) -> None:
    check_mots(tmp_path, seed)


@pytest.mark.parametrize("seed", range(3))
def test_every_figure_of_kitti_mots_equals_that_of_trackeval(seed: int, tmp_path: Path) -> None:
    check_kitti_mots(tmp_path, seed)


@pytest.mark.nightly
def test_many_sequences_of_both_are_scored_as_by_trackeval(tmp_path: Path) -> None:
    for seed in range(100, 140):
        check_mots(tmp_path / f"mots-{seed}", seed)
        check_kitti_mots(tmp_path / f"kitti-{seed}", seed)
