"""Messages as plain values, for pages: dictionaries, lists, numbers, texts and times.

Times are `datetime`, durations seconds, enums the lower-case name without its prefix; what a
message holds without a type has the name of its type as ``type``. A message or an optional field
that is not there is None; every other field is there, whatever it holds.
Packed columns are Annotations and Outcomes; the specification of a report is its JSON form.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from google.protobuf import descriptor_pool, json_format
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.duration_pb2 import Duration
from google.protobuf.field_mask_pb2 import FieldMask
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from google.protobuf.struct_pb2 import Struct
from google.protobuf.timestamp_pb2 import Timestamp

from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.convert import to_dict
from vidscore_protos.forms import enum_numbers, enum_words
from vidscore_protos.v1.annotations_pb2 import AnnotationBatch
from vidscore_protos.v1.outcomes_pb2 import OutcomeBatch
from vidscore_protos.v1.report_pb2 import Report
from vidscore_server.api.batches import read_own_batch, write_batch
from vidscore_server.api.convert import read_specification, write_duration, write_time
from vidscore_server.api.definitions import write_definition, write_policy
from vidscore_server.api.outcomes import read_outcomes
from vidscore_server.domain.definition import Definition
from vidscore_server.domain.policy import Policy

_OPTIONAL_KINDS = (FieldDescriptor.TYPE_MESSAGE, FieldDescriptor.TYPE_GROUP)


def plain(message: Message) -> Any:
    """A message as plain values."""
    if isinstance(message, Timestamp):
        return message.ToDatetime(UTC)
    if isinstance(message, Duration):
        return message.ToNanoseconds() / 1e9
    if isinstance(message, Struct):
        return json_format.MessageToDict(message)
    if isinstance(message, FieldMask):
        return list(message.paths)
    if isinstance(message, AnyMessage):
        return _packed(message)
    if isinstance(message, AnnotationBatch):
        return read_own_batch(message)
    if isinstance(message, OutcomeBatch):
        return read_outcomes(message)
    values = {field.name: _value(message, field) for field in message.DESCRIPTOR.fields}
    if isinstance(message, Report):
        specification = read_specification(message.specification, "specification")
        values["specification"] = to_dict(specification)
    return values


def _packed(message: AnyMessage) -> dict[str, Any]:
    """A message that stands in another one without a type, with the last part of its name."""
    name = message.TypeName()
    inner = GetMessageClass(descriptor_pool.Default().FindMessageTypeByName(name))()
    message.Unpack(inner)
    found: dict[str, Any] = plain(inner)
    return {"type": name.rpartition(".")[2], **found}


def _value(message: Message, field: Any) -> Any:
    value = getattr(message, field.name)
    kind = field.message_type
    if field.is_repeated:
        if kind is not None and kind.GetOptions().map_entry:
            return dict(value)
        return [_one(field, entry) for entry in value]
    if field.has_presence and not message.HasField(field.name):
        return None
    return _one(field, value)


def _one(field: Any, value: Any) -> Any:
    if field.type in _OPTIONAL_KINDS:
        return plain(value)
    if field.enum_type is not None:
        return enum_words(field.enum_type).get(value, "")
    return value


def fill(message: Message, values: Mapping[str, Any]) -> None:
    """Inverse of `plain`: set the fields that are named; None leaves one as it is.

    Args:
        message: The message.
        values: Values by field name. Annotations may stand for a batch, a definition for a
            benchmark, a policy for its message, numbers for durations.

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
