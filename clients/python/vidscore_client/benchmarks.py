"""Hosted benchmarks, asyncio and synchronous."""

from __future__ import annotations

import uuid
from collections.abc import AsyncGenerator, Iterable, Iterator

from google.protobuf.field_mask_pb2 import FieldMask

from vidscore_client._convert import to_dataclass
from vidscore_client._decoding import decode_benchmark, decode_leaderboard
from vidscore_client._encoding import benchmark_name, submission_names
from vidscore_client._limits import batching_of_server
from vidscore_client._long_work import AsyncLongWork, LongKind, LongWork
from vidscore_client._specification import UPDATABLE, Definition, encode_definition
from vidscore_client._transport import (
    Transport,
    iterate_blocking,
    list_pages,
    read_only,
    requests_of,
    run_blocking,
)
from vidscore_client._truth import read_truth, truth_requests
from vidscore_client.errors import InputError
from vidscore_client.frames import Frames, parse_string
from vidscore_client.hosting import Benchmark, RescoreProgress, ScoreDifference, TruthRevision
from vidscore_client.leaderboards import ChecklistItem, Leaderboard
from vidscore_client.organising import TeamView, decode_team_view
from vidscore_client.settings import DEFAULT_RETRY, Retry
from vidscore_protos.dictionaries import GEOMETRY_FIELDS, TIME_FIELDS
from vidscore_protos.v1 import benchmark_service_pb2 as wire
from vidscore_protos.v1 import organiser_pb2

BENCHMARKS = "/vidscore.v1.BenchmarkService/"

TruthRevisions = list[TruthRevision]
TeamViews = list[TeamView]
ScoreDifferences = list[ScoreDifference]
Checklist = list[ChecklistItem]

RESCORING = LongKind(
    "re-scoring",
    organiser_pb2.RescoreMetadata,
    organiser_pb2.RescoreResponse,
    lambda metadata: RescoreProgress(metadata.submissions_done, metadata.submissions_in_all),
    lambda response: [to_dataclass(ScoreDifference, entry) for entry in response.differences],
)


class AsyncBenchmarks:
    """Hosted benchmarks; `AsyncClient.benchmarks`. See `vidscore_client.Benchmarks`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def create(self, benchmark: str, definition: Definition) -> Benchmark:
        """Create a benchmark; see `vidscore_client.Benchmarks.create`."""
        request = organiser_pb2.CreateBenchmarkRequest(
            benchmark_id=parse_string("benchmark", benchmark),
            benchmark=encode_definition(definition),
            request_id=str(uuid.uuid4()),
        )
        response = await self._transport.unary(
            BENCHMARKS + "CreateBenchmark", request, organiser_pb2.CreateBenchmarkResponse
        )
        return decode_benchmark(response.benchmark)

    async def get(self, benchmark: str) -> Benchmark:
        """One benchmark; see `vidscore_client.Benchmarks.get`."""
        response = await self._transport.unary(
            BENCHMARKS + "GetBenchmark",
            wire.GetBenchmarkRequest(name=benchmark_name(benchmark)),
            wire.GetBenchmarkResponse,
        )
        return decode_benchmark(response.benchmark, response.quotas)

    async def list(self) -> list[Benchmark]:
        """Every benchmark; see `vidscore_client.Benchmarks.list`."""
        pages = await list_pages(
            self._transport,
            BENCHMARKS + "ListBenchmarks",
            wire.ListBenchmarksRequest(),
            wire.ListBenchmarksResponse,
        )
        return [decode_benchmark(benchmark) for page in pages for benchmark in page.benchmarks]

    async def update(
        self, benchmark: str, definition: Definition, *, replace: bool = False
    ) -> Benchmark:
        """Change a benchmark; see `vidscore_client.Benchmarks.update`."""
        return decode_benchmark((await self._update(benchmark, definition, replace)).benchmark)

    async def preview(
        self, benchmark: str, definition: Definition, *, replace: bool = False
    ) -> TeamViews:
        """Preview what a change would release; see `vidscore_client.Benchmarks.preview`."""
        response = await self._update(benchmark, definition, replace, validate_only=True)
        return [decode_team_view(view) for view in response.team_views]

    async def _update(
        self, benchmark: str, definition: Definition, replace: bool, *, validate_only: bool = False
    ) -> organiser_pb2.UpdateBenchmarkResponse:
        present = await self.get(benchmark)
        _refuse_other_geometries(definition, present)
        whole = definition if replace else {**present.definition, **definition}
        message = encode_definition(whole)
        message.name = benchmark_name(benchmark)
        message.etag = present.etag
        # Servers without live benchmarks are not asked.
        live = ["live"] if "live" in {*definition, *present.definition} else []
        mask = FieldMask(paths=[*UPDATABLE, *live] if replace else _fields_of(definition))
        request = organiser_pb2.UpdateBenchmarkRequest(
            benchmark=message,
            update_mask=mask,
            validate_only=validate_only,
        )
        response: organiser_pb2.UpdateBenchmarkResponse = await self._transport.unary(
            BENCHMARKS + "UpdateBenchmark", request, organiser_pb2.UpdateBenchmarkResponse
        )
        return response

    async def delete(self, benchmark: str, *, force: bool = False, etag: str = "") -> None:
        """Delete a benchmark; see `vidscore_client.Benchmarks.delete`."""
        request = organiser_pb2.DeleteBenchmarkRequest(
            name=benchmark_name(benchmark), force=force, etag=etag
        )
        await self._transport.unary(
            BENCHMARKS + "DeleteBenchmark", request, organiser_pb2.DeleteBenchmarkResponse
        )

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
        if isinstance(batches, Frames):
            raise InputError("batches", "one batch", "a list of batches")
        header = organiser_pb2.UploadTruthHeader(
            benchmark=benchmark_name(benchmark),
            merge=merge,
            complete=complete,
            comment=parse_string("comment", comment),
            request_id=str(uuid.uuid4()),
        )
        batching = await batching_of_server(self._transport)
        call = self._transport.stream(
            BENCHMARKS + "UploadTruth",
            requests_of(truth_requests(header, batches, batching)),
            organiser_pb2.UploadTruthResponse,
            timeout_s,
        )
        return to_dataclass(TruthRevision, (await read_only(call)).revision)

    async def truth_revisions(self, benchmark: str) -> TruthRevisions:
        """Revisions of the truth; see `vidscore_client.Benchmarks.truth_revisions`."""
        pages = await list_pages(
            self._transport,
            BENCHMARKS + "ListTruthRevisions",
            organiser_pb2.ListTruthRevisionsRequest(benchmark=benchmark_name(benchmark)),
            organiser_pb2.ListTruthRevisionsResponse,
        )
        return [
            to_dataclass(TruthRevision, revision) for page in pages for revision in page.revisions
        ]

    async def read_truth(
        self, benchmark: str, revision: int = 0, *, retry: Retry = DEFAULT_RETRY
    ) -> AsyncGenerator[Frames, None]:
        """Frames of a revision; see `vidscore_client.Benchmarks.read_truth`."""
        async for frames in read_truth(self._transport, benchmark, revision, retry):
            yield frames

    async def leaderboard(
        self,
        benchmark: str,
        *,
        evaluator: str = "",
        domain: str | None = None,
        label: str | None = None,
    ) -> Leaderboard:
        """Submissions in rank order; see `vidscore_client.Benchmarks.leaderboard`."""
        request = wire.GetLeaderboardRequest(
            benchmark=benchmark_name(benchmark),
            evaluator=parse_string("evaluator", evaluator),
            domain=domain,
            label=label,
        )
        pages = await list_pages(
            self._transport, BENCHMARKS + "GetLeaderboard", request, wire.GetLeaderboardResponse
        )
        return decode_leaderboard(pages)

    async def checklist(self, benchmark: str) -> Checklist:
        """Questions about a benchmark; see `vidscore_client.Benchmarks.checklist`."""
        request = wire.GetChecklistRequest(benchmark=benchmark_name(benchmark))
        response = await self._transport.unary(
            BENCHMARKS + "GetChecklist", request, wire.GetChecklistResponse
        )
        return [to_dataclass(ChecklistItem, entry) for entry in response.items]

    async def publish_leaderboard(
        self, benchmark: str, *, validate_only: bool = False
    ) -> ScoreDifferences:
        """Move a board; see `vidscore_client.Benchmarks.publish_leaderboard`."""
        request = organiser_pb2.PublishLeaderboardRequest(
            benchmark=benchmark_name(benchmark), validate_only=validate_only
        )
        response = await self._transport.unary(
            BENCHMARKS + "PublishLeaderboard", request, organiser_pb2.PublishLeaderboardResponse
        )
        return [to_dataclass(ScoreDifference, entry) for entry in response.differences]

    async def rescore(
        self, benchmark: str, submissions: Iterable[str] = (), *, comment: str = ""
    ) -> AsyncRescoring:
        """Start to score again; see `vidscore_client.Benchmarks.rescore`."""
        request = organiser_pb2.RescoreSubmissionsRequest(
            benchmark=benchmark_name(benchmark),
            submissions=submission_names(submissions),
            comment=parse_string("comment", comment),
            request_id=str(uuid.uuid4()),
        )
        response = await self._transport.unary(
            BENCHMARKS + "RescoreSubmissions", request, organiser_pb2.RescoreSubmissionsResponse
        )
        return await self.rescoring(response.operation)

    async def rescoring(self, name: str) -> AsyncRescoring:
        """A re-scoring that was started before; see `vidscore_client.Benchmarks.rescoring`."""
        status = await RESCORING.get(self._transport, name)
        return AsyncRescoring(self._transport, RESCORING, status)


class AsyncRescoring(AsyncLongWork[RescoreProgress, list[ScoreDifference]]):
    """A re-scoring that runs on the server; see `vidscore_client.Rescoring`."""


class Benchmarks:
    """Hosted benchmarks; `vidscore_client.Client.benchmarks`.

    A definition is a table as in a TOML file: the keys of a specification and
    ``description``, ``truth_geometry``, ``detection_geometry``, ``open_time``, ``close_time``,
    ``public_names`` and a table ``policy``.
    """

    def __init__(self, benchmarks: AsyncBenchmarks) -> None:
        self._benchmarks = benchmarks

    def create(self, benchmark: str, definition: Definition) -> Benchmark:
        """Create a benchmark. For organisers.

        Args:
            benchmark: Its name: 1 to 63 lower-case letters, digits and hyphens, a letter first.
            definition: Its definition.

        Raises:
            InputError: If the definition has an unknown key or a wrong type.
            InvalidArgumentError: If it is wrong in another way; ``violations`` says where.
            ConflictError: If the name is taken.
            VidscoreError: If the call fails for another reason.
        """
        return run_blocking(self._benchmarks.create(benchmark, definition))

    def get(self, benchmark: str) -> Benchmark:
        """The visible part of one benchmark.

        Raises:
            NotFoundError: If there is none of that name.
            VidscoreError: If the call fails.
        """
        return run_blocking(self._benchmarks.get(benchmark))

    def list(self) -> list[Benchmark]:
        """Every benchmark, sorted by name.

        Raises:
            VidscoreError: If the call fails.
        """
        return run_blocking(self._benchmarks.list())

    def update(self, benchmark: str, definition: Definition, *, replace: bool = False) -> Benchmark:
        """Change a benchmark. For organisers.

        If evaluators or specification change, the server scores stored submissions again:
        ``submissions_to_rescore`` is their number.

        Args:
            benchmark: The benchmark.
            definition: The changes, by key; an object such as ``policy`` is replaced.
            replace: Whether keys that the definition does not name return to their defaults.

        Raises:
            InputError: If a shape of objects would change, or as `create`.
            VidscoreError: As `create`.
        """
        return run_blocking(self._benchmarks.update(benchmark, definition, replace=replace))

    def delete(self, benchmark: str, *, force: bool = False, etag: str = "") -> None:
        """Delete a benchmark with its truth, submissions and scores. For organisers.

        Args:
            benchmark: The benchmark.
            force: Whether to delete it even if it has submissions.
            etag: `Benchmark.etag` as read before: the benchmark is deleted only if nobody has
                changed its definition since. Empty: in any case.

        Raises:
            ConflictError: If it has submissions and `force` is not set, or the etag differs.
            VidscoreError: If the call fails.
        """
        run_blocking(self._benchmarks.delete(benchmark, force=force, etag=etag))

    def upload_truth(
        self,
        benchmark: str,
        batches: Iterable[Frames],
        *,
        merge: bool = False,
        complete: bool = True,
        comment: str = "",
        timeout_s: float | None = None,
    ) -> TruthRevision:
        """Add a revision of the truth: all frames of the upload, or nothing. For organisers.

        Args:
            benchmark: The benchmark.
            batches: Frames of truth; may be a generator.
            merge: Whether to keep the newest revision's other frames.
            complete: Whether the truth is complete; if not, submissions wait for more.
            comment: Reason for the new revision, for the record.
            timeout_s: Seconds that it may take; None for no limit.

        Raises:
            InvalidArgumentError: If the server refuses the truth.
            VidscoreError: If the upload fails for another reason.
        """
        uploading = self._benchmarks.upload_truth(
            benchmark, batches, merge=merge, complete=complete, comment=comment, timeout_s=timeout_s
        )
        return run_blocking(uploading)

    def truth_revisions(self, benchmark: str) -> TruthRevisions:
        """Revisions of the truth, newest first: numbers and digests, no truth. For organisers.

        Raises:
            VidscoreError: If the call fails.
        """
        return run_blocking(self._benchmarks.truth_revisions(benchmark))

    def preview(
        self, benchmark: str, definition: Definition, *, replace: bool = False
    ) -> TeamViews:
        """What each team sees of its scores now, and after a change, which is not made.

        Args:
            benchmark: The benchmark.
            definition: As for `update`.
            replace: As for `update`.

        Raises:
            VidscoreError: As for `update`.
        """
        return run_blocking(self._benchmarks.preview(benchmark, definition, replace=replace))

    def read_truth(
        self, benchmark: str, revision: int = 0, *, retry: Retry = DEFAULT_RETRY
    ) -> Iterator[Frames]:
        """Frames of a revision of the truth, batch by batch. For organisers.

        Args:
            benchmark: The benchmark.
            revision: Its number; 0 for the newest.
            retry: What happens after a break.

        Raises:
            NotFoundError: If there is no such benchmark or revision.
            VidscoreError: If it cannot be read.
        """
        return iterate_blocking(self._benchmarks.read_truth(benchmark, revision, retry=retry))

    def leaderboard(
        self,
        benchmark: str,
        *,
        evaluator: str = "",
        domain: str | None = None,
        label: str | None = None,
    ) -> Leaderboard:
        """Submissions in rank order.

        Args:
            benchmark: The benchmark.
            evaluator: Evaluator that ranks; empty: the first of the specification.
            domain: Domain; None for all together.
            label: Class; None for all together.

        Raises:
            ConflictError: If the policy does not release such a board.
            VidscoreError: If the call fails.
        """
        board = self._benchmarks.leaderboard
        return run_blocking(board(benchmark, evaluator=evaluator, domain=domain, label=label))

    def checklist(self, benchmark: str) -> Checklist:
        """The questions of BIAS (Maier-Hein et al. 2020) about a benchmark, with their answers.

        Only the part that the caller may see; advice on weak answers is for organisers.

        Raises:
            NotFoundError: If there is none of that name.
            VidscoreError: If the call fails.
        """
        return run_blocking(self._benchmarks.checklist(benchmark))

    def publish_leaderboard(
        self, benchmark: str, *, validate_only: bool = False
    ) -> ScoreDifferences:
        """Move a board to its waiting scores. For organisers, if they review changes.

        Args:
            benchmark: The benchmark.
            validate_only: Whether to return the differences without moving the board.

        Raises:
            ConflictError: While submissions still wait to be scored again.
            VidscoreError: If the call fails.
        """
        publishing = self._benchmarks.publish_leaderboard(benchmark, validate_only=validate_only)
        return run_blocking(publishing)

    def rescore(
        self, benchmark: str, submissions: Iterable[str] = (), *, comment: str = ""
    ) -> Rescoring:
        """Start to score stored detections again; existing scores stay. For organisers.

        Boards are scored again without it; this retries submissions whose scoring failed.

        Args:
            benchmark: The benchmark.
            submissions: Submissions to score again; empty: all that have a score.
            comment: Why, for the record.

        Raises:
            VidscoreError: If the call fails.
        """
        work = self._benchmarks.rescore(benchmark, submissions, comment=comment)
        return Rescoring(run_blocking(work))

    def rescoring(self, name: str) -> Rescoring:
        """A re-scoring that was started before, by the name of its operation.

        Raises:
            NotFoundError: If there is none of that name.
            VidscoreError: If the call fails.
        """
        return Rescoring(run_blocking(self._benchmarks.rescoring(name)))


class Rescoring(LongWork[RescoreProgress, list[ScoreDifference]]):
    """A re-scoring that runs on the server; made by `Benchmarks.rescore`.

    If it is cancelled, it ends before its next submission; existing scores stay.
    """


def _refuse_other_geometries(definition: Definition, present: Benchmark) -> None:
    for field in GEOMETRY_FIELDS:
        known = present.definition.get(field)
        if definition.get(field) not in {None, known}:
            expected = (
                "nothing: the first upload of truth sets it"
                if known is None
                else f"{known!r}, which cannot be changed"
            )
            raise InputError(field, repr(definition[field])[:80], expected)


def _fields_of(definition: Definition) -> list[str]:
    """Names of the updatable fields that a definition sets."""
    apart = {*TIME_FIELDS, "description", "policy", "public_names", "live"}
    fields = [field for field in definition if field in apart]
    if set(definition) - apart - set(GEOMETRY_FIELDS):
        fields.append("specification")
    return fields
