"""Long work on the server, each kind written once for both clients; see `_operations`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from google.longrunning import operations_pb2
from google.protobuf.empty_pb2 import Empty
from google.protobuf.message import Message

from vidscore_client._operations import Operation, UnaryRequest
from vidscore_client._status import error_from_status
from vidscore_client.errors import DeadlineError, InternalError, VidscoreError
from vidscore_client.frames import text

_OPERATIONS = "/google.longrunning.Operations/"

POLL_S = 0.2
"""Seconds between two questions how far it is."""

ProgressType = TypeVar("ProgressType")
OutcomeType = TypeVar("OutcomeType")


@dataclass(frozen=True)
class LongKind(Generic[ProgressType, OutcomeType]):
    """A kind of long work: what its operation says, and what to call it.

    Attributes:
        noun: What errors call it, such as ``re-scoring``.
        metadata: Message that tells how far it is.
        response: Message that holds its outcome.
        read_progress: Makes progress of the first.
        read_outcome: Makes an outcome of the second.
    """

    noun: str
    metadata: type[Message]
    response: type[Message]
    read_progress: Callable[[Any], ProgressType]
    read_outcome: Callable[[Any], OutcomeType]

    def status_of(
        self, message: operations_pb2.Operation
    ) -> OperationStatus[ProgressType, OutcomeType]:
        """What an operation says."""
        metadata, response = self.metadata(), self.response()
        message.metadata.Unpack(metadata)
        ending = message.WhichOneof("result")
        if ending == "response":
            message.response.Unpack(response)
        return OperationStatus(
            name=message.name,
            progress=self.read_progress(metadata),
            done=message.done,
            outcome=self.read_outcome(response) if ending == "response" else None,
            error=error_from_status(message.error) if ending == "error" else None,
        )

    def get(self, name: str) -> Operation[OperationStatus[ProgressType, OutcomeType]]:
        """How far an operation is."""
        response = yield UnaryRequest(
            _OPERATIONS + "GetOperation",
            operations_pb2.GetOperationRequest(name=text("name", name)),
            operations_pb2.Operation,
        )
        return self.status_of(response)

    def outcome_of(self, status: OperationStatus[ProgressType, OutcomeType]) -> OutcomeType:
        """What came of work that has ended.

        Raises:
            VidscoreError: What it failed with.
        """
        if status.error is not None:
            raise status.error
        if status.outcome is None:
            raise InternalError(f"the server ended a {self.noun} without an outcome")
        return status.outcome

    def not_ended(self, timeout_s: float | None) -> DeadlineError:
        """The error of work that takes longer than the caller wants to wait."""
        return DeadlineError(
            f"the {self.noun} has not ended within {timeout_s:g} s; it goes on",
            code="DEADLINE_EXCEEDED",
        )


@dataclass(frozen=True)
class OperationStatus(Generic[ProgressType, OutcomeType]):
    """How far an operation is.

    Attributes:
        name: Full name of the operation.
        progress: How far it has come.
        done: Whether it has ended.
        outcome: What came of it; None unless it has succeeded.
        error: What it failed with; None unless it has failed.
    """

    name: str
    progress: ProgressType
    done: bool
    outcome: OutcomeType | None
    error: VidscoreError | None


def cancel_operation(name: str) -> Operation[None]:
    """End an operation before its next step."""
    yield UnaryRequest(
        _OPERATIONS + "CancelOperation",
        operations_pb2.CancelOperationRequest(name=text("name", name)),
        Empty,
    )
