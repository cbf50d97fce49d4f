"""Detections of an interrupted run, or at another frame rate, give a warning."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from tests.evaluators.plausibility.changes import joined
from tests.evaluators.plausibility.traffic import Columns, rows_where, traffic

from vidscore_evaluators import score
from vidscore_evaluators.formats.plain_arrays import read_arrays
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.report import ReportWarning
from vidscore_evaluators.tally import merge_tallies
from vidscore_evaluators.tally_bytes import tally_to_bytes

CODES = {"detections_end_early", "detections_begin_late"}
TRUTH, DETECTIONS = traffic(frames=100, speed_px=2.0, vehicles=6)


def found_in(truth: Columns, detections: Columns) -> list[ReportWarning]:
    report = score("f1", truth, detections)
    return [warning for warning in report.warnings if warning.code in CODES]


def ending_at(columns: Columns, frame: int) -> Columns:
    return rows_where(columns, columns["frame"] < frame)


def many(count: int, *, pattern: str = "s{:03}", frames: int = 5) -> tuple[Columns, Columns]:
    """Many short videos, copied from one."""
    sides = traffic(frames=frames, speed_px=2.0, vehicles=4)
    south = [rows_where(side, side["sequence"] == "south") for side in sides]
    truth, detections = (
        joined(
            *(
                side | {"sequence": np.full(len(side["frame"]), pattern.format(number))}
                for number in range(count)
            )
        )
        for side in south
    )
    return truth, detections


def cut_in(columns: Columns, order: list[str], within: str, frame: int) -> Columns:
    """The detections of a run over sequences in an order, up to a frame of one of them."""
    place = np.array([order.index(name) for name in columns["sequence"]])
    here = order.index(within)
    return rows_where(columns, (place < here) | ((place == here) & (columns["frame"] < frame)))


def test_a_run_over_the_first_60_frames_of_every_sequence_gives_a_warning() -> None:
    """Sequences have 100 frames, of which each has six vehicles: 120 frames are left."""
    [warning] = found_in(TRUTH, ending_at(DETECTIONS, 60))
    unanswered = {*zip(TRUTH["sequence"], TRUTH["frame"], strict=True)} - {
        *zip(ending_at(DETECTIONS, 60)["sequence"], ending_at(DETECTIONS, 60)["frame"], strict=True)
    }
    assert warning.count == len(unanswered) == 120
    assert "after frame 5" in warning.message
    assert warning.example is not None
    assert 60 <= warning.example.frame < 68


def test_detections_of_only_the_second_half_of_every_sequence_give_a_warning() -> None:
    """For example, if half of a training set is kept for validation."""
    lengths = {"north": 100, "south": 70, "west": 50}
    of = [np.array([lengths[name] for name in side["sequence"]]) for side in (TRUTH, DETECTIONS)]
    truth = rows_where(TRUTH, TRUTH["frame"] < of[0])
    late = rows_where(
        DETECTIONS, (DETECTIONS["frame"] < of[1]) & (DETECTIONS["frame"] >= of[1] / 2)
    )
    [warning] = found_in(truth, late)
    assert (warning.code, warning.count) == ("detections_begin_late", 110)
    assert "% of each sequence have none" in warning.message


def test_detections_of_every_second_frame_numbered_consecutively_give_a_warning() -> None:
    half = rows_where(DETECTIONS, DETECTIONS["frame"] % 2 == 0)
    [warning] = found_in(TRUTH, half | {"frame": half["frame"] // 2})
    assert warning.count == 150
    assert "both sides have the same frame rate" in warning.message


def test_sequences_of_different_lengths_that_end_at_60_per_cent_give_a_warning() -> None:
    lengths = {"north": 100, "south": 70, "west": 50}
    of = [np.array([lengths[name] for name in side["sequence"]]) for side in (TRUTH, DETECTIONS)]
    truth = rows_where(TRUTH, TRUTH["frame"] < of[0])
    [warning] = found_in(truth, rows_where(DETECTIONS, DETECTIONS["frame"] < 0.6 * of[1]))
    assert "% of each sequence" in warning.message


def test_a_run_interrupted_within_the_second_of_three_sequences_gives_a_warning() -> None:
    detections = cut_in(DETECTIONS, ["north", "south", "west"], "south", 40)
    [warning] = found_in(TRUTH, detections)
    assert warning.count == 160
    assert "of sequence south on, by name, have none" in warning.message


@pytest.mark.parametrize("pattern", ["s{:03}", "s{}"])
def test_a_run_interrupted_among_many_short_sequences_gives_a_warning(pattern: str) -> None:
    """In the order of names, or of the numbers in them: s2 comes before s10."""
    truth, detections = many(200, pattern=pattern)
    order = [pattern.format(number) for number in range(200)]
    [warning] = found_in(truth, cut_in(detections, order, order[100], 0))
    assert warning.count == 500


def test_a_run_over_half_of_a_crowd_gives_a_warning() -> None:
    """Forty objects per frame: the sample of boxes has a dozen frames."""
    truth, detections = traffic(frames=80, speed_px=0.5, vehicles=40)
    [warning] = found_in(truth, ending_at(detections, 48))
    assert warning.count == 3 * 32


def images(frames: int, *, step: int) -> tuple[Columns, Columns]:
    """Unrelated images, of four objects each, without tracks."""
    random = np.random.default_rng(0)
    rows = np.repeat(np.arange(frames), 4)
    corners = random.uniform((0, 0), (1700, 900), (len(rows), 2))
    boxes = np.hstack([corners, corners + 100]).T
    names = dict(zip(("x1", "y1", "x2", "y2"), boxes, strict=True))
    truth = {"sequence": np.full(len(rows), "images"), "frame": rows * step, **names}
    found = rows_where(truth, random.random(len(rows)) < 0.9)
    return truth, found | {"confidence": random.random(len(found["frame"]))}


@pytest.mark.parametrize("step", [1, 37])
def test_results_of_the_first_images_give_a_warning(step: int) -> None:
    """No tracker can have lost the objects of other images."""
    truth, detections = images(200, step=step)
    assert found_in(truth, detections) == []
    [warning] = found_in(truth, ending_at(detections, 120 * step))
    assert warning.count == 80


def without_last(columns: Columns) -> Columns:
    return rows_where(columns, columns["sequence"] != "west")


def only_some(share: float) -> Columns:
    kept = np.random.default_rng(0).random(len(DETECTIONS["frame"])) < share
    return rows_where(DETECTIONS, kept)


def shrinking(columns: Columns) -> Columns:
    """Objects that shrink to a hundredth of their size."""
    share = 1 - columns["frame"] / 101
    a, b, c, d = (columns[name] for name in ("x1", "y1", "x2", "y2"))
    return columns | {"x2": a + share * (c - a), "y2": b + share * (d - b)}


def one_object() -> tuple[Columns, Columns]:
    """A tracker of one object that loses it in each video, sooner or later."""
    sides = [rows_where(side, side["track_id"] == 0) for side in (TRUTH, DETECTIONS)]
    lost = {"north": 40, "south": 60, "west": 70}
    ends = np.array([lost[name] for name in sides[1]["sequence"]])
    return sides[0], rows_where(sides[1], sides[1]["frame"] < ends)


def hard_from(columns: Columns, name: str) -> Columns:
    """Hardly anything is found in one video, and nothing in those after it."""
    here, later = columns["sequence"] == name, columns["sequence"] > name
    few = np.random.default_rng(3).random(len(here)) < 0.15
    return rows_where(columns, ~later & (~here | few))


HONEST: dict[str, Callable[[], tuple[Columns, Columns]]] = {
    "all frames": lambda: (TRUTH, DETECTIONS),
    "a bad detector": lambda: traffic(frames=100, speed_px=2.0, recall=0.1, alarms=0.2),
    "nothing in the last video": lambda: (TRUTH, without_last(DETECTIONS)),
    "nothing in the last of many": lambda: (
        many(30)[0],
        rows_where(many(30)[1], many(30)[1]["sequence"] < "s020"),
    ),
    "one in ten": lambda: (TRUTH, only_some(0.1)),
    "one object that is lost": one_object,
    "a few objects that are lost": lambda: (
        rows_where(TRUTH, TRUTH["sequence"] == "south"),
        rows_where(
            DETECTIONS,
            (DETECTIONS["sequence"] == "south") & (DETECTIONS["frame"] < 60),
        ),
    ),
    "things that fly away until they are too small in every video": lambda: (
        shrinking(TRUTH),
        shrinking(ending_at(DETECTIONS, 75)),
    ),
    "objects that leave": lambda: (
        ending_at(TRUTH, 60),
        ending_at(DETECTIONS, 60),
    ),
    "a tracker that begins after some frames": lambda: (
        TRUTH,
        rows_where(DETECTIONS, DETECTIONS["frame"] >= 5),
    ),
    "a few frames at the end": lambda: (TRUTH, ending_at(DETECTIONS, 95)),
    "a hard video, and nothing in those after it": lambda: (
        many(12, frames=20)[0],
        hard_from(many(12, frames=20)[1], "s008"),
    ),
    "one video that goes dark": lambda: (
        TRUTH,
        rows_where(DETECTIONS, (DETECTIONS["frame"] < 40) | (DETECTIONS["sequence"] != "south")),
    ),
}


@pytest.mark.parametrize("name", HONEST)
def test_misses_of_a_detector_are_not_taken_for_an_early_end(name: str) -> None:
    assert found_in(*HONEST[name]()) == []


def test_objects_at_the_end_that_are_dont_care_need_no_detections() -> None:
    ignored = {"flags": np.where(TRUTH["frame"] >= 60, "ignore", "")}
    assert found_in(TRUTH | ignored, ending_at(DETECTIONS, 60)) == []


def test_added_parts_give_the_same_warnings_as_the_whole() -> None:
    """Every third frame of all sequences is in each part."""
    evaluator = create_evaluator("f1")
    truth, detections = (
        read_arrays(side, "made up").annotations for side in (TRUTH, ending_at(DETECTIONS, 60))
    )
    of_truth, of_detections = (
        [side.take_frames(np.flatnonzero(side.frame_numbers % 3 == part)) for part in (2, 0, 1)]
        for side in (truth, detections)
    )
    parts = [evaluator.tally(*pair) for pair in zip(of_truth, of_detections, strict=True)]
    whole = evaluator.tally(truth, detections)
    assert tally_to_bytes(merge_tallies(parts)) == tally_to_bytes(whole)
    found = {warning.code for warning in evaluator.report(merge_tallies(parts)).warnings}
    assert found & CODES == {"detections_end_early"}
