"""Fingerprints distinguish contents, and do not depend on order or division."""

from __future__ import annotations

import hashlib
import itertools
import struct
from collections.abc import Callable, Mapping

import numpy as np
import pytest
from hypothesis import example, given, settings
from msgspec.structs import replace

from vidscore_evaluators.annotations import Annotations, concatenate
from vidscore_evaluators.evaluator import Needs
from vidscore_evaluators.fingerprint import Fingerprint, fingerprint
from vidscore_evaluators.testing import Case, Thing, cases, make_annotations, seeds, shuffled
from vidscore_evaluators.testing.examples import example_count

NEEDS = Needs((4,), (4,), confidences=True, tracks=True)
SMALL = make_annotations(
    {("d", "s"): {3: [Thing((1, 2, 3, 4), "a", 0.5, 7, 0, {"area": 4.0}), (5, 6, 7, 8)], 4: []}}
)


@settings(max_examples=example_count(40))
@given(cases(NEEDS), seeds())
def test_order_and_unused_names_do_not_matter(scene: Case, seed: int) -> None:
    assert fingerprint(shuffled(scene.truth, seed)) == fingerprint(scene.truth)


@settings(max_examples=example_count(40))
@given(cases(NEEDS), seeds())
def test_fingerprints_of_parts_add_up(scene: Case, seed: int) -> None:
    mine = np.random.default_rng(seed).random(scene.truth.frame_count) < 0.5
    parts = [fingerprint(scene.truth.take_frames(rows)) for rows in (mine, ~mine)]
    assert parts[0] + parts[1] == fingerprint(scene.truth)


def test_parts_add_up_if_only_one_of_them_has_a_named_column() -> None:
    """A column that a part lacks is NaN in the whole, which does not count as content."""
    bare = make_annotations({("d", "t"): {0: [(1, 1, 2, 2)]}})
    assert fingerprint(SMALL) + fingerprint(bare) == fingerprint(concatenate([SMALL, bare]))


TIMED = make_annotations({("", "s"): {0: [(1, 1)], 1: []}}, times_s={(("", "s"), 0): 2.5})


def test_a_time_is_part_of_the_fingerprint_and_a_missing_one_is_not() -> None:
    timed = TIMED.frame_times_s
    assert timed is not None
    bare = replace(TIMED, frame_times_s=None)
    assert fingerprint(TIMED) != fingerprint(bare)
    assert fingerprint(TIMED) != fingerprint(replace(TIMED, frame_times_s=timed[::-1].copy()))
    second = np.array([False, True])
    assert fingerprint(TIMED.take_frames(second)) == fingerprint(bare.take_frames(second))


def test_the_time_zero_is_different_content_from_no_time() -> None:
    bare = replace(TIMED, frame_times_s=None)
    assert fingerprint(replace(bare, frame_times_s=np.zeros(2))) != fingerprint(bare)


def test_content_without_times_keeps_its_fingerprint_from_before_times_existed() -> None:
    """Digits of vidscore 0.1.0, whose stores and reports have them."""
    assert str(fingerprint(SMALL)) == "f8f02b2424230e7955580e5b4a5e9f2c"


def _with(name: str, change: Callable[[np.ndarray], None]) -> Annotations:
    column = getattr(SMALL, name).copy()
    change(column)
    return replace(SMALL, **{name: column})


def _set(index: int | tuple[int, int], value: float) -> Callable[[np.ndarray], None]:
    def change(column: np.ndarray) -> None:
        column[index] = value

    return change


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(_with("frame_numbers", _set(0, 5)), id="frame number"),
        pytest.param(_with("frame_flags", _set(1, 1)), id="frame flag"),
        pytest.param(_with("frame_starts", _set(1, 1)), id="object in the next frame"),
        pytest.param(_with("coordinates", _set((0, 3), 4.5)), id="coordinate"),
        pytest.param(_with("label_indices", _set(0, 1)), id="label"),
        pytest.param(_with("confidences", _set(0, 0.25)), id="confidence"),
        pytest.param(_with("track_ids", _set(1, 7)), id="track"),
        pytest.param(_with("flags", _set(1, 1)), id="object flag"),
        pytest.param(replace(SMALL, columns={"area": np.array([4.0, 4.0])}), id="area"),
        pytest.param(replace(SMALL, columns={"size": SMALL.columns["area"]}), id="column name"),
        pytest.param(replace(SMALL, labels=("b", "")), id="label name"),
        pytest.param(SMALL.take_frames(np.array([0])), id="empty frame left out"),
        pytest.param(SMALL.take_objects(np.array([0])), id="object left out"),
    ],
)
def test_any_change_of_content_changes_the_fingerprint(other: Annotations) -> None:
    assert fingerprint(other) != fingerprint(SMALL)


def test_swapped_corners_are_different_content() -> None:
    swapped = replace(SMALL, coordinates=SMALL.coordinates[:, [2, 3, 0, 1]])
    assert fingerprint(swapped) != fingerprint(SMALL)


def test_names_cannot_run_into_each_other() -> None:
    first = make_annotations({("ab", "c"): {0: []}}, arity=2)
    second = make_annotations({("a", "bc"): {0: []}}, arity=2)
    assert fingerprint(first) != fingerprint(second)


def test_zero_has_no_sign() -> None:
    positive = make_annotations({("", "s"): {0: [Thing((0.0, 1.0), confidence=0.0)]}})
    negative = make_annotations({("", "s"): {0: [Thing((-0.0, 1.0), confidence=-0.0)]}})
    assert fingerprint(positive) == fingerprint(negative)


def test_two_equal_objects_differ_from_one() -> None:
    once = make_annotations({("", "s"): {0: [(1, 1)]}})
    twice = make_annotations({("", "s"): {0: [(1, 1), (1, 1)]}})
    assert fingerprint(once) != fingerprint(twice)


def test_the_digits_of_a_fingerprint_are_read_back() -> None:
    mark = fingerprint(SMALL)
    assert len(str(mark)) == 32
    assert Fingerprint.from_hex(str(mark)) == mark
    with pytest.raises(ValueError, match="16 bytes, not 15"):
        Fingerprint.from_hex(str(mark)[2:])


def test_empty_content_has_the_fingerprint_zero() -> None:
    assert fingerprint(SMALL.take_frames(np.zeros(2, dtype=np.bool_))) == Fingerprint()
    assert str(Fingerprint()) == "0" * 32


@pytest.mark.slow
def test_boxes_of_small_integers_differ_in_each_lane() -> None:
    """Such coordinates differ only in a few high bits, which weak mixing would lose."""
    corners = itertools.product(range(1, 9), repeat=4)
    marks = [fingerprint(make_annotations({("", "s"): {0: [box]}})) for box in corners]
    for lane in (0, 1):
        assert len({mark.lanes[lane] for mark in marks}) == 8**4


# --- by hand ---------------------------------------------------------------------------------

WORD = 2**64
SEEDS = (0x9E3779B97F4A7C15, 0xD1B54A32D192ED03)


def _named(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def _word(value: int | float) -> int:
    """Bits of a value: for a number its binary64, with the upper half folded onto the lower one."""
    if not isinstance(value, float):
        return value % WORD
    bits: int = struct.unpack("<Q", struct.pack("<d", value + 0.0))[0]
    return bits ^ (bits >> 32)


def _mixed(state: int) -> int:
    state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 % WORD
    state = (state ^ (state >> 27)) * 0x94D049BB133111EB % WORD
    return state ^ (state >> 31)


def _hash(begin: int, seed: int, columns: Mapping[str, float]) -> int:
    words = (
        _word(value) * (_named(f"{seed} {name}") | 1)
        for name, value in columns.items()
        if value == value  # noqa: PLR0124 - NaN is no content
    )
    return _mixed((begin + sum(words)) % WORD)


def _by_hand(annotations: Annotations) -> tuple[int, int]:
    """Object by object, in Python's integers."""
    lanes = []
    for seed in SEEDS:
        total = 0
        for frame, sequence in enumerate(annotations.frame_sequences.tolist()):
            frame_columns: dict[str, float] = {
                "frame_number": int(annotations.frame_numbers[frame]),
                "frame_flags": int(annotations.frame_flags[frame]),
            }
            if annotations.frame_times_s is not None:
                # The bits of 0 would be those of no time.
                frame_columns["frame_time_s"] = annotations.frame_times_s.tolist()[frame] or -1.0
            name = "\x00".join(annotations.sequences[sequence])
            of_frame = _hash(_named(name) ^ seed, seed, frame_columns)
            total += of_frame
            for row in range(*annotations.frame_starts[frame : frame + 2].tolist()):
                columns = {
                    **{
                        f"coordinate_{index}": float(value)
                        for index, value in enumerate(annotations.coordinates[row])
                    },
                    "confidence": float(annotations.confidences[row]),
                    "track_id": int(annotations.track_ids[row]),
                    "flags": int(annotations.flags[row]),
                    **{
                        f"column {name}": float(values[row])
                        for name, values in annotations.columns.items()
                    },
                }
                label = annotations.labels[annotations.label_indices[row]]
                total += _hash(of_frame ^ _named(label), seed, columns)
        lanes.append(total % WORD)
    return lanes[0], lanes[1]


@settings(max_examples=example_count(40))
@given(cases(NEEDS))
@example(Case(SMALL, _with("coordinates", _set((0, 0), -0.0))))
@example(Case(replace(SMALL, columns={"area": np.array([np.nan, -0.0])}), SMALL))
def test_a_fingerprint_is_the_sum_of_hashes_worked_out_one_by_one(scene: Case) -> None:
    for side in (scene.truth, scene.detections):
        assert fingerprint(side).lanes == _by_hand(side)


def test_a_row_with_a_missing_name_is_refused() -> None:
    for wrong in (-1, len(SMALL.labels)):
        with pytest.raises(IndexError):
            fingerprint(_with("label_indices", _set(0, wrong)))
    with pytest.raises(ValueError, match="rows"):
        fingerprint(replace(SMALL, label_indices=SMALL.label_indices[:1]))
