"""Mutations of documents: JSON trees, JSON lines, and the fields of messages."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError, Message
from tests.campaigns.fuzzing.changing import TOKENS, Change, of_bytes, of_list, of_number

VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 0.5, -0.0, 1e308, -1e308, 5e-324, 1 << 31, 1 << 32, 1 << 53),
    *((1 << 63) - 1, 1 << 63, -(1 << 63), 1 << 64, 10**30, float("nan"), float("inf")),
    *("", "a", "0", "nan", "\x00", "\ud800", "=1+1", "a/b", "x" * 300, "ignore", "DontCare"),
    *([], {}, [[]], [0], [1, 2, 3, 4], [1e308, 1e308, -1e308, -1e308], {"": 0}),
)
"""JSON values that a reader may not expect."""

_DEEP = 100


def of_json(data: bytes, chance: Random) -> bytes:
    """Change a JSON tree in one place."""
    if chance.random() < 0.1:
        return of_number(data, chance)
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return of_bytes(data, chance)
    return json.dumps(changed_value(document, chance), separators=(",", ":")).encode()


def changed_value(document: Any, chance: Random) -> Any:
    """A document with one value replaced; may modify the document itself."""
    places = list(_places(document))
    if not places or chance.random() < 0.02:
        return chance.choice(VALUES)
    holder, key = chance.choice(places)
    match chance.randrange(8):
        case 0 | 1:
            holder[key] = chance.choice(VALUES)
        case 2:
            other, of_other = chance.choice(places)
            holder[key] = _copy(other[of_other])
        case 3:
            del holder[key]
        case 4 if isinstance(holder, dict):
            names = [name for other, name in places if isinstance(name, str)]
            holder[chance.choice((*names, "", "x", key + "s"))] = holder.pop(key)
        case 4 | 5 if isinstance(holder, list):
            holder[:] = of_list(holder, chance)
        case 6:
            holder[key] = chance.choice(([holder[key]], {"x": holder[key]}, str(holder[key])[:99]))
        case _:
            holder[key] = _near(holder[key], chance)
    return document


def _places(document: Any) -> list[tuple[Any, Any]]:
    """Every value below the root, as its container and its key."""
    found: list[tuple[Any, Any]] = []
    waiting = [document]
    while waiting:
        holder = waiting.pop()
        if isinstance(holder, dict):
            keys: list[Any] = list(holder)
        elif isinstance(holder, list):
            keys = list(range(len(holder)))
        else:
            continue
        found += [(holder, key) for key in keys]
        waiting += [holder[key] for key in keys]
    return found


def _copy(value: Any) -> Any:
    return json.loads(json.dumps(value))


def _near(value: Any, chance: Random) -> Any:
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, int | float):
        return chance.choice((value + 1, value - 1, -value, value / 2, value * 1000))
    if isinstance(value, str):
        return of_bytes(value.encode(errors="replace"), chance).decode(errors="replace")
    deep: Any = value
    for _ in range(_DEEP):
        deep = [deep]
    return deep


def of_json_lines(data: bytes, chance: Random) -> bytes:
    """Change one JSON line, or the order of the lines."""
    lines = data.split(b"\n")
    if chance.random() < 0.25:
        return b"\n".join(of_list(lines, chance))
    row = chance.randrange(len(lines))
    lines[row] = of_json(lines[row], chance)
    return b"\n".join(lines)


# --- messages --------------------------------------------------------------------------------

_INTEGERS = (0, 1, 2, 3, 7, 100, -1, 1 << 20, (1 << 31) - 1, 1 << 31, (1 << 63) - 1, -(1 << 63))
_FLOATS = (0.0, -0.0, 0.5, 1.0, -1.0, 1e308, -1e308, 5e-324, float("nan"), float("inf"), 100.0)
_RANGES = {
    FieldDescriptor.CPPTYPE_INT32: (-(1 << 31), (1 << 31) - 1),
    FieldDescriptor.CPPTYPE_INT64: (-(1 << 63), (1 << 63) - 1),
    FieldDescriptor.CPPTYPE_UINT32: (0, (1 << 32) - 1),
    FieldDescriptor.CPPTYPE_UINT64: (0, (1 << 64) - 1),
    FieldDescriptor.CPPTYPE_ENUM: (-(1 << 31), (1 << 31) - 1),
}
_MOST_REPEATED = 4_096


def of_message(kind: type[Message]) -> Change:
    """A mutation of messages of a type."""
    return partial(_of_message, kind)


def _of_message(kind: type[Message], data: bytes, chance: Random) -> bytes:
    message = kind()
    try:
        message.ParseFromString(data)
    except DecodeError:
        return of_bytes(data, chance)
    if chance.random() < 0.1:
        return of_bytes(data, chance)
    parts = _parts(message)
    # Most parts are small and in long lists. Larger parts deserve as many mutations.
    part = parts[0] if chance.random() < 0.4 else chance.choice(parts)
    _change_field(part, chance)
    return message.SerializeToString(deterministic=True)


def _parts(message: Message) -> list[Message]:
    """A message and all messages in it."""
    found = [message]
    for part in found:
        for field, value in part.ListFields():
            if field.type != FieldDescriptor.TYPE_MESSAGE:
                continue
            if _is_map(field):
                continue
            found += list(value)[:20] if field.is_repeated else [value]
    return found


def _is_map(field: FieldDescriptor) -> bool:
    return field.message_type is not None and field.message_type.GetOptions().map_entry


def _change_field(message: Message, chance: Random) -> None:
    present = [field for field, _ in message.ListFields()]
    fields: list[Any] = list(message.DESCRIPTOR.fields)
    if present and chance.random() < 0.8:
        fields = present
    if not fields:
        return
    field = chance.choice(fields)
    if chance.random() < 0.1 or _is_map(field):
        message.ClearField(field.name)
    elif field.is_repeated:
        _change_repeated(message, field, chance)
    elif field.type == FieldDescriptor.TYPE_MESSAGE:
        getattr(message, field.name).SetInParent()
    else:
        setattr(message, field.name, _scalar(field, getattr(message, field.name), chance))


def _change_repeated(message: Message, field: FieldDescriptor, chance: Random) -> None:
    values = getattr(message, field.name)
    is_message = field.type == FieldDescriptor.TYPE_MESSAGE
    if not values or chance.random() < 0.15:
        if is_message:
            values.add()
        else:
            values.append(_scalar(field, field.default_value or _zero(field), chance))
        return
    place = chance.randrange(len(values))
    match chance.randrange(5):
        case 0:
            del values[place]
        case 1:
            del values[place:]
        case 2 if len(values) < _MOST_REPEATED:
            values.extend(list(values)[place:])
        case 3:
            if is_message:
                _change_field(values[place], chance)
            else:
                values[place] = values[chance.randrange(len(values))]
        case _:
            if is_message:
                values[place].CopyFrom(values[chance.randrange(len(values))])
            else:
                values[place] = _scalar(field, values[place], chance)


def _zero(field: FieldDescriptor) -> Any:
    kinds: dict[int, Callable[[], Any]] = {
        FieldDescriptor.CPPTYPE_STRING: bytes if field.type == FieldDescriptor.TYPE_BYTES else str,
        FieldDescriptor.CPPTYPE_DOUBLE: float,
        FieldDescriptor.CPPTYPE_FLOAT: float,
        FieldDescriptor.CPPTYPE_BOOL: bool,
    }
    return kinds.get(field.cpp_type, int)()


def _scalar(field: FieldDescriptor, value: Any, chance: Random) -> Any:
    if field.type == FieldDescriptor.TYPE_BYTES:
        return of_bytes(value, chance)
    match field.cpp_type:
        case FieldDescriptor.CPPTYPE_STRING:
            text = chance.choice((*TOKENS, of_bytes(value.encode(), chance)))
            return text.decode(errors="replace")
        case FieldDescriptor.CPPTYPE_DOUBLE | FieldDescriptor.CPPTYPE_FLOAT:
            return chance.choice((*_FLOATS, value + 1, -value, value / 3))
        case FieldDescriptor.CPPTYPE_BOOL:
            return not value
    least, most = _RANGES[field.cpp_type]
    return min(max(chance.choice((*_INTEGERS, value + 1, value - 1)), least), most)
