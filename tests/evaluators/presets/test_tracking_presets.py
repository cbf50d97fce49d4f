"""The presets of MOTChallenge and KITTI against trackeval, on files in the benchmarks' layouts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.evaluators.presets import kitti_trees, motchallenge_trees
from tests.evaluators.presets.trackeval_tables import (
    differences,
    differences_of,
    reports_of,
    trackeval_tables,
)
from tests.evaluators.presets.tracking_worlds import World, make_world, shuffled_rows, without

from vidscore_evaluators.report import Report

MOT = {"mot15": "MOT15", "mot16": "MOT16", "mot17": "MOT17", "mot20": "MOT20"}
PEDESTRIAN = {"pedestrian": "pedestrian"}
KITTI = {"car": "Car", "pedestrian": "Pedestrian"}
SEEDS = range(3)
MANY = range(100, 140)


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
def test_every_figure_of_motchallenge_equals_that_of_trackeval(
    preset: str, seed: int, tmp_path: Path
) -> None:
    check_motchallenge(preset, tmp_path, seed)


@pytest.mark.nightly
@pytest.mark.parametrize("preset", MOT)
def test_hundreds_of_sequences_of_motchallenge_are_scored_as_by_trackeval(
    preset: str, tmp_path: Path
) -> None:
    for seed in MANY:
        check_motchallenge(preset, tmp_path / str(seed), seed)


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
def test_every_figure_of_kitti_equals_that_of_trackeval(seed: int, tmp_path: Path) -> None:
    check_kitti(tmp_path, seed)


@pytest.mark.nightly
def test_hundreds_of_sequences_of_kitti_are_scored_as_by_trackeval(tmp_path: Path) -> None:
    for seed in MANY:
        check_kitti(tmp_path / str(seed), seed)


def unmatched_reports(
    preset: str, world: World, root: Path, random: np.random.Generator
) -> set[str]:
    """Reports that equal trackeval's in none of many orders of the same rows."""
    reports: dict[str, Report] = {}
    wanted: set[str] = set()
    for order in range(40):
        ordered = World(
            shuffled_rows(world.truth, random), shuffled_rows(world.found, random), world.frames
        )
        folder = root / str(order)
        folders = motchallenge_trees.write_tree(folder, MOT[preset], {"a": ordered})
        if order == 0:
            reports = reports_of(preset, *folders)
            wanted = {*reports}
        table = trackeval_tables(motchallenge_trees.dataset_of(folder, MOT[preset]), PEDESTRIAN)
        wanted = {name for name in wanted if differences_of(name, reports, table)}
        if not wanted:
            break
    return wanted


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("preset", ["mot15", "mot20"])
def test_with_tied_boxes_figures_equal_those_of_some_order_of_the_rows(
    preset: str, seed: int, tmp_path: Path
) -> None:
    """On a coarse grid matchings have equal sums; trackeval takes the first one found."""
    random = np.random.default_rng([seed, 3])
    world = make_world(random, motchallenge_trees.KINDS, "grid", frames=6)
    assert unmatched_reports(preset, world, tmp_path, random) == set()
