"""The last frames of a submission are scored for organisers like the same frames in files."""

from __future__ import annotations

import pytest
from tests.server.domain.hosted import BENCHMARK, TRUTH, Client, Hosted, refusal
from tests.server.scene import points

from vidscore_client._decoding import decode_report
from vidscore_protos.v1 import submission_service_pb2 as pb
from vidscore_server.domain import windows
from vidscore_server.domain.names import SubmissionName


async def watched(client: Client, frames: int) -> pb.WatchSubmissionResponse:
    """The first response of a call that asks for a window."""
    request = pb.WatchSubmissionRequest(name=f"{BENCHMARK}/submissions/one", window_frames=frames)
    async for response in client.submissions.WatchSubmission(request, metadata=client.metadata):
        return response
    raise AssertionError("it has ended")


async def test_a_window_covers_the_last_frames_that_have_truth(hosted: Hosted) -> None:
    """Two objects are in frame 1, one is in frame 3; frames 2 and 4 have no truth yet."""
    await hosted.organiser.create_benchmark()
    truth = points({1: [(10.0, 20.0), (300.0, 200.0)], 3: [(50.5, 60.5)]})
    await hosted.organiser.upload(truth, complete=False)
    stream = await hosted.red.submission("one")
    await hosted.red.append(stream, 0, points({1: [(10.0, 20.0)], 2: [(1.0, 1.0)]}))
    await hosted.red.append(stream, 2, points({3: [(50.5, 60.5), (400.0, 400.0)], 4: []}))
    expected = {2: (1, 1, 1, 0), 3: (1, 1, 1, 0), 4: (2, 2, 1, 1), 1000: (2, 2, 1, 1)}
    for size, (frames, *counts) in expected.items():
        response = await watched(hosted.organiser, size)
        assert response.window_frame_count == frames
        [report] = [decode_report(one) for one in response.window_reports]
        names = ("true_positives", "false_positives", "false_negatives")
        assert [report.value(name) for name in names] == counts
    response = await watched(hosted.organiser, 1)
    assert not response.window_reports


async def test_a_window_is_recomputed_once_frames_have_arrived_and_a_pause_has_passed(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch
) -> None:
    await hosted.organiser.create_benchmark()
    await hosted.organiser.upload(TRUTH)
    stream = await hosted.red.submission("one")
    await hosted.red.append(stream, 0, points({1: [(10.0, 20.0)]}))
    newest, name = hosted.hosting.windows.newest, SubmissionName("dots", "one")
    monkeypatch.setattr(windows, "REST_FACTOR", 0.0)
    first = await newest(name, 5)
    assert first is not None
    assert await newest(name, 5) is first
    await hosted.red.append(stream, 1, points({2: []}))
    monkeypatch.setattr(windows, "REST_FACTOR", 1e9)
    second = await newest(name, 5)
    assert second is not None
    assert (first.frame_count, second.frame_count) == (1, 2)
    await hosted.red.append(stream, 2, points({3: []}))
    assert await newest(name, 5) is second


async def test_the_most_recently_used_windows_are_kept(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(windows, "MAXIMUM_KEPT", 2)
    await hosted.organiser.create_benchmark()
    await hosted.organiser.upload(TRUTH)
    await hosted.red.append(await hosted.red.submission("one"), 0, points({1: []}))
    newest, name = hosted.hosting.windows.newest, SubmissionName("dots", "one")
    of_one, of_two = [await newest(name, size) for size in (1, 2)]
    assert await newest(name, 1) is of_one
    await newest(name, 3)  # It replaces the window of two frames.
    assert await newest(name, 1) is of_one
    assert await newest(name, 2) is not of_two


async def test_only_organisers_may_watch_a_window(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark()
    await hosted.organiser.upload(TRUTH)
    await hosted.red.submit(TRUTH)
    for client in (hosted.red, hosted.viewer):
        found = await refusal(watched(client, 5))
        assert found.reason == "PERMISSION_DENIED"
    assert not (await watched(hosted.red, 0)).window_reports
    found = await refusal(watched(hosted.organiser, 10_001))
    assert "window_frames" in str(found)
