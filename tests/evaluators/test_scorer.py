"""A scorer that gets single frames reports the same as scoring all frames at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from msgspec.structs import replace

import vidscore
from vidscore_evaluators.annotations import Annotations, frame_keys
from vidscore_evaluators.errors import GeometryError, InputError, ParameterError, VidscoreError
from vidscore_evaluators.evaluator import Needs
from vidscore_evaluators.report import report_to_dict
from vidscore_evaluators.scorer import FRAMES_PER_TALLY, Scorer
from vidscore_evaluators.scoring import score
from vidscore_evaluators.specification import BenchmarkSpec, EvaluatorSpec, SequenceSpec
from vidscore_evaluators.testing import Case, Thing, cases, make_annotations
from vidscore_evaluators.testing.examples import example_count

BOX = np.array([[0.0, 0.0, 10.0, 10.0]])
TWO = np.array([[0.0, 0.0, 10.0, 10.0], [50.0, 0.0, 60.0, 10.0]])
NUMBERED = {"a": 3, "b": 1, "c": 2}


def given_frame(side: Annotations, row: int) -> dict[str, Any]:
    """The objects of a frame, as a tracker returns them."""
    frame = side.frame_run(row, row + 1)
    labels = np.array([NUMBERED[frame.labels[index]] for index in frame.label_indices.tolist()])
    return {
        "boxes": frame.coordinates,
        "scores": frame.confidences,
        "labels": labels,
        "track_ids": frame.track_ids,
    }


@pytest.mark.parametrize(
    "name", ["map", "f1", "coco", "log-amr", "clear", "hota", "ospa", "errors"]
)
@settings(max_examples=example_count(10), deadline=None)
@given(case=cases(Needs((4,), (4,), tracks=True), object_flags=(0,), dont_care_frames=False))
def test_the_report_always_covers_the_frames_so_far(name: str, case: Case) -> None:
    case = Case(*(replace(side, frame_times_s=None) for side in case))  # Updates have no times.
    scorer = Scorer(name, labels={number: label for label, number in NUMBERED.items()})
    rows = {key: row for row, key in enumerate(frame_keys(case.detections))}
    order = [(row, rows[key]) for row, key in enumerate(frame_keys(case.truth)) if key in rows]
    assert (
        report_to_dict(scorer.report())["scores"]
        == report_to_dict(
            score(name, make_annotations({}, arity=4), make_annotations({}, arity=4))
        )["scores"]
    )
    for count, (truth_row, detection_row) in enumerate(order, 1):
        (domain, sequence), number = frame_keys(case.truth)[truth_row]
        scorer.update(
            number,
            truth=given_frame(case.truth, truth_row),
            detections=given_frame(case.detections, detection_row),
            sequence=sequence,
            domain=domain,
        )
        so_far = [np.array(rows, dtype=np.int64) for rows in zip(*order[:count], strict=True)]
        batch = score(
            name, case.truth.take_frames(so_far[0]), case.detections.take_frames(so_far[1])
        )
        assert report_to_dict(scorer.report()) == report_to_dict(batch)
        assert scorer.frame_count == count


def test_a_score_is_available_at_any_time() -> None:
    scorer = Scorer("map", labels=["car"])
    assert scorer.value("ap_50") is None
    both = {"boxes": BOX, "scores": [0.9], "labels": [0]}
    scorer.update(0, truth={"boxes": BOX, "labels": [0]}, detections=both)
    assert scorer.value("ap_50") == 1.0
    assert scorer.value("ap_50", label="car") == 1.0
    less_sure = {**both, "scores": [0.5]}
    scorer.update(1, truth={"boxes": BOX + 50, "labels": [0]}, detections=less_sure)
    # One of two objects is found, before the false positive: precision 1 up to recall 0.5.
    assert scorer.value("ap_50") == 0.5
    with pytest.raises(KeyError, match="no score 'mota'"):
        scorer.value("mota")


# --- output of detectors ----------------------------------------------------------------------


@dataclass
class Detections:
    """The attributes of supervision.Detections."""

    xyxy: np.ndarray[Any, Any]
    confidence: np.ndarray[Any, Any] | None = None
    class_id: np.ndarray[Any, Any] | None = None
    tracker_id: np.ndarray[Any, Any] | None = None
    data: dict[str, Any] = field(default_factory=dict)
    mask: None = None


class Tensor:
    """What is used of a torch tensor: it can only be read from CPU memory."""

    def __init__(self, values: Any) -> None:
        self.values = np.asarray(values)

    def detach(self) -> Tensor:
        return self

    def cpu(self) -> Tensor:
        return self

    def numpy(self) -> np.ndarray[Any, Any]:
        return self.values

    def __array__(self, *_: object, **__: object) -> np.ndarray[Any, Any]:
        raise TypeError("can't convert a cuda tensor to numpy")


class BFloat16(Tensor):
    """A tensor of torch.bfloat16, which numpy does not have."""

    def numpy(self) -> np.ndarray[Any, Any]:
        raise TypeError("Got unsupported ScalarType BFloat16")

    def float(self) -> Tensor:
        return Tensor(self.values.astype(np.float32))


THINGS = make_annotations(
    {("", ""): {4: [Thing((0, 0, 10, 10), "car", 0.5, 7), Thing((50, 0, 60, 10), "bus", 0.25, 8)]}}
)
FORMS = {
    "torchmetrics": {"boxes": Tensor(TWO), "scores": Tensor([0.5, 0.25]), "labels": Tensor([2, 1]),
                     "track_ids": [7, 8]},
    "bfloat16": {"boxes": BFloat16(TWO), "scores": BFloat16([0.5, 0.25]), "labels": [2, 1],
                 "track_ids": [7, 8]},
    "names": {"boxes": TWO.tolist(), "confidence": [0.5, 0.25], "labels": ["car", "bus"],
              "track_id": np.array([7, 8], dtype=np.int32)},
    "float32": {"xyxy": TWO.astype(np.float32), "scores": np.array([0.5, 0.25], dtype=np.float32),
                "class_id": np.array([2.0, 1.0], dtype=np.float32), "tracker_id": [7, 8]},
    "supervision": Detections(TWO, np.array([0.5, 0.25]), np.array([2, 1]), np.array([7, 8]),
                              {"class_name": np.array(["x", "y"])}),
    "objects": {"boxes": TWO, "scores": [0.5, 0.25], "track_ids": [7, 8],
                "labels": np.array(["car", "bus"], dtype=object)},
    "numbers as objects": {"boxes": TWO.astype(object), "track_ids": np.array([7, 8], dtype=object),
                           "scores": np.array([0.5, 0.25], dtype=object),
                           "labels": np.array([2, 1], dtype=object)},
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_detections_are_accepted_as_detectors_return_them(form: str) -> None:
    scorer = Scorer("clear", labels=["person", "bus", "car"])
    truth = {"boxes": TWO, "labels": [2, 1], "track_ids": [1, 2]}
    scorer.update(4, truth=truth, detections=FORMS[form])
    objects = make_annotations(
        {
            ("", ""): {
                4: [Thing((0, 0, 10, 10), "car", 1.0, 1), Thing((50, 0, 60, 10), "bus", 1.0, 2)]
            }
        }
    )
    assert scorer.report() == score("clear", objects, THINGS)


@pytest.mark.parametrize("name", ["xyxy", "boxes"])
def test_objects_of_other_libraries_are_refused_with_advice(name: str) -> None:
    """As ultralytics' Boxes and Results, whose confidences and labels have other names."""

    class Boxes:
        conf, cls, data = (0.5, 0.25), (2, 1), TWO

    found = Boxes()
    setattr(found, name, TWO)
    with pytest.raises(InputError) as caught:
        Scorer("f1").update(0, truth=TWO, detections=found)
    [fault] = caught.value.faults
    assert (fault.source, fault.found) == ("detections", "an object of type Boxes")
    assert "a dictionary of its boxes, scores and labels" in str(fault)


def test_a_scorer_without_label_names_uses_those_of_supervision() -> None:
    scorer = Scorer("f1")
    found = Detections(BOX, class_id=np.array([2]), data={"class_name": np.array(["car"])})
    scorer.update(0, truth={"boxes": BOX, "labels": ["car"]}, detections=found)
    assert scorer.value("true_positives", label="car") == 1


def test_oriented_boxes_of_supervision_are_scored_by_their_corners() -> None:
    """A diamond has half the area of the upright box around it, which supervision gives too."""
    corners = np.array([[[5.0, 0.0], [10.0, 5.0], [5.0, 10.0], [0.0, 5.0]]])
    around = np.array([[0.0, 0.0, 10.0, 10.0]])
    oriented = Detections(around, data={"xyxyxyxy": corners})
    for found, hits in ((oriented, 0), (Detections(around), 1)):
        scorer = Scorer("f1", base="polygon", threshold=0.6)
        scorer.update(0, truth=around, detections=found)
        assert scorer.value("true_positives") == hits
    scorer = Scorer("f1", base="polygon", threshold=0.99)
    scorer.update(0, truth=oriented, detections=corners.reshape(1, 8))
    assert scorer.value("true_positives") == 1


def test_a_class_without_a_name_is_named_by_its_digits() -> None:
    scorer = Scorer("f1")
    scorer.update(0, truth={"boxes": BOX, "labels": [12]}, detections=Detections(BOX))
    assert scorer.value("false_negatives", label="12") == 1
    assert scorer.value("false_positives") == 1


def test_bare_boxes_points_and_nothing_are_accepted_as_objects() -> None:
    scorer = Scorer("f1")
    scorer.update(0, truth=TWO, detections=BOX)
    scorer.update(1, truth=None, detections=[])
    scorer.update(2, truth={"boxes": []}, detections=np.zeros((0, 4)))
    assert [scorer.value(name) for name in ("true_positives", "false_negatives")] == [1, 1]
    points = Scorer("f1", base="euclidean", cutoff_px=5.0)
    points.update(0, truth=[], detections=None)
    points.update(1, truth=[[1.0, 1.0]], detections={"points": [[1.0, 2.0]]})
    assert points.value("true_positives") == 1


@pytest.mark.skipif(not hasattr(np.dtypes, "StringDType"), reason="numpy 2 introduced it")
def test_labels_may_have_numpys_type_of_strings() -> None:
    labels = np.array(["car", "bus"], dtype=np.dtypes.StringDType())
    scorer = Scorer("f1")
    scorer.update(0, truth={"boxes": TWO, "labels": labels}, detections=None)
    assert scorer.value("false_negatives", label="bus") == 1


def test_crowds_and_ignored_objects_are_not_misses() -> None:
    scorer = Scorer("f1")
    scorer.update(0, truth={"boxes": TWO, "iscrowd": [0, 1], "area": [100, 100]}, detections=None)
    scorer.update(1, truth={"boxes": TWO, "ignore": [True, True]}, detections=None)
    assert scorer.value("false_negatives") == 1


# --- refusals --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("detections", "reason"),
    [
        (np.zeros((2, 3)), r"boxes: found an array of shape \(2, 3\), expected \(N, 4\) boxes"),
        (np.zeros(4), r"found an array of shape \(4,\)"),
        ([[0, 0, 1, 1], [0, 0]], r"found an array of shape \(\)"),
        ({"boxes": TWO, "scores": [0.5]}, r"confidences: found an array of shape \(1,\)"),
        ({"boxes": TWO, "scores": []}, "expected one of 2 values"),
        ({"boxes": TWO[:1], "scores": []}, "expected one of 1 value$"),
        ({"scores": [0.5]}, "boxes: found none"),
        ({"boxes": TWO, "score": [1, 1]}, "score: unknown field; did you mean scores?"),
        ({"boxes": TWO, "xyxy": TWO}, "found a second name of the same field"),
        ({"boxes": BOX, "labels": [9]}, "class 9, expected a number that labels= names"),
        ({"boxes": BOX, "labels": [-1]}, "class -1, expected"),
        ({"boxes": BOX, "labels": [0.5]}, "expected integers or names"),
        ({"boxes": BOX, "labels": [np.inf]}, "expected integers or names"),
        ({"boxes": BOX, "labels": [None]}, "expected integers or names"),
        ({"boxes": TWO, "labels": ["car", np.nan]}, "expected integers or names"),
        ({"boxes": TWO, "labels": np.array(["car", 0], dtype=object)}, "expected integers or nam"),
        ({"boxes": BOX, "ignore": [np.nan]}, "ignore: found other values, expected 0 or 1"),
        ({"boxes": BOX, "iscrowd": ["0"]}, "crowd: found other values, expected 0 or 1"),
        ({"boxes": BOX, "ignore": [None]}, "ignore: found other values"),
        ({"boxes": BOX, "ignore": [2]}, "ignore: found other values"),
        ({"boxes": BOX, "scores": [None]}, "confidences: found values of type NoneType"),
        ({"boxes": BOX * np.nan}, "coordinates: found nan"),
        ({"boxes": BOX, "scores": [np.nan]}, "confidences: found nan, expected a finite number"),
        ({"boxes": BOX, "track_ids": [-5]}, "track_ids: found -5"),
        (np.zeros((1, 2)), "found points"),
        (np.ma.array(BOX, mask=BOX > 0), "boxes: found masked values, expected none"),
        ({"boxes": BOX, "scores": np.ma.array([1.0], mask=True)}, "confidences: found masked"),
    ],
)  # fmt: skip
def test_faults_are_reported_and_change_nothing(detections: Any, reason: str) -> None:
    scorer = Scorer("f1", labels=["car"])
    scorer.update(0, truth=BOX, detections=BOX)
    before = scorer.report()
    with pytest.raises(InputError, match=reason):
        scorer.update(1, truth=BOX, detections=detections)
    assert scorer.report() == before
    scorer.update(1, truth=BOX, detections=BOX)
    assert scorer.value("true_positives") == 2


def test_a_repeated_frame_is_refused() -> None:
    scorer = Scorer("f1", sequence="street")
    scorer.update(3, truth=BOX, detections=BOX)
    with pytest.raises(InputError, match="frame 3 of sequence street again, expected each frame"):
        scorer.update(3, truth=BOX, detections=None)
    scorer.update(3, truth=BOX, detections=BOX, sequence="road")
    scorer.update(3, truth=BOX, detections=BOX, domain="night")
    assert scorer.value("true_positives") == 3
    assert scorer.value("true_positives", domain="night") == 1


@pytest.mark.parametrize("frame", [-1, 1.5, "1", None])
def test_an_invalid_frame_number_is_refused(frame: Any) -> None:
    with pytest.raises(InputError, match="frame_numbers"):
        Scorer("f1").update(frame, truth=BOX, detections=BOX)


def test_corners_after_boxes_are_refused() -> None:
    scorer = Scorer("f1")
    scorer.update(0, truth=BOX, detections=BOX)
    with pytest.raises(GeometryError, match="as in the batches before"):
        scorer.update(1, truth=BOX, detections=np.zeros((1, 8)))
    assert scorer.frame_count == 1


@pytest.mark.parametrize("name", ["f1", "hota", "ospa", "coco"])
@pytest.mark.parametrize("nothing", [None, [], {"boxes": []}, np.zeros((0, 2)), np.zeros((0, 4))])
def test_frames_without_objects_do_not_decide_the_shape(name: str, nothing: Any) -> None:
    """A tracker's first frames are empty, with an array of any shape."""
    corners = {"boxes": np.array([[0.0, 0, 10, 0, 10, 10, 0, 10]]), "track_ids": np.array([1])}
    scorer = Scorer(name, sequence="s")
    scorer.update(0, truth=nothing, detections=nothing)
    scorer.update(1, truth=corners, detections=nothing)
    scorer.report()
    scorer.update(2, truth=corners, detections=corners)
    scorer.update(3, truth=nothing, detections=nothing)
    thing = Thing(tuple(corners["boxes"][0]), track_id=1)
    truth = make_annotations({("", "s"): {0: [], 1: [thing], 2: [thing], 3: []}})
    found = make_annotations({("", "s"): {0: [], 1: [], 2: [thing], 3: []}})
    assert report_to_dict(scorer.report()) == report_to_dict(score(name, truth, found))


def test_a_frame_outside_its_video_is_refused_on_both_sides() -> None:
    specification = BenchmarkSpec(sequences=(SequenceSpec("s", frame_count=2),))
    scorer = Scorer("f1", sequence="s", specification=specification)
    with pytest.raises(VidscoreError, match="frames 0 to 1, as the specification says"):
        scorer.update(2, truth=BOX, detections=BOX)
    assert scorer.frame_count == 0
    scorer.update(1, truth=BOX, detections=BOX)
    assert scorer.value("false_positives") == 0


# --- evaluators ------------------------------------------------------------------------------


def test_parameters_are_those_of_the_evaluator() -> None:
    strict = Scorer("f1", threshold=0.9)
    same = Scorer(EvaluatorSpec("f1", {"threshold": 0.1}), threshold=0.9)
    for scorer in (strict, same):
        scorer.update(0, truth=BOX, detections=BOX + 2)
        assert scorer.value("true_positives") == 0
    with pytest.raises(ParameterError, match="threshold"):
        Scorer("f1", threshold=3)
    with pytest.raises(ParameterError, match="labels: found 'car', expected a list or a mapping"):
        Scorer("f1", labels="car")


def test_a_preset_gives_a_report_for_each_of_its_evaluators() -> None:
    scorer = Scorer("mot17", labels=["pedestrian"])
    side = {"boxes": BOX, "labels": [0], "track_ids": [1], "scores": [1.0]}
    scorer.update(1, truth=side, detections=side)
    reports: Any = scorer.report()
    assert [report.preset for report in reports] == ["mot17"] * len(reports)
    assert scorer.value("mota") == scorer.value("idf1") == scorer.value("hota") == 1.0


def test_its_repr_shows_its_progress() -> None:
    scorer = Scorer("map")
    assert repr(scorer) == "<Scorer map: 0 frames>"
    scorer.update(0, truth=BOX, detections=BOX)
    assert repr(scorer) == "<Scorer map: 1 frame>"


def test_many_frames_are_tallied_before_a_report_is_requested(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("vidscore_evaluators.scorer.FRAMES_PER_TALLY", 5)
    scorer = Scorer("f1")
    pending = []
    for frame in range(12):
        scorer.update(frame, truth=BOX, detections=BOX)
        [accumulator] = scorer._stream._accumulators
        pending.append(accumulator.pending_count)
    assert pending == [1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1, 2]
    assert scorer.value("true_positives") == 12
    assert FRAMES_PER_TALLY == 1000


def test_the_library_exports_it() -> None:
    assert vidscore.Scorer is Scorer
