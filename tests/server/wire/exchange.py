"""Recorded calls: the sent bytes, and the answers.

A recording holds a server to the answers of a release. Values that the server chooses (a name, a
secret, a keyed digest) differ between two recordings of one script. Their places are recorded, and
a replay puts the values found there in place of the recorded ones in later requests.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import grpc
from google.longrunning import operations_pb2
from google.protobuf import descriptor_pool, json_format, message_factory
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message
from google.rpc.status_pb2 import Status
from tests.conformance import comparing
from tests.conformance.comparing import contains
from tests.server.domain.hosted import Hosted

from vidscore_protos.v1 import (
    access_service_pb2,
    benchmark_service_pb2,
    evaluator_service_pb2,
    ranking_service_pb2,
    scoring_service_pb2,
    server_service_pb2,
    submission_service_pb2,
    trust_service_pb2,
)

Document = Any

FILES = (
    access_service_pb2,
    benchmark_service_pb2,
    evaluator_service_pb2,
    operations_pb2,
    ranking_service_pb2,
    scoring_service_pb2,
    server_service_pb2,
    submission_service_pb2,
    trust_service_pb2,
)

TIMEOUT_S = 120.0
STATUS_KEY = "grpc-status-details-bin"

NEVER_HELD = frozenset(
    {"software", "serverVersion", "description", "question", "answer", "advice", "tiersNote"}
)
"""Versions that made a report or an answer, and texts for people, in any place."""

GROWING = re.compile(r"\.submission(s\[\d+\])?\.revision$")
"""Numbers that grow with each change, by an amount that the server decides."""


@dataclass(frozen=True)
class Exchange:
    """One call.

    Attributes:
        method: Full name of the RPC.
        caller: Whose token is sent: ``organiser``, ``red``, or nobody's.
        requests: Every request in hexadecimal digits.
        responses: Every response in its canonical JSON form.
        code: Canonical code with which it ended.
        reason: Reason of an error; empty if there is none.
        chosen: Places in the responses whose values the server chooses.
        last_only: Whether only the last response is compared, as their number is unknown.
    """

    method: str
    caller: str
    requests: list[str]
    responses: list[Document]
    code: str
    reason: str
    chosen: list[str] = field(default_factory=list)
    last_only: bool = False

    @property
    def held_responses(self) -> list[Document]:
        """The responses that a later server must give, and may add to."""
        held: list[Document] = _opened(self.responses[-1:] if self.last_only else self.responses)
        return held


def methods() -> dict[str, MethodDescriptor]:
    """Every RPC of every service, by its full name in a call."""
    return {
        f"/{service.full_name}/{method.name}": method
        for file in FILES
        for service in file.DESCRIPTOR.services_by_name.values()
        for method in service.methods
    }


async def exchange(
    hosted: Hosted,
    method: str,
    caller: str,
    requests: Sequence[bytes],
    *,
    last_only: bool = False,
) -> Exchange:
    """Make a call, and record its result."""
    described = methods()[method]
    answers: list[Message] = []
    code, reason = "OK", ""
    try:
        answers.extend([a async for a in _answers(hosted, described, method, caller, requests)])
    except grpc.aio.AioRpcError as error:
        code, reason = error.code().name, _reason(error)
    return Exchange(
        method=method,
        caller=caller,
        requests=[request.hex() for request in requests],
        responses=[json_format.MessageToDict(answer) for answer in answers],
        code=code,
        reason=reason,
        last_only=last_only,
    )


def places(document: Document, place: str = "") -> Iterator[tuple[str, Document]]:
    """Every leaf value of a document, with its place."""
    if isinstance(document, dict):
        for key, value in document.items():
            if key not in NEVER_HELD:
                yield from places(value, f"{place}.{key}")
    elif isinstance(document, list):
        for index, value in enumerate(document):
            yield from places(value, f"{place}[{index}]")
    else:
        yield place, document


def _opened(document: Document) -> Document:
    """A document whose text of a further document is replaced by that document."""
    if isinstance(document, dict):
        return {
            key: json.loads(value) if key == "documentJson" else _opened(value)
            for key, value in document.items()
        }
    return [_opened(entry) for entry in document] if isinstance(document, list) else document


def without(document: Document, left_out: Callable[[str], bool], place: str = "") -> Document:
    """A document without the values at some places, and without what is never compared."""
    if isinstance(document, dict):
        return {
            key: without(value, left_out, f"{place}.{key}")
            for key, value in document.items()
            if key not in NEVER_HELD and not left_out(f"{place}.{key}")
        }
    if isinstance(document, list):
        return [
            without(value, left_out, f"{place}[{index}]") for index, value in enumerate(document)
        ]
    return document


def hold(found: Exchange, recorded: Exchange) -> dict[str, str]:
    """Compare a replayed call with the recorded one.

    Returns:
        The values that the server chose now, by those that it chose then.

    Raises:
        DeviationError: If they differ.
    """
    what = recorded.method
    ended = [found.code, found.reason]
    contains(ended, [recorded.code, recorded.reason], f"{what}: code and reason")
    chosen = set(recorded.chosen)
    expected = without(
        recorded.held_responses, lambda place: place in chosen or bool(GROWING.search(place))
    )
    contains(found.held_responses, expected, what)
    values, before = dict(places(found.held_responses)), dict(places(recorded.held_responses))
    for place in filter(GROWING.search, before):
        least, number = int(before[place]), int(values.get(place, 0))
        comparing.hold(number >= least, f"{what}{place}: {number}, less than {least}")
    return {
        old: values[place]
        for place, old in before.items()
        if place in chosen and isinstance(old, str) and isinstance(values.get(place), str)
    }


def substituted(request: bytes, chosen: Mapping[str, str]) -> bytes:
    """A recorded request with the values that the server chose this time.

    Names keep their length, so that the lengths on the wire still hold.
    """
    for old, new in chosen.items():
        if old.encode() in request:
            assert len(old) == len(new), f"the server's names have become longer: {new}"
            request = request.replace(old.encode(), new.encode())
    return request


def read(file: Path) -> Exchange:
    """Read a recording."""
    return Exchange(**json.loads(file.read_text(encoding="utf-8")))


def write(file: Path, recorded: Exchange) -> None:
    """Write a recording."""
    text = json.dumps(asdict(recorded), indent=1, ensure_ascii=False)
    file.write_text(text + "\n", encoding="utf-8")


async def _answers(
    hosted: Hosted,
    described: MethodDescriptor,
    method: str,
    caller: str,
    requests: Sequence[bytes],
) -> AsyncIterator[Message]:
    """The response messages of a call."""
    kinds = {True: "stream", False: "unary"}
    kind = f"{kinds[described.client_streaming]}_{kinds[described.server_streaming]}"
    call = getattr(hosted.channel, kind)(method, bytes, _reader(described))
    sent: Any = iter(requests) if described.client_streaming else requests[0]
    answering = call(sent, metadata=_metadata(hosted, caller), timeout=TIMEOUT_S)
    if described.server_streaming:
        async for answer in answering:
            yield answer
    else:
        yield await answering


def _reader(described: MethodDescriptor) -> Callable[[bytes], Message]:
    pool = descriptor_pool.Default()
    found = pool.FindMessageTypeByName(described.output_type.full_name)
    return message_factory.GetMessageClass(found).FromString


def _metadata(hosted: Hosted, caller: str) -> tuple[tuple[str, str], ...]:
    return getattr(hosted, caller).metadata if caller else ()


def _reason(error: grpc.aio.AioRpcError) -> str:
    trailing: Any = error.trailing_metadata() or ()
    for key, value in trailing:
        if key == STATUS_KEY:
            details = [json_format.MessageToDict(d) for d in Status.FromString(value).details]
            return next((str(detail["reason"]) for detail in details if "reason" in detail), "")
    return ""
