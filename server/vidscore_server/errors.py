"""What can go wrong in the server itself, beside what can be wrong with an input."""

from __future__ import annotations

from typing import ClassVar

from vidscore_evaluators.errors import Fault, InputError, LimitError, VidscoreError


class MessageOrderError(InputError):
    """A message came where another was due."""

    reason: ClassVar[str] = "MESSAGE_ORDER"


class IdleError(LimitError):
    """A client sent, or took, nothing for too long."""

    reason: ClassVar[str] = "STREAM_IDLE"


class DrainingError(VidscoreError):
    """The server is about to stop."""

    reason: ClassVar[str] = "SERVER_DRAINING"


class WorkerLostError(VidscoreError):
    """The process that did the work died, and so did the one that tried again."""

    reason: ClassVar[str] = "WORKER_LOST"


class ListenError(VidscoreError):
    """The address cannot be listened at."""

    reason: ClassVar[str] = "LISTEN_FAILED"


class WorkFailedError(Exception):
    """Work ended in an error that nobody expected; carries where, and none of the data.

    Attributes:
        places: The error's type, and the calls that led to it.
    """

    def __init__(self, places: list[str]) -> None:
        """Keep the places."""
        self.places = places
        super().__init__(places)


def message_order(found: str, expected: str) -> MessageOrderError:
    """An error about the order of messages."""
    return MessageOrderError([Fault(found, expected, field="message")])
