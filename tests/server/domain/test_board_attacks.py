"""Adaptive submissions gain no more than documented, and more without a protection."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from tools.attack_study import BUDGETS, SEQUENCES, SETTINGS, Gain, documented_gains, mean_gain
from tools.board_attack import Arena, Setting, gain, gains

SEEDS = range(1000, 1030)
"""Different from those of the study, whose figures are in the documentation."""

ERRORS = 3.0
"""Number of standard errors that a difference must exceed."""

PAIRED = ("default", "50")
"""Budgets of the campaign; 500 submissions are left to the study."""

EXACT, STEP, PRIVATE = (
    "every score exactly",
    "`ladder`, default step",
    "`ladder`, step 0.01, half of the sequences private",
)
LADDER = Setting({"visibility": "ladder", "ladder_step": 0.01})
FINAL = Setting({"visibility": "final", "ladder_step": 0.01})
LATEST = replace(FINAL, policy={**FINAL.policy, "selection": "latest"})


def attacked(setting: Setting, sequences: int, budget: str) -> Gain:
    """The mean gain of a few attacks."""
    return mean_gain(gains(setting, sequences, BUDGETS[budget], SEEDS))


def exceeds(one: Gain, other: Gain) -> bool:
    """Whether a gain exceeds another by more than chance."""
    return one.mean - other.mean > ERRORS * math.hypot(one.error, other.error)


def test_the_documentation_covers_every_policy_budget_and_number_of_sequences() -> None:
    expected = {
        (name, budget, count) for name in SETTINGS for budget in BUDGETS for count in SEQUENCES
    }
    assert set(documented_gains()) == expected


def test_the_same_seed_gives_the_same_attack() -> None:
    assert gain(LADDER, 5, 8, 3) == gain(LADDER, 5, 8, 3)
    assert gain(LADDER, 5, 8, 3) != gain(LADDER, 5, 8, 4)


def test_budgets_are_the_documented_ones() -> None:
    assert [Arena(LADDER, count, 0).budget for count in SEQUENCES] == [5, 8, 20, 80]
    """100 objects a sequence: sqrt(0.25 / 500 + 0.04 / 5) is 0.092, which 0.1 is above."""
    default = SETTINGS[STEP]
    assert [Arena(default, count, 0).step for count in SEQUENCES] == [0.1, 0.05, 0.05, 0.02]
    assert Arena(Setting({"visibility": "live"}), 20, 0).budget == 3


@pytest.mark.parametrize("setting", [LADDER, LATEST, replace(LADDER, private_share=0.5)])
def test_an_attacker_sees_no_probability_of_few_sequences(setting: Setting) -> None:
    arena = Arena(setting, 19, 0)
    assert arena.submit(arena.system()).probability == 0.0
    leaky = Arena(replace(setting, leaky=True), 19, 0)
    assert leaky.submit(leaky.system()).probability > 0.0


def test_an_unreleased_submission_changes_nothing_that_its_team_sees() -> None:
    """Worse ones, equal ones, and better ones by less than a step."""
    arena = Arena(LADDER, 50, 0)
    first = arena.system()
    seen = arena.submit(first)
    for change in (-0.05, 0.0, 0.004):
        assert arena.submit(first + change) == seen
    assert arena.submit(first + 0.02) != seen


@pytest.mark.campaign
@pytest.mark.parametrize("sequences", SEQUENCES)
@pytest.mark.parametrize("budget", PAIRED)
@pytest.mark.parametrize("name", SETTINGS)
def test_no_policy_allows_more_gain_than_documented(name: str, budget: str, sequences: int) -> None:
    found = attacked(SETTINGS[name], sequences, budget)
    assert not exceeds(found, documented_gains()[name, budget, sequences])


@pytest.mark.campaign
@pytest.mark.parametrize("sequences", SEQUENCES)
def test_without_private_sequences_the_attack_succeeds(sequences: int) -> None:
    private = SETTINGS[PRIVATE]
    nothing = Gain(0.0, 0.0)
    assert not exceeds(attacked(private, sequences, "50"), nothing)
    assert exceeds(attacked(replace(private, private_share=0.0), sequences, "50"), nothing)


@pytest.mark.campaign
@pytest.mark.parametrize("sequences", SEQUENCES)
def test_without_the_ladder_the_attack_gains_more(sequences: int) -> None:
    protected = attacked(SETTINGS[STEP], sequences, "50")
    assert exceeds(attacked(SETTINGS[EXACT], sequences, "50"), protected)


@pytest.mark.campaign
@pytest.mark.parametrize("sequences", SEQUENCES)
def test_without_a_budget_the_attack_gains_more(sequences: int) -> None:
    setting = SETTINGS[EXACT]
    few = attacked(setting, sequences, "default")
    assert exceeds(attacked(setting, sequences, "50"), few)


@pytest.mark.campaign
@pytest.mark.parametrize("setting", [LADDER, LATEST], ids=["ladder", "final-latest"])
def test_tiers_of_unreleased_scores_would_let_the_attack_succeed(setting: Setting) -> None:
    """With 200 sequences, for which the step protects most."""
    leaky = attacked(replace(setting, leaky=True), 200, "50")
    assert exceeds(leaky, attacked(setting, 200, "50"))


@pytest.mark.campaign
@pytest.mark.parametrize("sequences", SEQUENCES)
def test_tiers_by_the_latest_submission_reveal_no_more_than_by_the_best(sequences: int) -> None:
    assert not exceeds(attacked(LATEST, sequences, "50"), attacked(FINAL, sequences, "50"))
