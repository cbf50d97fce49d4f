"""The hosted benchmarks, tokens and re-scorings of an asyncio client; made public by `aio`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import grpc

from vidscore.v1.organiser_pb2 import UploadTruthRequest
from vidscore_client._access_operations import create_token, list_tokens, revoke_token
from vidscore_client._aio_long_work import AsyncLongWork
from vidscore_client._aio_status import StatusWatch
from vidscore_client._aio_submissions import Run
from vidscore_client._benchmark_operations import (
    RESCORING,
    create_benchmark,
    delete_benchmark,
    get_benchmark,
    get_leaderboard,
    list_benchmarks,
    list_truth_revisions,
    publish_leaderboard,
    rescore_submissions,
    truth_requests,
    update_benchmark,
)
from vidscore_client._definition import Definition
from vidscore_client._hosting_decoding import decode_truth_revision
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

OpenUpload = Callable[[Iterator[UploadTruthRequest], float | None], Any]
"""Starts a call of UploadTruth: takes the requests and the seconds it may take."""

TruthRevisions = list[TruthRevision]
ScoreDifferences = list[ScoreDifference]


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
        complete: bool = True,
        comment: str = "",
        timeout_s: float | None = None,
    ) -> TruthRevision:
        """Add a revision of the truth; see `vidscore_client.Benchmarks.upload_truth`."""
        requests = Kept(
            truth_requests(benchmark, batches, merge=merge, complete=complete, comment=comment)
        )
        call = self._open_upload(requests, timeout_s)
        status = StatusWatch(call)
        try:
            response = await call
        except asyncio.CancelledError:
            requests.raise_error()
            raise
        except grpc.RpcError as failure:
            requests.raise_error()
            await status.raise_meant(failure)
            raise error_from_failure(failure) from failure  # it ended well, without an answer
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

    async def publish_leaderboard(
        self, benchmark: str, *, validate_only: bool = False
    ) -> ScoreDifferences:
        """Move a board; see `vidscore_client.Benchmarks.publish_leaderboard`."""
        return await self._run(publish_leaderboard(benchmark, validate_only=validate_only))

    async def rescore(
        self, benchmark: str, submissions: Iterable[str] = (), *, comment: str = ""
    ) -> AsyncRescoring:
        """Begin to score again; see `vidscore_client.Benchmarks.rescore`."""
        status = await self._run(rescore_submissions(benchmark, submissions, comment))
        return AsyncRescoring(self._run, RESCORING, status)

    async def rescoring(self, name: str) -> AsyncRescoring:
        """A re-scoring that was begun before; see `vidscore_client.Benchmarks.rescoring`."""
        return AsyncRescoring(self._run, RESCORING, await self._run(RESCORING.get(name)))


class AsyncRescoring(AsyncLongWork[RescoreProgress, list[ScoreDifference]]):
    """A re-scoring that runs on the server; see `vidscore_client.Rescoring`."""


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
