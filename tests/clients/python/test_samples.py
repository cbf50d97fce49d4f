"""The samples do what they demonstrate, with a real server."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.crash.servers import KilledServer
from tests.support.tree import ROOT

from vidscore_client import Client, Frames, Geometry, Role, connect

SAMPLES = ROOT / "clients/python/samples"
FRAME_COUNT = 40
TIMEOUT_S = 120.0
BOX: Geometry = "box"

TRUTH = """domain,sequence,frame,class,x1,y1,x2,y2,track_id,flags
Tower,street,0,car,10,10,50,40,1,
Tower,street,0,person,80,10,95,50,2,ignore
Tower,street,1,,,,,,,
Tower,street,2,car,0,0,9,9,,dont_care_frame
"""
DETECTIONS = """sequence,domain,frame,class,x1,y1,x2,y2,confidence
street,Tower,0,car,12,11,50,42,0.9
street,Tower,1,car,300,10,340,40,0.4
"""


def host(organiser: Client) -> None:
    """A benchmark whose truth equals the detections of the sample."""
    definition = {"evaluators": [{"name": "f1"}], "truth_geometry": BOX, "detection_geometry": BOX}
    organiser.benchmarks.create("streets", definition)
    numbers = np.arange(FRAME_COUNT)
    boxes = np.array([10, 20, 50, 100]) + numbers[:, np.newaxis] * np.array([1, 0, 1, 0])
    truth = Frames(
        sequences=[("", "street")],
        frame_sequences=np.zeros(FRAME_COUNT, dtype=np.int64),
        frame_numbers=numbers,
        frame_starts=np.arange(FRAME_COUNT + 1),
        coordinates=boxes.astype(np.float64),
        labels=["Car"],
    )
    organiser.benchmarks.upload_truth("streets", [truth])


def sample(name: str, *arguments: str, token: str = "") -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(SAMPLES / name), *arguments],
        env={**os.environ, "VIDSCORE_TOKEN": token},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
def test_score_file_prints_the_scores_of_two_files(tmp_path: Path) -> None:
    files = {"truth.csv": TRUTH, "detections.csv": DETECTIONS}
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    server = KilledServer(tmp_path)
    try:
        server.start()
        paths = [str(tmp_path / name) for name in files]
        scoring = sample("score_file.py", server.address, "f1", *paths)
        table, said = scoring.communicate(timeout=TIMEOUT_S)
    finally:
        server.kill()
    assert scoring.returncode == 0, said
    rows = [line.split() for line in table.splitlines()]
    assert ["-", "-", "recall", "1.0"] in rows
    assert ["-", "-", "precision", "0.5"] in rows


@pytest.mark.nightly
def test_live_stream_continues_after_a_server_is_killed(tmp_path: Path) -> None:
    server = KilledServer(tmp_path)
    try:
        server.start()
        with connect(server.address, token=server.secret) as organiser:
            host(organiser)
            token = organiser.tokens.create(Role.PARTICIPANT, team="red").secret
        streaming = sample(
            "live_stream.py", server.address, "streets", "run", str(FRAME_COUNT), token=token
        )
        assert streaming.stdout is not None
        assert "frames are durable" in streaming.stdout.readline()  # It is in mid-stream.
        server.kill()
        server.start()
        table, said = streaming.communicate(timeout=TIMEOUT_S)
    finally:
        server.kill()
    assert streaming.returncode == 0, said
    assert "the submission is scored" in table
    assert ["-", "-", "f1", "1.0"] in [line.split() for line in table.splitlines()]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["score_file.py", "live_stream.py"])
def test_a_sample_prints_its_usage(name: str) -> None:
    asking = sample(name)
    _, said = asking.communicate(timeout=TIMEOUT_S)
    assert asking.returncode == 2
    assert said.startswith("usage: ")
