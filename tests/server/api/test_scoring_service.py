"""The three ways to score, over a channel, with only the generated stubs."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from functools import partial
from typing import NoReturn

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from tests.server.running import Running, serving
from tests.server.scene import (
    HERE,
    Refused,
    configuration,
    counts,
    points,
    refused,
    request,
    stream,
)

from vidscore_evaluators.alignment import Aligned
from vidscore_evaluators.jobs import Job
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.scoring import score_annotations
from vidscore_evaluators.spotgeo import SpotGeo
from vidscore_protos.v1 import annotations_pb2, scoring_service_pb2, scoring_service_pb2_grpc
from vidscore_server.api import scoring
from vidscore_server.api.batches import read_batch
from vidscore_server.api.convert import write_reports
from vidscore_server.domain import sessions
from vidscore_server.domain.batches import BatchRules
from vidscore_server.domain.scoring_session import RunConfiguration
from vidscore_server.settings import Settings
from vidscore_server.workers import WorkerPool

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.usefixtures("moody")]

Call = grpc.aio.StreamStreamCall[
    scoring_service_pb2.ScoreRequest, scoring_service_pb2.ScoreResponse
]

TRUTH = points({1: [(10.0, 20.0), (300.0, 200.0)], 2: [], 3: [(50.5, 60.5)], 4: [], 5: HERE})
DETECTIONS = points({1: [(11.0, 20.0)], 2: [(1.0, 1.0)], 3: [(50.0, 60.0)], 4: [], 5: []})


def _stub(running: Running) -> scoring_service_pb2_grpc.ScoringServiceAsyncStub:
    return scoring_service_pb2_grpc.ScoringServiceStub(running.channel)


async def _score(
    running: Running, requests: Iterable[scoring_service_pb2.ScoreRequest]
) -> list[scoring_service_pb2.ScoreResponse]:
    return [response async for response in _stub(running).Score(iter(requests))]


async def _refused(
    running: Running, requests: Iterable[scoring_service_pb2.ScoreRequest]
) -> Refused:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await _score(running, requests)
    return refused(caught.value)


async def _read(call: Call) -> scoring_service_pb2.ScoreResponse:
    response = await call.read()
    assert isinstance(response, scoring_service_pb2.ScoreResponse)
    return response


async def _last(call: Call) -> scoring_service_pb2.ScoreResponse:
    last = await _read(call)
    while isinstance(response := await call.read(), scoring_service_pb2.ScoreResponse):
        last = response
    return last


def _by_frame(
    side: str, batch: annotations_pb2.AnnotationBatch
) -> list[tuple[str, annotations_pb2.AnnotationBatch]]:
    """The frames of a batch of points, one batch per frame."""
    ends = [sum(batch.frame_object_counts[: row + 1]) for row in range(len(batch.frame_numbers))]
    pairs = list(zip(batch.coordinates[::2], batch.coordinates[1::2], strict=True))
    return [
        (side, points({number: pairs[end - count : end]}))
        for number, count, end in zip(
            batch.frame_numbers, batch.frame_object_counts, ends, strict=True
        )
    ]


@pytest.mark.slow
async def test_each_way_to_score_gives_the_librarys_report_bit_for_bit(running: Running) -> None:
    message = configuration("spotgeo", "moody")
    rules = BatchRules(2, Settings())
    truth, detections = (read_batch(batch, "", rules) for batch in (TRUTH, DETECTIONS))
    evaluators = [create_evaluator("spotgeo"), create_evaluator("moody")]
    expected = write_reports(score_annotations(evaluators, truth, detections))

    whole = stream(message, ("detections", DETECTIONS), ("truth", TRUTH))
    frames = stream(message, *_by_frame("truth", TRUTH), *_by_frame("detections", DETECTIONS))
    batch = scoring_service_pb2.ScoreBatchRequest(
        configuration=message,
        truth=[entry for _, entry in _by_frame("truth", TRUTH)],
        detections=[DETECTIONS],
    )

    stub = _stub(running)
    for requests in (whole, frames):
        responses = await _score(running, requests)
        assert [entry.WhichOneof("message") for entry in responses] == ["started", "final"]
        assert list(responses[-1].final.reports) == expected
    assert list((await stub.ScoreBatch(batch)).reports) == expected


async def test_the_first_response_states_the_version_and_the_limits(running: Running) -> None:
    [first, _] = await _score(running, stream(configuration("moody")))
    assert first.started.server_version
    assert first.started.limits["maximum_message_bytes"] == Settings().maximum_message_bytes


async def test_live_reports_arrive_while_the_stream_is_open_and_state_their_coverage(
    running: Running,
) -> None:
    live = scoring_service_pb2.LiveReporting(frame_interval=1)
    call = _stub(running).Score()
    await call.write(stream(configuration("moody", live=live))[0])
    assert (await _read(call)).HasField("started")
    for number in (1, 2):
        await call.write(request("truth", points({number: HERE, number + 10: HERE})))
        await call.write(request("detections", points({number: HERE})))
        while True:
            response = await _read(call)
            if response.live.coverage.paired_frames == number:
                break
        assert counts(response.live.reports[0])["frames"] == number
        assert response.live.coverage.frames_waiting_for_detections == number
        assert response.live.coverage.frames_waiting_for_truth == 0
    await call.done_writing()
    assert counts((await _last(call)).final.reports[0])["frames"] == 4


async def test_a_live_summary_has_neither_single_sequences_nor_curves(running: Running) -> None:
    live = scoring_service_pb2.LiveReporting(
        time_interval=Duration(nanos=1_000_000), summary_only=True
    )
    call = _stub(running).Score()
    for message in stream(
        configuration("moody", live=live), ("truth", TRUTH), ("detections", DETECTIONS)
    ):
        await call.write(message)
    await _read(call)
    while (response := await _read(call)).live.coverage.paired_frames < 5:
        pass
    await call.done_writing()
    last = await _last(call)
    assert not any(score.HasField("sequence") for score in response.live.reports[0].scores)
    assert len(response.live.reports[0].curves) == 0
    assert any(score.HasField("sequence") for score in last.final.reports[0].scores)
    assert len(last.final.reports[0].curves) == 1


async def test_a_request_for_live_reports_is_ignored_if_none_can_be_sent(running: Running) -> None:
    live = scoring_service_pb2.LiveReporting(frame_interval=1)
    message = scoring_service_pb2.ScoreBatchRequest(
        configuration=configuration("moody", live=live), truth=[TRUTH], detections=[DETECTIONS]
    )
    response = await _stub(running).ScoreBatch(message)
    assert counts(response.reports[0])["frames"] == 5


NOTHING = scoring_service_pb2.ScoreRequest()


@pytest.mark.parametrize(
    ("requests", "found"),
    [
        ([], "found the end of the stream, expected a configuration"),
        ([request("truth", TRUTH)], "found truth, expected a configuration"),
        (stream(configuration("moody")) * 2, "found a second configuration"),
        ([NOTHING], "found nothing, expected a configuration, truth or detections"),
        ([*stream(configuration("moody")), NOTHING], "found nothing"),
    ],
    ids=["nothing", "data first", "configured twice", "empty first", "empty later"],
)
async def test_messages_out_of_order_are_refused(
    running: Running, requests: list[scoring_service_pb2.ScoreRequest], found: str
) -> None:
    status = await _refused(running, requests)
    assert status.code is grpc.StatusCode.INVALID_ARGUMENT
    assert found in status.message
    assert status.metadata["requests_received"] == str(len(requests))


async def test_an_invalid_batch_is_refused_with_the_field_and_the_number_of_the_request(
    running: Running,
) -> None:
    bad = points({7: [(1.0, float("nan"))]})
    status = await _refused(
        running, stream(configuration("moody"), ("truth", TRUTH), ("detections", bad))
    )
    assert (status.code, status.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_INPUT")
    assert list(status.violations) == ["detections.coordinates[1]"]
    assert status.metadata.pop("call_id")
    assert status.metadata == {"violations": "1", "requests_received": "3"}


async def test_an_invalid_batch_of_a_unary_call_is_named_by_its_row(running: Running) -> None:
    bad = points({7: [(1.0, float("nan"))]})
    message = scoring_service_pb2.ScoreBatchRequest(
        configuration=configuration("moody"), truth=[TRUTH, bad]
    )
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await _stub(running).ScoreBatch(message)
    assert list(refused(caught.value).violations) == ["truth[1].coordinates[1]"]


async def test_an_error_in_a_worker_is_an_incident_that_shows_no_data(running: Running) -> None:
    status = await _refused(running, stream(configuration("moody", mood="error"), ("truth", TRUTH)))
    assert (status.code, status.reason) == (grpc.StatusCode.INTERNAL, "INTERNAL")
    assert status.metadata["incident"] in status.message
    assert "123.456" not in status.message


@pytest.mark.slow
async def test_a_job_that_kills_workers_fails_only_its_own_stream(running: Running) -> None:
    status = await _refused(running, stream(configuration("moody", mood="crash"), ("truth", TRUTH)))
    assert (status.code, status.reason) == (grpc.StatusCode.INTERNAL, "WORKER_LOST")
    [_, last] = await _score(running, stream(configuration("moody"), ("truth", TRUTH)))
    assert counts(last.final.reports[0])["frames"] == 5


async def test_twenty_concurrent_streams_are_scored_although_one_is_invalid(
    running: Running,
) -> None:
    good = stream(configuration("moody"), ("truth", TRUTH), ("detections", DETECTIONS))
    bad = [*good, request("truth", TRUTH)]
    results = await asyncio.gather(
        *(_score(running, bad if index == 7 else good) for index in range(20)),
        return_exceptions=True,
    )
    failed = results.pop(7)
    assert isinstance(failed, grpc.aio.AioRpcError)
    assert refused(failed).code is grpc.StatusCode.INVALID_ARGUMENT
    for responses in results:
        assert isinstance(responses, list)
        assert counts(responses[-1].final.reports[0])["detections"] == 3


async def test_a_message_over_the_limit_names_the_limit(workers: WorkerPool) -> None:
    async with serving(workers, maximum_message_bytes=100_000) as running:
        large = points({1: [(1.0, 2.0)] * 10_000})
        status = await _refused(running, stream(configuration("moody"), ("truth", large)))
        assert status.code is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert status.metadata["limit"] == "maximum_message_bytes"
        assert status.metadata["maximum"] == "100000"


async def test_bytes_that_are_not_a_message_are_an_error_of_the_client(running: Running) -> None:
    call: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = running.channel.unary_unary(
        "/vidscore.v1.ScoringService/ScoreBatch"
    )
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call(b"\xff\xff\xff")
    assert refused(caught.value).code is grpc.StatusCode.INVALID_ARGUMENT


@pytest.mark.slow
async def test_a_client_that_sends_nothing_gets_a_clear_error(workers: WorkerPool) -> None:
    async with serving(workers, idle_timeout_s=1) as running:
        call = _stub(running).Score()
        await call.write(stream(configuration("moody"))[0])
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            async for _ in call:
                pass
        status = refused(caught.value)
        assert (status.code, status.reason) == (grpc.StatusCode.DEADLINE_EXCEEDED, "STREAM_IDLE")
        assert status.metadata["limit"] == "idle_timeout_s"


async def test_a_stream_over_the_limit_is_refused_and_the_others_continue(
    workers: WorkerPool,
) -> None:
    async with serving(workers, maximum_streams=1) as running:
        first = _stub(running).Score()
        await first.write(stream(configuration("moody"))[0])
        await _read(first)
        status = await _refused(running, stream(configuration("moody")))
        assert status.code is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert status.metadata["limit"] == "maximum_streams"
        await first.done_writing()
        assert (await _last(first)).HasField("final")


def _batch_request(
    truth: annotations_pb2.AnnotationBatch, chosen: scoring_service_pb2.ScoreConfiguration
) -> scoring_service_pb2.ScoreBatchRequest:
    return scoring_service_pb2.ScoreBatchRequest(
        configuration=chosen, truth=[truth], detections=[DETECTIONS]
    )


async def _score_batch(
    running: Running, wanted: scoring_service_pb2.ScoreBatchRequest
) -> scoring_service_pb2.ScoreBatchResponse:
    response = await _stub(running).ScoreBatch(wanted)
    assert isinstance(response, scoring_service_pb2.ScoreBatchResponse)
    return response


async def test_a_small_call_is_scored_inline_once_its_evaluator_was_used(
    workers: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = configuration("f1", base="euclidean")
    wanted = _batch_request(TRUTH, chosen)
    many = {number: [(float(number), 1.0)] for number in range(1, 500)}
    async with serving(workers) as running:
        by_worker = await _score_batch(running, wanted)
        run, jobs = workers.run, []

        async def noted(job: Job) -> bytes:
            jobs.append(job)
            return await run(job)

        monkeypatch.setattr(workers, "run", noted)
        assert await _score_batch(running, wanted) == by_worker
        assert jobs == []
        await _score_batch(
            running, _batch_request(points(many), configuration("f1", base="euclidean"))
        )
        assert len(jobs) == 1


async def test_a_configuration_that_small_calls_repeat_is_read_once(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen, other = configuration("f1", base="euclidean"), configuration("f1", base="iou")
    await _score_batch(running, _batch_request(TRUTH, chosen))  # This call imports the evaluator.
    read, found = scoring.read_configuration, []

    def noted(
        message: scoring_service_pb2.ScoreConfiguration, settings: Settings
    ) -> RunConfiguration:
        found.append(message)
        return read(message, settings)

    monkeypatch.setattr(scoring, "read_configuration", noted)
    first = await _score_batch(running, _batch_request(TRUTH, chosen))
    assert await _score_batch(running, _batch_request(TRUTH, chosen)) == first
    assert found == [chosen]
    for _ in range(2):  # An invalid one is read, and refused, each time.
        with pytest.raises(grpc.aio.AioRpcError):
            await _score_batch(running, _batch_request(TRUTH, other))
    assert found == [chosen, other, other]


async def test_only_the_most_recently_used_configurations_are_cached() -> None:
    kept, read = scoring.KeptConfigurations(), []

    def look_up(tolerance: int) -> RunConfiguration:
        message = configuration("spotgeo", tau=100.0 + tolerance)

        def noted() -> RunConfiguration:
            read.append(tolerance)
            return scoring.read_configuration(message, Settings())

        return kept.of(message, noted)

    first = look_up(1)
    for number in range(2, 1 + scoring.MOST_KEPT):
        look_up(number)
    assert look_up(1) is first
    look_up(1 + scoring.MOST_KEPT)
    read.clear()
    assert look_up(1) is first
    look_up(2)
    assert read == [2]


async def test_a_plug_in_evaluator_is_created_for_each_call() -> None:
    kept, message = scoring.KeptConfigurations(), configuration("moody")
    first, second = (
        kept.of(message, partial(scoring.read_configuration, message, Settings())) for _ in range(2)
    )
    assert first.evaluators[0] is not second.evaluators[0]


async def test_a_small_call_that_fails_is_an_incident_that_shows_no_data(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = _batch_request(TRUTH, configuration("spotgeo"))
    await _score_batch(running, wanted)

    def broken(_: SpotGeo, aligned: Aligned) -> NoReturn:
        raise RuntimeError(f"at 123.456 of {aligned.truth.object_count}")

    monkeypatch.setattr(SpotGeo, "tables", broken)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await _score_batch(running, wanted)
    status = refused(caught.value)
    assert (status.code, status.reason) == (grpc.StatusCode.INTERNAL, "INTERNAL")
    assert status.metadata["incident"] in status.message
    assert "123.456" not in status.message


async def test_a_plug_in_evaluator_never_runs_in_the_server_process(
    workers: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbidden(_: Job, __: object) -> NoReturn:
        raise AssertionError("it could end the process")

    monkeypatch.setattr(workers, "run_here", forbidden)
    async with serving(workers) as running:
        for _ in range(2):
            response = await _score_batch(running, _batch_request(TRUTH, configuration("moody")))
            assert len(response.reports) == 1


async def test_a_call_waits_until_a_place_is_free(workers: WorkerPool) -> None:
    async with serving(workers, maximum_streams=1) as running:
        first = _stub(running).Score()
        await first.write(stream(configuration("moody"))[0])
        await _read(first)
        waiting = asyncio.ensure_future(
            _score_batch(running, _batch_request(TRUTH, configuration("moody")))
        )
        await first.done_writing()
        await _last(first)
        assert len((await waiting).reports) == 1


async def test_a_call_is_refused_if_no_place_becomes_free_in_time(
    workers: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "WAIT_FOR_PLACE_S", 0.05)
    async with serving(workers, maximum_streams=1) as running:
        first = _stub(running).Score()
        await first.write(stream(configuration("moody"))[0])
        await _read(first)
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await _score_batch(running, _batch_request(TRUTH, configuration("moody")))
        assert refused(caught.value).metadata["limit"] == "maximum_streams"
        await first.done_writing()
        await _last(first)
