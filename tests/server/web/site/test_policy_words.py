"""Policies in sentences: every key has one, which describes what the server does."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime
from typing import Any

import pytest

from vidscore_server.domain.policy import Policy
from vidscore_server.web.site.policy_words import sentences

POLICY: dict[str, Any] = {
    "visibility": "ladder",
    "ladder_step": 0.01,
    "released_measures": [],
    "outcomes": "none",
    "minimum_frames": 100,
    "quiet_timeout": 3600.0,
    "quiet_action": "seal",
    "truth_timeout": 604800.0,
    "submissions_per_day": 3,
    "submissions_in_all": 40,
    "ranking_measure": "",
    "selection": "best",
    "earlier_first": False,
    "public_board": True,
    "public_board_web": False,
    "release_curves": False,
    "rescore": "automatic",
}

OTHERS: dict[str, tuple[Any, dict[str, Any]]] = {
    "visibility": ("live", {}),
    "ladder_step": (0.1, {}),
    "released_measures": (["recall"], {"visibility": "final"}),
    "outcomes": ("own", {"visibility": "final"}),
    "minimum_frames": (10, {"visibility": "live"}),
    "quiet_timeout_s": (60.0, {}),
    "quiet_action": ("cancel", {}),
    "truth_timeout_s": (3600.0, {}),
    "submissions_per_day": (0, {}),
    "submissions_in_all": (-1, {}),
    "ranking_measure": ("f1", {}),
    "selection": ("latest", {}),
    "earlier_first": (True, {}),
    "public_board": (False, {}),
    "public_board_web": (True, {}),
    "release_curves": (True, {"visibility": "final"}),
    "rescore": ("review", {}),
    "private_sequences": (["one"], {}),
    "private_share": (0.5, {}),
    "final_submissions": (2, {"private_share": 0.5}),
}
"""For each key another value than that of `POLICY`, and the choices under which it counts."""


def benchmark(**policy: Any) -> dict[str, Any]:
    chosen = POLICY | policy
    budget = 12 if chosen["submissions_in_all"] == -1 else chosen["submissions_in_all"]
    return {
        "policy": chosen,
        "submission_budget": budget,
        "private_sequence_count": len(chosen.get("private_sequences", ())),
        "open_time": None,
        "close_time": None,
    }


@pytest.mark.parametrize("key", [field.name for field in dataclasses.fields(Policy)])
def test_every_key_of_a_policy_has_its_sentence(key: str) -> None:
    """Another value gives other sentences."""
    value, where = OTHERS[key]
    before = sentences(benchmark(**where))
    assert sentences(benchmark(**where | {key.removesuffix("_s"): value})) != before


def said(**policy: Any) -> str:
    return " ".join(sentences(benchmark(**policy)))


def test_limits_are_described_together() -> None:
    expected = "A team may have three submissions a day (UTC) and 40 in all."
    assert expected in said()


def test_the_absence_of_a_limit_is_described() -> None:
    text = said(submissions_per_day=0, submissions_in_all=0)
    assert "A team may have any number of submissions." in text


def test_a_limit_that_follows_from_the_truth_says_so() -> None:
    text = said(submissions_per_day=0, submissions_in_all=-1)
    assert "A team may have twelve submissions." in text
    assert "follows from the size of the ground truth" in text


def test_the_ladder_is_described_with_its_step() -> None:
    assert "only where they beat the team's best by 0.01 or more" in said()


def test_the_step_in_force_is_shown_instead_of_that_of_the_policy() -> None:
    text = " ".join(sentences(benchmark() | {"ladder_step_in_force": 0.1}))
    assert "beat the team's best by 0.1 or more" in text


def test_final_scores_name_the_released_measures() -> None:
    text = said(visibility="final", released_measures=["recall", "f1"], ladder_step=0.05)
    assert "the measures that rank, and Recall and F1, rounded to 0.05" in text


def test_waiting_is_described_in_words() -> None:
    text = said(quiet_timeout=5400.0, quiet_action="cancel", truth_timeout=86400.0)
    assert "nothing is added for 90 minutes is cancelled" in text
    assert "scored after one day" in text


def test_private_sequences_are_described_with_their_number_if_known() -> None:
    known = benchmark(private_share=0.5, final_submissions=2) | {"private_sequence_count": 12}
    text = " ".join(sentences(known))
    assert "Twelve sequences are private" in text
    assert "up to two submissions for the final order" in text
    assert "Some sequences are private" in said(private_share=0.5)


def test_readers_without_names_of_private_sequences_read_that_these_decide() -> None:
    """Participants get only their number."""
    told = benchmark(final_submissions=2)
    text = " ".join(sentences(told | {"private_sequence_count": 2}))
    assert "Two sequences are private" in text
    assert "they decide the final order" in text
    assert "Each team chooses up to two submissions for the final order." in text
    assert "private" not in " ".join(sentences(told))


def test_dates_come_first() -> None:
    dated = benchmark() | {
        "open_time": datetime(2026, 10, 1, tzinfo=UTC),
        "close_time": datetime(2026, 12, 15, 18, tzinfo=UTC),
    }
    assert sentences(dated)[0] == (
        "Submissions are taken from 1 Oct 2026, 00:00 UTC to 15 Dec 2026, 18:00 UTC."
    )
