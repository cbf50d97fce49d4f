"""SubmissionService: detections in, what became of them out."""

from __future__ import annotations

from typing import Any

from vidscore.v1 import submission_service_pb2 as pb
from vidscore.v1 import submission_service_pb2_grpc
from vidscore_server.access.caller import current_caller
from vidscore_server.aside import aside
from vidscore_server.codec.annotations_codec import batch_size
from vidscore_server.codec.submission_codec import write_stream, write_submission
from vidscore_server.hosting.appends import checked_batch
from vidscore_server.hosting.benchmarks import required_benchmark
from vidscore_server.hosting.hosting import Hosting
from vidscore_server.hosting.names import (
    DEFAULT_STREAM,
    StreamName,
    SubmissionName,
    checked_id,
    read_benchmark,
    read_submission,
)
from vidscore_server.hosting.submissions import SubmissionView, team_seen, visible
from vidscore_server.runs.places import Use
from vidscore_server.runs.sessions import Sessions
from vidscore_server.runs.writers import Writers
from vidscore_server.services.appending import Appender
from vidscore_server.services.exchange import Requests, Responses
from vidscore_server.services.hosted import request_of
from vidscore_server.services.pages import (
    page_size_of,
    read_page_token,
    read_time_key,
    time_key,
    write_page_token,
)
from vidscore_server.services.score_writing import ScoreWriter
from vidscore_server.services.watching import Watcher
from vidscore_server.store.contract import Reader


class SubmissionService(submission_service_pb2_grpc.SubmissionServiceServicer):
    """Takes in submissions.

    Args:
        hosting: The server's hosted benchmarks.
        sessions: The streams that are open.
    """

    def __init__(self, hosting: Hosting, sessions: Sessions) -> None:
        """Serve nothing yet."""
        self._hosting = hosting
        self._site = hosting.site
        self._sessions = sessions
        self._writers = Writers()
        self._scores = ScoreWriter(hosting)

    async def CreateSubmission(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self, request: pb.CreateSubmissionRequest, responses: Responses[Any]
    ) -> pb.CreateSubmissionResponse:
        """Open a submission."""
        del responses
        benchmark = read_benchmark(request.benchmark, "benchmark")
        chosen = request.submission_id and checked_id(request.submission_id, "submission_id")
        made = request_of(request, "CreateSubmission", self._site)
        found = await self._hosting.submissions.create(made, benchmark, chosen, request.title)
        return pb.CreateSubmissionResponse(submission=_written(found))

    async def GetSubmission(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self, request: pb.GetSubmissionRequest, responses: Responses[Any]
    ) -> pb.GetSubmissionResponse:
        """One submission."""
        del responses
        name, caller = read_submission(request.name), current_caller()
        submissions = self._hosting.submissions
        found = await self._site.read(lambda reader: submissions.view(reader, name, caller))
        return pb.GetSubmissionResponse(submission=_written(found))

    async def ListSubmissions(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self, request: pb.ListSubmissionsRequest, responses: Responses[Any]
    ) -> pb.ListSubmissionsResponse:
        """A page of the submissions that the caller may see."""
        del responses
        benchmark = read_benchmark(request.benchmark, "benchmark")
        size, caller = page_size_of(request), current_caller()
        key = read_page_token(request, str, str)
        after = None if key is None else (read_time_key(key[0]), key[1])

        def read(reader: Reader) -> list[SubmissionView]:
            required_benchmark(reader, benchmark)
            records = reader.submissions(benchmark, team_seen(caller), after, size + 1)
            names = [SubmissionName(benchmark, record.submission) for record in records]
            submissions = self._hosting.submissions
            return [submissions.view(reader, name, caller) for name in names]

        found = await self._site.read(read)
        token = ""
        if len(found) > size:
            last = found[size - 1].record
            token = write_page_token(time_key(last.create_time), last.submission)
        return pb.ListSubmissionsResponse(
            submissions=[_written(entry) for entry in found[:size]], next_page_token=token
        )

    async def OpenStream(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self, request: pb.OpenStreamRequest, responses: Responses[Any]
    ) -> pb.OpenStreamResponse:
        """Open an append stream under its next epoch."""
        del responses
        submission = read_submission(request.submission, "submission")
        stream = checked_id(request.stream or DEFAULT_STREAM, "stream")
        made = request_of(request, "OpenStream", self._site)
        record = await self._hosting.submissions.open_stream(made, StreamName(*submission, stream))
        return pb.OpenStreamResponse(stream=write_stream(record))

    async def AppendFrames(  # type: ignore[override]  # noqa: N802 - gRPC's name; the guard's requests
        self,
        requests: Requests[pb.AppendRequest],
        responses: Responses[pb.AppendResponse],
    ) -> None:
        """Append batches, each acknowledged once it is durable."""
        with self._sessions.open(Use.HOSTED), self._writers.writing() as take_over:
            appender = Appender(self._hosting, current_caller(), take_over)
            await appender.run(requests, responses, self._sessions.until_draining)

    async def AppendBatch(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self, request: pb.AppendRequest, responses: Responses[Any]
    ) -> pb.AppendResponse:
        """Append one batch."""
        del responses
        appender = Appender(self._hosting, current_caller())
        return pb.AppendResponse(next_offset=await appender.append(request))

    async def CheckDetections(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self, request: pb.CheckDetectionsRequest, responses: Responses[Any]
    ) -> pb.CheckDetectionsResponse:
        """Say whether detections, or any submission at all, would be taken."""
        del responses
        name = read_benchmark(request.benchmark, "benchmark")
        if not request.HasField("detections"):
            made = request_of(request, "CheckDetections", self._site)
            await self._hosting.submissions.check(made, name)
            return pb.CheckDetectionsResponse()
        batch, warnings = await aside(
            batch_size(request.detections),
            checked_batch,
            request.detections,
            await self._hosting.rules.of(name),
            self._site.settings,
        )
        return pb.CheckDetectionsResponse(frame_count=batch.frame_count, warnings=warnings)

    async def SealSubmission(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self, request: pb.SealSubmissionRequest, responses: Responses[Any]
    ) -> pb.SealSubmissionResponse:
        """Seal a submission; it is scored then."""
        del responses
        expected = (
            request.expected_frame_count if request.HasField("expected_frame_count") else None
        )
        made = request_of(request, "SealSubmission", self._site)
        name = read_submission(request.name)
        found = await self._hosting.submissions.seal(made, name, expected)
        self._hosting.wake()
        return pb.SealSubmissionResponse(submission=_written(found))

    async def CancelSubmission(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self, request: pb.CancelSubmissionRequest, responses: Responses[Any]
    ) -> pb.CancelSubmissionResponse:
        """Give a submission up."""
        del responses
        made = request_of(request, "CancelSubmission", self._site)
        found = await self._hosting.submissions.cancel(made, read_submission(request.name))
        return pb.CancelSubmissionResponse(submission=_written(found))

    async def RetrySubmission(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self, request: pb.RetrySubmissionRequest, responses: Responses[Any]
    ) -> pb.RetrySubmissionResponse:
        """Have a failed submission scored again."""
        del responses
        made = request_of(request, "RetrySubmission", self._site)
        found = await self._hosting.submissions.retry(made, read_submission(request.name))
        self._hosting.wake()
        return pb.RetrySubmissionResponse(submission=_written(found))

    async def WatchSubmission(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self,
        request: pb.WatchSubmissionRequest,
        responses: Responses[pb.WatchSubmissionResponse],
    ) -> None:
        """Send a submission whenever it changes, until it has ended."""
        name = read_submission(request.name)
        async with self._sessions.resumable():
            watcher = Watcher(self._hosting, self._scores, current_caller())
            await watcher.run(name, request.from_revision, responses)

    async def ListScores(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self, request: pb.ListScoresRequest, responses: Responses[Any]
    ) -> pb.ListScoresResponse:
        """A page of what the caller may see of a submission's scores."""
        del responses
        name, caller = read_submission(request.submission, "submission"), current_caller()
        size = page_size_of(request)
        [before] = read_page_token(request, int) or (None,)

        def read(reader: Reader) -> pb.ListScoresResponse:
            visible(reader, name, caller)
            records = reader.scores(*name, before, size + 1, published_only=not caller.is_organiser)
            shown = records[:size]
            return pb.ListScoresResponse(
                scores=self._scores.write(reader, name, shown, caller),
                next_page_token=write_page_token(shown[-1].number) if len(records) > size else "",
            )

        return await self._site.read(read)


def _written(found: SubmissionView) -> pb.Submission:
    return write_submission(found)
