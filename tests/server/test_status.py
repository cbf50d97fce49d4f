"""How errors reach a client: codes, reasons, field violations, and never a traceback."""

from __future__ import annotations

import json
import logging

import grpc
import pytest
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo
from google.rpc.status_pb2 import Status

from vidscore_evaluators import errors as evaluator_errors
from vidscore_evaluators.errors import (
    Fault,
    GeometryError,
    InputError,
    LimitError,
    ParameterError,
    SpecificationError,
    UnknownEvaluatorError,
    VidscoreError,
)
from vidscore_server import errors as server_errors
from vidscore_server.errors import (
    DrainingError,
    IdleError,
    MessageOrderError,
    WorkerLostError,
    WorkFailedError,
)
from vidscore_server.logs import JsonFormatter
from vidscore_server.status import code_of, field_path, refusal_of, status_of

FAULT = Fault("nan", "a number", source="truth", entry=17, field="coordinates")


def _details(error: BaseException) -> tuple[Status, ErrorInfo, BadRequest]:
    status = status_of(refusal_of(error))
    info, bad_request = ErrorInfo(), BadRequest()
    for detail in status.details:
        detail.Unpack(info)
        detail.Unpack(bad_request)
    return status, info, bad_request


def test_every_domain_error_with_a_reason_has_a_code() -> None:
    kinds = [
        kind
        for module in (evaluator_errors, server_errors)
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, VidscoreError) and kind.reason != "UNKNOWN"
    ]
    assert len(kinds) > 10
    assert [kind for kind in kinds if code_of(kind.__new__(kind)) is None] == []


@pytest.mark.parametrize(
    ("error", "code", "reason"),
    [
        (InputError([FAULT]), grpc.StatusCode.INVALID_ARGUMENT, "INVALID_INPUT"),
        (ParameterError([FAULT]), grpc.StatusCode.INVALID_ARGUMENT, "INVALID_PARAMETER"),
        (SpecificationError([FAULT]), grpc.StatusCode.INVALID_ARGUMENT, "INVALID_SPECIFICATION"),
        (GeometryError([FAULT]), grpc.StatusCode.INVALID_ARGUMENT, "UNSUPPORTED_GEOMETRY"),
        (MessageOrderError([FAULT]), grpc.StatusCode.INVALID_ARGUMENT, "MESSAGE_ORDER"),
        (UnknownEvaluatorError("none"), grpc.StatusCode.NOT_FOUND, "UNKNOWN_EVALUATOR"),
        (LimitError("5 x", "most_x", 4), grpc.StatusCode.RESOURCE_EXHAUSTED, "LIMIT_EXCEEDED"),
        (IdleError("none", "time", 4), grpc.StatusCode.DEADLINE_EXCEEDED, "STREAM_IDLE"),
        (DrainingError("stops"), grpc.StatusCode.UNAVAILABLE, "SERVER_DRAINING"),
        (WorkerLostError("died"), grpc.StatusCode.INTERNAL, "WORKER_LOST"),
    ],
)
def test_an_error_has_its_canonical_code_and_reason(
    error: VidscoreError, code: grpc.StatusCode, reason: str
) -> None:
    status, info, _ = _details(error)
    assert (status.code, info.reason, info.domain) == (code.value[0], reason, "vidscore")


@pytest.mark.parametrize(
    ("fault", "path"),
    [
        (FAULT, "truth.coordinates[17]"),
        (Fault("", "", source="truth[2]", field="coordinates", entry=1), "truth[2].coordinates[1]"),
        (Fault("", "", source="detections", entry=3), "detections.frame_numbers[3]"),
        (Fault("", "", source="configuration", field="title"), "configuration.title"),
        (Fault("", "", field="page_size"), "page_size"),
        (Fault("", "", source="detections"), "detections"),
    ],
)
def test_a_violation_names_the_field_as_a_path(fault: Fault, path: str) -> None:
    assert field_path(fault) == path


def test_the_first_twenty_violations_are_listed_and_all_are_counted() -> None:
    faults = [Fault(str(row), "less", "truth", entry=row, field="x") for row in range(1000)]
    status, info, bad_request = _details(InputError(faults))
    fields = [violation.field for violation in bad_request.field_violations]
    assert fields == [f"truth.x[{row}]" for row in range(20)]
    assert info.metadata["violations"] == "1000"
    assert status.message == "truth.x[0]: found 0, expected less (and 999 more)"


def test_a_status_fits_into_trailing_metadata_for_any_input() -> None:
    """Many clients accept 8 KiB, in base64 and together with the status message."""
    endless = "\u20ac" * 100_000
    faults = [Fault(endless, endless, endless, row, row, endless) for row in range(100)]
    status, _, bad_request = _details(InputError(faults))
    assert len(status.SerializeToString()) * 4 / 3 + 3 * len(status.message.encode()) < 8192
    assert len(bad_request.field_violations) >= 1


def test_a_fault_without_a_place_is_reported_without_one() -> None:
    status, _, _ = _details(InputError([Fault("invalid JSON", "a JSON object")]))
    assert status.message == "found invalid JSON, expected a JSON object"


def test_a_limit_is_named_with_its_value() -> None:
    status, info, _ = _details(LimitError("a batch with 5 frames", "maximum_batch_frames", 4))
    assert status.message == "a batch with 5 frames; the limit maximum_batch_frames is 4"
    assert dict(info.metadata) == {"limit": "maximum_batch_frames", "maximum": "4"}


def test_several_errors_at_once_take_the_first_code_and_list_all_violations() -> None:
    other = Fault("5", "less", "configuration", field="b")
    group = ExceptionGroup(
        "", [UnknownEvaluatorError("no such"), ExceptionGroup("", [InputError([FAULT, other])])]
    )
    status, info, bad_request = _details(group)
    assert (status.code, info.reason) == (grpc.StatusCode.NOT_FOUND.value[0], "UNKNOWN_EVALUATOR")
    assert [entry.field for entry in bad_request.field_violations] == [
        "truth.coordinates[17]",
        "configuration.b",
    ]


@pytest.mark.parametrize(
    "error",
    [
        ValueError("secret 123.456"),
        ExceptionGroup("secret", [InputError([FAULT]), KeyError("secret")]),
        WorkFailedError(["ValueError", "file.py:3 function"]),
    ],
)
def test_an_unexpected_error_gives_the_client_an_incident_and_the_log_its_place(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR, "vidscore_server")
    try:
        raise error
    except Exception as raised:  # noqa: BLE001 - any may come
        status, info, bad_request = _details(raised)

    incident = info.metadata["incident"]
    assert status.code == grpc.StatusCode.INTERNAL.value[0]
    assert incident in status.message
    assert "secret" not in str(status)
    assert not bad_request.field_violations
    [line] = [json.loads(JsonFormatter().format(record)) for record in caplog.records]
    assert line["incident"] == incident
    assert line["places"]
    assert "secret" not in json.dumps(line)
    if isinstance(error, WorkFailedError):
        assert "file.py:3 function" in line["places"]
