"""The output of commands about a hosted benchmark and its submissions, by role."""

from __future__ import annotations

import csv
import io
import json
import stat
from dataclasses import asdict
from pathlib import Path

import pytest
from tests.clients.cli.helpers import Call, run, well
from tests.server.domain.live_scene import LIVE_TOML

from vidscore_cli.hosted import clock_text, online_text
from vidscore_cli.session import ExitCode
from vidscore_client import LiveFrame, OnlineRecord, connect

# --- The output about a hosted benchmark, by role


def test_downloaded_truth_is_readable_only_by_its_organiser(
    hosted: str, organiser: Call, tmp_path: Path
) -> None:
    """Like a backup, even if it replaces a file that others could read."""
    (tmp_path / "read.csv").touch(0o644)
    well(organiser("benchmark", "read-truth", hosted, str(tmp_path / "read.csv")))
    assert stat.S_IMODE((tmp_path / "read.csv").stat().st_mode) == 0o600


def test_a_score_that_the_ladder_withholds_is_not_mixed_up_with_the_shown_one(
    folder: Path, organiser: Call, falcon: Call
) -> None:
    """One detection less is right; the score of the first submission is shown."""
    (folder / "ladder.toml").write_text('title = "Steps"\n\n[[evaluators]]\nname = "spotgeo"\n')
    well(organiser("benchmark", "create", "steps", "ladder.toml"))
    well(organiser("benchmark", "truth", "steps", "--truth", "truth.json"))
    worse = (folder / "detections.json").read_text().replace("204", "400")
    (folder / "worse.json").write_text(worse)
    first = falcon("submit", "steps", "--detections", "detections.json", "--name", "first")
    second = falcon("submit", "steps", "--detections", "worse.json", "--name", "second")
    assert well(second) == well(first)
    assert "not better by a step" not in first.stderr
    assert "steps/first stands for its team, at rank 1; its own score is not" in second.stderr
    (folder / "perfect.json").write_text((folder / "truth.json").read_text())
    third = falcon("submit", "steps", "--detections", "perfect.json", "--name", "third")
    assert "steps/third has rank 1" in third.stderr
    again = falcon("submit", "steps", "--detections", "detections.json", "--name", "first")
    assert well(again) == well(first)  # Its own, although a later one ranks.
    assert "steps/third stands for its team" in again.stderr
    assert "not better by a step" not in again.stderr


def test_a_participant_does_not_see_the_number_of_a_revision_it_may_not_know(
    hosted: str, organiser: Call, falcon: Call
) -> None:
    """Revision 0 beside a board under revision 1 would be wrong."""
    for call, shown in ((organiser, "1"), (falcon, "")):
        table = well(call("benchmark", "show", hosted))
        [line] = [line for line in table.splitlines() if line.startswith("truth_revision")]
        assert line.removeprefix("truth_revision").strip() == shown
        listed = well(call("benchmark", "list", "--format", "csv"))
        [row] = [row for row in listed.splitlines() if row.startswith(f"{hosted},")]
        assert row.rpartition(",")[2] == shown


# --- Outcomes of hosted submissions on the command line, against a real server


def test_outcomes_of_a_submission_equal_those_of_the_files(
    hosted: str, folder: Path, organiser: Call, falcon: Call
) -> None:
    """Everything that organisers see, exactly as `vidscore outcomes` prints it."""
    sent = ("submit", hosted, "--detections", "detections.json", "--name", f"{hosted}-one")
    well(falcon(*sent))
    name = f"{hosted}/{hosted}-one"
    files = ("--truth", "truth.json", "--detections", "detections.json")
    expected = well(run("outcomes", "spotgeo", *files))
    assert expected.count("true_positive") == 4  # Two objects and their detections.
    assert well(organiser("submission", "outcomes", name)) == expected
    (folder / "found.json").touch(0o644)
    well(organiser("submission", "outcomes", name, "--output", "found.json"))
    well(run("outcomes", "spotgeo", *files, "--output", "expected.json"))
    assert (folder / "found.json").read_bytes() == (folder / "expected.json").read_bytes()
    assert stat.S_IMODE((folder / "found.json").stat().st_mode) == 0o600  # It has the objects.
    refused = falcon("submission", "outcomes", name)
    assert refused.exit_code == ExitCode.INPUT
    assert "shows participants no outcomes" in refused.stderr
    refused = organiser("submission", "outcomes", name, "--output", "found.txt")
    assert (refused.exit_code, (folder / "found.txt").exists()) == (ExitCode.USAGE, False)


def test_a_team_sees_whether_its_own_detections_are_right_if_the_policy_allows_it(
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


CERTIFIED = OnlineRecord(
    certified=True,
    message="",
    frames="held by the participant",
    frame_count=5,
    in_time_count=5,
    late_count=0,
    missing_count=0,
    passed_count=0,
    outside_count=0,
    latency_50_s=0.0304,
    latency_90_s=0.05,
    latency_99_s=0.05,
    latency_worst_s=0.05,
    delay_worst_s=0.001,
)


def test_a_certified_record_is_shown_with_its_latencies() -> None:
    assert online_text(CERTIFIED) == (
        "certified: 5 of 5 frames in time; latency 0.030 s (50 %), 0.050 s (90 %), "
        "0.050 s (99 %), 0.050 s (worst); frames: held by the participant"
    )


def test_a_record_that_is_not_certified_gives_the_reason() -> None:
    record = {
        **asdict(CERTIFIED),
        "certified": False,
        "message": "5 of 5 frames without an answer",
        **{name: None for name in asdict(CERTIFIED) if name.startswith("latency")},
    }
    assert online_text(OnlineRecord(**record)) == (
        "not certified: 5 of 5 frames without an answer; frames: held by the participant"
    )


def test_a_clock_is_described_in_words() -> None:
    assert clock_text({"frame_rate": 12.5}) == (
        "12.5 frames per second; frames: held by the participant"
    )
    live = {"frames": "sent by the organiser", "sequences": [{"name": "a"}, {"name": "b"}]}
    assert clock_text(live) == (
        "2 sequences with times of their own; frames: sent by the organiser"
    )


@pytest.mark.slow
def test_a_live_submission_is_shown_with_its_record(
    folder: Path, organiser: Call, site: tuple[str, str]
) -> None:
    (folder / "live.toml").write_text(LIVE_TOML)
    well(organiser("benchmark", "create", "live", "live.toml"))
    well(organiser("benchmark", "truth", "live", "--truth", "truth.json"))
    refused = organiser("submit", "live", "--detections", "detections.json")
    assert "or use vidscore live" in refused.stderr
    assert "Nothing was submitted" in refused.stderr
    assert "correct the file" not in refused.stderr
    shown = well(organiser("benchmark", "show", "live"))
    assert "10 frames per second; frames: held by the participant" in shown
    well(organiser("benchmark", "show", "live", "--format", "toml", "--output", "again.toml"))
    well(organiser("benchmark", "update", "live", "again.toml"))

    def on_frame(frame: LiveFrame) -> None:
        frame.answer([])

    with connect(site[0], token=site[1]) as client:
        client.answer_live("live", on_frame, "falcon")
        client.submissions.wait("live/falcon")
        [score] = client.submissions.scores("live/falcon")
    assert score.online is not None
    table = well(organiser("submission", "show", "live/falcon"))
    assert "online" in table
    document = json.loads(well(organiser("submission", "show", "live/falcon", "--format", "json")))
    assert document["online"] == asdict(score.online)
    said = organiser("submission", "scores", "live/falcon").stderr
    assert f"online: {online_text(score.online)}" in said
    streaming = json.loads(
        well(organiser("submission", "scores", "live/falcon", "--online", "--format", "json"))
    )
    assert streaming["warnings"][0]["code"] == "streaming_accuracy"
    both = organiser("submission", "scores", "live/falcon", "--online", "--private")
    assert both.exit_code == 2
