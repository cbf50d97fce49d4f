"""The hosted benchmarks, tokens and re-scorings of an asyncio client; made public by `aio`."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator

import grpc

from vidscore.v1.benchmark_service_pb2 import UploadTruthRequest, UploadTruthResponse
from vidscore_client._access_operations import create_token, list_tokens, revoke_token
from vidscore_client._aio_submissions import Run
from vidscore_client._benchmark_operations import (
    OperationStatus,
    cancel_operation,
    create_benchmark,
    delete_benchmark,
    get_benchmark,
    get_leaderboard,
    get_operation,
    list_benchmarks,
    list_truth_revisions,
    rescore_submissions,
    truth_requests,
    update_benchmark,
)
from vidscore_client._definition import Definition
from vidscore_client._hosting_decoding import decode_truth_revision
from vidscore_client._rescoring import POLL_S, not_rescored, outcome_of
from vidscore_client._status import error_from_failure
from vidscore_client._uploading import Kept
from vidscore_client.frames import Frames
from vidscore_client.hosting import (
    Benchmark,
    Leaderboard,
    NewToken,
    RescoreProgress,
    Role,
    ScoreDifference,
    Token,
    TruthRevision,
)

OpenUpload = Callable[[Iterator[UploadTruthRequest], float | None], Awaitable[UploadTruthResponse]]
"""Makes a call of UploadTruth: takes the requests and the seconds it may take."""

TruthRevisions = list[TruthRevision]


class AsyncBenchmarks:
    """Hosted benchmarks; `AsyncClient.benchmarks`. See `vidscore_client.Benchmarks`."""

    def __init__(self, run: Run, open_upload: OpenUpload) -> None:
        """Keep how calls are made.

        Args:
            run: Makes unary calls.
            open_upload: Makes a call of UploadTruth.
        """
        self._run = run
        self._open_upload = open_upload

    async def create(self, benchmark: str, definition: Definition) -> Benchmark:
        """Create a benchmark; see `vidscore_client.Benchmarks.create`."""
        return await self._run(create_benchmark(benchmark, definition))

    async def get(self, benchmark: str) -> Benchmark:
        """One benchmark; see `vidscore_client.Benchmarks.get`."""
        return await self._run(get_benchmark(benchmark))

    async def list(self) -> list[Benchmark]:
        """Every benchmark; see `vidscore_client.Benchmarks.list`."""
        return await self._run(list_benchmarks())

    async def update(
        self, benchmark: str, definition: Definition, *, replace: bool = False
    ) -> Benchmark:
        """Change a benchmark; see `vidscore_client.Benchmarks.update`."""
        return await self._run(update_benchmark(benchmark, definition, replace=replace))

    async def delete(self, benchmark: str, *, force: bool = False) -> None:
        """Delete a benchmark; see `vidscore_client.Benchmarks.delete`."""
        await self._run(delete_benchmark(benchmark, force=force))

    async def upload_truth(
        self,
        benchmark: str,
        batches: Iterable[Frames],
        *,
        merge: bool = False,
        complete: bool = False,
        comment: str = "",
        timeout_s: float | None = None,
    ) -> TruthRevision:
        """Add a revision of the truth; see `vidscore_client.Benchmarks.upload_truth`."""
        requests = Kept(
            truth_requests(benchmark, batches, merge=merge, complete=complete, comment=comment)
        )
        try:
            response = await self._open_upload(requests, timeout_s)
        except (grpc.RpcError, asyncio.CancelledError) as failure:
            requests.raise_error()
            if isinstance(failure, asyncio.CancelledError):
                raise
            raise error_from_failure(failure) from failure
        return decode_truth_revision(response.revision)

    async def truth_revisions(self, benchmark: str) -> TruthRevisions:
        """Revisions of the truth; see `vidscore_client.Benchmarks.truth_revisions`."""
        return await self._run(list_truth_revisions(benchmark))

    async def leaderboard(
        self,
        benchmark: str,
        *,
        evaluator: str = "",
        domain: str | None = None,
        class_: str | None = None,
    ) -> Leaderboard:
        """Submissions in rank order; see `vidscore_client.Benchmarks.leaderboard`."""
        return await self._run(get_leaderboard(benchmark, evaluator, domain, class_))

    async def rescore(
        self, benchmark: str, submissions: Iterable[str] = (), *, comment: str = ""
    ) -> AsyncRescoring:
        """Begin to score again; see `vidscore_client.Benchmarks.rescore`."""
        status = await self._run(rescore_submissions(benchmark, submissions, comment))
        return AsyncRescoring(self._run, status)

    async def rescoring(self, name: str) -> AsyncRescoring:
        """A re-scoring that was begun before; see `vidscore_client.Benchmarks.rescoring`."""
        return AsyncRescoring(self._run, await self._run(get_operation(name)))


class AsyncRescoring:
    """A re-scoring that runs on the server; see `vidscore_client.Rescoring`."""

    def __init__(self, run: Run, status: OperationStatus) -> None:
        """Keep how far it is.

        Args:
            run: Makes unary calls.
            status: How far it is.
        """
        self._run = run
        self._status = status

    @property
    def name(self) -> str:
        """Name of the operation, by which `AsyncBenchmarks.rescoring` finds it again."""
        return self._status.name

    @property
    def done(self) -> bool:
        """Whether it had ended when the server was last asked."""
        return self._status.done

    @property
    def progress(self) -> RescoreProgress:
        """How far it had come when the server was last asked."""
        return self._status.progress

    async def refresh(self) -> RescoreProgress:
        """Ask the server how far it is; see `vidscore_client.Rescoring.refresh`."""
        self._status = await self._run(get_operation(self.name))
        return self.progress

    async def cancel(self) -> None:
        """End it before its next submission; see `vidscore_client.Rescoring.cancel`."""
        await self._run(cancel_operation(self.name))

    async def wait(
        self,
        timeout_s: float | None = None,
        on_progress: Callable[[RescoreProgress], object] | None = None,
    ) -> list[ScoreDifference]:
        """Wait until it has ended; see `vidscore_client.Rescoring.wait`.

        `on_progress` may be a coroutine function.
        """
        limit_s = None if timeout_s is None else time.monotonic() + timeout_s
        while not self.done:
            if limit_s is not None and time.monotonic() >= limit_s:
                raise not_rescored(timeout_s)
            await asyncio.sleep(POLL_S)
            progress = await self.refresh()
            outcome = None if on_progress is None else on_progress(progress)
            if inspect.isawaitable(outcome):
                await outcome
        return outcome_of(self._status)


class AsyncTokens:
    """Tokens; `AsyncClient.tokens`. See `vidscore_client.Tokens`."""

    def __init__(self, run: Run) -> None:
        """Keep how calls are made.

        Args:
            run: Makes unary calls.
        """
        self._run = run

    async def create(
        self,
        role: Role | str,
        *,
        team: str = "",
        comment: str = "",
        lifetime_s: float | None = None,
    ) -> NewToken:
        """Create a token; see `vidscore_client.Tokens.create`."""
        return await self._run(create_token(role, team, comment, lifetime_s))

    async def list(self) -> list[Token]:
        """Every token; see `vidscore_client.Tokens.list`."""
        return await self._run(list_tokens())

    async def revoke(self, token: str) -> Token:
        """End a token at once; see `vidscore_client.Tokens.revoke`."""
        return await self._run(revoke_token(token))
