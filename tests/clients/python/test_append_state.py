"""The state of an append stream, against a model server that breaks and loses answers."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.clients.python.streaming import frames

from vidscore_client import (
    Batching,
    CallbackError,
    ConflictError,
    Delivery,
    InputError,
    InternalError,
    LimitExceededError,
    Retry,
    SupersededError,
    UnavailableError,
    VidscoreError,
)
from vidscore_client._append_state import AppendState, Sent
from vidscore_client._retrying import Retrying, Watched, call_s, ended_early, is_break
from vidscore_client.hosting import StreamInfo

BROKEN = UnavailableError("broken", code="UNAVAILABLE")


def too_large(maximum: int, limit: str = "maximum_batch_frames") -> LimitExceededError:
    """A server's error for a batch with more than it takes, by default of frames."""
    metadata = {"limit": limit, "maximum": str(maximum)}
    return LimitExceededError(
        "too large", code="RESOURCE_EXHAUSTED", reason="LIMIT_EXCEEDED", metadata=metadata
    )


def new_state(next_offset: int = 0, *, replay: bool = False, **delivery: int) -> AppendState:
    batching = Batching(batch_frames=3, queue_frames=10**6)
    opened = StreamInfo("default", 1, next_offset)
    return AppendState(opened, batching, Delivery(**delivery), replay=replay)  # type: ignore[arg-type]


class Model:
    """A server that stores whole batches by the offset protocol."""

    def __init__(self) -> None:
        self.stored: list[int] = []

    def append(self, batch: Sent) -> bool:
        """Store a batch, or find it stored already; returns whether it is stored."""
        numbers = batch.frames.frame_numbers.tolist()
        if batch.offset == len(self.stored):
            self.stored += numbers
        return bool(self.stored[batch.offset : batch.offset + len(numbers)] == numbers)


ACTIONS = st.lists(
    st.tuples(
        st.sampled_from(["offer", "send", "lose", "answer", "break", "limit"]), st.integers(1, 7)
    ),
    max_size=60,
)


@given(ACTIONS, st.integers(1, 20))
def test_whatever_breaks_every_frame_is_stored_once_and_in_order(
    actions: list[tuple[str, int]], window_frames: int
) -> None:
    """Batches and answers arrive or get lost; at the end everything is delivered."""
    state, server, offered = new_state(window_frames=window_frames), Model(), 0
    for action, count in [*actions, ("break", 1), *[("send", 7), ("answer", 7)] * 200]:
        if action == "offer":
            state.admit(frames(offered + count).part(offered, offered + count), 0.0)
            offered += count
        elif action == "send":
            sent = [batch for _ in range(count) if (batch := state.take(0.0)) is not None]
            assert all(server.append(batch) for batch in sent)
        elif action == "lose":
            # Batches that never arrive; whatever is sent after them is refused until a break.
            lost = [batch for _ in range(count) if (batch := state.take(0.0)) is not None]
            if lost:
                state.delay_s(BROKEN, 0.0)
                state.resume(StreamInfo("default", 1, len(server.stored)), 0.0)
        elif action == "answer":
            state.acknowledge(len(server.stored) if count % 2 else state.acknowledged, 0.0)
        elif action == "limit":
            with suppress(LimitExceededError):  # This ends a stream whose batches are that small.
                state.delay_s(too_large(count), 0.0)
            state.resume(StreamInfo("default", 1, len(server.stored)), 0.0)
        else:
            state.delay_s(BROKEN, 0.0)
            state.resume(StreamInfo("default", 1, len(server.stored)), 0.0)
        assert state.acknowledged <= len(server.stored)
    assert server.stored == list(range(offered))
    assert state.drained
    assert state.acknowledged == offered


def test_a_partly_durable_batch_is_sent_from_the_durable_end_on() -> None:
    """A batch of 3 of which 2 are stored, as by a server that splits batches."""
    state = new_state()
    state.admit(frames(3), 0.0)
    assert state.take(0.0) is not None
    state.delay_s(BROKEN, 0.0)
    state.resume(StreamInfo("default", 1, 2), 0.0)
    rest = state.take(0.0)
    assert rest is not None
    assert (rest.offset, rest.frames.frame_numbers.tolist()) == (2, [2])


def test_batches_are_split_again_if_a_server_takes_smaller_ones_than_it_stated() -> None:
    """The server has the first 3 of 7 frames in batches of 3, and takes 2 at a time from now on."""
    state = new_state()
    state.admit(frames(7), 0.0, "at 7")
    while state.take(0.0) is not None:
        pass
    assert state.delay_s(too_large(2), 0.0) == 0.0
    state.resume(StreamInfo("default", 1, 3), 0.0)
    assert state.undelivered == 4
    sent = []
    while (batch := state.take(0.0)) is not None:
        sent.append((batch.offset, batch.frames.frame_numbers.tolist(), batch.source_position))
    assert sent == [(3, [3, 4], None), (5, [5], None), (6, [6], "at 7")]
    assert state.undelivered == 4


def test_a_batch_over_another_limit_is_halved() -> None:
    """The server does not say how many frames hold few enough objects."""
    state = new_state()
    state.admit(frames(5), 0.0)
    while state.take(0.0) is not None:
        pass
    refusal = too_large(4, "maximum_batch_objects")
    assert state.delay_s(refusal, 0.0) == 0.0
    state.resume(StreamInfo("default", 1, 0), 0.0)
    sent = []
    while (batch := state.take(0.0)) is not None:
        sent.append(batch.frames.frame_numbers.tolist())
    assert sent == [[number] for number in range(5)]
    with pytest.raises(LimitExceededError):
        state.delay_s(refusal, 0.0)


def test_a_limit_that_no_cut_keeps_ends_the_stream() -> None:
    """A frame has the same number of objects in any batch."""
    state = new_state()
    state.admit(frames(3), 0.0)
    state.take(0.0)
    with pytest.raises(LimitExceededError):
        state.delay_s(too_large(4, "maximum_frame_objects"), 0.0)


def test_a_batch_that_cannot_be_split_further_ends_the_stream() -> None:
    state = new_state()
    state.admit(frames(3), 0.0)
    for maximum in (2, 1):
        state.delay_s(too_large(maximum), 0.0)
    with pytest.raises(LimitExceededError):
        state.delay_s(too_large(1), 0.0)


def test_an_acknowledgement_of_frames_that_were_never_sent_is_an_error() -> None:
    state = new_state()
    with pytest.raises(InternalError, match="acknowledged 1 frame, but only 0 had been sent"):
        state.acknowledge(1, 0.0)


def test_an_old_acknowledgement_changes_nothing() -> None:
    state = new_state(5)
    assert not state.acknowledge(3, 0.0)
    assert state.acknowledged == 5


@pytest.mark.parametrize(
    ("known", "kind"),
    [
        (StreamInfo("default", 2, 5), SupersededError),
        (StreamInfo("default", 1, 4), ConflictError),
        (None, ConflictError),
    ],
)
def test_a_changed_stream_cannot_be_resumed(
    known: StreamInfo | None, kind: type[Exception]
) -> None:
    with pytest.raises(kind):
        new_state(5).resume(known, 0.0)


def test_a_connection_stalls_if_sent_data_is_not_answered_in_time() -> None:
    """Within 30 s of the last answer or, before the first, of sending; never if all is answered."""
    state = new_state()
    stalls = [state.stalled_at_s]
    state.admit(frames(6), 0.0)
    stalls.append(state.stalled_at_s)
    for step in (
        lambda: state.take(10.0),
        lambda: state.take(20.0),
        lambda: state.acknowledge(3, 25.0),
        lambda: state.acknowledge(6, 26.0),
    ):
        step()
        stalls.append(state.stalled_at_s)
    assert stalls == [None, None, 40.0, 40.0, 55.0, None]


def test_a_break_while_nothing_waits_is_not_counted() -> None:
    state = new_state()
    assert [state.delay_s(ended_early(), now_s) for now_s in (0.0, 1e9, 2e9)] == [0.0] * 3
    with pytest.raises(ConflictError):
        state.delay_s(ConflictError("no", code="ALREADY_EXISTS"), 0.0)


def test_waits_double_up_to_the_maximum() -> None:
    """At once, then 1, 2, 4, 4, ... s, of which half is random."""
    retry = Retry(initial_s=1.0, maximum_s=4.0)
    longest, shortest = Retrying(retry, lambda: 1.0), Retrying(retry, lambda: 0.0)
    assert [longest.delay_s(BROKEN, 0.0) for _ in range(6)] == [0.0, 1.0, 2.0, 4.0, 4.0, 4.0]
    assert [shortest.delay_s(BROKEN, 0.0) for _ in range(4)] == [0.0, 0.5, 1.0, 2.0]


def test_retries_end_after_the_retry_limit_without_progress() -> None:
    retrying = Retrying(Retry(give_up_after_s=100.0))
    retrying.delay_s(BROKEN, 1000.0)
    retrying.delay_s(BROKEN, 1099.0)
    retrying.progress()
    retrying.delay_s(BROKEN, 1100.0)
    retrying.delay_s(BROKEN, 1199.0)
    with pytest.raises(UnavailableError):
        retrying.delay_s(BROKEN, 1200.0)


def test_no_wait_is_shorter_than_the_server_asks() -> None:
    retrying = Retrying(Retry(initial_s=1.0, maximum_s=8.0), lambda: 1.0)
    busy = LimitExceededError("busy", code="RESOURCE_EXHAUSTED", retry_delay_s=3.0)
    assert [retrying.delay_s(busy, 0.0) for _ in range(5)] == [3.0, 3.0, 3.0, 4.0, 8.0]


def test_a_wait_beyond_the_retry_limit_is_not_begun() -> None:
    retrying = Retrying(Retry(give_up_after_s=100.0))
    busy = UnavailableError("busy", code="UNAVAILABLE", retry_delay_s=60.0)
    assert retrying.delay_s(busy, 0.0) == 60.0
    with pytest.raises(UnavailableError):
        retrying.delay_s(busy, 60.0)


def test_each_break_that_is_retried_is_reported() -> None:
    told: list[VidscoreError] = []
    retrying = Retrying(Retry(give_up_after_s=100.0, on_break=told.append))
    refused = ConflictError("no", code="ALREADY_EXISTS")
    retrying.delay_s(BROKEN, 0.0)
    retrying.delay_s(BROKEN, 1.0)
    for now_s, error in ((2.0, refused), (101.0, BROKEN)):
        with pytest.raises(type(error)):
            retrying.delay_s(error, now_s)
    assert told == [BROKEN, BROKEN]


def test_an_on_break_that_raises_ends_the_retries() -> None:
    retrying = Retrying(Retry(on_break=lambda _: 1 / 0))
    with pytest.raises(CallbackError, match="on_break raised ZeroDivisionError"):
        retrying.delay_s(BROKEN, 0.0)


def test_retries_can_be_unlimited() -> None:
    retrying = Retrying(Retry(give_up_after_s=None))
    for _ in range(2000):
        assert retrying.delay_s(BROKEN, 1e12) <= 10.0


def test_an_idle_submission_is_watched_through_proxies_that_end_idle_calls_after_a_minute() -> None:
    watched = Watched("benchmarks/streets/submissions/run", Retry())
    now_s = 0.0
    while now_s < 3600.0:
        call = call_s(None, now_s)
        now_s += min(call, 60.0)
        code = "DEADLINE_EXCEEDED" if call < 60.0 else "UNAVAILABLE"
        now_s += watched.delay_s(UnavailableError("ended", code=code), now_s)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (LimitExceededError("full", code="RESOURCE_EXHAUSTED", reason="STORE_FULL"), True),
        (LimitExceededError("large", code="RESOURCE_EXHAUSTED", reason="LIMIT_EXCEEDED"), False),
        (InternalError("reset", code="INTERNAL"), True),
        (InternalError("a bug", code="INTERNAL", metadata={"incident": "1"}), False),
        (InternalError("here"), False),
    ],
)
def test_errors_that_a_retry_may_cure_are_breaks(error: Exception, expected: bool) -> None:
    assert is_break(error) is expected  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Retry(initial_s=0.0),
        lambda: Retry(initial_s=2.0, maximum_s=1.0),
        lambda: Retry(give_up_after_s=-1.0),
        lambda: Delivery(window_frames=0),
        lambda: Delivery(window_bytes=0),
        lambda: Delivery(acknowledge_timeout_s=0.0),
    ],
)
def test_settings_that_would_send_nothing_are_refused(wrong: object) -> None:
    with pytest.raises(InputError):
        wrong()  # type: ignore[operator]
