"""What a stream sends and when, and what it receives; synchronous and asyncio."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from tests.clients.python.fake_server import (
    SERVER_VERSION,
    WAIT_S,
    answer_each,
    limited,
    live,
    script,
    slow,
)
from tests.clients.python.streaming import BOX, Streaming, frames
from tests.support.waiting import eventually

from vidscore_client import (
    BackPressureError,
    Batching,
    CallCancelledError,
    InputError,
    Live,
    LiveReport,
    ScoreStream,
)

AT_ONCE = Batching(batch_interval_s=0.0)
LARGE = np.zeros((4000, 4))
"""A frame so large that a few fill the window of a connection."""


def test_every_frame_arrives_once_and_the_final_report_is_returned(streaming: Streaming) -> None:
    with streaming() as (server, stream):
        for number in range(10):
            stream.send_truth("a", number, BOX, ["car"])
            stream.send("a", number, [], [])
        [report] = stream.finish()
    assert report.value("frames") == 20
    assert server.sent("truth") == [("a", number) for number in range(10)]
    assert server.sent("detections") == [("a", number) for number in range(10)]


def test_a_stream_gives_the_version_and_limits_of_the_server(streaming: Streaming) -> None:
    with streaming(limited(maximum_frames=7)) as (_, stream):
        assert stream.server_version == SERVER_VERSION
        assert stream.limits == {"maximum_frames": 7}


def test_frames_are_sent_while_the_stream_is_open(streaming: Streaming) -> None:
    with streaming(batching=Batching(batch_interval_s=0.01)) as (server, stream):
        stream.send_truth("a", 1, BOX)
        eventually(lambda: server.sent("truth") == [("a", 1)])


def test_a_batch_is_sent_as_soon_as_it_is_full(streaming: Streaming) -> None:
    batching = Batching(batch_interval_s=3600.0, batch_frames=3)
    with streaming(batching=batching) as (server, stream):
        for number in range(4):
            stream.send("a", number, BOX)
        eventually(lambda: len(server.batches("detections")) == 1)
        stream.finish()
    assert [len(batch.frame_numbers) for batch in server.batches("detections")] == [3, 1]


def test_the_caller_may_reuse_its_arrays_as_soon_as_send_returns(streaming: Streaming) -> None:
    box, confidence, track = np.array(BOX), np.array([0.5]), np.array([7])
    with streaming(batching=Batching(batch_interval_s=3600.0)) as (server, stream):
        stream.send("a", 0, box, confidences=confidence, track_ids=track)
        box[:], confidence[:], track[:] = -1.0, 0.0, 0
        stream.finish()
    [batch] = server.batches("detections")
    assert list(batch.coordinates) == BOX[0]
    assert list(batch.confidences) == [0.5]
    assert list(batch.track_ids) == [7]


def test_every_argument_of_a_frame_reaches_its_column(streaming: Streaming) -> None:
    with streaming() as (server, stream):
        stream.send_truth(
            "a", 3, BOX * 2, ["car", "bus"], [1.0, 0.5], [4, -1], [1, 0], domain="d", dont_care=True
        )
        stream.finish()
    [batch] = server.batches("truth")
    assert (batch.sequences[0].domain, batch.sequences[0].sequence) == ("d", "a")
    assert [batch.labels[row] for row in batch.label_indices] == ["car", "bus"]
    assert list(batch.frame_flags) == [1]
    assert list(batch.confidences) == [1.0, 0.5]
    assert list(batch.track_ids) == [4, -1]
    assert list(batch.object_flags) == [1, 0]


def test_whole_batches_are_split_to_the_servers_limits(streaming: Streaming) -> None:
    with streaming(limited(maximum_batch_frames=4)) as (server, stream):
        stream.send_batch("truth", frames(10))
        stream.finish()
    assert [len(batch.frame_numbers) for batch in server.batches("truth")] == [4, 4, 2]
    assert server.sent("truth") == [("a", number) for number in range(10)]


def test_an_empty_batch_sends_nothing(streaming: Streaming) -> None:
    with streaming() as (server, stream):
        stream.send_batch("truth", frames(0))
        assert stream.finish()[0].value("frames") == 0
    assert server.batches("truth") == []


def test_the_configuration_has_the_given_settings(streaming: Streaming) -> None:
    with streaming(
        evaluators=[("spotgeo", {"tau": 5.0}), "other"],
        specification={"title": "T"},
        truth_geometry="point",
        detection_geometry="quadrilateral",
        live=Live(every_frames=10, every_s=1.5, summary_only=True),
    ) as (server, stream):
        stream.finish()
    configuration = server.requests[0].configuration
    assert [entry.name for entry in configuration.specification.evaluators] == ["spotgeo", "other"]
    assert configuration.specification.evaluators[0].parameters[0].number == 5.0
    assert configuration.specification.title == "T"
    assert (configuration.truth_geometry, configuration.detection_geometry) == (1, 3)
    assert configuration.live_reporting.frame_interval == 10
    assert configuration.live_reporting.time_interval.ToNanoseconds() == 1_500_000_000
    assert configuration.live_reporting.summary_only


def test_without_live_settings_no_live_reports_are_requested(streaming: Streaming) -> None:
    with streaming() as (server, stream):
        stream.finish()
        assert stream.latest is None
        assert list(stream.live_reports()) == []
    assert not server.requests[0].configuration.HasField("live_reporting")


def test_live_reports_reach_callback_iterator_and_latest_in_order(streaming: Streaming) -> None:
    seen: list[LiveReport] = []
    settings = Live(every_frames=1, on_report=seen.append)
    with streaming(answer_each, live=settings, batching=AT_ONCE) as (_, stream):
        for number in range(5):
            stream.send("a", number, BOX)
            eventually(lambda wanted=number + 1: len(seen) == wanted)  # type: ignore[misc]
        stream.finish()
        assert list(stream.live_reports()) == seen
        assert stream.latest == seen[-1]
    assert [report.coverage.paired_frames for report in seen] == [1, 2, 3, 4, 5]
    assert [report.reports[0].value("frames") for report in seen] == [1, 2, 3, 4, 5]


def test_unread_live_reports_make_room_for_newer_ones(streaming: Streaming) -> None:
    settings = Live(every_frames=1, keep_reports=3)
    with streaming(script(*map(live, range(10))), live=settings) as (_, stream):
        stream.finish()
        kept = [report.coverage.paired_frames for report in stream.live_reports()]
    assert kept == [7, 8, 9]


def test_an_iterator_of_live_reports_waits_for_the_next_one(streaming: Streaming) -> None:
    settings = Live(every_frames=1)
    with streaming(answer_each, live=settings, batching=AT_ONCE) as (_, stream):
        timer = threading.Timer(0.05, lambda: stream.send("a", 0, BOX))
        timer.start()
        assert next(stream.live_reports()).coverage.paired_frames == 1
        timer.join()


def test_a_batch_must_fit_the_stream(streaming: Streaming) -> None:
    with streaming(truth_geometry="point") as (_, stream):
        with pytest.raises(InputError, match="coordinates: found shape"):
            stream.send_truth("a", 0, BOX)
        with pytest.raises(InputError, match="frames: found 4 coordinates"):
            stream.send_batch("truth", frames(1))
        with pytest.raises(InputError, match="side: found 'middle'"):
            stream.send_batch("middle", frames(1))  # type: ignore[arg-type]
        with pytest.raises(InputError, match="frames: found"):
            stream.send_batch("truth", [])  # type: ignore[arg-type]
        stream.send("a", 0, BOX)
        assert stream.finish()[0].value("frames") == 1


def send_until_refused(stream: ScoreStream) -> tuple[int, str]:
    """Fill the queue; returns the number of accepted frames, and the error of the refusal."""
    for number in range(10_000):
        try:
            stream.send("a", number, LARGE)
        except BackPressureError as error:
            return number, str(error)
    raise AssertionError("the queue never filled")


def test_a_full_queue_raises_if_the_policy_says_so(streaming: Streaming) -> None:
    """The refused frame is not queued, and the stream continues."""
    go_on = threading.Event()
    batching = Batching(batch_interval_s=0.0, queue_frames=8, policy="raise")
    with streaming(slow(go_on), batching=batching) as (_, stream):
        taken, refusal = send_until_refused(stream)
        assert "8 frames to be sent, queue_frames is 8" in refusal
        go_on.set()
        assert stream.finish()[0].value("frames") == taken


def test_a_full_queue_blocks_until_there_is_room(streaming: Streaming) -> None:
    go_on = threading.Event()
    batching = Batching(batch_interval_s=0.0, queue_frames=8, block_timeout_s=WAIT_S)
    with streaming(slow(go_on), batching=batching) as (_, stream):
        threading.Timer(0.2, go_on.set).start()
        for number in range(100):
            stream.send("a", number, LARGE)
        assert stream.finish()[0].value("frames") == 100


def test_a_caller_that_waited_for_room_wakes_the_sender(streaming: Streaming) -> None:
    """The sender may be asleep, because the queue looked the same as before the wait."""
    batching = Batching(batch_frames=1, queue_frames=1, block_timeout_s=WAIT_S)
    with streaming(batching=batching) as (_, stream):
        for number in range(200):
            stream.send("a", number, BOX)
        assert stream.finish()[0].value("frames") == 200


def test_a_queue_that_stays_full_raises_after_the_timeout(streaming: Streaming) -> None:
    go_on = threading.Event()
    batching = Batching(batch_interval_s=0.0, queue_frames=8, block_timeout_s=0.05)
    with streaming(slow(go_on), batching=batching) as (_, stream):
        taken, refusal = send_until_refused(stream)
        assert "full for 0.05 s" in refusal
        go_on.set()
        assert stream.finish()[0].value("frames") == taken


def test_a_caller_that_waits_for_room_learns_that_the_stream_ends(streaming: Streaming) -> None:
    go_on = threading.Event()
    batching = Batching(batch_interval_s=0.0, queue_frames=8, block_timeout_s=WAIT_S)
    with streaming(slow(go_on), batching=batching) as (_, stream):
        threading.Timer(0.2, stream.cancel).start()
        with pytest.raises(CallCancelledError):
            send_until_refused(stream)
        go_on.set()


def test_many_threads_may_send_on_one_stream(streaming: Streaming) -> None:
    """Each frame arrives once, and those of one thread in order."""
    with streaming(batching=Batching(batch_frames=7)) as (server, stream):

        def work(name: str) -> None:
            for number in range(50):
                stream.send(name, number, BOX)

        workers = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        stream.finish()
    sent = server.sent("detections")
    assert sorted(sent) == [(name, number) for name in "abcd" for number in range(50)]
    for name in "abcd":
        assert [number for key, number in sent if key == name] == list(range(50))
