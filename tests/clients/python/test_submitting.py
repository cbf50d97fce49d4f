"""Streams into submissions: every frame is stored once, in order, and acknowledged."""

from __future__ import annotations

import asyncio
import math
import os
import subprocess
import sys
import textwrap
import threading
import time
from typing import Any

import grpc
import pytest
from tests.clients.python.fake_server import WAIT_S
from tests.clients.python.fake_submissions import (
    NAME,
    FakeSubmissions,
    lose_the_connection,
    update,
)
from tests.clients.python.streaming import BOX, frames, stream_threads
from tests.clients.python.submitting import ONE_BY_ONE, QUICK, Submitting, numbers_of, send
from tests.support.waiting import eventually

from vidscore_client import (
    BackPressureError,
    Batching,
    CallbackError,
    ClosedError,
    ConflictError,
    DeadlineError,
    Delivery,
    InputError,
    NotFoundError,
    QuotaExceededError,
    Retry,
    SubmissionEndedError,
    SubmissionState,
    SubmissionStream,
    aio,
    connect,
)
from vidscore_client._outbox import item_size
from vidscore_protos.v1 import submission_service_pb2


def test_frames_are_stored_in_order_and_acknowledged(
    submitting: Submitting, fake: FakeSubmissions
) -> None:
    with submitting() as stream:
        assert (stream.submission, stream.next_offset) == (NAME, 0)
        send(stream, range(500))
        assert stream.flush(WAIT_S) == stream.acknowledged_frames == 500
    assert numbers_of(fake) == list(range(500))


@pytest.mark.parametrize("wrong", ["5", float("nan")])
def test_a_timeout_of_a_wrong_type_for_flush_or_close_is_named(
    submitting: Submitting, fake: FakeSubmissions, wrong: Any
) -> None:
    with submitting() as stream:
        for wait in (stream.flush, stream.close):
            with pytest.raises(InputError, match=r"^timeout_s: found "):
                wait(wrong)
        send(stream, range(3))
    assert numbers_of(fake) == [0, 1, 2]


def test_messages_are_split_to_the_frames_that_the_server_takes(
    submitting: Submitting, fake: FakeSubmissions
) -> None:
    fake.limits = {"maximum_batch_frames": 4}
    with submitting() as stream:
        send(stream, range(6))
        stream.send_batch(frames(16).part(6, 16))
        assert stream.flush(WAIT_S) == 16
    assert numbers_of(fake) == list(range(16))
    assert max(count for count, _ in fake.batches.values()) == 4


def test_messages_are_split_to_the_bytes_that_the_server_takes(
    submitting: Submitting, fake: FakeSubmissions
) -> None:
    """Half of them are reserved for names."""
    fake.limits = {"maximum_message_bytes": 2 * 4 * item_size(frames(1))}
    with submitting() as stream:
        stream.send_batch(frames(16))
    assert numbers_of(fake) == list(range(16))
    assert max(count for count, _ in fake.batches.values()) == 4


def test_a_submission_is_created_once_and_found_again_by_its_name(
    submitting: Submitting, fake: FakeSubmissions
) -> None:
    for expected in (0, 3):
        with submitting() as stream:
            assert stream.next_offset == expected
            send(stream, range(expected, expected + 3))
    assert fake.creations == ["run"]
    assert numbers_of(fake) == list(range(6))


def test_a_restarted_program_may_send_everything_again(
    submitting: Submitting, fake: FakeSubmissions
) -> None:
    """Single frames and batches: exactly the durable ones are left out."""
    with submitting() as stream:
        send(stream, range(5))
    with submitting(replay=True) as stream:
        send(stream, range(3))
        stream.send_batch(frames(10).part(3, 10))
        send(stream, range(10, 12))
    assert numbers_of(fake) == list(range(12))


def test_leaving_the_block_waits_until_every_frame_is_durable(
    submitting: Submitting, fake: FakeSubmissions
) -> None:
    with submitting(batching=Batching(batch_interval_s=3600.0)) as stream:
        send(stream, range(3))
    assert numbers_of(fake) == [0, 1, 2]


def test_leaving_the_block_with_an_exception_does_not_wait(
    submitting: Submitting, fake: FakeSubmissions
) -> None:
    fake.go_on.clear()
    failing = pytest.raises(ZeroDivisionError)
    with failing, submitting() as stream:
        send(stream, range(3))
        raise ZeroDivisionError
    assert fake.stored == []


@pytest.mark.parametrize(("count", "shown"), [(7, "7 frames"), (1, "1 frame")])
def test_a_close_that_fails_reports_the_number_of_lost_frames(
    submitting: Submitting, fake: FakeSubmissions, count: int, shown: str
) -> None:
    fake.go_on.clear()
    bounded = Delivery(close_timeout_s=0.05)
    with submitting(delivery=bounded) as stream:
        send(stream, range(count))
        message = rf"^{shown} dropped: not durable within 0\.05 s$"
        with pytest.raises(DeadlineError, match=message):
            stream.close()
        assert stream.undelivered_frames == count
        stream.close()  # That was reported already.
        with pytest.raises(DeadlineError):
            stream.seal()  # Missing frames would count as empty.
    fake.go_on.set()


def test_closing_an_aborted_stream_does_nothing(
    submitting: Submitting, fake: FakeSubmissions
) -> None:
    fake.go_on.clear()
    with submitting() as stream:
        send(stream, range(7))
        stream.abort()
        assert stream.undelivered_frames == 7
    fake.go_on.set()


def test_a_used_up_quota_is_raised_at_opening(
    submitting: Submitting, fake: FakeSubmissions
) -> None:
    fake.refuse_creation = (grpc.StatusCode.RESOURCE_EXHAUSTED, "QUOTA_EXCEEDED")
    with pytest.raises(QuotaExceededError):
        submitting().__enter__()


def test_a_submission_created_by_another_process_at_the_same_time_is_found(
    submitting: Submitting, fake: FakeSubmissions
) -> None:
    fake.refuse_creation = (grpc.StatusCode.ALREADY_EXISTS, "NAME_TAKEN")
    fake.created_by_another = True
    with submitting() as stream:
        send(stream, range(3))
    assert numbers_of(fake) == [0, 1, 2]


def test_a_name_that_another_team_has_taken_is_a_conflict(
    submitting: Submitting, fake: FakeSubmissions
) -> None:
    fake.refuse_creation = (grpc.StatusCode.ALREADY_EXISTS, "NAME_TAKEN")
    with pytest.raises(ConflictError) as caught:
        submitting().__enter__()
    assert caught.value.reason == "NAME_TAKEN"


def test_a_missing_benchmark_is_raised_at_opening(fake: FakeSubmissions) -> None:
    with connect(fake.target) as client, pytest.raises(NotFoundError):
        client.submit("roads")


def test_an_ended_submission_is_raised_at_opening(
    submitting: Submitting, fake: FakeSubmissions
) -> None:
    fake.state = submission_service_pb2.SUBMISSION_STATE_SCORED
    with pytest.raises(SubmissionEndedError):
        submitting().__enter__()


def test_no_more_is_sent_than_the_window_holds(
    submitting: Submitting, fake: FakeSubmissions
) -> None:
    """Frames beyond the window wait in the queue, and frames beyond that are refused."""
    fake.go_on.clear()
    batching = Batching(batch_frames=1, queue_frames=4, policy="raise")
    delivery = Delivery(window_frames=3, retry=QUICK)
    with submitting(batching=batching, delivery=delivery) as stream:
        for number in range(3 + 4):
            send_in_time(stream, number, WAIT_S)
        with pytest.raises(BackPressureError, match="queue_frames is 4, window_frames is 3"):
            send_in_time(stream, 7, 0.3)
        fake.go_on.set()
        assert stream.flush(WAIT_S) == 7


def send_in_time(stream: SubmissionStream, number: int, timeout_s: float) -> None:
    """Send a frame, with time for the stream to move others from the queue into the window."""
    deadline_s = time.monotonic() + timeout_s
    while True:
        try:
            return stream.send("a", number, BOX)
        except BackPressureError:
            if time.monotonic() > deadline_s:
                raise
            time.sleep(0.01)


def test_a_full_queue_blocks_until_there_is_room(
    submitting: Submitting, fake: FakeSubmissions
) -> None:
    fake.go_on.clear()
    threading.Timer(0.2, fake.go_on.set).start()
    batching = Batching(batch_frames=1, queue_frames=1)
    with submitting(batching=batching, delivery=Delivery(window_frames=1)) as stream:
        send(stream, range(10))
    assert numbers_of(fake) == list(range(10))


def test_acknowledgements_are_reported_as_they_arrive(
    submitting: Submitting, fake: FakeSubmissions
) -> None:
    told: list[int] = []
    delivery = Delivery(on_acknowledged=told.append, retry=QUICK)
    with submitting(batching=ONE_BY_ONE, delivery=delivery) as stream:
        fake.faults.after = [lose_the_connection]
        send(stream, range(4))
    assert told == [1, 2, 3, 4]


def test_a_callback_that_raises_ends_the_stream(submitting: Submitting) -> None:
    delivery = Delivery(on_acknowledged=lambda _count: 1 // 0, retry=QUICK)
    failing = pytest.raises(CallbackError, match="ZeroDivisionError")
    with failing as caught, submitting(batching=ONE_BY_ONE, delivery=delivery) as stream:
        send(stream, range(2))
        eventually(lambda: fails(stream))
        stream.send("a", 3, BOX)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def fails(stream: SubmissionStream) -> bool:
    """Whether the stream has failed."""
    try:
        stream.send_batch(frames(0))
        stream.send("b", int(time.monotonic_ns()), BOX)
    except CallbackError:
        return True
    return False


def test_a_flush_that_times_out_leaves_the_stream_running(
    submitting: Submitting, fake: FakeSubmissions
) -> None:
    fake.go_on.clear()
    with submitting() as stream:
        send(stream, range(3))
        with pytest.raises(DeadlineError, match=r"within 0\.05 s"):
            stream.flush(0.05)
        fake.go_on.set()
        assert stream.flush(WAIT_S) == 3


def test_sealing_delivers_everything_first(submitting: Submitting, fake: FakeSubmissions) -> None:
    with submitting(batching=Batching(batch_interval_s=3600.0)) as stream:
        send(stream, range(3))
        assert stream.seal(expected_frame_count=3).state is SubmissionState.SEALED
        with pytest.raises(ClosedError):
            stream.send("a", 3, BOX)
    assert (fake.expected, numbers_of(fake)) == (3, [0, 1, 2])


def test_a_submission_with_another_number_of_frames_is_not_sealed(
    submitting: Submitting, fake: FakeSubmissions
) -> None:
    with submitting() as stream:
        send(stream, range(3))
        with pytest.raises(ConflictError) as caught:
            stream.seal(expected_frame_count=4)
    assert caught.value.reason == "FRAME_COUNT_DIFFERS"
    assert fake.state == submission_service_pb2.SUBMISSION_STATE_OPEN


def test_waiting_continues_after_a_break_from_the_known_revision(
    submitting: Submitting, fake: FakeSubmissions
) -> None:
    fake.watch_script = [
        [update("SEALED", 8), None],
        [update("SCORING", 9)],
        [update("SCORED", 11)],
    ]
    seen = []
    with submitting() as stream:
        ended = stream.wait(WAIT_S, lambda change: seen.append(change.submission.state.value))
        assert [score.name for score in stream.scores()] == [f"{NAME}/scores/1"]
    assert ended.state is SubmissionState.SCORED
    assert seen == ["sealed", "scoring", "scored"]
    assert fake.watches == [0, 8, 9]


def test_waiting_ends_at_the_timeout(submitting: Submitting, fake: FakeSubmissions) -> None:
    fake.watch_script = [[] for _ in range(100)]
    with submitting() as stream, pytest.raises(DeadlineError, match=r"within 0\.2 s"):
        stream.wait(0.2)


def test_waiting_ends_at_the_timeout_while_the_server_is_away(
    submitting: Submitting, fake: FakeSubmissions
) -> None:
    """The second attempt would be made after 15 s or more."""
    delivery = Delivery(retry=Retry(initial_s=30.0, maximum_s=30.0))
    with submitting(delivery=delivery) as stream:
        fake.stop()
        began_s = time.monotonic()
        with pytest.raises(DeadlineError, match=r"within 0\.2 s"):
            stream.wait(0.2)
        assert time.monotonic() - began_s < 15.0


def test_detections_of_another_shape_are_refused_before_they_are_sent(
    submitting: Submitting, fake: FakeSubmissions
) -> None:
    with submitting() as stream:
        with pytest.raises(InputError, match=r"found shape \(1, 2\)"):
            stream.send("a", 0, [[1.0, 2.0]])
        with pytest.raises(InputError, match="expected Frames"):
            stream.send_batch("a")  # type: ignore[arg-type]
    assert fake.offsets == []


def test_no_thread_outlives_its_stream(fake: FakeSubmissions) -> None:
    before = stream_threads()
    with connect(fake.target) as client:
        for _ in range(2):
            with client.submit("streets", "run", replay=True) as stream:
                send(stream, range(3))
        assert stream_threads() == before


def test_a_leaked_stream_warns_and_its_client_closes_it(fake: FakeSubmissions) -> None:
    before = stream_threads()
    with connect(fake.target) as client:
        leaked = [client.submit("streets", "run")]
        send(leaked[0], range(3))
        with pytest.warns(ResourceWarning, match="a stream into benchmarks/streets/"):
            leaked.clear()
    assert numbers_of(fake) == [0, 1, 2]
    assert stream_threads() == before


def test_a_program_that_never_closes_exits_and_acknowledged_frames_are_kept(
    fake: FakeSubmissions,
) -> None:
    program = """
        import sys, vidscore_client
        client = vidscore_client.connect(sys.argv[1])
        stream = client.submit("streets", "run")
        stream.send("a", 0, [[0, 0, 4, 4]])
        print(stream.flush(), flush=True)
    """
    ended = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), fake.target],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "GRPC_VERBOSITY": "NONE"},
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "1\n", "")
    assert numbers_of(fake) == [0]


def test_closing_a_client_closes_its_streams_which_deliver(fake: FakeSubmissions) -> None:
    with connect(fake.target) as client:
        stream = client.submit("streets", "run")
        send(stream, range(7))
    assert numbers_of(fake) == list(range(7))
    with pytest.raises(ClosedError):
        stream.send("a", 0, BOX)


def test_closing_a_stream_that_another_thread_closes_waits_for_its_frames(
    fake: FakeSubmissions,
) -> None:
    fake.go_on.clear()
    undelivered: list[int] = []
    with connect(fake.target) as client:
        stream = client.submit("streets", "run")
        send(stream, range(7))

        def close() -> None:
            stream.close()
            undelivered.append(stream.undelivered_frames)

        closing = [threading.Thread(target=close) for _ in range(2)]
        for thread in closing:
            thread.start()
        threading.Timer(0.2, fake.go_on.set).start()
        for thread in closing:
            thread.join()
    assert undelivered == [0, 0]


def test_a_cancelled_close_delivers_when_it_is_called_again(fake: FakeSubmissions) -> None:
    fake.go_on.clear()

    async def submit() -> None:
        async with aio.connect(fake.target) as client, client.submit("streets", "run") as stream:
            await stream.send("a", 0, BOX)
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(stream.close(), 0.05)
            threading.Timer(0.1, fake.go_on.set).start()
            await stream.close()
            assert stream.undelivered_frames == 0

    asyncio.run(submit())


def test_closing_an_asyncio_client_closes_its_streams(fake: FakeSubmissions) -> None:
    async def submit() -> None:
        async with aio.connect(fake.target) as client:
            stream = await client.submit("streets", "run").__aenter__()
            await stream.send("a", 0, BOX)

    asyncio.run(submit())
    assert numbers_of(fake) == [0]


ENDLESS = pytest.mark.parametrize("time_s", [math.inf, 1e10])


def _endless(time_s: float) -> dict[str, Any]:
    batching = Batching(batch_interval_s=time_s, queue_frames=2, block_timeout_s=time_s)
    delivery = Delivery(close_timeout_s=time_s, acknowledge_timeout_s=time_s)
    return {"batching": batching, "delivery": delivery}


@ENDLESS
def test_timeouts_may_exceed_the_range_of_clocks(fake: FakeSubmissions, time_s: float) -> None:
    with connect(fake.target, timeout_s=time_s) as client:
        with client.submit("streets", "run", **_endless(time_s)) as stream:
            send(stream, range(2))
            assert stream.flush(time_s) == 2
            send(stream, range(2, 3))
        assert client.submissions.seal("streets/run").name == NAME
    assert numbers_of(fake) == [0, 1, 2]


@ENDLESS
def test_timeouts_of_asyncio_may_exceed_the_range_of_clocks(
    fake: FakeSubmissions, time_s: float
) -> None:
    async def submit() -> None:
        async with (
            aio.connect(fake.target, timeout_s=time_s) as client,
            client.submit("streets", "run", **_endless(time_s)) as stream,
        ):
            await stream.send("a", 0, BOX)
            assert await stream.flush(time_s) == 1

    asyncio.run(submit())


def test_leaving_a_client_with_an_exception_waits_for_nothing(fake: FakeSubmissions) -> None:
    fake.go_on.clear()
    with pytest.raises(ZeroDivisionError), connect(fake.target) as client:  # noqa: PT012
        stream = client.submit("streets", "run")
        send(stream, range(7))
        raise ZeroDivisionError
    assert stream.undelivered_frames == 7
