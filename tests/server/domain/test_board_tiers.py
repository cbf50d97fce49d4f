"""Tiers of boards over a channel: who sees which, when they change, and why there are none."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock

import pytest
from google.protobuf.duration_pb2 import Duration
from tests.server.domain.hosted import Client, Hosted, dots, hosting
from tests.server.domain.test_private_sequences import waiting
from tests.server.scene import HERE, batch
from tests.support.waiting import PAUSE_S, TIMEOUT_S

from vidscore_evaluators.spotgeo import SpotGeo
from vidscore_evaluators.trust.few_sequences import are_enough
from vidscore_evaluators.trust.tiers import SIGNIFICANCE
from vidscore_protos.v1 import annotations_pb2, benchmark_pb2
from vidscore_protos.v1 import benchmark_service_pb2 as pb
from vidscore_server.domain import tier_updates

LADDER, FINAL, LIVE = (
    benchmark_pb2.VISIBILITY_LADDER,
    benchmark_pb2.VISIBILITY_FINAL,
    benchmark_pb2.VISIBILITY_LIVE,
)


@pytest.fixture(autouse=True)
def _few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer draws: a thousand take long if many tests share a processor.

    As 40 cannot tell systems apart by a few sequences, systems differ as by many.
    """
    for module in ("tiers", "tier_updates"):
        monkeypatch.setattr(f"vidscore_server.domain.{module}.DRAWS", 40)
    monkeypatch.setattr(tier_updates, "share_apart", _apart_of_many)


def _apart_of_many(sizes: Sequence[int]) -> float:
    return SIGNIFICANCE if are_enough(sizes) else 1.0


def sky(sequences: int) -> annotations_pb2.AnnotationBatch:
    """Truth of sequences with an object in each of their two frames."""
    return _found(range(sequences), sequences)


def _found(right: Iterable[int], sequences: int) -> annotations_pb2.AnnotationBatch:
    """Detections that are right in some of the sequences, and find nothing in the others."""
    hits = set(right)
    return batch(
        (("", str(row + 1)), number, HERE if row in hits else [])
        for row in range(sequences)
        for number in (1, 2)
    )


async def submit(client: Client, name: str, right: Iterable[int], sequences: int) -> None:
    """Submit detections that are right in some sequences; returns once they are scored."""
    await client.submit(_found(right, sequences), name)
    await client.ended(name)


async def host_two(hosted: Hosted) -> None:
    """A live benchmark of 6 sequences; red is right in all of them, blue in one."""
    await hosted.organiser.create_benchmark(visibility=LIVE)
    await hosted.organiser.upload(sky(6))
    await submit(hosted.red, "r", range(6), 6)
    await submit(hosted.blue, "b", [0], 6)


async def settled(client: Client, **asked: object) -> pb.GetLeaderboardResponse:
    """The board, once its tiers are up to date."""
    async with asyncio.timeout(TIMEOUT_S):
        while True:
            board = await client.board(**asked)
            if not board.tiers_stale and "being computed" not in board.tiers_note:
                return board
            await asyncio.sleep(PAUSE_S)


def tiers(board: pb.GetLeaderboardResponse) -> dict[str, tuple[int | None, float | None]]:
    """Tier and probability by team, as far as they are shown."""
    return {
        row.team: (
            row.tier if row.HasField("tier") else None,
            row.first_probability if row.HasField("first_probability") else None,
        )
        for row in board.rows
    }


@pytest.mark.slow
@pytest.mark.parametrize("draws_per_job", [2500, 3])
async def test_systems_that_differ_in_every_sequence_have_different_tiers(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch, draws_per_job: int
) -> None:
    """Of 8 sequences red is right in all, blue in 4, the organiser's system in 7."""
    monkeypatch.setattr(tier_updates, "DRAWS_PER_JOB", draws_per_job)
    await hosted.organiser.create_benchmark(visibility=LIVE)
    await hosted.organiser.upload(sky(8))
    await submit(hosted.red, "r", range(8), 8)
    await submit(hosted.blue, "b", range(4), 8)
    await submit(hosted.organiser, "o", range(7), 8)
    board = await settled(hosted.organiser)
    found = tiers(board)
    assert [found[team][0] for team in ("red", "organiser", "blue")] == [1, 1, 2]
    probabilities = [found[team][1] for team in ("red", "organiser", "blue")]
    assert sum(filter(None, probabilities)) == pytest.approx(1.0, abs=1e-12)
    assert board.tiers_note == (
        "systems of one tier cannot be told apart (95 %, paired bootstrap over 8 sequences)"
    )


@pytest.mark.slow
async def test_participants_of_a_board_of_few_sequences_see_only_tiers(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark(visibility=FINAL)
    await hosted.organiser.upload(sky(8))
    await submit(hosted.red, "r", range(8), 8)
    await submit(hosted.blue, "b", range(2), 8)
    for client in (hosted.red, hosted.viewer):
        board = await settled(client)
        assert tiers(board) == {"red": (1, None), "blue": (2, None)}
        assert board.tiers_note.endswith("of being first are not shown: too few sequences")
    exact = tiers(await settled(hosted.organiser))
    assert exact["red"][1] == 41 / 42  # (40 + 2 / 2) / (40 + 2)


@pytest.mark.slow
@pytest.mark.parametrize("visibility", [LADDER, FINAL])
async def test_participants_see_probabilities_in_tenths_from_twenty_sequences_on(
    hosted: Hosted, visibility: benchmark_pb2.Visibility
) -> None:
    await hosted.organiser.create_benchmark(visibility=visibility)
    await hosted.organiser.upload(sky(20))
    await submit(hosted.red, "r", range(12), 20)
    await submit(hosted.blue, "b", range(8, 19), 20)
    shown = tiers(await settled(hosted.viewer))
    exact = tiers(await settled(hosted.organiser))
    assert set(shown) == {"red", "blue"}
    for team, (tier, probability) in shown.items():
        assert probability in {row / 10 for row in range(11)}
        assert exact[team][1] == pytest.approx(probability, abs=0.05)
        assert exact[team][0] == tier


@pytest.mark.slow
async def test_no_probability_is_shown_if_the_latest_submission_ranks(hosted: Hosted) -> None:
    """Each submission would change it, by less than the rounding of its score."""
    latest = benchmark_pb2.SELECTION_LATEST
    await hosted.organiser.create_benchmark(visibility=FINAL, selection=latest)
    await hosted.organiser.upload(sky(20))
    await submit(hosted.red, "r", range(12), 20)
    await submit(hosted.blue, "b", range(8, 19), 20)
    board = await settled(hosted.red)
    assert {probability for _, probability in tiers(board).values()} == {None}
    assert board.tiers_note.endswith("the latest submission of each team counts")
    assert None not in {shown for _, shown in tiers(await settled(hosted.organiser)).values()}


@pytest.mark.parametrize(
    ("public", "over"), [(["labels"], "sequences"), (["sequences"], "2 sequences")]
)
async def test_the_number_of_sequences_is_shown_if_their_names_are_public(
    hosted: Hosted, public: list[str], over: str
) -> None:
    await hosted.organiser.create_benchmark(public=public, visibility=FINAL)
    await hosted.organiser.upload(sky(2))
    await submit(hosted.red, "r", range(2), 2)
    await submit(hosted.blue, "b", [], 2)
    for client, told in ((hosted.viewer, over), (hosted.organiser, "2 sequences")):
        assert f"(95 %, paired bootstrap over {told})" in (await settled(client)).tiers_note


async def test_two_sequences_show_little_even_to_an_organiser(hosted: Hosted) -> None:
    """Two sequences have three different draws: (3 + 1) / (3 + 2), and no second tier."""
    await hosted.organiser.create_benchmark(visibility=LIVE)
    await hosted.organiser.upload(sky(2))
    await submit(hosted.red, "r", range(2), 2)
    await submit(hosted.blue, "b", [], 2)
    board = await settled(hosted.organiser)
    assert [tier for tier, _ in tiers(board).values()] == [1, 1]
    assert [probability for _, probability in tiers(board).values()] == pytest.approx([0.8, 0.2])
    assert board.tiers_note.endswith(
        "all are in one tier, because a domain has fewer than 6 sequences"
    )


async def test_a_board_without_tiers_gives_the_reason(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch
) -> None:
    await hosted.organiser.create_benchmark(visibility=FINAL)
    await hosted.organiser.upload(sky(1))
    await submit(hosted.red, "r", [0], 1)
    alone = await hosted.viewer.board()
    assert alone.tiers_note == "no tiers: fewer than two systems have a score that ranks them"
    await submit(hosted.blue, "b", [], 1)
    board = await hosted.viewer.board()
    assert board.tiers_note.startswith("no tiers: fewer than two sequences have objects")
    assert set(tiers(board).values()) == {(None, None)}
    part = await hosted.viewer.board(domain="")
    assert part.tiers_note == "no tiers: boards of single domains and labels have none"
    assert (await hosted.viewer.board()).tiers_stale is False
    monkeypatch.setattr(hosted.hosting.tiers, "_sequence_tallies", None)  # every draw fails
    await hosted.organiser.upload(sky(2))
    board = await settled(hosted.viewer)
    assert board.tiers_note == "no tiers: the scores have no value on draws of single sequences"


@pytest.mark.parametrize(("shown", "newest"), [(1, 2), (2, 1)])
async def test_tiers_count_the_sequences_of_the_revision_that_the_board_shows(
    hosted: Hosted, shown: int, newest: int
) -> None:
    """Under review, the board still shows the scores of the older truth."""
    review = benchmark_pb2.RESCORE_REVIEW
    await hosted.organiser.create_benchmark(visibility=LIVE, rescore=review)
    await hosted.organiser.upload(sky(shown))
    await submit(hosted.red, "r", range(shown), shown)
    await submit(hosted.blue, "b", [], shown)
    await settled(hosted.organiser)
    await hosted.organiser.upload(sky(newest))
    board = await settled(hosted.organiser)
    assert board.truth_revision == 1
    few = "no tiers: fewer than two sequences have objects, and a bootstrap needs two"
    assert (board.tiers_note == few) is (shown == 1)
    assert tiers(board)["red"][0] == (None if shown == 1 else 1)


async def test_a_board_of_incomplete_truth_has_no_tiers(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark(visibility=LIVE, truth_timeout=Duration(seconds=60))
    await hosted.organiser.upload(sky(4), complete=False)
    for client, name, right in ((hosted.red, "r", range(4)), (hosted.blue, "b", [])):
        await client.submit(_found(right, 4), name)
        await waiting(client, name)
    hosted.clock.pass_by(minutes=2)
    for client, name in ((hosted.red, "r"), (hosted.blue, "b")):
        await client.ended(name)
    board = await hosted.organiser.board()
    assert [row.rank for row in board.rows] == [1, 2]
    assert board.tiers_note == "no tiers: the ground truth is not complete"


@pytest.mark.slow
async def test_an_unreleased_score_changes_no_byte_that_others_see(hosted: Hosted) -> None:
    """Under the Ladder: red's second system is worse, and blue, green and a viewer see nothing."""
    await hosted.organiser.create_benchmark(visibility=LADDER)
    await hosted.organiser.upload(sky(20))
    await submit(hosted.red, "r1", range(15), 20)
    await submit(hosted.blue, "b", range(4, 18), 20)
    watching = (hosted.blue, hosted.viewer)
    before = [_uncounted(await settled(client)) for client in watching]
    own = _uncounted(await settled(hosted.red))
    await settled(hosted.organiser)
    await submit(hosted.red, "r2", range(3), 20)
    await submit(hosted.red, "r3", [1, *range(15)], 20)
    await settled(hosted.organiser)
    await hosted.hosting.tiers.operations.finish()
    assert [_uncounted(await client.board()) for client in watching] == before
    assert _uncounted(await hosted.red.board()) == own


def _uncounted(board: pb.GetLeaderboardResponse) -> bytes:
    """A board without the number of submissions per team, which it shows for all of them."""
    board.submission_count = board.most_submissions = 0
    for row in board.rows:
        row.submission_count = 0
    return board.SerializeToString(deterministic=True)


@pytest.mark.slow
async def test_a_release_makes_tiers_stale_until_they_are_computed(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark(visibility=LADDER)
    await hosted.organiser.upload(sky(20))
    await submit(hosted.red, "r1", range(6), 20)
    await submit(hosted.blue, "b", range(19), 20)
    first = await settled(hosted.viewer)
    assert tiers(first) == {"blue": (1, 1.0), "red": (2, 0.0)}
    await submit(hosted.red, "r2", range(20), 20)
    assert [row.team for row in (await hosted.viewer.board()).rows] == ["red", "blue"]
    later = await settled(hosted.viewer)
    assert tiers(later)["red"][0] == 1


async def test_a_backup_contains_the_tiers_and_draws_of_a_board(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Draws of a submission are scored once, for both boards."""
    scored = []
    async with hosting(tmp_path) as hosted:
        score = hosted.hosting.tiers._score_draws

        async def noted(*arguments: Any) -> Any:
            scored.append(arguments)
            return await score(*arguments)

        monkeypatch.setattr(hosted.hosting.tiers, "_score_draws", noted)
        await hosted.organiser.create_benchmark(visibility=LIVE)
        await hosted.organiser.upload(sky(6))
        await submit(hosted.red, "r", range(6), 6)
        await submit(hosted.blue, "b", [], 6)
        for client in (hosted.organiser, hosted.viewer):
            await settled(client)
        with hosted.hosting.context.store.read() as reader:
            tables = [name for name, _ in reader.dump("dots")]
            assert reader.tiers("dots", "spotgeo", 1, exact=True) is not None
    assert tables.count("tiers") == tables.count("score_draws") == len(scored) == 2


@pytest.mark.slow
async def test_a_team_that_cannot_be_scored_on_draws_does_not_affect_the_tiers_of_others(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch
) -> None:
    await hosted.organiser.create_benchmark(visibility=LIVE)
    await hosted.organiser.upload(sky(6))
    updater = hosted.hosting.tiers
    tally = updater._sequence_tallies

    async def fail(definition: object, name: object, *rest: object) -> object:
        if str(name).endswith("/r"):
            raise RuntimeError("it broke")
        return await tally(definition, name, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(updater, "_sequence_tallies", fail)
    await submit(hosted.red, "r", range(6), 6)
    await submit(hosted.blue, "b", [1], 6)
    await submit(hosted.organiser, "o", range(5), 6)
    board = await settled(hosted.viewer)
    assert tiers(board) == {"red": (None, None), "organiser": (1, None), "blue": (2, None)}
    assert board.tiers_note.endswith("as they were not compared: 1")


@pytest.mark.slow
async def test_after_new_truth_the_old_tiers_are_shown_until_there_are_new_ones(
    hosted: Hosted,
) -> None:
    await host_two(hosted)
    assert [row.tier for row in (await settled(hosted.viewer)).rows] == [1, 2]
    await hosted.organiser.upload(_found([0, 1], 6))
    async with asyncio.timeout(TIMEOUT_S):
        while (board := await hosted.viewer.board()).truth_revision < 2:
            assert [row.tier for row in board.rows] == [1, 2]
            await asyncio.sleep(PAUSE_S)
    board = await settled(hosted.viewer)
    assert [row.team for row in board.rows] == ["blue", "red"]


@pytest.mark.slow
async def test_tiers_that_another_server_computes_are_left_to_it_until_its_lease_ends(
    hosted: Hosted,
) -> None:
    work = "operation tiers dots"
    await hosted.hosting.context.write(lambda t: t.take_lease(work, "other", timedelta(hours=1)))
    await host_two(hosted)
    await hosted.hosting.work()
    await hosted.hosting.tiers.operations.finish()
    assert (await hosted.viewer.board()).tiers_note == "no tiers yet: they are being computed"
    await hosted.hosting.context.write(lambda t: t.end_lease(work, "other"))
    assert [row.tier for row in (await settled(hosted.viewer)).rows] == [1, 2]


@pytest.mark.parametrize("scored", [0, 2])
async def test_a_result_after_its_lease_was_lost_is_not_stored(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch, scored: int
) -> None:
    """The lease goes to another server while the first draws are scored, or two are compared."""
    work, lost, loop = "operation tiers dots", asyncio.Event(), asyncio.get_running_loop()
    score, compare = hosted.hosting.tiers._score_draws, tier_updates.compare

    async def lose() -> None:
        if not lost.is_set():
            lost.set()
            owner = hosted.hosting.leases.owner
            await hosted.hosting.context.write(
                lambda t: (
                    t.end_lease(work, owner) and t.take_lease(work, "other", timedelta(hours=1))
                )
            )

    async def lose_after_scoring(*arguments: Any) -> Any:
        found = await score(*arguments)
        if not scored:
            await lose()
        return found

    def lose_before_comparing(*arguments: Any) -> Any:
        asyncio.run_coroutine_threadsafe(lose(), loop).result()
        return compare(*arguments)

    monkeypatch.setattr(hosted.hosting.tiers, "_score_draws", lose_after_scoring)
    monkeypatch.setattr(tier_updates, "compare", lose_before_comparing)
    await host_two(hosted)
    await asyncio.wait_for(lost.wait(), TIMEOUT_S)
    await hosted.hosting.tiers.operations.finish()
    with hosted.hosting.context.store.read() as reader:
        tables = [table for table, _ in reader.dump("dots")]
    assert (tables.count("score_draws"), tables.count("tiers")) == (scored, 0)
    await hosted.hosting.context.write(lambda t: t.end_lease(work, "other"))
    assert [row.tier for row in (await settled(hosted.viewer)).rows] == [1, 2]


async def test_tiers_by_newer_rules_are_left_to_a_server_that_has_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that has them ended before it computed tiers."""
    monkeypatch.setattr(SpotGeo, "version", "2.0.0")
    async with hosting(tmp_path) as hosted:
        monkeypatch.setattr(hosted.hosting.tiers, "advance", AsyncMock())
        await host_two(hosted)
    for version, has_tiers in (("1.0.0", False), ("2.0.0", True)):
        monkeypatch.setattr(SpotGeo, "version", version)
        async with hosting(tmp_path) as hosted:
            await hosted.hosting.tiers.advance()
            await hosted.hosting.tiers.operations.finish()
            with hosted.hosting.context.store.read() as reader:
                tables = {table for table, _ in reader.dump("dots")}
        assert ("score_draws" in tables) is has_tiers


async def test_draws_of_a_deleted_benchmark_are_not_used_for_the_next_one_of_its_name(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The benchmark is replaced while the draws of its first submission are scored."""
    replaced = asyncio.Event()
    score = hosted.hosting.tiers._score_draws

    async def replace_benchmark(*arguments: Any) -> Any:
        found = await score(*arguments)
        if not replaced.is_set():
            replaced.set()
            await hosted.hosting.context.write(lambda t: t.delete_benchmark("dots"))
            hosted.clock.pass_by(seconds=1)
            await hosted.organiser.create_benchmark(visibility=LIVE)
            await hosted.organiser.upload(_found([4, 5], 6))
            await submit(hosted.red, "r", range(6), 6)
        return found

    monkeypatch.setattr(hosted.hosting.tiers, "_score_draws", replace_benchmark)
    await host_two(hosted)
    await asyncio.wait_for(replaced.wait(), TIMEOUT_S)
    await hosted.hosting.tiers.operations.finish()
    with hosted.hosting.context.store.read() as reader:
        assert "score_draws" not in {table for table, _ in reader.dump("dots")}


@pytest.mark.slow
async def test_tiers_use_the_public_sequences_before_the_closing_and_then_the_private_ones(
    hosted: Hosted,
) -> None:
    """red finds all of the public sequences and nothing of the private ones; blue the opposite.

    The keeper of tiers is idle when the benchmark closes.
    """
    private = [str(number) for number in range(7, 13)]
    benchmark = dots(visibility=LIVE, private_sequences=private)
    benchmark.close_time.FromDatetime(hosted.clock.now + timedelta(days=1))
    await hosted.organiser.create(benchmark)
    await hosted.organiser.upload(sky(12))
    await submit(hosted.red, "r", range(6), 12)
    await submit(hosted.blue, "b", range(6, 12), 12)
    assert [row.team for row in (await settled(hosted.organiser)).rows] == ["red", "blue"]
    assert [row.tier for row in (await settled(hosted.organiser)).rows] == [1, 2]
    await hosted.hosting.tiers.operations.finish()
    await hosted.hosting.tiers.advance()
    hosted.clock.pass_by(days=1)
    board = await settled(hosted.organiser)
    assert [(row.team, row.tier) for row in board.rows] == [("blue", 1), ("red", 2)]


@pytest.mark.slow
@pytest.mark.parametrize("private", [["3"], ["2", "3"]])
async def test_a_board_of_a_single_sequence_has_no_tiers_before_or_after_the_closing(
    hosted: Hosted, private: list[str]
) -> None:
    """Of three sequences one or two are private, so the other part has two or one."""
    benchmark = dots(visibility=LIVE, private_sequences=private)
    benchmark.close_time.FromDatetime(hosted.clock.now + timedelta(days=1))
    await hosted.organiser.create(benchmark)
    await hosted.organiser.upload(sky(3))
    await submit(hosted.red, "r", range(3), 3)
    await submit(hosted.blue, "b", [], 3)
    lack = "no tiers: fewer than two sequences have objects, and a bootstrap needs two"
    for count in (3 - len(private), len(private)):
        board = await settled(hosted.organiser)
        if count == 1:
            assert (board.tiers_note, [row.tier for row in board.rows]) == (lack, [0, 0])
        else:
            assert "paired bootstrap over 2 sequences" in board.tiers_note
            assert [row.tier for row in board.rows] == [1, 1]
        hosted.clock.pass_by(days=2)
