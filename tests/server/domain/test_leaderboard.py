"""Rank order, ties, undefined scores, and which submission of a team counts."""

from __future__ import annotations

from random import Random
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from tests.server.store.records import later

from vidscore_evaluators.evaluator import Direction
from vidscore_server.domain.leaderboard import BoardRules, Entry, counted, rank, rank_apart

F1_MSE = (Direction.HIGHER, Direction.LOWER)


def entry(
    team: str, *values: float | None, sealed_s: float = 0.0, name: str | None = None
) -> Entry:
    return Entry(team, name or f"of-{team}", "", later(sealed_s), values)


def board(*entries: Entry, **rules: object) -> list[tuple[int, str]]:
    chosen = BoardRules(F1_MSE, **rules)  # type: ignore[arg-type]
    return [(ranked.rank, ranked.entry.submission) for ranked in rank(entries, chosen)]


def test_the_second_measure_decides_if_the_first_is_equal() -> None:
    assert board(entry("a", 0.5, 9.0), entry("b", 0.5, 8.0), entry("c", 0.6, 99.0)) == [
        (1, "of-c"),
        (2, "of-b"),
        (3, "of-a"),
    ]


def test_rows_equal_in_all_measures_share_a_rank_and_the_next_rank_is_skipped() -> None:
    found = board(
        entry("a", 0.5, 9.0, sealed_s=2), entry("b", 0.5, 9.0, sealed_s=1), entry("c", 0.4, 1.0)
    )
    assert found == [(1, "of-b"), (1, "of-a"), (3, "of-c")]


def test_the_earlier_submission_ranks_first_only_if_the_policy_says_so() -> None:
    entries = (entry("a", 0.5, 9.0, sealed_s=2), entry("b", 0.5, 9.0, sealed_s=1))
    assert board(*entries, earlier_first=True) == [(1, "of-b"), (2, "of-a")]
    assert board(*entries) == [(1, "of-b"), (1, "of-a")]


def test_an_undefined_score_ranks_after_the_worst_defined_one() -> None:
    assert board(entry("a", None, 0.0), entry("b", 0.0, 1e9), entry("c", 0.0, None)) == [
        (1, "of-b"),
        (2, "of-c"),
        (3, "of-a"),
    ]


@pytest.mark.parametrize(("selection", "chosen"), [("best", "first"), ("latest", "second")])
def test_a_team_is_ranked_by_its_best_or_its_latest_submission(
    selection: Literal["best", "latest"], chosen: str
) -> None:
    first = entry("a", 0.9, 1.0, sealed_s=1, name="first")
    second = entry("a", 0.1, 1.0, sealed_s=2, name="second")
    for entries in ((first, second), (second, first)):
        assert board(*entries, selection=selection) == [(1, chosen)]


def test_among_equal_scores_a_team_is_ranked_by_the_submission_sealed_first() -> None:
    first = entry("a", 0.9, 1.0, sealed_s=1, name="z")
    second = entry("a", 0.9, 1.0, sealed_s=2, name="b")
    for entries in ((first, second), (second, first)):
        assert board(*entries) == [(1, "z")]


def test_submissions_that_cannot_be_compared_are_listed_separately_newest_per_team() -> None:
    found = rank_apart(
        [
            entry("a", 0.9, 1.0, sealed_s=3, name="new"),
            entry("a", 0.9, 1.0, sealed_s=1, name="old"),
            entry("b", 0.1, 1.0, sealed_s=2),
        ]
    )
    assert [(ranked.rank, ranked.entry.submission) for ranked in found] == [(0, "of-b"), (0, "new")]


@pytest.mark.parametrize(
    ("selection", "chosen", "most", "counting"),
    [
        ("best", "", 1, {"b"}),
        ("best", "", 2, {"b", "c"}),
        ("latest", "", 1, {"d"}),
        ("latest", "", 2, {"d", "c"}),
        ("best", "a", 2, {"a"}),
        ("best", "ac", 1, {"c"}),
        ("latest", "ab", 1, {"b"}),
    ],
)
def test_the_final_order_uses_the_chosen_submissions_or_else_the_best_ones(
    selection: Literal["best", "latest"], chosen: str, most: int, counting: set[str]
) -> None:
    """Sealed in the order of their names; the only submission of another team always counts."""
    own = [
        structs.replace(entry("red", f1, 1.0, sealed_s=row, name=name), chosen=name in chosen)
        for row, (name, f1) in enumerate({"a": 0.1, "b": 0.9, "c": 0.5, "d": None}.items())
    ]
    rules = BoardRules(F1_MSE, selection=selection)
    assert counted([*reversed(own), entry("blue", None, None)], rules, most) == (
        counting | {"of-blue"}
    )


ENTRIES = st.lists(
    st.builds(
        lambda team, f1, mse, second: entry(team, f1, mse, sealed_s=second, name=f"{team}{second}"),
        st.sampled_from("abcd"),
        st.one_of(st.none(), st.sampled_from([0.0, 0.5, 1.0])),
        st.one_of(st.none(), st.sampled_from([0.0, 1.0])),
        st.integers(0, 5),
    ),
    max_size=12,
    unique_by=lambda entry: entry.submission,
)


@given(ENTRIES, st.randoms())
def test_the_board_does_not_depend_on_the_order_of_the_entries(
    entries: list[Entry], random: Random
) -> None:
    shuffled = list(entries)
    random.shuffle(shuffled)
    assert board(*entries) == board(*shuffled)
    assert len(board(*entries)) == len({entry.team for entry in entries})
