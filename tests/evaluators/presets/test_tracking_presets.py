"""The presets of MOTChallenge and KITTI against trackeval, on files in the benchmarks' layouts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.evaluators.presets import kitti_trees, motchallenge_trees
from tests.evaluators.presets.trackeval_tables import differences, reports_of, trackeval_tables
from tests.evaluators.presets.tracking_worlds import World, make_world, without

MOT = {"mot15": "MOT15", "mot16": "MOT16", "mot17": "MOT17", "mot20": "MOT20"}
PEDESTRIAN = {"pedestrian": "pedestrian"}
KITTI = {"car": "Car", "pedestrian": "Pedestrian"}
SEEDS = range(3)
MANY = [pytest.param(range(first, first + 20), marks=pytest.mark.slow) for first in (100, 200, 300)]


def motchallenge_worlds(seed: int) -> dict[str, World]:
    random = np.random.default_rng([seed, 16])
    worlds = {
        name: make_world(random, motchallenge_trees.KINDS, "decimals") for name in ("a", "b", "c")
    }
    return worlds | {"none": without(worlds["a"], "found"), "all": without(worlds["b"], "truth")}


def check_motchallenge(preset: str, root: Path, seed: int) -> None:
    folders = motchallenge_trees.write_tree(root, MOT[preset], motchallenge_worlds(seed))
    dataset = motchallenge_trees.dataset_of(root, MOT[preset])
    assert differences(reports_of(preset, *folders), trackeval_tables(dataset, PEDESTRIAN)) == []


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("preset", MOT)
def test_every_figure_of_motchallenge_is_that_of_trackeval(
    preset: str, seed: int, tmp_path: Path
) -> None:
    check_motchallenge(preset, tmp_path, seed)


def check_kitti(root: Path, seed: int) -> None:
    random = np.random.default_rng([seed, 2])
    worlds = {
        name: make_world(random, kitti_trees.KINDS, "decimals") for name in ("0000", "0001", "0002")
    }
    worlds |= {"0003": without(worlds["0000"], "found"), "0004": without(worlds["0001"], "truth")}
    folders = kitti_trees.write_tree(root, worlds, random)
    dataset = kitti_trees.dataset_of(root)
    assert (
        differences(reports_of("kitti-tracking", *folders), trackeval_tables(dataset, KITTI)) == []
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_every_figure_of_kitti_is_that_of_trackeval(seed: int, tmp_path: Path) -> None:
    check_kitti(tmp_path, seed)
