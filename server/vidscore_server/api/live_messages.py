"""Clocks of live benchmarks, and how submissions answered by them, to messages and back."""

from __future__ import annotations

from vidscore_protos.dictionaries import FRAME_SOURCES
from vidscore_protos.v1 import annotations_pb2, benchmark_pb2
from vidscore_protos.v1 import submission_service_pb2 as pb
from vidscore_server.domain.live_answers import Answered, Given, LiveCall
from vidscore_server.domain.live_clock import MICROSECONDS, LiveClock
from vidscore_server.domain.online import OnlineRecord


def write_live(clock: LiveClock | None) -> benchmark_pb2.LiveClock | None:
    """A clock as a message; None for a benchmark that is not live."""
    if clock is None:
        return None
    return benchmark_pb2.LiveClock(
        frame_rate=clock.frame_rate,
        frames=FRAME_SOURCES[clock.frames],
        sequences=[
            benchmark_pb2.SequenceClock(
                domain=entry.domain,
                name=entry.name,
                frame_rate=entry.frame_rate,
                frame_times_s=entry.frame_times_s,
            )
            for entry in clock.sequences
        ],
    )


def write_online(record: OnlineRecord | None) -> pb.OnlineRecord | None:
    """How a submission answered by the clock as a message; None where there is none."""
    if record is None:
        return None
    half, most, nearly_all, worst = record.latencies_s or (None, None, None, None)
    return pb.OnlineRecord(
        certified=record.certified,
        message=record.message,
        frames=FRAME_SOURCES[record.frames],
        frame_count=record.frame_count,
        in_time_count=record.in_time_count,
        late_count=record.late_count,
        missing_count=record.missing_count,
        passed_count=record.passed_count,
        outside_count=record.outside_count,
        latency_50_s=half,
        latency_90_s=most,
        latency_99_s=nearly_all,
        latency_worst_s=worst,
        delay_worst_s=record.delay_worst_s,
    )


def write_frame(call: LiveCall, given: Given) -> pb.AnswerFramesResponse:
    """The frame that is now as a response."""
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


def write_answered(answered: Answered) -> pb.AnswerFramesResponse:
    """The acknowledgement of an answer as a response."""
    stored = pb.AnswerStored(
        position=answered.position, in_time=answered.in_time, latency_s=answered.latency_s
    )
    return pb.AnswerFramesResponse(stored=stored)


def write_ended(online: OnlineRecord) -> pb.AnswerFramesResponse:
    """The end of the clock as a response."""
    return pb.AnswerFramesResponse(ended=pb.ClockEnded(online=write_online(online)))
