"""What scenarios use, and the list of all scenarios."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from tests.conformance.cases import POINTS, STREETS, Case, Document
from tests.conformance.comparing import ascending, equal, hold
from tests.conformance.runners import Outcome, Runner
from tests.conformance.site import EncryptedSite, Site

from vidscore_client import Client, Frames, NotFoundError, Role, UnavailableError, connect

BENCHMARK = "streets"
BOARD = "board"
SCARCE = "scarce"
PROGRAMS = "programs"


@dataclass
class Reference:
    """The Python runner, whose results every language must get.

    Attributes:
        runner: The runner.
        folder: Folder of the files that all languages get.
        scores: Scores of `BENCHMARK` for all its detections; empty before the first submission.
    """

    runner: Runner
    folder: Path
    scores: list[Document] = field(default_factory=list)
    _kept: dict[str, Outcome] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self, command: str, **options: object) -> Outcome:
        """The result of the Python client; computed once, because no server changes it."""
        asked = {name: value for name, value in options.items() if name != "address"}
        key = json.dumps([command, asked], default=str, sort_keys=True)
        with self._lock:
            if key not in self._kept:
                self._kept[key] = self.runner.run(command, **options)
            return self._kept[key]

    def write_frames(self, name: str, document: Document) -> Path:
        """Write a file of frames, the same for all languages."""
        file = self.folder / f"{name}.json"
        with self._lock:  # Another language may be reading it.
            if not file.exists():
                file.write_text(json.dumps(document), encoding="utf-8")
        return file


@dataclass(frozen=True)
class Stage:
    """What a scenario uses.

    Attributes:
        runner: The runner of the tested language.
        reference: The Python runner.
        site: A real server; the languages use it one after the other.
        encrypted: Another real server, which only speaks TLS.
        name: Name for a submission of this language and scenario.
        keepalive: Options for the detection of silent connections; none for the SDK's defaults.
    """

    runner: Runner
    reference: Reference
    site: Site
    encrypted: EncryptedSite
    name: str
    keepalive: Mapping[str, float]

    @property
    def at_site(self) -> dict[str, Any]:
        """Options that lead to the server, as the team."""
        return {**self.anyone, "token": self.site.token}

    @property
    def anyone(self) -> dict[str, Any]:
        """Options that lead to the server, without a token, with a timeout for a busy machine."""
        return {"address": self.site.address, "timeout_s": 60}

    @property
    def submitting(self) -> dict[str, Any]:
        """Options of a submission of all frames, which a scenario may change."""
        return {
            **self.at_site,
            "benchmark": BENCHMARK,
            "submission": self.name,
            "frames": STREETS.frames_file,
            "wait_s": 120,
        }

    def team(self) -> Client:
        """A client of the same team; the caller closes it."""
        return connect(self.site.address, token=self.site.token, timeout_s=60.0)

    def frame_count(self) -> int:
        """Number of durable frames of this scenario's submission; 0 before it exists."""
        try:
            return self.site.organiser.submissions.get(f"{BENCHMARK}/{self.name}").frame_count
        except (NotFoundError, UnavailableError):
            return 0

    def check_scored(self, result: Document, opened_offset: int = 0) -> None:
        """Compare a submission of all frames with its expected result.

        Args:
            result: The output of `submit`.
            opened_offset: Minimum number of frames that were durable when it began.
        """
        frame_count = len(STREETS.document["detections"])
        full_name = f"benchmarks/{BENCHMARK}/submissions/{self.name}"
        equal(result["submission"], full_name, "submission")
        equal(result["state"], "scored", "state")
        equal(result["frame_count"], frame_count, "frame_count")
        equal(result["acknowledged_frames"], frame_count, "acknowledged_frames")
        hold(result["opened_offset"] >= opened_offset, f"began at {result['opened_offset']}")
        ascending(result["acknowledged"], "acknowledged offsets")
        equal(result["acknowledged"][-1:], [frame_count], "last acknowledged offset")
        equal(result["scores"], self.reference.scores, "scores")


Scenario = Callable[[Stage], None]

SCENARIOS: list[Scenario] = []

EXCLUSIVE: list[Scenario] = []
"""Scenarios during which no other is played, because they restart the shared server."""

NIGHTLY: list[Scenario] = []
"""Scenarios that are played only with --every."""


def scenario(function: Scenario) -> Scenario:
    """Add a scenario to the list under the name of its function."""
    SCENARIOS.append(function)
    return function


def exclusive(function: Scenario) -> Scenario:
    """Mark a scenario during which no other may be played."""
    EXCLUSIVE.append(function)
    return function


def nightly(function: Scenario) -> Scenario:
    """Mark a scenario that the gate has no time for."""
    NIGHTLY.append(function)
    return function


def name_of(function: Scenario) -> str:
    """Name of a scenario, which is part of its submission's name as well."""
    return function.__name__.replace("_", "-")


def _street() -> Frames:
    """A street of 300 frames without an object."""
    return Frames(
        sequences=[("Tower", "street")],
        frame_sequences=np.zeros(300, dtype=np.int64),
        frame_numbers=np.arange(300),
        frame_starts=np.zeros(301, dtype=np.int64),
        coordinates=np.empty((0, 4)),
    )


def prepare(site: Site, reference: Reference) -> None:
    """Host the benchmarks of the scenarios, and compute the reference scores."""
    site.host(BENCHMARK, STREETS)
    site.host(SCARCE, POINTS, submissions_in_all=1)
    site.host(BOARD, POINTS)
    site.organiser.benchmarks.create(
        PROGRAMS,
        {
            "evaluators": [{"name": "f1"}],
            "domains": [{"name": "Tower"}],
            "classes": ["Car"],
            "sequences": [{"name": "street", "domain": "Tower", "frame_count": 300}],
            "truth_geometry": "box",
            "detection_geometry": "box",
            "policy": {"visibility": "final"},
        },
    )
    site.organiser.benchmarks.upload_truth(PROGRAMS, [_street()])

    def submit(benchmark: str, case: Case, token: str, name: str = "reference") -> Document:
        return reference.runner.run(
            "submit",
            address=site.address,
            token=token,
            benchmark=benchmark,
            submission=name,
            frames=case.frames_file,
        ).result()

    reference.scores = submit(BENCHMARK, STREETS, site.token)["scores"]
    hold(reference.scores, "the reference submission has no scores that its team may see")
    submit(SCARCE, POINTS, site.token)
    for team in ("eagle", "kestrel"):  # Their scores are equal, so they share a rank.
        token = site.organiser.tokens.create(Role.PARTICIPANT, team=team).secret
        submit(BOARD, POINTS, token, f"of-{team}")
