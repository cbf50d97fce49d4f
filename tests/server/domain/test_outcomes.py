"""Outcomes of scored submissions: what organisers and teams are shown, when, and what it costs."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.field_mask_pb2 import FieldMask
from tests.server.domain.hosted import BENCHMARK, Client, Hosted, dots, hosting, refusal

from vidscore_evaluators.errors import Fault, InputError
from vidscore_protos.v1 import (
    access_service_pb2,
    annotations_pb2,
    benchmark_pb2,
    benchmark_service_pb2,
    organiser_pb2,
    outcomes_pb2,
    specification_pb2,
    submission_service_pb2,
)
from vidscore_server.api import outcomes as api
from vidscore_server.domain import outcomes as domain

pytestmark = pytest.mark.usefixtures("tracer", "moody")

Things = Sequence[tuple[str, float, float]]
"""Label and place of each object of a frame."""


def frames(numbered: Mapping[int, Things], sequence: str = "1") -> annotations_pb2.AnnotationBatch:
    """Points with labels."""
    things = [thing for objects in numbered.values() for thing in objects]
    labels = list(dict.fromkeys(label for label, _, _ in things))
    return annotations_pb2.AnnotationBatch(
        sequences=[annotations_pb2.SequenceKey(sequence=sequence)],
        labels=labels,
        frame_sequences=[0] * len(numbered),
        frame_numbers=list(numbered),
        frame_object_counts=[len(objects) for objects in numbered.values()],
        geometry=annotations_pb2.GEOMETRY_POINT,
        coordinates=[number for _, x, y in things for number in (x, y)],
        label_indices=[labels.index(label) for label, _, _ in things],
    )


TRUTH = frames({1: [("car", 10, 20), ("car", 300, 200)], 2: [], 3: [("car", 50, 60)]})
DETECTIONS = frames(
    {
        1: [("car", 13, 24), ("car", 500, 400), ("car", 318, 200)],
        2: [("car", 1, 2)],
        3: [("bus", 50, 60)],
    }
)
"""5 px from the first object, nowhere, 18 px from the second; nowhere; where a car is."""


def made(evaluators: Sequence[str] = ("tracer",), **policy: object) -> benchmark_pb2.Benchmark:
    """A benchmark that shows a team its outcomes, unless it is said."""
    shown = {
        "visibility": benchmark_pb2.VISIBILITY_FINAL,
        "outcomes": benchmark_pb2.OUTCOMES_SHOWN_OWN,
    }
    message = dots(**{**shown, **policy})
    del message.specification.evaluators[:]
    for name in evaluators:
        message.specification.evaluators.add(name=name)
    return message


async def scored(hosted: Hosted, message: benchmark_pb2.Benchmark | None = None) -> None:
    """A benchmark with a scored submission of red's."""
    await hosted.organiser.create(message or made())
    await hosted.organiser.upload(TRUTH)
    await submit(hosted.red)


async def submit(client: Client, name: str = "one") -> None:
    await client.submit(DETECTIONS, name)
    await client.ended(name)


Row = tuple[object, ...]


def rows(responses: Sequence[submission_service_pb2.ReadOutcomesResponse]) -> list[Row]:
    """Side, sequence, frame, place, label and outcome of each row."""
    found: list[Row] = []
    for response in responses:
        batch = response.outcomes
        found += [
            (
                outcomes_pb2.OutcomeSide.Name(side).rpartition("_")[2],
                batch.sequences[sequence].sequence,
                frame,
                place,
                batch.labels[label],
                outcomes_pb2.Outcome.Name(outcome).removeprefix("OUTCOME_").lower(),
            )
            for side, sequence, frame, place, label, outcome in zip(
                batch.sides,
                batch.row_sequences,
                batch.frame_numbers,
                batch.places,
                batch.label_indices,
                batch.outcomes,
                strict=True,
            )
        ]
    return found


async def _until(holds: Callable[[], Awaitable[bool]]) -> None:
    """Wait until something holds."""
    async with asyncio.timeout(60):
        while not await holds():  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(0.01)


def _has_two_scores(client: Client) -> Callable[[], Awaitable[bool]]:
    async def holds() -> bool:
        return len(await client.scores()) == 2

    return holds


def _works(hosted: Hosted) -> Callable[[], Awaitable[bool]]:
    """Whether a worker gets another job."""
    before = len(hosted.workers.jobs)

    async def holds() -> bool:
        return len(hosted.workers.jobs) > before

    return holds


def _may_read(client: Client) -> Callable[[], Awaitable[bool]]:
    async def holds() -> bool:
        try:
            return rows(await client.outcomes()) == OWN
        except grpc.aio.AioRpcError:
            return False

    return holds


ALL: list[Row] = [
    ("TRUTH", "1", 1, 0, "car", "true_positive"),
    ("TRUTH", "1", 1, 1, "car", "false_negative"),
    ("DETECTIONS", "1", 1, 0, "car", "true_positive"),
    ("DETECTIONS", "1", 1, 1, "car", "background"),
    ("DETECTIONS", "1", 1, 2, "car", "mislocalised"),
    ("DETECTIONS", "1", 2, 0, "car", "background"),
    ("TRUTH", "1", 3, 0, "car", "false_negative"),
    ("DETECTIONS", "1", 3, 0, "bus", "misclassified"),
]
OWN: list[Row] = [
    ("DETECTIONS", "1", 1, 0, "car", "true_positive"),
    ("DETECTIONS", "1", 1, 1, "car", "false_positive"),
    ("DETECTIONS", "1", 1, 2, "car", "false_positive"),
    ("DETECTIONS", "1", 2, 0, "car", "false_positive"),
    ("DETECTIONS", "1", 3, 0, "bus", "false_positive"),
]


async def test_an_organiser_sees_every_column_of_both_sides(hosted: Hosted) -> None:
    await scored(hosted, made(outcomes=benchmark_pb2.OUTCOMES_SHOWN_NONE))
    [response] = await hosted.organiser.outcomes()
    assert rows([response]) == ALL
    assert response.next_offset == len(ALL)
    assert response.score == f"{BENCHMARK}/submissions/one/scores/1"
    batch = response.outcomes
    assert list(batch.partners) == [0, -1, 0, -1, 1, -1, -1, 0]
    assert batch.similarities[0] == batch.similarities[2] == 1 / 6  # 1 / (1 + 5 px)
    assert math.isnan(batch.similarities[1])
    assert batch.distances_px[4] == 18.0
    assert list(batch.shares) == [1 / 3, 0, 1 / 3, 0, 0, 0, 0, 0]
    assert list(batch.id_switches) == [True, False, True, False, False, False, False, False]
    assert [math.isnan(value) for value in batch.confidences] == [
        side == "TRUTH" for side, *_ in ALL
    ]
    further = {column.name: column for column in batch.columns}
    assert list(further["nearest_px"].numbers[2:5]) == [
        5.0,
        500 * math.sqrt(0.0) + 282.842712474619,
        18.0,
    ]
    assert list(further["objects"].integers) == [1, 1, 3, 3, 3, 3, 1, 3]
    assert list(further["last_label"].strings) == ["car"] * 8


async def test_a_team_sees_whether_its_own_detections_are_right_and_nothing_else(
    hosted: Hosted,
) -> None:
    await scored(hosted)
    [response] = await hosted.red.outcomes()
    assert rows([response]) == OWN
    shown = {field.name for field, _ in response.outcomes.ListFields()}
    assert shown == {
        "sequences",
        "labels",
        "sides",
        "row_sequences",
        "frame_numbers",
        "places",
        "label_indices",
        "confidences",
        "outcomes",
    }
    assert sorted(response.outcomes.labels) == ["bus", "car"]


async def test_where_the_policy_says_nothing_a_team_sees_no_outcomes(hosted: Hosted) -> None:
    await scored(hosted, made(outcomes=benchmark_pb2.OUTCOMES_SHOWN_UNSPECIFIED))
    found = await refusal(hosted.red.outcomes())
    assert (found.code, found.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "NOT_RELEASED")
    # Neither whether it is scored nor whether there is such an evaluator changes the answer.
    await hosted.red.begin(DETECTIONS, "two")
    for call in (hosted.red.outcomes("two"), hosted.red.outcomes(evaluator="none")):
        assert (await refusal(call)).message == found.message
    assert found.metadata.keys() == {"call_id"}


async def test_outcomes_of_another_team_are_not_found(hosted: Hosted) -> None:
    await scored(hosted)
    found = await refusal(hosted.blue.outcomes())
    assert (found.code, found.message) == (
        grpc.StatusCode.NOT_FOUND,
        f"{BENCHMARK}/submissions/one does not exist",
    )


async def test_what_is_not_scored_yet_has_no_outcomes(hosted: Hosted) -> None:
    await hosted.organiser.create(made())
    await hosted.organiser.upload(TRUTH)
    await hosted.red.begin(DETECTIONS)
    for client in (hosted.red, hosted.organiser):
        found = await refusal(client.outcomes())
        assert (found.code, found.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "NOT_SCORED")


async def test_a_score_that_the_board_does_not_show_yet_shows_a_team_no_outcomes(
    hosted: Hosted,
) -> None:
    """The rules change, and an organiser has yet to publish the scores that are made by them."""
    await scored(hosted, made(rescore=benchmark_pb2.RESCORE_REVIEW))
    changed = made(rescore=benchmark_pb2.RESCORE_REVIEW)
    changed.name = BENCHMARK
    changed.specification.evaluators[0].parameters.append(
        specification_pb2.Parameter(name="reach_px", number=20.0)
    )
    mask = FieldMask(paths=["specification"])
    request = organiser_pb2.UpdateBenchmarkRequest(benchmark=changed, update_mask=mask)
    await hosted.organiser.benchmarks.UpdateBenchmark(request, metadata=hosted.organiser.metadata)
    await _until(_has_two_scores(hosted.organiser))
    [response] = await hosted.organiser.outcomes()
    assert rows([response])[4][-1] == "true_positive"  # 18 px are within reach now
    assert (await refusal(hosted.red.outcomes())).reason == "NOT_SCORED"
    publish = organiser_pb2.PublishLeaderboardRequest(benchmark=BENCHMARK)
    organiser = hosted.organiser
    await organiser.benchmarks.PublishLeaderboard(publish, metadata=organiser.metadata)
    [response] = await hosted.red.outcomes()
    assert rows([response])[2][-1] == "true_positive"
    assert response.score.endswith("/scores/2")


async def test_an_evaluator_must_be_of_the_benchmark_and_have_outcomes(hosted: Hosted) -> None:
    await scored(hosted, made(["moody", "tracer"]))
    for client in (hosted.organiser, hosted.red):
        found = await refusal(client.outcomes(evaluator="map"))
        assert list(found.violations) == ["evaluator"]
        assert "moody or tracer" in found.message
        found = await refusal(client.outcomes())
        assert (found.code, found.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "NO_OUTCOMES")
        assert found.message == "moody cannot tell outcomes; tracer of the benchmark can"
    assert rows(await hosted.organiser.outcomes(evaluator="tracer")) == ALL


async def test_an_organiser_looks_where_it_likes_and_a_participant_where_the_evaluator_does(
    hosted: Hosted,
) -> None:
    await scored(hosted)
    [response] = await hosted.organiser.outcomes(threshold=1 / 19)
    assert rows([response])[4][-1] == "true_positive"  # 18 px
    [response] = await hosted.organiser.outcomes(confidence=2.0)
    assert {row[-1] for row in rows([response]) if row[0] == "DETECTIONS"} == {"ignored"}
    for field in ("threshold", "confidence"):
        asked: dict[str, Any] = {field: 0.5}
        found = await refusal(hosted.red.outcomes(**asked))
        assert found.code is grpc.StatusCode.PERMISSION_DENIED
        assert found.metadata["field"] == field
    for wrong in (2.0, math.nan, math.inf):
        found = await refusal(hosted.organiser.outcomes(threshold=wrong))
        assert found.code is grpc.StatusCode.INVALID_ARGUMENT
        assert "threshold" in found.violations
    found = await refusal(hosted.organiser.outcomes(offset=-1))
    assert found.violations == {"offset": "found -1, expected 0 or more"}


# --- batches ---------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 3, 100])
async def test_rows_come_in_batches_and_reading_goes_on_after_any_row(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(domain, "ROWS_PER_BATCH", size)
    monkeypatch.setattr(domain, "OBJECTS_PER_PART", 2)
    await hosted.organiser.create(made())
    more = [frames({1: [("car", 1.0 * row, 2.0)], 2: []}, f"{row}") for row in range(5, 9)]
    await hosted.organiser.upload(TRUTH, *more)
    stream = await hosted.red.begin(DETECTIONS)
    await hosted.red.append(stream, 3, frames({1: [("car", 7.0, 2.0)]}, "7"))
    await hosted.red.seal()
    await hosted.red.ended()
    for client, count in ((hosted.organiser, 13), (hosted.red, 6)):
        responses = await client.outcomes()
        whole = rows(responses)
        assert len(whole) == count
        assert all(len(response.outcomes.outcomes) <= size for response in responses)
        ends = [response.next_offset for response in responses]
        assert ends == sorted(ends)
        for offset in range(count + 1):
            assert rows(await client.outcomes(offset=offset)) == whole[offset:]


@pytest.mark.parametrize("whole_sequences", [True, False])
async def test_a_submission_that_is_read_in_parts_has_the_same_rows(
    tmp_path: Path, whole_sequences: bool
) -> None:
    found = []
    for bytes_at_once in (1_000, 1_000_000):
        folder = tmp_path / f"{bytes_at_once}"
        folder.mkdir()
        async with hosting(folder, maximum_scoring_bytes=bytes_at_once) as hosted:
            message = made()
            message.specification.evaluators[0].parameters.append(
                specification_pb2.Parameter(name="whole_sequences", boolean=whole_sequences)
            )
            await hosted.organiser.create(message)
            lonely = frames({1: [("car", 1.0, 2.0)]}, "9")
            await hosted.organiser.upload(TRUTH, frames({1: []}, "2"), lonely)
            many = frames({4 + row: [("car", 1.0 * row, 2.0)] for row in range(50)})
            stream = await hosted.red.begin(DETECTIONS)
            await hosted.red.append(stream, 3, many)
            await hosted.red.append(stream, 53, frames({1: [("car", 7.0, 2.0)]}, "2"))
            await hosted.red.seal()
            await hosted.red.ended()
            everything = rows(await hosted.organiser.outcomes())
            own = rows(await hosted.red.outcomes())
            assert everything[:8] == ALL
            assert ("TRUTH", "9", 1, 0, "car", "false_negative") in everything
            assert sorted(own) == sorted(
                (*row[:-1], row[-1] if row[-1] == "true_positive" else "false_positive")
                for row in everything
                if row[0] == "DETECTIONS"
            )
            found.append((sorted(everything), own))
    assert found[0] == found[1]


async def test_the_sizes_of_batches_tell_a_team_nothing_of_the_truth(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parts follow from both sides; what a team gets is cut by its own rows alone."""
    monkeypatch.setattr(domain, "ROWS_PER_BATCH", 2)
    monkeypatch.setattr(domain, "OBJECTS_PER_PART", 1)
    await scored(hosted)
    sizes = [len(response.outcomes.outcomes) for response in await hosted.red.outcomes()]
    assert sizes == [2, 2, 1]


async def test_a_message_stays_small_whatever_the_names(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api, "MAXIMUM_BYTES", 150)
    await scored(hosted)
    responses = await hosted.organiser.outcomes()
    assert len(responses) > 2
    assert rows(responses) == ALL
    assert all(
        response.outcomes.ByteSize() <= 150 or len(response.outcomes.outcomes) == 1
        for response in responses
    )


async def test_a_submission_without_detections_has_one_empty_answer(hosted: Hosted) -> None:
    await hosted.organiser.create(made())
    await hosted.organiser.upload(TRUTH)
    await hosted.red.submit(frames({1: []}))
    await hosted.red.ended()
    [response] = await hosted.red.outcomes()
    assert rows([response]) == []
    assert response.next_offset == 0


# --- what it costs -----------------------------------------------------------------------------


async def _left(client: Client) -> int:
    request = benchmark_service_pb2.GetBenchmarkRequest(name=BENCHMARK)
    answer = await client.benchmarks.GetBenchmark(request, metadata=client.metadata)
    [left] = [quota.left for quota in answer.quotas if quota.name == "submissions_in_all"]
    return left


async def test_the_first_look_at_a_score_counts_as_one_more_submission(hosted: Hosted) -> None:
    await scored(hosted, made(submissions_in_all=4))
    assert await _left(hosted.red) == 3
    for _ in range(3):  # it tells nothing more the second time, nor from its middle
        await hosted.red.outcomes()
        await hosted.red.outcomes(offset=3)
        assert await _left(hosted.red) == 2
    await submit(hosted.red, "two")
    await hosted.red.outcomes("two")
    assert await _left(hosted.red) == 0
    await hosted.organiser.outcomes("one")  # organisers' looks cost nobody anything
    request = access_service_pb2.ListAuditRecordsRequest(action="ReadOutcomes")
    organiser = hosted.organiser
    found = await organiser.access.ListAuditRecords(request, metadata=organiser.metadata)
    assert [(record.resource, record.detail) for record in found.records] == [
        (f"{BENCHMARK}/submissions/{name}/scores/1", "tracer") for name in ("two", "one")
    ]


async def test_a_team_without_a_submission_left_is_shown_no_outcomes(hosted: Hosted) -> None:
    await scored(hosted, made(submissions_in_all=1))
    found = await refusal(hosted.red.outcomes())
    assert (found.code, found.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "QUOTA_EXCEEDED")
    assert found.metadata["quota"] == "submissions_in_all"
    assert rows(await hosted.organiser.outcomes()) == ALL


async def test_a_repeated_score_has_the_same_outcomes_which_cost_nothing_again(
    hosted: Hosted,
) -> None:
    await scored(hosted, made(submissions_in_all=2))
    first = await hosted.red.outcomes()
    request = organiser_pb2.RescoreSubmissionsRequest(benchmark=BENCHMARK)
    organiser = hosted.organiser
    await organiser.benchmarks.RescoreSubmissions(request, metadata=organiser.metadata)
    await _until(_has_two_scores(organiser))
    again = await hosted.red.outcomes()
    assert rows(again) == rows(first)
    assert await _left(hosted.red) == 0


# --- policies ----------------------------------------------------------------------------------


async def test_a_policy_shows_no_outcomes_where_the_ladder_releases_scores(hosted: Hosted) -> None:
    message = made(visibility=benchmark_pb2.VISIBILITY_LADDER)
    found = await refusal(hosted.organiser.create(message))
    assert list(found.violations) == ["benchmark.policy.outcomes"]
    assert "ladder" in found.message


@pytest.mark.parametrize("public", [(), ("sequences",), ("labels",)])
async def test_a_policy_shows_no_outcomes_where_names_are_hidden(
    hosted: Hosted, public: tuple[str, ...]
) -> None:
    """A detection that is ignored would tell that there is no such sequence."""
    found = await refusal(hosted.organiser.create(made(), public=public))
    assert list(found.violations) == ["benchmark.public_names"]
    assert "outcomes = 'own'" in found.message


async def test_an_organiser_is_warned_that_outcomes_locate_objects(hosted: Hosted) -> None:
    created = await hosted.organiser.create(made())
    assert any("locates objects" in text for text in created.warnings)
    assert created.policy.outcomes == benchmark_pb2.OUTCOMES_SHOWN_OWN


# --- places --------------------------------------------------------------------------------------


async def test_a_team_reads_over_one_call_at_a_time(hosted: Hosted) -> None:
    await scored(hosted)
    hosted.workers.gate.clear()
    at_work = _works(hosted)
    waiting = asyncio.create_task(hosted.red.outcomes())
    await _until(at_work)
    found = await refusal(hosted.red.outcomes())
    assert (found.code, found.metadata["limit"]) == (
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        "maximum_outcome_calls",
    )
    waiting.cancel()
    hosted.workers.gate.set()
    await _until(_may_read(hosted.red))


async def test_an_error_of_the_evaluator_quotes_nothing_of_the_data(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch
) -> None:
    await scored(hosted)

    async def fail(*_: object) -> None:
        raise InputError([Fault("truth at 123.456", "elsewhere")])

    monkeypatch.setattr(hosted.workers, "outcomes", fail)
    for client in (hosted.red, hosted.organiser):
        found = await refusal(client.outcomes())
        assert found.reason == "INTERNAL"
        assert "123.456" not in found.message
