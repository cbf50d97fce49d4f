"""A server that only answers calls and acknowledges frames: the limit for any server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import grpc

from vidscore_protos.v1 import scoring_service_pb2, scoring_service_pb2_grpc
from vidscore_protos.v1 import submission_service_pb2 as messages
from vidscore_protos.v1 import submission_service_pb2_grpc as services


class Echo(services.SubmissionServiceServicer):
    """Parses every message and answers it."""

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


class ScoringEcho(scoring_service_pb2_grpc.ScoringServiceServicer):
    """Answers every call with an empty response."""

    async def ScoreBatch(  # noqa: N802 - the name that the protocol gives it
        self, request: scoring_service_pb2.ScoreBatchRequest, context: object
    ) -> scoring_service_pb2.ScoreBatchResponse:
        """Answer with no report."""
        del request, context
        return scoring_service_pb2.ScoreBatchResponse()


async def serve() -> None:
    """Serve until killed; print the port."""
    server = grpc.aio.server()
    # The other methods are not needed here; at run time none of them is abstract.
    echo = Echo()  # type: ignore[abstract]
    services.add_SubmissionServiceServicer_to_server(echo, server)
    scoring = ScoringEcho()  # type: ignore[abstract]
    scoring_service_pb2_grpc.add_ScoringServiceServicer_to_server(scoring, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print(f"echo serves at 127.0.0.1:{port}", flush=True)
    await server.wait_for_termination()


if __name__ == "__main__":
    asyncio.run(serve())
