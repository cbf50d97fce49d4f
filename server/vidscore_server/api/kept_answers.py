"""A cache of answers to small reads, valid until anything in the store changes.

Pages and programs request the same benchmark, submission or board repeatedly, and mostly nothing
was committed in between. The store tells that in microseconds; computing the same answer again
takes a thread, several queries and a thousand times as long. A cached answer is sent as the bytes
to which it was serialized once.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable
from datetime import datetime
from typing import Any, NamedTuple

from google.protobuf.message import Message

from vidscore_server.domain.access import current_caller
from vidscore_server.domain.context import Context
from vidscore_server.runtime import Kept

MAXIMUM_BYTES = 8 << 20
"""Maximum size of all cached answers; the least recently used one is dropped first."""

MAXIMUM_ANSWER_BYTES = MAXIMUM_BYTES // 32
"""Maximum size of a request and its answer that are cached."""

OVERHEAD_BYTES = 1024
"""Approximate overhead of a cached answer."""


class ReadyAnswer(NamedTuple):
    """A serialized answer that may be sent repeatedly.

    Attributes:
        message: The answer; nobody may change it.
        data: The bytes to send.
    """

    message: Message
    data: bytes

    @classmethod
    def of(cls, message: Message) -> ReadyAnswer:
        """Serialize an answer."""
        return cls(message, message.SerializeToString())


def response_writer(write: Callable[[Any], bytes]) -> Callable[[Any], bytes]:
    """A serializer of responses that passes ready answers through.

    Args:
        write: Serializes a message.
    """
    return lambda response: response.data if isinstance(response, ReadyAnswer) else write(response)


class _Kept(NamedTuple):
    state: int
    until: datetime | None
    answer: ReadyAnswer


class KeptAnswers:
    """Caches the most recently used answers.

    A cached answer equals a new one: nothing was committed since before it was made, and it is
    still valid by the clock.

    Args:
        context: The hosting context.
        maximum_bytes: Maximum size of all cached answers.
    """

    def __init__(self, context: Context, maximum_bytes: int = MAXIMUM_BYTES) -> None:
        self._context = context
        self._kept: Kept[_Kept] = Kept(maximum_bytes)

    async def answer(
        self,
        request: Message,
        make: Callable[[], Awaitable[tuple[Message, datetime | None]]],
        *also: Hashable,
    ) -> ReadyAnswer:
        """The answer to a request of the current caller, cached or new.

        Args:
            request: The request.
            make: Makes the answer from request, caller, store and clock alone; also returns when
                time changes it next, None for never.
            also: Further inputs of the answer.
        """
        data = request.SerializeToString(deterministic=True)
        key = (request.DESCRIPTOR.full_name, data, current_caller(), *also)
        state = self._context.store.state_number()
        kept = self._kept.get(key)
        if kept is not None and kept.state == state and self._holds(kept):
            return kept.answer
        message, until = await make()
        answer = ReadyAnswer.of(message)
        if state is not None:
            # The message takes about as much memory as its bytes.
            byte_count = OVERHEAD_BYTES + len(data) + 2 * len(answer.data)
            if byte_count <= MAXIMUM_ANSWER_BYTES:
                self._kept.put(key, _Kept(state, until, answer), byte_count)
            else:
                self._kept.drop(key)
        return answer

    def _holds(self, kept: _Kept) -> bool:
        return kept.until is None or self._context.clock() < kept.until


def next_change(now: datetime, *times: datetime | None) -> datetime | None:
    """The first future one of the given times; None if there is none.

    Args:
        now: The time.
        times: Times of changes; None for never.
    """
    return min((time for time in times if time is not None and time > now), default=None)
