"""google.longrunning.Operations: the progress of long work, and its cancellation."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import grpc
import orjson
from google.longrunning import operations_pb2, operations_pb2_grpc
from google.protobuf.empty_pb2 import Empty
from google.protobuf.message import Message
from google.rpc.error_details_pb2 import ErrorInfo
from msgspec.structs import replace

from vidscore_protos.v1 import organiser_pb2, trust_pb2
from vidscore_server.api.convert import read_seconds, write_time
from vidscore_server.api.requests import cut_page, page_size_of, read_page_token, request_of
from vidscore_server.api.stream import Responses
from vidscore_server.domain.hosting import Hosting
from vidscore_server.domain.leases import required_operation
from vidscore_server.domain.names import benchmark_name, read_operation
from vidscore_server.domain.rescoring import KIND as RESCORE
from vidscore_server.domain.rescoring import done_of, read_plan
from vidscore_server.domain.trust import FAILED as ANALYSIS_FAILED
from vidscore_server.domain.trust import TIMED_OUT as ANALYSIS_TIMED_OUT
from vidscore_server.domain.trust_plans import KINDS as TRUST
from vidscore_server.errors import OperationRunsError
from vidscore_server.status import ERROR_DOMAIN
from vidscore_server.store import Transaction
from vidscore_server.store.records import OperationRecord

_ENDINGS = {
    "CANCELLED": (grpc.StatusCode.CANCELLED, "The operation was cancelled."),
    "SCORING_FAILED": (grpc.StatusCode.INTERNAL, "Scoring failed; see the server's log."),
    ANALYSIS_FAILED: (grpc.StatusCode.INTERNAL, "It failed; see the server's log."),
    ANALYSIS_TIMED_OUT: (
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        "It took longer than the server's trust_timeout_s.",
    ),
    "WORKER_LOST": (grpc.StatusCode.INTERNAL, "The process that did the work died."),
    "NOT_FOUND": (grpc.StatusCode.NOT_FOUND, "The resource that it worked on was deleted."),
}
_OTHER_ENDING = (grpc.StatusCode.FAILED_PRECONDITION, "It cannot be done with this data.")
"""Endings for reasons that name a fault of an input."""


def write_operation(record: OperationRecord) -> operations_pb2.Operation:
    """An operation as a message."""
    message = operations_pb2.Operation(name=f"operations/{record.operation}", done=record.done)
    write_metadata, write_response = _KINDS[record.kind]
    message.metadata.Pack(write_metadata(record))
    if record.error is not None:
        reason, _, detail = record.error.partition(": ")
        code, text = _ENDINGS.get(reason, _OTHER_ENDING)
        message.error.code = code.value[0]
        message.error.message = f"{text} {detail[:1].upper()}{detail[1:]}".strip()
        message.error.details.add().Pack(ErrorInfo(reason=reason, domain=ERROR_DOMAIN))
    elif record.result is not None:
        message.response.Pack(write_response(record.result))
    return message


def _rescore_metadata(record: OperationRecord) -> Message:
    return organiser_pb2.RescoreMetadata(
        submissions_in_all=len(read_plan(record).submissions),
        submissions_done=len(done_of(record)),
        start_time=write_time(record.create_time),
    )


def _rescore_response(result: str) -> Message:
    return organiser_pb2.RescoreResponse(
        differences=[organiser_pb2.ScoreDifference(**entry) for entry in orjson.loads(result)]
    )


def _trust_metadata(record: OperationRecord) -> Message:
    progress = orjson.loads(record.progress)
    benchmark = orjson.loads(record.request).get("benchmark")
    return trust_pb2.TrustMetadata(
        stage=progress.get("stage", ""),
        pieces_done=progress.get("done", 0),
        pieces_in_all=progress.get("total", 0),
        start_time=write_time(record.create_time),
        benchmark=benchmark_name(benchmark) if benchmark else "",
    )


def _trust_response(result: str) -> Message:
    return trust_pb2.TrustResponse(document_json=result)


_KINDS: Mapping[str, tuple[Callable[[OperationRecord], Message], Callable[[str], Message]]] = {
    RESCORE: (_rescore_metadata, _rescore_response),
    **dict.fromkeys(TRUST, (_trust_metadata, _trust_response)),
}
"""Progress and result of each kind of operation, as messages."""


# --- The service

LONGEST_WAIT_S = 60.0
LOOK_AGAIN_S = 0.2


class OperationsService(operations_pb2_grpc.OperationsServicer):  # type: ignore[misc] # untyped
    """Shows and cancels operations.

    Args:
        hosting: The server's hosted benchmarks.
    """

    def __init__(self, hosting: Hosting) -> None:
        self._hosting = hosting
        self._context = hosting.context

    async def ListOperations(  # noqa: N802 - gRPC's name
        self, request: operations_pb2.ListOperationsRequest, _: Responses[Any]
    ) -> operations_pb2.ListOperationsResponse:
        """A page of operations, sorted by name; there is no filter."""
        size = page_size_of(request)
        [after] = read_page_token(request, str) or ("",)
        records = await self._context.read(lambda reader: reader.operations(after, size + 1))
        shown, token = cut_page(records, size, lambda last: (last.operation,))
        return operations_pb2.ListOperationsResponse(
            operations=[write_operation(record) for record in shown], next_page_token=token
        )

    async def GetOperation(  # noqa: N802 - gRPC's name
        self, request: operations_pb2.GetOperationRequest, _: Responses[Any]
    ) -> operations_pb2.Operation:
        """One operation."""
        return await self._one(read_operation(request.name))

    async def WaitOperation(  # noqa: N802 - gRPC's name
        self, request: operations_pb2.WaitOperationRequest, _: Responses[Any]
    ) -> operations_pb2.Operation:
        """One operation, when it is done or the timeout is over."""
        name = read_operation(request.name)
        wanted_s = read_seconds(request.timeout) if request.HasField("timeout") else LONGEST_WAIT_S
        end_s = asyncio.get_running_loop().time() + min(wanted_s, LONGEST_WAIT_S)
        found = await self._one(name)
        while not found.done and asyncio.get_running_loop().time() < end_s:
            await asyncio.sleep(LOOK_AGAIN_S)
            found = await self._one(name)
        return found

    async def CancelOperation(  # noqa: N802 - gRPC's name
        self, request: operations_pb2.CancelOperationRequest, _: Responses[Any]
    ) -> Empty:
        """Cancel an operation before its next submission; existing scores stay."""
        name = read_operation(request.name)
        made = request_of(request, "CancelOperation", self._context)

        def command(transaction: Transaction) -> None:
            record = required_operation(transaction, name)
            if not record.done:
                transaction.update_operation(replace(record, cancel_requested=True))
                made.audit(transaction, request.name)

        await self._context.write(command)
        return Empty()

    async def DeleteOperation(  # noqa: N802 - gRPC's name
        self, request: operations_pb2.DeleteOperationRequest, _: Responses[Any]
    ) -> Empty:
        """Delete a finished operation."""
        name = read_operation(request.name)
        made = request_of(request, "DeleteOperation", self._context)

        def command(transaction: Transaction) -> None:
            if not required_operation(transaction, name).done:
                raise OperationRunsError(f"{request.name} is not done; cancel it first")
            transaction.delete_operation(name)
            made.audit(transaction, request.name)

        await self._context.write(command)
        return Empty()

    async def _one(self, name: str) -> operations_pb2.Operation:
        record = await self._context.read(lambda reader: required_operation(reader, name))
        return write_operation(record)
