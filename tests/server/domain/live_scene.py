"""A live benchmark of five frames, half a second each, and systems that answer it."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Any

from tests.server.domain.hosted import BENCHMARK, Client, Hosted, dots
from tests.server.scene import Points, points

from vidscore_protos.v1 import benchmark_pb2, organiser_pb2, specification_pb2
from vidscore_protos.v1 import submission_service_pb2 as pb

TOLD = ("sequences", "labels", "frame_counts")
PERIOD_S = 0.5
FRAMES = 5
SUBMISSION = f"{BENCHMARK}/submissions/one"


LIVE_TOML = """\
truth_geometry = "point"
detection_geometry = "point"
public_names = ["sequences", "labels", "frame_counts"]
[[evaluators]]
name = "spotgeo"
[[sequences]]
name = "1"
frame_count = 5
first_frame = 1
[policy]
visibility = "final"
[live]
frame_rate = 10
"""
"""The benchmark as a file, ten frames a second."""


def live_dots(**clock: Any) -> benchmark_pb2.Benchmark:
    """Frames 1 to 5 of sequence 1, two per second by default."""
    benchmark = dots()
    benchmark.specification.sequences.append(
        specification_pb2.SequenceSpec(name="1", frame_count=FRAMES, first_frame=1)
    )
    benchmark.live.CopyFrom(benchmark_pb2.LiveClock(**(clock or {"frame_rate": 1 / PERIOD_S})))
    return benchmark


async def created(client: Client, name: str = "one") -> str:
    """Create a submission without frames; returns its full name."""
    request = pb.CreateSubmissionRequest(benchmark=BENCHMARK, submission_id=name)
    answer = await client.submissions.CreateSubmission(request, metadata=client.metadata)
    return answer.submission.name


async def prepare(hosted: Hosted) -> None:
    """The benchmark, and red's draft of a submission to it."""
    await hosted.organiser.create(live_dots(), public=TOLD)
    await created(hosted.red)


class Answering:
    """A call that answers frames; it ends with the block."""

    def __init__(self, client: Client, submission: str = SUBMISSION) -> None:
        self._submission = submission
        self.call: Any = client.submissions.AnswerFrames(metadata=client.metadata, timeout=60)

    async def __aenter__(self) -> Answering:
        await self.call.write(pb.AnswerFramesRequest(submission=self._submission))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: object, _: TracebackType | None
    ) -> None:
        if kind is None and not self.call.done():
            await self.call.done_writing()
            while await self.call.read():
                pass
        self.call.cancel()

    async def frame(self) -> pb.FrameNow:
        """The next response, which must give out a frame."""
        return (await self.next("frame")).frame

    async def answer(self, position: int, objects: Points = ()) -> pb.AnswerStored:
        """Answer a frame; returns the next response, which acknowledges it."""
        detections = points({position + 1: objects})
        await self.call.write(pb.AnswerFramesRequest(position=position, detections=detections))
        return (await self.next("stored")).stored

    async def ended(self) -> pb.OnlineRecord:
        """The next response, which must say that the clock has ended."""
        return (await self.next("ended")).ended.online

    async def next(self, kind: str) -> pb.AnswerFramesResponse:
        """The next response, which must be of the given kind."""
        response = await self.call.read()
        assert isinstance(response, pb.AnswerFramesResponse), await self.call.details()
        assert response.WhichOneof("event") == kind, response
        return response


async def scored(hosted: Hosted) -> pb.OnlineRecord:
    """Seal red's submission; returns what its score says about the clock."""
    await hosted.red.seal()
    await hosted.red.ended()
    [score] = await hosted.red.scores()
    return score.online


async def delete_benchmark(hosted: Hosted) -> None:
    """Delete the benchmark with all its data."""
    request = organiser_pb2.DeleteBenchmarkRequest(name=BENCHMARK, force=True)
    await hosted.organiser.benchmarks.DeleteBenchmark(request, metadata=hosted.organiser.metadata)


async def until_stored(hosted: Hosted, count: int) -> None:
    """Wait until red's submission has this many frames."""
    while "one" not in await hosted.red.listed():  # noqa: ASYNC110 - there is nothing to watch yet
        await asyncio.sleep(0)
    async for update in hosted.red.submissions.WatchSubmission(
        pb.WatchSubmissionRequest(name=f"{BENCHMARK}/submissions/one"), metadata=hosted.red.metadata
    ):
        if update.submission.frame_count >= count:
            return
