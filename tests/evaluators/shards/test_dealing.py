"""The shard to which a sequence belongs."""

from __future__ import annotations

import pytest

from vidscore_evaluators.annotations import SequenceKey
from vidscore_evaluators.errors import ParameterError
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.shards.dealing import (
    MAXIMUM_SHARDS,
    Shard,
    check_cut,
    shard_number,
    shards_of_frames,
)
from vidscore_evaluators.testing.examples import make_annotations

DIGESTS = {
    SequenceKey("Tower", "001"): 0x0128A70583827E36,
    SequenceKey("", "street"): 0x63D70E20D87585C2,
}
"""By ``printf 'Tower\\000001' | b2sum -l 64``."""


@pytest.mark.parametrize("key", list(DIGESTS))
@pytest.mark.parametrize("count", [1, 2, 3, 64])
def test_a_sequence_goes_to_the_remainder_of_the_digest_of_its_name(
    key: SequenceKey, count: int
) -> None:
    assert shard_number(key, count) == DIGESTS[key] % count + 1


def test_every_frame_goes_to_the_shard_of_its_sequence() -> None:
    keys = list(DIGESTS)
    side = make_annotations({keys[0]: {0: [(1, 1)], 1: []}, keys[1]: {5: []}})
    assert shards_of_frames(side, 64).tolist() == [
        shard_number(keys[0], 64),
        shard_number(keys[0], 64),
        shard_number(keys[1], 64),
    ]


@pytest.mark.parametrize(
    ("number", "count"), [(3, 64), (1, 1), (1, 4), (4, 4), (MAXIMUM_SHARDS, MAXIMUM_SHARDS)]
)
def test_a_shard_is_read_as_it_is_written(number: int, count: int) -> None:
    assert Shard.parse(f"{number}/{count}") == Shard(number, count)
    assert str(Shard(number, count)) == f"{number}/{count}"


def test_a_divided_sequence_is_dealt_by_parts_of_a_fixed_number_of_frames() -> None:
    """Frames 0 to 9 are part 0, and frame 25 is part 2."""
    key = SequenceKey("", "street")
    side = make_annotations({key: {0: [(1, 1)], 9: [], 10: [], 25: []}})
    assert shards_of_frames(side, 1000, cut_frames=10).tolist() == [
        shard_number(key, 1000, part) for part in (0, 0, 1, 2)
    ]


@pytest.mark.parametrize(
    "text",
    ["", "3", "0/4", "5/4", "-1/4", "1/0", "a/b", "1/4/4", " 1/4", f"1/{MAXIMUM_SHARDS + 1}"],
)
def test_an_invalid_shard_is_refused(text: str) -> None:
    with pytest.raises(ParameterError, match="shard K of N, from 1/N to N/N"):
        Shard.parse(text)
    with pytest.raises(ParameterError) as caught:
        Shard.parse(f"{text}/" + "x" * 99)
    assert len(caught.value.faults[0].found) == 80


def test_parts_have_at_least_one_frame_number() -> None:
    check_cut([], 1)
    with pytest.raises(ParameterError, match="cut_frames: found 0, expected at least 1"):
        check_cut([], 0)


def test_evaluators_of_whole_sequences_are_named_and_not_divided() -> None:
    evaluators = [create_evaluator(name) for name in ("f1", "hota", "clear")]
    check_cut(evaluators, None)
    check_cut(evaluators[:1], 100)
    with pytest.raises(ParameterError) as caught:
        check_cut(evaluators, 100)
    assert [fault.found for fault in caught.value.faults] == [
        "hota, which judges whole sequences",
        "clear, which judges whole sequences",
    ]


def test_all_shards_are_from_the_first_to_the_last() -> None:
    assert Shard.all_of(1) == [Shard(1, 1)]
    assert Shard.all_of(3) == [Shard(1, 3), Shard(2, 3), Shard(3, 3)]
    with pytest.raises(ParameterError):
        Shard.all_of(0)
