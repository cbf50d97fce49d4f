"""The record of the robustness campaigns adds up what runs report, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.campaigns.planted import planted_bugs
from tests.support.tree import ROOT
from tools.campaign_record import (
    CAMPAIGNS,
    VARIABLE,
    campaigns_table,
    figures_table,
    next_seed,
    record,
    sum_of_faults,
)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    kept = tmp_path / "record.json"
    monkeypatch.setenv(VARIABLE, str(kept))
    return kept


def test_runs_of_a_campaign_add_up(path: Path) -> None:
    record("disk", 4, {"disk full": 3, "short writes": 1}, [], 1800.0)
    record("histories", 0, {"histories": 8}, [], 60.0)
    record("disk", 5, {"disk full": 2}, ["a frame is lost"], 1800.0)
    kept = json.loads(path.read_text())
    assert set(kept) == {"disk", "histories"}
    disk = kept["disk"]
    assert (disk["runs"], disk["seconds"], disk["last_seed"]) == (2, 3600.0, 5)
    assert disk["faults"] == {"disk full": 5, "short writes": 1}
    assert [(found["seed"], found["what"]) for found in disk["findings"]] == [
        (5, "a frame is lost")
    ]


def test_the_next_seed_is_the_one_after_the_greatest(path: Path) -> None:
    assert next_seed("disk", path) == 0
    for seed in (7, 3):
        record("disk", seed, {"disk full": 1}, [], 1.0)
    assert next_seed("disk", path) == 8


def test_the_table_shows_the_sums_and_the_command_that_repeats_the_last_run(path: Path) -> None:
    record("disk", 7, {"disk full": 1200}, [], 5400.0)
    *_, row = campaigns_table(path).splitlines()
    assert "1,200 disk full" in row
    assert "90 min" in row
    assert "`make robustness CAMPAIGN=disk SEED=7`" in row


def test_nothing_is_recorded_without_a_record_file(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE)
    record("disk", 0, {"disk full": 1}, [], 1.0)
    assert not path.exists()


def test_an_unknown_campaign_is_refused() -> None:
    with pytest.raises(KeyError, match="nothing"):
        record("nothing", 0, {}, [], 1.0)


@pytest.mark.parametrize("name", CAMPAIGNS)
def test_the_tests_that_repeat_a_campaign_exist(name: str) -> None:
    command = CAMPAIGNS[name].command
    _, target, *settings = command.split()
    assert f"\n{target}: " in (ROOT / "Makefile").read_text("utf-8")
    modules = [text.partition("=")[2] for text in settings if text.startswith("CAMPAIGN=")]
    assert all((ROOT / f"tests/campaigns/test_{module}.py").is_file() for module in modules)


def test_every_campaign_of_the_robustness_folder_has_a_planted_bug() -> None:
    modules = {
        path.stem.removeprefix("test_")
        for folder in ("campaigns", "crash")
        for path in (ROOT / "tests" / folder).glob("test_*")
    }
    # The planted bug of `crashes` also breaks what the second campaign checks.
    by_hand = {"planted", "several_servers"}
    assert modules - by_hand == {bug.campaign for bug in planted_bugs()}


def test_measurements_of_a_run_are_shown_beside_its_sums(path: Path) -> None:
    record("load", 0, {"frames": 50}, [], 60.0, {"longest": "0.3 s", "streams": 50})
    record("load", 1, {"frames": 1000}, [], 60.0, {"longest": "0.4 s", "streams": 1000})
    *_, first, second = figures_table(path).splitlines()
    assert (first, second) == ("| load | longest | 0.4 s |", "| load | streams | 1000 |")


def test_the_sum_of_faults_counts_only_servers_power_disks_and_networks(path: Path) -> None:
    record("disk", 0, {"times full": 3}, [], 1.0)
    kills = {"SIGKILLs of a server": 1000, "SIGKILLs of a server that starts": 20}
    record("kills", 0, {**kills, "competitions for a stream": 7}, [], 1.0)
    met = {"SIGKILLs of the server": 4, "connections of Go broken": 5, "submissions of Go": 9}
    record("network", 0, met, [], 1.0)
    record("fuzzing", 0, {"inputs of file readers": 50}, [], 1.0)
    said = sum_of_faults(path)
    assert "these were 1,032 faults" in said
    assert "1,004 of them\nSIGKILLs of a serving process" in said
