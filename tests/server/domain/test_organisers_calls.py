"""Truth read back, policies previewed before they apply, and the queue."""

from __future__ import annotations

from typing import Any

from google.protobuf.field_mask_pb2 import FieldMask
from tests.server.domain.hosted import BENCHMARK, TRUTH, Hosted, dots, refusal
from tests.server.scene import points

from vidscore_protos.v1 import (
    benchmark_pb2,
    organiser_pb2,
    server_service_pb2,
    server_service_pb2_grpc,
    submission_service_pb2,
)


async def _read(hosted: Hosted, **asked: Any) -> list[organiser_pb2.ReadTruthResponse]:
    request = organiser_pb2.ReadTruthRequest(benchmark=BENCHMARK, **asked)
    organiser = hosted.organiser
    call = organiser.benchmarks.ReadTruth(request, metadata=organiser.metadata)
    return [response async for response in call]


async def test_truth_is_read_back_as_it_was_uploaded(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark()
    await hosted.organiser.upload(TRUTH)
    [answer] = await _read(hosted)
    assert (answer.revision, answer.next_offset) == (1, 5)
    for field in ("frame_numbers", "frame_object_counts", "coordinates"):
        assert list(getattr(answer.truth, field)) == list(getattr(TRUTH, field))


async def test_reading_continues_from_an_offset_and_ends_beyond_the_last(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark()
    await hosted.organiser.upload(TRUTH)
    [answer] = await _read(hosted, offset=2)
    assert list(answer.truth.frame_numbers) == [3, 4, 5]
    assert list(answer.truth.coordinates) == [50.5, 60.5]
    for offset in (5, 99):
        [answer] = await _read(hosted, offset=offset)
        assert (list(answer.truth.frame_numbers), answer.next_offset) == ([], 5)


async def test_a_revision_has_counts_of_its_content(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark()
    first = await hosted.organiser.upload(TRUTH)
    assert (first.object_count, first.sequence_count, first.label_count) == (3, 1, 1)
    second = await hosted.organiser.upload(points({1: [(1.0, 1.0)]}), merge=True)
    assert (second.frame_count, second.object_count) == (5, 2)


async def test_missing_truth_is_not_found(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark()
    organiser = hosted.organiser

    async def ask(**asked: Any) -> None:
        request = organiser_pb2.ReadTruthRequest(**asked)
        async for _ in organiser.benchmarks.ReadTruth(request, metadata=organiser.metadata):
            pass

    for asked in ({"benchmark": BENCHMARK}, {"benchmark": BENCHMARK, "revision": 7}):
        assert (await refusal(ask(**asked))).reason == "NOT_FOUND"
    assert (await refusal(ask(benchmark=BENCHMARK, offset=-1))).reason == "INVALID_INPUT"


async def _preview(
    hosted: Hosted, etag: str = "", **policy: Any
) -> organiser_pb2.UpdateBenchmarkResponse:
    changed = dots(**policy)
    changed.name, changed.etag = BENCHMARK, etag
    request = organiser_pb2.UpdateBenchmarkRequest(
        benchmark=changed, update_mask=FieldMask(paths=["policy"]), validate_only=True
    )
    organiser = hosted.organiser
    return await organiser.benchmarks.UpdateBenchmark(request, metadata=organiser.metadata)


async def test_a_preview_shows_what_each_team_would_see_and_changes_nothing(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark(visibility=benchmark_pb2.VISIBILITY_LADDER)
    await hosted.organiser.upload(TRUTH)
    await hosted.red.submit(TRUTH, "one")
    await hosted.red.ended("one")
    before = [str(await hosted.red.board()), str(await hosted.red.scores("one"))]
    answer = await _preview(hosted, visibility=benchmark_pb2.VISIBILITY_LIVE)
    [view] = answer.team_views
    assert (view.team, view.evaluator) == ("red", "spotgeo")
    assert (view.now.rank, view.then.rank) == (1, 1)
    assert {entry.measure: entry.value for entry in view.now.values} == {"f1": 1.0, "mse": 0.0}
    seen = len((await hosted.red.scores("one"))[0].report.scores)
    assert view.now.score_count == seen < view.then.score_count
    assert [str(await hosted.red.board()), str(await hosted.red.scores("one"))] == before
    assert answer.benchmark.policy.visibility == benchmark_pb2.VISIBILITY_LIVE


async def test_a_preview_shows_that_a_board_would_no_longer_be_public(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark()
    await hosted.organiser.upload(TRUTH)
    await hosted.red.submit(TRUTH, "one")
    await hosted.red.ended("one")
    [view] = (await _preview(hosted, public_board=False)).team_views
    assert (view.now.rank, view.then.rank, view.then.submission) == (1, 0, "")


async def test_a_preview_is_refused_like_the_change(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark()
    assert (await refusal(_preview(hosted, etag="0" * 32))).reason == "ETAG_DIFFERS"


async def test_the_queue_lists_unscored_submissions_and_counts_all(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark()
    await hosted.organiser.upload(TRUTH, complete=False)
    await hosted.red.submit(TRUTH, "one")
    await hosted.blue.begin(TRUTH, "two")
    stub = server_service_pb2_grpc.ServerServiceStub(hosted.channel)
    await hosted.hosting.work()
    waiting = submission_service_pb2.SUBMISSION_STATE_WAITING_FOR_TRUTH
    receiving = submission_service_pb2.SUBMISSION_STATE_RECEIVING

    async def queue(**asked: Any) -> server_service_pb2.GetQueueResponse:
        request = server_service_pb2.GetQueueRequest(**asked)
        answer: server_service_pb2.GetQueueResponse = await stub.GetQueue(
            request, metadata=hosted.organiser.metadata
        )
        return answer

    found = await queue()
    assert [(entry.name, entry.state) for entry in found.submissions] == [
        (f"{BENCHMARK}/submissions/one", waiting)
    ]
    assert {entry.state: entry.count for entry in found.counts} == {receiving: 1, waiting: 1}
    both = await queue(states=[receiving, waiting], page_size=1)
    assert both.next_page_token
    rest = await queue(states=[receiving, waiting], page_token=both.next_page_token)
    names = [entry.name for page in (both, rest) for entry in page.submissions]
    assert sorted(names) == [f"{BENCHMARK}/submissions/{name}" for name in ("one", "two")]
    assert (await refusal(queue(states=[99]))).reason == "INVALID_INPUT"
