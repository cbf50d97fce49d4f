"""Streams into submissions: faults are survived if possible, and raised otherwise."""

from __future__ import annotations

import threading
import time
from typing import Any

import grpc
import pytest
from tests.clients.python.fake_server import WAIT_S
from tests.clients.python.fake_submissions import (
    FakeSubmissions,
    lose_the_connection,
    refuse,
    refusing,
    taking_submissions,
)
from tests.clients.python.streaming import frames, stream_threads
from tests.clients.python.submitting import (
    ONE_BY_ONE,
    QUICK,
    Submitting,
    numbers_of,
    send,
    submit_with_tasks,
    submit_with_threads,
)
from tests.support.waiting import eventually

from vidscore_client import (
    CallbackError,
    ConflictError,
    DeadlineError,
    Delivery,
    InternalError,
    Retry,
    SubmissionEndedError,
    SupersededError,
    UnavailableError,
    VidscoreError,
)
from vidscore_client._append_state import AppendState
from vidscore_protos.v1 import submission_service_pb2


def test_a_connection_cut_before_a_batch_is_stored_loses_nothing(
    submitting: Submitting, fake: FakeSubmissions
) -> None:
    fake.faults.before = [None, lose_the_connection, None, lose_the_connection]
    with submitting(batching=ONE_BY_ONE) as stream:
        send(stream, range(20))
    assert numbers_of(fake) == list(range(20))


def test_a_lost_acknowledgement_stores_nothing_twice(
    submitting: Submitting, fake: FakeSubmissions
) -> None:
    fake.faults.after = [None, lose_the_connection, lose_the_connection]
    with submitting(batching=ONE_BY_ONE) as stream:
        send(stream, range(20))
    assert numbers_of(fake) == list(range(20))
    assert stream.acknowledged_frames == 20


@pytest.mark.parametrize("code", ["UNAVAILABLE", "INTERNAL", "UNKNOWN", "CANCELLED"])
def test_a_break_of_any_kind_is_survived(
    submitting: Submitting, fake: FakeSubmissions, code: str
) -> None:
    fake.faults.before = [refusing(grpc.StatusCode[code])]
    with submitting() as stream:
        send(stream, range(3))
    assert numbers_of(fake) == [0, 1, 2]


def test_the_stream_waits_while_the_disk_is_full(
    submitting: Submitting, fake: FakeSubmissions
) -> None:
    full = refusing(grpc.StatusCode.RESOURCE_EXHAUSTED, "STORE_FULL")
    fake.faults.before = [full] * 3
    with submitting() as stream:
        send(stream, range(3))
    assert numbers_of(fake) == [0, 1, 2]


@pytest.mark.parametrize("reason", ["OFFSET_GAP", "OFFSET_STRADDLES"])
def test_an_offset_that_differs_from_the_servers_rewinds_to_the_servers(
    submitting: Submitting, fake: FakeSubmissions, reason: str
) -> None:
    """As after a server lost a batch that it had not acknowledged."""
    fake.faults.before = [None, refusing(grpc.StatusCode.OUT_OF_RANGE, reason)]
    with submitting(batching=ONE_BY_ONE) as stream:
        send(stream, range(5))
    assert numbers_of(fake) == list(range(5))
    again = [offset for offset, _ in fake.offsets]
    assert again.count(1) == 2


def test_a_restarted_server_is_found_again(submitting: Submitting, fake: FakeSubmissions) -> None:
    with submitting() as stream:
        send(stream, range(100))
        stream.flush(WAIT_S)
        fake.stop()
        send(stream, range(100, 150))
        time.sleep(0.05)
        fake.start()
        send(stream, range(150, 200))
        assert stream.flush(WAIT_S) == 200
    assert numbers_of(fake) == list(range(200))


def test_a_break_while_nothing_is_sent_costs_no_retry_time(
    submitting: Submitting, fake: FakeSubmissions, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`on_break` is called with each break that does."""
    decide, delays_s = AppendState.delay_s, list[float]()
    breaks: list[VidscoreError] = []

    def noted(state: AppendState, error: VidscoreError, now_s: float) -> float:
        delays_s.append(decide(state, error, now_s))
        return delays_s[-1]

    monkeypatch.setattr(AppendState, "delay_s", noted)
    watched = Delivery(retry=Retry(initial_s=0.01, maximum_s=0.05, on_break=breaks.append))
    with submitting(delivery=watched) as stream:
        send(stream, range(3))
        stream.flush(WAIT_S)
        fake.stop()
        eventually(lambda: bool(delays_s))
        assert (delays_s, breaks) == ([0.0], [])
        fake.start()
        send(stream, range(3, 6))
        assert stream.flush(WAIT_S) == 6


def test_a_server_that_stays_away_is_given_up(
    submitting: Submitting, fake: FakeSubmissions
) -> None:
    hurried = Delivery(retry=Retry(initial_s=0.01, maximum_s=0.01, give_up_after_s=0.1))
    failing = pytest.raises(UnavailableError)
    with failing, submitting(delivery=hurried) as stream:
        fake.stop()
        send(stream, range(3))
        stream.flush(WAIT_S)


def test_an_older_writer_learns_that_it_is_superseded(
    submitting: Submitting, fake: FakeSubmissions
) -> None:
    failing = pytest.raises(SupersededError)
    with failing as caught, submitting() as older:
        send(older, range(3))
        older.flush(WAIT_S)
        with submitting() as younger:
            send(older, range(3, 6))
            try:
                older.flush(WAIT_S)
            finally:
                send(younger, range(3, 9))
                assert younger.flush(WAIT_S) == 9
    assert caught.value.reason == "EPOCH_STALE"
    assert numbers_of(fake) == list(range(9))


def test_an_older_writer_that_returns_does_not_fence_off_the_newer_one(
    submitting: Submitting, fake: FakeSubmissions
) -> None:
    fake.faults.before = [lose_the_connection]
    fake.go_on.clear()
    superseded = pytest.raises(SupersededError, match="with epoch 2; this writer has epoch 1")
    with superseded, submitting() as older:
        send(older, range(1))
        with submitting() as younger:
            fake.go_on.set()
            try:
                older.flush(WAIT_S)
            finally:
                send(younger, range(3))
                assert younger.flush(WAIT_S) == 3
    assert numbers_of(fake) == [0, 1, 2]


@pytest.mark.parametrize(
    ("code", "reason", "kind"),
    [
        ("ALREADY_EXISTS", "FRAME_EXISTS", ConflictError),
        ("ALREADY_EXISTS", "CONTENT_DIFFERS", ConflictError),
        ("FAILED_PRECONDITION", "SUBMISSION_ENDED", SubmissionEndedError),
    ],
)
def test_an_error_that_no_retry_cures_ends_the_stream(
    submitting: Submitting,
    fake: FakeSubmissions,
    code: str,
    reason: str,
    kind: type[Exception],
) -> None:
    fake.faults.before = [refusing(grpc.StatusCode[code], reason)]
    failing = pytest.raises(kind)
    with failing as caught, submitting() as stream:
        send(stream, range(3))
        stream.flush(WAIT_S)
    assert (caught.value.reason, len(fake.offsets)) == (reason, 1)  # type: ignore[attr-defined]


def test_an_internal_error_of_the_server_is_not_retried(
    submitting: Submitting, fake: FakeSubmissions
) -> None:
    fake.faults.before = [
        lambda _append, context: refuse(
            context, grpc.StatusCode.INTERNAL, "INTERNAL", incident="12"
        )
    ]
    failing = pytest.raises(InternalError)
    with failing, submitting() as stream:
        send(stream, range(3))
        stream.flush(WAIT_S)
    assert len(fake.offsets) == 1


def test_a_server_that_was_set_back_is_an_error_and_gets_no_gap(
    submitting: Submitting, fake: FakeSubmissions
) -> None:
    failing = pytest.raises(ConflictError)
    with failing as caught, submitting() as stream:
        send(stream, range(3))
        stream.flush(WAIT_S)
        del fake.stored[1:]
        fake.faults.before = [lose_the_connection]
        send(stream, range(3, 5))
        stream.flush(WAIT_S)
    assert caught.value.reason == "STREAM_SET_BACK"


def test_a_connection_without_answers_is_replaced(
    submitting: Submitting, fake: FakeSubmissions
) -> None:
    answered = threading.Event()

    def say_nothing(_append: object, _context: object) -> None:
        answered.wait(WAIT_S)

    fake.faults.before = [say_nothing]
    delivery = Delivery(acknowledge_timeout_s=0.2, retry=QUICK)
    try:
        with submitting(delivery=delivery) as stream:
            send(stream, range(3))
            assert stream.flush(WAIT_S) == 3
    finally:
        answered.set()
    assert numbers_of(fake) == [0, 1, 2]


def test_unary_calls_deliver_the_same(submitting: Submitting, fake: FakeSubmissions) -> None:
    fake.faults.before = [None, lose_the_connection]
    fake.faults.after = [None, None, lose_the_connection]
    delivery = Delivery(unary=True, retry=QUICK)
    with submitting(batching=ONE_BY_ONE, delivery=delivery) as stream:
        send(stream, range(10))
    assert numbers_of(fake) == list(range(10))


@pytest.mark.parametrize("unary", [False, True])
def test_a_server_that_takes_smaller_messages_than_it_stated_gets_them(
    submitting: Submitting, fake: FakeSubmissions, *, unary: bool
) -> None:
    def take_two(append: submission_service_pb2.AppendRequest, context: Any) -> None:
        if len(append.detections.frame_numbers) > 2:
            limit = {"limit": "maximum_batch_frames", "maximum": "2"}
            refuse(context, grpc.StatusCode.RESOURCE_EXHAUSTED, "LIMIT_EXCEEDED", **limit)

    with submitting(delivery=Delivery(unary=unary, retry=QUICK)) as stream:
        stream.send_batch(frames(8))
        assert stream.flush(WAIT_S) == 8
        fake.faults.before = [take_two] * 100
        stream.send_batch(frames(16).part(8, 16))
        assert stream.flush(WAIT_S) == 16
    assert numbers_of(fake) == list(range(16))
    assert fake.batches.keys() == {0, 8, 10, 12, 14}
    assert fake.epoch == 1


@pytest.mark.parametrize("end", ["close", "abort"])
def test_ending_a_stream_ends_a_call_that_gets_no_answer(
    submitting: Submitting, fake: FakeSubmissions, end: str
) -> None:
    before = stream_threads()
    arrived, answer = threading.Event(), threading.Event()

    def be_silent(*_: object) -> None:
        arrived.set()
        answer.wait(WAIT_S)

    fake.faults.before = [be_silent]
    with submitting(delivery=Delivery(unary=True, close_timeout_s=0.05)) as stream:
        send(stream, range(3))
        assert arrived.wait(WAIT_S)
        if end == "close":
            with pytest.raises(DeadlineError):
                stream.close()
        else:
            stream.abort()
        assert stream_threads() == before
        answer.set()


@pytest.mark.slow
@pytest.mark.parametrize("kind", [submit_with_threads, submit_with_tasks])
def test_waiting_for_a_server_that_has_just_gone_always_ends(kind: Submitting) -> None:
    """gRPC's own retries lost the end of one such call in ten to a hundred, and its deadline."""
    rarely = Delivery(retry=Retry(initial_s=30.0, maximum_s=30.0))

    def wait() -> None:
        for _ in range(100):
            with taking_submissions() as fake, kind(fake.target, delivery=rarely) as stream:
                fake.stop()
                with pytest.raises(DeadlineError, match="within 0"):
                    stream.wait(0.05)

    waiting = threading.Thread(target=wait, daemon=True)
    waiting.start()
    waiting.join(WAIT_S)
    assert not waiting.is_alive()


def test_a_callback_that_waits_for_its_own_stream_is_refused(fake: FakeSubmissions) -> None:
    refusals: list[str] = []

    def told(_count: int) -> None:
        with pytest.raises(CallbackError, match="would wait for themselves") as caught:
            stream.flush()
        refusals.append(str(caught.value))

    delivery = Delivery(on_acknowledged=told, retry=QUICK)
    with submit_with_threads(fake.target, delivery=delivery) as stream:
        send(stream, range(2))
        stream.flush()
    assert refusals
    assert numbers_of(fake) == [0, 1]
