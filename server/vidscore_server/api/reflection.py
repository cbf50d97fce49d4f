"""gRPC reflection, v1 and v1alpha: the services, and the files of their messages.

The package `grpcio-reflection` has only v1alpha, and finds no method by its name, which tools of
other languages request. v1 has the same messages in another package, so that one answer serves
both.

Lookups use the protobuf pool of the process, so that the details of statuses are found too. All of
it is public, and nothing in it belongs to a benchmark or to this machine.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Mapping
from typing import Any, TypeVar

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool
from google.protobuf.descriptor import Descriptor, FileDescriptor
from grpc_reflection.v1alpha import reflection_pb2

from vidscore_evaluators.errors import Fault

Found = TypeVar("Found")

LONGEST_NAME = 200
"""Maximum number of characters of a name in an error."""

METHOD = "ServerReflectionInfo"
_ALPHA = "grpc.reflection.v1alpha"
_V1 = "grpc.reflection.v1"


def _v1_pool() -> descriptor_pool.DescriptorPool:
    """A pool with the file of v1: the file of v1alpha, under v1's name and package."""
    file = descriptor_pb2.FileDescriptorProto()
    reflection_pb2.DESCRIPTOR.CopyToProto(file)
    file.name, file.package = "grpc/reflection/v1/reflection.proto", _V1
    file.ClearField("options")
    own = f".{_ALPHA}."
    for field in (field for message in file.message_type for field in message.field):
        if field.type_name:
            field.type_name = field.type_name.replace(own, f".{_V1}.")
    for method in file.service[0].method:
        method.input_type = method.input_type.replace(own, f".{_V1}.")
        method.output_type = method.output_type.replace(own, f".{_V1}.")
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return pool


_POOL_OF_V1 = _v1_pool()
# A separate pool: a newer grpcio-reflection may add this file to the pool of the process.
_POOLS = (descriptor_pool.Default(), _POOL_OF_V1)

V1_FILE: FileDescriptor = _POOL_OF_V1.FindFileByName("grpc/reflection/v1/reflection.proto")
"""The file of v1."""

SERVICES = (f"{_V1}.ServerReflection", f"{_ALPHA}.ServerReflection")
"""Full names of both services."""


class Reflection:
    """Answers a stream of reflection requests.

    Args:
        services: Full names of the listed services.
    """

    def __init__(self, services: Iterable[str]) -> None:
        self._services = sorted(services)
        self._written: dict[str, bytes] = {}

    def handlers(self) -> tuple[grpc.GenericRpcHandler, ...]:
        """Handlers of both services."""
        handler = grpc.stream_stream_rpc_method_handler(
            self._answers,
            request_deserializer=reflection_pb2.ServerReflectionRequest.FromString,
            response_serializer=reflection_pb2.ServerReflectionResponse.SerializeToString,
        )
        return tuple(
            grpc.method_handlers_generic_handler(name, {METHOD: handler}) for name in SERVICES
        )

    async def _answers(
        self, requests: AsyncIterable[reflection_pb2.ServerReflectionRequest], context: Any
    ) -> AsyncIterator[reflection_pb2.ServerReflectionResponse]:
        del context
        async for request in requests:
            yield self.answer(request)

    def answer(
        self, request: reflection_pb2.ServerReflectionRequest
    ) -> reflection_pb2.ServerReflectionResponse:
        """The answer to one request, an error included."""
        response = reflection_pb2.ServerReflectionResponse(
            valid_host=request.host, original_request=request
        )
        kind = request.WhichOneof("message_request")
        if kind is None:
            names = [field.name for field in request.DESCRIPTOR.oneofs[0].fields]
            fault = Fault("none", " or ".join(names), field="message_request")
            return _refused(response, grpc.StatusCode.INVALID_ARGUMENT, fault)
        asked = getattr(request, kind)
        try:
            self._fill(response, kind, asked)
        except KeyError:
            name = getattr(asked, "containing_type", asked)
            number = f" {asked.extension_number}" if name is not asked else ""
            fault = Fault(f"{name[:LONGEST_NAME]!r}{number}", "one that there is", field=kind)
            return _refused(response, grpc.StatusCode.NOT_FOUND, fault)
        return response

    def _fill(
        self, response: reflection_pb2.ServerReflectionResponse, kind: str, asked: Any
    ) -> None:
        """Fill the answer to a request.

        Raises:
            KeyError: If the requested element does not exist.
        """
        if kind == "list_services":
            names = response.list_services_response.service
            names.extend(reflection_pb2.ServiceResponse(name=name) for name in self._services)
        elif kind == "all_extension_numbers_of_type":
            numbers = response.all_extension_numbers_response
            numbers.base_type_name = asked
            numbers.extension_number.extend(_in_pools(lambda pool: _extensions(pool, asked)))
        else:
            file = _in_pools(lambda pool: _LOOKUPS[kind](pool, asked))
            files = response.file_descriptor_response.file_descriptor_proto
            files.extend(map(self._bytes_of, _with_dependencies(file).values()))

    def _bytes_of(self, file: FileDescriptor) -> bytes:
        """A serialized file, cached."""
        if file.name not in self._written:
            self._written[file.name] = _written(file)
        return self._written[file.name]


def _refused(
    response: reflection_pb2.ServerReflectionResponse, code: grpc.StatusCode, fault: Fault
) -> reflection_pb2.ServerReflectionResponse:
    response.error_response.error_code = code.value[0]
    response.error_response.error_message = str(fault)
    return response


def _in_pools(find: Callable[[descriptor_pool.DescriptorPool], Found]) -> Found:
    """The element from the first pool that has it.

    Raises:
        KeyError: If no pool has it.
    """
    for pool in _POOLS[:-1]:
        try:
            return find(pool)
        except KeyError:
            continue
    return find(_POOLS[-1])


def _file_of_symbol(pool: descriptor_pool.DescriptorPool, name: str) -> FileDescriptor:
    """The file of a message, enum, service, field or method."""
    try:
        return pool.FindFileContainingSymbol(name)
    except KeyError:
        # The pool does not find methods directly.
        of, _, method = name.rpartition(".")
        return pool.FindServiceByName(of).methods_by_name[method].containing_service.file


def _file_of_extension(pool: descriptor_pool.DescriptorPool, asked: Any) -> FileDescriptor:
    extended = pool.FindMessageTypeByName(asked.containing_type)
    extension = pool.FindExtensionByNumber(extended, asked.extension_number)
    return pool.FindFileContainingSymbol(extension.full_name)


def _extensions(pool: descriptor_pool.DescriptorPool, name: str) -> list[int]:
    extended = pool.FindMessageTypeByName(name)
    return sorted(extension.number for extension in pool.FindAllExtensions(extended))


_LOOKUPS: dict[str, Callable[[descriptor_pool.DescriptorPool, Any], FileDescriptor]] = {
    "file_by_filename": lambda pool, name: pool.FindFileByName(name),
    "file_containing_symbol": _file_of_symbol,
    "file_containing_extension": _file_of_extension,
}


def _with_dependencies(
    file: FileDescriptor, found: dict[str, FileDescriptor] | None = None
) -> dict[str, FileDescriptor]:
    """Add a file and all of its dependencies, by name, to the files found."""
    found = {} if found is None else found
    found[file.name] = file
    for needed in file.dependencies:
        if needed.name not in found:
            _with_dependencies(needed, found)
    return found


def _written(file: FileDescriptor) -> bytes:
    """A file with the JSON names of fields, which generated code omits and tools need."""
    written = descriptor_pb2.FileDescriptorProto()
    file.CopyToProto(written)
    _name_fields(written.message_type, file.message_types_by_name)
    return written.SerializeToString()


def _name_fields(
    messages: Iterable[descriptor_pb2.DescriptorProto], types: Mapping[str, Descriptor]
) -> None:
    """Set the JSON names of the fields of messages, and of those within them."""
    for message in messages:
        own = types[message.name]
        for field in message.field:
            field.json_name = own.fields_by_name[field.name].json_name
        _name_fields(message.nested_type, own.nested_types_by_name)
