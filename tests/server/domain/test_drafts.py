"""A submission exists from its first frames; before, it is a draft that nobody else sees."""

from __future__ import annotations

import asyncio
from typing import Any

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from msgspec.structs import replace
from tests.server.domain.hosted import BENCHMARK, TRUTH, Client, Hosted, append, refusal, values
from tests.server.scene import HERE, points, refused

from vidscore_protos.v1 import benchmark_pb2, organiser_pb2
from vidscore_protos.v1 import submission_service_pb2 as pb
from vidscore_server.store import Transaction
from vidscore_server.store.records import SubmissionState

FRAME = points({1: HERE})
WRONG = points({1: [(10.0, float("nan"))]})
HOUR = Duration(seconds=3600)


async def _host(hosted: Hosted, **policy: Any) -> None:
    await hosted.organiser.create_benchmark(**policy)
    await hosted.organiser.upload(TRUTH)


async def test_a_refused_first_batch_leaves_nothing_listed_and_no_place_taken(
    hosted: Hosted,
) -> None:
    await _host(hosted, submissions_per_day=1)
    stream = await hosted.red.submission("wrong")
    assert (await refusal(hosted.red.append(stream, 0, WRONG))).reason == "INVALID_INPUT"
    assert await hosted.red.listed() == await hosted.organiser.listed() == []
    await hosted.red.submit(FRAME, "right")
    assert await hosted.red.listed() == ["right"]


async def test_a_submission_is_listed_from_its_first_frames_on(hosted: Hosted) -> None:
    await _host(hosted)
    await hosted.red.begin(points({1: []}))
    assert await hosted.red.listed() == ["one"]


async def test_only_its_own_team_sees_a_draft(hosted: Hosted) -> None:
    await _host(hosted)
    await hosted.red.submission()
    found = await hosted.red.get()
    assert (found.state, found.frame_count) == (pb.SUBMISSION_STATE_OPEN, 0)
    assert "draft" in found.state_message
    assert (await refusal(hosted.blue.get())).code is grpc.StatusCode.NOT_FOUND


@pytest.mark.parametrize("frames", [None, 0])
async def test_a_submission_without_frames_cannot_be_sealed(
    hosted: Hosted, frames: int | None
) -> None:
    await _host(hosted)
    stream = await hosted.red.submission()
    found = await refusal(hosted.red.seal(frames=frames))
    assert (found.code, found.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "NO_FRAMES")
    assert "append frames first" in found.message
    await hosted.red.append(stream, 0, FRAME)
    await hosted.red.seal()


@pytest.mark.parametrize("action", ["QUIET_ACTION_SEAL", "QUIET_ACTION_CANCEL"])
async def test_an_idle_draft_is_deleted_and_its_name_is_free_for_everyone(
    hosted: Hosted, action: str
) -> None:
    await _host(hosted, quiet_timeout=HOUR, quiet_action=action)
    await hosted.red.submission()
    hosted.clock.pass_by(minutes=59)
    await hosted.expire()
    assert (await hosted.red.get()).state == pb.SUBMISSION_STATE_OPEN
    hosted.clock.pass_by(minutes=1)
    await hosted.expire()
    assert (await refusal(hosted.red.get())).code is grpc.StatusCode.NOT_FOUND
    await hosted.blue.begin(FRAME)
    assert (await hosted.blue.get()).team == "blue"


async def test_a_draft_is_deleted_at_closing(hosted: Hosted) -> None:
    await _host(hosted)
    await hosted.red.submission()
    await _close(hosted)
    await hosted.expire()
    assert (await refusal(hosted.red.get())).code is grpc.StatusCode.NOT_FOUND


async def test_first_frames_after_the_closing_are_too_late(hosted: Hosted) -> None:
    """The frames arrive before the server's next check, which deletes the draft."""
    await _host(hosted)
    stream = await hosted.red.submission()
    await hosted.hosting.stop()  # So that the expirer deletes nothing.
    await _close(hosted)
    assert (await refusal(hosted.red.append(stream, 0, FRAME))).reason == "BENCHMARK_NOT_OPEN"
    assert await hosted.red.listed() == []


async def _close(hosted: Hosted) -> None:
    """Let a benchmark close now."""
    message = benchmark_pb2.Benchmark()
    message.close_time.FromDatetime(hosted.clock.now)
    await hosted.organiser.update(message, "close_time")


async def test_the_name_of_a_draft_is_free_for_its_own_team_only(hosted: Hosted) -> None:
    await _host(hosted)
    await hosted.red.submission()
    assert (await refusal(hosted.blue.submission())).reason == "NAME_TAKEN"
    await _create_another(hosted.red)
    assert (await hosted.red.get()).title == "Another"
    stream = await hosted.red.submission()
    await hosted.red.append(stream, 0, FRAME, epoch=2)
    assert (await refusal(hosted.red.submission())).reason == "NAME_TAKEN"


async def test_recreating_a_draft_fences_off_the_writers_of_the_old_one(hosted: Hosted) -> None:
    await _host(hosted)
    stream = await hosted.red.submission()
    await _create_another(hosted.red)
    assert (await hosted.red.open(f"{BENCHMARK}/submissions/one")).epoch == 2
    assert (await refusal(hosted.red.append(stream, 0, FRAME))).reason == "EPOCH_STALE"
    assert await hosted.red.append(stream, 0, FRAME, epoch=2) == 1


async def test_a_cancelled_draft_can_be_created_again(hosted: Hosted) -> None:
    await _host(hosted)
    await hosted.red.submission()
    assert (await hosted.red.cancel()).state == pb.SUBMISSION_STATE_CANCELLED
    await _create_another(hosted.red)
    opened = await hosted.red.open(f"{BENCHMARK}/submissions/one")
    stream = f"{BENCHMARK}/submissions/one/streams/default"
    assert await hosted.red.append(stream, 0, FRAME, epoch=opened.epoch) == 1


async def _create_another(client: Client) -> None:
    request = pb.CreateSubmissionRequest(benchmark=BENCHMARK, submission_id="one", title="Another")
    await client.submissions.CreateSubmission(request, metadata=client.metadata)


@pytest.mark.parametrize("unary", [True, False])
async def test_only_one_of_several_drafts_gets_the_last_place(hosted: Hosted, unary: bool) -> None:
    """The others are refused at their first frames, and nothing of them is stored."""
    await _host(hosted, submissions_in_all=2)
    await hosted.red.begin(FRAME, "first")
    streams = [await hosted.red.submission(f"d{number}") for number in range(4)]

    second = points({2: []})

    async def begin(stream: str) -> str:
        appends = [append(stream, 0, FRAME), append(stream, 1, second)]
        call = hosted.red.append(stream, 0, FRAME) if unary else hosted.red.stream(appends)
        found = await asyncio.gather(call, return_exceptions=True)
        if isinstance(found[0], grpc.aio.AioRpcError):
            return refused(found[0]).reason
        return "taken"

    outcomes = await asyncio.gather(*map(begin, streams))
    assert sorted(outcomes) == ["QUOTA_EXCEEDED"] * 3 + ["taken"]
    listed = await hosted.red.listed()
    assert len(listed) == 2
    for number, outcome in enumerate(outcomes):
        frame_count = (await hosted.red.get(f"d{number}")).frame_count
        assert (frame_count > 0) == (outcome == "taken") == (f"d{number}" in listed)


async def test_a_released_place_is_free_for_a_draft_that_was_refused(hosted: Hosted) -> None:
    await _host(hosted, submissions_in_all=1)
    await hosted.red.submission("first")
    stream = await hosted.red.submission("second")
    await hosted.red.append(f"{BENCHMARK}/submissions/first/streams/default", 0, FRAME)
    assert (await refusal(hosted.red.append(stream, 0, FRAME))).reason == "QUOTA_EXCEEDED"
    await hosted.red.cancel("first")
    assert await hosted.red.append(stream, 0, FRAME) == 1


async def test_a_benchmark_with_only_drafts_is_deleted_without_force(hosted: Hosted) -> None:
    await _host(hosted)
    await hosted.red.submission()
    request = organiser_pb2.DeleteBenchmarkRequest(name=BENCHMARK)
    await hosted.organiser.benchmarks.DeleteBenchmark(request, metadata=hosted.organiser.metadata)


# --- stores of older versions, which sealed and scored submissions without frames -----------------


async def _empty(hosted: Hosted, state: SubmissionState) -> None:
    """What an older version stored: a submission without frames in some state."""
    await hosted.red.submission("one")

    def command(transaction: Transaction) -> None:
        record = transaction.submission("dots", "one")
        assert record is not None
        transaction.update_submission(replace(record, state=state, seal_time=record.create_time))

    await hosted.hosting.context.write(command)


@pytest.mark.parametrize(
    "state",
    [SubmissionState.SEALED, SubmissionState.WAITING_FOR_TRUTH, SubmissionState.SCORING],
)
async def test_a_submission_sealed_without_frames_is_cancelled_instead_of_scored(
    hosted: Hosted, state: SubmissionState
) -> None:
    await _host(hosted)
    await _empty(hosted, state)
    hosted.hosting.wake()
    ended = (await hosted.red.ended()).submission
    assert (ended.state, ended.state_reason) == (
        pb.SUBMISSION_STATE_CANCELLED,
        "cancelled_without_frames",
    )
    assert await hosted.organiser.scores() == []


@pytest.mark.parametrize("visibility", ["VISIBILITY_LADDER", "VISIBILITY_FINAL"])
async def test_a_submission_scored_without_frames_is_on_no_board_and_uses_no_quota(
    hosted: Hosted, visibility: str
) -> None:
    await _host(hosted, visibility=visibility, submissions_in_all=1)
    await hosted.red.submit(FRAME)
    await hosted.red.ended()
    assert values((await hosted.organiser.scores())[0].report)["f1"] > 0

    def lose_frames(transaction: Transaction) -> None:
        record = transaction.submission("dots", "one")
        assert record is not None
        transaction.update_submission(replace(record, frame_count=0))

    await hosted.hosting.context.write(lose_frames)
    for client in (hosted.red, hosted.viewer, hosted.organiser):
        assert list((await client.board()).rows) == []
    assert await hosted.red.listed() == []
    await hosted.red.begin(FRAME, "second")
