"""The rules that follow from a policy, and which of its choices exclude each other."""

from __future__ import annotations

from typing import Any

import pytest

from vidscore_server.domain.policy import (
    NameKind,
    Policy,
    SubmittedNames,
    in_order,
    withheld_warning,
)


@pytest.mark.parametrize(
    ("chosen", "keeps"),
    [({}, False), ({"private_sequences": ("a",)}, True), ({"private_share": 0.01}, True)],
)
def test_sequences_are_private_by_name_or_by_fraction(chosen: dict[str, Any], keeps: bool) -> None:
    assert Policy(**chosen).keeps_private is keeps


@pytest.mark.parametrize(
    ("chosen", "released"),
    [
        ({"visibility": "live"}, True),
        ({"visibility": "final"}, False),
        ({"visibility": "final", "release_curves": True}, True),
        ({"visibility": "ladder"}, False),
    ],
)
def test_curves_are_released_with_live_scores_or_by_choice(
    chosen: dict[str, Any], released: bool
) -> None:
    assert Policy(**chosen).releases_curves is released


@pytest.mark.parametrize("visibility", ["ladder", "bootstrap", "final", "live"])
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("released_measures", ("recall",)),
        ("selection", "latest"),
        ("outcomes", "own"),
        ("release_curves", True),
    ],
)
def test_no_choice_may_reveal_more_than_the_ladder(
    visibility: Any, field: str, value: object
) -> None:
    chosen: dict[str, Any] = {"visibility": visibility, field: value}
    expected = [field] if visibility in {"ladder", "bootstrap"} else []
    assert [fault.field for fault in Policy(**chosen).faults()] == expected


@pytest.mark.parametrize(
    ("chosen", "fields"),
    [
        ({"private_sequences": ("a",), "private_share": 0.5}, ["private_share"]),
        ({"private_sequences": ("a",)}, []),
        ({"private_share": 0.5}, []),
        ({"public_board_web": True, "public_board": False}, ["public_board_web"]),
        ({"public_board_web": True, "public_board": True}, []),
        ({"public_board_web": False, "public_board": False}, []),
    ],
)
def test_choices_that_exclude_each_other_are_named(
    chosen: dict[str, Any], fields: list[str]
) -> None:
    assert [fault.field for fault in Policy(**chosen).faults()] == fields


@pytest.mark.parametrize(
    ("public", "words"),
    [
        ({"sequences", "labels"}, None),
        ({"sequences", "labels", "frame_counts"}, None),
        ({"sequences"}, "its labels and frames"),
        ({"labels"}, "its sequences and frames"),
        ({"sequences", "frame_counts"}, "its labels"),
        (set(), "its sequences, labels and frames"),
    ],
)
def test_participants_are_warned_that_names_are_withheld(
    public: set[str], words: str | None
) -> None:
    found = withheld_warning(frozenset(map(NameKind, public)))
    assert found.startswith(f"the benchmark does not publish {words}:" if words else "")
    assert bool(found) is (words is not None)


def test_kinds_of_names_have_a_fixed_order() -> None:
    kinds = [NameKind.FRAME_COUNTS, NameKind.SEQUENCES]
    assert in_order(kinds) == in_order(reversed(kinds)) == ["sequences", "frame_counts"]


def test_a_submission_has_names_of_both_kinds_and_labels_in_any_case() -> None:
    names = SubmittedNames(frozenset({"Tower"})) | SubmittedNames(labels=frozenset({"car"}))
    assert [
        names.has(domain, label)
        for domain, label in (
            (None, None), ("Tower", "CAR"), (None, "car"), ("tower", None), ("Tower", "bus"),
            ("Other", "car"),
        )
    ] == [True, True, True, False, False, False]  # fmt: skip
