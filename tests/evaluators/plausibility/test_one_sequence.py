"""A fault in a single sequence gives a warning; a difficult video does not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from tests.evaluators.plausibility.changes import as_sizes, joined, moved, scaled
from tests.evaluators.plausibility.traffic import Columns, rows_where, traffic, without

from vidscore_evaluators import score
from vidscore_evaluators.report import ReportWarning

TRUTH, DETECTIONS = traffic(frames=100, speed_px=3.0, vehicles=6)


def in_south(change: Callable[[Columns], Columns], detections: Columns = DETECTIONS) -> Columns:
    south = detections["sequence"] == "south"
    return joined(rows_where(detections, ~south), change(rows_where(detections, south)))


def of_six() -> tuple[Columns, Columns]:
    """Six videos; north2 to west2 differ from north to west."""
    first, second = (traffic(frames=40, speed_px=3.0, seed=seed) for seed in (1, 2))
    truth, detections = (
        joined(one, other | {"sequence": np.char.add(other["sequence"], "2")})
        for one, other in zip(first, second, strict=True)
    )
    return truth, detections


def exchanged(columns: Columns) -> Columns:
    """Detections of south in west, and of west in south."""
    names = {"south": "west", "west": "south"}
    return columns | {"sequence": np.array([names.get(n, n) for n in columns["sequence"]])}


def warnings_of(detections: Columns, truth: Columns = TRUTH) -> list[ReportWarning]:
    return [*score("map", truth, detections).warnings]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda side: scaled(side, 1 / 3, 1 / 3), "reads_at_another_scale"),
        (as_sizes, "reads_as_sizes"),
    ],
)
def test_another_format_in_one_sequence_names_the_sequence(
    change: Callable[[Columns], Columns], code: str
) -> None:
    found = {warning.code: warning for warning in warnings_of(in_south(change))}
    assert code in found
    assert "in south alone: other sequences fit as they are" in found[code].message
    example = found[code].example
    assert example is not None
    assert example.sequence.sequence == "south"


def test_exchanged_detections_of_two_sequences_are_named() -> None:
    truth, detections = of_six()
    assert warnings_of(detections, truth) == []
    [warning] = warnings_of(exchanged(detections), truth)
    assert warning.code == "nothing_overlaps"
    assert "in south, west alone: other sequences fit as they are" in warning.message


def test_one_sequence_of_fast_objects_that_is_a_frame_late_is_named() -> None:
    truth, detections = traffic(frames=60, speed_px=30.0, vehicles=12, seed=3)
    found = warnings_of(in_south(lambda side: moved(side, 1), detections), truth)
    assert "in south alone" in "".join(one.message for one in found)


def unsure(side: Columns) -> Columns:
    """Nothing is found: false positives have the same confidences as elsewhere."""
    random = np.random.default_rng(1)
    count = len(side["frame"])
    corners = random.uniform((0, 0), (1700, 900), (count, 2))
    sizes = random.uniform(30, 150, (count, 2))
    boxes = np.hstack([corners, corners + sizes]).T
    names = ("x1", "y1", "x2", "y2")
    return (
        side | dict(zip(names, boxes, strict=True)) | {"confidence": random.uniform(0, 0.6, count)}
    )


def inexact(side: Columns) -> Columns:
    """Boxes are off by half of their size."""
    away = np.random.default_rng(2).normal(0, 25, (2, len(side["frame"])))
    places = zip(("x1", "y1", "x2", "y2"), (*away, *away), strict=True)
    return side | {name: side[name] + steps for name, steps in places}


def one_parked_car() -> tuple[Columns, Columns]:
    """In one video the only car is missed, and a sign is confidently taken for one."""
    south = TRUTH["sequence"] == "south"
    car = rows_where(TRUTH, south & (TRUTH["track_id"] == 0))
    still = {"x1": 800.0, "y1": 400.0, "x2": 900.0, "y2": 500.0}
    car |= {name: np.full(len(car["frame"]), value) for name, value in still.items()}
    sign = car | {"x1": car["x1"] - 500, "x2": car["x2"] - 500, "confidence": 0.9 + car["x1"] * 0}
    others = rows_where(DETECTIONS, DETECTIONS["sequence"] != "south")
    sign = {name: sign[name] for name in others}
    return joined(rows_where(TRUTH, ~south), car), joined(others, sign)


HONEST: dict[str, Callable[[], tuple[Columns, Columns]]] = {
    "a good detector": lambda: (TRUTH, DETECTIONS),
    "nothing is found in a video, and a few things are made up": lambda: (TRUTH, in_south(unsure)),
    "one car is missed in a video, and a sign taken for one": one_parked_car,
    "the same, and nothing is made up": lambda: (
        TRUTH,
        in_south(lambda side: rows_where(side, slice(0, 0))),
    ),
    "the same without confidences": lambda: (TRUTH, without(in_south(unsure), "confidence")),
    "a video in which hardly anything is found": lambda: (
        TRUTH,
        in_south(lambda side: joined(rows_where(side, slice(None, None, 20)), unsure(side))),
    ),
    "a video in which boxes are inexact": lambda: (TRUTH, in_south(inexact)),
}


@pytest.mark.parametrize("name", HONEST)
def test_a_difficult_video_gives_no_warning(name: str) -> None:
    truth, detections = HONEST[name]()
    found = [warning.code for warning in warnings_of(detections, truth)]
    assert [code for code in found if code != "equal_confidences"] == []
