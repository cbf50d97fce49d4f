"""Boards and re-scoring over a channel."""

from __future__ import annotations

import asyncio
from pathlib import Path

import grpc
import pytest
from google.longrunning import operations_pb2
from google.protobuf.duration_pb2 import Duration
from tests.server.domain.hosted import BENCHMARK, Client, Hosted, hosting, refusal, values
from tests.server.scene import points
from tests.support.waiting import until

from vidscore_protos.v1 import (
    access_service_pb2,
    benchmark_pb2,
    organiser_pb2,
    specification_pb2,
    submission_service_pb2,
)
from vidscore_server.api import requests
from vidscore_server.errors import WorkerLostError

FINAL = benchmark_pb2.VISIBILITY_FINAL

# Three frames with an object each; a system that finds k of them has F1 = 2k / (k + 3).
HIT = [(10.0, 20.0)]
TRUTH = points({1: HIT, 2: HIT, 3: HIT, 4: [], 5: []})
CORRECTED = points({1: HIT, 2: [], 3: [], 4: [], 5: []})


def found(*numbers: int) -> object:
    return points({number: HIT if number in numbers else [] for number in range(1, 6)})


async def _submit(client: Client, name: str, *numbers: int) -> None:
    await client.submit(found(*numbers), name)  # type: ignore[arg-type]
    await client.ended(name)


async def _rows(client: Client, **asked: object) -> list[tuple[int, str, float]]:
    return [
        (row.rank, row.team, round(row.scores[0].value, 9))
        for row in (await client.board(**asked)).rows
    ]


async def _rescore(client: Client, *names: str, request_id: str = "", comment: str = "") -> str:
    request = organiser_pb2.RescoreSubmissionsRequest(
        benchmark=BENCHMARK,
        submissions=[f"{BENCHMARK}/submissions/{name}" for name in names],
        request_id=request_id,
        comment=comment,
    )
    began = await client.benchmarks.RescoreSubmissions(request, metadata=client.metadata)
    return str(began.operation)


async def _waited(client: Client, name: str) -> operations_pb2.Operation:
    request = operations_pb2.WaitOperationRequest(name=name, timeout=Duration(seconds=30))
    operation: operations_pb2.Operation = await client.operations.WaitOperation(
        request, metadata=client.metadata
    )
    return operation


def _changes(operation: operations_pb2.Operation) -> list[organiser_pb2.ScoreDifference]:
    response = organiser_pb2.RescoreResponse()
    assert operation.response.Unpack(response)
    return list(response.differences)


async def _audited(client: Client, action: str) -> list[tuple[str, str]]:
    """Resources and details of an action's audit records, newest first."""
    request = access_service_pb2.ListAuditRecordsRequest(action=action)
    answer = await client.access.ListAuditRecords(request, metadata=client.metadata)
    return [(record.resource, record.detail) for record in answer.records]


@pytest.mark.slow
async def test_the_evaluators_order_ranks_and_equal_teams_share_a_rank(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark(visibility=FINAL)
    await hosted.organiser.upload(TRUTH)
    await _submit(hosted.red, "r1", 1)
    await _submit(hosted.red, "r2", 1, 2)
    hosted.clock.pass_by(seconds=1)
    await _submit(hosted.blue, "b1", 2, 3)
    await _submit(hosted.organiser, "o1", 1, 2, 3)
    expected = [(1, "organiser", 1.0), (2, "red", 0.8), (2, "blue", 0.8)]
    for client in (hosted.viewer, hosted.red, hosted.organiser):
        assert await _rows(client) == expected
    board = await hosted.red.board()
    assert list(board.ranking) == ["f1", "mse"]
    submissions = {row.team: row.submission for row in board.rows}
    assert submissions == {"organiser": "", "red": f"{BENCHMARK}/submissions/r2", "blue": ""}


async def test_the_submission_sealed_first_ranks_first_if_the_policy_says_so(
    hosted: Hosted,
) -> None:
    """Red had begun before blue did."""
    await hosted.organiser.create_benchmark(visibility=FINAL, earlier_first=True)
    await hosted.organiser.upload(TRUTH)
    await hosted.red.begin(found(1), "r1")  # type: ignore[arg-type]
    hosted.clock.pass_by(seconds=1)
    await _submit(hosted.blue, "b1", 1)
    hosted.clock.pass_by(seconds=1)
    await hosted.red.seal("r1")
    await hosted.red.ended("r1")
    assert await _rows(hosted.viewer) == [(1, "blue", 0.5), (2, "red", 0.5)]


async def test_the_released_board_moves_by_steps_and_the_organiser_sees_the_scores(
    hosted: Hosted,
) -> None:
    await hosted.organiser.create_benchmark(ladder_step=0.1)
    await hosted.organiser.upload(TRUTH)
    await _submit(hosted.red, "r1", 1, 2)
    await _submit(hosted.red, "r2", 1)
    assert await _rows(hosted.viewer) == [(1, "red", 0.8)]
    await _submit(hosted.red, "r3", 1, 2, 3)
    assert await _rows(hosted.viewer) == [(1, "red", 1.0)]
    assert values((await hosted.organiser.scores("r2"))[0].report)["f1"] == 0.5
    released = [values((await hosted.red.scores(name))[0].report)["f1"] for name in ("r1", "r2")]
    assert released == [0.8, 0.8]


async def test_only_organisers_see_a_board_that_is_not_public(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark(public_board=False)
    await hosted.organiser.board()
    for client in (hosted.red, hosted.viewer):
        refused = await refusal(client.board())
        assert (refused.code, refused.reason) == (
            grpc.StatusCode.FAILED_PRECONDITION,
            "NOT_RELEASED",
        )


async def test_a_board_is_paged(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark(visibility=FINAL)
    await hosted.organiser.upload(TRUTH)
    await _submit(hosted.red, "r1", 1)
    await _submit(hosted.blue, "b1", 1, 2)
    first = await hosted.viewer.board(page_size=1)
    second = await hosted.viewer.board(page_size=1, page_token=first.next_page_token)
    assert [row.team for row in (*first.rows, *second.rows)] == ["blue", "red"]
    assert second.next_page_token == ""


async def test_a_page_of_a_board_is_large_because_each_page_takes_a_look_at_all_of_it(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "DEFAULT_PAGE_SIZE", 1)
    await hosted.organiser.create_benchmark(visibility=FINAL)
    await hosted.organiser.upload(TRUTH)
    await _submit(hosted.red, "r1", 1)
    await _submit(hosted.blue, "b1", 1, 2)
    assert [row.team for row in (await hosted.viewer.board()).rows] == ["blue", "red"]


async def test_a_rescoring_reports_what_it_changed_and_keeps_the_old_scores(hosted: Hosted) -> None:
    review = benchmark_pb2.RESCORE_REVIEW
    await hosted.organiser.create_benchmark(ladder_step=0.1, rescore=review)
    await hosted.organiser.upload(TRUTH)
    await _submit(hosted.red, "r1", 1, 2, 3)
    await _submit(hosted.blue, "b1", 1)
    assert [row[1] for row in await _rows(hosted.viewer)] == ["red", "blue"]
    await hosted.organiser.upload(CORRECTED)
    assert [row[1] for row in await _rows(hosted.viewer)] == ["red", "blue"]
    operation = await _waited(hosted.organiser, await _rescore(hosted.organiser))
    assert operation.done
    metadata = organiser_pb2.RescoreMetadata()
    assert operation.metadata.Unpack(metadata)
    assert (metadata.submissions_done, metadata.submissions_in_all) == (2, 2)
    assert await _rows(hosted.viewer) == [(1, "red", 1.0), (2, "blue", 0.5)]
    await hosted.organiser.benchmarks.PublishLeaderboard(
        organiser_pb2.PublishLeaderboardRequest(benchmark=BENCHMARK),
        metadata=hosted.organiser.metadata,
    )
    assert await _rows(hosted.viewer) == [(1, "blue", 1.0), (2, "red", 0.5)]
    f1 = {
        change.submission.rpartition("/")[2]: (
            change.before,
            change.after,
            change.rank_before,
            change.rank_after,
        )
        for change in _changes(operation)
        if change.measure == "f1"
    }
    assert f1 == {"r1": (1.0, 0.5, 1, 2), "b1": (0.5, 1.0, 2, 1)}
    newer, *_, older = await hosted.organiser.scores("r1")
    assert [score.current for score in (newer, older)] == [True, False]
    assert [score.truth_revision for score in (newer, older)] == [2, 1]
    assert [values(score.report)["f1"] for score in (newer, older)] == [0.5, 1.0]


async def test_a_rescoring_computes_the_scores_of_a_new_evaluator(hosted: Hosted) -> None:
    created = await hosted.organiser.create_benchmark(visibility=FINAL)
    await hosted.organiser.upload(TRUTH)
    await _submit(hosted.red, "r1", 1)
    spotgeo = created.specification.evaluators[0]
    spotgeo.parameters.append(specification_pb2.Parameter(name="tau", number=5.0))
    [before] = await hosted.organiser.scores("r1")
    await hosted.organiser.update(created, "specification")
    await _waited(hosted.organiser, await _rescore(hosted.organiser, "r1"))
    after, *_ = await hosted.organiser.scores("r1")
    parameters = {entry.name: entry.number for entry in after.report.parameters}
    assert parameters["tau"] == 5.0
    assert values(after.report)["mse"] == values(before.report)["mse"] / 4


@pytest.mark.slow
async def test_the_same_request_creates_one_operation(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark()
    await hosted.organiser.upload(TRUTH)
    await _submit(hosted.red, "r1", 1)
    first = await _rescore(hosted.organiser, request_id="x")
    assert await _rescore(hosted.organiser, request_id="x") == first
    await _waited(hosted.organiser, first)
    assert len(await hosted.organiser.scores("r1")) == 2


async def test_a_submission_without_a_score_is_not_rescored(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark()
    await hosted.organiser.upload(TRUTH)
    await hosted.red.submission("open")
    refused = await refusal(_rescore(hosted.organiser, "open"))
    assert "submissions[0]" in refused.violations


async def test_the_start_and_the_end_of_a_rescoring_are_audited_with_its_reason(
    hosted: Hosted,
) -> None:
    await hosted.organiser.create_benchmark()
    await hosted.organiser.upload(TRUTH)
    await _submit(hosted.red, "r1", 1)
    operation = await _rescore(hosted.organiser, comment="A frame was wrong.")
    await _waited(hosted.organiser, operation)
    name = operation.removeprefix("operations/")
    begun = await _audited(hosted.organiser, "RescoreSubmissions")
    assert begun == [(BENCHMARK, f"{name} A frame was wrong.")]
    assert await _audited(hosted.organiser, "rescored") == [(BENCHMARK, name)]


async def test_a_rescoring_needs_truth_and_a_valid_reason(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark()
    refused = await refusal(_rescore(hosted.organiser))
    assert refused.code is grpc.StatusCode.NOT_FOUND
    assert "has no truth yet" in refused.message
    await hosted.organiser.upload(TRUTH)
    await _submit(hosted.red, "r1", 1)
    refused = await refusal(_rescore(hosted.organiser, comment="two\nlines"))
    assert "comment" in refused.violations


@pytest.mark.parametrize("complete", [True, False])
async def test_a_rescoring_uses_the_newest_complete_truth_or_else_the_newest(
    hosted: Hosted, *, complete: bool
) -> None:
    """The second revision is never complete."""
    await hosted.organiser.create_benchmark()
    await hosted.organiser.upload(TRUTH, complete=complete)
    await hosted.organiser.upload(CORRECTED, complete=False)
    await hosted.red.submit(found(1))  # type: ignore[arg-type]
    waiting = submission_service_pb2.SUBMISSION_STATE_WAITING_FOR_TRUTH
    async with asyncio.timeout(60):
        while (await hosted.red.get()).state != waiting:
            pass
    hosted.clock.pass_by(days=8)
    await hosted.red.ended()
    async with asyncio.timeout(60):
        while (await hosted.organiser.board()).submissions_to_rescore:
            pass
    before = [score.truth_revision for score in await hosted.organiser.scores("one")]
    ended = await _waited(hosted.organiser, await _rescore(hosted.organiser))
    assert ended.HasField("response")
    after = [score.truth_revision for score in await hosted.organiser.scores("one")]
    assert after == [1 if complete else 2, *before]


async def test_a_failed_rescoring_ends_with_an_error(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark()
    await hosted.organiser.upload(TRUTH)
    await _submit(hosted.red, "r1", 1)

    async def die(job: object) -> bytes:
        raise WorkerLostError(f"the worker died over {job}")

    hosted.workers.run = die  # type: ignore[method-assign]
    ended = await _waited(hosted.organiser, await _rescore(hosted.organiser))
    assert (ended.done, ended.error.code) == (True, grpc.StatusCode.INTERNAL.value[0])
    assert "Scoring failed" in ended.error.message


async def test_a_cancelled_operation_stops_before_the_next_submission(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark()
    await hosted.organiser.upload(TRUTH)
    await _submit(hosted.red, "r1", 1)
    await _submit(hosted.red, "r2", 1)
    jobs = len(hosted.workers.jobs)
    hosted.workers.gate.clear()
    operation = await _rescore(hosted.organiser)
    await until(lambda: len(hosted.workers.jobs) > jobs)
    too_early = operations_pb2.DeleteOperationRequest(name=operation)
    organiser = hosted.organiser
    refused = await refusal(
        organiser.operations.DeleteOperation(too_early, metadata=organiser.metadata)
    )
    assert refused.reason == "OPERATION_RUNS"
    cancel = operations_pb2.CancelOperationRequest(name=operation)
    await organiser.operations.CancelOperation(cancel, metadata=organiser.metadata)
    hosted.workers.gate.set()
    ended = await _waited(organiser, operation)
    assert ended.error.code == grpc.StatusCode.CANCELLED.value[0]
    scores = [len(await organiser.scores(name)) for name in ("r1", "r2")]
    assert scores == [2, 1]
    assert await _audited(organiser, "rescored") == []
    await organiser.operations.DeleteOperation(too_early, metadata=organiser.metadata)


@pytest.mark.slow
async def test_after_a_restart_unfinished_operations_continue(tmp_path: Path) -> None:
    async with hosting(tmp_path) as hosted:
        await hosted.organiser.create_benchmark()
        await hosted.organiser.upload(TRUTH)
        for name in ("r1", "r2"):
            await _submit(hosted.organiser, name, 1)
        let_through = asyncio.Semaphore(1)
        run = hosted.workers.run

        async def run_one(job: object) -> bytes:
            await let_through.acquire()
            return await run(job)  # type: ignore[arg-type]

        hosted.workers.run = run_one  # type: ignore[method-assign]
        operation = await _rescore(hosted.organiser)

        async def done() -> int:
            request = operations_pb2.GetOperationRequest(name=operation)
            found = await hosted.organiser.operations.GetOperation(
                request, metadata=hosted.organiser.metadata
            )
            metadata = organiser_pb2.RescoreMetadata()
            found.metadata.Unpack(metadata)
            return metadata.submissions_done

        async with asyncio.timeout(60):
            while await done() < 1:
                pass
    async with hosting(tmp_path) as hosted:
        ended = await _waited(hosted.organiser, operation)
        assert ended.HasField("response")
        assert [len(await hosted.organiser.scores(name)) for name in ("r1", "r2")] == [2, 2]
