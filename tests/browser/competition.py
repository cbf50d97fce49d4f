"""A small competition on a real server with its site: teams, boards of every kind, planted truth.

The ground truth has numbers that occur nowhere else, so tests can search for them in everything
that a browser receives.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vidscore_client import Client, connect
from vidscore_client.frames import Frames

SEQUENCES = ("north", "south", "east")
FRAMES = 4

# Digits chosen by hand; detections are displaced by a few pixels.
PLANTED = (137.92846, 248.71935, 319.48267, 426.15983)
"""Coordinates of the truth."""

BENCHMARKS: Mapping[str, Mapping[str, object]] = {
    "streets": {"visibility": "ladder"},
    "finals": {"visibility": "final"},
    "open": {"visibility": "live", "outcomes": "own", "public_board_web": True},
    "waiting": {"visibility": "final"},
}
"""Policy by benchmark; the truth of the last one is not complete."""


def frames_of(box: tuple[float, ...], *, shift: float = 0.0, skipped: int = 0) -> Frames:
    """A box in every frame of every sequence.

    Args:
        box: The box.
        shift: Pixels that it moves.
        skipped: Frames at the end of each sequence that have none.
    """
    numbers = np.tile(np.arange(FRAMES), len(SEQUENCES))
    has_box = numbers < FRAMES - skipped
    return Frames(
        sequences=[("", name) for name in SEQUENCES],
        frame_sequences=np.repeat(np.arange(len(SEQUENCES)), FRAMES),
        frame_numbers=numbers,
        frame_starts=np.concatenate([[0], np.cumsum(has_box)]),
        coordinates=np.tile(np.array(box) + shift, (int(has_box.sum()), 1)),
        labels=["Car"],
        confidences=None if shift == 0.0 else np.full(int(has_box.sum()), 0.75),
    )


@dataclass(frozen=True)
class Competition:
    """The server and its users.

    Attributes:
        grpc: Address of the gRPC server.
        site: Address of the site.
        tokens: Secret by name: organiser, red, blue, viewer.
        folder: Holds its files.
    """

    grpc: str
    site: str
    tokens: dict[str, str]
    folder: Path

    def client(self, name: str) -> Client:
        """A client with somebody's token."""
        return connect(self.grpc, token=self.tokens[name])

    def host(self, name: str, *, complete: bool = True, **policy: object) -> None:
        """Create a benchmark with its truth."""
        definition = {
            "evaluators": [{"name": "f1"}],
            "sequences": [{"name": one} for one in SEQUENCES],
            "truth_geometry": "box",
            "detection_geometry": "box",
            "policy": policy,
        }
        with self.client("organiser") as client:
            client.benchmarks.create(name, definition)
            client.benchmarks.upload_truth(name, [frames_of(PLANTED)], complete=complete)

    def submit(self, team: str, benchmark: str, name: str, *, skipped: int = 0) -> None:
        """Submit a complete submission; it is scored if the truth is complete."""
        with self.client(team) as client, client.submit(benchmark, name, title=name) as stream:
            stream.send_batch(frames_of(PLANTED, shift=1.5, skipped=skipped))
            stream.seal()
            if benchmark != "waiting":
                client.submissions.wait(stream.submission, timeout_s=300)


@contextmanager
def competition(folder: Path) -> Iterator[Competition]:
    """Start a server and let the teams submit."""
    store = folder / "site.db"
    program = [sys.executable, "-m", "vidscore_cli"]
    made = subprocess.run(
        [*program, "init", "--store", str(store)], check=True, capture_output=True, text=True
    )
    organiser = made.stdout.split()[-1]
    command = [*program, "serve", "--store", str(store), "--listen", "127.0.0.1:0"]
    command += ["--web", "127.0.0.1:0", "--workers", "1", "--upkeep-interval-ms", "20"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            assert process.stdout is not None
            grpc = process.stdout.readline().split()[3]
            site = process.stdout.readline().split()[-1]
            tokens = {"organiser": organiser}
            with connect(grpc, token=organiser) as client:
                for team in ("red", "blue"):
                    tokens[team] = client.tokens.create("participant", team=team).secret
                tokens["viewer"] = client.tokens.create("viewer").secret
            found = Competition(grpc, site, tokens, folder)
            _compete(found)
            yield found
        finally:
            process.terminate()


def _compete(made: Competition) -> None:
    for benchmark, policy in BENCHMARKS.items():
        made.host(benchmark, complete=benchmark != "waiting", **policy)
        made.submit("red", benchmark, "first", skipped=1)
        made.submit("blue", benchmark, "try", skipped=2)
    with made.client("red") as client:
        client.submissions.create("streets", "draft", title="not sent yet")
