"""Golden reports of the tracking criteria: scores that may change only with an evaluator's version.

`tests/golden/<evaluator>/<version>.json` holds truth, detections, and cases of parameters with the
scores, curves and warnings of their reports, which trackeval and plain loops confirm. A change of
scores needs a new version and a new file: tests/evaluators/test_goldens.py checks that.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from tests.evaluators.distances import track_oracle as oracle
from tests.evaluators.distances.track_oracle import Track
from tests.evaluators.presets.trackeval_tables import (
    ALL_METRICS,
    CLEAR,
    HOTA,
    IDENTITY,
    TOLERANCE,
)
from tests.evaluators.tracking.tracking_data import sequence_of, trackeval_data
from tests.support.goldens import golden_of, sealed_form

from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.testing import Case, Thing, make_annotations

NAMES = ("clear", "identity", "hota", "track-hausdorff", "track-emd", "track-ospa", "ospa2")


def read_side(entries: list[dict[str, Any]]) -> Annotations:
    """A frame is an entry; an object is its track, label, confidence, flags and box."""
    frames: defaultdict[tuple[str, str], dict[int, list[Thing]]] = defaultdict(dict)
    for entry in entries:
        frames[entry["domain"], entry["sequence"]][entry["frame"]] = [
            Thing(tuple(box), label, confidence, track, flags)
            for track, label, confidence, flags, *box in entry["objects"]
        ]
    return make_annotations(frames, arity=4)


def scene_of(golden: dict[str, Any]) -> Case:
    return Case(read_side(golden["truth"]), read_side(golden["detections"]))


@pytest.mark.parametrize("name", NAMES)
def test_the_scores_of_a_version_do_not_change(name: str) -> None:
    """The golden's data gives the golden's scores to the last bit."""
    golden = golden_of(name)
    for case in golden["cases"]:
        evaluator = create_evaluator(name, case["parameters"])
        report = evaluator.report(evaluator.tally(*scene_of(golden)))
        assert sealed_form(report, "scores", "curves", "warnings") == case["report"]


def golden_values(golden: dict[str, Any], case: int, sequence: str) -> dict[str, float | None]:
    rows = golden["cases"][case]["report"]["scores"]
    return {row["measure"]: row["value"] for row in rows if row["sequence"] == sequence}


def plain(golden: dict[str, Any], sequence: str) -> Case:
    """One sequence without its unscored rows, from which all detections are far."""
    scene = sequence_of(scene_of(golden), sequence)
    return Case(scene.truth.take_objects(scene.truth.flags == 0), scene.detections)


@pytest.mark.parametrize(
    ("name", "metric", "fields"),
    [
        ("clear", ALL_METRICS["CLEAR"], CLEAR),
        ("identity", ALL_METRICS["Identity"], IDENTITY),
        ("hota", ALL_METRICS["HOTA"], HOTA),
    ],
    ids=["clear", "identity", "hota"],
)
@pytest.mark.parametrize("sequence", ["1", "2", "3"])
def test_trackeval_confirms_the_golden(
    name: str, metric: Any, fields: dict[str, str], sequence: str
) -> None:
    golden = golden_of(name)
    expected = metric.eval_sequence(trackeval_data(plain(golden, sequence)))
    values = golden_values(golden, 0, sequence)
    for measure, field in fields.items():
        value = float(np.mean(expected[field]))
        assert values[measure] == pytest.approx(value, abs=TOLERANCE), measure


def tracks_of(side: Annotations) -> list[Track]:
    """Tracks of a side that has one sequence and one class."""
    found: defaultdict[int, Track] = defaultdict(dict)
    for row, frame in enumerate(side.object_frames.tolist()):
        number = int(side.frame_numbers[frame])
        found[int(side.track_ids[row])][number] = tuple(side.coordinates[row].tolist())
    return list(found.values())


@pytest.mark.parametrize("sequence", ["1", "2", "3"])
def test_plain_loops_confirm_the_golden(sequence: str) -> None:
    def value(name: str, case: int = 0) -> float | None:
        return golden_values(golden_of(name), case, sequence)[name.replace("-", "_")]

    first, second = map(tracks_of, plain(golden_of("track-ospa"), sequence))
    assert value("track-hausdorff") == pytest.approx(oracle.hausdorff(first, second), abs=1e-9)
    assert value("track-emd") == pytest.approx(oracle.emd(first, second, 1.0), abs=1e-9)
    assert value("track-ospa") == pytest.approx(oracle.ospa(first, second, 1.0, 1.0), abs=1e-9)
    assert golden_of("ospa2")["cases"][0]["parameters"] == {"window_frames": 4}
    windows = []
    for frame in range(8):
        seen, found = (oracle.within(side, frame - 3, frame) for side in (first, second))
        windows.append(oracle.ospa(seen, found, 1.0, 1.0))
    assert value("ospa2") == pytest.approx(sum(windows) / len(windows), abs=1e-9)
