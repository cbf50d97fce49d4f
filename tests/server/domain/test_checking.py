"""What participants can ask before they submit: are these valid, what is left, what waits."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp
from tests.server.domain.hosted import BENCHMARK, TRUTH, Client, Hosted, refusal
from tests.server.scene import HERE, points

from vidscore_protos.v1 import annotations_pb2, benchmark_pb2
from vidscore_protos.v1 import submission_service_pb2 as pb

FRAME = points({1: HERE})
NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
"""The initial time of the clock of these tests."""


async def _check(client: Client, batch: annotations_pb2.AnnotationBatch | None = None) -> int:
    request = pb.CheckDetectionsRequest(benchmark=BENCHMARK, detections=batch)
    answer = await client.submissions.CheckDetections(request, metadata=client.metadata)
    return answer.frame_count


# --- checks -------------------------------------------------------------------------------------


async def test_a_check_of_valid_detections_creates_nothing(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark()
    assert await _check(hosted.red, points({1: HERE, 2: []})) == 2
    await _check(hosted.red)
    request = pb.GetSubmissionRequest(name=f"{BENCHMARK}/submissions/one")
    found = await refusal(
        hosted.red.submissions.GetSubmission(request, metadata=hosted.red.metadata)
    )
    assert found.code is grpc.StatusCode.NOT_FOUND
    assert await hosted.organiser.listed() == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "batch",
    [
        points({}),
        points({1: [(10.0, float("nan"))]}),
        points({9: HERE}),  # spotGEO has five frames per sequence.
        points({1: HERE}, sequence="unlisted"),
        points({1: [(10.0, 20.0)] * 31}),
    ],
    ids=["no frame", "not a number", "a frame beyond", "an unlisted sequence", "too many objects"],
)
async def test_a_check_finds_what_an_append_would(
    hosted: Hosted, batch: annotations_pb2.AnnotationBatch
) -> None:
    client = hosted.organiser
    message = (await client.create_benchmark()).specification
    message.sequences.add(name="1")
    await client.update(benchmark_pb2.Benchmark(specification=message), "specification")
    stream = await hosted.red.submission()
    appended = await refusal(hosted.red.append(stream, 0, batch))
    checked = await refusal(_check(hosted.red, batch))
    assert (checked.code, checked.reason) == (grpc.StatusCode.INVALID_ARGUMENT, appended.reason)
    assert checked.violations == appended.violations


async def test_a_check_reports_a_used_up_quota_and_still_checks_detections(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark(submissions_per_day=1)
    await hosted.red.begin(FRAME)
    assert (await refusal(_check(hosted.red))).reason == "QUOTA_EXCEEDED"
    assert await _check(hosted.red, FRAME) == 1
    assert await _check(hosted.blue) == 0


async def test_a_viewer_is_told_which_role_a_check_needs(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark()
    found = await refusal(_check(hosted.viewer))
    assert found.message == (
        "a viewer may not check detections; this needs the token of an organiser or a participant"
    )


# --- quotas -------------------------------------------------------------------------------------


async def test_a_benchmark_shows_the_asking_team_what_is_left(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark(submissions_per_day=2, submissions_in_all=5)
    await hosted.red.begin(FRAME)
    await hosted.red.submission("draft")
    quotas = (await hosted.red.benchmark()).quotas
    found = [(quota.name, quota.maximum, quota.left) for quota in quotas]
    assert found == [
        ("submissions_per_day", 2, 1),
        ("submissions_in_all", 5, 4),
        ("maximum_team_open_submissions", 100, 98),
        ("maximum_team_mebibytes", 65_536, 65_535),
    ]
    assert quotas[0].renew_time.ToDatetime(UTC) == datetime(2026, 5, 2, tzinfo=UTC)
    assert not quotas[1].HasField("renew_time")
    assert [quota.left for quota in (await hosted.blue.benchmark()).quotas[:2]] == [2, 5]
    assert list((await hosted.viewer.benchmark()).quotas) == []


async def test_a_benchmark_without_quotas_shows_the_limits_of_every_team(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark()
    names = [quota.name for quota in (await hosted.red.benchmark()).quotas]
    assert names == ["maximum_team_open_submissions", "maximum_team_mebibytes"]


# --- what a submission waits for ----------------------------------------------------------------


async def test_everyone_sees_whether_the_truth_is_complete(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark()
    assert not (await hosted.viewer.benchmark()).benchmark.truth_complete
    await hosted.organiser.upload(TRUTH, complete=False)
    assert not (await hosted.viewer.benchmark()).benchmark.truth_complete
    await hosted.organiser.upload(TRUTH)
    assert (await hosted.viewer.benchmark()).benchmark.truth_complete


def _time(stamp: Timestamp) -> datetime:
    return stamp.ToDatetime(UTC)


async def test_drafts_and_open_submissions_show_when_they_end(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark(quiet_timeout=Duration(seconds=7200))
    stream = await hosted.red.submission()
    found = await hosted.red.get()
    assert (_time(found.due_time), found.due_reason) == (
        NOON + timedelta(hours=2),
        "draft_deleted",
    )
    hosted.clock.pass_by(hours=1)
    await hosted.red.append(stream, 0, FRAME)
    found = await hosted.red.get()
    assert (_time(found.due_time), found.due_reason) == (
        NOON + timedelta(hours=3),
        "sealed_when_quiet",
    )


@pytest.mark.parametrize(
    ("uploaded", "reason"), [(False, "truth_never_came"), (True, "scored_without_all_truth")]
)
async def test_a_submission_that_waits_for_truth_shows_until_when(
    hosted: Hosted, uploaded: bool, reason: str
) -> None:
    await hosted.organiser.create_benchmark(truth_timeout=Duration(seconds=3600))
    if uploaded:
        await hosted.organiser.upload(TRUTH, complete=False)
    await hosted.red.submit(FRAME)
    request = pb.WatchSubmissionRequest(name=f"{BENCHMARK}/submissions/one")
    call = hosted.red.submissions.WatchSubmission(request, metadata=hosted.red.metadata)
    async for update in call:
        if update.submission.state == pb.SUBMISSION_STATE_WAITING_FOR_TRUTH:
            break
    call.cancel()
    found = update.submission
    assert (_time(found.due_time), found.due_reason) == (NOON + timedelta(hours=1), reason)


async def test_a_submission_that_has_ended_waits_for_nothing(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark()
    await hosted.organiser.upload(TRUTH)
    await hosted.red.submit(FRAME)
    ended = (await hosted.red.ended()).submission
    assert not ended.HasField("due_time")
    assert ended.due_reason == ""
