"""What leaves the server: the allow-list, function by function, by docs/hidden-truth.md."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from msgspec import structs

from vidscore_evaluators.evaluator import Direction
from vidscore_evaluators.report import Block, Curve, Report, Row, Scores
from vidscore_evaluators.specification import FrameRanges
from vidscore_server.domain.access import ANONYMOUS, Caller
from vidscore_server.domain.definition import Definition, definition_from_dict
from vidscore_server.domain.ladder import Scale
from vidscore_server.domain.policy import SubmittedNames
from vidscore_server.domain.private_part import Draw
from vidscore_server.domain.release import (
    MOST_CURVE_POINTS,
    Released,
    final_rows,
    knows_part,
    part_values,
    public_definition,
    public_specification,
    released_curves,
    released_report,
    released_streaming,
    released_values,
    releases_differ,
    sees_benchmark,
    sees_board,
    sees_parts,
    shown_values,
    values_from_json,
    values_of,
    values_to_json,
)
from vidscore_server.store.records import Role

RED = Caller("red", Role.PARTICIPANT, "red")
VIEWER = Caller("viewer", Role.VIEWER)
ORGANISER = Caller("organiser", Role.ORGANISER)
OTHERS = (RED, VIEWER, ANONYMOUS)
STEP = 0.01

SPECIFICATION: dict[str, Any] = {
    "evaluators": [{"name": "f1"}],
    "classes": ["bus"],
    "domains": [{"name": "day", "classes": ["car"]}],
    "sequences": [
        {
            "name": "street",
            "domain": "night",
            "frame_count": 9,
            "first_frame": 3,
            "frames": [[3, 5]],
            "dont_care_frames": [[7, 8]],
            "image_width": 640,
        }
    ],
}

CURVE = Curve("p", {"recall": [0.123456], "precision": [0.987654]})
BY_FRAME = Curve("error", {"frame": [1, 2], "error": [0.1, 0.2]})
OF_CAR = Curve("p", {"threshold": [0.555], "recall": [0.123456]}, label="car")
REPORT = Report(
    "f1",
    "1.0.0",
    {"tau": 1},
    truth_digest="of the truth",
    detections_digest="of the detections",
    specification={"sequences": ["all of it"]},
    scores=Scores(
        (
            Block({"f1": (2 / 3,), "precision": (0.123456,), "true_positives": (7,)}),
            Block({"f1": (0.25,), "precision": (0.5,)}, ("day",), ("car",)),
            Block({"f1": (0.75,)}, (None,), (None,), ("street",)),
        ),
        (CURVE,),
    ),
)
ROWS = {(row.domain, row.label, row.sequence, row.measure): row.value for row in REPORT.rows()}


def defined(public: tuple[str, ...] = ("sequences", "labels"), **policy: object) -> Definition:
    return definition_from_dict(
        {**SPECIFICATION, "public_names": list(public), "policy": {"ladder_step": STEP, **policy}}
    )


def keyed(digest: str) -> str:
    return f"keyed, {digest}"


def seen_by(caller: Caller, definition: Definition, step: float = STEP) -> Report:
    released = Released({"f1": 0.6}, step)
    return released_report(caller, definition, REPORT, released, SubmittedNames(), keyed)


# --- Values


def test_values_cover_everything_in_the_order_of_the_ranking() -> None:
    found = values_of(REPORT, ["true_positives", "f1", "hota"])
    assert list(found.items()) == [("true_positives", 7.0), ("f1", 2 / 3), ("hota", None)]
    assert type(found["true_positives"]) is float


def test_values_are_read_from_the_store_unchanged() -> None:
    values = {"mse": 54.25, "f1": None, "a": 0.1}
    found = values_from_json(values_to_json(values))
    assert list(found.items()) == list(values.items())
    assert values_from_json("") == {}


def test_texts_are_no_values() -> None:
    with pytest.raises(ValueError, match="no values"):
        values_from_json('{"f1": "0.5"}')


SCALES = {
    "f1": Scale(Direction.HIGHER),
    "mse": Scale(Direction.LOWER, least=None, greatest=None),
}


@pytest.mark.parametrize(
    ("best", "new", "expected"),
    [
        ({}, {"f1": 0.437, "mse": 33_838.0}, {"f1": 0.44, "mse": 34_000.0}),
        ({"f1": 0.44, "mse": 9.0}, {"f1": 0.444, "mse": 1.0}, {"f1": 0.44, "mse": 9.0}),
        ({"f1": 0.44, "mse": 9.0}, {"f1": 0.456, "mse": 12.0}, {"f1": 0.46, "mse": 12.0}),
        # Released under another ranking: as if nothing had been released.
        ({"mse": 9.0, "f1": 0.9}, {"f1": 0.437, "mse": 12.0}, {"f1": 0.44, "mse": 12.0}),
    ],
)
def test_the_ladder_releases_values_better_by_a_step_and_otherwise_the_last_ones(
    best: dict[str, float], new: dict[str, float], expected: dict[str, float]
) -> None:
    found = released_values(defined().policy, best, new, SCALES, STEP)
    assert list(found.items()) == list(expected.items())


@pytest.mark.parametrize(
    ("visibility", "scales"), [("final", SCALES), ("live", SCALES), ("ladder", {})]
)
def test_without_a_ladder_or_a_scale_new_values_are_released_unchanged(
    visibility: str, scales: dict[str, Scale]
) -> None:
    new = {"f1": 0.1237, "mse": 12.34}
    policy = defined(visibility=visibility).policy
    assert released_values(policy, {"f1": 0.9, "mse": 1.0}, new, scales, STEP) == new


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, False),
        ({"public_board": False, "submissions_per_day": 3}, False),
        ({"visibility": "final"}, True),
        ({"ladder_step": 0.02}, True),
        ({"ranking_measure": "precision"}, True),
    ],
)
def test_a_change_of_visibility_step_or_ranking_alone_needs_another_release(
    change: dict[str, Any], expected: bool
) -> None:
    assert releases_differ(defined(), defined(**change)) is expected


@pytest.mark.parametrize("value", [0.4449, 0.0, None])
def test_a_board_shows_rounded_values_and_marks_undefined_ones(value: float | None) -> None:
    found = shown_values({"f1": value, "mse": 33_838.0}, SCALES, STEP)
    assert found == {"f1": None if value is None else round(value, 2), "mse": 34_000.0}


# --- Reports


@pytest.mark.parametrize("visibility", ["ladder", "bootstrap", "final", "live"])
def test_an_organiser_sees_the_complete_report(visibility: str) -> None:
    assert seen_by(ORGANISER, defined(visibility=visibility)) is REPORT


@pytest.mark.parametrize("caller", OTHERS)
def test_a_live_report_is_complete_except_for_its_digest_of_the_truth(caller: Caller) -> None:
    expected = dataclasses.replace(REPORT, truth_digest="keyed, of the truth")
    assert seen_by(caller, defined(visibility="live")) == expected


@pytest.mark.parametrize("visibility", ["ladder", "bootstrap"])
@pytest.mark.parametrize("caller", OTHERS)
def test_under_the_ladder_a_report_has_only_what_the_ladder_released(
    caller: Caller, visibility: str
) -> None:
    shown = seen_by(caller, defined(visibility=visibility))
    assert shown.rows() == [Row(None, None, None, "f1", 0.6)]
    assert shown.curves == ()
    assert (shown.truth_digest, shown.detections_digest) == ("", "")
    assert shown.specification["sequences"][0]["name"] == "street"
    assert "frames" not in shown.specification["sequences"][0]


@pytest.mark.parametrize("caller", OTHERS)
def test_a_final_report_has_rounded_rows_and_no_digest(caller: Caller) -> None:
    shown = seen_by(caller, defined(visibility="final", release_curves=True))
    assert shown.rows() == [
        Row(None, None, None, "f1", 0.67),
        Row("day", "car", None, "f1", 0.25),
    ]
    assert [curve.columns for curve in shown.curves] == [{"recall": (0.12,), "precision": (0.99,)}]
    assert (shown.truth_digest, shown.detections_digest) == ("", "")
    assert "frames" not in shown.specification["sequences"][0]


@pytest.mark.parametrize("visibility", ["ladder", "bootstrap"])
def test_under_the_ladder_only_organisers_see_streaming_accuracy(visibility: str) -> None:
    definition = defined(visibility=visibility)

    def found(caller: Caller) -> Report | None:
        return released_streaming(caller, definition, REPORT, STEP, SubmittedNames(), keyed)

    assert found(ORGANISER) is REPORT
    assert [found(caller) for caller in OTHERS] == [None, None, None]


@pytest.mark.parametrize("visibility", ["final", "live"])
def test_streaming_accuracy_is_shown_like_any_score(visibility: str) -> None:
    definition = defined(visibility=visibility)
    found = released_streaming(RED, definition, REPORT, STEP, SubmittedNames(), keyed)
    assert found == seen_by(RED, definition)


# --- Rows and curves


def final_parts(definition: Definition, submitted: SubmittedNames) -> set[tuple[str | None, ...]]:
    return {row[:4] for row in final_rows(definition, REPORT, submitted, STEP)}


def test_further_measures_are_shown_if_they_are_released() -> None:
    measures = ["precision", "true_positives"]
    rows = final_rows(
        defined(visibility="final", released_measures=measures), REPORT, SubmittedNames(), STEP
    )
    assert [(row.label, row.measure, row.value) for row in rows] == [
        (None, "f1", 0.67),
        (None, "precision", 0.12),
        (None, "true_positives", 7),
        ("car", "f1", 0.25),
        ("car", "precision", 0.5),
    ]
    assert [type(row.value) for row in rows] == [float, float, int, float, float]


def test_rows_and_curves_of_a_removed_evaluator_are_not_shown() -> None:
    definition = defined(visibility="final", released_measures=["precision"], release_curves=True)
    once = dataclasses.replace(REPORT, evaluator="clear")
    assert final_rows(definition, once, SubmittedNames(), STEP) == []


EVERYTHING = {(None, None, None, "f1")}
PART = {("day", "car", None, "f1")}


@pytest.mark.parametrize(
    ("public", "expected"),
    [
        (("sequences", "labels"), EVERYTHING | PART),
        (("sequences",), EVERYTHING),
        (("labels",), EVERYTHING),
        ((), EVERYTHING),
    ],
)
def test_a_row_of_a_part_is_shown_if_its_names_are_public(
    public: tuple[str, ...], expected: set[tuple[str | None, ...]]
) -> None:
    assert final_parts(defined(public, visibility="final"), SubmittedNames()) == expected


def _of_part(domain: str | None, label: str | None) -> Report:
    block = Block({"f1": (0.5,)}, (domain,), (label,))
    curve = structs.replace(CURVE, domain=domain, label=label)
    return dataclasses.replace(REPORT, scores=Scores((block,), (curve,)))


@pytest.mark.parametrize(
    ("visibility", "domain", "label", "known"),
    [
        ("final", "day", "car", True),  # the benchmark names them
        ("final", "own", "OWN", True),  # the submission does
        ("final", "own", "planted", False),
        ("final", "planted", None, False),
        ("live", "planted", "planted", True),
    ],
)
def test_under_final_a_board_knows_a_part_that_benchmark_or_submission_name(
    visibility: str, domain: str | None, label: str | None, known: bool
) -> None:
    own = SubmittedNames(frozenset({"own"}), frozenset({"own"}))
    assert knows_part(defined(visibility=visibility), own, domain, label) is known


def test_values_of_a_part_are_undefined_where_it_has_none_and_missing_where_it_is_unknown() -> None:
    report = _of_part("day", "car")
    assert part_values(report, "day", "car", ["f1", "mse"]) == {"f1": 0.5, "mse": None}
    assert part_values(report, "day", "car", ["mse"]) is None
    assert part_values(report, "day", None, ["f1"]) is None


@pytest.mark.parametrize(
    ("domain", "label", "public", "known"),
    [
        ("day", None, ("sequences",), True),
        ("day", None, ("labels",), False),
        (None, "car", ("labels",), True),
        (None, "car", ("sequences",), False),
        ("night", None, ("sequences",), True),  # Of a sequence in the specification.
        (None, "BUS", ("labels",), True),
        ("planted", None, ("sequences",), False),
        (None, "planted", ("labels",), False),
        ("own", "OWN", ("sequences", "labels"), True),  # The submission has it.
    ],
)
def test_a_part_is_shown_to_a_caller_that_may_know_and_gives_its_names(
    domain: str | None, label: str | None, public: tuple[str, ...], known: bool
) -> None:
    definition = defined(public, visibility="final", release_curves=True)
    own = SubmittedNames(frozenset({"own"}), frozenset({"own"}))
    report = _of_part(domain, label)
    assert len(final_rows(definition, report, own, STEP)) == known
    assert len(released_curves(definition, report, own, STEP)) == known


def test_released_curves_are_rounded_and_none_is_by_frame() -> None:
    definition = defined(visibility="final", release_curves=True)
    report = dataclasses.replace(REPORT, scores=Scores((), (CURVE, BY_FRAME, OF_CAR)))
    everything, of_car = released_curves(definition, report, SubmittedNames(), STEP)
    assert everything.columns == {"recall": (0.12,), "precision": (0.99,)}
    assert of_car.columns == {"threshold": [0.555], "recall": (0.12,)}


@pytest.mark.parametrize("release", [True, False])
def test_live_reports_keep_all_their_curves(release: bool) -> None:
    definition = defined(visibility="live", release_curves=release)
    report = dataclasses.replace(REPORT, scores=Scores((), (CURVE, BY_FRAME)))
    assert released_curves(definition, report, SubmittedNames(), STEP) == (CURVE, BY_FRAME)


@pytest.mark.parametrize(("points", "expected"), [(MOST_CURVE_POINTS, 1), (1001, 0)])
def test_a_curve_of_more_than_a_thousand_points_is_not_released(points: int, expected: int) -> None:
    definition = defined(visibility="final", release_curves=True)
    curve = Curve("p", {"confidence": [0.5] * points, "recall": [0.5] * points})
    report = dataclasses.replace(REPORT, scores=Scores((), (curve,)))
    assert len(released_curves(definition, report, SubmittedNames(), STEP)) == expected


@pytest.mark.parametrize("visibility", ["ladder", "bootstrap", "final"])
def test_curves_are_released_if_the_policy_says_so(visibility: str) -> None:
    assert released_curves(defined(visibility=visibility), REPORT, SubmittedNames(), STEP) == ()


# --- Who sees what


@pytest.mark.parametrize("public", [True, False])
def test_a_caller_without_a_token_sees_only_public_benchmarks(public: bool) -> None:
    policy = defined(public_board_web=public).policy
    assert sees_benchmark(ANONYMOUS, policy) is public
    assert all(sees_benchmark(caller, policy) is True for caller in (RED, VIEWER, ORGANISER))


@pytest.mark.parametrize("public", [True, False])
def test_a_board_that_is_not_public_is_shown_only_to_organisers(public: bool) -> None:
    policy = defined(public_board=public).policy
    assert sees_board(ORGANISER, policy) is True
    assert [sees_board(caller, policy) for caller in OTHERS] == [public] * 3


PARTS = [(None, None), ("day", None), (None, "car"), ("day", "car")]


@pytest.mark.parametrize(
    ("visibility", "public", "expected"),
    [
        ("ladder", ("sequences", "labels"), [True, False, False, False]),
        ("bootstrap", ("sequences", "labels"), [True, False, False, False]),
        ("final", ("sequences", "labels"), [True, True, True, True]),
        ("final", ("sequences",), [True, True, False, False]),
        ("final", ("labels",), [True, False, True, False]),
        ("final", (), [True, False, False, False]),
        ("live", ("sequences", "labels"), [True, True, True, True]),
    ],
)
def test_scores_of_a_part_are_shown_if_its_names_are_public_without_a_ladder(
    visibility: str, public: tuple[str, ...], expected: list[bool]
) -> None:
    definition = defined(public, visibility=visibility)

    def found(caller: Caller) -> list[bool]:
        return [sees_parts(caller, definition, domain=d, label=c) for d, c in PARTS]

    assert [found(caller) for caller in OTHERS] == [expected] * 3
    assert found(ORGANISER) == [True] * 4


# --- Definitions


def test_a_public_specification_does_not_show_which_frames_have_truth() -> None:
    shown = public_specification(defined(("sequences", "labels", "frame_counts")))
    [sequence] = shown.sequences
    assert (sequence.frames, sequence.dont_care_frames) == (None, FrameRanges())
    assert (sequence.name, sequence.domain, sequence.image_width) == ("street", "night", 640)
    assert (sequence.frame_count, sequence.first_frame) == (9, 3)
    assert shown.classes == ("bus",)
    assert [(entry.name, entry.classes) for entry in shown.domains] == [("day", ("car",))]


def test_a_public_specification_has_only_names_of_public_kinds() -> None:
    [sequence] = public_specification(defined(("sequences", "labels"))).sequences
    assert (sequence.frame_count, sequence.first_frame) == (None, 0)
    without_labels = public_specification(defined(("sequences",)))
    assert without_labels.classes is None
    assert [(entry.name, entry.classes) for entry in without_labels.domains] == [("day", None)]
    without_sequences = public_specification(defined(("labels",)))
    assert (without_sequences.sequences, without_sequences.domains) == ((), ())
    assert without_sequences.classes == ("bus",)


@pytest.mark.parametrize("visibility", ["ladder", "bootstrap", "final", "live"])
def test_only_organisers_see_private_names(visibility: str) -> None:
    whole = structs.replace(
        defined(visibility=visibility, private_sequences=["hidden"]),
        private_names=("hidden",),
        draw=Draw("key", "cut"),
    )
    assert public_definition(ORGANISER, whole) is whole
    expected = whole.specification if visibility == "live" else public_specification(whole)
    for caller in OTHERS:
        shown = public_definition(caller, whole)
        assert shown.specification == expected
        assert (shown.policy.private_sequences, shown.private_names, shown.draw) == ((), (), None)
        assert dataclasses.replace(shown.policy, private_sequences=("hidden",)) == whole.policy
