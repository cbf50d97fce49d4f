"""A call that answers the frames of a live benchmark.

    opening --first request--> answering --end of requests--> closed

The clock never waits: frames are given out when they are due, whether or not the client reads or
answers them. A client that reads slowly gets only the newest frame.
"""

from __future__ import annotations

import asyncio

from vidscore_evaluators.errors import Fault, InputError
from vidscore_protos.v1 import annotations_pb2
from vidscore_protos.v1 import submission_service_pb2 as pb
from vidscore_server.api.batches import batch_size, held_bytes
from vidscore_server.api.requests import request_of
from vidscore_server.api.scores import write_online
from vidscore_server.api.stream import Requests, Responses
from vidscore_server.domain.hosting import Hosting
from vidscore_server.domain.live_answers import Answered, Given, LiveCall
from vidscore_server.domain.live_clock import MICROSECONDS
from vidscore_server.domain.names import read_submission
from vidscore_server.domain.scoring_session import LatestValue
from vidscore_server.domain.sessions import TakeOver
from vidscore_server.errors import message_order


class LiveAnswering:
    """Gives out frames and stores answers, for one call.

    Args:
        hosting: The server's hosted benchmarks.
        take_over: Makes the call the one that answers frames of its submission.
    """

    def __init__(self, hosting: Hosting, take_over: TakeOver) -> None:
        self._hosting = hosting
        self._answers = hosting.live_answers
        self._take_over = take_over
        self._newest: LatestValue[pb.AnswerFramesResponse] = LatestValue()

    async def run(
        self,
        requests: Requests[pb.AnswerFramesRequest],
        responses: Responses[pb.AnswerFramesResponse],
    ) -> None:
        """Run until the client ends.

        Raises:
            VidscoreError: If the call may not continue, or an answer is refused.
        """
        call = await self._begin(requests)
        # Before answers are accepted: the frame of an earlier, broken call may be over.
        given = await self._give(call, is_first=True)
        async with asyncio.TaskGroup() as tasks:
            clock = tasks.create_task(self._go_on(call, given))
            telling = tasks.create_task(self._tell(responses))
            async for request in requests:
                await responses.send_buffered(await self._answer(call, request))
            clock.cancel()
            telling.cancel()

    async def _begin(self, requests: Requests[pb.AnswerFramesRequest]) -> LiveCall:
        first = await anext(aiter(requests), None)
        if first is None:
            raise message_order("the end of the call", "a request with the submission")
        if first.HasField("detections"):
            raise message_order("an answer", "a request with the submission and nothing else first")
        name = read_submission(first.submission, "submission")
        made = request_of(first, "AnswerFrames", self._hosting.context)
        call = await self._answers.begin(made, name)
        self._take_over(call.target.stream)
        return call

    async def _give(self, call: LiveCall, *, is_first: bool = False) -> Given | None:
        """Give out the current frame; None once the clock has ended."""
        given = await self._answers.give_out(call)
        if given is None:
            online = write_online(await self._answers.online(call))
            self._newest.put(pb.AnswerFramesResponse(ended=pb.ClockEnded(online=online)))
        elif given.is_new or (is_first and not given.is_answered):
            self._newest.put(_write_frame(call, given))
        return given

    async def _go_on(self, call: LiveCall, given: Given | None) -> None:
        """Give out every frame when it is due."""
        while given is not None:
            await self._hosting.context.clock.until(given.over_time)
            given = await self._give(call)

    async def _tell(self, responses: Responses[pb.AnswerFramesResponse]) -> None:
        """Send the newest frame, or the end, whenever the client has read the previous one."""
        async for newest in self._newest:
            await responses.send(newest)

    async def _answer(
        self, call: LiveCall, request: pb.AnswerFramesRequest
    ) -> pb.AnswerFramesResponse:
        batch = request.detections
        if not request.HasField("detections"):
            raise InputError([Fault("missing", "the detections of the frame", field="detections")])
        answered = await self._answers.answer(
            call, request.position, batch, batch_size(batch), held_bytes(batch)
        )
        return _write_answered(answered)


def _write_frame(call: LiveCall, given: Given) -> pb.AnswerFramesResponse:
    """The current frame as a response."""
    key, number = call.timeline.frame(given.position)
    frame = pb.FrameNow(
        position=given.position,
        sequence=annotations_pb2.SequenceKey(domain=key.domain, sequence=key.sequence),
        frame_number=number,
        due_s=call.timeline.due_at(given.position) / MICROSECONDS,
        remaining_s=given.remaining_s,
        repeated=not given.is_new,
    )
    return pb.AnswerFramesResponse(frame=frame)


def _write_answered(answered: Answered) -> pb.AnswerFramesResponse:
    """The acknowledgement of an answer as a response."""
    stored = pb.AnswerStored(
        position=answered.position, in_time=answered.in_time, latency_s=answered.latency_s
    )
    return pb.AnswerFramesResponse(stored=stored)
