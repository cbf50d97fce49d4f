"""What a client may ask of presets, and what is refused."""

from __future__ import annotations

from collections.abc import AsyncIterator

import grpc
import pytest
import pytest_asyncio
from tests.server.running import PlayedWorkers, Running, serving
from tests.server.scene import refused

from vidscore_evaluators.errors import LimitError
from vidscore_evaluators.presets import find_preset, preset_names
from vidscore_protos.v1 import (
    annotations_pb2,
    evaluator_service_pb2,
    evaluator_service_pb2_grpc,
    ranking_service_pb2,
    scoring_service_pb2,
)
from vidscore_server.api.scoring import read_configuration
from vidscore_server.api.trust import read_examination
from vidscore_server.settings import load_settings

BOX = annotations_pb2.GEOMETRY_BOX
COUNT = len(find_preset("mot17").evaluators)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running() -> AsyncIterator[Running]:
    """A server that is asked about presets, but scores nothing."""
    async with serving(PlayedWorkers()) as server:
        yield server


def _stub(running: Running) -> evaluator_service_pb2_grpc.EvaluatorServiceAsyncStub:
    return evaluator_service_pb2_grpc.EvaluatorServiceStub(running.channel)


@pytest.mark.asyncio(loop_scope="module")
async def test_the_pages_list_every_preset_once_with_all_its_fields(running: Running) -> None:
    names, token = [], ""
    while True:
        page = await _stub(running).ListPresets(
            evaluator_service_pb2.ListPresetsRequest(page_size=1, page_token=token)
        )
        [found] = page.presets
        names.append(found.name)
        own = find_preset(found.name.removeprefix("presets/"))
        assert (found.version, found.title, found.benchmark) == (
            own.version,
            own.title,
            own.benchmark,
        )
        assert (found.scorer, found.format) == (own.scorer, own.format)
        assert found.HasField("labels") == (own.labels is not None)
        assert tuple(found.labels.names) == (own.labels or ())
        assert [entry.name for entry in found.evaluators] == [
            entry.name for entry in own.evaluators
        ]
        token = page.next_page_token
        if not token:
            break
    assert names == [f"presets/{name}" for name in preset_names()]


@pytest.mark.asyncio(loop_scope="module")
async def test_there_is_no_evaluator_with_the_name_of_a_preset(running: Running) -> None:
    request = evaluator_service_pb2.GetEvaluatorRequest(name="evaluators/mot17")
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await _stub(running).GetEvaluator(request)
    status = refused(caught.value)
    assert status.code is grpc.StatusCode.NOT_FOUND
    assert "mot17 is a preset" in status.message


def _configuration() -> scoring_service_pb2.ScoreConfiguration:
    message = scoring_service_pb2.ScoreConfiguration(truth_geometry=BOX, detection_geometry=BOX)
    message.specification.evaluators.add(name="mot17")
    return message


def test_the_evaluators_of_a_preset_count_towards_the_limit() -> None:
    enough = load_settings(flags={"maximum_evaluators": COUNT})
    assert len(read_configuration(_configuration(), enough).evaluators) == COUNT
    few = load_settings(flags={"maximum_evaluators": COUNT - 1})
    with pytest.raises(ExceptionGroup) as caught:
        read_configuration(_configuration(), few)
    assert caught.group_contains(LimitError, match=f"{COUNT} evaluators")


def test_the_evaluators_of_a_preset_count_towards_the_limit_in_an_examination() -> None:
    message = ranking_service_pb2.ExaminationConfiguration(
        truth_geometry=BOX, detection_geometry=BOX, systems=["a", "b"]
    )
    message.evaluators.add(name="mot17")
    few = load_settings(flags={"maximum_evaluators": COUNT - 1})
    with pytest.raises(LimitError, match=f"{COUNT} evaluators"):
        read_examination(message, few)


def test_labels_of_the_specification_override_those_of_the_preset() -> None:
    message = _configuration()
    preset = find_preset("mot17").labels
    read = read_configuration(message, load_settings())
    assert {one.specification.classes for one in read.evaluators} == {preset}
    message.specification.classes.names.append("car")
    read = read_configuration(message, load_settings())
    assert {one.specification.classes for one in read.evaluators} == {("car",)}
