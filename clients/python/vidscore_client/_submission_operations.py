"""The unary calls of submissions, each written once for both clients; see `_operations`."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass

from vidscore.v1 import submission_service_pb2
from vidscore_client._append_state import Sent
from vidscore_client._benchmark_operations import get_benchmark
from vidscore_client._encoding import checksum, encode_frames
from vidscore_client._hosting_decoding import (
    decode_score,
    decode_stream,
    decode_submission,
)
from vidscore_client._names import benchmark_name, submission_name
from vidscore_client._operations import Operation, UnaryRequest, list_pages
from vidscore_client._upload import messages_of
from vidscore_client.errors import ConflictError, InputError, NotFoundError
from vidscore_client.frames import ARITIES, Frames, text
from vidscore_client.hosting import (
    DetectionsCheck,
    StreamInfo,
    Submission,
    SubmissionScore,
    SubmissionState,
)

_SUBMISSIONS = "/vidscore.v1.SubmissionService/"
NAME_TAKEN = "NAME_TAKEN"


def create_submission(benchmark: str, submission: str, title: str) -> Operation[Submission]:
    """Open a submission; the server names it where no name is given."""
    response = yield UnaryRequest(
        _SUBMISSIONS + "CreateSubmission",
        submission_service_pb2.CreateSubmissionRequest(
            benchmark=benchmark_name(benchmark),
            submission_id=text("submission", submission),
            title=text("title", title),
            request_id=str(uuid.uuid4()),
        ),
        submission_service_pb2.CreateSubmissionResponse,
    )
    return decode_submission(response.submission)


def get_submission(submission: str) -> Operation[Submission]:
    """One submission."""
    response = yield UnaryRequest(
        _SUBMISSIONS + "GetSubmission",
        submission_service_pb2.GetSubmissionRequest(name=submission_name(submission)),
        submission_service_pb2.GetSubmissionResponse,
    )
    return decode_submission(response.submission)


def list_submissions(benchmark: str) -> Operation[list[Submission]]:
    """Every submission that may be seen."""
    pages = yield from list_pages(
        _SUBMISSIONS + "ListSubmissions",
        submission_service_pb2.ListSubmissionsRequest(benchmark=benchmark_name(benchmark)),
        submission_service_pb2.ListSubmissionsResponse,
    )
    return [decode_submission(submission) for page in pages for submission in page.submissions]


def check_detections(benchmark: str, batches: Iterable[Frames]) -> Operation[DetectionsCheck]:
    """Ask whether detections would be taken, and then whether a submission would."""
    hosted = yield from get_benchmark(benchmark)
    rpc, name = _SUBMISSIONS + "CheckDetections", benchmark_name(benchmark)
    request = submission_service_pb2.CheckDetectionsRequest
    frame_count, warnings = 0, dict[str, None]()
    for frames in messages_of("detections", batches):
        if hosted.detection_geometry is not None:
            refuse_other_arity(frames, ARITIES[hosted.detection_geometry])
        asked = request(benchmark=name, detections=encode_frames(frames))
        response = yield UnaryRequest(rpc, asked, submission_service_pb2.CheckDetectionsResponse)
        frame_count += response.frame_count
        warnings |= dict.fromkeys(response.warnings)
    yield UnaryRequest(rpc, request(benchmark=name), submission_service_pb2.CheckDetectionsResponse)
    return DetectionsCheck(frame_count, tuple(warnings))


def seal_submission(submission: str, expected_frame_count: int | None) -> Operation[Submission]:
    """Take no more frames; the submission is scored then."""
    response = yield UnaryRequest(
        _SUBMISSIONS + "SealSubmission",
        submission_service_pb2.SealSubmissionRequest(
            name=submission_name(submission), expected_frame_count=expected_frame_count
        ),
        submission_service_pb2.SealSubmissionResponse,
    )
    return decode_submission(response.submission)


def cancel_submission(submission: str) -> Operation[Submission]:
    """Give a submission up."""
    response = yield UnaryRequest(
        _SUBMISSIONS + "CancelSubmission",
        submission_service_pb2.CancelSubmissionRequest(name=submission_name(submission)),
        submission_service_pb2.CancelSubmissionResponse,
    )
    return decode_submission(response.submission)


def retry_submission(submission: str) -> Operation[Submission]:
    """Have a failed submission scored again."""
    response = yield UnaryRequest(
        _SUBMISSIONS + "RetrySubmission",
        submission_service_pb2.RetrySubmissionRequest(
            name=submission_name(submission), request_id=str(uuid.uuid4())
        ),
        submission_service_pb2.RetrySubmissionResponse,
    )
    return decode_submission(response.submission)


def list_scores(submission: str) -> Operation[list[SubmissionScore]]:
    """Every score that may be seen."""
    pages = yield from list_pages(
        _SUBMISSIONS + "ListScores",
        submission_service_pb2.ListScoresRequest(submission=submission_name(submission)),
        submission_service_pb2.ListScoresResponse,
    )
    return [decode_score(score) for page in pages for score in page.scores]


@dataclass(frozen=True)
class OpenedStream:
    """An append stream that was opened for this writer.

    Attributes:
        submission: The submission.
        stream: The stream, with the epoch to write under and the offset to go on from.
        arity: Coordinates that a detection has.
    """

    submission: Submission
    stream: StreamInfo
    arity: int

    @property
    def stream_name(self) -> str:
        """Full name of the stream."""
        return f"{self.submission.name}/streams/{self.stream.stream}"

    def append(self, batch: Sent) -> submission_service_pb2.AppendRequest:
        """What is sent for a batch; the same batch is the same bytes each time."""
        detections = encode_frames(batch.frames)
        return submission_service_pb2.AppendRequest(
            stream=self.stream_name,
            epoch=self.stream.epoch,
            offset=batch.offset,
            detections=detections,
            detections_crc32=checksum(detections),
        )

    def request(self, batch: Sent) -> submission_service_pb2.AppendRequest:
        """One message of an append call."""
        return self.append(batch)


def open_stream(
    benchmark: str, submission: str | None, stream: str, title: str
) -> Operation[OpenedStream]:
    """Find or create a submission, and open one of its append streams."""
    hosted = yield from get_benchmark(benchmark)
    geometry = hosted.detection_geometry
    if geometry is None:
        raise ConflictError(
            f"{hosted.name} takes no detections yet: of which shape they are follows from its "
            "truth, which has not come",
            reason="BENCHMARK_NOT_OPEN",
        )
    found = yield from _find_or_create(hosted.name, submission, title)
    response = yield UnaryRequest(
        _SUBMISSIONS + "OpenStream",
        submission_service_pb2.OpenStreamRequest(
            submission=found.name, stream=text("stream", stream)
        ),
        submission_service_pb2.OpenStreamResponse,
    )
    return OpenedStream(found, decode_stream(response.stream), ARITIES[geometry])


def refuse_other_arity(frames: Frames, arity: int) -> None:
    """Refuse detections of another shape than the benchmark's.

    Raises:
        InputError: If they are of one.
    """
    if frames.arity != arity:
        found = f"{frames.arity} coordinates an object"
        raise InputError("frames", found, f"{arity}, as the benchmark has them")


def append_batch(opened: OpenedStream, batch: Sent) -> Operation[int]:
    """Append one batch; the offset of the next frame."""
    response = yield UnaryRequest(
        _SUBMISSIONS + "AppendBatch",
        opened.append(batch),
        submission_service_pb2.AppendResponse,
    )
    next_offset: int = response.next_offset
    return next_offset


def _find_or_create(benchmark: str, submission: str | None, title: str) -> Operation[Submission]:
    if submission is None:
        return (yield from create_submission(benchmark, "", title))
    name = f"{benchmark}/{text('submission', submission)}"
    try:
        found = yield from get_submission(name)
        # Nobody has seen a draft's title: what was refused before must not decide it.
        if found.state is not SubmissionState.OPEN or title in {"", found.title}:
            return found
    except NotFoundError:
        pass
    try:
        return (yield from create_submission(benchmark, submission, title))
    except ConflictError as error:
        if error.reason != NAME_TAKEN:
            raise
        taken = error
    try:
        # Another process of the same submission may just have created it.
        return (yield from get_submission(name))
    except NotFoundError:
        raise taken from None  # it is another team's
