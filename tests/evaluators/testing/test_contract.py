"""The contract suite fails for evaluators that break the named law, and for no others."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from msgspec import structs
from tests.evaluators.toy import SCHEMA, Toy

from vidscore_evaluators import registry
from vidscore_evaluators.alignment import Aligned
from vidscore_evaluators.annotations import Annotations, ObjectFlag, Side
from vidscore_evaluators.arrays import FloatArray
from vidscore_evaluators.evaluator import (
    Direction,
    Dissimilarity,
    Growth,
    Measure,
    RankKey,
    count_measure,
)
from vidscore_evaluators.outcome_table import OperatingPoint, OutcomeBuilder, Outcomes
from vidscore_evaluators.parameters import parameter
from vidscore_evaluators.report import Block, Curve, Report, Scores
from vidscore_evaluators.tally import Table, Tally, build_table
from vidscore_evaluators.testing import Case, EvaluatorContract


class Counter(Toy):
    """A toy that fulfils the whole contract."""

    measures: ClassVar[tuple[Measure, ...]] = (
        count_measure("frames", "Frames."),
        count_measure("objects", "Detections in frames of the truth."),
        count_measure("missing", "Objects without detection.", Direction.LOWER),
        Measure(
            "recall",
            "Share of detected objects.",
            dissimilarity=Dissimilarity.ONE_MINUS,
        ),
    )
    ranking: ClassVar[tuple[str, ...]] = ("recall", "missing")
    numbers: ClassVar[tuple[str, ...]] = ()

    def tables(self, aligned: Aligned) -> Mapping[str, Table]:
        """Frames of the truth, their detections, and the objects that these leave over."""
        judged = aligned.listed & (aligned.truth.frame_flags == 0)
        aligned = aligned.take_frames(judged)
        ordinary = (aligned.truth.flags & (ObjectFlag.IGNORE | ObjectFlag.REGION)) == 0
        real = aligned.truth.take_objects(ordinary).object_counts
        found = aligned.detections.object_counts
        keys = aligned.truth.sequences
        words = [*(key.domain for key in keys), *(key.sequence for key in keys)]
        sequences = aligned.truth.frame_sequences
        table = build_table(
            structs.replace(
                SCHEMA, counts=("frames", "objects", "missing", "real"), numbers=self.numbers
            ),
            words,
            [sequences, sequences + len(keys)],
            numbers=[aligned.truth.frame_numbers.astype(np.float64)] * len(self.numbers),
            counts=[np.ones_like(found), found, np.maximum(real - found, 0), real],
            sums=[self.sums(aligned)],
        )
        return {"all": table}

    def sums(self, aligned: Aligned) -> FloatArray:
        """(F,) what each frame adds to the sum."""
        return np.zeros(len(aligned.listed))

    def scores(self, tally: Tally) -> Scores:
        """Totals alone."""
        table = tally.tables["all"]
        counts = {name: int(table.count(name).sum()) for name in table.schema.counts}
        real = counts.pop("real")
        recall = 1 - counts["missing"] / real if real else None
        return Scores(
            (Block({name: (value,) for name, value in counts.items()} | {"recall": (recall,)}),)
        )

    @property
    def growth(self) -> Growth:
        """Two texts, four counts and a sum a sequence."""
        return Growth("sequence", 6 * 8 + 64)

    def faults(self, *_: Any) -> tuple[()]:
        """Allow everything."""
        return ()


def changed(scores: Scores, name: str, value: Any) -> Scores:
    """The totals of a counter with another value of one measure."""
    [block] = scores.blocks
    return Scores((dataclasses.replace(block, measures={**block.measures, name: (value,)}),))


class OrderMatters(Counter):
    """Counts the detections that lie further right than the one before."""

    def tables(self, aligned: Aligned) -> Mapping[str, Table]:
        keep = np.diff(aligned.detections.coordinates[:, 0], prepend=np.inf) > 0
        return super().tables(
            dataclasses.replace(aligned, detections=aligned.detections.take_objects(keep))
        )


class ListsMatter(Counter):
    """Counts frames that the detections list."""

    def tables(self, aligned: Aligned) -> Mapping[str, Table]:
        return super().tables(aligned.take_frames(aligned.detected))


class CaresAboutDontCare(Counter):
    """Counts don't-care frames like others."""

    def tables(self, aligned: Aligned) -> Mapping[str, Table]:
        flags = np.zeros_like(aligned.truth.frame_flags)
        return super().tables(
            dataclasses.replace(aligned, truth=structs.replace(aligned.truth, frame_flags=flags))
        )


class CaresAboutDontCareDetections(Counter):
    """Reports the detections of don't-care frames in place of those of others."""

    def tables(self, aligned: Aligned) -> Mapping[str, Table]:
        flags = 1 - aligned.truth.frame_flags
        emptied = aligned.truth.take_objects(np.zeros(aligned.truth.object_count, dtype=np.bool_))
        return super().tables(
            dataclasses.replace(aligned, truth=structs.replace(emptied, frame_flags=flags))
        )


class UsesConfidences(Counter):
    """Counts confident detections, but does not say that it uses confidences."""

    needs = structs.replace(Counter.needs, confidences=False)

    def tables(self, aligned: Aligned) -> Mapping[str, Table]:
        sure = aligned.detections.confidences >= 0.5
        return super().tables(
            dataclasses.replace(aligned, detections=aligned.detections.take_objects(sure))
        )


class UsesTracks(Counter):
    """Counts detections of the first track, but does not say that it uses tracks."""

    def tables(self, aligned: Aligned) -> Mapping[str, Table]:
        first = aligned.detections.track_ids <= 0
        return super().tables(
            dataclasses.replace(aligned, detections=aligned.detections.take_objects(first))
        )


class AddsFloats(Counter):
    """Adds floats over the frames of a sequence."""

    def sums(self, aligned: Aligned) -> FloatArray:
        detections = aligned.detections
        x = np.bincount(
            detections.frame_sequences[detections.object_frames],
            detections.coordinates[:, 0],
            minlength=len(detections.sequences),
        )
        _, first = np.unique(detections.frame_sequences, return_index=True)
        sums = np.zeros(detections.frame_count)
        sums[first] = x[detections.frame_sequences[first]]
        return sums


class NotThreadSafe(Counter):
    """Passes its input on in an attribute, which another thread may replace."""

    def tables(self, aligned: Aligned) -> Mapping[str, Table]:
        self.aligned = aligned
        sum(range(100_000))
        return super().tables(self.aligned)


class RowPerFrame(Counter):
    """Has a row for each frame, but declares its size by sequence."""

    numbers = ("frame",)

    @property
    def growth(self) -> Growth:
        return Growth("sequence", 1000)


class IgnoresThePoint(Counter):
    """Gives the same outcomes at each operating point."""

    def outcomes(self, aligned: Aligned, at: OperatingPoint = OperatingPoint()) -> Outcomes:
        del at
        return OutcomeBuilder(aligned).build()


class OtherSequences(Counter):
    """Reports the scores of a sequence that does not exist."""

    def scores(self, tally: Tally) -> Scores:
        scores = super().scores(tally)
        return Scores((*scores.blocks, dataclasses.replace(scores.blocks[0], sequences=("no",))))


class SameCurveTwice(Counter):
    """Draws two curves of one name."""

    def scores(self, tally: Tally) -> Scores:
        return dataclasses.replace(super().scores(tally), curves=(Curve("c", {"x": ()}),) * 2)


class UndefinedFirst(Counter):
    """Ranks an undefined recall above all others."""

    def rank_key(self, report: Report) -> RankKey:
        recall = report.value("recall")
        return ((False, -2.0 if recall is None else -recall),)


class WritesIntoItsInput(Counter):
    """Clears the flags of the truth that it was given."""

    def tally(self, truth: Annotations, detections: Annotations) -> Tally:
        truth.flags[:] = 0
        truth.confidences[:] = 1
        return super().tally(truth, detections)


class PartsMatter(Counter):
    """Adds a frame for each part."""

    def tables(self, aligned: Aligned) -> Mapping[str, Table]:
        table = super().tables(aligned)["all"]
        if table.row_count > 1:
            table = structs.replace(table, counts=table.counts + 1)
        return {"all": table}


class OutOfRange(Counter):
    """Reports a recall in percent."""

    def scores(self, tally: Tally) -> Scores:
        scores = super().scores(tally)
        recall = scores.blocks[0].measures["recall"][0]
        return changed(scores, "recall", None if recall is None else 100 * recall)


class Undeclared(Counter):
    """Reports what it never declared."""

    def scores(self, tally: Tally) -> Scores:
        return Scores((*super().scores(tally).blocks, Block({"precision": (1.0,)})))


class FloatCounts(Counter):
    """Reports counts as floats."""

    def scores(self, tally: Tally) -> Scores:
        scores = super().scores(tally)
        return changed(scores, "frames", float(scores.blocks[0].measures["frames"][0] or 0))


class CrookedCurve(Counter):
    """Draws a curve whose columns differ in length."""

    def scores(self, tally: Tally) -> Scores:
        return dataclasses.replace(
            super().scores(tally), curves=(Curve("c", {"x": (1,), "y": ()}),)
        )


class NeverReported(Counter):
    """Declares a measure that no report has."""

    measures = (*Counter.measures, Measure("precision", "Share of right detections."))


class FailsOnNothing(Counter):
    """Divides by the number of objects, whatever it is."""

    def scores(self, tally: Tally) -> Scores:
        1 / tally.tables["all"].count("real").sum().item()
        return super().scores(tally)


class NeverPerfect(Counter):
    """Never gives a recall above 0.9."""

    def scores(self, tally: Tally) -> Scores:
        scores = super().scores(tally)
        recall = scores.blocks[0].measures["recall"][0]
        return changed(scores, "recall", None if recall is None else recall * 0.9)


class UpsideDown(Counter):
    """Ranks the system with the most missing objects first."""

    measures = (
        *Counter.measures[:2],
        count_measure("missing", "Objects without detection.", Direction.HIGHER),
        Counter.measures[3],
    )
    ranking = ("missing",)


class Forgetful(Counter):
    """Clears the tally after it has been reported."""

    def scores(self, tally: Tally) -> Scores:
        scores = super().scores(tally)
        tally.tables["all"].counts[:] = 0
        return scores


class NumpyValues(Counter):
    """Reports numpy's numbers, which JSON cannot hold."""

    def scores(self, tally: Tally) -> Scores:
        scores = super().scores(tally)
        return changed(scores, "frames", np.int64(scores.blocks[0].measures["frames"][0] or 0))


class Nameless(Counter):
    """Has no title."""

    title = " "


class Undescribed(Counter):
    """Has a measure without description."""

    measures = (*Counter.measures[:3], Measure("recall", ""))


class RanksByNothing(Counter):
    """Ranks by a measure without direction."""

    ranking = ("frames",)


@dataclass(frozen=True)
class WideGrid:
    limit: float = parameter(1.0, "A limit.", minimum=0, maximum=2, grid=(1.0, 3.0))
    whole: bool = parameter(False, "Whole.")


class GridOutOfBounds(Counter):
    """Has a grid that leaves the bounds."""

    Parameters: ClassVar[type[Any]] = WideGrid


class Talkative(Counter):
    """Declares a smaller tally than it has."""

    @property
    def growth(self) -> Growth:
        return Growth("sequence", 8)


class TakesAnything(Counter):
    """Never looks at the shape of objects."""

    def check_arity(self, *_: Any) -> None:
        pass


LAWS = {
    OrderMatters: "order_of_frames_objects_and_tables_does_not_matter",
    ListsMatter: "a_frame_without_detections_need_not_be_sent",
    CaresAboutDontCare: "what_is_in_a_dont_care_frame_does_not_matter",
    CaresAboutDontCareDetections: "what_is_in_a_dont_care_frame_does_not_matter",
    UsesConfidences: "only_what_is_declared_as_needed_matters",
    UsesTracks: "only_what_is_declared_as_needed_matters",
    AddsFloats: "parts_merge_into_the_whole_in_any_grouping",
    NotThreadSafe: "several_threads_may_tally_at_once",
    IgnoresThePoint: "every_object_and_detection_has_one_outcome",
    OtherSequences: "values_keep_to_what_the_measures_declare",
    SameCurveTwice: "values_keep_to_what_the_measures_declare",
    UndefinedFirst: "nothing_is_scored_without_a_fault",
    RowPerFrame: "the_tally_grows_no_faster_than_declared",
    WritesIntoItsInput: "tallying_leaves_its_input_alone",
    PartsMatter: "parts_merge_into_the_whole_in_any_grouping",
    OutOfRange: "values_keep_to_what_the_measures_declare",
    Undeclared: "values_keep_to_what_the_measures_declare",
    FloatCounts: "values_keep_to_what_the_measures_declare",
    CrookedCurve: "values_keep_to_what_the_measures_declare",
    NumpyValues: "values_keep_to_what_the_measures_declare",
    NeverReported: "every_measure_is_reported",
    FailsOnNothing: "nothing_is_scored_without_a_fault",
    NeverPerfect: "a_perfect_answer_gets_the_best_scores",
    UpsideDown: "a_perfect_answer_ranks_first",
    Forgetful: "report_is_repeatable",
    Nameless: "metadata_is_complete",
    Undescribed: "measures_are_declared_completely",
    RanksByNothing: "measures_are_declared_completely",
    GridOutOfBounds: "parameters_keep_to_what_they_declare",
    Talkative: "the_tally_grows_no_faster_than_declared",
}


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the registry know the class under test, in this process."""
    monkeypatch.setattr(registry, "_BUILT_IN", {**registry._BUILT_IN, "toy": f"{__name__}:Counter"})


def _suite(kind: type[Toy], example_count: int = 40) -> EvaluatorContract:
    class Suite(EvaluatorContract):
        evaluator = kind(kind.Parameters())
        examples = example_count

    return Suite()


def _laws() -> list[str]:
    return [name for name in vars(EvaluatorContract) if name.startswith("test_")]


@pytest.mark.slow
@pytest.mark.parametrize(
    "law", [law for law in _laws() if "two_workers" not in law and "other_shapes" not in law]
)
def test_an_honest_evaluator_passes(law: str) -> None:
    getattr(_suite(Counter), law)()


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("kind", "law"), LAWS.items(), ids=lambda value: getattr(value, "__name__", None)
)
def test_a_violation_is_found_by_the_law_that_it_breaks(kind: type[Toy], law: str) -> None:
    with pytest.raises((AssertionError, ZeroDivisionError, ValueError, pytest.fail.Exception)):
        # Many examples: the first that shows the violation ends them.
        getattr(_suite(kind, 400), f"test_{law}")()


def test_an_evaluator_that_accepts_any_shape_is_found() -> None:
    suite = _suite(TakesAnything)
    with pytest.raises(pytest.fail.Exception):
        suite.test_other_shapes_are_refused(Side.TRUTH, 8)


@pytest.mark.slow
def test_an_evaluator_that_no_worker_can_find_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(registry._BUILT_IN, "toy")
    registry.evaluator_class.cache_clear()
    for law in ("metadata_is_complete", "two_workers_give_what_one_process_gives"):
        with pytest.raises(Exception, match="toy"):
            getattr(_suite(Counter), f"test_{law}")()


def test_generated_scenes_have_everything_that_is_requested() -> None:
    """Empty frames, frames of one side, flags, don't-care frames, ties and odd confidences."""
    scene: Case = _suite(Counter)._many_sequences()
    truth, detections = scene
    assert (truth.object_counts == 0).any()
    assert (detections.object_counts == 0).any()
    assert truth.frame_flags.any()
    assert set(truth.flags.tolist()) == {0, ObjectFlag.IGNORE}
    assert set(truth.labels) == {"a", "b", "c"}
    assert {key.domain for key in truth.sequences} == {"left", "right"}
    assert {0.0, 1.0, -7.5} <= set(detections.confidences.tolist())
    positions = [tuple(point) for point in truth.coordinates.tolist()]
    assert len(set(positions)) < len(positions)
