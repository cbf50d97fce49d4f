"""Operations to messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import grpc
import orjson
from google.longrunning import operations_pb2
from google.protobuf.message import Message
from google.rpc.error_details_pb2 import ErrorInfo

from vidscore.v1 import organiser_pb2, trust_pb2
from vidscore_server.codec.times import write_time
from vidscore_server.hosting.rescoring import KIND as RESCORE
from vidscore_server.hosting.rescoring import done_of, read_plan
from vidscore_server.hosting.trust import FAILED as ANALYSIS_FAILED
from vidscore_server.hosting.trust import TIMED_OUT as ANALYSIS_TIMED_OUT
from vidscore_server.hosting.trust_plans import KINDS as TRUST
from vidscore_server.store.records import OperationRecord

ERROR_DOMAIN = "vidscore"

_ENDINGS = {
    "CANCELLED": (grpc.StatusCode.CANCELLED, "The operation was cancelled."),
    "SCORING_FAILED": (grpc.StatusCode.INTERNAL, "Scoring failed; the server's log tells more."),
    ANALYSIS_FAILED: (grpc.StatusCode.INTERNAL, "It failed; the server's log tells more."),
    ANALYSIS_TIMED_OUT: (
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        "It took longer than the server's trust_timeout_s.",
    ),
    "WORKER_LOST": (grpc.StatusCode.INTERNAL, "The process that did the work died."),
    "NOT_FOUND": (grpc.StatusCode.NOT_FOUND, "What it was about has been deleted."),
}
_OTHER_ENDING = (grpc.StatusCode.FAILED_PRECONDITION, "It cannot be done with this data.")
"""Of a reason that stands for what is wrong with an input."""


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
        differences=[_write_difference(entry) for entry in orjson.loads(result)]
    )


def _trust_metadata(record: OperationRecord) -> Message:
    progress = orjson.loads(record.progress)
    return trust_pb2.TrustMetadata(
        stage=progress.get("stage", ""),
        pieces_done=progress.get("done", 0),
        pieces_in_all=progress.get("total", 0),
        start_time=write_time(record.create_time),
    )


def _trust_response(result: str) -> Message:
    return trust_pb2.TrustResponse(document_json=result)


def _write_difference(entry: dict[str, Any]) -> organiser_pb2.ScoreDifference:
    return organiser_pb2.ScoreDifference(**entry)


_KINDS: Mapping[str, tuple[Callable[[OperationRecord], Message], Callable[[str], Message]]] = {
    RESCORE: (_rescore_metadata, _rescore_response),
    **dict.fromkeys(TRUST, (_trust_metadata, _trust_response)),
}
"""How far each kind of operation is, and what came of it, as messages."""
