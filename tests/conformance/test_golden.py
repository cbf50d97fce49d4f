"""The golden frames and reports that every client must reproduce."""

from __future__ import annotations

import json
import subprocess
from copy import deepcopy
from typing import Any

import pytest
from tests.conformance.cases import (
    BOXES,
    CASES,
    EMPTY,
    GOLDEN,
    MASKS,
    POINTS,
    TIMES,
    TRACKS,
    WARNINGS,
    Case,
    boxes,
    empty,
    masks,
    points,
    streets,
    times,
    tracks,
)
from tests.conformance.comparing import close
from tests.support.tree import ROOT

MADE_BY = dict(zip(CASES, (points, boxes, empty, tracks, streets, times, masks), strict=True))


def _value(
    case: Case,
    measure: str,
    evaluator: int = 0,
    domain: str | None = None,
    label: str | None = None,
) -> Any:
    """A score of a golden report."""
    [found] = [
        row["value"]
        for row in case.golden_reports()[evaluator]["scores"]
        if row["measure"] == measure
        and (row["domain"], row["label"], row["sequence"]) == (domain, label, None)
    ]
    return found


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_library_gives_the_golden_reports(case: Case) -> None:
    close(case.library_reports(), case.golden_reports(), case.name)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_frames_are_those_that_the_case_describes(case: Case) -> None:
    close(json.loads(json.dumps(MADE_BY[case]())), case.document, case.name)


def test_points_two_of_three_are_found_and_one_is_4_pixels_off() -> None:
    """SSE is 4 squared, and tau squared, 56.25, for the miss and for the false alarm."""
    assert _value(POINTS, "sse") == 16 + 2 * 56.25
    assert _value(POINTS, "mse") == 128.5 / 4
    assert _value(POINTS, "f1") == 2 * 2 / (2 * 2 + 1 + 1)


def test_boxes_of_three_objects_in_one_domain_all_are_found_beside_a_false_alarm() -> None:
    """NMOTDA of cars is 1 - 1/2, of persons 1; the person of the other domain is missed."""
    assert _value(BOXES, "nmotda", domain="Tower", label="Car") == 0.5
    assert _value(BOXES, "nmotda", domain="Tower", label="Person") == 1.0
    assert _value(BOXES, "mean_nmotda", domain="Tower") == 0.75
    assert _value(BOXES, "weighted_mean_nmotda") == (2 * 0.5 + 1 * 1 + 1 * 0) / 4
    assert _value(BOXES, "f1", 1, domain="Tower") == 2 * 3 / (2 * 3 + 1)
    assert _value(BOXES, "precision", 1, domain="Helicopter") is None


def test_empty_frames_have_counts_and_undefined_fractions() -> None:
    assert _value(EMPTY, "true_positives") == _value(EMPTY, "false_positives") == 0
    assert _value(EMPTY, "precision") is None
    assert _value(EMPTY, "recall") is None


def test_times_are_in_the_digests_of_both_sides_and_in_no_score() -> None:
    timeless = deepcopy(TIMES.document)
    for entry in (*timeless["truth"], *timeless["detections"]):
        entry.pop("time_s", None)
    plain = Case("timeless")
    plain.__dict__["document"] = timeless
    [timed], [untimed] = TIMES.golden_reports(), plain.library_reports()
    for digest in ("truth_digest", "detections_digest"):
        assert timed.pop(digest) != untimed.pop(digest)
    close(untimed, timed, "scores")


def test_tracks_of_eight_objects_seven_are_matched_one_under_another_identity() -> None:
    """A match of an ignored object is not a false positive, and the last frame is not evaluated."""
    counts = ("matches", "misses", "false_positives", "id_switches", "fragmentations")
    assert [_value(TRACKS, name) for name in counts] == [7, 1, 1, 1, 1]
    assert _value(TRACKS, "mota") == 1 - 3 / 8


def test_masks_of_four_objects_three_are_found_beside_two_false_alarms() -> None:
    """IoU is 8/12, 0, 20/24 and 1; by boxes, whose IoU is 1, the second would be found."""
    assert _value(MASKS, "f1") == 2 * 3 / (2 * 3 + 2 + 1)
    assert _value(MASKS, "precision") == 3 / 5
    assert _value(MASKS, "recall") == 3 / 4


def test_no_committed_golden_file_ever_changes() -> None:
    """A change of scores needs a new version of the evaluator, and a new file."""
    but = f":(exclude,glob)**/{WARNINGS}"
    changed = subprocess.run(
        ["git", "log", "--format=", "--name-status", "--diff-filter=MD", "--", GOLDEN, but],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert changed == ""
