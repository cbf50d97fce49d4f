"""Submissions to hosted benchmarks, asyncio and synchronous."""

from __future__ import annotations

import math
import time
import uuid
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator

from google.protobuf.message import Message

from vidscore_client._convert import checked, to_dataclass
from vidscore_client._decoding import decode_score, decode_update
from vidscore_client._encoding import benchmark_name, encode_frames, submission_name
from vidscore_client._limits import batching_of_server
from vidscore_client._retrying import Retrying, Watched, call_s, ended_early, not_ended
from vidscore_client._transport import (
    Transport,
    iterate_blocking,
    list_pages,
    requests_of,
    run_blocking,
)
from vidscore_client._upload import messages_of, refuse_other_arity
from vidscore_client._values import check_count, check_timeout
from vidscore_client.benchmarks import AsyncBenchmarks
from vidscore_client.errors import VidscoreError
from vidscore_client.frames import ARITIES, Frames, parse_string
from vidscore_client.hosting import DetectionsCheck, Submission, SubmissionScore, SubmissionUpdate
from vidscore_client.outcomes import Outcomes, read_outcomes
from vidscore_client.settings import DEFAULT_RETRY, Retry
from vidscore_protos.forms import fill_scalar
from vidscore_protos.v1 import submission_service_pb2 as wire

SUBMISSIONS = "/vidscore.v1.SubmissionService/"

Scores = list[SubmissionScore]


class AsyncSubmissions:
    """Submissions; `AsyncClient.submissions`. See `vidscore_client.Submissions`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def create(self, benchmark: str, submission: str = "", *, title: str = "") -> Submission:
        """Open a submission; see `vidscore_client.Submissions.create`."""
        request = wire.CreateSubmissionRequest(
            benchmark=benchmark_name(benchmark),
            submission_id=parse_string("submission", submission),
            title=parse_string("title", title),
            request_id=str(uuid.uuid4()),
        )
        return await self._call("CreateSubmission", request, wire.CreateSubmissionResponse)

    async def get(self, submission: str) -> Submission:
        """One submission; see `vidscore_client.Submissions.get`."""
        request = wire.GetSubmissionRequest(name=submission_name(submission))
        return await self._call("GetSubmission", request, wire.GetSubmissionResponse)

    async def list(self, benchmark: str) -> list[Submission]:
        """The visible submissions; see `vidscore_client.Submissions.list`."""
        pages = await list_pages(
            self._transport,
            SUBMISSIONS + "ListSubmissions",
            wire.ListSubmissionsRequest(benchmark=benchmark_name(benchmark)),
            wire.ListSubmissionsResponse,
        )
        return [
            to_dataclass(Submission, submission)
            for page in pages
            for submission in page.submissions
        ]

    async def check(self, benchmark: str, batches: Iterable[Frames]) -> DetectionsCheck:
        """Check whether detections would be accepted; see `vidscore_client.Submissions.check`."""
        hosted = await AsyncBenchmarks(self._transport).get(benchmark)
        name, path = benchmark_name(benchmark), SUBMISSIONS + "CheckDetections"
        frame_count, warnings = 0, dict[str, None]()
        batching = await batching_of_server(self._transport)
        for frames in messages_of("detections", batches, batching):
            if hosted.detection_geometry is not None:
                refuse_other_arity(frames, ARITIES[hosted.detection_geometry])
            request = wire.CheckDetectionsRequest(benchmark=name, detections=encode_frames(frames))
            response = await self._transport.unary(path, request, wire.CheckDetectionsResponse)
            frame_count += response.frame_count
            warnings |= dict.fromkeys(response.warnings)
        # Without detections: whether a submission would be accepted.
        request = wire.CheckDetectionsRequest(benchmark=name)
        await self._transport.unary(path, request, wire.CheckDetectionsResponse)
        return DetectionsCheck(frame_count, tuple(warnings))

    async def seal(
        self,
        submission: str,
        expected_frame_count: int | None = None,
        *,
        retry: Retry = DEFAULT_RETRY,
    ) -> Submission:
        """Accept no more frames; see `vidscore_client.Submissions.seal`."""
        request = wire.SealSubmissionRequest(name=submission_name(submission))
        if expected_frame_count is not None:
            with checked():
                field = "expected_frame_count"
                fill_scalar(request, field, expected_frame_count, field)
        tries = Retrying(retry)
        while True:
            try:
                return await self._call("SealSubmission", request, wire.SealSubmissionResponse)
            except VidscoreError as error:
                await self._transport.sleep(tries.delay_s(error, time.monotonic()))

    async def cancel(self, submission: str) -> Submission:
        """Cancel a submission; see `vidscore_client.Submissions.cancel`."""
        request = wire.CancelSubmissionRequest(name=submission_name(submission))
        return await self._call("CancelSubmission", request, wire.CancelSubmissionResponse)

    async def retry(self, submission: str) -> Submission:
        """Score a failed submission again; see `vidscore_client.Submissions.retry`."""
        request = wire.RetrySubmissionRequest(
            name=submission_name(submission), request_id=str(uuid.uuid4())
        )
        return await self._call("RetrySubmission", request, wire.RetrySubmissionResponse)

    async def disqualify(self, submission: str, reason: str) -> Submission:
        """Remove a submission from the ranking; see `vidscore_client.Submissions.disqualify`."""
        request = wire.DisqualifySubmissionRequest(
            name=submission_name(submission), reason=parse_string("reason", reason)
        )
        return await self._call("DisqualifySubmission", request, wire.DisqualifySubmissionResponse)

    async def reinstate(self, submission: str) -> Submission:
        """Undo a disqualification; see `vidscore_client.Submissions.reinstate`."""
        request = wire.ReinstateSubmissionRequest(name=submission_name(submission))
        return await self._call("ReinstateSubmission", request, wire.ReinstateSubmissionResponse)

    async def choose(self, submission: str, *, undo: bool = False) -> Submission:
        """Choose one for the final order; see `vidscore_client.Submissions.choose`."""
        request = wire.ChooseSubmissionRequest(name=submission_name(submission), undo=undo)
        return await self._call("ChooseSubmission", request, wire.ChooseSubmissionResponse)

    async def watch(
        self,
        submission: str,
        *,
        timeout_s: float | None = None,
        window_frames: int = 0,
        retry: Retry = DEFAULT_RETRY,
    ) -> AsyncGenerator[SubmissionUpdate, None]:
        """The submission whenever it changes; see `vidscore_client.Submissions.watch`."""
        check_timeout(timeout_s)
        if window_frames != 0:
            check_count("window_frames", window_frames)
        watched = Watched(submission_name(submission), retry, window_frames)
        limit_s = None if timeout_s is None else time.monotonic() + timeout_s
        while not watched.ended:
            call = self._transport.stream(
                SUBMISSIONS + "WatchSubmission",
                requests_of([watched.request()]),
                wire.WatchSubmissionResponse,
                call_s(limit_s, time.monotonic()),
            )
            failure: VidscoreError = ended_early()
            try:
                while (response := await call.read()) is not None:
                    yield watched.take(decode_update(response))
            except VidscoreError as error:
                failure = error
            finally:
                call.cancel()
            if not watched.ended:
                left_s = math.inf if limit_s is None else limit_s - time.monotonic()
                if left_s <= 0:
                    raise not_ended(timeout_s)
                delay_s = watched.delay_s(failure, time.monotonic())
                await self._transport.sleep(min(delay_s, left_s))

    async def wait(
        self,
        submission: str,
        timeout_s: float | None = None,
        on_change: Callable[[SubmissionUpdate], object] | None = None,
        *,
        retry: Retry = DEFAULT_RETRY,
    ) -> Submission:
        """Wait until a submission has ended; see `vidscore_client.Submissions.wait`.

        `on_change` may be a coroutine function.
        """
        update = None
        async for update in self.watch(submission, timeout_s=timeout_s, retry=retry):
            if on_change is not None:
                await self._transport.call_back(on_change, update)
        return await self.get(submission) if update is None else update.submission

    async def scores(self, submission: str) -> Scores:
        """The visible scores of a submission; see `vidscore_client.Submissions.scores`."""
        pages = await list_pages(
            self._transport,
            SUBMISSIONS + "ListScores",
            wire.ListScoresRequest(submission=submission_name(submission)),
            wire.ListScoresResponse,
        )
        return [decode_score(score) for page in pages for score in page.scores]

    async def outcomes(
        self,
        submission: str,
        evaluator: str = "",
        *,
        threshold: float | None = None,
        confidence: float | None = None,
        retry: Retry = DEFAULT_RETRY,
    ) -> AsyncGenerator[Outcomes, None]:
        """Outcomes of objects and detections; see `vidscore_client.Submissions.outcomes`."""
        request = wire.ReadOutcomesRequest(
            submission=submission_name(submission), evaluator=parse_string("evaluator", evaluator)
        )
        with checked():
            for name, value in (("threshold", threshold), ("confidence", confidence)):
                if value is not None:
                    fill_scalar(request, name, value, name)
        async for outcomes in read_outcomes(self._transport, request, retry):
            yield outcomes

    async def _call(self, method: str, request: Message, response: type[Message]) -> Submission:
        """Make a call that returns the submission."""
        answer = await self._transport.unary(SUBMISSIONS + method, request, response)
        return to_dataclass(Submission, answer.submission)


class Submissions:
    """Submissions; `vidscore_client.Client.submissions`.

    A submission is named ``{benchmark}/{submission}`` or by its full name.
    """

    def __init__(self, submissions: AsyncSubmissions) -> None:
        self._submissions = submissions

    def create(self, benchmark: str, submission: str = "", *, title: str = "") -> Submission:
        """Open a submission, which is a draft until its first frames are appended.

        A draft is not listed, takes no place in a quota, cannot be sealed, and is deleted if
        nothing arrives for the policy's ``quiet_timeout_s``.

        Args:
            benchmark: The benchmark.
            submission: Last part of its name: 1 to 63 lower-case letters, digits and hyphens, a
                letter first; empty to let the server choose. All teams share the names.
            title: Title for people.

        Raises:
            ConflictError: If the name is taken, or the benchmark takes no submissions now.
            QuotaExceededError: If the team may have no more.
            VidscoreError: If the call fails.
        """
        return run_blocking(self._submissions.create(benchmark, submission, title=title))

    def get(self, submission: str) -> Submission:
        """One submission.

        Raises:
            NotFoundError: If there is none of that name, or it is not visible.
            VidscoreError: If the call fails.
        """
        return run_blocking(self._submissions.get(submission))

    def list(self, benchmark: str) -> list[Submission]:
        """The visible submissions with frames, newest first.

        Raises:
            VidscoreError: If the call fails.
        """
        return run_blocking(self._submissions.list(benchmark))

    def check(self, benchmark: str, batches: Iterable[Frames]) -> DetectionsCheck:
        """Check whether detections would be accepted; creates nothing.

        Args:
            benchmark: The benchmark.
            batches: The detections.

        Returns:
            The number of frames that would be accepted, and doubts about them.

        Raises:
            InvalidArgumentError: If some would be refused; ``violations`` tells which.
            ConflictError: If the benchmark takes no submissions now.
            QuotaExceededError: If the team may have no more.
            VidscoreError: If the call fails for another reason.
        """
        return run_blocking(self._submissions.check(benchmark, batches))

    def seal(
        self,
        submission: str,
        expected_frame_count: int | None = None,
        *,
        retry: Retry = DEFAULT_RETRY,
    ) -> Submission:
        """Accept no more frames, and score the submission. Sealing again changes nothing.

        Args:
            submission: The submission.
            expected_frame_count: Frames that must be durable in all streams together; None for any
                number.
            retry: What happens after a break of the connection.

        Raises:
            ConflictError: If the number of durable frames differs, with reason
                ``FRAME_COUNT_DIFFERS``, or none, with reason ``NO_FRAMES``; nothing is sealed.
            VidscoreError: If the call fails for another reason.
        """
        return run_blocking(self._submissions.seal(submission, expected_frame_count, retry=retry))

    def cancel(self, submission: str) -> Submission:
        """Cancel a submission.

        Raises:
            VidscoreError: If the call fails.
        """
        return run_blocking(self._submissions.cancel(submission))

    def retry(self, submission: str) -> Submission:
        """Score a failed submission again; it takes the place in a quota that it gave back.

        Raises:
            ConflictError: If it has not failed, with reason ``NOT_FAILED``.
            QuotaExceededError: If another submission has taken it; organisers may retry it.
            VidscoreError: If the call fails.
        """
        return run_blocking(self._submissions.retry(submission))

    def disqualify(self, submission: str, reason: str) -> Submission:
        """Remove a submission from the ranking; it can be undone. For organisers.

        Args:
            submission: The submission.
            reason: Why, for everybody who sees the leaderboard.

        Raises:
            NotFoundError: If there is no such submission.
            VidscoreError: If the call fails.
        """
        return run_blocking(self._submissions.disqualify(submission, reason))

    def reinstate(self, submission: str) -> Submission:
        """Undo a disqualification. For organisers.

        Args:
            submission: The submission.

        Raises:
            NotFoundError: If there is no such submission.
            VidscoreError: If the call fails.
        """
        return run_blocking(self._submissions.reinstate(submission))

    def choose(self, submission: str, *, undo: bool = False) -> Submission:
        """Choose a submission for the final order of a benchmark with private sequences.

        If a team has chosen none when the benchmark closes, its best ones by the public sequences
        count. Choosing again changes nothing.

        Args:
            submission: The submission.
            undo: Whether to undo the choice.

        Raises:
            ConflictError: If the benchmark has closed, or the submission cannot count, with reason
                ``NOTHING_TO_CHOOSE``.
            QuotaExceededError: If the team has chosen the maximum number.
            VidscoreError: If the call fails.
        """
        return run_blocking(self._submissions.choose(submission, undo=undo))

    def watch(
        self,
        submission: str,
        *,
        timeout_s: float | None = None,
        window_frames: int = 0,
        retry: Retry = DEFAULT_RETRY,
    ) -> Iterator[SubmissionUpdate]:
        """The submission now and at every change, until it has ended.

        It reconnects automatically after a break.

        Args:
            submission: The submission.
            timeout_s: Seconds that it may take; None for no limit.
            window_frames: Number of last frames of each stream to score as well, for organisers
                only: `SubmissionUpdate.window_reports`; 0 for none.
            retry: What happens after a break.

        Raises:
            DeadlineError: If it has not ended in time.
            VidscoreError: If it cannot be watched.
        """
        return iterate_blocking(
            self._submissions.watch(
                submission, timeout_s=timeout_s, window_frames=window_frames, retry=retry
            )
        )

    def wait(
        self,
        submission: str,
        timeout_s: float | None = None,
        on_change: Callable[[SubmissionUpdate], object] | None = None,
        *,
        retry: Retry = DEFAULT_RETRY,
    ) -> Submission:
        """Wait until a submission has ended: it is scored, has failed, or was cancelled.

        Args:
            submission: The submission.
            timeout_s: Seconds to wait; None for no limit.
            on_change: Called with the submission now and at every change.
            retry: What happens after a break of the connection.

        Raises:
            DeadlineError: If it has not ended in time; it continues.
            VidscoreError: If it cannot be watched.
        """
        return run_blocking(self._submissions.wait(submission, timeout_s, on_change, retry=retry))

    def scores(self, submission: str) -> Scores:
        """The visible scores of a submission, newest first.

        Raises:
            VidscoreError: If the call fails.
        """
        return run_blocking(self._submissions.scores(submission))

    def outcomes(
        self,
        submission: str,
        evaluator: str = "",
        *,
        threshold: float | None = None,
        confidence: float | None = None,
        retry: Retry = DEFAULT_RETRY,
    ) -> Iterator[Outcomes]:
        """Outcomes of each object and detection under the newest score, batch by batch.

        Organisers see everything. A participant sees its own detections if the benchmark's policy
        allows it; the first reading for each score counts as one more submission. Reading resumes
        automatically after a break.

        Args:
            submission: The submission.
            evaluator: An evaluator of its benchmark; empty for the first.
            threshold: Similarity threshold of a match, for an evaluator with several; None for its
                default. Organisers only.
            confidence: Detections below it are ignored; None for none. Organisers only.
            retry: What happens after a break.

        Raises:
            ConflictError: If the policy shows none (reason ``NOT_RELEASED``), there is no score yet
                (``NOT_SCORED``), or the evaluator has no outcomes (``NO_OUTCOMES``).
            QuotaExceededError: If the team has no submission left to pay with.
            VidscoreError: If they cannot be read for another reason.
        """
        return iterate_blocking(
            self._submissions.outcomes(
                submission, evaluator, threshold=threshold, confidence=confidence, retry=retry
            )
        )
