"""A deleted benchmark is gone at once; its stored data is freed later, in parts."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.server.domain.hosted import BENCHMARK, TRUTH, Hosted, hosting, refusal
from tests.server.domain.live_scene import delete_benchmark
from tests.server.domain.test_team_usage import rows
from tests.server.scene import points

from vidscore_protos.v1 import benchmark_service_pb2, submission_service_pb2
from vidscore_server.domain import expirer

NOTHING = {"detection_batches": 0, "frames": 0, "sequences": 0, "streams": 0, "submissions": 0}
ONE = {"detection_batches": 1, "frames": 1, "sequences": 1, "streams": 1, "submissions": 1}


async def submissions(hosted: Hosted) -> list[str]:
    request = submission_service_pb2.ListSubmissionsRequest(benchmark=BENCHMARK)
    answer = await hosted.organiser.submissions.ListSubmissions(
        request, metadata=hosted.organiser.metadata
    )
    return [submission.name for submission in answer.submissions]


async def listed(hosted: Hosted) -> list[str]:
    answer = await hosted.organiser.benchmarks.ListBenchmarks(
        benchmark_service_pb2.ListBenchmarksRequest(), metadata=hosted.organiser.metadata
    )
    return [benchmark.name for benchmark in answer.benchmarks]


async def test_a_deleted_benchmark_is_gone_at_once_and_freed_after_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its name is free, and a new one has none of its data, although it is freed slowly."""
    monkeypatch.setattr(expirer, "FREED_BATCHES", 1)
    monkeypatch.setattr(expirer, "FREEING_STEPS", 3)
    async with hosting(tmp_path, upkeep_interval_ms=60_000) as hosted:
        await hosted.organiser.create_benchmark()
        await hosted.organiser.upload(TRUTH)
        for name in ("one", "two", "three"):
            await hosted.red.begin(points({1: [(1.0, 2.0)], 2: []}), name)
        await delete_benchmark(hosted)
        missing = await refusal(hosted.red.get("one"))
        assert missing.reason == "NOT_FOUND"
        assert await listed(hosted) == []
        await hosted.organiser.create_benchmark()
        assert await submissions(hosted) == []
        await hosted.red.begin(points({1: [(1.0, 2.0)]}), "one")
        await hosted.expire()
        assert rows(tmp_path)["submissions"] == 4
    async with hosting(tmp_path, upkeep_interval_ms=60_000) as hosted:
        for _ in range(20):
            await hosted.expire()
        assert rows(tmp_path) == ONE
        assert await submissions(hosted) == [f"{BENCHMARK}/submissions/one"]
        await delete_benchmark(hosted)
        for _ in range(20):
            await hosted.expire()
        assert rows(tmp_path) == NOTHING


async def test_a_client_that_sends_to_a_deleted_benchmark_is_told(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark()
    stream = await hosted.red.submission("one")
    await hosted.red.append(stream, 0, points({1: []}))
    await delete_benchmark(hosted)
    late = await refusal(hosted.red.append(stream, 1, points({2: []})))
    assert late.reason == "NOT_FOUND"
