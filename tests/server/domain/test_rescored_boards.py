"""Boards compare only scores of the same truth, evaluator version and parameters.

Three frames with an object each; a system that finds k of them has F1 = 2k / (k + 3).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock

import grpc
import pytest
from tests.server.domain.hosted import (
    BENCHMARK,
    Client,
    Hosted,
    dots,
    hosting,
    refusal,
    values,
)
from tests.server.domain.test_boards import (
    CORRECTED,
    FINAL,
    TRUTH,
    _changes,
    _rescore,
    _submit,
    _waited,
    found,
)
from tests.server.domain.test_disqualification import disqualify
from tests.server.scene import parameter, points

from vidscore_evaluators.jobs import Job
from vidscore_evaluators.spotgeo import SpotGeo
from vidscore_protos.v1 import (
    access_service_pb2,
    benchmark_pb2,
    organiser_pb2,
    specification_pb2,
    submission_service_pb2,
)
from vidscore_protos.v1 import benchmark_service_pb2 as pb
from vidscore_server.errors import WorkerLostError

Row = tuple[int, str, float, int]
"""Rank, team, F1, revision of the truth."""

OLD: list[Row] = [(1, "red", 1.0, 1), (2, "blue", 0.5, 1)]
"""Red finds all three objects of `TRUTH`, blue only the first."""

NEW: list[Row] = [(1, "blue", 1.0, 2), (2, "red", 0.5, 2)]
"""The first object is the only one in `CORRECTED`."""


def rows(board: pb.GetLeaderboardResponse) -> list[Row]:
    return [
        (row.rank, row.team, round(row.scores[0].value, 9), row.truth_revision)
        for row in board.rows
    ]


async def until_board(client: Client, expected: list[Row], *before: list[Row]) -> None:
    """Wait until the board is as expected; until then it must be one of the earlier ones."""
    async with asyncio.timeout(60):
        while (shown := rows(await client.board())) != expected:
            assert not before or shown in before


async def host(
    hosted: Hosted,
    visibility: benchmark_pb2.Visibility = benchmark_pb2.VISIBILITY_FINAL,
    **policy: Any,
) -> None:
    """A benchmark with one submission per team, scored under the first truth."""
    await hosted.organiser.create_benchmark(visibility=visibility, **policy)
    await hosted.organiser.upload(TRUTH)
    await _submit(hosted.red, "r1", 1, 2, 3)
    await _submit(hosted.blue, "b1", 1)
    await until_board(hosted.viewer, OLD)


async def publish(
    client: Client, *, validate_only: bool = False
) -> organiser_pb2.PublishLeaderboardResponse:
    request = organiser_pb2.PublishLeaderboardRequest(
        benchmark=BENCHMARK, validate_only=validate_only
    )
    return await client.benchmarks.PublishLeaderboard(request, metadata=client.metadata)


async def differences_of_f1(hosted: Hosted) -> dict[str, tuple[float | None, ...]]:
    """After scoring: by submission, F1 before and after publishing, and the ranks."""
    await rescored(hosted.organiser)
    fields = ("before", "after", "rank_before", "rank_after")
    return {
        change.submission.rpartition("/")[2]: tuple(
            getattr(change, name) if change.HasField(name) else None for name in fields
        )
        for change in (await publish(hosted.organiser, validate_only=True)).differences
        if change.measure == "f1"
    }


async def rescored(organiser: Client) -> None:
    """Wait until nothing has to be scored again."""
    async with asyncio.timeout(60):
        while (await organiser.board()).submissions_to_rescore:
            pass


async def update(
    hosted: Hosted, *paths: str, change: Callable[[benchmark_pb2.Benchmark], None]
) -> int:
    """Change the benchmark; returns the number of submissions to be scored again."""
    message = (await hosted.organiser.benchmark()).benchmark
    change(message)
    return (await hosted.organiser.update(message, *paths)).submissions_to_rescore


def break_when(hosted: Hosted, broken: Callable[[Job], bool]) -> None:
    """Let the worker die on some jobs."""
    run = hosted.workers.run

    async def run_or_die(job: Job) -> bytes:
        if broken(job):
            raise WorkerLostError("the worker died")
        return await run(job)

    hosted.workers.run = run_or_die  # type: ignore[method-assign]


def of_red_under_new_truth(job: Job) -> bool:
    return job.detections.object_count == 3 and job.truth.object_count == 1


async def test_complete_truth_updates_the_board_in_one_step_once_all_are_rescored(
    hosted: Hosted,
) -> None:
    await host(hosted)
    hosted.workers.gate.clear()
    revision = await hosted.organiser.upload(CORRECTED)
    assert revision.submissions_to_rescore == 2
    board = await hosted.organiser.board()
    assert rows(board) == OLD
    assert (board.truth_revision, board.newest_truth_revision) == (1, 2)
    assert (board.submissions_to_rescore, board.publishable) == (2, False)
    seen_by_others = await hosted.viewer.board()
    assert (seen_by_others.truth_revision, seen_by_others.newest_truth_revision) == (1, 2)
    assert seen_by_others.submissions_to_rescore == 0
    hosted.workers.gate.set()
    await until_board(hosted.viewer, NEW, OLD)
    assert (await hosted.viewer.board()).truth_revision == 2


async def test_rescoring_a_single_submission_does_not_change_the_board(hosted: Hosted) -> None:
    """Only blue is scored again; its new score would put it before red on the old board."""
    await host(hosted)
    hosted.workers.gate.clear()
    await hosted.organiser.upload(CORRECTED)
    only_blue = hosted.workers.run

    async def run_blue(job: Job) -> bytes:
        if job.detections.object_count == 3:
            await asyncio.Event().wait()
        return await only_blue(job)

    hosted.workers.run = run_blue  # type: ignore[method-assign]
    hosted.workers.gate.set()
    operation = await _waited(hosted.organiser, await _rescore(hosted.organiser, "b1"))
    assert operation.done
    f1 = [change for change in _changes(operation) if change.measure == "f1"]
    assert [(change.before, change.after) for change in f1] == [(0.5, 1.0)]
    assert (f1[0].rank_before, f1[0].rank_after) == (2, 2), "the board has not moved"
    assert rows(await hosted.organiser.board()) == OLD


async def test_incomplete_truth_does_not_change_the_board(hosted: Hosted) -> None:
    await host(hosted)
    revision = await hosted.organiser.upload(CORRECTED, complete=False)
    assert revision.submissions_to_rescore == 0
    board = await hosted.organiser.board()
    assert rows(board) == OLD
    assert (board.newest_truth_revision, board.submissions_to_rescore) == (1, 0)


async def test_under_review_an_organiser_sees_the_differences_and_publishes_them(
    hosted: Hosted,
) -> None:
    await host(hosted, rescore=benchmark_pb2.RESCORE_REVIEW)
    await hosted.organiser.upload(CORRECTED)
    await rescored(hosted.organiser)
    board = await hosted.organiser.board()
    assert (rows(board), board.publishable) == (OLD, True)
    seen = await publish(hosted.organiser, validate_only=True)
    assert rows(await hosted.viewer.board()) == OLD
    assert await differences_of_f1(hosted) == {"r1": (1.0, 0.5, 1, 2), "b1": (0.5, 1.0, 2, 1)}
    assert seen.truth_revision == 2
    assert await publish(hosted.organiser) == seen
    assert rows(await hosted.viewer.board()) == NEW
    assert not (await publish(hosted.organiser)).differences
    listed = await hosted.organiser.access.ListAuditRecords(
        access_service_pb2.ListAuditRecordsRequest(), metadata=hosted.organiser.metadata
    )
    assert [record.action for record in listed.records].count("PublishLeaderboard") == 1


async def test_a_board_that_waits_for_an_organiser_is_updated_when_it_no_longer_must(
    hosted: Hosted,
) -> None:
    await host(hosted, rescore=benchmark_pb2.RESCORE_REVIEW)
    await hosted.organiser.upload(CORRECTED)
    await rescored(hosted.organiser)
    assert rows(await hosted.viewer.board()) == OLD

    def change(benchmark: benchmark_pb2.Benchmark) -> None:
        benchmark.policy.rescore = benchmark_pb2.RESCORE_AUTOMATIC

    await update(hosted, "policy", change=change)
    await until_board(hosted.viewer, NEW, OLD)


async def test_a_submission_that_could_not_be_rescored_is_a_difference_without_a_score(
    hosted: Hosted,
) -> None:
    await host(hosted, rescore=benchmark_pb2.RESCORE_REVIEW)
    break_when(hosted, of_red_under_new_truth)
    await hosted.organiser.upload(CORRECTED)
    assert (await differences_of_f1(hosted))["r1"] == (1.0, None, 1, None)


async def test_a_rank_that_changes_without_its_score_is_a_difference(hosted: Hosted) -> None:
    """Red has found two of three objects before and after; blue all three, and then two."""
    await hosted.organiser.create_benchmark(rescore=benchmark_pb2.RESCORE_REVIEW)
    await hosted.organiser.upload(TRUTH)
    await _submit(hosted.red, "r1", 1, 2)
    await _submit(hosted.blue, "b1", 1, 2, 3)
    await hosted.organiser.upload(found(1, 2, 4))  # type: ignore[arg-type]
    assert await differences_of_f1(hosted) == {"r1": (0.8, 0.8, 2, 1), "b1": (1.0, 2 / 3, 1, 2)}


async def test_the_differences_of_each_evaluator_are_listed(hosted: Hosted) -> None:
    """Blue is 8 px off: near enough for spotGEO's 10 px, too far for f1's half of them.

    The first evaluator ranks by a measure that these do not have.
    """
    message = dots(rescore=benchmark_pb2.RESCORE_REVIEW)
    evaluators = message.specification.evaluators
    evaluators.add(name="f1", parameters=[parameter("base", "euclidean")])
    evaluators.insert(0, specification_pb2.EvaluatorSpec(name="ospa"))
    evaluators[0].parameters.append(parameter("base", "euclidean"))
    await hosted.organiser.create(message)
    await hosted.organiser.upload(TRUTH)
    await _submit(hosted.red, "r1", 1, 2, 3)
    far = points({1: [(10.0, 28.0)], 2: [], 3: [], 4: [], 5: []})
    await hosted.blue.submit(far, "b1")
    await hosted.blue.ended("b1")
    await hosted.organiser.upload(CORRECTED)
    await rescored(hosted.organiser)
    told = {
        (change.evaluator, change.submission.rpartition("/")[2]): (
            change.before, change.after, change.rank_before, change.rank_after
        )
        for change in (await publish(hosted.organiser, validate_only=True)).differences
        if change.measure == "f1"
    }  # fmt: skip
    assert told == {
        ("spotgeo", "r1"): (1.0, 0.5, 1, 2),
        ("spotgeo", "b1"): (0.5, 1.0, 2, 1),
        ("f1", "r1"): (1.0, 0.5, 1, 1),
    }


async def test_a_disqualified_submission_has_no_rank_among_the_differences(hosted: Hosted) -> None:
    await host(hosted, rescore=benchmark_pb2.RESCORE_REVIEW)
    await disqualify(hosted, f"{BENCHMARK}/submissions/r1")
    await hosted.organiser.upload(CORRECTED)
    assert await differences_of_f1(hosted) == {"r1": (1.0, 0.5, None, None), "b1": (0.5, 1.0, 1, 1)}


async def test_without_truth_there_is_nothing_to_publish(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark()
    found = await publish(hosted.organiser)
    assert (list(found.differences), found.truth_revision) == ([], 0)


async def test_nothing_is_published_before_everything_is_rescored(hosted: Hosted) -> None:
    await host(hosted, rescore=benchmark_pb2.RESCORE_REVIEW)
    hosted.workers.gate.clear()
    await hosted.organiser.upload(CORRECTED)
    refused = await refusal(publish(hosted.organiser))
    assert (refused.code, refused.reason) == (
        grpc.StatusCode.FAILED_PRECONDITION,
        "RESCORING_RUNS",
    )
    hosted.workers.gate.set()


@pytest.mark.slow
async def test_a_submission_sent_meanwhile_appears_with_the_board_it_belongs_to(
    hosted: Hosted,
) -> None:
    """Its team sees no score before, and the ranks of rescored submissions do not shift."""
    await host(hosted, rescore=benchmark_pb2.RESCORE_REVIEW)
    await hosted.organiser.upload(CORRECTED)
    await _submit(hosted.red, "r2", 1)
    await rescored(hosted.organiser)
    assert rows(await hosted.viewer.board()) == OLD
    assert await hosted.red.scores("r2") == []
    assert (await hosted.red.ended("r2")).scores == []
    assert [score.truth_revision for score in await hosted.organiser.scores("r2")] == [2]
    assert [values(score.report)["f1"] for score in await hosted.red.scores("r1")] == [1.0]
    changed = (await publish(hosted.organiser)).differences
    assert {change.submission.rpartition("/")[2] for change in changed} == {"r1", "b1"}
    assert rows(await hosted.viewer.board()) == [(1, "blue", 1.0, 2), (1, "red", 1.0, 2)]
    assert [values(score.report)["f1"] for score in await hosted.red.scores("r2")] == [1.0]


async def test_a_rescoring_that_changes_nothing_lists_no_differences(hosted: Hosted) -> None:
    """A submission that is scored meanwhile takes the first rank, but not by the rescoring."""
    await host(hosted)
    hosted.workers.gate.clear()
    operation = await _rescore(hosted.organiser, "b1")
    await hosted.organiser.submit(found(1, 2, 3), "o1")  # type: ignore[arg-type]
    await hosted.organiser.submit(found(1, 2), "o2")  # type: ignore[arg-type]
    hosted.workers.gate.set()
    for name in ("o1", "o2"):
        await hosted.organiser.ended(name)
    assert _changes(await _waited(hosted.organiser, operation)) == []


@pytest.mark.slow
async def test_changed_parameters_update_the_board_like_changed_truth(hosted: Hosted) -> None:
    """Within 4 px, a detection 5 px away is not a match."""
    await hosted.organiser.create_benchmark(visibility=FINAL)
    await hosted.organiser.upload(points({1: [(10.0, 20.0)], 2: [(90.0, 90.0)]}))
    await hosted.red.submit(points({1: [(15.0, 20.0)], 2: [(90.0, 90.0)]}), "r1")
    await hosted.blue.submit(points({1: [(10.0, 20.0)], 2: []}), "b1")
    for client, name in ((hosted.red, "r1"), (hosted.blue, "b1")):
        await client.ended(name)
    before: list[Row] = [(1, "red", 1.0, 1), (2, "blue", 0.67, 1)]
    assert rows(await hosted.viewer.board()) == before

    def narrow(benchmark: benchmark_pb2.Benchmark) -> None:
        names = specification_pb2.Parameter(name="tau", number=4.0)
        benchmark.specification.evaluators[0].parameters.append(names)

    hosted.workers.gate.clear()
    assert await update(hosted, "specification", change=narrow) == 2
    assert rows(await hosted.viewer.board()) == before
    hosted.workers.gate.set()
    after: list[Row] = [(1, "blue", 0.67, 1), (2, "red", 0.5, 1)]
    await until_board(hosted.viewer, after, before)


@pytest.mark.slow
@pytest.mark.parametrize("path", ["policy", "close_time", "specification"])
async def test_a_change_that_affects_no_score_rescores_nothing(hosted: Hosted, path: str) -> None:
    await host(hosted)

    def change(benchmark: benchmark_pb2.Benchmark) -> None:
        benchmark.policy.submissions_per_day = 7
        benchmark.close_time.seconds = 4_000_000_000
        benchmark.specification.title = "Other dots"

    assert await update(hosted, path, change=change) == 0
    assert [len(await hosted.organiser.scores(name)) for name in ("r1", "b1")] == [1, 1]


async def test_a_changed_policy_applies_to_releases_of_the_board_at_once(hosted: Hosted) -> None:
    await host(hosted)

    def change(benchmark: benchmark_pb2.Benchmark) -> None:
        benchmark.policy.visibility = benchmark_pb2.VISIBILITY_LADDER
        benchmark.policy.ladder_step = 0.3

    assert await update(hosted, "policy", change=change) == 0
    assert rows(await hosted.viewer.board()) == [(1, "red", 0.9, 1), (2, "blue", 0.6, 1)]


@pytest.mark.slow
async def test_a_newer_version_of_the_evaluator_rescores_after_the_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with hosting(tmp_path) as hosted:
        await host(hosted)
        assert await _versions(hosted.viewer) == {"1.0.0"}
    monkeypatch.setattr(SpotGeo, "version", "1.10.0")
    async with hosting(tmp_path, held=True) as hosted:
        [red, blue] = (await hosted.organiser.board()).rows
        assert (red.evaluator_version, blue.evaluator_version) == ("1.0.0", "1.0.0")
        assert (await hosted.organiser.board()).submissions_to_rescore == 2
        hosted.workers.gate.set()
        async with asyncio.timeout(60):
            while (versions := await _versions(hosted.viewer)) != {"1.10.0"}:
                assert versions == {"1.0.0"}, "both versions on one board"
        assert rows(await hosted.viewer.board()) == OLD
    monkeypatch.setattr(SpotGeo, "version", "1.9.0")
    async with hosting(tmp_path) as hosted:
        await hosted.hosting.work()
        assert await _versions(hosted.organiser) == {"1.10.0"}, "an older server waits"


async def _versions(client: Client) -> set[str]:
    return {row.evaluator_version for row in (await client.board()).rows}


async def test_a_restart_continues_the_update_of_the_board(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with hosting(tmp_path) as hosted:
        # Tiers use the same workers, and might take the place of the one job that is let through.
        monkeypatch.setattr(hosted.hosting.tiers, "advance", AsyncMock())
        await host(hosted)
        let_through = asyncio.Semaphore(1)
        run: Callable[[Job], Awaitable[bytes]] = hosted.workers.run

        async def run_one(job: Job) -> bytes:
            await let_through.acquire()
            return await run(job)

        hosted.workers.run = run_one  # type: ignore[method-assign]
        await hosted.organiser.upload(CORRECTED)
        async with asyncio.timeout(60):
            while (await hosted.organiser.board()).submissions_to_rescore == 2:
                pass
        assert rows(await hosted.viewer.board()) == OLD
    async with hosting(tmp_path) as hosted:
        await until_board(hosted.viewer, NEW, OLD)
        assert [len(await hosted.organiser.scores(name)) for name in ("r1", "b1")] == [2, 2]


@pytest.mark.slow
async def test_releases_of_the_ladder_are_recomputed_when_the_board_is_updated(
    hosted: Hosted,
) -> None:
    """Of 0.5, 0.8 and 1.0 under the first truth, the step of 0.25 hides the second.

    Under the second truth r1 has 1.0, which the other two cannot exceed.
    """
    await hosted.organiser.create_benchmark(ladder_step=0.25)
    await hosted.organiser.upload(TRUTH)
    for name, numbers in {"r1": (1,), "r2": (1, 2), "r3": (1, 2, 3)}.items():
        await _submit(hosted.red, name, *numbers)
        hosted.clock.pass_by(seconds=1)
    assert rows(await hosted.viewer.board()) == [(1, "red", 1.0, 1)]
    await hosted.organiser.upload(CORRECTED)
    await until_board(hosted.viewer, [(1, "red", 1.0, 2)])
    board = await hosted.red.board()
    assert board.rows[0].submission.endswith("/r1")
    for name in ("r1", "r2", "r3"):
        newest = (await hosted.red.scores(name))[0]
        assert values(newest.report)["f1"] == 1.0


async def test_scores_on_incomplete_truth_are_recomputed_on_the_truth_of_the_board(
    hosted: Hosted,
) -> None:
    """The second revision is not complete; submissions that timed out on it use the first."""
    await host(hosted)
    await hosted.organiser.upload(CORRECTED, complete=False)
    await hosted.organiser.submit(found(1, 2), "o1")  # type: ignore[arg-type]
    waiting = submission_service_pb2.SUBMISSION_STATE_WAITING_FOR_TRUTH
    async with asyncio.timeout(60):
        while (await hosted.organiser.get("o1")).state != waiting:
            pass
    hosted.clock.pass_by(days=8)
    await hosted.organiser.ended("o1")
    await until_board(
        hosted.viewer, [(1, "red", 1.0, 1), (2, "organiser", 0.8, 1), (3, "blue", 0.5, 1)], OLD
    )
    newer, older = await hosted.organiser.scores("o1")
    assert [newer.truth_revision, older.truth_revision] == [1, 2]
    assert [score.truth_revision for score in await hosted.organiser.scores("r1")] == [1]
