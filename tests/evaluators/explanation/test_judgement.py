"""Outcomes of the objects of a small street, compared with counts by hand."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from msgspec import structs
from tests.support.street import street

from vidscore_evaluators.annotations import Annotations, Side
from vidscore_evaluators.explanation.frame import objects_of_frame
from vidscore_evaluators.explanation.judgement import Judgement
from vidscore_evaluators.explanation.material import Material
from vidscore_evaluators.mask_forms import masks_from_polygons
from vidscore_evaluators.outcome_table import OperatingPoint


@pytest.fixture
def material(tmp_path: Path) -> Material:
    return street(tmp_path, "clear")


@pytest.fixture
def judgement(material: Material) -> Judgement:
    return material.judge(material.judges[0], OperatingPoint())


def test_frames_are_counted_by_the_outcomes_of_their_objects(judgement: Judgement) -> None:
    falcon, mole = (one.counts for one in judgement.systems)
    assert falcon.hits.tolist() == [2, 2, 1, 2, 1, 1]
    assert falcon.misses.tolist() == [0, 0, 1, 0, 0, 0]
    assert falcon.false_alarms.tolist() == [0, 0, 0, 1, 0, 0]
    assert mole.hits.tolist() == [1, 1, 1, 1, 1, 0]
    assert mole.misses.tolist() == [1, 1, 1, 1, 0, 1]
    assert mole.false_alarms.tolist() == [0, 0, 2, 0, 0, 0]


def test_counts_of_all_frames_equal_those_of_the_report(
    material: Material, judgement: Judgement
) -> None:
    for system, judged in zip(material.systems, judgement.systems, strict=True):
        report, total = material.reports[system][0], judged.counts.total()
        counted = (total.hits[0], total.misses[0], total.false_alarms[0], total.id_switches[0])
        names = ("matches", "misses", "false_positives", "id_switches")
        assert counted == tuple(report.value(name) for name in names)


def test_the_running_score_ends_at_the_score_of_the_report(
    material: Material, judgement: Judgement
) -> None:
    for index, system in enumerate(material.systems):
        for row, key in enumerate(judgement.frames.sequences):
            wanted = material.reports[system][0].value("mota", domain=key[0], sequence=key[1])
            assert judgement.scores[index][row] == pytest.approx(wanted, abs=1e-15)


def test_sequences_are_sorted_by_their_mistakes(judgement: Judgement) -> None:
    assert judgement.order.tolist() == [0, 1]
    assert judgement.costs.tolist() == [1.0, 0.0]


def test_the_worst_frames_are_those_with_most_mistakes(judgement: Judgement) -> None:
    assert judgement.worst_frames(10, 0).tolist() == [2, 3]
    assert judgement.worst_frames(2, 1).tolist() == [2, 0]
    assert judgement.worst_of(0) == 2


def test_mistakes_continue_over_sequences(judgement: Judgement) -> None:
    assert judgement.mistake_from(3, 1) == 5
    assert judgement.mistake_from(5, -1) == 3
    assert judgement.mistake_from(5, 1) is None
    assert judgement.mistake_from(0, -1) is None


def test_a_bin_leads_to_the_worst_frame_around_it(judgement: Judgement) -> None:
    assert judgement.worst_near(0, 0.0) == 0
    assert judgement.worst_near(0, 0.99) == 2


def test_a_label_leaves_out_the_objects_of_others(material: Material) -> None:
    judgement = material.judge(material.judges[0], OperatingPoint(), "Person")
    assert judgement.systems[0].counts.hits.tolist() == [1, 1, 0, 1, 0, 0]
    assert judgement.systems[1].counts.false_alarms.tolist() == [0, 0, 1, 0, 0, 0]


def test_a_judgement_is_made_once_per_operating_point(material: Material) -> None:
    first = material.judge(material.judges[0], OperatingPoint())
    assert material.judge(material.judges[0], OperatingPoint()) is first


def test_the_objects_of_a_frame_have_a_row_each(material: Material, judgement: Judgement) -> None:
    rows = objects_of_frame(material, judgement, 2).rows
    assert [(row.number, row.side, row.label) for row in rows] == [
        (1, Side.TRUTH, "Car"),
        (2, Side.TRUTH, "Person"),
        (3, Side.DETECTIONS, "Car"),
        (4, Side.DETECTIONS, "Person"),
    ]
    kinds = [[None if cell is None else cell.kind for cell in row.cells] for row in rows]
    assert kinds == [["tp", "tp"], ["fn", "fn"], [None, "fp"], [None, "fp"]]
    assert [row.same for row in rows] == [True, True, False, False]
    assert [row.number for row in objects_of_frame(material, judgement, 2).sorted_rows] == [
        2,
        3,
        4,
        1,
    ]


def test_a_match_shows_the_detection(material: Material, judgement: Judgement) -> None:
    [car, *_] = objects_of_frame(material, judgement, 2).rows
    falcon, mole = car.cells
    assert falcon is not None
    assert mole is not None
    assert (falcon.confidence, falcon.similarity, falcon.track) == (0.9, 1.0, 1)
    assert mole.confidence == 0.8
    assert falcon.coordinates == (10.0, 10.0, 50.0, 50.0)


def test_masks_are_those_of_the_drawn_rows(material: Material) -> None:
    """Of frame 2, which is not the first: the detection's for the found car, else the object's own.

    Masks of the truth are 1 by 1 px, those of falcon 2 by 2, all numbered by their column.
    """
    truth, falcon = (
        with_masks(side, size)
        for side, size in ((material.contest.truth, 1), (material.contest.systems["falcon"], 2))
    )
    masked = dataclasses.replace(
        material, contest=type(material.contest)(truth, {"falcon": falcon})
    )
    cells = [row.cells[0] for row in objects_of_frame(
        masked, masked.judge(masked.judges[0], OperatingPoint()), 2).rows]  # fmt: skip
    spans = masked.objects_of("falcon", 2), masked.objects_of(None, 2)
    of_falcon = falcon.coordinates[spans[0].start : spans[0].stop].tolist()
    of_truth = truth.coordinates[spans[1].start : spans[1].stop].tolist()
    found = [
        (cell.kind, cell.mask.boxes().tolist()[0])
        for cell in cells
        if cell is not None and cell.mask is not None
    ]
    car = spans[0].start + of_falcon.index([10, 10, 50, 50])
    person = spans[1].start + of_truth.index([100, 10, 120, 60])
    assert found == [("tp", [car, 0, car + 2, 2]), ("fn", [person, 0, person + 1, 1])]


def with_masks(side: Annotations, size: int) -> Annotations:
    """The same, each object with a square of pixels whose left column is its row."""
    squares = [
        [[row, 0, row + size, 0, row + size, size, row, size]] for row in range(side.object_count)
    ]
    sizes = np.tile([[60, 400]], (side.object_count, 1))
    return structs.replace(side, masks=masks_from_polygons(squares, sizes))


def test_false_alarms_of_both_systems_at_one_place_share_a_row(tmp_path: Path) -> None:
    material = street(tmp_path, "clear")
    twice = dict.fromkeys(("falcon", "again"), material.contest.systems["falcon"])
    reports = dict.fromkeys(twice, material.reports["falcon"])
    both = Material.of(
        type(material.contest)(material.contest.truth, twice), material.evaluators, reports
    )
    judgement = both.judge(both.judges[0], OperatingPoint())
    rows = objects_of_frame(both, judgement, 3).rows
    assert [len([cell for cell in row.cells if cell]) for row in rows] == [2, 2, 2]
    assert all(row.same for row in rows)


def test_tracks_have_a_path_up_to_the_present_frame(
    material: Material, judgement: Judgement
) -> None:
    tails = objects_of_frame(material, judgement, 2).tails
    assert [tail.tolist() for tail in tails] == [[[30.0, 30.0]] * 3, [[110.0, 35.0]] * 3]
    assert objects_of_frame(material, judgement, 0).tails == ()
