"""Outcomes of hosted submissions on the command line, against a real server."""

from __future__ import annotations

import csv
import io
import json
import stat
from pathlib import Path

from tests.clients.cli.helpers import Call, run, well

from vidscore_cli.session import ExitCode


def test_outcomes_of_a_submission_are_those_of_the_files(
    hosted: str, folder: Path, organiser: Call, falcon: Call
) -> None:
    """All that organisers see, exactly as `vidscore outcomes` has it."""
    sent = ("submit", hosted, "--detections", "detections.json", "--name", f"{hosted}-one")
    well(falcon(*sent))
    name = f"{hosted}/{hosted}-one"
    files = ("--truth", "truth.json", "--detections", "detections.json")
    expected = well(run("outcomes", "spotgeo", *files))
    assert expected.count("true_positive") == 4  # two objects and their detections
    assert well(organiser("submission", "outcomes", name)) == expected
    (folder / "found.json").touch(0o644)
    well(organiser("submission", "outcomes", name, "--output", "found.json"))
    well(run("outcomes", "spotgeo", *files, "--output", "expected.json"))
    assert (folder / "found.json").read_bytes() == (folder / "expected.json").read_bytes()
    assert stat.S_IMODE((folder / "found.json").stat().st_mode) == 0o600  # it has the objects
    refused = falcon("submission", "outcomes", name)
    assert refused.exit_code == ExitCode.INPUT
    assert "shows participants no outcomes" in refused.stderr
    refused = organiser("submission", "outcomes", name, "--output", "found.txt")
    assert (refused.exit_code, (folder / "found.txt").exists()) == (ExitCode.USAGE, False)


def test_a_team_sees_whether_its_own_detections_are_right_where_the_policy_says_so(
    hosted: str, folder: Path, organiser: Call, falcon: Call
) -> None:
    shown = (folder / "benchmark.toml").read_text() + 'outcomes = "own"\n'
    (folder / "shown.toml").write_text(shown)
    changed = organiser("benchmark", "update", hosted, "shown.toml")
    assert "locates objects" in changed.stderr
    policy = json.loads(well(falcon("benchmark", "show", hosted, "--format", "json")))
    assert policy["definition"]["policy"]["outcomes"] == "own"
    well(falcon("submit", hosted, "--detections", "detections.json", "--name", f"{hosted}-one"))
    found = well(falcon("submission", "outcomes", f"{hosted}/{hosted}-one"))
    rows = list(csv.DictReader(io.StringIO(found)))
    assert [(row["side"], row["frame"], row["row"], row["outcome"]) for row in rows] == [
        ("detections", "1", "0", "true_positive"),
        ("detections", "1", "1", "true_positive"),
        ("detections", "2", "0", "false_positive"),
    ]
    hidden = ("partner", "similarity", "distance_px")
    assert {row[name] for row in rows for name in hidden} == {""}
    left = well(falcon("benchmark", "show", hosted))
    assert "3 of 5 in all" in left
