"""Answers to small reads, kept until anything in the store has changed.

Pages and programs ask for the same benchmark, submission or board again and again, and most of the
time nothing was committed in between. The store tells that in microseconds; to read and write the
same answer again takes a thread, several queries and a thousand times as long. What is kept is
sent as the bytes that it was written to once.
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
"""Size of all answers that are kept; the one that nobody has asked for longest goes first."""

MAXIMUM_ANSWER_BYTES = MAXIMUM_BYTES // 32
"""Size of a request and its answer that are kept together."""

OVERHEAD_BYTES = 1024
"""About what keeping an answer takes beside it."""


class ReadyAnswer(NamedTuple):
    """An answer that is sent again and again.

    Attributes:
        message: The answer; nobody may change it.
        data: The bytes that are sent.
    """

    message: Message
    data: bytes

    @classmethod
    def of(cls, message: Message) -> ReadyAnswer:
        """Write an answer."""
        return cls(message, message.SerializeToString())


def response_writer(write: Callable[[Any], bytes]) -> Callable[[Any], bytes]:
    """What writes responses, of which those that are ready are written already.

    Args:
        write: Writes a message.
    """
    return lambda response: response.data if isinstance(response, ReadyAnswer) else write(response)


class _Kept(NamedTuple):
    state: int
    until: datetime | None
    answer: ReadyAnswer


class KeptAnswers:
    """The answers that were asked for last.

    An answer that is kept is the one that would be made anew: nothing was committed since before it
    was made, and it holds by the clock.

    Args:
        context: The hosting context.
        maximum_bytes: Size of all that is kept.
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
        """The answer to a request of the present caller, kept or made anew.

        Args:
            request: The request.
            make: Makes the answer out of request, caller, store and clock alone; also gives when
                the clock changes it next, None for never.
            also: Whatever else it is made of.
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
            # The message beside its bytes takes about as much again.
            byte_count = OVERHEAD_BYTES + len(data) + 2 * len(answer.data)
            if byte_count <= MAXIMUM_ANSWER_BYTES:
                self._kept.put(key, _Kept(state, until, answer), byte_count)
            else:
                self._kept.drop(key)
        return answer

    def _holds(self, kept: _Kept) -> bool:
        return kept.until is None or self._context.clock() < kept.until


def next_change(now: datetime, *times: datetime | None) -> datetime | None:
    """The first of some times that is still to come; None if none is.

    Args:
        now: The time.
        times: When something changes; None for never.
    """
    return min((time for time in times if time is not None and time > now), default=None)
