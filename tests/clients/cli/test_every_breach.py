"""A file that breaks rules is refused with every violation, whichever part finds it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.clients.cli.helpers import run

from vidscore_evaluators import score
from vidscore_evaluators.errors import InputError

LAWFUL = [
    {"sequence_id": 1, "frame": frame, "num_objects": 1, "object_coords": [[10.0, 10.0]]}
    for frame in range(1, 6)
]
CROWD = {"num_objects": 31, "object_coords": [[9.0, 9.0]] * 31}
OUTSIDE = {"object_coords": [[640.0, 10.0]]}
BY = ("--evaluator", "spotgeo")


@pytest.fixture
def truth(tmp_path: Path) -> Path:
    return written(tmp_path / "truth.json", LAWFUL)


def written(path: Path, entries: list[Any]) -> Path:
    path.write_text(json.dumps(entries))
    return path


def changed(*changes: dict[str, Any]) -> list[Any]:
    """Entries of which the first ones each break a rule."""
    return [entry | change for entry, change in zip(LAWFUL, changes, strict=False)]


def refused(truth: Path, entries: list[Any]) -> list[str]:
    """The faults of detections, entry by entry."""
    detections = written(truth.parent / "detections.json", entries)
    with pytest.raises(InputError) as caught:
        score("spotgeo", str(truth), str(detections))
    told = run("score", "spotgeo", "--truth", str(truth), "--detections", str(detections))
    assert told.exit_code == 1
    faults = caught.value.faults
    assert all(str(fault) in told.stderr for fault in faults)
    return [f"{fault.entry} {fault.description}" for fault in faults]


def test_unreadable_rows_do_not_hide_violations_of_the_challenges_rules(truth: Path) -> None:
    entries = [*changed({"num_objects": 2}, CROWD, OUTSIDE), *LAWFUL[3:]]
    found = [
        "0 found 2, expected 1, the number of coordinates",
        "2 found x = 640.0 in frame 3 of sequence 1, expected x from -0.5 to 639.5",
        "1 found 31 detections in frame 2 of sequence 1, expected at most 30",
    ]
    assert refused(truth, entries) == found
    checked = run("validate", str(truth.parent / "detections.json"), "--side", "detections", *BY)
    assert checked.exit_code == 1
    assert "3 faults" in checked.stdout
    assert all(line.partition(" ")[2] in checked.stdout for line in found)


def test_missing_frames_do_not_hide_violations_of_the_challenges_rules(truth: Path) -> None:
    missing = "no entry for frame 5 of sequence 1, expected one entry for each frame of the truth"
    assert refused(truth, [*changed(CROWD, OUTSIDE), *LAWFUL[2:4]]) == [
        f"None found {missing}",
        "1 found x = 640.0 in frame 2 of sequence 1, expected x from -0.5 to 639.5",
        "0 found 31 detections in frame 1 of sequence 1, expected at most 30",
    ]


def test_detections_from_a_pipe_are_read_only_once(truth: Path) -> None:
    entries = json.dumps([*changed({"num_objects": 2}, CROWD), *LAWFUL[2:]])
    told = run("score", "spotgeo", "--truth", str(truth), "--detections", "-", input_=entries)
    assert told.exit_code == 1
    assert "the number of coordinates" in told.stderr
