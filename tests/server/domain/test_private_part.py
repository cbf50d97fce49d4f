"""Which sequences are private, and what a complete truth determines."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from vidscore_evaluators.annotations import SequenceKey
from vidscore_evaluators.errors import InputError
from vidscore_server.domain.benchmarks import from_json, to_json
from vidscore_server.domain.definition import definition_from_dict
from vidscore_server.domain.policy import Policy, TruthSize
from vidscore_server.domain.private_part import (
    Portion,
    Settled,
    board_portion,
    draw_share,
    is_private,
    settle,
)

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def keys(count: int, domain: str = "") -> list[SequenceKey]:
    return [SequenceKey(domain, f"{row}") for row in range(count)]


def drawn(key: str, count: int, share: float) -> set[SequenceKey]:
    draw = draw_share(key, keys(count), share)
    return {sequence for sequence in keys(count) if draw.has(sequence)}


@pytest.mark.parametrize(
    ("count", "share", "private"),
    [(10, 0.5, 5), (5, 0.5, 3), (5, 0.3, 2), (2, 0.5, 1), (10, 0.01, 1), (10, 0.99, 9)],
)
def test_the_fraction_decides_how_many_are_drawn_at_least_one_and_not_all(
    count: int, share: float, private: int
) -> None:
    assert len(drawn("key", count, share)) == private


def test_the_same_key_draws_the_same_sequences_in_any_order() -> None:
    forwards, backwards = (draw_share("k", order, 0.5) for order in (keys(9), keys(9)[::-1]))
    assert forwards == backwards


def test_without_the_key_nobody_can_predict_the_draw() -> None:
    """Over 200 keys each sequence is drawn in half of the cases: 100, within 5 sigma."""
    times = [sum(key in drawn(f"{number}", 6, 0.5) for number in range(200)) for key in keys(6)]
    assert all(65 < count < 135 for count in times)
    assert len({frozenset(drawn(f"{number}", 6, 0.5)) for number in range(200)}) == 20


def test_a_smaller_fraction_draws_a_subset_of_a_larger_one() -> None:
    assert drawn("key", 20, 0.2) < drawn("key", 20, 0.5) < drawn("key", 20, 0.8)


def test_a_name_may_include_its_domain_or_hold_for_all_domains() -> None:
    policy = Policy(private_sequences=("one", "night/two"))
    private = [
        (domain, name)
        for domain in ("day", "night")
        for name in ("one", "two")
        if is_private(policy, None, SequenceKey(domain, name))
    ]
    assert private == [("day", "one"), ("night", "one"), ("night", "two")]


def test_before_the_draw_everything_is_private() -> None:
    assert is_private(Policy(private_share=0.1), None, SequenceKey("", "a"))
    assert not is_private(Policy(), None, SequenceKey("", "a"))


def test_complete_truth_determines_the_draw_and_the_public_size() -> None:
    objects = dict.fromkeys(keys(4), 10) | {SequenceKey("", "empty"): 0}
    found = settle(Policy(private_share=0.5), None, objects, lambda: "key")
    assert found.size == TruthSize(20, 2)
    assert set(found.names) - {"empty"} == {key.sequence for key in drawn("key", 4, 0.5)}


def test_one_of_two_sequences_is_drawn() -> None:
    found = settle(Policy(private_share=0.5), None, dict.fromkeys(keys(2), 7), lambda: "key")
    assert (found.size, len(found.names)) == (TruthSize(7, 1), 1)


def test_objects_of_private_sequences_do_not_count_towards_the_public_size() -> None:
    objects = {SequenceKey("", name): count for name, count in (("a", 1), ("b", 10), ("c", 100))}
    found = settle(Policy(private_sequences=("b",)), None, objects, lambda: "key")
    assert found == Settled(TruthSize(101, 2), None, ("b",))


def test_a_later_truth_keeps_the_draw() -> None:
    policy = Policy(private_share=0.5)
    first = settle(policy, None, dict.fromkeys(keys(4), 1), lambda: "key")
    later = settle(policy, first.draw, dict.fromkeys(keys(30), 1), lambda: "another")
    assert later.draw == first.draw
    assert set(first.names) == set(later.names) & {"0", "1", "2", "3"}


def test_a_stored_benchmark_keeps_its_draw() -> None:
    """Also at a site with another secret, where it is restored from a backup."""
    document = {"evaluators": [{"name": "f1"}], "policy": {"private_sequences": 0.5}}
    found = settle(Policy(private_share=0.5), None, dict.fromkeys(keys(4), 1), lambda: "key")
    definition = replace(
        definition_from_dict(document),
        truth_size=found.size,
        private_names=found.names,
        draw=found.draw,
    )
    assert from_json(to_json(definition)) == definition
    assert [key.sequence for key in keys(4) if definition.is_private(key)] == list(found.names)


@pytest.mark.parametrize(
    ("policy", "told"),
    [
        (Policy(private_sequences=("0", "nine")), "no sequence 'nine'"),
        (Policy(private_sequences=("0", "1", "2")), "3 private of 3 sequences"),
        (Policy(private_sequences=("empty",)), "0 private of 3 sequences"),
    ],
)
def test_a_truth_that_leaves_a_part_empty_is_refused(policy: Policy, told: str) -> None:
    objects = dict.fromkeys(keys(3), 1) | {SequenceKey("", "empty"): 0}
    with pytest.raises(InputError, match=told):
        settle(policy, None, objects, lambda: "key")


def test_a_long_unknown_name_is_shortened_in_the_error() -> None:
    with pytest.raises(InputError) as caught:
        settle(Policy(private_sequences=("x" * 500,)), None, dict.fromkeys(keys(3), 1), str)
    [fault] = caught.value.faults
    assert fault.found == "no sequence '" + "x" * 107


def test_a_single_sequence_cannot_be_divided() -> None:
    with pytest.raises(InputError, match="1 private of 1 sequence with"):
        settle(Policy(private_share=0.5), None, {SequenceKey("", "a"): 3}, lambda: "key")


@given(st.floats(0.001, 0.999), st.integers(2, 60))
def test_every_fraction_leaves_something_on_both_sides(share: float, count: int) -> None:
    assert 0 < len(drawn("key", count, share)) < count


def test_a_board_uses_the_private_part_from_the_closing_on() -> None:
    policy = Policy(private_share=0.5)
    moment = timedelta(microseconds=1)
    assert board_portion(policy, NOON, NOON - moment) is Portion.PUBLIC
    assert board_portion(policy, NOON, NOON) is Portion.PRIVATE
    assert board_portion(policy, None, NOON) is Portion.PUBLIC
    assert board_portion(Policy(), NOON, NOON) is Portion.WHOLE
