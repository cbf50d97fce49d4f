"""A score that was computed for an older board is not a submission's current one."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.server.domain.hosted import Client, Hosted, values
from tests.server.domain.test_boards import CORRECTED, _rescore
from tests.server.domain.test_rescored_boards import NEW, host, until_board
from tests.support.waiting import TIMEOUT_S


async def test_a_score_under_older_truth_that_is_stored_late_is_not_the_current_one(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blue is scored again on request, slowly, while the truth changes, for which red is slow."""
    await host(hosted)
    requested, last = asyncio.Event(), asyncio.Event()
    gates = {("b1", 1): requested, ("r1", 2): last}
    score = hosted.hosting.scorer.results

    async def results(name: Any, revision: int, **options: Any) -> Any:
        found = await score(name, revision, **options)
        if (name.submission, revision) in gates:
            await gates[name.submission, revision].wait()
        return found

    monkeypatch.setattr(hosted.hosting.scorer, "results", results)
    await _rescore(hosted.organiser, "b1")
    await hosted.organiser.upload(CORRECTED)
    assert await _revisions(hosted.organiser, 2) == [2, 1]
    requested.set()
    assert await _revisions(hosted.organiser, 3) == [1, 2, 1]
    last.set()
    await until_board(hosted.viewer, NEW)
    for client in (hosted.blue, hosted.organiser):
        [current] = [score for score in await client.scores("b1") if score.current]
        assert values(current.report)["f1"] == 1.0


async def _revisions(organiser: Client, count: int) -> list[int]:
    """Revisions of the truth of blue's scores, newest first, once there are so many."""
    async with asyncio.timeout(TIMEOUT_S):
        while len(scores := await organiser.scores("b1")) < count:
            pass
    return [score.truth_revision for score in scores]
