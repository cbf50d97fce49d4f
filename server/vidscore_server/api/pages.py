"""The RPCs for the pages of the site: by name, with plain values in and out."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing
from contextvars import Context, copy_context
from datetime import UTC, datetime
from functools import cache
from typing import Any

from google.protobuf import descriptor_pool, json_format
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.descriptor import Descriptor
from google.protobuf.duration_pb2 import Duration
from google.protobuf.field_mask_pb2 import FieldMask
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from google.protobuf.struct_pb2 import Struct
from google.protobuf.timestamp_pb2 import Timestamp
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo, RetryInfo

from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.convert import to_dict
from vidscore_evaluators.specification import BenchmarkSpec
from vidscore_protos.dictionaries import show_definition
from vidscore_protos.forms import enum_numbers, enum_words
from vidscore_protos.v1.annotations_pb2 import AnnotationBatch
from vidscore_protos.v1.benchmark_service_pb2 import GetBenchmarkResponse
from vidscore_protos.v1.outcomes_pb2 import OutcomeBatch
from vidscore_protos.v1.report_pb2 import Report
from vidscore_server.api.batches import read_own_batch, write_batch
from vidscore_server.api.convert import (
    read_specification,
    write_duration,
    write_specification,
    write_time,
)
from vidscore_server.api.definitions import write_definition, write_policy
from vidscore_server.api.local_calls import LocalCalls, Refused, request_class
from vidscore_server.api.scores import REPORT_PARTS
from vidscore_server.api.stored_frames import read_outcomes
from vidscore_server.domain.access import SESSION_SCHEME, token_of
from vidscore_server.domain.browser_sessions import BrowserSessions
from vidscore_server.domain.definition import Definition
from vidscore_server.domain.policy import Policy
from vidscore_server.domain.scores import ReportParts
from vidscore_server.runtime import offload
from vidscore_server.web.site.service import FieldFault, ServiceError, Visitor

PACKAGE = "vidscore.v1"


class PageCalls:
    """The server's RPCs for its pages; see `vidscore_server.web.site.service.Service`."""

    def __init__(self, calls: LocalCalls, sessions: BrowserSessions) -> None:
        self._calls = calls
        self._sessions = sessions

    async def call(
        self, rpc: str, visitor: Visitor, parts: ReportParts = ReportParts.ALL, /, **request: Any
    ) -> dict[str, Any]:
        """Make a call with one request and one response.

        Raises:
            ServiceError: If it is refused.
        """
        return await self._call(rpc, _credentials(visitor), visitor.peer, request, parts)

    async def stream(
        self,
        rpc: str,
        visitor: Visitor,
        requests: AsyncIterator[Mapping[str, Any]],
        parts: ReportParts = ReportParts.ALL,
        /,
    ) -> AsyncGenerator[dict[str, Any], None]:
        """Make a call with several messages on either side.

        Raises:
            ServiceError: If it is refused, while its responses are read.
        """
        method = self._calls.rpcs[_full_name(rpc)]

        async def messages() -> AsyncIterator[Message]:
            async for request in requests:
                yield _request(rpc, request)

        credentials = _credentials(visitor)
        try:
            answers = self._calls.stream(
                method, messages(), credentials, visitor.peer, _wanting(parts)
            )
            async with aclosing(answers):  # end the call when a page has read enough
                async for response in answers:
                    yield await _plain(response)
        except Refused as refused:
            raise error_of(refused) from None

    async def sign_in(self, token: str, peer: str) -> str:
        """Begin the session of a token.

        Raises:
            ServiceError: If the token is unknown, has ended or was revoked.
        """
        name = token_of(token)
        bearer = (("authorization", f"Bearer {token if name else 'none'}"),)
        await self._call("ServerService/GetServer", bearer, peer, {})
        return self._sessions.begin(name or "")

    def form_key(self, text: str) -> str:
        """The key that forms carry, so that no other site can send them."""
        return self._sessions.form_key(text)

    async def _call(
        self,
        rpc: str,
        credentials: tuple[tuple[str, str], ...],
        peer: str,
        request: Mapping[str, Any],
        parts: ReportParts = ReportParts.ALL,
    ) -> dict[str, Any]:
        method = self._calls.rpcs[_full_name(rpc)]
        message = _request(rpc, request)
        try:
            response = await self._calls.unary(method, message, credentials, peer, _wanting(parts))
        except Refused as refused:
            raise error_of(refused) from None
        found: dict[str, Any] = await _plain(response)
        return found


_SIGNED_OUT = (
    "You are not signed in, or your session has ended. Sign in, and repeat what you did; nothing "
    "was changed."
)
"""Messages for people, in place of those for programs, which send a token."""


def error_of(refused: Refused) -> ServiceError:
    """A refusal as an error for pages."""
    faults: tuple[FieldFault, ...] = ()
    info, delay = ErrorInfo(), RetryInfo()
    delay_s = None
    for detail in refused.status.details:
        bad_request = BadRequest()
        if detail.Unpack(bad_request):
            faults = tuple(
                FieldFault(violation.field, violation.description)
                for violation in bad_request.field_violations
            )
        elif detail.Unpack(delay):
            delay_s = delay.retry_delay.ToNanoseconds() / 1e9
        else:
            detail.Unpack(info)
    code = refused.code.name
    return ServiceError(
        code,
        info.reason,
        _SIGNED_OUT if code == "UNAUTHENTICATED" else refused.status.message,
        faults,
        dict(info.metadata),
        delay_s,
    )


def _credentials(visitor: Visitor) -> tuple[tuple[str, str], ...]:
    if not visitor.session:
        return ()
    return (("authorization", SESSION_SCHEME + visitor.session),)


def _wanting(parts: ReportParts) -> Context:
    """Context variables of a call that needs these parts of reports."""
    variables = copy_context()
    variables.run(REPORT_PARTS.set, parts)
    return variables


def _full_name(rpc: str) -> str:
    return f"/{rpc}" if rpc.startswith("google.") else f"/{PACKAGE}.{rpc}"


def _request(rpc: str, values: Mapping[str, Any]) -> Message:
    message = request_class(_full_name(rpc))()
    fill(message, values)
    return message


# --- Messages as plain values: dictionaries, lists, numbers, texts and times
#
# Times are `datetime`, durations seconds, enums the lower-case name without its prefix; an untyped
# message in a message has the name of its type as ``type``. An absent message or optional field is
# None; every other field is present. Packed columns are Annotations and Outcomes; the specification
# of a report is its JSON form. The benchmark of GetBenchmark also has ``document``: its definition
# by the keys of its file.


async def _plain(message: Message) -> Any:
    """A response as plain values; while a large one is converted, the server does other work."""
    return await offload(message.ByteSize(), plain, message)


def plain(message: Message) -> Any:
    """A message as plain values."""
    special = _SPECIAL.get(type(message))
    if special is not None:
        return special(message)
    values = {name: read(message) for name, read in _fields(message.DESCRIPTOR)}
    if isinstance(message, Report):
        specification = read_specification(message.specification, "specification")
        values["specification"] = to_dict(specification)
    elif isinstance(message, GetBenchmarkResponse):
        values["benchmark"]["document"] = show_definition(message.benchmark)
    return values


def _packed(message: AnyMessage) -> dict[str, Any]:
    """An untyped message within a message, with the last part of its type's name."""
    name = message.TypeName()
    inner = GetMessageClass(descriptor_pool.Default().FindMessageTypeByName(name))()
    message.Unpack(inner)
    found: dict[str, Any] = plain(inner)
    return {"type": name.rpartition(".")[2], **found}


_SPECIAL: Mapping[type[Message], Callable[[Any], Any]] = {
    Timestamp: lambda message: message.ToDatetime(UTC),
    Duration: lambda message: message.ToNanoseconds() / 1e9,
    Struct: json_format.MessageToDict,
    FieldMask: lambda message: list(message.paths),
    AnyMessage: _packed,
    AnnotationBatch: read_own_batch,
    OutcomeBatch: read_outcomes,
}


@cache
def _fields(kind: Descriptor) -> tuple[tuple[str, Callable[[Message], Any]], ...]:
    """Names of the fields of a message, with their readers; cached, not looked up per row."""
    return tuple((field.name, _reader(field)) for field in kind.fields)


def _reader(field: Any) -> Callable[[Message], Any]:
    name, one = field.name, _one(field)
    if field.is_repeated:
        kind = field.message_type
        if kind is not None and kind.GetOptions().map_entry:
            return lambda message: dict(getattr(message, name))
        return lambda message: list(map(one, getattr(message, name)))
    if field.has_presence:
        return lambda message: one(getattr(message, name)) if message.HasField(name) else None
    return lambda message: one(getattr(message, name))


def _one(field: Any) -> Callable[[Any], Any]:
    """The converter of a field's values to plain values."""
    if field.message_type is not None:
        return plain
    if field.enum_type is not None:
        words = enum_words(field.enum_type)
        return lambda number: words.get(number, "")
    return lambda value: value


def fill(message: Message, values: Mapping[str, Any]) -> None:
    """Inverse of `plain`: set the named fields; None leaves a field unchanged.

    Args:
        message: The message.
        values: Values by field name. Annotations are accepted for a batch, a definition for a
            benchmark, a specification and a policy for their messages, numbers for durations.

    Raises:
        KeyError: If the message has no such field.
    """
    for name, value in values.items():
        field = message.DESCRIPTOR.fields_by_name[name]
        if value is not None:
            _set(message, field, value)


def _set(message: Message, field: Any, value: Any) -> None:
    kind = field.message_type
    if field.is_repeated:
        target = getattr(message, field.name)
        if kind is not None and kind.GetOptions().map_entry:
            target.update(value)
        elif kind is not None:
            for entry in value:
                _fill_one(target.add(), entry)
        else:
            target.extend(_scalar(field, entry) for entry in value)
    elif kind is not None:
        inner = getattr(message, field.name)
        inner.SetInParent()
        _fill_one(inner, value)
    else:
        setattr(message, field.name, _scalar(field, value))


def _fill_one(message: Message, value: Any) -> None:
    if isinstance(value, Message):
        message.CopyFrom(value)
    elif isinstance(value, Annotations):
        message.CopyFrom(write_batch(value))
    elif isinstance(value, Policy):
        message.CopyFrom(write_policy(value))
    elif isinstance(value, BenchmarkSpec):
        message.CopyFrom(write_specification(to_dict(value)))
    elif isinstance(value, Definition):
        message.CopyFrom(write_definition(value))
    elif isinstance(value, datetime):
        message.CopyFrom(write_time(value) or Timestamp())
    elif isinstance(message, Duration):
        message.CopyFrom(write_duration(float(value)))
    elif isinstance(message, Struct):
        message.update(value)
    elif isinstance(message, FieldMask):
        message.paths.extend(value)
    else:
        fill(message, value)


def _scalar(field: Any, value: Any) -> Any:
    enum = field.enum_type
    if enum is None or isinstance(value, int):
        return value
    return enum_numbers(enum)[str(value).lower()] if value else 0
