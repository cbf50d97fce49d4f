"""What a board shows beside its order: further measures, curves, numbers of submissions."""

from __future__ import annotations

import pytest
from tests.server.domain.hosted import BENCHMARK, Client, Hosted, refusal
from tests.server.domain.streets import BOX, streets
from tests.server.domain.test_disqualification import disqualify
from tests.server.domain.test_planted_truth import batch
from tests.server.domain.test_private_sequences import FINAL, host, submit
from tests.server.domain.test_rescored_boards import update

from vidscore_protos.v1 import benchmark_pb2
from vidscore_server.domain import board_rows

TRUTH = batch("", "street", "car", (1, 2, 3), BOX, BOX, BOX)
TWO_OF_THREE = batch("", "street", "car", (1, 2), BOX, BOX)


def _benchmark(**policy: object) -> benchmark_pb2.Benchmark:
    message = streets(labels=["car"])
    message.policy.CopyFrom(
        benchmark_pb2.Policy(unlimited_submissions=True, **policy)  # type: ignore[arg-type]
    )
    return message


async def _two_submissions(hosted: Hosted, message: benchmark_pb2.Benchmark) -> None:
    await hosted.organiser.create(message)
    await hosted.organiser.upload(TRUTH)
    for name in ("one", "two"):
        await hosted.red.submit(TWO_OF_THREE, name)
        await hosted.red.ended(name)
    await hosted.blue.submit(TRUTH, "three")
    await hosted.blue.ended("three")


async def test_a_row_has_the_number_of_its_teams_submissions(hosted: Hosted) -> None:
    await _two_submissions(hosted, _benchmark())
    board = await hosted.viewer.board()
    assert {row.team: row.submission_count for row in board.rows} == {"blue": 1, "red": 2}
    assert (board.submission_count, board.most_submissions, board.total_size) == (3, 2, 2)


async def test_a_draft_is_not_on_the_board(hosted: Hosted) -> None:
    await _two_submissions(hosted, _benchmark())
    await hosted.blue.submission("draft")
    assert (await hosted.viewer.board()).submission_count == 3


async def test_another_measure_ranks_a_board_that_was_seen_before_at_once(hosted: Hosted) -> None:
    """Of three objects, red finds two and nothing else: its F1 is 0.8."""
    live = benchmark_pb2.VISIBILITY_LIVE
    await _two_submissions(hosted, _benchmark(visibility=live))

    def rank_by_precision(benchmark: benchmark_pb2.Benchmark) -> None:
        benchmark.policy.ranking_measure = "precision"

    for measure, of_red in (("f1", 0.8), ("precision", 1.0)):
        for client in (hosted.viewer, hosted.organiser):
            rows = (await client.board()).rows
            found = {row.team: (row.scores[0].measure, row.scores[0].value) for row in rows}
            assert found == {"blue": (measure, 1.0), "red": (measure, pytest.approx(of_red))}
        await update(hosted, "policy", change=rank_by_precision)


async def test_released_measures_are_shown_beside_those_that_rank(hosted: Hosted) -> None:
    final = benchmark_pb2.VISIBILITY_FINAL
    released = ["recall", "f1"]  # f1 ranks.
    message = _benchmark(visibility=final, released_measures=released, ladder_step=0.01)
    await _two_submissions(hosted, message)
    board = await hosted.viewer.board()
    assert list(board.further_measures) == ["recall"]
    found = {row.team: {one.measure: one.value for one in row.scores} for row in board.rows}
    assert found["red"]["recall"] == 0.67  # Two of three, rounded to the step.
    assert found["blue"]["recall"] == 1.0
    whole = await hosted.organiser.board()
    assert [one.value for one in whole.rows[1].scores if one.measure == "recall"] == [2 / 3]


async def test_a_board_has_the_released_measures_of_its_own_evaluator(hosted: Hosted) -> None:
    final = benchmark_pb2.VISIBILITY_FINAL
    message = _benchmark(
        visibility=final, released_measures=["recall", "ap_m_partial"], ladder_step=0.01
    )
    message.specification.evaluators.add(name="map")
    await _two_submissions(hosted, message)
    for name, measure in (("f1", "recall"), ("map", "ap_m_partial")):
        assert list((await hosted.viewer.board(evaluator=name)).further_measures) == [measure]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("visibility", "release", "expected"),
    [("LADDER", False, 0), ("FINAL", False, 0), ("FINAL", True, 1), ("LIVE", False, 1)],
)
async def test_rows_have_curves_if_the_policy_releases_them(
    hosted: Hosted, visibility: str, release: bool, expected: int
) -> None:
    shown = getattr(benchmark_pb2, f"VISIBILITY_{visibility}")
    await _two_submissions(hosted, _benchmark(visibility=shown, release_curves=release))
    for client in (hosted.viewer, hosted.red, hosted.organiser):
        rows = (await client.board()).rows
        assert {bool(row.curves) for row in rows} == {bool(expected)}
        for curve in (curve for row in rows for curve in row.curves):
            assert not curve.HasField("label")


@pytest.mark.parametrize("release", [True, False])
async def test_a_team_has_the_curves_of_its_scores_if_they_are_released(
    hosted: Hosted, release: bool
) -> None:
    final = benchmark_pb2.VISIBILITY_FINAL
    await _two_submissions(hosted, _benchmark(visibility=final, release_curves=release))
    [score] = await hosted.red.scores("one")
    assert bool(score.report.curves) == release


async def test_a_board_of_a_label_has_the_curves_of_that_label(hosted: Hosted) -> None:
    live = benchmark_pb2.VISIBILITY_LIVE
    await _two_submissions(hosted, _benchmark(visibility=live))
    rows = (await hosted.viewer.board(label="car")).rows
    assert {curve.label for row in rows for curve in row.curves} == {"car"}


async def test_only_the_first_rows_have_curves(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(board_rows, "CURVE_ROWS", 1)
    await _two_submissions(hosted, _benchmark(visibility=benchmark_pb2.VISIBILITY_LIVE))
    rows = (await hosted.viewer.board()).rows
    assert [(row.team, bool(row.curves)) for row in rows] == [("blue", True), ("red", False)]


async def test_a_disqualified_submission_has_no_curves(hosted: Hosted) -> None:
    await _two_submissions(hosted, _benchmark(visibility=benchmark_pb2.VISIBILITY_LIVE))
    await disqualify(hosted, f"{BENCHMARK}/submissions/three")
    rows = (await hosted.viewer.board()).rows
    assert [(row.team, bool(row.curves)) for row in rows] == [("red", True), ("blue", False)]


async def test_the_ladder_releases_no_curves(hosted: Hosted) -> None:
    refused = await refusal(hosted.organiser.create(_benchmark(release_curves=True)))
    assert "release_curves" in str(refused)


async def test_the_number_of_sequences_is_shown_where_their_names_are(hosted: Hosted) -> None:
    await hosted.organiser.create(_benchmark(), public=["labels"])
    await hosted.organiser.upload(TRUTH)
    assert not (await hosted.viewer.board()).HasField("sequence_count")
    assert (await hosted.organiser.board()).sequence_count == 1


async def _recall_seen(client: Client) -> float:
    [row] = (await client.board()).rows
    return next(score.value for score in row.scores if score.measure == "recall")


@pytest.mark.parametrize(("visibility", "seen"), [("FINAL", 0.2), ("LIVE", 0.25)])
async def test_further_measures_have_the_digits_of_the_step_if_scores_are_rounded(
    hosted: Hosted, visibility: str, seen: float
) -> None:
    """One of four objects is found; 0.5 has one digit, and 0.25 is rounded to the even one."""
    shown = getattr(benchmark_pb2, f"VISIBILITY_{visibility}")
    policy = {"visibility": shown, "released_measures": ["recall"], "ladder_step": 0.5}
    await host(hosted, private_sequences=[], **policy)
    await submit(hosted.red, "one", "a")
    assert await _recall_seen(hosted.viewer) == seen
    assert await _recall_seen(hosted.organiser) == 0.25


async def test_after_the_closing_further_measures_are_exact(hosted: Hosted) -> None:
    """An object is found in one of the private sequences b, c and d."""
    policy = {"visibility": FINAL, "released_measures": ["recall"], "ladder_step": 0.5}
    await host(hosted, private_sequences="bcd", **policy)
    await submit(hosted.red, "one", "c")
    hosted.clock.pass_by(hours=1)
    assert await _recall_seen(hosted.viewer) == 1 / 3
