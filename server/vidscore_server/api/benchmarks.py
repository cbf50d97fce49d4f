"""BenchmarkService: benchmarks, their truth, and their leaderboards."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import closing
from datetime import datetime
from functools import partial
from typing import Any

from msgspec.structs import replace

from vidscore_evaluators.annotations import Annotations, Side
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.names import counted
from vidscore_protos.v1 import (
    annotations_pb2,
    benchmark_pb2,
    benchmark_service_pb2_grpc,
    organiser_pb2,
)
from vidscore_protos.v1 import benchmark_service_pb2 as pb
from vidscore_server.api.batches import (
    ARITY_OF_GEOMETRY,
    batch_size,
    data_of,
    geometry_name,
    held_bytes,
    read_batch,
)
from vidscore_server.api.boards import board_page, write_team_view
from vidscore_server.api.definitions import (
    PATH,
    keep_budget,
    keep_private,
    read_definition,
    write_benchmark,
    write_quota,
    write_truth_revision,
)
from vidscore_server.api.kept_answers import KeptAnswers, ReadyAnswer, next_change
from vidscore_server.api.operations import write_operation
from vidscore_server.api.requests import cut_page, page_size_of, read_page_token, request_of
from vidscore_server.api.stored_frames import send_truth
from vidscore_server.api.stream import Requests, Responses
from vidscore_server.domain.access import current_caller
from vidscore_server.domain.basis import board_state
from vidscore_server.domain.batches import BatchRules
from vidscore_server.domain.benchmarks import (
    OvertakenError,
    policy_warnings,
    required_benchmark,
)
from vidscore_server.domain.checklist import TruthState, checklist
from vidscore_server.domain.context import Request
from vidscore_server.domain.definition import Definition
from vidscore_server.domain.hosting import Hosting
from vidscore_server.domain.names import parse_id, read_benchmark, read_submission
from vidscore_server.domain.plug_ins import refuse_by_own_rules
from vidscore_server.domain.policy_preview import preview_update
from vidscore_server.domain.quotas import Quota, quotas_of, team_usage
from vidscore_server.domain.release import public_definition, sees_board
from vidscore_server.domain.sessions import Sessions, Use
from vidscore_server.domain.truth_upload import FIELD as TRUTH
from vidscore_server.domain.truth_upload import TruthUpload, UploadPlan
from vidscore_server.errors import message_order
from vidscore_server.runtime import offload
from vidscore_server.store import Reader
from vidscore_server.store.records import BenchmarkRecord

CHANGEABLE = (
    "specification",
    "open_time",
    "close_time",
    "policy",
    "public_names",
    "description",
    "live",
)


class BenchmarkService(benchmark_service_pb2_grpc.BenchmarkServiceServicer):
    """Hosts benchmarks.

    Args:
        hosting: The server's hosted benchmarks.
        sessions: The streams that are open.
    """

    def __init__(self, hosting: Hosting, sessions: Sessions) -> None:
        self._hosting = hosting
        self._context = hosting.context
        self._sessions = sessions
        self._boards = hosting.kept_boards
        self._answers = KeptAnswers(hosting.context)

    async def CreateBenchmark(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self, request: organiser_pb2.CreateBenchmarkRequest, _: Responses[Any]
    ) -> organiser_pb2.CreateBenchmarkResponse:
        """Create a benchmark."""
        name = parse_id(request.benchmark_id, "benchmark_id")
        definition = await asyncio.to_thread(read_definition, request.benchmark)
        made = request_of(request, "CreateBenchmark", self._context)
        record = await self._hosting.benchmarks.create(made, name, definition)
        return organiser_pb2.CreateBenchmarkResponse(benchmark=await self._written(record))

    async def GetBenchmark(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self, request: pb.GetBenchmarkRequest, _: Responses[Any]
    ) -> ReadyAnswer:
        """One benchmark."""
        return await self._answers.answer(request, lambda: self._benchmark(request))

    async def _benchmark(
        self, request: pb.GetBenchmarkRequest
    ) -> tuple[pb.GetBenchmarkResponse, datetime | None]:
        """One benchmark, and when time changes it next."""
        name, caller = read_benchmark(request.name), current_caller()
        team, now = caller.submits_for, self._context.clock()

        def read(reader: Reader) -> tuple[BenchmarkRecord, list[Quota]]:
            record = self._hosting.benchmarks.seen(reader, name, caller)
            definition = self._hosting.benchmarks.definition(record)
            if not team:
                return record, []
            quotas = quotas_of(reader, name, team, definition, now)
            return record, quotas + team_usage(reader, name, team, self._context.settings)

        record, quotas = await self._context.read(read)
        response = pb.GetBenchmarkResponse(
            benchmark=await self._written(record), quotas=map(write_quota, quotas)
        )
        return response, next_change(now, *(quota.renew_time for quota in quotas))

    async def ListBenchmarks(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self, request: pb.ListBenchmarksRequest, _: Responses[Any]
    ) -> pb.ListBenchmarksResponse:
        """A page of benchmarks."""
        size = page_size_of(request)
        key = read_page_token(request, str) or ("",)
        listed, caller = self._hosting.benchmarks.listed, current_caller()
        records = await self._context.read(lambda reader: listed(reader, key[0], size + 1, caller))
        shown, token = cut_page(records, size, lambda last: (last.benchmark,))
        written = await self._all_written(shown)
        return pb.ListBenchmarksResponse(benchmarks=written, next_page_token=token)

    async def UpdateBenchmark(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self, request: organiser_pb2.UpdateBenchmarkRequest, _: Responses[Any]
    ) -> organiser_pb2.UpdateBenchmarkResponse:
        """Change the fields that the mask names."""
        name = read_benchmark(request.benchmark.name, f"{PATH}.name")
        _refuse_unchangeable(request)
        made = request_of(request, "UpdateBenchmark", self._context)
        while True:
            record = await self._context.read(lambda reader: required_benchmark(reader, name))
            definition = await asyncio.to_thread(self._merged, record, request)
            try:
                return await self._update(request, made, record, definition)
            except OvertakenError:
                continue  # another change was faster: merge with its result

    def _merged(
        self, record: BenchmarkRecord, request: organiser_pb2.UpdateBenchmarkRequest
    ) -> Definition:
        """The definition of a benchmark with the requested fields."""
        present = self._hosting.benchmarks.definition(record)
        merged = write_benchmark(record, present)
        for path in request.update_mask.paths:
            _copy_field(request.benchmark, merged, path)
        keep_budget(merged.policy, present.policy)
        keep_private(merged.policy, present.policy)
        return read_definition(merged)

    async def _update(
        self,
        request: organiser_pb2.UpdateBenchmarkRequest,
        made: Request,
        record: BenchmarkRecord,
        definition: Definition,
    ) -> organiser_pb2.UpdateBenchmarkResponse:
        """Make a change, or preview it."""
        etag = request.benchmark.etag
        if request.validate_only:
            preview = await preview_update(
                self._context, self._hosting.benchmarks, made, record, definition, etag
            )
            written = await self._written(preview.record)
            written.submissions_to_rescore = preview.to_rescore
            return organiser_pb2.UpdateBenchmarkResponse(
                benchmark=written, team_views=map(write_team_view, preview.views)
            )
        changed, to_rescore = await self._hosting.benchmarks.update(made, record, definition, etag)
        self._hosting.rules.forget(record.benchmark)
        self._hosting.live.forget_all(record.benchmark)
        self._hosting.wake()
        written = await self._written(changed)
        written.submissions_to_rescore = to_rescore
        return organiser_pb2.UpdateBenchmarkResponse(benchmark=written)

    async def DeleteBenchmark(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self, request: organiser_pb2.DeleteBenchmarkRequest, _: Responses[Any]
    ) -> organiser_pb2.DeleteBenchmarkResponse:
        """Delete a benchmark with all that belongs to it."""
        name = read_benchmark(request.name)
        made = request_of(request, "DeleteBenchmark", self._context)
        await self._hosting.benchmarks.delete(made, name, force=request.force, etag=request.etag)
        self._hosting.live.forget_all(name)
        return organiser_pb2.DeleteBenchmarkResponse()

    async def UploadTruth(  # type: ignore[override]  # noqa: N802 - gRPC's name; the guard's requests
        self, requests: Requests[organiser_pb2.UploadTruthRequest], _: Responses[Any]
    ) -> organiser_pb2.UploadTruthResponse:
        """Make a revision of the truth."""
        with self._sessions.open(Use.HOSTED):
            header = await _header_of(requests)
            name = read_benchmark(header.benchmark, "header.benchmark")
            record = await self._context.read(lambda reader: required_benchmark(reader, name))
            definition = await asyncio.to_thread(self._hosting.benchmarks.definition, record)
            plan = UploadPlan(name, header.merge, header.complete, header.comment)
            with closing(TruthUpload(definition, self._context.settings)) as upload:
                digest = await self._take_in(requests, header, upload)
                made = replace(request_of(header, "UploadTruth", self._context), digest=digest)
                revision, to_rescore = await self._hosting.truth.commit(made, plan, upload)
        self._hosting.rules.forget(name)
        self._hosting.wake()
        keyed = self._context.keyed(record.benchmark, revision.digest)
        return organiser_pb2.UploadTruthResponse(
            revision=write_truth_revision(revision, keyed, to_rescore)
        )

    async def _take_in(
        self,
        requests: Requests[organiser_pb2.UploadTruthRequest],
        header: organiser_pb2.UploadTruthHeader,
        upload: TruthUpload,
    ) -> str:
        """Receive all batches of an upload, and return the digest of everything sent."""
        digest = hashlib.sha256(b"UploadTruth\0" + header.SerializeToString(deterministic=True))
        async for batch in _batches_of(requests, upload):
            reservation = await self._hosting.budget.reserve(upload, None, held_bytes(batch))
            try:
                data = data_of(batch)
                digest.update(data)
                read, size = partial(self._read, upload, batch), batch_size(batch)
                evaluators = upload.definition.evaluators
                await refuse_by_own_rules(
                    self._hosting.workers, evaluators, Side.TRUTH, read, size, TRUTH
                )
                await offload(size, self._add, upload, read, data)
            finally:
                self._hosting.budget.release(reservation)
        return digest.hexdigest()

    def _read(self, upload: TruthUpload, message: annotations_pb2.AnnotationBatch) -> Annotations:
        known = ARITY_OF_GEOMETRY.get(message.geometry)
        arity = upload.arity_for(known, geometry_name(message.geometry))
        return read_batch(message, TRUTH, BatchRules(arity, self._context.settings))

    def _add(self, upload: TruthUpload, read: Callable[[], Annotations], data: bytes) -> None:
        upload.add(read(), data)

    async def ListTruthRevisions(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self, request: organiser_pb2.ListTruthRevisionsRequest, _: Responses[Any]
    ) -> organiser_pb2.ListTruthRevisionsResponse:
        """A page of revisions."""
        name = read_benchmark(request.benchmark, "benchmark")
        size = page_size_of(request)
        key = read_page_token(request, int) or (None,)

        def read(reader: Reader) -> list[organiser_pb2.TruthRevision]:
            parent = required_benchmark(reader, name)
            definition = self._hosting.benchmarks.definition(parent)
            state = board_state(reader, definition, parent)
            return [
                write_truth_revision(
                    record,
                    self._context.keyed(record.benchmark, record.digest),
                    len(state.waiting) if state.is_under(record.revision) else 0,
                )
                for record in reader.truth_revisions(name, key[0], size + 1)
            ]

        revisions = await self._context.read(read)
        shown, token = cut_page(revisions, size, lambda last: (last.revision,))
        return organiser_pb2.ListTruthRevisionsResponse(revisions=shown, next_page_token=token)

    async def ReadTruth(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self,
        request: organiser_pb2.ReadTruthRequest,
        responses: Responses[organiser_pb2.ReadTruthResponse],
    ) -> None:
        """Send the frames of a revision."""
        async with self._sessions.resumable():
            await send_truth(self._hosting, request, responses)

    async def RescoreSubmissions(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self, request: organiser_pb2.RescoreSubmissionsRequest, _: Responses[Any]
    ) -> organiser_pb2.RescoreSubmissionsResponse:
        """Score stored detections again."""
        name = read_benchmark(request.benchmark, "benchmark")
        names = [
            read_submission(entry, f"submissions[{row}]")
            for row, entry in enumerate(request.submissions)
        ]
        made = request_of(request, "RescoreSubmissions", self._context)
        record = await self._hosting.rescoring.create(made, name, names, request.comment)
        self._hosting.wake()
        return organiser_pb2.RescoreSubmissionsResponse(operation=write_operation(record).name)

    async def GetLeaderboard(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self, request: pb.GetLeaderboardRequest, _: Responses[Any]
    ) -> ReadyAnswer:
        """A page of a board."""
        benchmarks, caller, now = self._hosting.benchmarks, current_caller(), self._context.clock()
        return await self._answers.answer(
            request,
            lambda: self._context.read(
                lambda reader: board_page(reader, benchmarks, self._boards, request, caller, now)
            ),
        )

    async def PublishLeaderboard(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self, request: organiser_pb2.PublishLeaderboardRequest, _: Responses[Any]
    ) -> organiser_pb2.PublishLeaderboardResponse:
        """Move a board, or show the changes that this would make."""
        name = read_benchmark(request.benchmark, "benchmark")
        made = request_of(request, "PublishLeaderboard", self._context)
        changed, revision = await self._hosting.boards.publish(
            made, name, validate_only=request.validate_only
        )
        return organiser_pb2.PublishLeaderboardResponse(
            differences=[organiser_pb2.ScoreDifference(**entry) for entry in changed],
            truth_revision=revision,
        )

    async def GetChecklist(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self, request: pb.GetChecklistRequest, _: Responses[Any]
    ) -> pb.GetChecklistResponse:
        """Questions about the design of a benchmark, with their answers."""
        name = read_benchmark(request.benchmark, "benchmark")
        benchmarks, caller = self._hosting.benchmarks, current_caller()

        def read(reader: Reader) -> tuple[BenchmarkRecord, TruthState]:
            record = benchmarks.seen(reader, name, caller)
            newest = reader.truth_revision(name, record.truth_revision)
            if newest is None:
                return record, TruthState()
            counts = (newest.frame_count, newest.sequence_count, newest.object_count)
            return record, TruthState(newest.revision, newest.complete, *counts)

        record, truth = await self._context.read(read)
        items = checklist(benchmarks.definition(record), truth, for_organisers=caller.is_organiser)
        return pb.GetChecklistResponse(
            items=[
                pb.ChecklistItem(question=item.question, answer=item.answer, advice=item.advice)
                for item in items
            ]
        )

    async def _written(self, record: BenchmarkRecord) -> benchmark_pb2.Benchmark:
        """The part of a benchmark that the caller may see."""
        [written] = await self._all_written([record])
        return written

    async def _all_written(
        self, records: Sequence[BenchmarkRecord]
    ) -> list[benchmark_pb2.Benchmark]:
        """The parts of benchmarks that the caller may see."""
        caller = current_caller()

        def begin() -> list[tuple[BenchmarkRecord, Definition, benchmark_pb2.Benchmark]]:
            definitions = map(self._hosting.benchmarks.definition, records)
            return [
                (record, found, write_benchmark(record, public_definition(caller, found)))
                for record, found in zip(records, definitions, strict=True)
            ]

        def complete(reader: Reader) -> None:
            for record, definition, message in begun:
                self._complete(reader, record, definition, message)

        # In a thread, because an evaluator of a plug-in may take any time to make.
        begun = await asyncio.to_thread(begin)
        await self._context.read(complete)
        return [message for _, _, message in begun]

    def _complete(
        self,
        reader: Reader,
        record: BenchmarkRecord,
        definition: Definition,
        message: benchmark_pb2.Benchmark,
    ) -> None:
        """Add to a benchmark what belongs to it in the store."""
        caller = current_caller()
        message.private_sequence_count = definition.private_sequence_count
        if record.truth_revision:
            revision = reader.truth_revision(record.benchmark, record.truth_revision)
            if revision is not None:
                message.truth_digest = self._context.keyed(record.benchmark, revision.digest)
                message.truth_complete = revision.complete
        if sees_board(caller, definition.policy):
            message.team_count = reader.scored_totals(record.benchmark).teams
        if caller.is_organiser:
            message.etag = self._hosting.benchmarks.etag(record)
            waiting = board_state(reader, definition, record).waiting
            message.submissions_to_rescore = len(waiting)
            message.warnings.extend(policy_warnings(definition))
        else:
            message.ClearField("truth_revision")


def _copy_field(
    source: benchmark_pb2.Benchmark, target: benchmark_pb2.Benchmark, path: str
) -> None:
    """Copy a field from another benchmark, or clear it if it is unset there."""
    target.ClearField(path)
    for field, value in source.ListFields():
        if field.name == path and field.message_type is None:
            setattr(target, path, value)
        elif field.name == path:
            getattr(target, path).CopyFrom(value)


def _refuse_unchangeable(request: organiser_pb2.UpdateBenchmarkRequest) -> None:
    expected = " or ".join(CHANGEABLE)
    paths = list(request.update_mask.paths)
    faults = [
        Fault(repr(path)[:80], expected, field=f"update_mask.paths[{row}]")
        for row, path in enumerate(paths)
        if path not in CHANGEABLE
    ]
    if not paths:
        faults.append(Fault("no path", expected, field="update_mask"))
    if faults:
        raise InputError(faults)


async def _batches_of(
    requests: Requests[organiser_pb2.UploadTruthRequest], upload: TruthUpload
) -> AsyncIterator[annotations_pb2.AnnotationBatch]:
    """The batches of an upload up to its end, which must come and state the number of frames.

    An aborted call also ends the requests: without an end, nothing may be stored.
    """
    async for request in requests:
        kind = request.WhichOneof("message")
        if kind == "end":
            if request.end.frame_count != len(upload.frames):
                found = counted(len(upload.frames), "frame")
                expected = f"{request.end.frame_count}, as the end says"
                raise InputError([Fault(found, expected, source="truth", field="end.frame_count")])
            return
        if kind != "truth":
            raise message_order("another header, or nothing", "truth or end")
        yield request.truth
    raise message_order("the end of the stream", "end, with the number of frames")


async def _header_of(
    requests: Requests[organiser_pb2.UploadTruthRequest],
) -> organiser_pb2.UploadTruthHeader:
    request = await anext(requests, None)
    if request is None:
        raise message_order("the end of the stream", "a header")
    if request.WhichOneof("message") != "header":
        raise message_order(str(request.WhichOneof("message")), "a header")
    return request.header
