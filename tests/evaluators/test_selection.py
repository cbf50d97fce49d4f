"""A part of the data is scored as if it were alone, and the report names the part."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import vidscore
from vidscore_evaluators.annotations import Annotations, SequenceKey, Side, frame_keys
from vidscore_evaluators.convert import from_dict, to_dict
from vidscore_evaluators.errors import InputError, ParameterError
from vidscore_evaluators.evaluator import Needs
from vidscore_evaluators.outcome_table import OUTCOMES, SIDES, Outcomes
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.report import Report, report_from_dict, report_to_dict
from vidscore_evaluators.scoring import score, score_annotations
from vidscore_evaluators.selection import ALL, Selection
from vidscore_evaluators.specification import (
    BenchmarkSpec,
    DomainSpec,
    EvaluatorSpec,
    FrameRanges,
    SequenceSpec,
)
from vidscore_evaluators.testing import Case, Thing, cases, make_annotations
from vidscore_evaluators.testing.examples import example_count

BOXES = Needs((4,), (4,), confidences=True, tracks=True)


def box(x: float, label: str = "car", track: int = 1) -> Thing:
    return Thing((x, 0.0, x + 10.0, 10.0), label, track_id=track)


TRUTH = make_annotations(
    {
        ("Tower", "001"): {0: [box(0), box(50, "bus", 2)], 1: [box(0)], 7: [box(5)]},
        ("Tower", "002"): {0: [box(0)]},
        ("Helo", "001"): {0: [box(0, "bus")], 3: [box(0, "bus")]},
    }
)
DETECTIONS = make_annotations(
    {
        ("Tower", "001"): {0: [box(0), box(50, "bus", 2)], 1: [box(80)]},
        ("Helo", "001"): {0: [box(0, "bus")], 3: [box(30, "bus")]},
    }
)


def keep(side: Annotations, wanted: Callable[[SequenceKey, int], bool]) -> Annotations:
    """The given frames, found one by one; unused sequences are in no table."""
    rows = [row for row, key in enumerate(frame_keys(side)) if wanted(*key)]
    used = tuple(sorted({frame_keys(side)[row][0] for row in rows}))
    return side.take_frames(np.array(rows, dtype=np.int64)).with_tables(used, side.labels)


def without(side: Annotations, *labels: str) -> Annotations:
    """The objects that have none of the given labels."""
    rows: list[int] = side.label_indices.tolist()
    return side.take_objects(np.array([side.labels[row] not in labels for row in rows], dtype=bool))


def figures(report: Report) -> object:
    return report.rows(), report.curves, report.truth_digest, report.detections_digest


# --- frames, sequences, domains ---------------------------------------------------------------


@pytest.mark.parametrize("name", ["f1", "coco", "clear", "hota", "ospa", "track-emd"])
@settings(max_examples=example_count(15), deadline=None)
@given(cases(BOXES), st.data())
def test_a_part_scores_as_it_would_alone(name: str, case: Case, data: st.DataObject) -> None:
    keys = sorted({key for key, _ in frame_keys(case.truth)})
    key, number = data.draw(st.sampled_from(frame_keys(case.truth)))
    by_name = data.draw(st.sampled_from([key.sequence, "/".join(key), None]))
    domain = data.draw(st.sampled_from([key.domain, None]))
    first = data.draw(st.integers(0, number))
    selection = Selection(sequences=by_name, domains=domain, frames=[(first, number), 5])

    def wanted(found: SequenceKey, frame: int) -> bool:
        return (
            by_name in {None, found.sequence, "/".join(found)}
            and domain in {None, found.domain}
            and (first <= frame <= number or frame == 5)
        )

    detections = keep(case.detections, lambda found, _: found in keys)
    part = score(name, case.truth, detections, select=selection)
    truth = keep(case.truth, wanted)
    left = {found for found, _ in frame_keys(truth)}
    alone = score(
        name, truth, keep(detections, lambda found, frame: found in left and wanted(found, frame))
    )
    assert figures(part) == figures(alone)


def test_both_ends_of_frames_are_included() -> None:
    report = score("f1", TRUTH, DETECTIONS, select=Selection(frames="1:7"))
    # Tower/001 has objects in frames 1 and 7, Helo/001 in frame 3; none is found.
    assert report.value("false_negatives") == 3


def test_a_sequence_is_selected_in_every_domain_or_in_one() -> None:
    both = score("f1", TRUTH, DETECTIONS, select=Selection(sequences="001"))
    one = score("f1", TRUTH, DETECTIONS, select=Selection(sequences=["Helo/001"]))
    assert both.value("true_positives") == 3
    assert one.value("true_positives") == 1
    assert {row.domain for row in one.rows()} == {None, "Helo"}


def test_frames_that_only_the_specification_lists_are_selected_like_the_others() -> None:
    specification = BenchmarkSpec(
        sequences=(
            SequenceSpec("001", "Tower", frame_count=20),
            SequenceSpec("002", "Tower", frame_count=10),
        )
    )
    detections = make_annotations({("Tower", "001"): {8: [box(0)], 15: [box(0)]}})
    chosen = Selection(sequences="Tower/001", frames="0:9")
    report = score("f1", TRUTH, detections, specification=specification, select=chosen)
    assert report.specification["sequences"] == [
        {"domain": "Tower", "name": "001", "frame_count": 20, "frames": [[0, 9]]}
    ]
    assert report.value("false_positives") == 1
    assert report.value("false_negatives") == 4


def test_an_entry_of_the_specification_keeps_its_frames_if_none_are_selected() -> None:
    """An entry without frames gets the selected ones of the truth."""
    nothing = make_annotations({}, arity=4)
    for entry, frames, kept, missed in (
        (SequenceSpec("001", "Tower", frame_count=20), None, {"frame_count": 20}, 4),
        (SequenceSpec("001", "Tower"), "1:9", {}, 2),
    ):
        chosen = Selection(sequences="Tower/001", frames=frames)
        given = BenchmarkSpec(sequences=(entry,))
        report = score("f1", TRUTH, nothing, specification=given, select=chosen)
        assert report.specification["sequences"] == [{"domain": "Tower", "name": "001", **kept}]
        assert report.value("false_negatives") == missed


def test_a_part_that_only_the_specification_lists_has_no_objects_and_is_scored() -> None:
    given = BenchmarkSpec(sequences=(SequenceSpec("001", "Tower", frame_count=20),))
    detections = make_annotations({("Tower", "001"): {11: [box(0)]}})
    chosen = Selection(sequences="Tower/001", frames="10:12")
    report = score("f1", TRUTH, detections, specification=given, select=chosen)
    assert report.value("false_positives") == 1


def test_evaluators_with_rules_on_whole_sequences_note_that_they_see_selected_frames() -> None:
    frame_wise, tracks = score(["f1", "clear"], TRUTH, DETECTIONS, select=Selection(frames="0:1"))
    assert [warning.code for warning in frame_wise.warnings] == []
    [note] = [warning for warning in tracks.warnings if warning.code == "chosen_frames"]
    assert note.is_note
    whole = score("clear", TRUTH, DETECTIONS, select=Selection(domains="Tower"))
    assert "chosen_frames" not in {warning.code for warning in whole.warnings}


# --- labels ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["f1", "map", "clear", "identity"])
@settings(max_examples=example_count(15), deadline=None)
@given(cases(BOXES, object_flags=(0,)), st.sampled_from(["a", "b"]))
def test_a_label_scores_as_if_there_were_no_other(name: str, case: Case, label: str) -> None:
    known = {key for key, _ in frame_keys(case.truth)}
    detections = keep(case.detections, lambda found, _: found in known)
    others = {"a", "b", "c"} - {label}
    used = {case.truth.labels[row] for row in case.truth.label_indices.tolist()}
    used |= {detections.labels[row] for row in detections.label_indices.tolist()}
    if label not in used:
        return
    part = score(name, case.truth, detections, select=Selection(labels=label.upper()))
    alone = score(name, without(case.truth, *others), without(detections, *others))
    assert part.rows() == alone.rows()


def test_labels_that_are_not_selected_give_no_warning() -> None:
    listed = score("f1", TRUTH, DETECTIONS, specification=BenchmarkSpec(classes=("car",)))
    chosen = score("f1", TRUTH, DETECTIONS, select=Selection(labels="car"))
    assert chosen.rows() == listed.rows()
    assert [warning.code for warning in listed.warnings] == ["classes_not_scored"]
    assert not chosen.warnings


def test_a_label_is_selected_in_the_domains_that_score_it() -> None:
    lists = (DomainSpec("Tower", ("car", "bus")), DomainSpec("Helo", ("truck",)))
    specification = BenchmarkSpec(domains=lists)
    chosen = Selection(labels=["bus"])
    report = score("f1", TRUTH, DETECTIONS, specification=specification, select=chosen)
    assert report.specification["domains"] == [
        {"name": "Helo", "classes": []},
        {"name": "Tower", "classes": ["bus"]},
    ]
    assert report.value("true_positives", domain="Tower") == 1
    assert report.value("true_positives") == 1


def test_the_rule_of_a_benchmark_still_sees_objects_of_neighbouring_labels() -> None:
    truth = make_annotations({("", "s"): {0: [box(0, "Car"), box(40, "Van", 2)]}})
    detections = make_annotations({("", "s"): {0: [box(0, "Car"), box(40, "Car", 2)]}})
    evaluator = EvaluatorSpec("f1", {"dont_care": "kitti"})
    report = score(evaluator, truth, detections, select=Selection(labels="Car"))
    assert (report.value("true_positives"), report.value("false_positives")) == (1, 0)


def test_a_label_that_a_preset_does_not_score_cannot_be_selected() -> None:
    truth = make_annotations({("", "s"): {0: [box(0, "car"), box(40, "others", 2)]}})
    with pytest.raises(ParameterError, match="label 'others', expected a label that"):
        score("visdrone-det", truth, truth, select=Selection(labels="others"))


def test_the_protocol_of_neovision2_keeps_its_lists() -> None:
    report = score("neovision2", TRUTH, DETECTIONS, select=Selection(labels="CAR"))
    assert {row.label for row in report.rows()} == {None, "Car"}
    with pytest.raises(ParameterError, match="did you mean Boat"):
        score("neovision2", TRUTH, DETECTIONS, select=Selection(labels="Boot"))


def test_an_evaluator_that_treats_all_labels_alike_refuses_a_selection() -> None:
    points = make_annotations({("", "s"): {0: [(1.0, 1.0)]}})
    with pytest.raises(ParameterError) as caught:
        score("spotgeo", points, points, select=Selection(labels="car"))
    assert [str(fault) for fault in caught.value.faults] == [
        "labels: found labels for spotgeo, expected none: it scores all of them alike"
    ]


def test_rows_of_other_labels_have_no_outcomes() -> None:
    none = np.zeros(3, dtype=np.int64)
    table = Outcomes(
        (SequenceKey("", "s"),),
        ("bus", "Car"),
        sides=np.full(3, SIDES.index(Side.TRUTH), dtype=np.uint8),
        sequences=none.astype(np.int32),
        frames=none,
        rows=np.arange(3, dtype=np.int32),
        labels=np.array([0, 1, 1], dtype=np.int32),
        confidences=np.full(3, np.nan),
        tracks=none,
        outcomes=np.full(3, OUTCOMES.index(OUTCOMES[0]), dtype=np.uint8),
        partners=none.astype(np.int32),
        similarities=np.full(3, np.nan),
        distances_px=np.full(3, np.nan),
        shares=np.zeros(3),
        id_switches=np.zeros(3, dtype=np.bool_),
        fragmentations=np.zeros(3, dtype=np.bool_),
    )
    assert Selection(labels="car").of_outcomes(table).rows.tolist() == [1, 2]
    assert Selection(frames=[0]).of_outcomes(table) is table


# --- names -----------------------------------------------------------------------------------


def test_every_unknown_name_is_listed_with_the_nearest_one() -> None:
    chosen = Selection(domains=["Towre"], sequences=["T/002", "002"], labels=["cat", "bus"])
    with pytest.raises(ParameterError) as caught:
        score("f1", TRUTH, DETECTIONS, select=chosen)
    assert [str(fault) for fault in caught.value.faults] == [
        "domains: found domain 'Towre', expected a domain of the truth; did you mean Tower?",
        "sequences: found sequence 'T/002', expected a sequence of the truth; did you mean 002?",
        "labels: found label 'cat', expected a label that f1 scores; did you mean car?",
    ]


def test_if_no_name_is_near_the_first_ones_are_listed() -> None:
    videos = {("", f"{number:03d}"): {0: [box(0)]} for number in range(12)}
    truth = make_annotations(videos)
    with pytest.raises(ParameterError, match=r"there are 000, .*, 009 and 2 more"):
        score("f1", truth, truth, select=Selection(sequences="street"))
    ten = make_annotations(dict(list(videos.items())[:10]))
    with pytest.raises(ParameterError, match=r"008, 009$"):
        score("f1", ten, ten, select=Selection(sequences="street"))


def test_a_part_without_any_frame_is_refused() -> None:
    with pytest.raises(ParameterError, match="no frame of the truth in the chosen part"):
        score("f1", TRUTH, DETECTIONS, select=Selection(sequences="002", frames=[7]))


@pytest.mark.parametrize(
    "frames", ["", "a", "3:1", "1:2:3", "-1", "1,,2", [(3, 1)], [-1], [1.5], ["1"], [], 2**60]
)
def test_invalid_frames_are_refused(frames: Any) -> None:
    with pytest.raises(ParameterError, match="expected frames such as 100:200"):
        Selection(frames=[frames] if isinstance(frames, int) else frames)


def test_frames_may_have_any_valid_frame_number() -> None:
    assert Selection(frames=[2**53 - 1]) == Selection(frames="9007199254740991")
    with pytest.raises(ParameterError, match="expected frames such as 100:200"):
        Selection(frames=[2**53])


@pytest.mark.parametrize("names", [3, ["a" * 99, 3]])
def test_invalid_names_are_refused(names: Any) -> None:
    with pytest.raises(ParameterError) as caught:
        Selection(labels=names)
    (fault,) = caught.value.faults
    assert (fault.field, fault.found) == ("labels", repr(names)[:80])
    assert fault.expected == "a name or several"


@pytest.mark.parametrize("field", ["domains", "sequences", "labels"])
@pytest.mark.parametrize("names", [[], (), iter(()), np.array([], dtype=str)])
def test_an_empty_list_of_names_does_not_select_everything(field: str, names: Any) -> None:
    with pytest.raises(
        ParameterError, match=rf"{field}: found .*, expected a name or several; None"
    ):
        Selection(**{field: names})


@pytest.mark.parametrize("kind", [set, frozenset])
def test_names_in_a_set_are_sorted(kind: Callable[[list[str]], Any]) -> None:
    """Its order differs from run to run, and the same selection gives the same report."""
    names = [f"s{number:02}" for number in range(50)]
    assert Selection(sequences=kind(names)).sequences == tuple(names)


def test_names_of_a_report_are_an_array() -> None:
    with pytest.raises(InputError, match="sequences: found 'ab', expected an array of names"):
        from_dict(Selection, {"sequences": "ab"})
    with pytest.raises(InputError, match=r"labels: found \[\], expected an array of names"):
        from_dict(Selection, {"labels": []})


def test_frames_are_given_in_the_notation_in_which_they_are_shown() -> None:
    assert Selection(frames=[(100, 200), 300]).typed_frames == "100:200,300"
    assert Selection(labels="car").typed_frames is None


# --- reports ---------------------------------------------------------------------------------


def test_a_report_says_what_was_selected() -> None:
    chosen = Selection(domains="Tower", labels=("car",), frames="5, 0:1")
    report = score("f1", TRUTH, DETECTIONS, select=chosen)
    document = report_to_dict(report)
    assert document["selection"] == {
        "domains": ["Tower"], "labels": ["car"], "frames": [[0, 1], [5, 5]],
    }  # fmt: skip
    assert report_from_dict(json.loads(json.dumps(document))).selection == document["selection"]
    assert report_to_dict(report_from_dict(document)) == document
    assert str(chosen) == "domain Tower; label car; frames 0:1, 5"


def test_a_report_of_everything_has_no_selection() -> None:
    assert "selection" not in report_to_dict(score("f1", TRUTH, DETECTIONS))
    assert not ALL


@given(
    names=st.lists(st.sampled_from("abc"), max_size=2, unique=True),
    frames=st.none() | st.lists(st.integers(0, 99), min_size=1, max_size=4),
)
def test_the_plain_form_has_an_inverse(names: list[str], frames: list[int] | None) -> None:
    chosen = Selection(sequences=names or None, labels=names or None, frames=frames)
    assert from_dict(Selection, json.loads(json.dumps(to_dict(chosen)))) == chosen


def test_workers_score_a_part_like_this_process() -> None:
    chosen = Selection(labels="car", frames="0:5")
    here = score("f1", TRUTH, DETECTIONS, select=chosen)
    assert score("f1", TRUTH, DETECTIONS, select=chosen, workers=2) == here


def test_a_preset_keeps_its_name() -> None:
    boxes = make_annotations({("", "1"): {1: [box(0, "car")]}})
    report: Report = score("coco-detection", boxes, boxes, select=Selection(frames=[1]))
    assert report.preset == "coco-detection"


def test_the_library_exports_it() -> None:
    assert vidscore.Selection is Selection


# --- ranges ----------------------------------------------------------------------------------


@given(*[st.lists(st.tuples(st.integers(0, 30), st.integers(0, 5)), max_size=5)] * 2)
def test_an_intersection_has_the_frames_of_both(
    left: list[tuple[int, int]], right: list[tuple[int, int]]
) -> None:
    one, other = (FrameRanges.of([(a, a + n) for a, n in side]) for side in (left, right))
    both = set(one.numbers().tolist()) & set(other.numbers().tolist())
    assert set(one.intersection(other).numbers().tolist()) == both
    assert one.intersection(other) == FrameRanges.of([(number, number) for number in both])


def test_an_evaluator_without_a_selection_is_unchanged() -> None:
    evaluator = create_evaluator("f1")
    [report] = score_annotations([evaluator], TRUTH, DETECTIONS)
    assert replace(report, selection={}) == report
