"""Stored bytes that were changed behind the server's back are never scored."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.server.domain.hosted import TRUTH, hosting
from tests.server.domain.test_scoring import DETECTIONS
from tests.server.scene import points

from vidscore_server.api.batches import data_of
from vidscore_server.domain.batches import pack

CHANGED = points({1: [(12.0, 20.0)], 2: [], 3: [(50.0, 60.0)], 4: [], 5: []})
OTHER, _ = pack(data_of(CHANGED))


@pytest.mark.parametrize("table", ["detection_batches", "truth_batches"])
async def test_a_payload_that_was_changed_is_not_scored_and_the_log_says_why(
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
