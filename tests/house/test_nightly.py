"""The page of long campaigns names each of them, and is written without losing rows."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.support.tree import ROOT
from tools import campaign_record, nightly
from tools.nightly import CAMPAIGNS, PAGE, Campaign, row_of, summary, with_row

EMPTY = "# Page\n\n| command | tries |\n| --- | --- |\n"
NOW = datetime(2026, 11, 22, tzinfo=UTC)


def test_each_campaign_is_a_target_of_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for campaign in CAMPAIGNS:
        assert f"\n{campaign.target}: " in makefile, campaign.target


def test_a_row_is_added_once_and_then_replaced() -> None:
    first, second = Campaign("one", "a"), Campaign("two", "b")
    page = EMPTY
    for campaign, result in ((first, "1 passed"), (second, "2 passed"), (first, "3 passed")):
        page = with_row(page, row_of(campaign, result, 60.0, NOW, "abc"))
    assert page == (
        EMPTY
        + "| `make one` | a | 3 passed | 1 min | 2026-11-22, abc |\n"
        + "| `make two` | b | 2 passed | 1 min | 2026-11-22, abc |\n"
    )


def test_a_failed_campaign_is_reported_as_failed_whatever_its_log_says() -> None:
    assert summary("==== 3 passed in 1.00s ====\n", 0) == "3 passed"
    assert summary("==== 3 passed in 1.00s ====\n", 2) == "FAILED: 3 passed"
    assert summary("go pass\njava pass\n", 0) == "go pass; java pass"
    assert summary("killed\n", 1) == "FAILED: no summary"


def test_the_page_has_a_table_for_the_rows() -> None:
    row = row_of(CAMPAIGNS[0], "passed", 0.0, NOW, "abc")
    assert row in with_row(PAGE.read_text(encoding="utf-8"), row)


def test_campaigns_of_one_target_have_rows_of_their_own() -> None:
    first, second = (Campaign("robustness", "a", {"CAMPAIGN": name}) for name in ("disk", "kills"))
    page = EMPTY
    for campaign, result in ((first, "1 passed"), (second, "2 passed"), (first, "3 passed")):
        page = with_row(page, row_of(campaign, result, 60.0, NOW, "abc"))
    assert page == (
        EMPTY
        + "| `make robustness CAMPAIGN=disk` | a | 3 passed | 1 min | 2026-11-22, abc |\n"
        + "| `make robustness CAMPAIGN=kills` | a | 2 passed | 1 min | 2026-11-22, abc |\n"
    )


def test_a_night_that_was_stopped_continues_with_the_remaining_campaigns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[str] = []

    def run(campaign: Campaign) -> bool:
        if campaign.name == "third" and "third" not in ran:
            ran.append("third")
            raise KeyboardInterrupt
        ran.append(campaign.name)
        return campaign.name != "first"

    campaigns = [Campaign(name, "a") for name in ("first", "second", "third")]
    monkeypatch.setattr(nightly, "CAMPAIGNS", campaigns)
    monkeypatch.setattr(nightly, "DONE", tmp_path / "done.json")
    monkeypatch.setattr(nightly, "run", run)
    with pytest.raises(KeyboardInterrupt):
        nightly.main([])
    assert nightly.main(["--resume"]) == 1, "the first one has failed before it was stopped"
    assert ran == ["first", "second", "third", "third"]
    assert nightly.main(["second"]) == 0, "without --resume all of it runs again"
    assert ran[-1] == "second"


def test_a_short_night_takes_less_time_and_the_next_seed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[str] = []

    def run(campaign: Campaign) -> bool:
        ran.append(campaign.command)
        return True

    monkeypatch.setattr(nightly, "DONE", tmp_path / "done.json")
    monkeypatch.setattr(nightly, "run", run)
    monkeypatch.setattr(campaign_record, "next_seed", lambda _: 7)
    assert nightly.main(["--effort", "2", "disk", "clients"]) == 0
    assert ran == ["make clients", "make robustness CAMPAIGN=disk EFFORT=2 SEED=7"]
