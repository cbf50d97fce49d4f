"""Benchmarks and their truth over a channel."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp
from msgspec.structs import replace
from tests.server.domain.hosted import BENCHMARK, TRUTH, Client, Hosted, dots, refusal
from tests.server.domain.streets import streets, things
from tests.server.scene import HERE, points
from tests.support.waiting import TIMEOUT_S

from vidscore_protos.v1 import (
    annotations_pb2,
    benchmark_pb2,
    organiser_pb2,
    submission_service_pb2,
)
from vidscore_protos.v1 import benchmark_service_pb2 as pb
from vidscore_server.domain.context import Context
from vidscore_server.logs import current_call
from vidscore_server.store import Reader, Transaction


async def _delete(client: Client, *, force: bool, etag: str = "") -> None:
    request = organiser_pb2.DeleteBenchmarkRequest(name=BENCHMARK, force=force, etag=etag)
    await client.benchmarks.DeleteBenchmark(request, metadata=client.metadata)


async def _revisions(client: Client) -> list[organiser_pb2.TruthRevision]:
    request = organiser_pb2.ListTruthRevisionsRequest(benchmark=BENCHMARK)
    answer = await client.benchmarks.ListTruthRevisions(request, metadata=client.metadata)
    return list(answer.revisions)


async def test_of_two_updates_at_once_each_changes_only_its_own_fields(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second one, and a first upload of truth, are stored after the first has read."""
    benchmark = streets()
    benchmark.ClearField("truth_geometry")
    benchmark.ClearField("detection_geometry")
    await hosted.organiser.create(benchmark)
    benchmarks = hosted.hosting.benchmarks
    update = benchmarks.update

    async def overtaken(*arguments: Any) -> Any:
        monkeypatch.setattr(benchmarks, "update", update)
        other = benchmark_pb2.Benchmark(description="By night.")
        await hosted.organiser.update(other, "description")
        await hosted.organiser.upload(things({1: ["car"]}))
        return await update(*arguments)

    monkeypatch.setattr(benchmarks, "update", overtaken)
    policy = benchmark_pb2.Policy(ladder_step=0.5)
    await hosted.organiser.update(benchmark_pb2.Benchmark(policy=policy), "policy")
    found = (await hosted.organiser.benchmark()).benchmark
    assert (found.description, found.policy.ladder_step) == ("By night.", 0.5)
    assert found.truth_geometry == annotations_pb2.GEOMETRY_BOX


async def test_a_benchmark_is_read_as_it_was_created(hosted: Hosted) -> None:
    created = await hosted.organiser.create_benchmark(submissions_per_day=3)
    assert created == (await hosted.organiser.benchmark()).benchmark
    assert created.policy.submissions_per_day == 3
    assert created.name == BENCHMARK


async def test_the_same_request_creates_once_and_a_different_one_with_its_id_is_refused(
    hosted: Hosted,
) -> None:
    client = hosted.organiser
    request = organiser_pb2.CreateBenchmarkRequest(
        benchmark_id="dots", benchmark=dots(), request_id="r1"
    )
    answers = [
        await client.benchmarks.CreateBenchmark(request, metadata=client.metadata) for _ in range(2)
    ]
    assert answers[0] == answers[1]
    request.benchmark_id = "other"
    found = await refusal(client.benchmarks.CreateBenchmark(request, metadata=client.metadata))
    assert found.reason == "REQUEST_ID_REUSED"
    request.request_id = ""
    request.benchmark_id = "dots"
    found = await refusal(client.benchmarks.CreateBenchmark(request, metadata=client.metadata))
    assert (found.code, found.reason) == (grpc.StatusCode.ALREADY_EXISTS, "NAME_TAKEN")


async def test_every_fault_of_a_benchmark_is_reported_with_its_place(hosted: Hosted) -> None:
    message = dots(visibility=77)
    message.detection_geometry = 77  # type: ignore[assignment]
    message.specification.evaluators[0].name = "spot"
    request = organiser_pb2.CreateBenchmarkRequest(benchmark_id="dots", benchmark=message)
    found = await refusal(
        hosted.organiser.benchmarks.CreateBenchmark(request, metadata=hosted.organiser.metadata)
    )
    assert set(found.violations) == {
        "benchmark.policy.visibility",
        "benchmark.detection_geometry",
        "benchmark.evaluators[0].name",
    }


async def test_an_update_changes_only_what_the_mask_names(hosted: Hosted) -> None:
    before = await hosted.organiser.create_benchmark(submissions_in_all=9)
    message = dots(submissions_in_all=1)
    message.open_time.FromJsonString("2026-05-01T00:00:00Z")
    hosted.clock.pass_by(seconds=1)
    after = await hosted.organiser.update(message, "open_time")
    assert after.open_time == message.open_time
    assert after.policy == before.policy
    cleared = await hosted.organiser.update(dots(), "open_time")
    assert not cleared.HasField("open_time")


@pytest.mark.parametrize("paths", [(), ("name",), ("truth_geometry",), ("policy.ladder_step",)])
async def test_changes_of_fixed_fields_are_refused(hosted: Hosted, paths: tuple[str, ...]) -> None:
    await hosted.organiser.create_benchmark()
    found = await refusal(hosted.organiser.update(dots(), *paths))
    assert found.code is grpc.StatusCode.INVALID_ARGUMENT


async def test_an_update_with_an_outdated_etag_is_refused(hosted: Hosted) -> None:
    created = await hosted.organiser.create_benchmark()
    mine, theirs = dots(submissions_per_day=1), dots(submissions_per_day=2)
    mine.etag = theirs.etag = created.etag
    changed = await hosted.organiser.update(theirs, "policy")
    assert changed.etag not in {"", created.etag}
    found = await refusal(hosted.organiser.update(mine, "policy"))
    assert (found.code, found.reason) == (grpc.StatusCode.ABORTED, "ETAG_DIFFERS")
    assert (await hosted.organiser.benchmark()).benchmark == changed
    mine.etag = changed.etag
    assert (await hosted.organiser.update(mine, "policy")).policy.submissions_per_day == 1
    mine.etag = ""
    assert (await hosted.organiser.update(mine, "policy")).policy.submissions_per_day == 1


async def test_a_deletion_with_an_outdated_etag_is_refused(hosted: Hosted) -> None:
    created = await hosted.organiser.create_benchmark()
    changed = await hosted.organiser.update(dots(submissions_per_day=2), "policy")
    found = await refusal(_delete(hosted.organiser, force=False, etag=created.etag))
    assert (found.code, found.reason) == (grpc.StatusCode.ABORTED, "ETAG_DIFFERS")
    assert (await hosted.organiser.benchmark()).benchmark == changed
    await _delete(hosted.organiser, force=False, etag=changed.etag)
    found = await refusal(hosted.organiser.benchmark())
    assert found.code is grpc.StatusCode.NOT_FOUND


async def test_only_organisers_see_the_etag_and_truth_does_not_change_it(hosted: Hosted) -> None:
    created = await hosted.organiser.create_benchmark()
    await hosted.organiser.upload(TRUTH)
    assert (await hosted.organiser.benchmark()).benchmark.etag == created.etag
    for client in (hosted.red, hosted.viewer):
        assert (await client.benchmark()).benchmark.etag == ""


async def test_a_benchmark_with_submissions_is_deleted_only_by_force(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark()
    await hosted.red.begin(points({1: HERE}))
    found = await refusal(_delete(hosted.organiser, force=False))
    assert found.reason == "HAS_SUBMISSIONS"
    await _delete(hosted.organiser, force=True)
    assert (await refusal(hosted.organiser.benchmark())).code is grpc.StatusCode.NOT_FOUND
    await hosted.organiser.create_benchmark()
    assert (await refusal(hosted.red.get())).code is grpc.StatusCode.NOT_FOUND


async def test_benchmarks_are_paged_by_name(hosted: Hosted) -> None:
    for name in ("c", "a", "b"):
        await hosted.organiser.create_benchmark(name)
    names, token = [], ""
    while True:
        request = pb.ListBenchmarksRequest(page_size=2, page_token=token)
        page = await hosted.viewer.benchmarks.ListBenchmarks(
            request, metadata=hosted.viewer.metadata
        )
        names += [benchmark.name for benchmark in page.benchmarks]
        token = page.next_page_token
        if not token:
            break
    assert names == ["benchmarks/a", "benchmarks/b", "benchmarks/c"]


async def test_a_page_of_many_benchmarks_takes_no_more_reads_of_the_store_than_one_of_few(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each read is a transaction of its own."""
    reads: list[object] = []
    read = Context.read

    async def counted(context: Context, query: Callable[[Reader], object]) -> object:
        if current_call():  # not by the server's own work
            reads.append(query)
        return await read(context, query)

    for name in ("a", "b", "c"):
        await hosted.organiser.create_benchmark(name)
    monkeypatch.setattr(Context, "read", counted)
    counts = []
    for size in (1, 3):
        reads.clear()
        request = pb.ListBenchmarksRequest(page_size=size)
        metadata = hosted.organiser.metadata
        listed = await hosted.organiser.benchmarks.ListBenchmarks(request, metadata=metadata)
        assert len(listed.benchmarks) == size
        counts.append(len(reads))
    assert counts[0] == counts[1] > 0


async def test_a_page_token_of_another_list_is_refused(hosted: Hosted) -> None:
    request = pb.ListBenchmarksRequest(page_token="WzZd")
    found = await refusal(
        hosted.viewer.benchmarks.ListBenchmarks(request, metadata=hosted.viewer.metadata)
    )
    assert "page_token" in found.violations


async def test_submissions_are_accepted_from_opening_to_closing(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark()
    noon = Timestamp()
    noon.FromDatetime(hosted.clock.now)
    message = dots()
    message.open_time.seconds = noon.seconds + 10
    message.close_time.seconds = noon.seconds + 20
    await hosted.organiser.update(message, "open_time", "close_time")
    early = await refusal(hosted.red.submission("early"))
    assert (early.code, early.reason) == (
        grpc.StatusCode.FAILED_PRECONDITION,
        "BENCHMARK_NOT_OPEN",
    )
    hosted.clock.pass_by(seconds=10)
    await hosted.red.begin(points({1: HERE}), "right")
    hosted.clock.pass_by(seconds=10)
    late = await refusal(hosted.red.submission("late"))
    assert late.reason == "BENCHMARK_NOT_OPEN"
    await hosted.expire()
    assert (await hosted.red.get("right")).state_reason in {"sealed_at_closing", "truth_missing"}


# --- truth --------------------------------------------------------------------------------------


async def test_a_merge_adds_new_frames_and_replaces_existing_ones(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark()
    await hosted.organiser.upload(points({1: HERE, 2: HERE}), complete=False)
    merged = await hosted.organiser.upload(points({2: [], 3: HERE}), merge=True)
    assert (merged.revision, merged.frame_count, merged.complete) == (2, 3, True)
    whole = await hosted.organiser.upload(points({3: HERE, 1: HERE}), points({2: []}))
    assert (whole.revision, whole.digest) == (3, merged.digest)


async def test_a_refused_upload_creates_no_revision(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark()
    for batches in (
        (points({1: HERE}), points({1: []})),
        (points({1: [(float("inf"), 0.0)]}),),
        (points({9: HERE}),),
    ):
        found = await refusal(hosted.organiser.upload(*batches))
        assert found.code is grpc.StatusCode.INVALID_ARGUMENT
    assert await _revisions(hosted.organiser) == []


@pytest.mark.parametrize("ends", [(), (organiser_pb2.UploadTruthEnd(frame_count=2),)])
async def test_an_upload_without_its_end_creates_no_revision(
    hosted: Hosted, ends: tuple[organiser_pb2.UploadTruthEnd, ...]
) -> None:
    """A call that breaks off looks like one whose client has closed its side."""
    await hosted.organiser.create_benchmark()
    requests = [
        organiser_pb2.UploadTruthRequest(
            header=organiser_pb2.UploadTruthHeader(benchmark=BENCHMARK)
        ),
        organiser_pb2.UploadTruthRequest(truth=points({1: HERE})),
        *(organiser_pb2.UploadTruthRequest(end=end) for end in ends),
    ]
    client = hosted.organiser
    found = await refusal(client.benchmarks.UploadTruth(iter(requests), metadata=client.metadata))
    assert found.code is grpc.StatusCode.INVALID_ARGUMENT
    assert await _revisions(client) == []


async def test_the_same_upload_creates_one_revision(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark()
    first = await hosted.organiser.upload(TRUTH, request_id="u1")
    assert await hosted.organiser.upload(TRUTH, request_id="u1") == first
    found = await refusal(hosted.organiser.upload(points({1: HERE}), request_id="u1"))
    assert found.reason == "REQUEST_ID_REUSED"
    assert len(await _revisions(hosted.organiser)) == 1


async def test_revisions_are_listed_newest_first(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark()
    for number in (1, 2, 3):
        await hosted.organiser.upload(points({number: HERE}))
    assert [entry.revision for entry in await _revisions(hosted.organiser)] == [3, 2, 1]
    assert (await hosted.organiser.benchmark()).benchmark.truth_revision == 3
    assert (await hosted.red.benchmark()).benchmark.truth_revision == 0


async def test_frames_outside_a_video_of_the_specification_are_refused(hosted: Hosted) -> None:
    message = dots()
    message.specification.sequences.add(name="1", frame_count=2, first_frame=1)
    client = hosted.organiser
    request = organiser_pb2.CreateBenchmarkRequest(benchmark_id="dots", benchmark=message)
    await client.benchmarks.CreateBenchmark(request, metadata=client.metadata)
    found = await refusal(client.upload(points({3: HERE})))
    assert found.code is grpc.StatusCode.INVALID_ARGUMENT
    stream = await hosted.red.submission()
    found = await refusal(hosted.red.append(stream, 0, points({1: HERE}, sequence="2")))
    assert "detections.sequences[0]" in found.violations


# --- quotas -------------------------------------------------------------------------------------


async def test_a_team_has_a_daily_quota_and_cancelled_submissions_do_not_count(
    hosted: Hosted,
) -> None:
    await hosted.organiser.create_benchmark(submissions_per_day=1, submissions_in_all=2)
    await hosted.organiser.upload(TRUTH)
    await hosted.red.begin(points({1: HERE}), "given-up")
    await hosted.red.cancel("given-up")
    await hosted.red.submit(points({1: HERE}), "first")
    found = await refusal(hosted.red.submission("second"))
    assert (found.code, found.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "QUOTA_EXCEEDED")
    assert found.metadata["quota"] == "submissions_per_day"
    await hosted.blue.begin(points({1: HERE}), "of-blue")
    hosted.clock.pass_by(days=1)
    await hosted.red.begin(points({1: HERE}), "second")
    hosted.clock.pass_by(days=1)
    found = await refusal(hosted.red.submission("third"))
    assert found.metadata["quota"] == "submissions_in_all"


async def test_submissions_created_earlier_do_not_evade_the_daily_quota(hosted: Hosted) -> None:
    week = Duration(seconds=7 * 86_400)
    await hosted.organiser.create_benchmark(submissions_per_day=1, quiet_timeout=week)
    await hosted.red.begin(points({1: HERE}), "yesterdays")
    hosted.clock.pass_by(days=1)
    await hosted.red.begin(points({1: HERE}), "todays")
    found = await refusal(hosted.red.seal("yesterdays"))
    assert found.reason == "QUOTA_EXCEEDED"
    await hosted.red.seal("todays")
    hosted.clock.pass_by(days=1)
    await hosted.red.seal("yesterdays")


async def test_simultaneous_merges_are_all_in_the_last_revision(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark()
    await hosted.organiser.upload(points({1: []}))
    uploads = (points({number: [(1.0, 2.0)]}) for number in range(2, 6))
    made = await asyncio.gather(
        *(hosted.organiser.upload(upload, merge=True) for upload in uploads)
    )
    assert sorted(revision.revision for revision in made) == list(range(2, 6))
    newest = max(made, key=lambda revision: revision.revision)
    assert newest.frame_count == 5


async def test_an_unreadable_benchmark_does_not_block_others(hosted: Hosted) -> None:
    """For example, if the evaluator of a plug-in is no longer installed."""
    await hosted.organiser.create_benchmark("odd")
    await hosted.organiser.create_benchmark()
    await hosted.organiser.upload(TRUTH)
    draft = submission_service_pb2.CreateSubmissionRequest(benchmark="benchmarks/odd")
    await hosted.red.submissions.CreateSubmission(draft, metadata=hosted.red.metadata)

    def forget_evaluator(transaction: Transaction) -> None:
        record = transaction.benchmark("odd")
        assert record is not None
        text = record.definition.replace('"spotgeo"', '"gone"')
        transaction.update_benchmark(replace(record, definition=text, revision=record.revision + 1))

    await hosted.hosting.context.write(forget_evaluator)
    await hosted.red.submit(TRUTH)
    assert (await hosted.red.ended()).submission.state_reason == "scored"
    await hosted.organiser.upload(points({1: HERE}))
    async with asyncio.timeout(TIMEOUT_S):
        while (await hosted.red.board()).truth_revision != 2:
            pass
    request = pb.ListBenchmarksRequest()
    listed = await hosted.red.benchmarks.ListBenchmarks(request, metadata=hosted.red.metadata)
    assert [benchmark.name for benchmark in listed.benchmarks] == [BENCHMARK]
