"""`vidscore leaderboard` with tiers, against a real server with real workers."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from tests.clients.cli.conftest import spotgeo_entry
from tests.clients.cli.helpers import Call, well
from tests.support.waiting import eventually

SEQUENCES = 6


def write_sky(path: Path, found: int) -> None:
    """Five frames with an object in each sequence, which is found in some of the sequences."""
    entries = [
        spotgeo_entry(frame, *[(100, 100)] * (number < found), sequence=number + 1)
        for number in range(SEQUENCES)
        for frame in range(1, 6)
    ]
    path.write_text(json.dumps(entries))


@pytest.mark.slow
def test_a_board_is_listed_with_its_tiers(folder: Path, organiser: Call, falcon: Call) -> None:
    for name, found in (("truth", SEQUENCES), ("good", SEQUENCES), ("bad", 1)):
        write_sky(folder / f"{name}.json", found)
    well(organiser("benchmark", "create", "tiered", "benchmark.toml"))
    well(organiser("benchmark", "truth", "tiered", "--truth", "truth.json"))
    well(falcon("submit", "tiered", "--detections", "good.json"))
    well(organiser("submit", "tiered", "--detections", "bad.json"))

    def notes() -> str:
        return str(organiser("leaderboard", "tiered").stderr)

    eventually(lambda: "cannot be told apart" in notes() and "older than the board" not in notes())
    text = well(organiser("leaderboard", "tiered", "--format", "csv"))
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [(row["team"], row["tier"]) for row in rows] == [("falcon", "1"), ("organiser", "2")]
    assert 0.99 < float(rows[0]["first_probability"]) < 1.0
    table = well(organiser("leaderboard", "tiered"))
    assert table.split()[:3] == ["rank", "tier", "first_probability"]
    assert "paired bootstrap over 6 sequences" in notes()

    def shown() -> list[tuple[int | None, float | None]]:
        document = json.loads(well(falcon("leaderboard", "tiered", "--format", "json")))
        return [(row["tier"], row["first_probability"]) for row in document]

    eventually(lambda: shown() == [(1, None), (2, None)])
    table = well(falcon("leaderboard", "tiered"))
    assert table.split()[:3] == ["rank", "tier", "team"]
