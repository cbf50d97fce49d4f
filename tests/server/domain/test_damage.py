"""Stored bytes that were changed behind the server's back are never scored."""

from __future__ import annotations

import asyncio
import sqlite3
import zlib
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import grpc
import orjson
import pytest
from tests.server.domain.hosted import TRUTH, hosting, refusal
from tests.server.domain.test_board_tiers import settled, sky, submit, tiers
from tests.server.domain.test_boards import _rescore, _waited
from tests.server.domain.test_organisers_calls import _preview as preview
from tests.server.domain.test_rescored_boards import update
from tests.server.domain.test_scoring import DETECTIONS
from tests.server.scene import points
from tests.support.waiting import TIMEOUT_S

from vidscore_protos.v1 import benchmark_pb2
from vidscore_protos.v1 import submission_service_pb2 as pb
from vidscore_server.api.batches import data_of
from vidscore_server.domain.batches import pack
from vidscore_server.domain.leases import ChangedBenchmarks
from vidscore_server.store.errors import StoreDamagedError

CHANGED = points({1: [(12.0, 20.0)], 2: [], 3: [(50.0, 60.0)], 4: [], 5: []})
OTHER, _ = pack(data_of(CHANGED))
ENDED = (pb.SUBMISSION_STATE_SCORED, pb.SUBMISSION_STATE_FAILED)


@pytest.mark.parametrize("table", ["detection_batches", "truth_batches"])
async def test_a_changed_payload_is_not_scored_and_the_log_gives_the_reason(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, table: str
) -> None:
    async with hosting(tmp_path, held=True) as hosted:
        await hosted.organiser.create_benchmark()
        await hosted.organiser.upload(TRUTH)
        await hosted.organiser.submit(DETECTIONS)
    with closing(sqlite3.connect(tmp_path / "store.db")) as connection, connection:
        connection.execute(f"UPDATE {table} SET payload = ?", (OTHER,))
    async with hosting(tmp_path) as hosted:
        ended = await hosted.organiser.ended()
        assert ended.submission.state_reason == "scoring_failed"
        assert not await hosted.organiser.scores()
    assert "StoreDamagedError" in str([record.__dict__ for record in caplog.records])


OF_VERSION_0_2 = {"sequences": 4, "resamples": 35, "values": {"f1": [0.5] * 40, "mse": [1.0] * 40}}
"""Draws without the share from which on a system is worse."""


@pytest.mark.parametrize(
    ("changed", "value"),
    [
        ("tiers SET document", "{"),
        ("score_draws SET payload", b"{"),
        ("score_draws SET payload", zlib.compress(orjson.dumps(OF_VERSION_0_2))),
    ],
    ids=["tiers", "draws", "older draws"],
)
async def test_damaged_tiers_and_draws_are_computed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: str, value: str | bytes
) -> None:
    for module in ("tiers", "tier_updates"):
        monkeypatch.setattr(f"vidscore_server.domain.{module}.DRAWS", 40)
    async with hosting(tmp_path) as hosted:
        await hosted.organiser.create_benchmark(visibility=benchmark_pb2.VISIBILITY_LIVE)
        await hosted.organiser.upload(sky(4))
        await submit(hosted.red, "r", range(4), 4)
        await submit(hosted.blue, "b", range(1), 4)
        before = tiers(await settled(hosted.organiser))
    assert before["red"][0] == 1
    with closing(sqlite3.connect(tmp_path / "store.db")) as connection, connection:
        connection.execute(f"UPDATE {changed} = ?", (value,))
        if changed.startswith("score_draws"):
            connection.execute("DELETE FROM tiers")
    async with hosting(tmp_path) as hosted:
        await submit(hosted.red, "again", range(4), 4)  # Another board from the same draws.
        assert tiers(await settled(hosted.organiser)) == before


@pytest.mark.parametrize(
    ("changed", "left"),
    [
        ("\"values\" = '{'", ["blue"]),
        ("\"values\" = '[1]'", ["blue"]),
        ('"values" = \'{"f1": "high"}\'', ["blue"]),
        (f"report = x'{zlib.compress(b'{').hex()}'", ["red", "blue"]),
        ("report = x'00'", ["red", "blue"]),  # Without the measures that do not rank.
    ],
)
async def test_a_damaged_score_is_left_out_of_boards_until_it_is_scored_again(
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    changed: str,
    left: list[str],
) -> None:
    async with hosting(tmp_path) as hosted:
        await hosted.organiser.create_benchmark(
            visibility=benchmark_pb2.VISIBILITY_LIVE, released_measures=["precision"]
        )
        await hosted.organiser.upload(TRUTH)
        both = (hosted.red, "red", TRUTH), (hosted.blue, "blue", DETECTIONS)
        for client, name, batch in both:
            await client.submit(batch, name)
            await client.ended(name)
        before = await hosted.organiser.board()
    assert [row.team for row in before.rows] == ["red", "blue"]
    with closing(sqlite3.connect(tmp_path / "store.db")) as connection, connection:
        of_red = "submission_id = (SELECT id FROM submissions WHERE submission = 'red')"
        connection.execute(f"UPDATE scores SET {changed} WHERE {of_red}")
    async with hosting(tmp_path) as hosted:
        board = await hosted.organiser.board()
        assert [row.team for row in board.rows] == left
        await hosted.organiser.listed()
        assert caplog.messages.count("score is damaged") == 1, "however often it is read"
        if "report" in changed:
            found = await refusal(hosted.organiser.scores("red"))
            assert found.code is grpc.StatusCode.DATA_LOSS
            assert found.message == "a stored score is damaged: score the submission again"
        await _waited(hosted.organiser, await _rescore(hosted.organiser, "red"))
        assert (await hosted.organiser.board()).rows == before.rows


async def test_damaged_releases_and_scores_stop_no_later_score_and_no_change_of_the_policy(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Under a ladder, a score is compared with what its team was released before."""

    def under_final(benchmark: benchmark_pb2.Benchmark) -> None:
        benchmark.policy.visibility = benchmark_pb2.VISIBILITY_FINAL

    async with hosting(tmp_path) as hosted:
        await hosted.organiser.create_benchmark(visibility=benchmark_pb2.VISIBILITY_LADDER)
        await hosted.organiser.upload(TRUTH)
        await hosted.red.submit(DETECTIONS, "first")
        await hosted.red.ended("first")
    with closing(sqlite3.connect(tmp_path / "store.db")) as connection, connection:
        connection.execute("UPDATE releases SET \"values\" = '{'")
        connection.execute("UPDATE scores SET \"values\" = '{', report = x'00'")
    async with hosting(tmp_path) as hosted:
        assert not (await preview(hosted, visibility=benchmark_pb2.VISIBILITY_FINAL)).team_views
        await hosted.red.submit(TRUTH, "second")
        ended = await hosted.red.ended("second")
        assert ended.submission.state == pb.SUBMISSION_STATE_SCORED
        await update(hosted, "policy", change=under_final)
        board = await hosted.red.board()
        assert [row.submission.rpartition("/")[2] for row in board.rows] == ["second"]
    assert "score is damaged" in caplog.messages


def test_a_benchmark_that_cannot_be_read_does_not_block_others_and_is_examined_again() -> None:
    damaged = {"damaged"}

    def has_work(_: object, name: str) -> bool:
        if name in damaged:
            raise StoreDamagedError
        return True

    work: Any = SimpleNamespace(free=lambda _, names: names)
    found: dict[str, object] = {"damaged": 1, "whole": 1}
    reader: Any = SimpleNamespace(benchmark_revisions=lambda: found)
    changed = ChangedBenchmarks(work, str, has_work)
    for _ in range(2):
        assert changed.due(reader, most=2) == ["whole"]
    damaged.clear()
    assert changed.due(reader, most=2) == ["whole", "damaged"]
    assert changed.due(reader, most=2) == ["damaged", "whole"]


async def test_a_damaged_payload_does_not_block_other_submissions_with_live_scores(
    tmp_path: Path,
) -> None:
    async with hosting(tmp_path, held=True) as hosted:
        await hosted.organiser.create_benchmark(visibility=benchmark_pb2.VISIBILITY_LIVE)
        await hosted.organiser.upload(TRUTH)
        await hosted.organiser.begin(DETECTIONS)
    with closing(sqlite3.connect(tmp_path / "store.db")) as connection, connection:
        connection.execute("UPDATE detection_batches SET payload = ?", (OTHER,))
    async with hosting(tmp_path) as hosted:
        await hosted.organiser.seal()
        await hosted.organiser.submit(DETECTIONS, "two")
        found = []
        for name in ("two", "one"):
            async with asyncio.timeout(TIMEOUT_S):
                while (state := (await hosted.organiser.get(name)).state) not in ENDED:
                    pass
            found.append(state)
        assert found == [pb.SUBMISSION_STATE_SCORED, pb.SUBMISSION_STATE_FAILED]
