"""A benchmark that is deleted and restored into a running server is unchanged, and continues."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.server.domain.hosted import BENCHMARK, Hosted, refusal
from tests.server.domain.live_scene import delete_benchmark
from tests.server.domain.sky import batch, truth
from tests.server.domain.test_backups import FRAME_COUNT, SENT, export, import_, prepare
from tests.server.scene import points
from tests.support.waiting import TIMEOUT_S

from vidscore_protos.v1.submission_service_pb2 import (
    SUBMISSION_STATE_RECEIVING,
    CheckDetectionsRequest,
    WatchSubmissionRequest,
)


async def test_after_a_restore_truth_of_the_same_number_decides_what_is_accepted(
    hosted: Hosted,
) -> None:
    """Not the truth from before, although the benchmark reads the same."""

    async def upload(name: str) -> None:
        hosted.clock.pass_by(seconds=1)
        await hosted.organiser.upload(points({1: [(1.0, 2.0)]}, name))

    async def check(name: str) -> object:
        request = CheckDetectionsRequest(benchmark=BENCHMARK, detections=points({1: []}, name))
        return await hosted.red.submissions.CheckDetections(request, metadata=hosted.red.metadata)

    await hosted.organiser.create_benchmark()
    await upload("first")
    data = await export(hosted.organiser, BENCHMARK)
    await upload("second")
    await check("second")
    await delete_benchmark(hosted)
    await import_(hosted.organiser, data)
    await upload("third")
    await check("third")
    await refusal(check("second"))


async def test_after_a_restore_a_board_shows_what_was_submitted_since(hosted: Hosted) -> None:
    """Not the same number of submissions from before."""

    async def submitted(name: str) -> list[str]:
        hosted.clock.pass_by(seconds=1)
        await hosted.red.submit(batch(SENT), name)
        await hosted.red.ended(name)
        return [row.title for row in (await hosted.red.board()).rows]

    await hosted.organiser.create_benchmark()
    await hosted.organiser.upload(truth(FRAME_COUNT))
    data = await export(hosted.organiser, BENCHMARK)
    assert await submitted("before") == ["Before"]
    await delete_benchmark(hosted)
    await import_(hosted.organiser, data)
    assert await submitted("since") == ["Since"]


async def test_submissions_of_a_restored_benchmark_are_not_idle_since_the_backup(
    hosted: Hosted,
) -> None:
    await prepare(hosted)
    data = await export(hosted.organiser, BENCHMARK)
    await delete_benchmark(hosted)
    hosted.clock.pass_by(hours=3)  # No outage, from which idle time would count.
    await import_(hosted.organiser, data)
    hosting_ = hosted.hosting
    await hosting_.work()
    assert (await hosted.blue.get("two")).state == SUBMISSION_STATE_RECEIVING
    stream = f"{BENCHMARK}/submissions/two/streams/default"
    assert await hosted.blue.append(stream, 2, batch([5])) == 3


async def test_a_watcher_from_before_a_restore_sees_the_restored_state(hosted: Hosted) -> None:
    await prepare(hosted)
    data = await export(hosted.organiser, BENCHMARK)
    stream = f"{BENCHMARK}/submissions/two/streams/default"
    await hosted.blue.append(stream, 2, batch([5]))
    seen = (await hosted.blue.get("two")).revision
    await delete_benchmark(hosted)
    await import_(hosted.organiser, data)
    watch = WatchSubmissionRequest(name=f"{BENCHMARK}/submissions/two", from_revision=seen)
    call: Any = hosted.blue.submissions.WatchSubmission(watch, metadata=hosted.blue.metadata)
    async with asyncio.timeout(TIMEOUT_S):
        assert (await call.read()).submission.frame_count == 2
    call.cancel()
