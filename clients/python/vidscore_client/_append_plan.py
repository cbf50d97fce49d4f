"""An append stream that was opened, and how frames are delivered into it."""

from __future__ import annotations

from dataclasses import dataclass

from vidscore_client._append_state import AppendState, Sent
from vidscore_client._convert import to_dataclass
from vidscore_client._encoding import checksum, encode_frames
from vidscore_client._transport import Transport
from vidscore_client._upload import refuse_other_arity
from vidscore_client.benchmarks import AsyncBenchmarks
from vidscore_client.errors import ConflictError, InputError, NotFoundError
from vidscore_client.frames import ARITIES, Frames, parse_string
from vidscore_client.hosting import StreamInfo, Submission, SubmissionState
from vidscore_client.settings import Batching, Delivery
from vidscore_client.submissions import SUBMISSIONS, AsyncSubmissions
from vidscore_protos.v1 import submission_service_pb2 as wire

NAME_TAKEN = "NAME_TAKEN"


@dataclass(frozen=True)
class AppendPlan:
    """An append stream that was opened for this writer, and how frames are delivered into it.

    Attributes:
        submission: The submission.
        stream: The stream, with the epoch to write under and the offset to go on from.
        arity: Coordinates that a detection has.
        batching: How frames are put together.
        delivery: How they are held until they are acknowledged.
        replay: Whether the caller sends from its first frame again.
    """

    submission: Submission
    stream: StreamInfo
    arity: int
    batching: Batching
    delivery: Delivery
    replay: bool

    def new_state(self) -> AppendState:
        """The state to begin with."""
        return AppendState(self.stream, self.batching, self.delivery, replay=self.replay)

    def find_stream(self, submission: Submission) -> StreamInfo | None:
        """This stream as the server knows it now; None where it does not."""
        return submission.stream(self.stream.stream)

    def check_batch(self, frames: Frames) -> None:
        """Refuse a batch that does not belong to this stream.

        Raises:
            InputError: If it is none, or its objects have another shape.
        """
        if not isinstance(frames, Frames):
            raise InputError("frames", repr(frames)[:80], "Frames")
        refuse_other_arity(frames, self.arity)

    def append(self, batch: Sent) -> wire.AppendRequest:
        """What is sent for a batch; the same batch is the same bytes each time."""
        detections = encode_frames(batch.frames)
        return wire.AppendRequest(
            stream=f"{self.submission.name}/streams/{self.stream.stream}",
            epoch=self.stream.epoch,
            offset=batch.offset,
            detections=detections,
            detections_crc32=checksum(detections),
        )


async def open_append(
    transport: Transport,
    benchmark: str,
    submission: str | None,
    stream: str,
    title: str,
    *,
    batching: Batching,
    delivery: Delivery,
    replay: bool,
) -> AppendPlan:
    """Find or create a submission, and open one of its append streams.

    The arguments after the connection, and the errors, are those of `Client.submit`.
    """
    hosted = await AsyncBenchmarks(transport).get(benchmark)
    geometry = hosted.detection_geometry
    if geometry is None:
        raise ConflictError(
            f"{hosted.name} takes no detections yet: of which shape they are follows from its "
            "truth, which has not come",
            reason="BENCHMARK_NOT_OPEN",
        )
    found = await _find_or_create(AsyncSubmissions(transport), hosted.name, submission, title)
    request = wire.OpenStreamRequest(submission=found.name, stream=parse_string("stream", stream))
    response = await transport.unary(SUBMISSIONS + "OpenStream", request, wire.OpenStreamResponse)
    opened = to_dataclass(StreamInfo, response.stream)
    return AppendPlan(found, opened, ARITIES[geometry], batching, delivery, replay)


async def _find_or_create(
    submissions: AsyncSubmissions, benchmark: str, submission: str | None, title: str
) -> Submission:
    if submission is None:
        return await submissions.create(benchmark, title=title)
    name = f"{benchmark}/{parse_string('submission', submission)}"
    try:
        found = await submissions.get(name)
        # Nobody has seen a draft's title: what was refused before must not decide it.
        if found.state is not SubmissionState.OPEN or title in {"", found.title}:
            return found
    except NotFoundError:
        pass
    try:
        return await submissions.create(benchmark, submission, title=title)
    except ConflictError as error:
        if error.reason != NAME_TAKEN:
            raise
        taken = error
    try:
        # Another process of the same submission may just have created it.
        return await submissions.get(name)
    except NotFoundError:
        raise taken from None  # it is another team's
