"""A failed submission is scored again if its team or an organiser asks for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
import pytest_asyncio
from google.protobuf.duration_pb2 import Duration
from tests.server.domain.hosted import BENCHMARK, TRUTH, Hosted, hosting, refusal
from tests.server.domain.test_scoring import DETECTIONS, library_report
from tests.server.scene import report_bytes
from tests.support.waiting import TIMEOUT_S, until

from vidscore_evaluators.jobs import Job
from vidscore_protos.v1 import access_service_pb2
from vidscore_protos.v1 import submission_service_pb2 as pb

Work = Callable[[Job], Awaitable[bytes]]


@pytest_asyncio.fixture
async def breaking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Hosted]:
    """A server with a benchmark whose workers fail, so that the first failure is final."""

    async def broken(_: Job) -> bytes:
        raise RuntimeError("out of order")

    async with hosting(tmp_path, scoring_attempts=1) as hosted:
        monkeypatch.setattr(hosted.workers, "run", broken)
        await hosted.organiser.create_benchmark(submissions_in_all=1)
        await hosted.organiser.upload(TRUTH)
        yield hosted


@pytest.fixture
def mend(breaking: Hosted, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Repairs the workers."""
    working = type(breaking.workers).run.__get__(breaking.workers)
    return lambda: monkeypatch.setattr(breaking.workers, "run", working)


async def _fail(hosted: Hosted) -> None:
    await hosted.red.submit(DETECTIONS)
    ended = await hosted.red.ended()
    assert ended.submission.state_reason == "scoring_failed"
    assert "vidscore submission retry" in ended.submission.state_message


@pytest.mark.parametrize("who", ["red", "organiser"])
async def test_a_failed_submission_is_scored_again_as_if_nothing_had_happened(
    breaking: Hosted, mend: Callable[[], None], who: str
) -> None:
    await _fail(breaking)
    before = await breaking.red.get()
    mend()
    again = await getattr(breaking, who).retry()
    assert (again.state, again.state_reason) == (pb.SUBMISSION_STATE_SEALED, "scoring_retried")
    assert (again.seal_time, again.frame_count) == (before.seal_time, before.frame_count)
    assert (await breaking.red.ended()).submission.state_reason == "scored"
    [score] = await breaking.organiser.scores()
    assert report_bytes(score.report) == library_report(TRUTH, DETECTIONS)


async def test_a_retry_has_all_attempts_again(breaking: Hosted) -> None:
    """It fails once more, and can be retried once more."""
    await _fail(breaking)
    for _ in range(2):
        await breaking.red.retry()
        assert (await breaking.red.ended()).submission.state_reason == "scoring_failed"


async def test_a_retry_is_audited(breaking: Hosted) -> None:
    await _fail(breaking)
    await breaking.red.retry()
    answer = await breaking.organiser.access.ListAuditRecords(
        access_service_pb2.ListAuditRecordsRequest(action="RetrySubmission"),
        metadata=breaking.organiser.metadata,
    )
    [record] = answer.records
    assert (record.resource, record.detail) == (f"{BENCHMARK}/submissions/one", "scoring_retried")


async def test_another_team_learns_nothing_of_a_failed_submission(breaking: Hosted) -> None:
    await _fail(breaking)
    absent = await refusal(breaking.blue.retry("none"))
    others = await refusal(breaking.blue.retry("one"))
    assert (others.code, others.reason) == (absent.code, absent.reason)
    assert others.reason == "NOT_FOUND"
    assert (await breaking.red.get()).state == pb.SUBMISSION_STATE_FAILED


async def test_the_same_request_again_starts_nothing(
    breaking: Hosted, mend: Callable[[], None]
) -> None:
    """A client that missed the first answer asks again after the submission is scored."""
    await _fail(breaking)
    mend()
    await breaking.red.retry(request_id="once")
    await breaking.red.ended()
    scored = await breaking.red.retry(request_id="once")
    assert scored.state == pb.SUBMISSION_STATE_SCORED
    assert len(await breaking.organiser.scores()) == 1


async def test_a_retry_uses_the_quota_that_its_sealing_used(
    breaking: Hosted, mend: Callable[[], None]
) -> None:
    """The quota is one: a failed submission uses none, and a rescored one uses one in all."""
    await _fail(breaking)
    mend()
    await breaking.red.retry()
    await breaking.red.ended()
    refused = await refusal(breaking.red.submission("two"))
    assert refused.reason == "QUOTA_EXCEEDED"


async def test_a_team_cannot_retry_if_another_submission_used_the_quota_but_an_organiser_can(
    breaking: Hosted, mend: Callable[[], None]
) -> None:
    """The team could have any number scored under a quota of one, by letting them fail first."""
    await _fail(breaking)
    mend()
    await breaking.red.submit(DETECTIONS, "two")
    await breaking.red.ended("two")
    refused = await refusal(breaking.red.retry())
    assert refused.reason == "QUOTA_EXCEEDED"
    assert (await breaking.red.get()).state == pb.SUBMISSION_STATE_FAILED
    await breaking.organiser.retry()
    assert (await breaking.red.ended()).submission.state_reason == "scored"


async def test_what_failed_for_want_of_truth_does_not_add_to_the_quota(hosted: Hosted) -> None:
    """Two wait in vain for the truth, a third one is scored: the quota is one."""
    await hosted.organiser.create_benchmark(
        submissions_in_all=1, truth_timeout=Duration(seconds=3600)
    )
    for name in ("one", "two"):
        await hosted.red.submit(DETECTIONS, name)
        async with asyncio.timeout(TIMEOUT_S):
            while (await hosted.red.get(name)).state_reason != "truth_missing":  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        hosted.clock.pass_by(hours=1)
        ended = await hosted.red.ended(name)
        assert ended.submission.state_reason == "truth_never_came"
    await hosted.organiser.upload(TRUTH)
    await hosted.red.submit(DETECTIONS, "three")
    await hosted.red.ended("three")
    for name in ("one", "two"):
        assert (await refusal(hosted.red.retry(name))).reason == "QUOTA_EXCEEDED"


async def test_a_submission_that_has_not_failed_is_refused_with_advice(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark(truth_timeout=Duration(seconds=3600))
    await hosted.red.submission("draft")
    await hosted.red.begin(DETECTIONS, "receiving")
    await hosted.red.begin(DETECTIONS, "cancelled")
    await hosted.red.cancel("cancelled")
    await hosted.red.submit(DETECTIONS, "sealed")
    found = {name: await _advice(hosted, name) for name in ("draft", "receiving", "cancelled")}
    assert found == {
        "draft": "the submission is open; only one that has failed is scored again "
        "(append frames and seal it)",
        "receiving": "the submission is receiving; only one that has failed is scored again "
        "(seal it)",
        "cancelled": "the submission is cancelled; only one that has failed is scored again "
        "(submit the detections again)",
    }
    assert "(it continues by itself; watch it)" in await _advice(hosted, "sealed")
    hosted.workers.gate.clear()
    await hosted.organiser.upload(TRUTH)
    await until(lambda: bool(hosted.workers.jobs))
    assert "is scoring; " in await _advice(hosted, "sealed")
    hosted.workers.gate.set()
    await hosted.red.ended("sealed")
    assert "is scored; " in await _advice(hosted, "sealed")


async def _advice(hosted: Hosted, name: str) -> str:
    refused = await refusal(hosted.red.retry(name))
    assert refused.reason == "NOT_FAILED"
    return refused.message
