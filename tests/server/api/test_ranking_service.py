"""RankingService over a real server: results, refusals, and what remains afterwards."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import grpc
import pytest
from tests.server.running import PlayedWorkers, Running, serving
from tests.server.scene import HERE, Refused, points, refused
from tests.support.waiting import until

from vidscore_evaluators.errors import LimitError
from vidscore_protos.v1 import (
    annotations_pb2,
    ranking_service_pb2,
    ranking_service_pb2_grpc,
    specification_pb2,
    trust_pb2,
)
from vidscore_server.api.batches import read_batch
from vidscore_server.api.trust import read_examination
from vidscore_server.domain.trust_plans import UploadedContest
from vidscore_server.settings import load_settings

pytestmark = pytest.mark.asyncio(loop_scope="module")

Request = ranking_service_pb2.ExamineUploadRequest

NEAR = [(15.0, 20.0)]
WAIT_S = 120.0


def configured(
    *,
    systems: Sequence[str] = ("near", "exact"),
    evaluators: Sequence[str] = ("spotgeo",),
    geometry: annotations_pb2.Geometry = annotations_pb2.GEOMETRY_POINT,
    **questions: float,
) -> Request:
    """The first request, by default two systems under spotGEO and no bootstrap."""
    asked = trust_pb2.RankingQuestions(**{"draws": 0, **questions})  # type: ignore[arg-type]
    return Request(
        configuration=ranking_service_pb2.ExaminationConfiguration(
            specification=specification_pb2.BenchmarkSpec(
                evaluators=[specification_pb2.EvaluatorSpec(name=name) for name in evaluators]
            ),
            truth_geometry=geometry,
            detection_geometry=annotations_pb2.GEOMETRY_POINT,
            systems=systems,
            questions=asked,
        )
    )


def upload() -> list[Request]:
    """Two frames of truth; the first system is 5 px off and the second is exact."""
    return [
        configured(),
        Request(truth=points({1: HERE, 2: HERE})),
        Request(detections=points({1: NEAR, 2: NEAR})),
        Request(detections=points({1: HERE, 2: HERE}), system=1),
    ]


def call_of(running: Running, requests: Sequence[Request]) -> grpc.aio.StreamStreamCall:  # type: ignore[type-arg]
    """A call with these requests."""
    stub = ranking_service_pb2_grpc.RankingServiceStub(running.channel)
    return stub.ExamineUpload(iter(requests), timeout=WAIT_S)


async def answers(
    running: Running, requests: Sequence[Request]
) -> list[ranking_service_pb2.ExamineUploadResponse]:
    return [response async for response in call_of(running, requests)]


async def refusal(running: Running, requests: Sequence[Request]) -> Refused:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await answers(running, requests)
    return refused(caught.value)


@pytest.mark.slow
async def test_the_outcome_comes_last_and_puts_the_exact_system_first(running: Running) -> None:
    """Both find everything, but 5 px is beyond spotGEO's tolerance: the second is first."""
    *told, last = await answers(running, upload())
    assert {response.WhichOneof("message") for response in told} == {"progress"}
    document = json.loads(last.outcome.document_json)
    assert document["systems"] == ["near", "exact"]
    [ranking] = document["rankings"]
    assert ranking["ranks"] == {"near": 2, "exact": 1}


@pytest.mark.slow
async def test_the_division_and_order_of_the_upload_do_not_change_the_document(
    running: Running,
) -> None:
    first, *_ = upload()
    pieces = [
        Request(detections=points({2: HERE}), system=1),
        Request(detections=points({2: NEAR})),
        Request(truth=points({2: HERE})),
        Request(detections=points({1: HERE}), system=1),
        Request(truth=points({1: HERE})),
        Request(detections=points({1: NEAR})),
    ]
    outcomes = [
        (await answers(running, requests))[-1].outcome for requests in (upload(), [first, *pieces])
    ]
    assert outcomes[0] == outcomes[1]


async def test_every_fault_of_a_configuration_names_its_field(running: Running) -> None:
    wrong = configured(
        systems=["a", "a", ""], evaluators=(), geometry=annotations_pb2.GEOMETRY_UNSPECIFIED,
        coverage=2.0,
    )  # fmt: skip
    told = await refusal(running, [wrong])
    assert told.code is grpc.StatusCode.INVALID_ARGUMENT
    assert set(told.violations) == {
        "configuration.evaluators",
        "configuration.truth_geometry",
        "configuration.systems[1]",
        "configuration.systems[2]",
        "configuration.questions.coverage",
    }


async def test_an_unknown_evaluator_is_reported_with_its_place(running: Running) -> None:
    told = await refusal(running, [configured(evaluators=["spotgeo", "spotgio"])])
    assert told.code is grpc.StatusCode.NOT_FOUND
    assert list(told.violations) == ["configuration.specification.evaluators[1].name"]


@pytest.mark.parametrize(
    ("requests", "field"),
    [
        ([], "message"),
        ([Request(truth=points({1: HERE}))], "message"),
        ([configured(), configured()], "message"),
        ([configured(), Request()], "message"),
        ([configured(systems=["alone"])], "configuration.systems"),
        ([configured(), Request(detections=points({1: HERE}), system=2)], "system"),
        ([configured(), Request(detections=points({1: HERE}), system=-1)], "system"),
        ([*upload(), Request(truth=points({2: HERE}))], "truth.frame_numbers[0]"),
        (
            [*upload(), Request(detections=points({3: HERE, 1: HERE}))],
            "detections.frame_numbers[1]",
        ),
        (
            [configured(), Request(truth=points({1: [(float("nan"), 0.0)]}))],
            "truth.coordinates[0]",
        ),
        (
            [*upload(), Request(detections=points({1: HERE}, sequence="none"), system=1)],
            "configuration.systems[1].frame_numbers[2]",
        ),
    ],
)  # fmt: skip
async def test_an_invalid_request_names_its_field(
    running: Running, requests: list[Request], field: str
) -> None:
    told = await refusal(running, requests)
    assert told.code is grpc.StatusCode.INVALID_ARGUMENT
    assert [name.partition(".sequences")[0] for name in told.violations] == [field]


@pytest.mark.parametrize(
    ("limit", "maximum", "requests"),
    [
        ("maximum_trust_systems", 2, [configured(systems=["a", "b", "c"])]),
        ("maximum_trust_trials", 9, [configured(draws=10, trials=1)]),
        ("maximum_trust_trials", 9, [configured(trials=10)]),
        ("maximum_evaluators", 1, [configured(evaluators=["spotgeo", "f1"], trials=1)]),
        ("maximum_trust_frames", 3, upload()),
        ("maximum_frames", 1, upload()[:2]),
    ],
)
async def test_limits_are_inclusive(limit: str, maximum: int, requests: list[Request]) -> None:
    async with serving(PlayedWorkers(), **{limit: maximum}) as running:
        told = await refusal(running, requests)
    assert told.code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert (told.metadata["limit"], told.metadata["maximum"]) == (limit, str(maximum))


async def test_an_upload_over_the_memory_limit_is_refused() -> None:
    settings = replace(load_settings(flags={}), maximum_buffered_bytes=1)
    contest = UploadedContest(read_examination(configured().configuration, settings), settings)
    with pytest.raises(LimitError, match="maximum_buffered_bytes"):
        contest.add_truth(partial(read_batch, points({1: HERE}), "truth"))


async def test_an_upload_is_refused_while_all_places_are_taken(running: Running) -> None:
    """The default is one place."""
    stub = ranking_service_pb2_grpc.RankingServiceStub(running.channel)
    open_call = stub.ExamineUpload(timeout=WAIT_S)
    await open_call.write(configured())
    await until(lambda: running.server.sessions.open_count == 1)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await stub.ExamineUpload(timeout=WAIT_S).read()
    assert refused(caught.value).metadata["limit"] == "maximum_trust_analyses"
    open_call.cancel()
    await until(lambda: running.server.sessions.open_count == 0)
    assert (await answers(running, upload()))[-1].HasField("outcome")


async def test_a_cancelled_call_ends_the_process_of_its_analysis(running: Running) -> None:
    """The analysis would take long; the call is cancelled when it reports its first progress."""
    before = set(multiprocessing.active_children())
    long = configured(draws=9_000, trials=9_000, noise_px=5.0)
    call = call_of(running, [long, *upload()[1:]])
    async with asyncio.timeout(WAIT_S):
        async for response in call:
            assert response.WhichOneof("message") == "progress"
            break
    [process] = set(multiprocessing.active_children()) - before
    call.cancel()
    await until(lambda: process not in multiprocessing.active_children())
    await until(lambda: running.server.sessions.open_count == 0)


@pytest.mark.slow
async def test_an_analysis_that_takes_too_long_is_ended() -> None:
    long = configured(draws=9_000, trials=9_000, noise_px=5.0)
    async with serving(PlayedWorkers(), trust_timeout_s=1) as running:
        told = await refusal(running, [long, *upload()[1:]])
    assert told.code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert told.metadata["limit"] == "trust_timeout_s"
