"""Reflection describes services, methods and messages to generic tools, in both versions."""

from __future__ import annotations

from collections.abc import AsyncIterator
from importlib import import_module
from typing import Any

import grpc
import pytest
import pytest_asyncio
from google.protobuf import descriptor_pb2, descriptor_pool
from google.protobuf.descriptor import MethodDescriptor
from tests.server.running import PlayedWorkers, Running, serving
from tests.support.reflecting import VERSIONS, Request, Response, reflected

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.parametrize("version", VERSIONS),
]

METHOD_OPTIONS = "google.protobuf.MethodOptions"
HTTP: Any = import_module("google.api.annotations_pb2").http
"""An extension of method options that exists in every process with operations."""


SERVICE, SERVICE_FILE = "vidscore.v1.ScoringService", "vidscore/v1/scoring_service.proto"
V1_FILE = "grpc/reflection/v1/reflection.proto"


def extended(name: str, number: int) -> Request:
    """Asks for the file of an extension."""
    return Request(file_containing_extension={"containing_type": name, "extension_number": number})


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running() -> AsyncIterator[Running]:
    async with serving(PlayedWorkers()) as server:
        yield server


def files_of(answer: Response) -> dict[str, descriptor_pb2.FileDescriptorProto]:
    """The files of an answer by their names, in order."""
    found = {}
    for written in answer.file_descriptor_response.file_descriptor_proto:
        file = descriptor_pb2.FileDescriptorProto.FromString(written)
        found[file.name] = file
    return found


def pool_of(answer: Response) -> descriptor_pool.DescriptorPool:
    """The pool that a tool builds from an answer: its files must be complete."""
    pool, files = descriptor_pool.DescriptorPool(), files_of(answer)

    def add(name: str) -> None:
        file = files.pop(name, None)
        if file is not None:
            for needed in file.dependency:
                add(needed)
            pool.AddSerializedFile(file.SerializeToString())

    for name in tuple(files):
        add(name)
    return pool


@pytest.mark.parametrize(
    "method",
    [
        "vidscore.v1.ServerService.GetServer",
        "vidscore.v1.ScoringService.Score",
        "grpc.health.v1.Health.Check",
        "grpc.reflection.v1.ServerReflection.ServerReflectionInfo",
        "grpc.reflection.v1alpha.ServerReflection.ServerReflectionInfo",
    ],
)
async def test_a_method_is_found_by_its_name_with_all_files_needed_to_call_it(
    running: Running, version: str, method: str
) -> None:
    [answer] = await reflected(running.channel, version, Request(file_containing_symbol=method))
    service, _, name = method.rpartition(".")
    found: MethodDescriptor = pool_of(answer).FindServiceByName(service).methods_by_name[name]
    assert found.input_type.full_name.startswith(service.rpartition(".")[0])


@pytest.mark.parametrize(
    ("request_", "first"),
    [
        (Request(file_containing_symbol="vidscore.v1.ScoreRequest"), SERVICE_FILE),
        (Request(file_containing_symbol=SERVICE), SERVICE_FILE),
        (Request(file_containing_symbol="google.rpc.BadRequest"), "google/rpc/error_details.proto"),
        (Request(file_by_filename=SERVICE_FILE), SERVICE_FILE),
        (Request(file_by_filename=V1_FILE), V1_FILE),
        (extended(METHOD_OPTIONS, HTTP.number), "google/api/annotations.proto"),
    ],
)
async def test_a_file_is_found_by_its_name_a_symbol_or_an_extension(
    running: Running, version: str, request_: Request, first: str
) -> None:
    [answer] = await reflected(running.channel, version, request_)
    assert next(iter(files_of(answer))) == first
    assert answer.original_request == request_
    pool_of(answer).FindFileByName(first)


async def test_every_field_has_its_json_name(running: Running, version: str) -> None:
    """Tools of other languages use it to read and write JSON, and do not derive it."""
    wanted = Request(file_containing_symbol="vidscore.v1.GetServerResponse")
    [answer] = await reflected(running.channel, version, wanted)
    names: dict[str, str] = {}
    for file in files_of(answer).values():
        messages = list(file.message_type)
        for message in messages:
            messages.extend(message.nested_type)
            names |= {field.name: field.json_name for field in message.field}
    assert names["oldest_client_version"] == "oldestClientVersion"
    assert all(names.values())


async def test_extensions_of_a_type_are_listed(running: Running, version: str) -> None:
    asked = Request(all_extension_numbers_of_type=METHOD_OPTIONS)
    [answer] = await reflected(running.channel, version, asked)
    assert answer.all_extension_numbers_response.base_type_name == METHOD_OPTIONS
    numbers = list(answer.all_extension_numbers_response.extension_number)
    assert HTTP.number in numbers
    assert numbers == sorted(numbers)


@pytest.mark.parametrize(
    ("request_", "found"),
    [
        (Request(file_containing_symbol="vidscore.v1.Nothing"), "'vidscore.v1.Nothing'"),
        (Request(file_containing_symbol=f"{SERVICE}.Nothing"), f"'{SERVICE}.Nothing'"),
        (Request(file_containing_symbol=""), "''"),
        (Request(file_containing_symbol="x" * 1000), f"'{'x' * 200}'"),
        (Request(file_by_filename="/etc/passwd"), "'/etc/passwd'"),
        (extended(METHOD_OPTIONS, 536_870_911), f"'{METHOD_OPTIONS}' 536870911"),
        (extended("no.Type", -1), "'no.Type' -1"),
        (Request(all_extension_numbers_of_type="no.Type"), "'no.Type'"),
    ],
)
async def test_an_unknown_name_is_not_found_and_the_stream_continues(
    running: Running, version: str, request_: Request, found: str
) -> None:
    refused, listed = await reflected(running.channel, version, request_, Request(list_services=""))
    kind = request_.WhichOneof("message_request")
    assert refused.error_response.error_code == grpc.StatusCode.NOT_FOUND.value[0]
    assert refused.error_response.error_message == (
        f"{kind}: found {found}, expected one that there is"
    )
    assert listed.list_services_response.service


async def test_an_empty_request_is_invalid(running: Running, version: str) -> None:
    [answer] = await reflected(running.channel, version, Request(host="here"))
    assert answer.error_response.error_code == grpc.StatusCode.INVALID_ARGUMENT.value[0]
    assert answer.error_response.error_message == (
        "message_request: found none, expected file_by_filename or file_containing_symbol or "
        "file_containing_extension or all_extension_numbers_of_type or list_services"
    )
    assert answer.valid_host == "here"
