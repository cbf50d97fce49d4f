"""Live scores: only completed sequences, enough frames, and equal to the library's scores."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest
from tests.server.domain.hosted import BENCHMARK, Hosted, dots, refusal, values
from tests.server.domain.test_scoring import library_report
from tests.server.scene import points
from tests.support.waiting import TIMEOUT_S, until

from vidscore_protos.v1 import annotations_pb2, benchmark_pb2, organiser_pb2, submission_service_pb2
from vidscore_server.domain.live_run import CompletenessCache, State
from vidscore_server.domain.names import SubmissionName

pb = submission_service_pb2

LIVE = benchmark_pb2.VISIBILITY_LIVE
HIT = [(10.0, 20.0)]
NUMBERS = range(1, 6)
NAME = SubmissionName("dots", "one")


def sequence(name: str) -> annotations_pb2.AnnotationBatch:
    return points(dict.fromkeys(NUMBERS, HIT), name)


async def _live(hosted: Hosted, covered: float) -> pb.WatchSubmissionResponse:
    """Watch until a live score covers this many objects."""
    request = pb.WatchSubmissionRequest(name=f"{BENCHMARK}/submissions/one")
    call = hosted.red.submissions.WatchSubmission(request, metadata=hosted.red.metadata)
    async with asyncio.timeout(60):
        async for response in call:
            for score in response.scores:
                found = values(score.report)
                if found["true_positives"] + found["false_negatives"] == covered:
                    call.cancel()
                    return response
    raise AssertionError("the watch has ended")


@pytest.mark.slow
async def test_a_live_score_covers_only_completed_sequences(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark(visibility=LIVE, minimum_frames=5)
    await hosted.organiser.upload(sequence("a"), sequence("b"))
    stream = await hosted.red.submission()
    await hosted.red.append(stream, 0, sequence("a"))
    await hosted.red.append(stream, 5, points({1: HIT, 2: []}, "b"))
    response = await _live(hosted, 5)
    [score] = response.scores
    assert score.name == ""
    score.report.specification.Clear()
    expected = library_report(sequence("a"), sequence("a"))
    score.report.truth_digest = type(score.report).FromString(expected).truth_digest
    assert score.report.SerializeToString(deterministic=True) == expected
    await hosted.red.append(stream, 7, points(dict.fromkeys((3, 4, 5), HIT), "b"))
    await _live(hosted, 10)


@pytest.mark.slow
async def test_no_live_score_covers_fewer_frames_than_the_policy_allows(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark(visibility=LIVE, minimum_frames=6)
    await hosted.organiser.upload(sequence("a"), sequence("b"))
    stream = await hosted.red.submission()
    await hosted.red.append(stream, 0, sequence("a"))
    live = await hosted.hosting.live.newest(NAME)
    assert live is not None
    assert live.reports == ()
    await hosted.red.append(stream, 5, sequence("b"))
    await _live(hosted, 10)


async def test_a_sequence_whose_truth_may_still_grow_is_not_completed(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark(visibility=LIVE, minimum_frames=1)
    await hosted.organiser.upload(sequence("a"), complete=False)
    stream = await hosted.red.submission()
    await hosted.red.append(stream, 0, sequence("a"))
    live = await hosted.hosting.live.newest(NAME)
    assert live is not None
    assert live.reports == ()


async def test_without_the_policy_there_are_no_live_scores(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark()
    await hosted.organiser.upload(sequence("a"))
    stream = await hosted.red.submission()
    await hosted.red.append(stream, 0, sequence("a"))
    assert await hosted.hosting.live.newest(NAME) is None


STATE = State(9, 1, "{}", datetime(2026, 5, 1, 12, tzinfo=UTC))
WANTED = {("", "a"): 2, ("", "b"): 5}


@pytest.mark.parametrize(
    ("counts", "holds"),
    [
        ({("", "a"): 3, ("", "b"): 2}, True),
        ({("", "a"): 3, ("", "b"): 4, ("", "c"): 9}, True),
        ({("", "a"): 4, ("", "b"): 2}, False),
        ({("", "a"): 3, ("", "b"): 5}, False),
    ],
)
def test_nothing_is_read_until_a_sequence_may_be_completed(
    counts: dict[tuple[str, str], int], holds: bool
) -> None:
    """Sequence a has more frames than are evaluated, but perhaps not these; b has too few."""
    known = CompletenessCache.of(STATE, WANTED, {("", "a"): 3, ("", "b"): 1})
    assert (known.counted(STATE, counts) is not None) is holds
    assert known.counted(STATE._replace(truth_revision=2), counts) is None
    assert known.counted(STATE._replace(rules="{ }"), counts) is None


@pytest.mark.parametrize(
    ("wanted", "counts", "due_count"),
    [
        ({("", "b"): 5}, {("", "b"): 1}, 9 + 4),
        ({("", "b"): 5, ("", "c"): 2}, {("", "b"): 1}, 9 + 2),
        (WANTED, {("", "a"): 2, ("", "b"): 1}, 9 + 1),  # Any frame of a may be the missing one.
    ],
)
def test_frames_are_counted_only_once_as_many_arrived_as_a_sequence_lacks(
    wanted: dict[tuple[str, str], int], counts: dict[tuple[str, str], int], due_count: int
) -> None:
    known = CompletenessCache.of(STATE, wanted, counts)
    assert known.is_early(STATE._replace(frame_count=due_count - 1))
    assert not known.is_early(STATE._replace(frame_count=due_count))
    assert not known.is_early(STATE._replace(truth_revision=2))


def test_frames_are_no_longer_counted_when_every_sequence_is_complete() -> None:
    known = CompletenessCache.of(STATE, {}, {("", "a"): 2})
    assert known.is_early(STATE._replace(frame_count=1_000_000))
    assert not known.is_early(STATE._replace(rules="{ }"))


async def test_a_submission_counts_once_a_live_score_was_shown_even_if_cancelled(
    hosted: Hosted,
) -> None:
    """Otherwise a team could watch, cancel and start again, and read the truth for free."""
    await hosted.organiser.create_benchmark(
        visibility=LIVE, minimum_frames=5, submissions_per_day=1, submissions_in_all=2
    )
    await hosted.organiser.upload(sequence("a"), sequence("b"))
    stream = await hosted.red.submission()
    await hosted.red.append(stream, 0, sequence("a"))
    await _live(hosted, 5)
    await hosted.red.cancel()
    found = await refusal(hosted.red.submission("two"))
    assert found.metadata["quota"] == "submissions_per_day"
    hosted.clock.pass_by(days=1)
    await hosted.red.begin(points({1: HIT}, "a"), "two")
    hosted.clock.pass_by(days=1)
    found = await refusal(hosted.red.submission("three"))
    assert found.metadata["quota"] == "submissions_in_all"


async def test_a_cancelled_submission_without_a_shown_score_uses_no_quota(hosted: Hosted) -> None:
    """Shown to its team: a look by an organiser does not count, nor a watch without scores."""
    await hosted.organiser.create_benchmark(visibility=LIVE, minimum_frames=5, submissions_in_all=1)
    await hosted.organiser.upload(sequence("a"), sequence("b"))
    for name, client, count in (("one", hosted.organiser, 5), ("two", hosted.red, 4)):
        stream = await hosted.red.submission(name)
        await hosted.red.append(stream, 0, points(dict.fromkeys(range(1, count + 1), HIT), "a"))
        request = pb.WatchSubmissionRequest(name=f"{BENCHMARK}/submissions/{name}")
        call = client.submissions.WatchSubmission(request, metadata=client.metadata)
        first = await call.read()
        assert isinstance(first, pb.WatchSubmissionResponse)
        assert len(first.scores) == (count == 5)
        call.cancel()
        await hosted.red.cancel(name)
    await hosted.red.begin(points({1: HIT}, "a"), "three")


async def test_a_submission_that_is_cancelled_before_its_live_score_is_shown_shows_none(
    hosted: Hosted,
) -> None:
    """Otherwise its team, which has a free place again, would see one score more than its quota."""
    await hosted.organiser.create_benchmark(visibility=LIVE, minimum_frames=5, submissions_in_all=1)
    await hosted.organiser.upload(sequence("a"), sequence("b"))
    stream = await hosted.red.submission()
    await hosted.red.append(stream, 0, sequence("a"))
    hosted.workers.gate.clear()
    watching = asyncio.create_task(hosted.red.ended())
    await until(lambda: bool(hosted.workers.jobs))
    await hosted.red.cancel()
    await hosted.red.begin(points({1: HIT}, "a"), "two")
    hosted.workers.gate.set()
    last = await watching
    assert last.submission.state_reason == "cancelled_by_team"
    record = await hosted.hosting.context.read(lambda reader: reader.submission(*NAME))
    assert record is not None
    assert not record.score_shown


async def test_a_policy_without_live_scores_hides_earlier_ones(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark(visibility=LIVE, minimum_frames=5)
    await hosted.organiser.upload(sequence("a"), sequence("b"))
    stream = await hosted.red.submission()
    await hosted.red.append(stream, 0, sequence("a"))
    live = hosted.hosting.live
    assert await live.newest(NAME) is not None  # For example, if an organiser watches it.
    await hosted.organiser.update(dots(visibility=benchmark_pb2.VISIBILITY_LADDER), "policy")
    async with asyncio.timeout(TIMEOUT_S):
        while await live.newest(NAME) is not None:  # noqa: ASYNC110 - it rests for a moment
            await asyncio.sleep(0.01)
    request = pb.WatchSubmissionRequest(name=f"{BENCHMARK}/submissions/one")
    call = hosted.red.submissions.WatchSubmission(request, metadata=hosted.red.metadata)
    first = await call.read()
    call.cancel()
    assert isinstance(first, pb.WatchSubmissionResponse)
    assert list(first.scores) == []


async def test_a_submission_counts_separately_from_an_earlier_one_of_its_name(
    hosted: Hosted,
) -> None:
    """The earlier one belonged to a benchmark that was deleted and created again."""
    for _ in range(2):
        await hosted.organiser.create_benchmark(visibility=LIVE, minimum_frames=5)
        await hosted.organiser.upload(sequence("a"), sequence("b"))
        stream = await hosted.red.submission()
        await hosted.red.append(stream, 0, sequence("a"))
        await _live(hosted, 5)
        record = await hosted.hosting.context.read(lambda reader: reader.submission(*NAME))
        assert record is not None
        assert record.score_shown
        request = organiser_pb2.DeleteBenchmarkRequest(name=BENCHMARK, force=True)
        organiser = hosted.organiser
        await organiser.benchmarks.DeleteBenchmark(request, metadata=organiser.metadata)
        hosted.clock.pass_by(seconds=1)
