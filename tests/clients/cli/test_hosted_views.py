"""What commands show and write of a hosted benchmark, by who asks."""

from __future__ import annotations

import stat
from pathlib import Path

from tests.clients.cli.helpers import Call, well


def test_truth_that_is_read_back_is_for_its_organiser_alone(
    hosted: str, organiser: Call, tmp_path: Path
) -> None:
    """As a backup is, also in place of a file that others could read."""
    (tmp_path / "read.csv").touch(0o644)
    well(organiser("benchmark", "read-truth", hosted, str(tmp_path / "read.csv")))
    assert stat.S_IMODE((tmp_path / "read.csv").stat().st_mode) == 0o600


def test_a_score_that_the_ladder_does_not_release_is_not_taken_for_the_one_that_is_shown(
    folder: Path, organiser: Call, falcon: Call
) -> None:
    """One detection less is right; what is shown is the score of the first."""
    (folder / "ladder.toml").write_text('title = "Steps"\n\n[[evaluators]]\nname = "spotgeo"\n')
    well(organiser("benchmark", "create", "steps", "ladder.toml"))
    well(organiser("benchmark", "truth", "steps", "--truth", "truth.json"))
    worse = (folder / "detections.json").read_text().replace("204", "400")
    (folder / "worse.json").write_text(worse)
    first = falcon("submit", "steps", "--detections", "detections.json", "--name", "first")
    second = falcon("submit", "steps", "--detections", "worse.json", "--name", "second")
    assert well(second) == well(first)
    assert "no step better" not in first.stderr
    assert "steps/first stands for its team, at rank 1; its own score is no step" in second.stderr
    (folder / "perfect.json").write_text((folder / "truth.json").read_text())
    third = falcon("submit", "steps", "--detections", "perfect.json", "--name", "third")
    assert "steps/third has rank 1" in third.stderr
    again = falcon("submit", "steps", "--detections", "detections.json", "--name", "first")
    assert well(again) == well(first)  # its own, though a later one stands
    assert "steps/third stands for its team" in again.stderr
    assert "no step better" not in again.stderr


def test_a_participant_is_shown_no_number_of_a_revision_that_it_may_not_know(
    hosted: str, organiser: Call, falcon: Call
) -> None:
    """Revision 0 beside a board under revision 1 would be wrong."""
    for call, shown in ((organiser, "1"), (falcon, "")):
        table = well(call("benchmark", "show", hosted))
        [line] = [line for line in table.splitlines() if line.startswith("truth_revision")]
        assert line.removeprefix("truth_revision").strip() == shown
        listed = well(call("benchmark", "list", "--format", "csv"))
        [row] = [row for row in listed.splitlines() if row.startswith(f"{hosted},")]
        assert row.rpartition(",")[2] == shown
