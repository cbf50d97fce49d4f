"""The command line shows whether a live submission is certified, and its latencies."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest
from tests.clients.cli.helpers import Call, well
from tests.server.domain.live_scene import LIVE_TOML

from vidscore_cli.hosted import clock_text, online_text
from vidscore_client import LiveFrame, OnlineRecord, connect

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
