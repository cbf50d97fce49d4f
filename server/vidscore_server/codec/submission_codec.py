"""Submissions to messages."""

from __future__ import annotations

from vidscore_protos.v1 import submission_service_pb2 as pb
from vidscore_server.codec.times import write_time
from vidscore_server.hosting.names import SubmissionName
from vidscore_server.hosting.submission_warnings import read_warnings
from vidscore_server.hosting.submissions import SubmissionView
from vidscore_server.store.records import StreamRecord, SubmissionState

_STATES = {state: getattr(pb, f"SUBMISSION_STATE_{state.name}") for state in SubmissionState}


def write_submission(found: SubmissionView) -> pb.Submission:
    """A submission as a message."""
    record = found.record
    return pb.Submission(
        name=str(SubmissionName(record.benchmark, record.submission)),
        team=record.team,
        title=record.title,
        state=_STATES[record.state],
        state_reason=record.state_reason,
        state_message=record.state_message,
        state_time=write_time(record.state_time),
        create_time=write_time(record.create_time),
        seal_time=write_time(record.seal_time),
        frame_count=record.frame_count,
        streams=[write_stream(stream) for stream in found.streams],
        revision=record.revision,
        due_time=write_time(found.due.time) if found.due else None,
        due_reason=found.due.reason if found.due else "",
        warnings=read_warnings(record.warnings),
    )


def write_stream(record: StreamRecord) -> pb.StreamInfo:
    """An append stream as a message."""
    return pb.StreamInfo(stream=record.stream, epoch=record.epoch, next_offset=record.next_offset)
