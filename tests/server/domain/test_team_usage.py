"""The storage of a team is bounded, and what it gives up is freed."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from tests.server.domain.hosted import TRUTH, Hosted, dots, hosting, refusal
from tests.server.scene import points

from vidscore_protos.v1 import annotations_pb2, benchmark_pb2
from vidscore_protos.v1 import submission_service_pb2 as pb
from vidscore_server.domain import expirer


def noise(number: int, frames: int = 100, objects: int = 30) -> annotations_pb2.AnnotationBatch:
    """Random frames of points, of 16 bytes each; compression can save a tenth."""
    chosen = (400.0 * np.random.default_rng(number).random((frames, objects, 2))).tolist()
    first = number * frames
    return points({first + row: [(x, y) for x, y in found] for row, found in enumerate(chosen)})


def any_dots() -> benchmark_pb2.Benchmark:
    """A benchmark whose evaluator accepts any number of objects and frames."""
    benchmark = dots()
    [evaluator] = benchmark.specification.evaluators
    evaluator.name = "ospa"
    evaluator.parameters.add(name="base", text="euclidean")
    return benchmark


async def host(hosted: Hosted) -> None:
    await hosted.organiser.create(any_dots())


async def fill(hosted: Hosted, name: str, batches: range) -> None:
    stream = await hosted.red.submission(name)
    for offset, number in enumerate(batches):
        await hosted.red.append(stream, 100 * offset, noise(number))


def rows(folder: Path) -> dict[str, int]:
    with closing(sqlite3.connect(folder / "store.db")) as connection:
        return {
            table: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            for table in ("detection_batches", "frames", "sequences", "streams", "submissions")
        }


async def left(hosted: Hosted) -> dict[str, int]:
    return {quota.name: quota.left for quota in (await hosted.red.benchmark()).quotas}


async def test_a_cancelled_submission_frees_its_frames_and_keeps_its_record(
    hosted: Hosted, tmp_path: Path
) -> None:
    await hosted.organiser.create_benchmark()
    await hosted.red.begin(points({1: [(1.0, 2.0)], 2: []}), "kept")
    await hosted.red.begin(points({1: [(1.0, 2.0)], 2: [], 3: []}), "given-up")
    before = await hosted.red.cancel("given-up")
    await hosted.expire()
    assert rows(tmp_path) == {
        "detection_batches": 1, "frames": 2, "sequences": 1, "streams": 2, "submissions": 2,
    }  # fmt: skip
    after = await hosted.red.get("given-up")
    assert after.history[0].reason == "cancelled_by_team"
    after.ClearField("history")  # Counts calls of GetSubmission alone.
    assert (after.state_reason, after.frame_count) == ("cancelled_by_team", 3)
    assert after == before
    late = await refusal(hosted.red.append(f"{after.name}/streams/default", 3, points({4: []})))
    assert late.reason == "SUBMISSION_ENDED"
    taken = await refusal(hosted.red.submission("given-up"))
    assert taken.reason == "NAME_TAKEN"


async def test_frames_are_freed_in_steps_that_let_others_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two of 5 batches at a time, or 64 times as many frames."""
    monkeypatch.setattr(expirer, "FREED_BATCHES", 2)
    monkeypatch.setattr(expirer, "FREEING_STEPS", 1)
    async with hosting(tmp_path, upkeep_interval_ms=60_000) as hosted:
        await host(hosted)
        await fill(hosted, "one", range(1, 6))
        await hosted.red.cancel("one")
        counted = []
        for _ in range(5):
            await hosted.expire()
            found = rows(tmp_path)
            counted.append((found["detection_batches"], found["frames"], found["sequences"]))
        assert counted == [(3, 500, 1), (1, 500, 1), (0, 436, 1), (0, 308, 1), (0, 180, 1)]


async def test_a_submission_that_was_not_cancelled_keeps_its_frames(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark()
    await hosted.organiser.upload(TRUTH)
    await hosted.red.submit(TRUTH)
    assert (await hosted.red.ended()).submission.state_reason == "scored"
    await hosted.expire()
    with hosted.hosting.context.store.read() as reader:
        assert len(list(reader.detection_payloads("dots", "one"))) == 1


async def test_the_number_of_open_submissions_of_a_team_is_limited_with_advice(
    tmp_path: Path,
) -> None:
    async with hosting(tmp_path, maximum_team_open_submissions=2) as hosted:
        await hosted.organiser.create_benchmark()
        await hosted.red.submission("draft")
        await hosted.red.begin(points({1: []}), "begun")
        assert (await left(hosted))["maximum_team_open_submissions"] == 0
        refused = await refusal(hosted.red.submission("more"))
        assert refused.reason == "QUOTA_EXCEEDED"
        assert refused.metadata["quota"] == "maximum_team_open_submissions"
        assert "has 2 open submissions to benchmarks/dots, including drafts" in refused.message
        assert "seal or cancel one" in refused.message
        await hosted.blue.submission("theirs")
        await hosted.red.seal("begun")
        await hosted.red.submission("more")


@pytest.mark.slow
async def test_the_stored_mebibytes_of_a_team_are_limited_until_some_submissions_are_cancelled(
    tmp_path: Path,
) -> None:
    """A batch takes from 43,200 to 50,000 bytes: 30 start the second mebibyte, and no third."""
    async with hosting(tmp_path, maximum_team_mebibytes=2) as hosted:
        await host(hosted)
        await fill(hosted, "one", range(1, 31))
        assert (await left(hosted))["maximum_team_mebibytes"] == 0
        stream = await hosted.red.submission("two")
        refused = await refusal(_append_until_refused(hosted, stream))
        assert refused.reason == "QUOTA_EXCEEDED"
        assert "would hold 3 MiB of 2 MiB that they may hold: cancel one" in refused.message
        await hosted.blue.begin(noise(1), "theirs")
        await hosted.red.cancel("one")
        await hosted.expire()
        assert (await left(hosted))["maximum_team_mebibytes"] == 1
        await hosted.red.begin(noise(1), "three")


async def _append_until_refused(hosted: Hosted, stream: str) -> None:
    for number in range(30):
        await hosted.red.append(stream, 100 * number, noise(100 + number))


async def test_frames_of_a_refused_append_are_not_stored(tmp_path: Path) -> None:
    async with hosting(tmp_path, maximum_team_mebibytes=1) as hosted:
        await host(hosted)
        stream = await hosted.red.submission()
        refused = await refusal(hosted.red.append(stream, 0, noise(1, 3_000)))
        assert refused.reason == "QUOTA_EXCEEDED"
        assert (await hosted.red.get()).state == pb.SUBMISSION_STATE_OPEN
