"""google.longrunning.Operations: how far long work has come, and how it is cancelled."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from google.longrunning import operations_pb2, operations_pb2_grpc
from google.protobuf.empty_pb2 import Empty

from vidscore_server.codec.operation_codec import write_operation
from vidscore_server.codec.times import read_seconds
from vidscore_server.errors import OperationRunsError
from vidscore_server.hosting.hosting import Hosting
from vidscore_server.hosting.names import read_operation
from vidscore_server.hosting.rescoring import required_operation
from vidscore_server.services.exchange import Responses
from vidscore_server.services.hosted import request_of
from vidscore_server.services.pages import page_size_of, read_page_token, write_page_token
from vidscore_server.store import Transaction

LONGEST_WAIT_S = 60.0
LOOK_AGAIN_S = 0.2


class OperationsService(operations_pb2_grpc.OperationsServicer):  # type: ignore[misc] # untyped
    """Shows and cancels operations.

    Args:
        hosting: The server's hosted benchmarks.
    """

    def __init__(self, hosting: Hosting) -> None:
        """Serve nothing yet."""
        self._hosting = hosting
        self._site = hosting.site

    async def ListOperations(  # noqa: N802 - gRPC's name
        self, request: operations_pb2.ListOperationsRequest, responses: Responses[Any]
    ) -> operations_pb2.ListOperationsResponse:
        """A page of operations, in the order of their names; there is no filter."""
        del responses
        size = page_size_of(request)
        [after] = read_page_token(request, str) or ("",)
        records = await self._site.read(lambda reader: reader.operations(after, size + 1))
        shown = records[:size]
        return operations_pb2.ListOperationsResponse(
            operations=[write_operation(record) for record in shown],
            next_page_token=write_page_token(shown[-1].operation) if len(records) > size else "",
        )

    async def GetOperation(  # noqa: N802 - gRPC's name
        self, request: operations_pb2.GetOperationRequest, responses: Responses[Any]
    ) -> operations_pb2.Operation:
        """One operation."""
        del responses
        return await self._one(read_operation(request.name))

    async def WaitOperation(  # noqa: N802 - gRPC's name
        self, request: operations_pb2.WaitOperationRequest, responses: Responses[Any]
    ) -> operations_pb2.Operation:
        """One operation, once it is done or the time is up."""
        del responses
        name = read_operation(request.name)
        wanted_s = read_seconds(request.timeout) if request.HasField("timeout") else LONGEST_WAIT_S
        end_s = asyncio.get_running_loop().time() + min(wanted_s, LONGEST_WAIT_S)
        found = await self._one(name)
        while not found.done and asyncio.get_running_loop().time() < end_s:
            await asyncio.sleep(LOOK_AGAIN_S)
            found = await self._one(name)
        return found

    async def CancelOperation(  # noqa: N802 - gRPC's name
        self, request: operations_pb2.CancelOperationRequest, responses: Responses[Any]
    ) -> Empty:
        """Cancel an operation before its next submission; what is scored stays."""
        del responses
        name = read_operation(request.name)
        made = request_of(request, "CancelOperation", self._site)

        def command(transaction: Transaction) -> None:
            record = required_operation(transaction, name)
            if not record.done:
                transaction.update_operation(replace(record, cancel_requested=True))
                made.audit(transaction, request.name)

        await self._site.write(command)
        return Empty()

    async def DeleteOperation(  # noqa: N802 - gRPC's name
        self, request: operations_pb2.DeleteOperationRequest, responses: Responses[Any]
    ) -> Empty:
        """Forget an operation that is done."""
        del responses
        name = read_operation(request.name)
        made = request_of(request, "DeleteOperation", self._site)

        def command(transaction: Transaction) -> None:
            if not required_operation(transaction, name).done:
                raise OperationRunsError(f"{request.name} is not done; cancel it first")
            transaction.delete_operation(name)
            made.audit(transaction, request.name)

        await self._site.write(command)
        return Empty()

    async def _one(self, name: str) -> operations_pb2.Operation:
        record = await self._site.read(lambda reader: required_operation(reader, name))
        return write_operation(record)
