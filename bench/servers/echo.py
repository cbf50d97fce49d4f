"""A server that acknowledges appended frames and does nothing else: the limit of any that does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import grpc

from vidscore_protos.v1 import submission_service_pb2 as messages
from vidscore_protos.v1 import submission_service_pb2_grpc as services


class Echo(services.SubmissionServiceServicer):
    """Parses every message, and answers it."""

    async def AppendFrames(  # noqa: N802 - the name that the protocol gives it
        self,
        request_iterator: AsyncIterator[messages.AppendRequest],
        context: object,
    ) -> AsyncIterator[messages.AppendResponse]:
        """Acknowledge each request as it comes."""
        del context
        async for request in request_iterator:
            frames = len(request.detections.frame_numbers)
            yield messages.AppendResponse(next_offset=request.offset + frames)


async def serve() -> None:
    """Serve until killed; print the port."""
    server = grpc.aio.server()
    # The other methods are of no use here; at run time none of them is abstract.
    echo = Echo()  # type: ignore[abstract]
    services.add_SubmissionServiceServicer_to_server(echo, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print(f"echo serves at 127.0.0.1:{port}", flush=True)
    await server.wait_for_termination()


if __name__ == "__main__":
    asyncio.run(serve())
