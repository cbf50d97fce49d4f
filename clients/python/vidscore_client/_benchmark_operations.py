"""The unary calls of benchmarks, each written once for both clients; see `_operations`."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator

from google.protobuf.field_mask_pb2 import FieldMask

from vidscore.v1 import benchmark_service_pb2 as wire
from vidscore.v1 import organiser_pb2
from vidscore_client._definition import (
    GEOMETRY_FIELDS,
    TIME_FIELDS,
    UPDATABLE,
    Definition,
    encode_definition,
)
from vidscore_client._encoding import checksum, encode_frames
from vidscore_client._hosting_decoding import (
    decode_benchmark,
    decode_difference,
    decode_row,
    decode_truth_revision,
)
from vidscore_client._long_operations import LongKind, OperationStatus
from vidscore_client._names import benchmark_name, submission_name
from vidscore_client._operations import Operation, UnaryRequest, list_pages
from vidscore_client._upload import messages_of
from vidscore_client.errors import InputError
from vidscore_client.frames import Frames, text
from vidscore_client.hosting import (
    Benchmark,
    Leaderboard,
    RescoreProgress,
    ScoreDifference,
    TruthRevision,
)

_BENCHMARKS = "/vidscore.v1.BenchmarkService/"


def create_benchmark(benchmark: str, definition: Definition) -> Operation[Benchmark]:
    """Create a benchmark."""
    response = yield UnaryRequest(
        _BENCHMARKS + "CreateBenchmark",
        organiser_pb2.CreateBenchmarkRequest(
            benchmark_id=text("benchmark", benchmark),
            benchmark=encode_definition(definition),
            request_id=str(uuid.uuid4()),
        ),
        organiser_pb2.CreateBenchmarkResponse,
    )
    return decode_benchmark(response.benchmark)


def get_benchmark(benchmark: str) -> Operation[Benchmark]:
    """One benchmark."""
    response = yield UnaryRequest(
        _BENCHMARKS + "GetBenchmark",
        wire.GetBenchmarkRequest(name=benchmark_name(benchmark)),
        wire.GetBenchmarkResponse,
    )
    return decode_benchmark(response.benchmark, response.quotas)


def list_benchmarks() -> Operation[list[Benchmark]]:
    """Every benchmark."""
    pages = yield from list_pages(
        _BENCHMARKS + "ListBenchmarks", wire.ListBenchmarksRequest(), wire.ListBenchmarksResponse
    )
    return [decode_benchmark(benchmark) for page in pages for benchmark in page.benchmarks]


def update_benchmark(
    benchmark: str, definition: Definition, *, replace: bool
) -> Operation[Benchmark]:
    """Change what the definition names or, to replace it, everything that may change."""
    present = yield from get_benchmark(benchmark)
    for field in GEOMETRY_FIELDS:
        known = present.definition.get(field)
        if definition.get(field) not in {None, known}:
            expected = (
                "nothing: the first truth says it"
                if known is None
                else (f"{known!r}, which cannot be changed")
            )
            raise InputError(field, repr(definition[field])[:80], expected)
    whole = definition if replace else {**present.definition, **definition}
    message = encode_definition(whole)
    message.name = benchmark_name(benchmark)
    message.etag = present.etag
    response = yield UnaryRequest(
        _BENCHMARKS + "UpdateBenchmark",
        organiser_pb2.UpdateBenchmarkRequest(
            benchmark=message,
            update_mask=FieldMask(paths=UPDATABLE if replace else _fields_of(definition)),
        ),
        organiser_pb2.UpdateBenchmarkResponse,
    )
    return decode_benchmark(response.benchmark)


def delete_benchmark(benchmark: str, *, force: bool) -> Operation[None]:
    """Delete a benchmark."""
    yield UnaryRequest(
        _BENCHMARKS + "DeleteBenchmark",
        organiser_pb2.DeleteBenchmarkRequest(name=benchmark_name(benchmark), force=force),
        organiser_pb2.DeleteBenchmarkResponse,
    )


def truth_requests(
    benchmark: str, batches: Iterable[Frames], *, merge: bool, complete: bool, comment: str
) -> Iterator[organiser_pb2.UploadTruthRequest]:
    """What an upload of truth sends.

    Raises:
        InputError: If an argument is wrong; a batch that is none, when its turn comes.
    """
    if isinstance(batches, Frames):
        raise InputError("batches", "one batch", "a list of batches")
    header = organiser_pb2.UploadTruthHeader(
        benchmark=benchmark_name(benchmark),
        merge=merge,
        complete=complete,
        comment=text("comment", comment),
        request_id=str(uuid.uuid4()),
    )
    return _truth_requests(header, batches)


def list_truth_revisions(benchmark: str) -> Operation[list[TruthRevision]]:
    """Every revision, newest first."""
    pages = yield from list_pages(
        _BENCHMARKS + "ListTruthRevisions",
        organiser_pb2.ListTruthRevisionsRequest(benchmark=benchmark_name(benchmark)),
        organiser_pb2.ListTruthRevisionsResponse,
    )
    return [decode_truth_revision(revision) for page in pages for revision in page.revisions]


def get_leaderboard(
    benchmark: str, evaluator: str, domain: str | None, class_: str | None
) -> Operation[Leaderboard]:
    """A whole board."""
    pages = yield from list_pages(
        _BENCHMARKS + "GetLeaderboard",
        wire.GetLeaderboardRequest(
            benchmark=benchmark_name(benchmark),
            evaluator=text("evaluator", evaluator),
            domain=domain,
            label=class_,
        ),
        wire.GetLeaderboardResponse,
    )
    last = pages[-1]
    return Leaderboard(
        rows=tuple(decode_row(row) for page in pages for row in page.rows),
        ranking=tuple(last.ranking),
        truth_revision=last.truth_revision,
        newest_truth_revision=last.newest_truth_revision,
        submissions_to_rescore=last.submissions_to_rescore,
        publishable=last.publishable,
    )


def publish_leaderboard(benchmark: str, *, validate_only: bool) -> Operation[list[ScoreDifference]]:
    """Move a board, or only see what that would change."""
    response = yield UnaryRequest(
        _BENCHMARKS + "PublishLeaderboard",
        organiser_pb2.PublishLeaderboardRequest(
            benchmark=benchmark_name(benchmark), validate_only=validate_only
        ),
        organiser_pb2.PublishLeaderboardResponse,
    )
    return [decode_difference(entry) for entry in response.differences]


RESCORING = LongKind(
    "re-scoring",
    organiser_pb2.RescoreMetadata,
    organiser_pb2.RescoreResponse,
    lambda metadata: RescoreProgress(metadata.submissions_done, metadata.submissions_in_all),
    lambda response: [decode_difference(entry) for entry in response.differences],
)

RescoringStatus = OperationStatus[RescoreProgress, list[ScoreDifference]]


def rescore_submissions(
    benchmark: str, submissions: Iterable[str], comment: str
) -> Operation[RescoringStatus]:
    """Begin to score stored detections again."""
    if isinstance(submissions, str):
        raise InputError("submissions", "one text", "a list of names")
    response = yield UnaryRequest(
        _BENCHMARKS + "RescoreSubmissions",
        organiser_pb2.RescoreSubmissionsRequest(
            benchmark=benchmark_name(benchmark),
            submissions=[submission_name(submission) for submission in submissions],
            comment=text("comment", comment),
            request_id=str(uuid.uuid4()),
        ),
        organiser_pb2.RescoreSubmissionsResponse,
    )
    return (yield from RESCORING.get(response.operation))


def _fields_of(definition: Definition) -> list[str]:
    """Names of the updatable fields that a definition sets."""
    apart = {*TIME_FIELDS, "policy", "public_names"}
    fields = [field for field in definition if field in apart]
    if set(definition) - apart - set(GEOMETRY_FIELDS):
        fields.append("specification")
    return fields


def _truth_requests(
    header: organiser_pb2.UploadTruthHeader, batches: Iterable[Frames]
) -> Iterator[organiser_pb2.UploadTruthRequest]:
    yield organiser_pb2.UploadTruthRequest(header=header)
    frame_count = 0
    for frames in messages_of("batches", batches):
        frame_count += frames.frame_count
        truth = encode_frames(frames)
        yield organiser_pb2.UploadTruthRequest(truth=truth, truth_crc32=checksum(truth))
    yield organiser_pb2.UploadTruthRequest(
        end=organiser_pb2.UploadTruthEnd(frame_count=frame_count)
    )
