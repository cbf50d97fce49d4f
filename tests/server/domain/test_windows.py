"""The last frames of a submission are scored for organisers, as the same frames in files are."""

from __future__ import annotations

from tests.server.domain.hosted import BENCHMARK, TRUTH, Client, Hosted, refusal
from tests.server.scene import points

from vidscore_client._decoding import decode_report
from vidscore_protos.v1 import submission_service_pb2 as pb


async def watched(client: Client, frames: int) -> pb.WatchSubmissionResponse:
    """The first response of a call that wants a window."""
    request = pb.WatchSubmissionRequest(name=f"{BENCHMARK}/submissions/one", window_frames=frames)
    async for response in client.submissions.WatchSubmission(request, metadata=client.metadata):
        return response
    raise AssertionError("it has ended")


async def test_a_window_is_over_the_last_frames_that_have_truth(hosted: Hosted) -> None:
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


async def test_others_than_organisers_watch_no_window(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark()
    await hosted.organiser.upload(TRUTH)
    await hosted.red.submit(TRUTH)
    for client in (hosted.red, hosted.viewer):
        found = await refusal(watched(client, 5))
        assert found.reason == "PERMISSION_DENIED"
    assert not (await watched(hosted.red, 0)).window_reports
    found = await refusal(watched(hosted.organiser, 10_001))
    assert "window_frames" in str(found)
