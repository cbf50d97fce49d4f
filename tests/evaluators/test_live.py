"""Live reports cover what both sides have sent; the final one covers all evaluated frames."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from tests.evaluators.toy import Toy, toy

from vidscore_evaluators.annotations import Annotations, Side, concatenate
from vidscore_evaluators.errors import GeometryError, InputError, LimitError, SpecificationError
from vidscore_evaluators.evaluator import Needs
from vidscore_evaluators.live import MERGE_AFTER, Accumulator, Coverage, StreamScorer
from vidscore_evaluators.plausibility.summary import INPUT_SUMMARY_BYTES
from vidscore_evaluators.report import report_to_dict
from vidscore_evaluators.scoring import score_annotations
from vidscore_evaluators.specification import BenchmarkSpec, FrameRanges, SequenceSpec
from vidscore_evaluators.testing import Case, cases, make_annotations, seeds
from vidscore_evaluators.testing.examples import example_count
from vidscore_evaluators.testing.strategies import interleaving, sides

SPEC = BenchmarkSpec(
    sequences=(
        SequenceSpec("s1", "left", frame_count=6, dont_care_frames=FrameRanges(((2, 3),))),
        SequenceSpec("s2", "right", frames=FrameRanges(((1, 4),))),
        SequenceSpec("never sent", "right", frame_count=2),
    )
)
TOYS = (toy(), toy(whole=True))


def _frames(*numbers: int, x: float = 1.0) -> Annotations:
    return make_annotations({("", "s"): {number: [(x, 0)] for number in numbers}}, arity=2)


def _scorer(*evaluators: Toy, maximum_waiting: int = 1000) -> StreamScorer:
    return StreamScorer(evaluators or TOYS, maximum_waiting=maximum_waiting)


@given(cases(Needs((2,), (4,))), seeds())
@settings(max_examples=example_count(50))
def test_a_stream_under_a_specification_ends_like_the_batch(scene: Case, seed: int) -> None:
    """The specification drops, adds and marks frames in the same way in parts."""
    random = np.random.default_rng(seed)
    scorer = StreamScorer(TOYS, SPEC)
    for side, rows in interleaving(scene, random):
        scorer.add(side, sides(scene)[side].take_frames(rows))
        if random.random() < 0.3:
            scorer.live_reports()
    batch = score_annotations(TOYS, *scene, SPEC)
    assert list(map(report_to_dict, scorer.final_reports())) == list(map(report_to_dict, batch))


def test_a_live_report_covers_only_the_frames_of_both_sides() -> None:
    scorer = _scorer()
    scorer.add(Side.TRUTH, _frames(0, 1))
    scorer.add(Side.DETECTIONS, _frames(1, 2))
    for report in scorer.live_reports():
        assert (report.value("frames"), report.value("objects")) == (1, 1)
    assert scorer.coverage == Coverage(1, 1, 1)


def test_a_frame_that_is_not_evaluated_does_not_delay_others() -> None:
    """Both sides have sent it, so live reports count its detections as a batch would."""
    specification = BenchmarkSpec(sequences=(SequenceSpec("s", frames=FrameRanges(((0, 0),))),))
    scorer = StreamScorer(TOYS, specification)
    scorer.add(Side.TRUTH, _frames(0, 1))
    scorer.add(Side.DETECTIONS, _frames(0, 1))
    assert scorer.coverage == Coverage(2, 0, 0)
    batch = score_annotations(TOYS, _frames(0, 1), _frames(0, 1), specification)
    assert list(map(report_to_dict, scorer.live_reports())) == list(map(report_to_dict, batch))


def test_a_final_report_covers_frames_without_detections() -> None:
    scorer = _scorer()
    scorer.add(Side.TRUTH, _frames(0, 1, 5))
    scorer.add(Side.DETECTIONS, _frames(1))
    for report in scorer.final_reports():
        assert (report.value("frames"), report.value("objects")) == (3, 1)


def test_a_final_report_can_be_made_again() -> None:
    """Frames that only the specification lists are counted once, however often it is made."""
    scorer = StreamScorer(TOYS, BenchmarkSpec(sequences=(SequenceSpec("s", frame_count=4),)))
    scorer.add(Side.TRUTH, _frames(0))
    first = [report_to_dict(report) for report in scorer.final_reports()]
    assert [report_to_dict(report) for report in scorer.final_reports()] == first
    assert scorer.final_reports()[0].value("frames") == 4


def test_nothing_is_accepted_after_the_final_report() -> None:
    scorer = _scorer()
    scorer.final_reports()
    with pytest.raises(RuntimeError, match="ended"):
        scorer.add(Side.TRUTH, _frames(0))


def test_an_empty_stream_is_scored() -> None:
    for report in (*_scorer().live_reports(), *_scorer().final_reports()):
        assert (report.value("frames"), report.value("x")) == (0, None)


def test_detections_of_an_unknown_sequence_are_refused_at_the_end() -> None:
    scorer = _scorer()
    scorer.add(Side.TRUTH, make_annotations({("d", "t"): {0: []}}, arity=2))
    scorer.add(Side.DETECTIONS, _frames(0))
    scorer.add(Side.DETECTIONS, make_annotations({("d", "u"): {0: []}}, arity=2))
    with pytest.raises(InputError) as caught:
        scorer.final_reports()
    assert [fault.found for fault in caught.value.faults] == ["sequence s", "sequence d/u"]


def test_a_sequence_that_only_the_specification_names_is_known() -> None:
    scorer = StreamScorer(TOYS, BenchmarkSpec(sequences=(SequenceSpec("s", frame_count=2),)))
    scorer.add(Side.DETECTIONS, _frames(0, 1))
    assert scorer.final_reports()[0].value("objects") == 2


def test_a_batch_that_breaks_a_rule_of_an_evaluator_is_refused_whole() -> None:
    scorer = _scorer(toy(limit=5.0), toy(limit=9.0))
    with pytest.raises(InputError, match="truth, entry 0: found a large x, expected at most 5"):
        scorer.add(Side.TRUTH, _frames(0, x=7.0))
    assert scorer.coverage == Coverage(0, 0, 0)
    scorer.add(Side.TRUTH, _frames(0, x=3.0))


def test_a_shape_that_an_evaluator_cannot_use_is_refused_at_once() -> None:
    scorer = _scorer()
    corners = make_annotations({("", "s"): {0: [(0, 0, 1, 0, 1, 1, 0, 1)]}})
    with pytest.raises(GeometryError, match="for toy"):
        scorer.add(Side.DETECTIONS, corners)
    assert scorer.coverage == Coverage(0, 0, 0)


def test_a_side_must_keep_to_one_shape() -> None:
    """A box after a point would otherwise fail much later, when they are joined."""
    scorer = _scorer()
    scorer.add(Side.TRUTH, _frames(0))
    box = make_annotations({("", "s"): {1: [(0, 0, 1, 1)]}})
    with pytest.raises(GeometryError, match=r"points \(x, y\), as in the batches before"):
        scorer.add(Side.TRUTH, box)
    scorer.add(Side.DETECTIONS, box)
    assert scorer.final_reports()[0].value("frames") == 1


def test_a_frame_outside_the_video_is_refused_and_changes_nothing() -> None:
    scorer = StreamScorer(TOYS, BenchmarkSpec(sequences=(SequenceSpec("s", frame_count=2),)))
    with pytest.raises(SpecificationError):
        scorer.add(Side.TRUTH, _frames(0, 2))
    scorer.add(Side.TRUTH, _frames(0))
    assert scorer.coverage.waiting_for_detections == 1


def test_too_many_waiting_frames_are_refused() -> None:
    scorer = _scorer(maximum_waiting=1)
    with pytest.raises(LimitError):
        scorer.add(Side.TRUTH, _frames(0, 1))


def test_many_reports_keep_few_tallies() -> None:
    """After very many settled batches there are no more tallies than are merged at once."""
    accumulator = Accumulator(toy())
    sizes = []
    for number in range(4 * MERGE_AFTER):
        accumulator.add(_frames(number), _frames(number))
        job = accumulator.work()
        assert job is not None
        accumulator.compact(toy().tally(job.truth, job.detections), accumulator.pending_count)
        sizes.append(accumulator.tally_bytes)
    assert max(sizes) <= (MERGE_AFTER + 1) * sizes[0] + INPUT_SUMMARY_BYTES
    assert accumulator.report().value("frames") == 4 * MERGE_AFTER
    assert accumulator.work() is None


def test_sequences_tallied_elsewhere_count_like_added_ones() -> None:
    """Even for an evaluator that needs them whole; then no column of them is kept."""
    first, second = (
        make_annotations({("", name): {1: [(1, 0)], 2: []}}, arity=2) for name in ("a", "b")
    )
    for evaluator in TOYS:
        accumulator = Accumulator(evaluator)
        accumulator.add_tally(evaluator.tally(first, first))
        assert accumulator.work() is None
        accumulator.add_tally(evaluator.tally(second, second))
        both = concatenate([second, first])
        [at_once] = score_annotations([evaluator], both, both)
        assert report_to_dict(accumulator.report()) == report_to_dict(at_once)
