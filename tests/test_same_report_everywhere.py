"""The same truth and detections give the same report through every interface."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from tests.clients.cli.helpers import run_binary

from vidscore_cli.demo.network import ServerProcess
from vidscore_cli.remote import geometry_of, to_frames
from vidscore_client import Frames, aio, connect
from vidscore_evaluators import Annotations, Side, read, score
from vidscore_evaluators.report import Report, report_to_json

COLUMNS = (
    "Frame,BoundingBox_X1,BoundingBox_Y1,BoundingBox_X2,BoundingBox_Y2,BoundingBox_X3,"
    "BoundingBox_Y3,BoundingBox_X4,BoundingBox_Y4,ObjectType,Occlusion,Ambiguous,Confidence,"
    "SiteInfo,Version"
)


@dataclass(frozen=True)
class Case:
    """Files of both sides, and the evaluator."""

    evaluator: str
    truth: Path
    detections: Path

    def annotations(self) -> tuple[Annotations, Annotations]:
        """Both sides as annotations."""
        return read(self.truth, side=Side.TRUTH), read(self.detections, side=Side.DETECTIONS)

    def report(self, workers: int = 1) -> Report:
        """The library's report on the files."""
        report = score(self.evaluator, self.truth, self.detections, workers=workers)
        assert isinstance(report, Report)
        return report


def write_points(path: Path, seed: int) -> Path:
    """Write forty sequences of points."""
    random = np.random.default_rng(seed)
    entries = []
    for sequence in range(1, 41):
        for frame in range(1, 6):
            points = random.uniform(0, 60, (random.integers(0, 7), 2)).tolist()
            entries.append(
                {
                    "sequence_id": sequence,
                    "frame": frame,
                    "num_objects": len(points),
                    "object_coords": points,
                }
            )
    path.write_text(json.dumps(entries))
    return path


def write_boxes(root: Path, seed: int, *, truth: bool) -> Path:
    """Write two domains of three sequences; the truth has every kind of don't-care row."""
    random = np.random.default_rng(seed)
    kinds = ["Car", "Bus", "Person", "car", "Tree"] + (["Ambiguous", "DCR"] if truth else [])
    for domain in ("Tower", "Helicopter"):
        (root / domain).mkdir(parents=True)
        for sequence in ("001", "002", "003"):
            rows = [COLUMNS]
            for frame in range(12):
                if truth:
                    rows.append(f"{frame},,,,,,,,,{'DCF' if frame == 9 else ''},,,1.0,,1.0")
                for _ in range(random.integers(0, 8)):
                    x, y = random.uniform(0, 50, 2).round(2).tolist()
                    width, height = random.uniform(5, 20, 2).round(2).tolist()
                    kind = kinds[random.integers(len(kinds))]
                    confidence = 1.0 if truth else random.integers(0, 21) / 20
                    corners = f"{x},{y},{x + width},{y},{x + width},{y + height},{x},{y + height}"
                    rows.append(f"{frame},{corners},{kind},FALSE,FALSE,{confidence},,1.0")
            (root / domain / f"{sequence}.csv").write_text("\n".join(rows) + "\n")
    return root


def write_timed(path: Path, points: Path) -> Path:
    """Write points as generic CSV, most frames with a time."""
    rows = ["sequence,frame,time_s,x,y"]
    for row, entry in enumerate(json.loads(points.read_text())):
        time_s = "" if row % 4 == 3 else 1732270000.1 + row / 30
        place = f"{entry['sequence_id']},{entry['frame']},{time_s}"
        rows += [f"{place},{x},{y}" for x, y in entry["object_coords"]] or [f"{place},,"]
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.fixture(scope="module", params=["spotgeo", "neovision2", "times"])
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Case:
    """Files of one protocol."""
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "spotgeo":
        truth, detections = folder / "truth.json", folder / "detections.json"
        return Case("spotgeo", write_points(truth, 1), write_points(detections, 2))
    if request.param == "times":
        truth, detections = (write_points(folder / f"{seed}.json", seed) for seed in (1, 2))
        timed = [write_timed(path.with_suffix(".csv"), path) for path in (truth, detections)]
        return Case("spotgeo", *timed)
    truth, detections = folder / "truth", folder / "detections"
    return Case(
        "neovision2", write_boxes(truth, 3, truth=True), write_boxes(detections, 4, truth=False)
    )


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Address of a real server in its own process."""
    with ServerProcess("--workers", "2") as server:
        yield server.address


def parts(side: Annotations, size: int) -> Iterator[Frames]:
    """The frames of a side in a shuffled order, `size` at a time."""
    frames = np.random.default_rng(5).permutation(side.frame_count)
    for start in range(0, len(frames), size):
        yield to_frames(side.take_frames(frames[start : start + size]))


def test_the_scores_are_neither_perfect_nor_zero(case: Case) -> None:
    """Neither side is empty, and the detector is neither perfect nor blind."""
    values = {row.measure: row.value for row in case.report().rows() if row[:3] == (None,) * 3}
    main = values["f1" if case.evaluator == "spotgeo" else "weighted_mean_nmotda"]
    assert main is not None
    assert -5 < main < 0.9


@pytest.mark.slow
def test_two_processes_give_the_report_of_one(case: Case) -> None:
    """The division of the work does not show."""
    assert report_to_json(case.report(workers=2)) == report_to_json(case.report())


@pytest.mark.slow
def test_the_command_line_gives_the_report_of_the_library(case: Case) -> None:
    """The printed JSON is that of the report."""
    ran = run_binary(
        *("score", case.evaluator, "--format", "json"),
        *("--truth", str(case.truth), "--detections", str(case.detections)),
    )
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout) == json.loads(report_to_json(case.report()))


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_a_stream_gives_the_report_of_the_library(case: Case, address: str, size: int) -> None:
    """Sent frame by frame, in odd batches or at once, the final report is that of the files."""
    truth, detections = case.annotations()
    with (
        connect(address, timeout_s=60.0) as client,
        client.score_stream(
            [case.evaluator],
            truth_geometry=geometry_of(truth),
            detection_geometry=geometry_of(detections),
        ) as stream,
    ):
        for frames in parts(detections, size):
            stream.send_batch("detections", frames)
        for frames in parts(truth, size):
            stream.send_batch("truth", frames)
        [report] = stream.finish()
    assert report.to_json() == report_to_json(case.report())


@pytest.mark.slow
def test_the_asyncio_client_gives_the_report_of_the_library(case: Case, address: str) -> None:
    """A stream of tasks ends with the same report."""

    async def remote() -> str:
        truth, detections = case.annotations()
        async with aio.connect(address, timeout_s=60.0) as client:
            [report] = await client.score(
                [case.evaluator],
                parts(truth, 13),
                parts(detections, 11),
                truth_geometry=geometry_of(truth),
                detection_geometry=geometry_of(detections),
            )
        return report.to_json()

    assert asyncio.run(remote()) == report_to_json(case.report())
