"""What the passing of time does to submissions."""

from __future__ import annotations

import dataclasses
from collections import Counter

import pytest
from google.protobuf.duration_pb2 import Duration
from msgspec import structs
from tests.server.domain.hosted import BENCHMARK, TRUTH, Hosted, dots, refusal
from tests.server.domain.test_rescored_boards import update
from tests.server.store import records as r

from vidscore_protos.v1 import access_service_pb2, benchmark_pb2, organiser_pb2
from vidscore_server.domain.policy import Policy
from vidscore_server.domain.schedule import ScheduledEvent, due_event, scheduled_event
from vidscore_server.domain.states import Event
from vidscore_server.store.reader import Reader
from vidscore_server.store.records import BenchmarkRecord, SubmissionState

SEAL = Policy(quiet_timeout_s=30.0)
OPEN = structs.replace(r.benchmark(), close_time=None)
CANCEL = dataclasses.replace(SEAL, quiet_action="cancel")


@pytest.mark.parametrize(
    ("policy", "now_s", "event"),
    [
        (SEAL, 29.9, None),
        (SEAL, 30.0, Event.SEALED_WHEN_QUIET),
        (CANCEL, 30.0, Event.CANCELLED_WHEN_QUIET),
        (SEAL, 60.0, Event.SEALED_AT_CLOSING),
        (CANCEL, 60.0, Event.CANCELLED_AT_CLOSING),
    ],
)
def test_idle_submissions_end_and_open_ones_end_at_closing(
    policy: Policy, now_s: float, event: Event | None
) -> None:
    assert due_event(r.submission(), r.benchmark(), policy, r.later(now_s), r.later(0)) is event


def test_the_idle_time_counts_from_the_last_activity() -> None:
    active = structs.replace(r.submission(), activity_time=r.later(20))
    assert due_event(active, r.benchmark(), SEAL, r.later(49), r.later(0)) is None


def test_time_in_which_nobody_could_send_does_not_count_as_idle() -> None:
    before = r.later(1000)
    assert due_event(r.submission(), OPEN, SEAL, r.later(1029.9), quiet_from=before) is None
    scheduled_event = due_event(r.submission(), OPEN, SEAL, r.later(1030), quiet_from=before)
    assert scheduled_event is Event.SEALED_WHEN_QUIET


async def test_a_benchmark_is_read_once_for_all_its_open_submissions(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch
) -> None:
    await hosted.organiser.create_benchmark()
    for number in range(5):
        await hosted.red.submission(f"run-{number}")
    asked: Counter[Reader] = Counter()
    real = Reader.benchmark

    def read(reader: Reader, benchmark: str) -> BenchmarkRecord | None:
        asked[reader] += 1  # Each check of what is due reads separately.
        return real(reader, benchmark)

    monkeypatch.setattr(Reader, "benchmark", read)
    await hosted.expire()
    assert set(asked.values()) == {1}


async def test_stored_responses_are_deleted_after_a_week(hosted: Hosted) -> None:
    site = hosted.hosting.context
    now = hosted.clock()
    await site.write(lambda t: t.put_response("t", "old", "digest", b"answer", now))
    await hosted.expire()
    hosted.clock.pass_by(days=6)
    await hosted.expire()
    assert await site.read(lambda reader: reader.response("t", "old")) is not None
    hosted.clock.pass_by(days=2)
    await hosted.expire()
    assert await site.read(lambda reader: reader.response("t", "old")) is None


async def _audited(hosted: Hosted, action: str) -> list[tuple[str, str]]:
    """Actors and resources of an action's audit records."""
    request = access_service_pb2.ListAuditRecordsRequest(action=action)
    organiser = hosted.organiser
    answer = await organiser.access.ListAuditRecords(request, metadata=organiser.metadata)
    return [(record.actor, record.resource) for record in answer.records]


@pytest.mark.parametrize(
    ("action", "reason", "last"),
    [
        ("QUIET_ACTION_SEAL", "sealed_when_quiet", "scored"),
        ("QUIET_ACTION_CANCEL", "cancelled_when_quiet", "cancelled_when_quiet"),
    ],
)
async def test_the_end_of_an_idle_submission_is_in_its_history_and_the_audit_record(
    hosted: Hosted, action: str, reason: str, last: str
) -> None:
    await hosted.organiser.create_benchmark(
        quiet_timeout=Duration(seconds=3600), quiet_action=action
    )
    await hosted.organiser.upload(TRUTH)
    await hosted.red.begin(TRUTH)
    hosted.clock.pass_by(minutes=60)
    await hosted.expire()
    assert (await hosted.red.ended()).submission.state_reason == last
    assert reason in [entry.reason for entry in (await hosted.red.get()).history]
    assert await _audited(hosted, reason) == [("server", f"{BENCHMARK}/submissions/one")]


async def test_the_end_of_an_idle_draft_is_audited(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark(quiet_timeout=Duration(seconds=3600))
    await hosted.red.submission()
    hosted.clock.pass_by(minutes=60)
    await hosted.expire()
    assert await _audited(hosted, "draft_deleted") == [("server", f"{BENCHMARK}/submissions/one")]


async def test_an_idle_submission_over_its_teams_quota_is_cancelled(hosted: Hosted) -> None:
    """Two per day were allowed when it was created, and one when it was to be sealed."""

    def one_a_day(benchmark: benchmark_pb2.Benchmark) -> None:
        benchmark.policy.submissions_per_day = 1

    await hosted.organiser.create_benchmark(
        quiet_timeout=Duration(seconds=3600), submissions_per_day=2
    )
    await hosted.organiser.upload(TRUTH)
    await hosted.red.submit(TRUTH, "first")
    await hosted.red.begin(TRUTH, "second")
    await update(hosted, "policy", change=one_a_day)
    hosted.clock.pass_by(minutes=60)
    await hosted.expire()
    second = await hosted.red.get("second")
    assert second.state_reason == "cancelled_by_quota"
    assert await _audited(hosted, "cancelled_by_quota") == [("server", second.name)]
    assert (await hosted.red.ended("first")).submission.state_reason == "scored"


@pytest.mark.parametrize(
    ("quiet_s", "due_s", "reason"),
    [(30.0, 30.0, "sealed_when_quiet"), (90.0, 60.0, "sealed_at_closing")],
)
def test_the_earlier_of_idle_timeout_and_closing_applies(
    quiet_s: float, due_s: float, reason: str
) -> None:
    """The benchmark closes after 60 seconds."""
    record = r.submission(state=SubmissionState.RECEIVING, frame_count=1)
    found = scheduled_event(
        record, r.benchmark(), dataclasses.replace(SEAL, quiet_timeout_s=quiet_s), r.later(0)
    )
    assert found == ScheduledEvent(r.later(due_s), reason)


@pytest.mark.parametrize(
    ("revision", "reason"), [(0, "truth_never_came"), (1, "scored_without_all_truth")]
)
def test_the_wait_of_a_submission_for_truth_starts_at_its_sealing(
    revision: int, reason: str
) -> None:
    """After the truth timeout it is scored with the existing truth, or fails if there is none."""
    waiting = structs.replace(
        r.submission(state=SubmissionState.WAITING_FOR_TRUTH, frame_count=1), state_time=r.later(7)
    )
    benchmark = structs.replace(r.benchmark(), truth_revision=revision)
    policy = dataclasses.replace(SEAL, truth_timeout_s=100.0)
    found = scheduled_event(waiting, benchmark, policy, r.later(500))
    assert found == ScheduledEvent(r.later(107), reason)


def test_a_draft_is_deleted_and_a_submission_that_takes_no_frames_is_left_alone() -> None:
    found = scheduled_event(r.submission(), OPEN, SEAL, r.later(0))
    assert found == ScheduledEvent(r.later(30), "draft_deleted")
    scored = r.submission(state=SubmissionState.SCORED, frame_count=1)
    assert scheduled_event(scored, OPEN, SEAL, r.later(0)) is None


async def test_old_responses_are_deleted_again_soon_after_the_clock_was_set_back(
    hosted: Hosted,
) -> None:
    """A repeated request is then a new one, and the name is taken."""

    async def created() -> None:
        request = organiser_pb2.CreateBenchmarkRequest(
            benchmark_id="dots", benchmark=dots(), request_id="r1"
        )
        client = hosted.organiser
        await client.benchmarks.CreateBenchmark(request, metadata=client.metadata)

    await hosted.expire()
    hosted.clock.pass_by(days=400)
    await hosted.expire()
    hosted.clock.pass_by(days=-400)
    await hosted.expire()
    await created()
    await created()
    hosted.clock.pass_by(days=8)
    await hosted.expire()
    assert (await refusal(created())).reason == "NAME_TAKEN"
