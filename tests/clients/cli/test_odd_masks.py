"""Suspicious masks: `validate` and `score` warn about either side."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.clients.cli.helpers import run
from tests.evaluators.plausibility.odd_masks import ODD, ODD_RESULTS, ODD_TRUTH

TRUTH, DETECTIONS = "the ground truth", "the detections"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "truth.json").write_text(ODD_TRUTH)
    (tmp_path / "found.json").write_text(ODD_RESULTS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("command", "sides"),
    [
        (("validate", "truth.json"), (TRUTH,)),
        (("validate", "found.json", "--side", "detections"), (DETECTIONS,)),
        (("validate", "found.json", "--truth", "truth.json"), (TRUTH, DETECTIONS)),
        (
            ("score", "coco-segmentation", "--truth", "truth.json", "--detections", "found.json"),
            (TRUTH, DETECTIONS),
        ),
    ],
)
def test_each_suspicion_is_reported_for_each_side(
    command: tuple[str, ...], sides: tuple[str, ...]
) -> None:
    result = run(*command)
    assert result.exit_code == 0, result.stderr
    for side in (TRUTH, DETECTIONS):
        for words in ODD:
            told = words.format(side=side) + ", the first" in result.stderr.replace(
                ", so that nothing can match them", ""
            )
            assert told == (side in sides), words


@pytest.mark.usefixtures("files")
def test_strict_scoring_refuses_suspicious_masks() -> None:
    sides = ("--truth", "truth.json", "--detections", "found.json")
    result = run("score", "coco-segmentation", *sides, "--strict")
    assert result.exit_code == 1
    assert result.stdout == ""
