"""Track ids that do not follow objects give a warning if they count; a bad tracker does not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from tests.evaluators.plausibility.changes import joined
from tests.evaluators.plausibility.traffic import BOX, Columns, rows_where, traffic

from vidscore_evaluators import score
from vidscore_evaluators.report import ReportWarning

CODE = "track_ids_do_not_last"
TRUTH, DETECTIONS = traffic(frames=60, speed_px=3.0)


def found_in(evaluator: str, truth: Columns, detections: Columns) -> list[ReportWarning]:
    report = score(evaluator, truth, detections)
    return [warning for warning in report.warnings if warning.code == CODE]


def row_numbers(columns: Columns) -> Columns:
    return columns | {"track_id": np.arange(len(columns["frame"]))}


def numbers_in_frames(columns: Columns) -> Columns:
    """The most confident detection of a frame has id 0, the next one 1, and so on."""
    order = np.lexsort((-columns["confidence"], columns["frame"], columns["sequence"]))
    numbers: Counter[tuple[str, int]] = Counter()
    ids = np.zeros(len(order), dtype=np.int64)
    for row in order.tolist():
        place = (str(columns["sequence"][row]), int(columns["frame"][row]))
        ids[row] = numbers[place]
        numbers[place] += 1
    return columns | {"track_id": ids}


@pytest.mark.parametrize("evaluator", ["clear", "identity", "hota"])
@pytest.mark.parametrize("change", [row_numbers, numbers_in_frames])
def test_numbers_of_rows_or_of_detections_in_a_frame_give_a_warning(
    evaluator: str, change: Callable[[Columns], Columns]
) -> None:
    [warning] = found_in(evaluator, TRUTH, change(DETECTIONS))
    assert warning.count == len(DETECTIONS["frame"])


def test_a_criterion_without_tracks_gives_no_warning() -> None:
    assert found_in("f1", TRUTH, row_numbers(DETECTIONS)) == []


@pytest.mark.parametrize(
    ("found", "changed", "doubted"),
    [
        (8, 8, True),
        (7, 7, False),
        (30, 21, True),
        (30, 20, False),
        (200, 100, True),
        (200, 99, False),
    ],
)
def test_few_objects_are_enough_if_all_of_them_change(
    found: int, changed: int, doubted: bool
) -> None:
    """exp(-n D) <= 0.0001, D the divergence of the share that changes from 0.3, and half of all:
    8 x 1.204 = 9.63 and 30 x 0.338 = 10.1 are more than 9.21, 7 x 1.204 and 30 x 0.272 less."""
    truth, detections = pairs_of(found, changed)
    assert bool(found_in("clear", truth, detections)) is doubted


def pairs_of(found: int, changed: int) -> tuple[Columns, Columns]:
    """Objects found in two frames, some of which have another id in the second."""
    number = np.arange(found)
    across, down = 100.0 * (number % 20), 100.0 * (number // 20)
    frames = [
        {
            "sequence": number // 20,
            "frame": np.full(found, second),
            "track_id": number,
        }
        | dict(zip(BOX, (across, down, across + 50, down + 50), strict=True))
        for second in (0, 1)
    ]
    truth = joined(*frames)
    ids = np.where((truth["frame"] == 1) & (truth["track_id"] < changed), 1000, 0)
    return truth, truth | {"track_id": truth["track_id"] + ids}


def switching(share: float) -> Columns:
    """A tracker that gives an object another id every so often."""
    random = np.random.default_rng(0)
    ids: dict[tuple[str, int], int] = {}
    columns = DETECTIONS
    order = np.lexsort((columns["frame"], columns["sequence"]))
    tracks = np.zeros(len(order), dtype=np.int64)
    for row in order.tolist():
        key = (str(columns["sequence"][row]), int(columns["track_id"][row]))
        if key not in ids or random.random() < share:
            ids[key] = row
        tracks[row] = ids[key]
    return columns | {"track_id": tracks}


def two_for_each() -> Columns:
    """Two tracks on each object, of which sometimes one and sometimes the other is nearer."""
    random = np.random.default_rng(0)
    away = {
        name: DETECTIONS[name] + random.normal(0, 0.3, len(DETECTIONS["frame"])) for name in BOX
    }
    return joined(DETECTIONS, DETECTIONS | away | {"track_id": DETECTIONS["track_id"] + 1000})


HONEST: dict[str, Callable[[], tuple[Columns, Columns]]] = {
    "right": lambda: (TRUTH, DETECTIONS),
    "every tenth match is a switch": lambda: (TRUTH, switching(0.1)),
    "every third match is a switch": lambda: (TRUTH, switching(0.3)),
    "two tracks on each object": lambda: (TRUTH, two_for_each()),
    "half is missed": lambda: traffic(recall=0.5, frames=60, speed_px=3.0),
    "fast and inexact": lambda: traffic(noise_px=15.0, speed_px=30.0),
    "every fifth frame": lambda: (
        rows_where(TRUTH, TRUTH["frame"] % 5 == 0),
        rows_where(DETECTIONS, DETECTIONS["frame"] % 5 == 0),
    ),
}


@pytest.mark.parametrize("name", HONEST)
def test_a_bad_tracker_gives_no_warning(name: str) -> None:
    assert found_in("clear", *HONEST[name]()) == []
