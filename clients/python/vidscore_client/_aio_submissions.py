"""The submissions of an asyncio client; `vidscore_client.aio` makes them public."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
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

    def __call__(self, operation: Operation[ResultType]) -> Awaitable[ResultType]:
        """Run it to its end."""


OpenWatch = Callable[[submission_service_pb2.WatchSubmissionRequest, float | None], Any]
"""Starts a call of WatchSubmission: takes the request and the seconds it may take."""

Scores = list[SubmissionScore]


class AsyncSubmissions:
    """Submissions; `AsyncClient.submissions`. See `vidscore_client.Submissions`."""

    def __init__(self, run: Run, open_watch: OpenWatch) -> None:
        """Keep how calls are made.

        Args:
            run: Makes unary calls.
            open_watch: Starts a call of WatchSubmission.
        """
        self._run = run
        self._open_watch = open_watch

    async def create(self, benchmark: str, submission: str = "", *, title: str = "") -> Submission:
        """Open a submission; see `vidscore_client.Submissions.create`."""
        return await self._run(create_submission(benchmark, submission, title))

    async def get(self, submission: str) -> Submission:
        """One submission; see `vidscore_client.Submissions.get`."""
        return await self._run(get_submission(submission))

    async def list(self, benchmark: str) -> list[Submission]:
        """The submissions that may be seen; see `vidscore_client.Submissions.list`."""
        return await self._run(list_submissions(benchmark))

    async def check(self, benchmark: str, batches: Iterable[Frames]) -> DetectionsCheck:
        """Find out whether detections would be taken; see `vidscore_client.Submissions.check`."""
        return await self._run(check_detections(benchmark, batches))

    async def seal(
        self,
        submission: str,
        expected_frame_count: int | None = None,
        *,
        retry: Retry = DEFAULT_RETRY,
    ) -> Submission:
        """Take no more frames; see `vidscore_client.Submissions.seal`."""
        operation = partial(seal_submission, submission, expected_frame_count)
        return await self._retrying(operation, retry)

    async def cancel(self, submission: str) -> Submission:
        """Give a submission up; see `vidscore_client.Submissions.cancel`."""
        return await self._run(cancel_submission(submission))

    async def retry(self, submission: str) -> Submission:
        """Have a failed submission scored again; see `vidscore_client.Submissions.retry`."""
        return await self._run(retry_submission(submission))

    async def watch(
        self, submission: str, *, timeout_s: float | None = None, retry: Retry = DEFAULT_RETRY
    ) -> AsyncIterator[SubmissionUpdate]:
        """The submission whenever it changes; see `vidscore_client.Submissions.watch`."""
        watched = Watched(submission_name(submission), retry)
        limit_s = None if timeout_s is None else time.monotonic() + timeout_s
        while not watched.ended:
            call = self._open_watch(watched.request(), call_s(limit_s, time.monotonic()))
            try:
                async for response in call:
                    yield watched.take(decode_update(response))
                failure: VidscoreError = ended_early()
            except grpc.RpcError as error:
                failure = error_from_failure(error)
            finally:
                call.cancel()
            if not watched.ended:
                if limit_s is not None and time.monotonic() >= limit_s:
                    raise not_ended(timeout_s)
                await asyncio.sleep(watched.delay_s(failure, time.monotonic()))

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
            outcome = None if on_change is None else on_change(update)
            if inspect.isawaitable(outcome):
                await outcome
        return await self.get(submission) if update is None else update.submission

    async def scores(self, submission: str) -> Scores:
        """What may be seen of a submission's scores; see `vidscore_client.Submissions.scores`."""
        return await self._run(list_scores(submission))

    async def _retrying(
        self, operation: Callable[[], Operation[ResultType]], retry: Retry
    ) -> ResultType:
        tries = Retrying(retry)
        while True:
            try:
                return await self._run(operation())
            except VidscoreError as error:
                await asyncio.sleep(tries.delay_s(error, time.monotonic()))
