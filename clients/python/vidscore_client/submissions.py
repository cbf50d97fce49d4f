"""The submissions of a synchronous client."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, Protocol

import grpc

from vidscore_client._hosting_decoding import decode_update
from vidscore_client._names import submission_name
from vidscore_client._operations import Operation, ResultType
from vidscore_client._retrying import Retrying, ended_early
from vidscore_client._status import error_from_failure
from vidscore_client._submission_operations import (
    cancel_submission,
    check_detections,
    create_submission,
    get_submission,
    list_scores,
    list_submissions,
    retry_submission,
    seal_submission,
)
from vidscore_client._watching import Watched, call_s, not_ended
from vidscore_client.errors import VidscoreError
from vidscore_client.frames import Frames
from vidscore_client.hosting import (
    DetectionsCheck,
    Submission,
    SubmissionScore,
    SubmissionUpdate,
)
from vidscore_client.settings import DEFAULT_RETRY, Retry
from vidscore_protos.v1 import submission_service_pb2


class Run(Protocol):
    """Makes the unary calls of an operation."""

    def __call__(self, operation: Operation[ResultType]) -> ResultType:
        """Run it to its end."""


OpenWatch = Callable[[submission_service_pb2.WatchSubmissionRequest, float | None], Any]
"""Starts a call of WatchSubmission: takes the request and the seconds it may take."""


Scores = list[SubmissionScore]


class Submissions:
    """Submissions; `vidscore_client.Client.submissions`.

    A submission is named ``{benchmark}/{submission}`` or by its full name.
    """

    def __init__(self, run: Run, open_watch: OpenWatch) -> None:
        """Keep how calls are made.

        Args:
            run: Makes unary calls.
            open_watch: Starts a call of WatchSubmission.
        """
        self._run = run
        self._open_watch = open_watch

    def create(self, benchmark: str, submission: str = "", *, title: str = "") -> Submission:
        """Open a submission, which is a draft until its first frames are appended.

        A draft is not listed, takes no place in a quota, cannot be sealed, and is deleted where
        nothing comes for the policy's ``quiet_timeout_s``.

        Args:
            benchmark: The benchmark.
            submission: Last part of its name: 1 to 63 lower-case letters, digits and hyphens, a
                letter first; empty: the server chooses. All teams share the names.
            title: Title for people.

        Raises:
            ConflictError: If the name is taken, or the benchmark takes no submissions now.
            QuotaExceededError: If the team may have no more.
            VidscoreError: If the call fails.
        """
        return self._run(create_submission(benchmark, submission, title))

    def get(self, submission: str) -> Submission:
        """One submission.

        Raises:
            NotFoundError: If there is none of that name, or it may not be seen.
            VidscoreError: If the call fails.
        """
        return self._run(get_submission(submission))

    def list(self, benchmark: str) -> list[Submission]:
        """The submissions that have frames and may be seen, newest first.

        Raises:
            VidscoreError: If the call fails.
        """
        return self._run(list_submissions(benchmark))

    def check(self, benchmark: str, batches: Iterable[Frames]) -> DetectionsCheck:
        """Find out whether detections would be taken; creates nothing.

        Args:
            benchmark: The benchmark.
            batches: The detections.

        Returns:
            How many frames would be taken, and what is doubtful about them.

        Raises:
            InvalidArgumentError: If some would be refused; ``violations`` says which.
            ConflictError: If the benchmark takes no submissions now.
            QuotaExceededError: If the team may have no more.
            VidscoreError: If the call fails for another reason.
        """
        return self._run(check_detections(benchmark, batches))

    def seal(
        self,
        submission: str,
        expected_frame_count: int | None = None,
        *,
        retry: Retry = DEFAULT_RETRY,
    ) -> Submission:
        """Take no more frames; the submission is scored then. Sealing again changes nothing.

        Args:
            submission: The submission.
            expected_frame_count: Frames that must be durable in all streams together; None for
                whatever is there.
            retry: What happens after a break of the connection.

        Raises:
            ConflictError: If another number of frames is durable, with reason
                ``FRAME_COUNT_DIFFERS``, or none, with reason ``NO_FRAMES``; nothing is sealed.
            VidscoreError: If the call fails for another reason.
        """
        return self._retrying(partial(seal_submission, submission, expected_frame_count), retry)

    def cancel(self, submission: str) -> Submission:
        """Give a submission up.

        Raises:
            VidscoreError: If the call fails.
        """
        return self._run(cancel_submission(submission))

    def retry(self, submission: str) -> Submission:
        """Have a failed submission scored again; it takes no further place in a quota.

        Raises:
            ConflictError: If it has not failed, with reason ``NOT_FAILED``.
            VidscoreError: If the call fails.
        """
        return self._run(retry_submission(submission))

    def watch(
        self, submission: str, *, timeout_s: float | None = None, retry: Retry = DEFAULT_RETRY
    ) -> Iterator[SubmissionUpdate]:
        """The submission as it is and whenever it changes, until it has ended.

        Breaks of the connection are gone over by themselves.

        Args:
            submission: The submission.
            timeout_s: Seconds that it may take; None for no limit.
            retry: What happens after a break.

        Raises:
            DeadlineError: If it has not ended in time.
            VidscoreError: If it cannot be watched.
        """
        watched = Watched(submission_name(submission), retry)
        limit_s = None if timeout_s is None else time.monotonic() + timeout_s
        while not watched.ended:
            call = self._open_watch(watched.request(), call_s(limit_s, time.monotonic()))
            try:
                for response in call:
                    yield watched.take(decode_update(response))
                failure: VidscoreError = ended_early()
            except grpc.RpcError as error:
                failure = error_from_failure(error)
            finally:
                call.cancel()
            if not watched.ended:
                if limit_s is not None and time.monotonic() >= limit_s:
                    raise not_ended(timeout_s)
                time.sleep(watched.delay_s(failure, time.monotonic()))

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
            on_change: Called with the submission as it is and whenever it changes.
            retry: What happens after a break of the connection.

        Raises:
            DeadlineError: If it has not ended in time; it goes on.
            VidscoreError: If it cannot be watched.
        """
        update = None
        for update in self.watch(submission, timeout_s=timeout_s, retry=retry):
            if on_change is not None:
                on_change(update)
        return self.get(submission) if update is None else update.submission

    def scores(self, submission: str) -> Scores:
        """What may be seen of a submission's scores, newest first.

        Raises:
            VidscoreError: If the call fails.
        """
        return self._run(list_scores(submission))

    def _retrying(self, operation: Callable[[], Operation[ResultType]], retry: Retry) -> ResultType:
        tries = Retrying(retry)
        while True:
            try:
                return self._run(operation())
            except VidscoreError as error:
                time.sleep(tries.delay_s(error, time.monotonic()))
