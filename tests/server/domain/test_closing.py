"""After its end: a benchmark is not created, seldom opened again, and lists who is disqualified."""

from __future__ import annotations

import grpc
from tests.server.domain.hosted import BENCHMARK, Hosted, dots, refusal
from tests.server.domain.test_disqualification import disqualify
from tests.server.domain.test_private_sequences import (
    FINAL,
    HOUR,
    board,
    closing,
    host,
    submit,
)


async def test_a_closed_benchmark_that_has_a_score_cannot_be_reopened(hosted: Hosted) -> None:
    await host(hosted)
    await submit(hosted.red, "one", "ac")
    later = closing(hosted)
    hosted.clock.pass_by(hours=1)
    later.close_time.FromDatetime(hosted.clock.now + HOUR)
    for message in (later, dots()):
        refused = await refusal(hosted.organiser.update(message, "close_time"))
        assert refused.reason == "POLICY_FIXED"


async def test_a_benchmark_that_was_closed_by_mistake_is_reopened_if_it_has_no_score(
    hosted: Hosted,
) -> None:
    await host(hosted)
    later = closing(hosted)
    hosted.clock.pass_by(hours=1)
    later.close_time.FromDatetime(hosted.clock.now + HOUR)
    await hosted.organiser.update(later, "close_time")
    await submit(hosted.red, "one", "ac")
    assert await board(hosted.viewer) == [(1, "red", 0.67)]  # by the public part: one of two


async def test_a_benchmark_that_has_closed_cannot_be_created(hosted: Hosted) -> None:
    message = closing(hosted)
    message.close_time.FromDatetime(hosted.clock.now)
    refused = await refusal(hosted.organiser.create(message))
    assert refused.code is grpc.StatusCode.INVALID_ARGUMENT
    assert list(refused.violations) == ["close_time"]


async def test_the_final_order_lists_a_disqualified_submission_without_its_private_score(
    hosted: Hosted,
) -> None:
    """By the private part: one is 2/3, two is 1.0; two is chosen, and then disqualified."""
    await host(hosted, visibility=FINAL, ladder_step=0.01, released_measures=["recall"])
    await submit(hosted.red, "one", "bc")
    await submit(hosted.red, "two", "cd")
    await hosted.red.choose("two")
    hosted.clock.pass_by(hours=1)
    assert await board(hosted.viewer) == [(1, "red", 1.0)]
    await disqualify(hosted, f"{BENCHMARK}/submissions/two")
    for client in (hosted.viewer, hosted.red, hosted.organiser):
        first, last = (await client.board()).rows
        assert (first.rank, first.title, first.scores[0].value) == (1, "One", 2 / 3)
        assert (last.rank, last.title, last.disqualification) == (0, "Two", "a hand-made file")
        assert not any(score.HasField("value") for score in last.scores)
    [score] = await hosted.red.scores("two")
    assert not score.HasField("private_report")
