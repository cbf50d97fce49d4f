"""Boards with a submission that could not be scored again, or that another server took over."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from tests.server.domain.hosted import Hosted
from tests.server.domain.test_boards import (
    CORRECTED,
    FINAL,
    TRUTH,
    _changes,
    _rescore,
    _submit,
    _waited,
)
from tests.server.domain.test_private_sequences import LIVE, board, submit
from tests.server.domain.test_private_sequences import found as hits_of
from tests.server.domain.test_private_sequences import host as host_private
from tests.server.domain.test_rescored_boards import (
    NEW,
    OLD,
    break_when,
    host,
    of_red_under_new_truth,
    rows,
    until_board,
)
from tests.support.waiting import TIMEOUT_S

from vidscore_protos.v1 import benchmark_pb2
from vidscore_server.domain.publishing import keep_result
from vidscore_server.store import Transaction

WORK = "operation board dots"
"""The leased work."""


async def test_after_the_closing_a_submission_that_could_not_be_rescored_is_listed_separately(
    hosted: Hosted,
) -> None:
    """The second truth has no d; if nothing of a part is found, the worker dies."""
    await host_private(hosted, visibility=LIVE)
    await submit(hosted.red, "one", "abc")
    await submit(hosted.blue, "two", "cd")
    hosted.clock.pass_by(hours=1)
    before = await board(hosted.viewer)
    break_when(hosted, lambda job: job.truth.object_count > 0 == job.detections.object_count)
    await hosted.organiser.upload(hits_of("abc"))
    async with asyncio.timeout(60):
        while (shown := await board(hosted.viewer)) == before:
            pass
    assert before == [(1, "blue", 1.0), (2, "red", 2 / 3)]
    assert shown == [(1, "red", 1.0), (0, "blue", 1.0)]


@pytest.mark.parametrize("visibility", [benchmark_pb2.VISIBILITY_LADDER, FINAL])
async def test_submissions_that_could_not_be_rescored_are_listed_after_all_others(
    hosted: Hosted, visibility: benchmark_pb2.Visibility
) -> None:
    await host(hosted, visibility=visibility)
    break_when(hosted, of_red_under_new_truth)
    await hosted.organiser.upload(CORRECTED)
    await until_board(hosted.viewer, [(1, "blue", 1.0, 2), (0, "red", 1.0, 1)], OLD)
    for client in (hosted.viewer, hosted.organiser):
        board = await client.board()
        assert [row.apart for row in board.rows] == [False, True]
        assert board.submissions_to_rescore == 0


async def test_what_stands_apart_under_the_ladder_has_what_was_released(hosted: Hosted) -> None:
    """Each has found everything, once; 1.0 is released to a step of 0.3."""
    await hosted.organiser.create_benchmark(ladder_step=0.3)
    await hosted.organiser.upload(TRUTH)
    await _submit(hosted.red, "r1", 1, 2, 3)
    await _submit(hosted.blue, "b1", 1)
    break_when(hosted, of_red_under_new_truth)
    await hosted.organiser.upload(CORRECTED)
    await until_board(hosted.organiser, [(1, "blue", 1.0, 2), (0, "red", 1.0, 1)], OLD)
    for client in (hosted.viewer, hosted.red, hosted.blue):
        assert rows(await client.board()) == [(1, "blue", 0.9, 2), (0, "red", 0.9, 1)]


@pytest.mark.slow
async def test_a_submission_listed_separately_is_ranked_once_a_rescoring_succeeds(
    hosted: Hosted,
) -> None:
    await host(hosted)
    broken = True
    break_when(hosted, lambda job: broken and of_red_under_new_truth(job))
    await hosted.organiser.upload(CORRECTED)
    await until_board(hosted.viewer, [(1, "blue", 1.0, 2), (0, "red", 1.0, 1)], OLD)
    broken = False
    operation = await _waited(hosted.organiser, await _rescore(hosted.organiser, "r1"))
    [f1] = [change for change in _changes(operation) if change.measure == "f1"]
    assert (f1.before, f1.after, f1.HasField("rank_before"), f1.rank_after) == (1.0, 0.5, False, 2)
    assert rows(await hosted.viewer.board()) == NEW


async def test_a_new_score_that_cannot_be_stored_does_not_hold_the_board(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise it would be computed again and again."""

    def keep(transaction: Transaction, definition: Any, submission: Any, *rest: Any) -> None:
        if submission.submission == "r1":
            raise RuntimeError("the best release is odd")
        keep_result(transaction, definition, submission, *rest)

    await host(hosted)
    monkeypatch.setattr("vidscore_server.domain.board_updates.keep_result", keep)
    await hosted.organiser.upload(CORRECTED)
    await until_board(hosted.viewer, [(1, "blue", 1.0, 2), (0, "red", 1.0, 1)], OLD)


async def test_a_score_after_the_lease_of_its_board_was_lost_is_not_stored(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lease goes to another server while the first submission is scored again."""
    leases, updater, lost = hosted.hosting.leases, hosted.hosting.boards, asyncio.Event()
    score = updater._scorer.results

    async def lose(*arguments: Any, **options: Any) -> Any:
        found = await score(*arguments, **options)
        if not lost.is_set():
            await hosted.hosting.context.write(lambda t: _give_away(t, leases.owner))
            lost.set()
        return found

    await host(hosted)
    monkeypatch.setattr(updater._scorer, "results", lose)
    await hosted.organiser.upload(CORRECTED)
    await asyncio.wait_for(lost.wait(), TIMEOUT_S)
    await updater.operations.finish()
    assert [len(await hosted.organiser.scores(name)) for name in ("r1", "b1")] == [1, 1]
    await hosted.hosting.context.write(lambda t: t.end_lease(WORK, "other"))
    await until_board(hosted.viewer, NEW, OLD)


async def test_a_board_whose_lease_was_lost_is_not_moved(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lease goes to another server after the last submission is scored again."""
    leases, updater, lost = hosted.hosting.leases, hosted.hosting.boards, asyncio.Event()
    catch_up = updater._catch_up

    async def lose(benchmark: str) -> None:
        await catch_up(benchmark)
        if not lost.is_set():
            await hosted.hosting.context.write(lambda t: _give_away(t, leases.owner))
            lost.set()

    await host(hosted)
    monkeypatch.setattr(updater, "_catch_up", lose)
    await hosted.organiser.upload(CORRECTED)
    await asyncio.wait_for(lost.wait(), TIMEOUT_S)
    await updater.operations.finish()
    assert [len(await hosted.organiser.scores(name)) for name in ("r1", "b1")] == [2, 2]
    assert rows(await hosted.viewer.board()) == OLD
    await hosted.hosting.context.write(lambda t: t.end_lease(WORK, "other"))
    await until_board(hosted.viewer, NEW, OLD)


def _give_away(transaction: Transaction, owner: str) -> None:
    """Give the lease of the board to another server."""
    transaction.end_lease(WORK, owner)
    assert transaction.take_lease(WORK, "other", timedelta(hours=1))
