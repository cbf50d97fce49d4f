"""Outcomes of scored submissions: what organisers and teams see, when, and what it costs."""

from __future__ import annotations

import asyncio
import io
import math
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import grpc
import pytest
from tests.server.domain.hosted import BENCHMARK, Client, Hosted, refusal
from tests.server.domain.test_backups import dumped, export
from tests.server.domain.test_backups import made as made_backup
from tests.server.domain.traced import ALL, DETECTIONS, OWN, TRUTH, made, rows, scored, submit
from tests.support.waiting import PAUSE_S, TIMEOUT_S, until

from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.jobs import Job, run_outcome_job
from vidscore_evaluators.outcome_table import OperatingPoint, Outcomes
from vidscore_protos.v1 import (
    access_service_pb2,
    benchmark_pb2,
    organiser_pb2,
    specification_pb2,
)
from vidscore_server.domain.access import Caller
from vidscore_server.domain.administration import restore
from vidscore_server.domain.outcomes import SubmissionOutcomes
from vidscore_server.errors import NoPlaceError
from vidscore_server.store.backup_file import read_rows
from vidscore_server.store.records import Role

pytestmark = pytest.mark.usefixtures("tracer", "moody")


async def _until(holds: Callable[[], Awaitable[bool]]) -> None:
    """Wait until the server reports that a condition holds."""
    async with asyncio.timeout(TIMEOUT_S):
        while not await holds():  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(PAUSE_S)


def _has_two_scores(client: Client) -> Callable[[], Awaitable[bool]]:
    async def holds() -> bool:
        return len(await client.scores()) == 2

    return holds


def _may_read(client: Client) -> Callable[[], Awaitable[bool]]:
    async def holds() -> bool:
        try:
            return rows(await client.outcomes()) == OWN
        except grpc.aio.AioRpcError:
            return False

    return holds


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


async def test_a_team_sees_only_whether_its_own_detections_are_right(hosted: Hosted) -> None:
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


async def test_a_team_sees_no_outcomes_by_default(hosted: Hosted) -> None:
    await scored(hosted, made(outcomes=benchmark_pb2.OUTCOMES_SHOWN_UNSPECIFIED))
    found = await refusal(hosted.red.outcomes())
    assert (found.code, found.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "NOT_RELEASED")
    # The answer does not depend on whether it is scored, or whether such an evaluator exists.
    await hosted.red.begin(DETECTIONS, "two")
    for call in (hosted.red.outcomes("two"), hosted.red.outcomes(evaluator="none")):
        assert (await refusal(call)).message == found.message
    assert found.metadata.keys() == {"call_id"}


@pytest.mark.slow
async def test_outcomes_of_another_team_are_not_found(hosted: Hosted) -> None:
    await scored(hosted)
    found = await refusal(hosted.blue.outcomes())
    assert (found.code, found.message) == (
        grpc.StatusCode.NOT_FOUND,
        f"{BENCHMARK}/submissions/one does not exist",
    )


async def test_whether_a_submission_of_another_team_is_scored_is_not_shown(hosted: Hosted) -> None:
    await hosted.organiser.create(made())
    await hosted.blue.begin(DETECTIONS, "open")
    for name in ("open", "none"):
        assert (await refusal(hosted.red.outcomes(name))).code is grpc.StatusCode.NOT_FOUND


async def test_an_unscored_submission_has_no_outcomes(hosted: Hosted) -> None:
    await hosted.organiser.create(made())
    await hosted.organiser.upload(TRUTH)
    await hosted.red.begin(DETECTIONS)
    for client in (hosted.red, hosted.organiser):
        found = await refusal(client.outcomes())
        assert (found.code, found.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "NOT_SCORED")


async def test_a_score_that_the_board_does_not_show_yet_shows_a_team_no_outcomes(
    hosted: Hosted,
) -> None:
    """The evaluators change, and an organiser has not yet published the new scores."""
    await scored(hosted, made(rescore=benchmark_pb2.RESCORE_REVIEW))
    changed = made(rescore=benchmark_pb2.RESCORE_REVIEW)
    changed.specification.evaluators[0].parameters.append(
        specification_pb2.Parameter(name="reach_px", number=20.0)
    )
    await hosted.organiser.update(changed, "specification")
    await _until(_has_two_scores(hosted.organiser))
    [response] = await hosted.organiser.outcomes()
    assert rows([response])[4][-1] == "true_positive"  # 18 px are within the new threshold.
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
        assert found.message == "moody has no outcomes; tracer of the benchmark can"
    assert rows(await hosted.organiser.outcomes(evaluator="tracer")) == ALL


async def test_only_organisers_choose_threshold_and_confidence_of_outcomes(hosted: Hosted) -> None:
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
        job = hosted.workers.jobs[-1]  # An evaluator may never return.
        assert (job.evaluator, job.truth.frame_count) == ("tracer", 0)
    found = await refusal(hosted.organiser.outcomes(offset=-1))
    assert found.violations == {"offset": "found -1, expected 0 or more"}


# --- what it costs -----------------------------------------------------------------------------


async def _left(client: Client) -> int:
    quotas = (await client.benchmark()).quotas
    [left] = [quota.left for quota in quotas if quota.name == "submissions_in_all"]
    return left


async def test_the_first_look_at_a_score_counts_as_one_more_submission(hosted: Hosted) -> None:
    await scored(hosted, made(submissions_in_all=4))
    assert await _left(hosted.red) == 3
    for _ in range(3):  # A second look shows nothing new, and neither does one from the middle.
        await hosted.red.outcomes()
        await hosted.red.outcomes(offset=3)
        assert await _left(hosted.red) == 2
    await submit(hosted.red, "two")
    await hosted.red.outcomes("two")
    assert await _left(hosted.red) == 0
    await hosted.organiser.outcomes("one")  # Looks of organisers are free.
    request = access_service_pb2.ListAuditRecordsRequest(action="ReadOutcomes")
    organiser = hosted.organiser
    found = await organiser.access.ListAuditRecords(request, metadata=organiser.metadata)
    assert [(record.resource, record.detail) for record in found.records] == [
        (f"{BENCHMARK}/submissions/{name}/scores/1", "tracer") for name in ("two", "one")
    ]


async def test_a_team_without_submissions_left_is_shown_no_outcomes(hosted: Hosted) -> None:
    await scored(hosted, made(submissions_in_all=1))
    found = await refusal(hosted.red.outcomes())
    assert (found.code, found.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "QUOTA_EXCEEDED")
    assert found.metadata["quota"] == "submissions_in_all"
    assert rows(await hosted.organiser.outcomes()) == ALL


async def test_an_identical_rescoring_has_the_same_outcomes_at_no_further_cost(
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


async def test_outcomes_under_another_truth_count_as_one_more_submission(hosted: Hosted) -> None:
    await scored(hosted, made(submissions_in_all=3))
    await hosted.red.outcomes()
    await hosted.organiser.upload(TRUTH)
    await _until(_has_two_scores(hosted.red))
    assert await _left(hosted.red) == 1
    await hosted.red.outcomes()
    assert await _left(hosted.red) == 0


async def test_outcomes_are_shown_even_if_the_daily_quota_is_used_up(hosted: Hosted) -> None:
    await scored(hosted, made(submissions_per_day=1))
    assert rows(await hosted.red.outcomes()) == OWN


# --- policies ----------------------------------------------------------------------------------


async def test_outcomes_are_never_shown_under_the_ladder(hosted: Hosted) -> None:
    message = made(visibility=benchmark_pb2.VISIBILITY_LADDER)
    found = await refusal(hosted.organiser.create(message))
    assert list(found.violations) == ["benchmark.policy.outcomes"]
    assert "ladder" in found.message


@pytest.mark.parametrize("public", [(), ("sequences",), ("labels",)])
async def test_outcomes_are_never_shown_if_names_are_hidden(
    hosted: Hosted, public: tuple[str, ...]
) -> None:
    """An ignored detection would show that there is no such sequence."""
    found = await refusal(hosted.organiser.create(made(), public=public))
    assert list(found.violations) == ["benchmark.public_names"]
    assert "outcomes = 'own'" in found.message


async def test_an_organiser_is_warned_that_outcomes_locate_objects(hosted: Hosted) -> None:
    created = await hosted.organiser.create(made())
    assert any("locates objects" in text for text in created.warnings)
    assert created.policy.outcomes == benchmark_pb2.OUTCOMES_SHOWN_OWN


# --- places --------------------------------------------------------------------------------------


async def test_a_team_has_one_open_call_for_outcomes_at_a_time(hosted: Hosted) -> None:
    await scored(hosted)
    hosted.workers.gate.clear()
    before = len(hosted.workers.jobs)
    waiting = asyncio.create_task(hosted.red.outcomes())
    await until(lambda: len(hosted.workers.jobs) > before)
    found = await refusal(hosted.red.outcomes())
    assert (found.code, found.metadata["limit"]) == (
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        "maximum_outcome_calls",
    )
    waiting.cancel()
    hosted.workers.gate.set()
    await _until(_may_read(hosted.red))


def test_the_places_limit_the_teams_that_read_at_once_and_organisers_have_their_own() -> None:
    settings = SimpleNamespace(maximum_outcome_calls=2)
    outcomes = SubmissionOutcomes(Mock(settings=settings), Mock(), Mock(), Mock())
    organiser = Caller(role=Role.ORGANISER)
    red, blue, green = (Caller(role=Role.PARTICIPANT, team=team) for team in ("r", "b", "g"))
    with ExitStack() as held:
        for caller in (organiser, red, organiser, blue):
            held.enter_context(outcomes.place(caller))
        with pytest.raises(NoPlaceError, match="read by 2 teams"), outcomes.place(green):
            pass
    with outcomes.place(green), outcomes.place(red):
        pass


async def test_an_error_of_the_evaluator_quotes_no_data(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch
) -> None:
    await scored(hosted)

    async def fail(job: Job, at: OperatingPoint) -> Outcomes:
        if not job.truth.frame_count:
            return run_outcome_job(job, at)
        raise InputError([Fault("truth at 123.456", "elsewhere")])

    monkeypatch.setattr(hosted.workers, "outcomes", fail)
    for client in (hosted.red, hosted.organiser):
        found = await refusal(client.outcomes())
        assert found.reason == "INTERNAL"
        assert "123.456" not in found.message


# --- backups -----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("schema", ["0006", "0007", "0008", "0009"])
async def test_a_backup_records_what_was_shown_and_an_older_one_that_nothing_was(
    hosted: Hosted, tmp_path: Path, schema: str
) -> None:
    await scored(hosted)
    await hosted.red.outcomes()
    parts = {f"{part}_{what}" for part in ("public", "private") for what in ("values", "report")}
    added = {
        "0007": {"arrival_time"},
        "0008": {"outcomes_shown"},
        "0009": {*parts, "estimate", "released_step", "chosen"},
    }
    later = {name for revision, names in added.items() if revision > schema for name in names}
    kept = [
        (table, {name: value for name, value in row.items() if name not in later})
        for table, row in read_rows(io.BytesIO(await export(hosted.organiser, BENCHMARK)))
    ]
    file, location = made_backup(tmp_path, kept, schema=schema)
    restore(file, str(location))
    [score] = [row for table, row in dumped(location) if table == "scores"]
    assert bool(score["outcomes_shown"]) == (schema >= "0008")
