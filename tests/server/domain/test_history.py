"""The history of a submission for its team: its states, but not who changed them or how."""

from __future__ import annotations

from tests.server.domain.hosted import BENCHMARK, TRUTH, Hosted
from tests.server.scene import HERE, points

from vidscore_protos.v1 import submission_service_pb2 as pb


def _told(submission: pb.Submission) -> list[str]:
    return [
        f"{event.stream} {event.epoch}" if event.stream else event.reason
        for event in submission.history
    ]


async def test_every_state_is_listed_newest_first(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark()
    await hosted.organiser.upload(TRUTH)
    await hosted.red.submit(TRUTH)
    await hosted.red.ended()
    expected = ["scored", "scoring_started", "sealed_by_team", "default 1", "created"]
    for client in (hosted.red, hosted.organiser):
        assert _told(await client.get()) == expected


async def test_reopening_a_stream_is_listed(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark()
    await hosted.red.begin(points({1: HERE}))
    await hosted.red.open(f"{BENCHMARK}/submissions/one")
    await hosted.red.open(f"{BENCHMARK}/submissions/one", "camera")
    assert _told(await hosted.red.get()) == ["camera 1", "default 2", "default 1", "created"]


async def test_the_history_of_an_earlier_draft_of_that_name_is_not_listed(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark()
    await hosted.blue.submission()
    hosted.clock.pass_by(hours=2)
    await hosted.hosting.work()
    await hosted.red.begin(points({1: HERE}))
    assert _told(await hosted.red.get()) == ["default 1", "created"]


async def test_names_with_the_same_prefix_are_other_submissions(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark()
    await hosted.red.begin(points({1: HERE}), "one")
    for other in ("one-more", "one0"):
        await hosted.blue.begin(points({1: HERE}), other)
        await hosted.blue.cancel(other)
    assert _told(await hosted.red.get()) == ["default 1", "created"]


async def test_a_cancellation_names_only_the_role_that_made_it(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark()
    await hosted.red.begin(points({1: HERE}))
    await hosted.organiser.cancel()
    found = await hosted.red.get()
    assert _told(found)[0] == "cancelled_by_organiser"
    token = hosted.organiser.secret.split("_")[1]
    assert token not in str(found)


async def test_lists_leave_the_history_out(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark()
    await hosted.red.begin(points({1: HERE}))
    request = pb.ListSubmissionsRequest(benchmark=BENCHMARK)
    answer = await hosted.red.submissions.ListSubmissions(request, metadata=hosted.red.metadata)
    assert _told(answer.submissions[0]) == []
