"""Parts of requests that handlers share: page sizes and tokens, and the request as a command."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from types import GenericAlias
from typing import Annotated, Any, TypeVar

import msgspec
import numpy as np
import orjson
from google.protobuf.message import Message

from vidscore_evaluators.arrays import IntArray
from vidscore_evaluators.errors import Fault, InputError
from vidscore_server.domain.access import current_caller
from vidscore_server.domain.context import Context, Request

DEFAULT_PAGE_SIZE = 50
MAXIMUM_PAGE_SIZE = 1000
"""Maximum page size; larger requests are not refused, but get this many."""

Entry = TypeVar("Entry")
Part = TypeVar("Part", bound=Message)

Time = Annotated[datetime, msgspec.Meta(tz=True)]
KeyPart = str | int | datetime
"""A part of the key of a page."""

MAXIMUM_RESPONSE_BYTES = 2 << 20
"""Bytes of a response: half of what clients take by default."""

LARGEST = 1 << 63
"""Largest number in a page token: stores use 64-bit integers."""


def page_size_of(request: Any, default: int | None = None) -> int:
    """The number of entries for a request of a page.

    Args:
        request: The request.
        default: The number for a request without one; None for the usual one.

    Raises:
        InputError: If it asks for a negative number.
    """
    refuse_negative(request, "page_size")
    return min(request.page_size or default or DEFAULT_PAGE_SIZE, MAXIMUM_PAGE_SIZE)


def refuse_negative(request: Any, *fields: str) -> None:
    """Refuse a request with one of these fields below 0.

    Raises:
        InputError: With every fault.
    """
    values = {field: getattr(request, field) for field in fields}
    faults = [
        Fault(str(value), "0 or more", field=field) for field, value in values.items() if value < 0
    ]
    if faults:
        raise InputError(faults)


def read_page_token(request: Any, *kinds: Any) -> Any:
    """The key after which a page starts; None for the first page.

    Args:
        request: The request.
        kinds: Types of the key's parts: text, integer or `Time`.

    Raises:
        InputError: If the token is not from this server.
    """
    if not request.page_token:
        return None
    try:
        data = base64.b64decode(request.page_token, altchars=b"-_", validate=True)
        key = msgspec.json.decode(data, type=GenericAlias(tuple, kinds))
        if all(map(_is_storable, key)):
            return key
    except (ValueError, msgspec.MsgspecError):
        pass
    found = repr(request.page_token)[:80]
    raise InputError([Fault(found, "the token of the previous page", field="page_token")])


def _is_storable(part: KeyPart) -> bool:
    """Whether a store can look it up: databases end texts at the character 0."""
    if isinstance(part, str):
        return "\0" not in part
    return isinstance(part, datetime) or 0 <= part < LARGEST


def write_page_token(*key: KeyPart) -> str:
    """The token of the page after a key."""
    return base64.urlsafe_b64encode(orjson.dumps(key)).decode()


def cut_page(
    found: Sequence[Entry], size: int, key: Callable[[Entry], tuple[KeyPart, ...]]
) -> tuple[Sequence[Entry], str]:
    """The entries of a page, and the token of the next one.

    Args:
        found: The entries of the page and, if there are more, one further entry.
        size: Entries of a page.
        key: Returns the key of an entry.
    """
    shown = found[:size]
    return shown, write_page_token(*key(shown[-1])) if len(found) > size else ""


# --- Commands


def request_of(message: Message, action: str, context: Context) -> Request:
    """A changing message as a request, with its caller and time.

    Args:
        message: The message; its `request_id`, if it has one, makes it safe to repeat.
        action: Name of the RPC.
        context: The hosting context.
    """
    data = f"{action}\0".encode() + message.SerializeToString(deterministic=True)
    return Request(
        caller=current_caller(),
        action=action,
        time=context.clock(),
        request_id=getattr(message, "request_id", ""),
        digest=hashlib.sha256(data).hexdigest(),
    )


def message_kind(request: Message) -> str:
    """Name of the message that a request of a stream holds.

    Raises:
        InputError: If it holds none.
    """
    kind: str | None = request.WhichOneof("message")
    if kind is None:
        expected = "a configuration, truth or detections"
        raise InputError([Fault("nothing", expected, field="message")])
    return kind


def bounded_messages(rows: IntArray, write: Callable[[IntArray], Part]) -> Iterator[Part]:
    """Rows as messages of bounded size, at least one; a larger row gets its own message.

    Args:
        rows: (N,) rows.
        write: Writes some of them as one message.
    """
    message = write(rows)
    if message.ByteSize() <= MAXIMUM_RESPONSE_BYTES or len(rows) < 2:
        yield message
        return
    for part in np.array_split(rows, 2):
        yield from bounded_messages(part, write)
