"""Targets that read requests: HTTP bodies, and benchmarks with their specifications."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass
from tests.campaigns.fuzzing.documents import of_json, of_message
from tests.campaigns.fuzzing.targets import MESSAGES, Target
from tests.campaigns.fuzzing.trees import LONE, Tree
from tests.support.tree import ROOT

from vidscore_protos.v1 import (
    access_service_pb2,
    benchmark_pb2,
    benchmark_service_pb2,
    scoring_service_pb2,
    submission_service_pb2,
)
from vidscore_server.api.definitions import read_definition, write_definition
from vidscore_server.api.http.protojson import read_json, write_json

_FILES: tuple[Any, ...] = (
    access_service_pb2,
    benchmark_service_pb2,
    scoring_service_pb2,
    submission_service_pb2,
)
_CLASSES: dict[str, type[Message]] = {
    method.name: GetMessageClass(method.input_type)
    for file in _FILES
    for service in file.DESCRIPTOR.services_by_name.values()
    for method in service.methods
}
"""Requests by the name of their RPC."""


def _recorded_requests() -> Iterator[tuple[str, bytes]]:
    """The RPC and one request of each call recorded from the last release."""
    release = max((ROOT / "tests/golden/wire").iterdir())
    for path in sorted(release.glob("*.json")):
        document = json.loads(path.read_text("utf-8"))
        for request in document["requests"]:
            yield document["method"].rpartition("/")[2], bytes.fromhex(request)


def _definition_seeds() -> Iterator[Tree]:
    for rpc, data in _recorded_requests():
        if rpc in {"CreateBenchmark", "UpdateBenchmark"}:
            request: Any = _CLASSES[rpc].FromString(data)
            yield {LONE: request.benchmark.SerializeToString(deterministic=True)}


def _read_definition(files: Tree, folder: Path) -> None:
    del folder
    for data in files.values():
        try:
            message = benchmark_pb2.Benchmark.FromString(data)
        except DecodeError:
            return
        definition = read_definition(message)
        written = write_definition(definition)
        assert write_definition(read_definition(written)) == written


def _body_seeds() -> Iterator[Tree]:
    for rpc, data in _recorded_requests():
        if rpc in _CLASSES:
            yield {rpc: write_json(_CLASSES[rpc].FromString(data))}


def _read_body(files: Tree, folder: Path) -> None:
    """Whatever is read from a body reads as the same message when it is written again."""
    del folder
    for rpc, data in files.items():
        if rpc not in _CLASSES:
            return
        message, again = _CLASSES[rpc](), _CLASSES[rpc]()
        read_json(data, message, "body")
        read_json(write_json(message), again, "body")
        one, other = (part.SerializeToString(deterministic=True) for part in (message, again))
        assert one == other, "what is written is another message"


TARGETS = (
    Target(
        "definition",
        MESSAGES,
        seeds=_definition_seeds,
        changes={"": of_message(benchmark_pb2.Benchmark)},
        read=_read_definition,
    ),
    Target("http-body", MESSAGES, seeds=_body_seeds, changes={"": of_json}, read=_read_body),
)
