"""A run's states, coverage of its live reports, and its limits; the test process is the worker."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.server.running import PlayedWorkers
from tests.server.scene import HERE, configuration, points
from tests.support.waiting import until

from vidscore_evaluators.annotations import Side
from vidscore_evaluators.errors import InputError, LimitError
from vidscore_evaluators.jobs import Job
from vidscore_evaluators.live import Coverage, StreamScorer
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.report import Report
from vidscore_evaluators.scoring import score_annotations
from vidscore_evaluators.testing.examples import example_count
from vidscore_protos.v1 import annotations_pb2, scoring_service_pb2
from vidscore_server.api.batches import batch_size, read_batch
from vidscore_server.api.scoring import read_configuration
from vidscore_server.domain.accumulation import COMPACT_BYTES
from vidscore_server.domain.batches import BatchRules
from vidscore_server.domain.scoring_session import Live, ScoringSession, State
from vidscore_server.errors import MessageOrderError
from vidscore_server.settings import Settings, load_settings
from vidscore_server.status import field_path

pytestmark = pytest.mark.usefixtures("moody")

EVERY_FRAME = scoring_service_pb2.LiveReporting(frame_interval=1)


async def _configure(
    session: ScoringSession, message: scoring_service_pb2.ScoreConfiguration
) -> None:
    await session.configure(partial(read_configuration, message, Settings()))


async def _receive(
    session: ScoringSession, side: Side, message: annotations_pb2.AnnotationBatch, source: str
) -> None:
    await session.receive(side, partial(read_batch, message, source), batch_size(message), source)


@asynccontextmanager
async def _receiving(
    workers: PlayedWorkers,
    message: scoring_service_pb2.ScoreConfiguration,
    **limits: object,
) -> AsyncIterator[ScoringSession]:
    """A configured session that tallies while the test continues."""
    session = ScoringSession(load_settings(flags=limits), workers, with_live=True)
    await _configure(session, message)
    tallying = asyncio.create_task(session.keep_tallying())
    yield session
    await tallying


async def _both(session: ScoringSession, *numbers: int) -> None:
    for side in Side:
        await _receive(session, side, points(dict.fromkeys(numbers, HERE)), side.value)


async def _next(session: ScoringSession) -> Live:
    async for live in session.live:
        return live
    raise AssertionError("no more live reports")


def _expected(message: scoring_service_pb2.ScoreConfiguration, count: int) -> list[Report]:
    """The library's reports over frames 1 to `count` that both sides have."""
    scorer = StreamScorer(
        [create_evaluator(entry.name) for entry in message.specification.evaluators]
    )
    batch = points(dict.fromkeys(range(1, count + 1), HERE))
    for side in Side:
        scorer.add(side, read_batch(batch, side.value, BatchRules(2, Settings())))
    return scorer.live_reports()


async def test_a_run_goes_from_configuring_to_finished() -> None:
    session = ScoringSession(Settings(), PlayedWorkers(), with_live=True)
    states = [session.state]
    await _configure(session, configuration("moody"))
    states.append(session.state)
    await _both(session, 1)
    await session.finish()
    states.append(session.state)
    assert states == [State.CONFIGURING, State.RECEIVING, State.FINISHED]


async def test_data_before_the_configuration_fails_the_run() -> None:
    session = ScoringSession(Settings(), PlayedWorkers(), with_live=True)
    with pytest.raises(MessageOrderError, match="found truth, expected a configuration"):
        await _receive(session, Side.TRUTH, points({}), "truth")
    assert session.state is State.FAILED


async def test_a_second_configuration_fails_the_run() -> None:
    session = ScoringSession(Settings(), PlayedWorkers(), with_live=True)
    await _configure(session, configuration("moody"))
    with pytest.raises(MessageOrderError, match="found a second configuration"):
        await _configure(session, configuration("moody"))
    assert session.state is State.FAILED


async def test_a_live_report_equals_the_librarys_report_over_its_frames_for_each_evaluator() -> (
    None
):
    message = configuration("moody", "spotgeo", live=EVERY_FRAME)
    async with _receiving(PlayedWorkers(), message, minimum_live_interval_ms=10) as session:
        for number in range(1, 6):
            await _both(session, number)
            live = await _next(session)
            assert live.coverage == Coverage(number, 0, 0)
            assert live.reports == _expected(message, number)
        assert await session.finish() == _expected(message, 5)


@st.composite
def interleavings(draw: st.DrawFn) -> list[tuple[Side, dict[int, list[tuple[float, float]]]]]:
    """Frames of both sides in batches of any size and in any order."""
    place = st.tuples(st.integers(0, 30).map(float), st.integers(0, 30).map(float))
    messages = []
    for side in Side:
        frames = {number: draw(st.lists(place, max_size=3)) for number in range(1, 6)}
        order = draw(st.permutations(list(frames)))
        cuts = sorted(draw(st.sets(st.integers(1, 4))))
        bounds = zip([0, *cuts], [*cuts, len(order)], strict=True)
        messages += [(side, {number: frames[number] for number in order[a:b]}) for a, b in bounds]
    return draw(st.permutations(messages))


@pytest.mark.slow
@settings(max_examples=example_count(30))
@given(interleavings())
def test_any_division_and_order_of_a_stream_gives_the_report_of_the_whole(
    messages: list[tuple[Side, dict[int, list[tuple[float, float]]]]],
) -> None:
    async def streamed() -> list[Report]:
        message = configuration("spotgeo", "moody", live=EVERY_FRAME)
        async with _receiving(PlayedWorkers(), message, minimum_live_interval_ms=10) as session:
            for side, frames in messages:
                await _receive(session, side, points(frames), side.value)
                await asyncio.sleep(0)
            return await session.finish()

    whole = {
        wanted: read_batch(
            points(
                {k: v for side, frames in messages if side is wanted for k, v in frames.items()}
            ),
            wanted.value,
            BatchRules(2, Settings()),
        )
        for wanted in Side
    }
    evaluators = [create_evaluator("spotgeo"), create_evaluator("moody")]
    expected = score_annotations(evaluators, whole[Side.TRUTH], whole[Side.DETECTIONS])
    assert asyncio.run(streamed()) == expected


async def test_a_live_report_covers_the_frames_at_its_start_and_no_later_ones() -> None:
    workers = PlayedWorkers()
    message = configuration("moody", live=EVERY_FRAME)
    async with _receiving(workers, message, minimum_live_interval_ms=10) as session:
        workers.gate.clear()
        await _both(session, 1)
        await until(lambda: len(workers.jobs) == 1)
        await _both(session, 2, 3)
        workers.gate.set()
        first = await _next(session)
        assert (first.coverage.paired, first.reports) == (1, _expected(message, 1))
        second = await _next(session)
        assert (second.coverage.paired, second.reports) == (3, _expected(message, 3))
        await session.finish()


@pytest.mark.parametrize("whole_sequences", [False, True])
async def test_evaluators_of_whole_sequences_have_live_reports_too(whole_sequences: bool) -> None:
    message = configuration("moody", live=EVERY_FRAME, whole_sequences=whole_sequences)
    async with _receiving(PlayedWorkers(), message, minimum_live_interval_ms=10) as session:
        await _both(session, 1)
        assert (await _next(session)).reports[0].value("frames") == 1
        await _both(session, 2)
        assert (await _next(session)).reports[0].value("frames") == 2
        [final] = await session.finish()
        assert final.value("frames") == 2


async def test_single_frames_are_tallied_together() -> None:
    workers = PlayedWorkers()
    async with _receiving(workers, configuration("moody")) as session:
        for number in range(1, 501):
            await _both(session, number)
        [report] = await session.finish()
    assert report.value("frames") == 500
    assert len(workers.jobs) == 1


async def test_much_data_is_tallied_before_the_end_and_waits_for_slow_workers() -> None:
    """Few bytes are pending, however much a client sends and however slow workers are."""
    workers = PlayedWorkers()
    workers.gate.clear()
    async with _receiving(workers, configuration("moody")) as session:

        async def send_much() -> None:
            for number in range(1, 201):
                frame = points({number: [(1.0, 2.0)] * 1000})
                for side in Side:
                    await _receive(session, side, frame, side.value)

        sending = asyncio.create_task(send_much())
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.shield(sending), timeout=0.5)
        workers.gate.set()
        await sending
        [report] = await session.finish()
    assert report.value("objects") == 200_000
    held = [job.truth.held_bytes + job.detections.held_bytes for job in workers.jobs]
    assert max(held) < 3 * COMPACT_BYTES


async def test_truth_without_detections_counts_at_the_end() -> None:
    session = ScoringSession(Settings(), PlayedWorkers(), with_live=True)
    await _configure(session, configuration("moody"))
    await _receive(session, Side.TRUTH, points({1: HERE, 2: HERE}), "truth")
    await _receive(session, Side.DETECTIONS, points({2: HERE}), "detections")
    assert session.coverage == Coverage(1, 1, 0)
    [report] = await session.finish()
    assert report.value("objects") == 2
    assert report.value("detections") == 1


async def test_detections_of_an_unknown_sequence_fail_the_end() -> None:
    session = ScoringSession(Settings(), PlayedWorkers(), with_live=True)
    await _configure(session, configuration("moody"))
    await _receive(session, Side.DETECTIONS, points({1: HERE}, sequence="other"), "detections")
    with pytest.raises(InputError, match="found sequence other"):
        await session.finish()
    assert session.state is State.FAILED


@pytest.mark.parametrize(
    ("numbers", "paths"),
    [
        ((1, 2), ["truth[3].frame_numbers[0]", "truth[3].frame_numbers[1]"]),
        ((3, 666), ["truth[3].frame_numbers[1]"]),
        ((3, 99), ["truth[3]"]),
    ],
    ids=["sent before", "forbidden by an evaluator", "outside the specification"],
)
async def test_a_fault_of_frames_names_its_place_in_the_request(
    numbers: tuple[int, ...], paths: list[str]
) -> None:
    message = configuration("moody")
    message.specification.sequences.add(name="1", frame_count=50 if 99 in numbers else 1000)
    session = ScoringSession(Settings(), PlayedWorkers(), with_live=True)
    await _configure(session, message)
    await _receive(session, Side.TRUTH, points({1: [], 2: []}), "truth[0]")
    with pytest.raises(InputError) as caught:
        await _receive(session, Side.TRUTH, points(dict.fromkeys(numbers, ())), "truth[3]")
    assert [field_path(fault) for fault in caught.value.faults] == paths


async def test_a_violation_of_a_protocol_names_its_frame() -> None:
    session = ScoringSession(Settings(), PlayedWorkers(), with_live=True)
    await _configure(session, configuration("spotgeo"))
    outside, crowded = [(1.0, 1.0), (640.0, 1.0)], [(1.0, 1.0)] * 31
    with pytest.raises(InputError) as caught:
        await _receive(
            session, Side.DETECTIONS, points({1: HERE, 2: outside, 3: crowded}), "detections"
        )
    places = {field_path(fault): fault.found for fault in caught.value.faults}
    assert list(places) == ["detections.frame_numbers[1]", "detections.frame_object_counts[2]"]
    assert "x = 640.0" in places["detections.frame_numbers[1]"]


@pytest.mark.parametrize(("name", "taken"), [("neovision2", False), ("map", True)])
async def test_confidences_of_any_size_are_accepted_if_only_their_order_counts(
    name: str, taken: bool
) -> None:
    """Otherwise the frame of the first invalid one is named, with their number."""
    message = configuration(name)
    message.truth_geometry = message.detection_geometry = annotations_pb2.GEOMETRY_BOX
    session = ScoringSession(Settings(), PlayedWorkers(), with_live=True)
    await _configure(session, message)
    batch = points({1: [], 2: [(0.0, 0.0), (9.0, 9.0)], 3: [(0.0, 0.0), (9.0, 9.0)]})
    batch.geometry = annotations_pb2.GEOMETRY_BOX
    batch.frame_object_counts[:] = [0, 1, 1]
    batch.confidences.extend([7.25, -1e300])
    if taken:
        await _receive(session, Side.DETECTIONS, batch, "detections")
        return
    with pytest.raises(InputError) as caught:
        await _receive(session, Side.DETECTIONS, batch, "detections")
    [fault] = caught.value.faults
    assert field_path(fault) == "detections.frame_numbers[1]"
    assert fault.found == "the confidence 7.25 in frame 2 of sequence 1 (and 1 more like it)"


@pytest.mark.parametrize(
    ("limit", "maximum"),
    [("maximum_frames", 3), ("maximum_waiting_frames", 3), ("maximum_buffered_bytes", 1 << 20)],
)
async def test_a_run_over_a_limit_fails_with_the_limits_name(limit: str, maximum: int) -> None:
    session = ScoringSession(load_settings(flags={limit: maximum}), PlayedWorkers(), with_live=True)
    await _configure(session, configuration("moody"))

    async def send_much() -> None:
        for number in range(1, 1000):
            await _receive(session, Side.TRUTH, points({number: [(1.0, 2.0)] * 100}), "truth")

    with pytest.raises(LimitError) as caught:
        await send_much()
    assert (caught.value.limit, caught.value.maximum) == (limit, maximum)
    assert session.state is State.FAILED


@pytest.mark.slow
async def test_a_tally_over_its_limit_fails_the_run() -> None:
    settings = load_settings(flags={"maximum_tally_bytes": 1 << 20})
    session = ScoringSession(settings, PlayedWorkers(), with_live=True)
    await _configure(session, configuration("moody", rows=100_000))
    await _both(session, 1)
    with pytest.raises(ExceptionGroup) as caught:
        await session.finish()
    assert caught.group_contains(LimitError, match="maximum_tally_bytes is 1048576")


class SparingWorkers(PlayedWorkers):
    """Workers that count the jobs that leave one worker to others."""

    sparing = 0

    async def run_sparing(self, job: Job) -> bytes:
        self.sparing += 1
        return await super().run_sparing(job)


@pytest.mark.parametrize(("store", "sparing"), [("", 0), ("site.db", 1)])
async def test_streams_leave_a_worker_to_submissions_if_the_server_hosts_any(
    store: str, sparing: int
) -> None:
    workers = SparingWorkers()
    async with _receiving(workers, configuration("spotgeo"), store=store) as session:
        await _both(session, 1)
        await session.finish()
    assert (len(workers.jobs), workers.sparing) == (1, sparing)
