"""Operations to messages."""

from __future__ import annotations

from typing import Any

import grpc
import orjson
from google.longrunning import operations_pb2
from google.rpc.error_details_pb2 import ErrorInfo

from vidscore.v1 import benchmark_service_pb2 as pb
from vidscore_server.codec.times import write_time
from vidscore_server.hosting.rescoring import done_of, read_plan
from vidscore_server.store.records import OperationRecord

ERROR_DOMAIN = "vidscore"

_CODES = {
    "CANCELLED": (grpc.StatusCode.CANCELLED, "The operation was cancelled."),
    "SCORING_FAILED": (grpc.StatusCode.INTERNAL, "Scoring failed; the server's log tells more."),
}


def write_operation(record: OperationRecord) -> operations_pb2.Operation:
    """An operation as a message."""
    message = operations_pb2.Operation(name=f"operations/{record.operation}", done=record.done)
    message.metadata.Pack(
        pb.RescoreMetadata(
            submissions_in_all=len(read_plan(record).submissions),
            submissions_done=len(done_of(record)),
            start_time=write_time(record.create_time),
        )
    )
    if record.error is not None:
        code, text = _CODES[record.error]
        message.error.code = code.value[0]
        message.error.message = text
        message.error.details.add().Pack(ErrorInfo(reason=record.error, domain=ERROR_DOMAIN))
    elif record.result is not None:
        differences = [_write_difference(entry) for entry in orjson.loads(record.result)]
        message.response.Pack(pb.RescoreResponse(differences=differences))
    return message


def _write_difference(entry: dict[str, Any]) -> pb.ScoreDifference:
    return pb.ScoreDifference(**entry)
