"""A client for either version of gRPC reflection."""

from __future__ import annotations

from typing import Any

from grpc_reflection.v1alpha import reflection_pb2

VERSIONS = ("v1", "v1alpha")

Request = reflection_pb2.ServerReflectionRequest
Response = reflection_pb2.ServerReflectionResponse


def reflection_call(channel: Any, version: str, requests: Any = None) -> Any:
    """A stream of questions; if no requests are given, write them to the stream.

    Both versions have the same messages.
    """
    stream = channel.stream_stream(
        f"/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo",
        request_serializer=Request.SerializeToString,
        response_deserializer=Response.FromString,
    )
    return stream() if requests is None else stream(iter(requests))


async def reflected(channel: Any, version: str, *requests: Request) -> list[Response]:
    """The answers to the given questions."""
    return [answer async for answer in reflection_call(channel, version, requests)]
