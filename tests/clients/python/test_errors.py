"""From the status of a call to an exception."""

from __future__ import annotations

import pickle
from typing import Any

import grpc
import pytest
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.wrappers_pb2 import StringValue
from google.rpc import error_details_pb2, status_pb2
from tests.clients.python.fake_server import bad_request, error_info

from vidscore_client import (
    CallCancelledError,
    InvalidArgumentError,
    LimitExceededError,
    VidscoreError,
)
from vidscore_client._status import error_from_failure
from vidscore_client.errors import ERRORS_BY_CODE, ERRORS_BY_REASON
from vidscore_evaluators.errors import Fault, InputError, LimitError
from vidscore_server.errors import (
    DrainingError,
    EpochStaleError,
    QuotaError,
    StateError,
    SubmissionEndedError,
    VersionError,
)
from vidscore_server.status import refusal_of, status_of


def failure(
    code: grpc.StatusCode, message: str = "", details: bytes | None = None
) -> grpc.aio.AioRpcError:
    """A call that ended with a status."""
    metadata = grpc.aio.Metadata(
        ("other-bin", b"\x00"), ("grpc-status-details-bin", details or b"")
    )
    return grpc.aio.AioRpcError(code, grpc.aio.Metadata(), metadata, details=message)


def packed(*details: Any) -> bytes:
    """Details as a status carries them."""
    status = status_pb2.Status()
    for detail in details:
        message = AnyMessage()
        message.Pack(detail)
        status.details.append(message)
    serialized: bytes = status.SerializeToString()
    return serialized


def test_a_message_that_grpc_itself_refused_breaks_the_servers_limit() -> None:
    """It has no details, because it did not reach the server's code."""
    refused = "SERVER: Received message larger than max (1280028 vs. 1114112)"
    error = error_from_failure(failure(grpc.StatusCode.RESOURCE_EXHAUSTED, refused))
    assert type(error) is LimitExceededError
    assert str(error) == (
        "a message of 1280028 bytes; the server accepts at most 1114112: send less at once, "
        "or raise its limit maximum_message_bytes"
    )
    assert error.reason == "LIMIT_EXCEEDED"
    assert error.metadata == {"limit": "maximum_message_bytes", "maximum": "1114112"}


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (grpc.StatusCode.RESOURCE_EXHAUSTED, "CLIENT: Received message larger than max (9 vs. 8)"),
        (grpc.StatusCode.INTERNAL, "SERVER: Received message larger than max (9 vs. 8)"),
    ],
)
def test_other_errors_about_too_large_messages_are_passed_on_unchanged(
    code: grpc.StatusCode, text: str
) -> None:
    error = error_from_failure(failure(code, text))
    assert (str(error), error.reason, error.metadata) == (text, code.name, {})


@pytest.mark.parametrize("code", [code for code in grpc.StatusCode if code.name != "OK"])
def test_every_code_has_its_exception(code: grpc.StatusCode) -> None:
    error = error_from_failure(failure(code, "why"))
    # Nobody here has cancelled: a server that stops ends incoming calls like this.
    name = "UNAVAILABLE" if code is grpc.StatusCode.CANCELLED else code.name
    assert type(error) is ERRORS_BY_CODE[name]
    # gRPC's own texts about timeouts are different in every language.
    said = "the call has exceeded its timeout" if name == "DEADLINE_EXCEEDED" else "why"
    assert (error.code, error.reason, str(error)) == (name, name, said)
    assert error.violations == ()


@pytest.mark.parametrize("said", ["Locally cancelled by application!", "Channel closed!"])
def test_a_call_that_this_side_has_cancelled_raises_cancelled(said: str) -> None:
    error = error_from_failure(failure(grpc.StatusCode.CANCELLED, said))
    assert isinstance(error, CallCancelledError)
    assert not error.retryable


def test_reason_metadata_and_violations_are_read_from_the_details() -> None:
    details = packed(
        StringValue(value="something else"),
        error_info("INVALID_INPUT", violations="22", limit="x"),
        bad_request(("truth.labels[3]", "found 9"), ("", "no field")),
    )
    error = error_from_failure(failure(grpc.StatusCode.INVALID_ARGUMENT, "wrong", details))
    assert isinstance(error, InvalidArgumentError)
    assert error.reason == "INVALID_INPUT"
    assert error.metadata == {"violations": "22", "limit": "x"}
    assert error.violation_count == 22
    assert error.message == "wrong"
    assert str(error).splitlines() == [
        "wrong",
        "  truth.labels[3]: found 9",
        "  no field",
        "  ... and 20 more",
    ]


def test_the_retry_delay_of_the_server_is_read() -> None:
    delay = error_details_pb2.RetryInfo()
    delay.retry_delay.FromMilliseconds(1500)
    code = grpc.StatusCode.UNAVAILABLE
    assert error_from_failure(failure(code, "later", packed(delay))).retry_delay_s == 1.5
    assert error_from_failure(failure(code, "later")).retry_delay_s is None


def test_a_single_violation_is_not_repeated() -> None:
    details = packed(error_info("INVALID_INPUT", violations="1"), bad_request(("a", "found b")))
    error = error_from_failure(failure(grpc.StatusCode.INVALID_ARGUMENT, "a: found b", details))
    assert str(error) == "a: found b"
    assert len(error.violations) == 1


def test_a_reason_of_another_domain_is_ignored() -> None:
    details = packed(error_info("QUOTA", domain="googleapis.com", limit="x"))
    error = error_from_failure(failure(grpc.StatusCode.RESOURCE_EXHAUSTED, "full", details))
    assert error.reason == "RESOURCE_EXHAUSTED"
    assert error.metadata == {}


@pytest.mark.parametrize("details", [b"", b"\xff\xff\xff", packed(error_info("X", violations="?"))])
def test_unreadable_details_leave_code_and_text(details: bytes) -> None:
    error = error_from_failure(failure(grpc.StatusCode.INTERNAL, "broken", details))
    assert (error.code, str(error), error.violation_count) == ("INTERNAL", "broken", 0)


def test_a_status_without_a_text_gets_one() -> None:
    assert "INTERNAL" in str(error_from_failure(failure(grpc.StatusCode.INTERNAL)))


def test_errors_survive_pickling_between_processes() -> None:
    error = error_from_failure(
        failure(
            grpc.StatusCode.INVALID_ARGUMENT,
            "wrong",
            packed(error_info("R", violations="5"), bad_request(("a", "b"))),
        )
    )
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert str(copy) == str(error)
    assert (copy.reason, copy.violations, copy.violation_count) == ("R", error.violations, 5)


@pytest.mark.parametrize(
    ("raised", "code", "reason", "count"),
    [
        (InputError([Fault("x", "y", "truth", field="labels", entry=n) for n in range(30)]),
         "INVALID_ARGUMENT", "INVALID_INPUT", 30),
        (LimitError("too many", "maximum_frames", 3), "RESOURCE_EXHAUSTED", "LIMIT_EXCEEDED", 0),
        (DrainingError("stopping"), "UNAVAILABLE", "SERVER_DRAINING", 0),
    ],
)  # fmt: skip
def test_what_the_server_writes_is_what_this_side_reads(
    raised: Exception, code: str, reason: str, count: int
) -> None:
    refusal = refusal_of(raised)
    details = status_of(refusal).SerializeToString()
    error = error_from_failure(failure(refusal.code, refusal.message, details))
    assert isinstance(error, VidscoreError)
    assert (error.code, error.reason, error.violation_count) == (code, reason, count)
    assert len(error.violations) == min(count, 20)


@pytest.mark.parametrize("kind", [EpochStaleError, QuotaError, SubmissionEndedError, VersionError])
def test_an_exception_of_a_reason_is_a_subclass_of_that_of_its_code(kind: type[StateError]) -> None:
    refusal = refusal_of(kind("why", next_offset="7"))
    error = error_from_failure(
        failure(refusal.code, refusal.message, status_of(refusal).SerializeToString())
    )
    assert type(error) is ERRORS_BY_REASON[kind.reason]
    assert isinstance(error, ERRORS_BY_CODE[refusal.code.name])
    assert (error.reason, error.metadata["next_offset"]) == (kind.reason, "7")


def test_every_reason_with_its_own_exception_is_tested() -> None:
    assert {
        "EPOCH_STALE",
        "QUOTA_EXCEEDED",
        "SUBMISSION_ENDED",
        "VERSION_UNSUPPORTED",
    } == set(ERRORS_BY_REASON)
