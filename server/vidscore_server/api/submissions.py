"""SubmissionService: receive detections, return states and scores."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import datetime
from typing import Any

from vidscore_evaluators.errors import Fault, InputError
from vidscore_protos.v1 import annotations_pb2, submission_service_pb2_grpc
from vidscore_protos.v1 import submission_service_pb2 as pb
from vidscore_server.api.appends import Appender
from vidscore_server.api.batches import batch_size, read_batch
from vidscore_server.api.convert import write_report, write_time
from vidscore_server.api.kept_answers import KeptAnswers, ReadyAnswer, next_change
from vidscore_server.api.live_answers import LiveAnswering
from vidscore_server.api.requests import (
    Time,
    cut_page,
    page_size_of,
    read_page_token,
    request_of,
)
from vidscore_server.api.scores import REPORT_PARTS, ScoreWriter
from vidscore_server.api.stored_frames import send_detections, send_outcomes
from vidscore_server.api.stream import Requests, Responses
from vidscore_server.domain.access import Caller, current_caller
from vidscore_server.domain.append_rules import AppendRules
from vidscore_server.domain.appends import (
    FIELD,
    accepted_warnings,
    read_warnings,
    refuse_detections,
)
from vidscore_server.domain.batches import BatchRules
from vidscore_server.domain.benchmarks import required_benchmark
from vidscore_server.domain.history import PastEvent, history_of
from vidscore_server.domain.hosting import Hosting
from vidscore_server.domain.live import LiveScore
from vidscore_server.domain.live_answers import refuse_live
from vidscore_server.domain.names import (
    DEFAULT_STREAM,
    StreamName,
    SubmissionName,
    parse_id,
    parse_string,
    read_benchmark,
    read_submission,
)
from vidscore_server.domain.sessions import Sessions, Use, Writers
from vidscore_server.domain.states import ENDED
from vidscore_server.domain.submissions import SubmissionView, team_seen, visible
from vidscore_server.domain.windows import ScoreWindow, check_window
from vidscore_server.runtime import offload
from vidscore_server.settings import message_limits_of
from vidscore_server.store import Reader
from vidscore_server.store.records import StreamRecord, SubmissionState

STATES = {state: getattr(pb, f"SUBMISSION_STATE_{state.name}") for state in SubmissionState}
STATE_OF_NUMBER = {number: state for state, number in STATES.items()}


def write_submission(found: SubmissionView) -> pb.Submission:
    """A submission as a message."""
    record = found.record
    return pb.Submission(
        name=str(SubmissionName(record.benchmark, record.submission)),
        team=record.team,
        title=record.title,
        state=STATES[record.state],
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
        chosen=record.chosen,
        disqualification=record.disqualification,
    )


def write_stream(record: StreamRecord) -> pb.StreamInfo:
    """An append stream as a message."""
    return pb.StreamInfo(
        stream=record.stream,
        epoch=record.epoch,
        next_offset=record.next_offset,
        source_position=record.source_position,
    )


def _write_event(event: PastEvent) -> pb.SubmissionEvent:
    return pb.SubmissionEvent(
        time=write_time(event.time), reason=event.reason, stream=event.stream, epoch=event.epoch
    )


# --- Watching

LOOK_AGAIN_S = 5.0
"""Longest time between two polls, for changes without a notification."""


class Watcher:
    """Follows a submission for one call.

    Args:
        hosting: The server's hosted benchmarks.
        scores: Writes the parts of scores that the caller may see.
        caller: The caller.
        window_frames: Number of frames of the requested window; 0 for none.
    """

    def __init__(
        self, hosting: Hosting, scores: ScoreWriter, caller: Caller, window_frames: int
    ) -> None:
        self._hosting = hosting
        self._scores = scores
        self._caller = caller
        self._window_frames = window_frames

    async def run(
        self,
        name: SubmissionName,
        from_revision: int,
        responses: Responses[pb.WatchSubmissionResponse],
    ) -> None:
        """Send changes after a revision, until the submission has ended."""
        context = self._hosting.context
        seen = from_revision
        sent: LiveScore | None = None
        sent_window: ScoreWindow | None = None
        shortest_s = context.settings.minimum_live_interval_ms / 1000
        while True:
            change = context.changes.waiter(name)
            try:
                message, ended = await context.read(lambda reader: self._look(reader, name))
                live = None if ended else await self._hosting.live.newest(name)
                if live is not None:
                    is_free = self._caller.is_organiser or not live.reports
                    if not is_free and not await self._hosting.live.charge(name):
                        continue  # it has ended
                    message.scores.extend(
                        self._scores.write_live(name.benchmark, live, self._caller)
                    )
                window = await self._add_window(message, name)
                moved = live is not sent or window is not sent_window
                if message.submission.revision > seen or moved:
                    seen = max(seen, message.submission.revision)
                    sent, sent_window = live, window
                    await responses.send(message)
                if ended:
                    self._hosting.live.forget(name)
                    return
                with suppress(TimeoutError):
                    async with asyncio.timeout(LOOK_AGAIN_S):
                        await change
            finally:
                context.changes.forget(name, change)
            await asyncio.sleep(shortest_s)

    async def _add_window(
        self, message: pb.WatchSubmissionResponse, name: SubmissionName
    ) -> ScoreWindow | None:
        """Add the scores over the requested window; return them, if there are any."""
        if not self._window_frames:
            return None
        window = await self._hosting.windows.newest(name, self._window_frames)
        if window is not None:
            message.window_frame_count = window.frame_count
            message.window_reports.extend(map(write_report, window.reports))
        return window

    def _look(
        self, reader: Reader, name: SubmissionName
    ) -> tuple[pb.WatchSubmissionResponse, bool]:
        found = self._hosting.submissions.view(reader, name, self._caller)
        newest = self._scores.newest(reader, name, self._caller).values()
        message = pb.WatchSubmissionResponse(
            submission=write_submission(found),
            scores=self._scores.write(reader, name, list(newest), self._caller),
        )
        return message, found.record.state in ENDED


# --- The service


class SubmissionService(submission_service_pb2_grpc.SubmissionServiceServicer):
    """Receives submissions.

    Args:
        hosting: The server's hosted benchmarks.
        sessions: The streams that are open.
    """

    def __init__(self, hosting: Hosting, sessions: Sessions) -> None:
        self._hosting = hosting
        self._context = hosting.context
        self._sessions = sessions
        self._writers = Writers()
        self._scores = ScoreWriter(hosting)
        self._answers = KeptAnswers(hosting.context)

    async def CreateSubmission(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self, request: pb.CreateSubmissionRequest, _: Responses[Any]
    ) -> pb.CreateSubmissionResponse:
        """Open a submission."""
        benchmark = read_benchmark(request.benchmark, "benchmark")
        chosen = request.submission_id and parse_id(request.submission_id, "submission_id")
        made = request_of(request, "CreateSubmission", self._context)
        found = await self._hosting.submissions.create(made, benchmark, chosen, request.title)
        return pb.CreateSubmissionResponse(submission=write_submission(found))

    async def GetSubmission(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self, request: pb.GetSubmissionRequest, _: Responses[Any]
    ) -> ReadyAnswer:
        """One submission."""
        # When an idle one ends depends on outages that this server knows.
        quiet_from = self._hosting.heartbeat.quiet_from
        return await self._answers.answer(request, lambda: self._submission(request), quiet_from)

    async def _submission(
        self, request: pb.GetSubmissionRequest
    ) -> tuple[pb.GetSubmissionResponse, None]:
        """One submission, which time alone does not change."""
        name, caller = read_submission(request.name), current_caller()
        submissions = self._hosting.submissions

        def read(reader: Reader) -> tuple[SubmissionView, list[PastEvent]]:
            found = submissions.view(reader, name, caller)
            return found, history_of(reader, found.record)

        found, history = await self._context.read(read)
        message = write_submission(found)
        message.history.extend(map(_write_event, history))
        return pb.GetSubmissionResponse(submission=message), None

    async def ListSubmissions(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self, request: pb.ListSubmissionsRequest, _: Responses[Any]
    ) -> pb.ListSubmissionsResponse:
        """A page of the submissions that the caller may see."""
        benchmark = read_benchmark(request.benchmark, "benchmark")
        size, caller = page_size_of(request), current_caller()
        after = read_page_token(request, Time, str)
        wanted, state = parse_string(request.team, "team"), _read_state(request.state)

        def read(reader: Reader) -> list[SubmissionView]:
            team = team_seen(caller)
            if wanted and team not in {None, wanted}:
                required_benchmark(reader, benchmark)
                return []
            whose = (wanted or None) if team is None else team
            records = reader.submissions(benchmark, whose, after, size + 1, state)
            return self._hosting.submissions.views(reader, benchmark, records)

        found = await self._context.read(read)
        shown, token = cut_page(
            found, size, lambda last: (last.record.create_time, last.record.submission)
        )
        return pb.ListSubmissionsResponse(
            submissions=[write_submission(entry) for entry in shown], next_page_token=token
        )

    async def OpenStream(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self, request: pb.OpenStreamRequest, _: Responses[Any]
    ) -> pb.OpenStreamResponse:
        """Open an append stream under its next epoch."""
        submission = read_submission(request.submission, "submission")
        stream = parse_id(request.stream or DEFAULT_STREAM, "stream")
        made = request_of(request, "OpenStream", self._context)
        record = await self._hosting.submissions.open_stream(made, StreamName(*submission, stream))
        limits = message_limits_of(self._context.settings)
        return pb.OpenStreamResponse(stream=write_stream(record), limits=limits)

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
        self, request: pb.AppendRequest, _: Responses[Any]
    ) -> pb.AppendResponse:
        """Append one batch."""
        appender = Appender(self._hosting, current_caller())
        return pb.AppendResponse(next_offset=await appender.append(request))

    async def CheckDetections(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self, request: pb.CheckDetectionsRequest, _: Responses[Any]
    ) -> pb.CheckDetectionsResponse:
        """Tell whether detections, or any submission, would be accepted."""
        name = read_benchmark(request.benchmark, "benchmark")
        if not request.HasField("detections"):
            made = request_of(request, "CheckDetections", self._context)
            await self._hosting.submissions.check(made, name)
            return pb.CheckDetectionsResponse()
        rules = await self._hosting.rules.of(name)
        refuse_live(rules.definition, name)
        batch = request.detections
        size = batch_size(batch)
        await refuse_detections(self._hosting.workers, rules, batch, size, self._context)
        warnings = await offload(size, self._check, batch, rules)
        return pb.CheckDetectionsResponse(frame_count=len(batch.frame_numbers), warnings=warnings)

    def _check(
        self, message: annotations_pb2.AnnotationBatch, rules: AppendRules
    ) -> tuple[str, ...]:
        batch = read_batch(message, FIELD, BatchRules(rules.arity, self._context.settings))
        return accepted_warnings(batch, rules)

    async def SealSubmission(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self, request: pb.SealSubmissionRequest, _: Responses[Any]
    ) -> pb.SealSubmissionResponse:
        """Seal a submission, which is then scored."""
        expected = (
            request.expected_frame_count if request.HasField("expected_frame_count") else None
        )
        made = request_of(request, "SealSubmission", self._context)
        name = read_submission(request.name)
        found = await self._hosting.submissions.seal(made, name, expected)
        self._hosting.wake()
        return pb.SealSubmissionResponse(submission=write_submission(found))

    async def CancelSubmission(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self, request: pb.CancelSubmissionRequest, _: Responses[Any]
    ) -> pb.CancelSubmissionResponse:
        """Cancel a submission."""
        made = request_of(request, "CancelSubmission", self._context)
        found = await self._hosting.submissions.cancel(made, read_submission(request.name))
        return pb.CancelSubmissionResponse(submission=write_submission(found))

    async def RetrySubmission(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self, request: pb.RetrySubmissionRequest, _: Responses[Any]
    ) -> pb.RetrySubmissionResponse:
        """Score a failed submission again."""
        made = request_of(request, "RetrySubmission", self._context)
        found = await self._hosting.submissions.retry(made, read_submission(request.name))
        self._hosting.wake()
        return pb.RetrySubmissionResponse(submission=write_submission(found))

    async def DisqualifySubmission(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self, request: pb.DisqualifySubmissionRequest, _: Responses[Any]
    ) -> pb.DisqualifySubmissionResponse:
        """Remove a submission from the ranking."""
        made = request_of(request, "DisqualifySubmission", self._context)
        name = read_submission(request.name)
        await self._hosting.disqualifications.disqualify(made, name, request.reason)
        return pb.DisqualifySubmissionResponse(submission=await self._one(name))

    async def ReinstateSubmission(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self, request: pb.ReinstateSubmissionRequest, _: Responses[Any]
    ) -> pb.ReinstateSubmissionResponse:
        """Return a submission to the ranking."""
        made = request_of(request, "ReinstateSubmission", self._context)
        name = read_submission(request.name)
        await self._hosting.disqualifications.reinstate(made, name)
        return pb.ReinstateSubmissionResponse(submission=await self._one(name))

    async def _one(self, name: SubmissionName) -> pb.Submission:
        """A submission that the caller may see."""
        caller = current_caller()
        view = self._hosting.submissions.view
        return write_submission(await self._context.read(lambda reader: view(reader, name, caller)))

    async def ChooseSubmission(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self, request: pb.ChooseSubmissionRequest, _: Responses[Any]
    ) -> pb.ChooseSubmissionResponse:
        """Choose a submission for the final order."""
        made = request_of(request, "ChooseSubmission", self._context)
        name = read_submission(request.name)
        found = await self._hosting.choices.choose(made, name, undo=request.undo)
        return pb.ChooseSubmissionResponse(submission=write_submission(found))

    async def WatchSubmission(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self,
        request: pb.WatchSubmissionRequest,
        responses: Responses[pb.WatchSubmissionResponse],
    ) -> None:
        """Send a submission whenever it changes, until it has ended."""
        name, caller = read_submission(request.name), current_caller()
        check_window(caller, request.window_frames)
        async with self._sessions.resumable():
            watcher = Watcher(self._hosting, self._scores, caller, request.window_frames)
            await watcher.run(name, request.from_revision, responses)

    async def ListScores(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self, request: pb.ListScoresRequest, _: Responses[Any]
    ) -> ReadyAnswer:
        """A page of a submission's visible scores."""
        name, caller = read_submission(request.submission, "submission"), current_caller()
        size = page_size_of(request)
        [before] = read_page_token(request, int) or (None,)
        now = self._context.clock()

        def read(reader: Reader) -> tuple[pb.ListScoresResponse, datetime | None]:
            visible(reader, name, caller)
            records = reader.scores(*name, before, size + 1, published_only=not caller.is_organiser)
            shown, token = cut_page(records, size, lambda last: (last.number,))
            response = pb.ListScoresResponse(
                scores=self._scores.write(reader, name, shown, caller), next_page_token=token
            )
            # From the closing on, the private part is shown.
            return response, next_change(now, required_benchmark(reader, name.benchmark).close_time)

        return await self._answers.answer(
            request, lambda: self._context.read(read), REPORT_PARTS.get()
        )

    async def AnswerFrames(  # type: ignore[override]  # noqa: N802 - gRPC's name; the guard's requests
        self,
        requests: Requests[pb.AnswerFramesRequest],
        responses: Responses[pb.AnswerFramesResponse],
    ) -> None:
        """Run the clock of a live benchmark, and store answers."""
        with self._writers.writing() as take_over:
            async with self._sessions.resumable():
                await LiveAnswering(self._hosting, take_over).run(requests, responses)

    async def ReadOutcomes(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self,
        request: pb.ReadOutcomesRequest,
        responses: Responses[pb.ReadOutcomesResponse],
    ) -> None:
        """Send the visible outcomes of each object and detection."""
        async with self._sessions.resumable():
            await send_outcomes(self._hosting, request, responses)

    async def ReadDetections(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self,
        request: pb.ReadDetectionsRequest,
        responses: Responses[pb.ReadDetectionsResponse],
    ) -> None:
        """Send the frames of a submission, as they were appended."""
        async with self._sessions.resumable():
            await send_detections(self._hosting, request, responses)


def _read_state(number: int) -> SubmissionState | None:
    """The state by which a list is filtered; None for any.

    Raises:
        InputError: If there is no such state.
    """
    if number == pb.SUBMISSION_STATE_UNSPECIFIED:
        return None
    if number not in STATE_OF_NUMBER:
        raise InputError([Fault(f"state {number}", "a state of submissions", field="state")])
    return STATE_OF_NUMBER[number]
