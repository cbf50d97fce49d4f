"""Results that are kept for tables of names."""

from __future__ import annotations

from vidscore_evaluators.kept import FEWEST_NAMES, KEPT, MOST_NAMES, kept_by_table


def _table(count: int, prefix: str = "") -> tuple[str, ...]:
    return tuple(f"{prefix}{number}" for number in range(count))


def test_a_table_that_was_seen_is_not_worked_on_again() -> None:
    seen: list[int] = []

    @kept_by_table
    def last_name(names: tuple[str, ...]) -> str:
        seen.append(len(names))
        return names[-1]

    names = _table(FEWEST_NAMES)
    assert [last_name(names), last_name(names)] == ["63", "63"]
    assert seen == [FEWEST_NAMES]


def test_another_table_has_a_result_of_its_own() -> None:
    @kept_by_table
    def last_name(names: tuple[str, ...]) -> str:
        return names[-1]

    # Each is freed before the next one is made, which may then lie in the same place.
    found = [last_name(_table(FEWEST_NAMES, f"{prefix}-")) for prefix in range(3 * KEPT)]
    assert found == [f"{prefix}-{FEWEST_NAMES - 1}" for prefix in range(3 * KEPT)]


def test_small_tables_and_very_large_ones_are_not_held() -> None:
    seen: list[int] = []

    @kept_by_table
    def count(names: tuple[str, ...]) -> int:
        seen.append(len(names))
        return len(names)

    for names in (_table(FEWEST_NAMES - 1), _table(MOST_NAMES + 1)):
        assert count(names) == count(names) == len(names)
    assert seen == [FEWEST_NAMES - 1] * 2 + [MOST_NAMES + 1] * 2


def test_the_order_of_tables_counts() -> None:
    @kept_by_table
    def first_of(mine: tuple[str, ...], _other: tuple[str, ...]) -> str:
        return mine[0]

    mine, other = _table(FEWEST_NAMES, "a"), _table(FEWEST_NAMES, "b")
    assert [first_of(mine, other), first_of(other, mine)] == ["a0", "b0"]
