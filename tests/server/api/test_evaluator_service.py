"""Paged lists of evaluators, and errors for names of no evaluator."""

from __future__ import annotations

from collections.abc import AsyncIterator

import grpc
import pytest
import pytest_asyncio
from tests.server.running import PlayedWorkers, Running, serving
from tests.server.scene import refused

from vidscore_evaluators.registry import evaluator_names
from vidscore_protos.v1 import evaluator_service_pb2, evaluator_service_pb2_grpc
from vidscore_server.api import server

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.usefixtures("moody")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(moody: None) -> AsyncIterator[Running]:
    """A server whose evaluators are listed but not used."""
    del moody
    async with serving(PlayedWorkers()) as found:
        yield found


def _stub(running: Running) -> evaluator_service_pb2_grpc.EvaluatorServiceAsyncStub:
    return evaluator_service_pb2_grpc.EvaluatorServiceStub(running.channel)


async def test_the_pages_list_every_evaluator_once_built_in_ones_first(running: Running) -> None:
    names, token = [], ""
    while True:
        page = await _stub(running).ListEvaluators(
            evaluator_service_pb2.ListEvaluatorsRequest(page_size=1, page_token=token)
        )
        assert len(page.evaluators) == 1
        names.append(page.evaluators[0].name)
        token = page.next_page_token
        if not token:
            break
    assert names == [f"evaluators/{name}" for name in evaluator_names()]


async def test_without_a_page_size_a_few_evaluators_fit_on_one_page(running: Running) -> None:
    page = await _stub(running).ListEvaluators(evaluator_service_pb2.ListEvaluatorsRequest())
    assert len(page.evaluators) == len(evaluator_names())
    assert not page.next_page_token


async def test_a_plug_in_that_cannot_be_loaded_hides_no_other(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("no-such-evaluator", *evaluator_names())
    monkeypatch.setattr(server, "evaluator_names", lambda: names)
    request = evaluator_service_pb2.ListEvaluatorsRequest(page_size=2)
    page = await _stub(running).ListEvaluators(request)
    assert [evaluator.name for evaluator in page.evaluators] == [f"evaluators/{names[1]}"]
    assert page.next_page_token


async def test_an_evaluator_is_got_by_its_resource_name(running: Running) -> None:
    request = evaluator_service_pb2.GetEvaluatorRequest(name="evaluators/moody")
    response = await _stub(running).GetEvaluator(request)
    assert response.evaluator.title == "Counts, in its mood"


@pytest.mark.parametrize("name", ["", "moody", "evaluators/", "evaluators/a/b", "benchmarks/x"])
async def test_an_invalid_resource_name_is_an_invalid_argument(running: Running, name: str) -> None:
    request = evaluator_service_pb2.GetEvaluatorRequest(name=name)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await _stub(running).GetEvaluator(request)
    status = refused(caught.value)
    assert status.code is grpc.StatusCode.INVALID_ARGUMENT
    assert list(status.violations) == ["name"]


async def test_an_unknown_evaluator_is_not_found(running: Running) -> None:
    request = evaluator_service_pb2.GetEvaluatorRequest(name="evaluators/mody")
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await _stub(running).GetEvaluator(request)
    status = refused(caught.value)
    assert (status.code, status.reason) == (grpc.StatusCode.NOT_FOUND, "UNKNOWN_EVALUATOR")
    assert "did you mean moody?" in status.message


@pytest.mark.parametrize(
    ("field", "request_"),
    [
        ("page_size", evaluator_service_pb2.ListEvaluatorsRequest(page_size=-1)),
        ("page_token", evaluator_service_pb2.ListEvaluatorsRequest(page_token="x")),
        ("page_token", evaluator_service_pb2.ListEvaluatorsRequest(page_token="Wy0xXQ==")),
        ("page_token", evaluator_service_pb2.ListEvaluatorsRequest(page_token="\u20ac")),
    ],
)
async def test_an_invalid_page_is_an_invalid_argument(
    running: Running, field: str, request_: evaluator_service_pb2.ListEvaluatorsRequest
) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await _stub(running).ListEvaluators(request_)
    assert list(refused(caught.value).violations) == [field]
