"""The preset of VisDrone-MOT against an oracle written from the published rules."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.evaluators.presets import visdrone_mot_oracle as oracle
from tests.evaluators.presets.trackeval_tables import differences, reports_of, write_rows
from tests.evaluators.presets.tracking_worlds import Row, World, make_world, without

from vidscore_evaluators.formats import detect_format

CLASSES = {1: "pedestrian", 4: "car", 5: "van", 6: "truck", 9: "bus"}
KINDS = (1, 1, 1, 4, 4, 4, 5, 6, 9, 2, 10)


def worlds(seed: int) -> dict[str, World]:
    random = np.random.default_rng([seed, 10])
    made = {
        name: _in_pixels(make_world(random, KINDS, "decimals", frames=8), random) for name in "ab"
    }
    return made | {"none": without(made["a"], "found")}


def _in_pixels(world: World, random: np.random.Generator) -> World:
    """Truth in integer pixels, like VisDrone's, with regions of both kinds."""
    truth = [replace(row, box=_whole(row.box)) for row in world.truth if row.track < 1000]
    for frame in range(world.frames):
        for place in range(int(random.poisson(1.2))):
            box = _whole((*random.uniform(-5, 90, 2), *random.uniform(5, 40, 2)))
            truth.append(Row(frame, 300 + place, int(random.choice(oracle.REGIONS)), box))
    found = [row for row in world.found if row.track < 2000]
    return World(sorted(truth, key=lambda row: row.frame), found, world.frames)


def _whole(box: tuple[float, ...]) -> tuple[float, float, float, float]:
    left, top, width, height = (float(round(value)) for value in box)
    return (left, top, max(1.0, width), max(1.0, height))


def write_tree(root: Path, sequences: dict[str, World]) -> tuple[Path, Path]:
    truth, results = root / "annotations", root / "results"
    for name, world in sequences.items():
        write_rows(truth / f"{name}.txt", [_truth_row(row) for row in world.truth], ",")
        write_rows(results / f"{name}.txt", [_found_row(row) for row in world.found], ",")
    return truth, results


def _truth_row(row: Row) -> list[object]:
    considered = int(row.kind not in oracle.REGIONS and row.level != 1)
    whole = [int(value) for value in row.box]
    return [row.frame + 1, row.track, *whole, considered, row.kind, row.level % 2, row.level % 3]


def _found_row(row: Row) -> list[object]:
    return [row.frame + 1, row.track, *row.box, round(1 - row.track / 4096, 4), row.kind, -1, -1]


def check(root: Path, seed: int) -> None:
    sequences = worlds(seed)
    folders = write_tree(root, sequences)
    assert [detect_format(folder).name for folder in folders] == ["visdrone-mot"] * 2
    reports = reports_of("visdrone-mot", *folders)
    assert differences(reports, oracle.tables(sequences, CLASSES)) == []


@pytest.mark.parametrize("seed", range(6))
def test_every_figure_equals_that_of_the_oracle(seed: int, tmp_path: Path) -> None:
    check(tmp_path, seed)


@pytest.mark.nightly
def test_hundreds_of_sequences_are_scored_as_by_the_oracle(tmp_path: Path) -> None:
    for seed in range(100, 200):
        check(tmp_path / str(seed), seed)
