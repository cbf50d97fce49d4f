"""How a stream fails and ends, and what the caller learns; synchronous and asyncio."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tests.clients.python.fake_server import (
    WAIT_S,
    end_at_once,
    enough,
    live,
    never_accept,
    refuse_configuration,
    refuse_first_batch,
    script,
    slow,
    started,
)
from tests.clients.python.streaming import BOX, Streaming, frames, stream_of_threads, stream_threads
from tests.support.waiting import eventually

from vidscore_client import (
    Batching,
    CallbackError,
    CallCancelledError,
    ClosedError,
    DeadlineError,
    InputError,
    InternalError,
    InvalidArgumentError,
    Live,
    LiveReport,
    NotFoundError,
    ScoreStream,
    UnavailableError,
)
from vidscore_client._decoding import decode_response

AT_ONCE = Batching(batch_interval_s=0.0)


def test_an_error_of_the_server_is_raised_at_the_next_call_and_at_finish(
    streaming: Streaming,
) -> None:
    with streaming(refuse_first_batch, batching=AT_ONCE) as (_, stream):
        stream.send_truth("a", 0, BOX)
        eventually(lambda: refuses(stream))
        with pytest.raises(InvalidArgumentError) as caught:
            stream.finish()
    error = caught.value
    assert (error.code, error.reason) == ("INVALID_ARGUMENT", "INVALID_INPUT")
    assert [str(violation) for violation in error.violations] == [
        "truth.coordinates[0]: found nan",
        "truth.labels: found two",
    ]
    assert error.violation_count == 30


def refuses(stream: ScoreStream) -> bool:
    """Whether sending raises the server's error."""
    try:
        stream.send_truth("a", 1, BOX)
    except InvalidArgumentError:
        return True
    return False


@pytest.mark.slow
def test_the_servers_status_is_raised_even_if_a_write_fails_first(streaming: Streaming) -> None:
    """Repeated many times, because the order of the two is a race."""
    for _ in range(20):
        refused = pytest.raises(InvalidArgumentError)
        with streaming(refuse_first_batch, batching=AT_ONCE) as (_, stream), refused:
            send_for_ever(stream)


@pytest.mark.slow
def test_a_server_that_has_enough_data_ends_the_stream_normally(streaming: Streaming) -> None:
    for _ in range(20):
        with streaming(enough, batching=AT_ONCE) as (_, stream):
            with pytest.raises(ClosedError):
                send_for_ever(stream)
            assert stream.finish()[0].value("frames") == 1


def test_a_reader_of_live_reports_gets_the_error_too(streaming: Streaming) -> None:
    with streaming(refuse_first_batch, batching=AT_ONCE) as (_, stream):
        stream.send_truth("a", 0, BOX)
        with pytest.raises(InvalidArgumentError):
            next(stream.live_reports())


def test_a_refused_configuration_is_raised_at_opening(streaming: Streaming) -> None:
    opening = streaming(refuse_configuration)
    with pytest.raises(NotFoundError, match="no evaluator is called 'fake'") as caught:
        opening.__enter__()
    assert caught.value.reason == "UNKNOWN_EVALUATOR"


def test_a_server_that_never_accepts_gives_a_deadline_error(streaming: Streaming) -> None:
    before = stream_threads()
    opening = streaming(never_accept, open_timeout_s=0.1)
    with pytest.raises(DeadlineError, match=r"within 0\.1 s"):
        opening.__enter__()
    assert stream_threads() == before


def test_a_server_that_dies_in_mid_stream_is_unavailable(streaming: Streaming) -> None:
    with streaming(batching=AT_ONCE) as (server, stream):
        stream.send("a", 0, BOX)
        eventually(lambda: bool(server.batches("detections")))
        server.stop()
        with pytest.raises(UnavailableError) as caught:
            stream.finish(WAIT_S)
    assert caught.value.retryable


def test_a_stream_that_ends_without_a_final_report_is_an_internal_error(
    streaming: Streaming,
) -> None:
    missing = pytest.raises(InternalError, match="without a final report")
    with streaming(end_at_once) as (_, stream), missing:
        stream.finish()


def test_a_message_of_an_unknown_kind_is_an_internal_error_and_cancels(
    streaming: Streaming,
) -> None:
    with streaming(script(type(started())())) as (server, stream):
        assert server.finished.wait(WAIT_S)
        with pytest.raises(InternalError, match="does not know"):
            stream.finish()


def test_a_batch_that_cannot_be_sent_ends_the_stream(
    streaming: Streaming, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bug of this package must not leave its user waiting."""

    def fail(_batch: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("vidscore_client._exchange.encode_batch", fail)
    with streaming() as (_, stream):
        stream.send("a", 0, BOX)
        with pytest.raises(InternalError):
            stream.finish(WAIT_S)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_an_unreadable_message_ends_the_stream(
    streaming: Streaming, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bug of this package, or of grpc, must not leave its user waiting."""

    def fail(response: Any) -> Any:
        if response.HasField("final"):
            raise ZeroDivisionError
        return decode_response(response)

    monkeypatch.setattr("vidscore_client._exchange.decode_response", fail)
    with (
        streaming() as (_, stream),
        pytest.raises(InternalError, match=r"cannot be read: ZeroDivisionError\(\)"),
    ):
        stream.finish(WAIT_S)


def test_a_finish_that_times_out_may_be_called_again(streaming: Streaming) -> None:
    go_on = threading.Event()
    with streaming(slow(go_on)) as (_, stream):
        stream.send("a", 0, BOX)
        with pytest.raises(DeadlineError, match="call finish again"):
            stream.finish(timeout_s=0.05)
        go_on.set()
        assert stream.finish()[0].value("frames") == 1
        assert stream.finish()[0].value("frames") == 1


@pytest.mark.slow
def test_a_stream_over_its_timeout_gives_a_deadline_error(streaming: Streaming) -> None:
    go_on = threading.Event()
    # On a busy machine the time may be over before the stream is open.
    with (
        pytest.raises(DeadlineError) as caught,
        streaming(slow(go_on), timeout_s=1.5) as (_, stream),
        set_at_the_end(go_on),
    ):
        stream.finish()
    assert caught.value.code == "DEADLINE_EXCEEDED"


@contextmanager
def set_at_the_end(event: threading.Event) -> Iterator[None]:
    try:
        yield
    finally:
        event.set()


def test_a_finished_stream_accepts_no_more_frames(streaming: Streaming) -> None:
    with streaming() as (_, stream):
        stream.finish()
        with pytest.raises(ClosedError):
            stream.send("a", 0, BOX)
        with pytest.raises(ClosedError):
            stream.send_batch("truth", frames(1))


def test_leaving_the_block_without_finish_cancels_and_raises_nothing(streaming: Streaming) -> None:
    with streaming() as (server, stream):
        stream.send("a", 0, BOX)
    assert server.finished.wait(WAIT_S)


def test_leaving_the_block_by_an_exception_cancels_and_passes_it_on(streaming: Streaming) -> None:
    with pytest.raises(ZeroDivisionError), streaming() as (server, _):
        raise ZeroDivisionError
    assert server.finished.wait(WAIT_S)


def test_a_cancelled_stream_says_so_at_each_call(streaming: Streaming) -> None:
    with streaming() as (server, stream):
        stream.cancel()
        stream.cancel()
        assert server.finished.wait(WAIT_S)
        with pytest.raises(CallCancelledError):
            stream.send("a", 0, BOX)
        with pytest.raises(CallCancelledError):
            stream.finish()
        with pytest.raises(CallCancelledError):
            next(stream.live_reports())


def test_a_callback_that_raises_cancels_the_stream_and_is_the_cause(streaming: Streaming) -> None:
    def on_report(_report: LiveReport) -> None:
        raise ZeroDivisionError("mine")

    settings = Live(every_frames=1, on_report=on_report)
    with streaming(script(live(1)), live=settings) as (server, stream):
        assert server.finished.wait(WAIT_S)
        with pytest.raises(CallbackError, match="ZeroDivisionError: mine") as caught:
            stream.finish()
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_a_callback_that_waits_for_the_end_of_its_stream_is_refused() -> None:
    refusals: list[str] = []
    is_open = threading.Event()  # the report may come before the test has the stream

    def on_report(_report: LiveReport) -> None:
        assert is_open.wait(WAIT_S)
        with pytest.raises(CallbackError) as caught:
            stream.finish()
        refusals.append(str(caught.value))

    settings = Live(every_frames=1, on_report=on_report)
    with stream_of_threads(script(live(1)), live=settings) as (_, stream):
        is_open.set()
        stream.finish()
    assert refusals == ["finish cannot be called in on_report: it would wait for itself"]


def test_a_failing_server_ends_a_callers_wait_for_room(streaming: Streaming) -> None:
    go_on = threading.Event()
    batching = Batching(batch_interval_s=0.0, queue_frames=1, block_timeout_s=WAIT_S)
    with streaming(slow(go_on), batching=batching) as (server, stream):
        threading.Timer(0.2, server.stop).start()
        with pytest.raises(UnavailableError):
            send_for_ever(stream)
        go_on.set()


def send_for_ever(stream: ScoreStream) -> None:
    """Send more than any window holds."""
    for number in range(10_000):
        stream.send("a", number, BOX * 4000)


@pytest.mark.parametrize(
    ("arguments", "argument"),
    [
        ({"evaluators": []}, "evaluators"),
        ({"evaluators": "fake"}, "evaluators"),
        ({"truth_geometry": "circle"}, "truth_geometry"),
        ({"detection_geometry": None}, "detection_geometry"),
        ({"timeout_s": 0}, "timeout_s"),
        ({"specification": {"titel": ""}}, "specification.titel"),
    ],
)
def test_an_invalid_argument_is_named_before_anything_is_sent(
    streaming: Streaming, arguments: dict[str, Any], argument: str
) -> None:
    opening = streaming(**arguments)
    with pytest.raises(InputError) as caught:
        opening.__enter__()
    assert caught.value.argument == argument
