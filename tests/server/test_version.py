"""Adjacent minor versions work together; others get both versions and advice."""

from __future__ import annotations

from collections.abc import Iterable

import grpc
import pytest
from tests.server.running import Running
from tests.server.scene import Refused, refused

from vidscore_evaluators.errors import InputError
from vidscore_protos.v1 import evaluator_service_pb2, evaluator_service_pb2_grpc
from vidscore_server.errors import VersionError
from vidscore_server.version import (
    Version,
    check_client,
    parse_version,
    server_version,
    supported_versions,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_only_the_first_two_numbers_of_a_version_count() -> None:
    assert parse_version("1.2.3") == Version(1, 2)
    assert parse_version("0.10.0rc1") == parse_version("0.10") == Version(0, 10)
    assert parse_version("2.0.0.dev1+local") == Version(2, 0)


@pytest.mark.parametrize("text", ["", "1", "one.two", "1.2.3 ", "01.2", "1.-2", "1.2" + "3" * 99])
async def test_an_invalid_version_is_none(text: str) -> None:
    assert parse_version(text) is None


async def test_the_minor_versions_before_and_after_are_supported() -> None:
    assert supported_versions("1.4.2") == (Version(1, 3), Version(1, 5))
    assert supported_versions("1.0.0") == (Version(1, 0), Version(1, 1))


@pytest.mark.parametrize("client", ["1.3.0", "1.3.99", "1.4.0", "1.5.0", "1.5.7rc1"])
async def test_adjacent_versions_are_accepted(client: str) -> None:
    check_client(client, "1.4.2")


@pytest.mark.parametrize(
    ("client", "advice"),
    [
        ("1.2.9", "update the client, or use an older server"),
        ("0.4.0", "update the client, or use an older server"),
        ("1.6.0", "update the server, or use an older client"),
        ("2.4.0", "update the server, or use an older client"),
    ],
)
async def test_others_are_refused_with_both_versions_and_advice(client: str, advice: str) -> None:
    with pytest.raises(VersionError, match=advice) as caught:
        check_client(client, "1.4.2")
    assert caught.value.metadata == {
        "client_version": client,
        "server_version": "1.4.2",
        "oldest_client": "1.3",
        "newest_client": "1.5",
    }


@pytest.mark.parametrize("client", ["newest", b"1.4.2"])
async def test_a_client_with_an_invalid_version_is_told_the_expected_form(
    client: str | bytes,
) -> None:
    with pytest.raises(InputError, match=r"vidscore-client-version: found .*, expected a version"):
        check_client(client, "1.4.2")


async def _list(running: Running, metadata: Iterable[tuple[str, str]]) -> grpc.aio.Metadata:
    stub = evaluator_service_pb2_grpc.EvaluatorServiceStub(running.channel)
    call = stub.ListEvaluators(
        evaluator_service_pb2.ListEvaluatorsRequest(), metadata=tuple(metadata)
    )
    await call
    trailing = await call.trailing_metadata()
    assert trailing is not None
    return trailing


def _of_minor(difference: int) -> str:
    own = parse_version(server_version())
    assert own is not None
    return f"{own.major}.{own.minor + difference}.0"


@pytest.mark.parametrize("said", [None, 0, 1])
async def test_a_server_sends_its_version_to_adjacent_clients_and_to_those_without_a_version(
    running: Running, said: int | None
) -> None:
    metadata = [] if said is None else [("vidscore-client-version", _of_minor(said))]
    trailing = await _list(running, metadata)
    assert trailing["vidscore-server-version"] == server_version()


async def _refusal(running: Running, version: str) -> Refused:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await _list(running, [("vidscore-client-version", version)])
    assert ("vidscore-server-version", server_version()) in tuple(caught.value.trailing_metadata())
    return refused(caught.value)


async def test_a_server_refuses_a_client_of_the_minor_version_after_the_next(
    running: Running,
) -> None:
    status = await _refusal(running, _of_minor(2))
    assert (status.code, status.reason) == (
        grpc.StatusCode.FAILED_PRECONDITION,
        "VERSION_UNSUPPORTED",
    )
    assert status.metadata["client_version"] == _of_minor(2)
    assert status.metadata["server_version"] == server_version()


async def test_a_server_names_the_metadata_of_an_invalid_version(running: Running) -> None:
    status = await _refusal(running, "newest")
    assert (status.code, status.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_INPUT")
    assert list(status.violations) == ["vidscore-client-version"]
