"""An input summary adds like a tally: however the input is divided, the warnings are the same."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs
from tests.evaluators.plausibility.changes import (
    as_sizes,
    from_below,
    joined,
    labelled,
    some_labelled,
)
from tests.evaluators.plausibility.traffic import traffic, without

from vidscore_evaluators.alignment import align
from vidscore_evaluators.annotations import Annotations, Side
from vidscore_evaluators.evaluator import tally_many
from vidscore_evaluators.formats.plain_arrays import read_arrays
from vidscore_evaluators.live import StreamScorer
from vidscore_evaluators.plausibility._overlaps import MOST_FRAMES, sample_of
from vidscore_evaluators.plausibility.sample import ANSWERS, SAMPLE, SAMPLE_ROWS
from vidscore_evaluators.plausibility.summary import INPUT_SUMMARY_BYTES, LABELS, input_summary_of
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.report import ReportWarning
from vidscore_evaluators.scoring import score_annotations
from vidscore_evaluators.specification import BenchmarkSpec
from vidscore_evaluators.tally import merge_tallies
from vidscore_evaluators.tally_bytes import tally_from_bytes, tally_to_bytes
from vidscore_evaluators.testing import Thing, make_annotations
from vidscore_evaluators.testing.examples import example_count


def read(columns: dict[str, Any]) -> Annotations:
    return read_arrays(columns, "made up").annotations


TRUTH, DETECTIONS = (read(side) for side in traffic(frames=120))
EVALUATOR = create_evaluator("map")
DOUBTFUL = {
    "right": DETECTIONS,
    "sizes": read(as_sizes(traffic(frames=120)[1])),
    "labels": read(labelled(traffic(frames=120)[1], car="Car")),
    "mixed": read(labelled(traffic(frames=120)[1], car="bus", bus="car")),
    "twice": read(joined(traffic(frames=120)[1], traffic(frames=120)[1])),
    "mirrored": read(from_below(traffic(frames=120)[1])),
    "ghosts": read(some_labelled(without(traffic(frames=120)[1], "confidence"), "ghost")),
    "late": structs.replace(DETECTIONS, frame_numbers=DETECTIONS.frame_numbers + 1),
    "inverted": structs.replace(DETECTIONS, confidences=1 - DETECTIONS.confidences),
}


def warnings_of(detections: Annotations, truth: Annotations = TRUTH) -> tuple[ReportWarning, ...]:
    return score_annotations([EVALUATOR], truth, detections)[0].warnings


@pytest.mark.slow
@pytest.mark.parametrize("name", DOUBTFUL)
@settings(max_examples=example_count(5), deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_parts_in_any_order_give_the_bytes_of_the_whole(name: str, seed: int) -> None:
    """Frames that are dealt to five parts and shuffled give the same tally and warnings."""
    random = np.random.default_rng(seed)
    detections = DOUBTFUL[name]
    part_of: dict[tuple[object, int], int] = {}

    def dealt(side: Annotations) -> list[Annotations]:
        keys = zip(side.frame_sequences.tolist(), side.frame_numbers.tolist(), strict=True)
        parts = np.array(
            [
                part_of.setdefault((side.sequences[key], number), int(random.integers(5)))
                for key, number in keys
            ]
        )
        rows = [np.flatnonzero(parts == part) for part in range(5)]
        return [side.take_frames(random.permutation(part)) for part in rows]

    tallies = [EVALUATOR.tally(*part) for part in zip(dealt(TRUTH), dealt(detections), strict=True)]
    random.shuffle(tallies)
    whole = EVALUATOR.tally(TRUTH, detections)
    assert tally_to_bytes(merge_tallies(tallies)) == tally_to_bytes(whole)
    assert EVALUATOR.report(merge_tallies(tallies)).warnings == warnings_of(detections)


@pytest.mark.parametrize("name", DOUBTFUL)
def test_a_stream_warns_like_a_batch(name: str) -> None:
    """Frame after frame, in the order of the detections, gives the batch's warnings at the end."""
    detections = DOUBTFUL[name]
    assert (name == "right") == (not warnings_of(detections))
    scorer = StreamScorer([EVALUATOR])
    for row in range(0, detections.frame_count, 50):
        scorer.add(
            Side.DETECTIONS, detections.frame_run(row, min(row + 50, detections.frame_count))
        )
    scorer.add(Side.TRUTH, TRUTH)
    assert scorer.final_reports()[0].warnings == warnings_of(detections)


@pytest.mark.slow
def test_two_workers_warn_like_one_process() -> None:
    detections = DOUBTFUL["sizes"]
    [report] = score_annotations([EVALUATOR], TRUTH, detections, workers=2)
    assert report.warnings == warnings_of(detections)


def test_evaluators_share_one_input_summary() -> None:
    first, second = tally_many([EVALUATOR, create_evaluator("f1")], TRUTH, DETECTIONS)
    assert first.input_summary is second.input_summary


def test_an_input_summary_stays_small_however_large_the_input() -> None:
    """A thousand labels, and countless boxes, leave no more than is declared."""
    things = [Thing((float(x), 0.0, float(x) + 1, 1.0), f"label {x}") for x in range(1500)]
    crowd = make_annotations({("", "s"): dict.fromkeys(range(8), things)}, arity=4)
    tally = dataclasses.replace(EVALUATOR.tally(crowd, crowd), tables={})
    assert 0 < tally.nbytes <= INPUT_SUMMARY_BYTES
    assert tally.input_summary[LABELS].row_count == 1000
    assert tally.input_summary[SAMPLE].row_count == SAMPLE_ROWS == 4 * (224 + 32)


def test_a_sample_is_spread_over_all_sequences() -> None:
    """Of videos of one length, none is sampled three times as often as another."""
    sequences = {("", f"s{index}"): {frame: [_BOX] for frame in range(200)} for index in range(10)}
    videos = make_annotations(sequences, arity=4)
    table = input_summary_of(align(videos, videos), BenchmarkSpec())[SAMPLE]
    assert table.row_count == SAMPLE_ROWS
    names, counts = np.unique([word[16:] for word in table.texts("block")], return_counts=True)
    assert len(names) == 10
    assert counts.max() < 3 * counts.min()


def test_a_tally_of_an_older_version_gives_its_warnings_as_before() -> None:
    """Its sample has no labels, confidences and tracks, and there is none of answers."""
    detections = read(as_sizes(traffic()[1]))
    tally = EVALUATOR.tally(read(traffic()[0]), detections)
    sample = tally.input_summary[SAMPLE]
    schema = structs.replace(sample.schema, numbers=sample.schema.numbers[:-3])
    older = structs.replace(sample, schema=schema, numbers=sample.numbers[:, :-3])
    summary = {**tally.input_summary, SAMPLE: older}
    del summary[ANSWERS]
    old = dataclasses.replace(tally, input_summary=summary)
    read_again = tally_from_bytes(tally_to_bytes(old))
    found = EVALUATOR.report(read_again).warnings
    assert [warning.code for warning in found] == ["reads_as_sizes", "swapped_corners"]


_BOX = Thing((0.0, 0.0, 10.0, 10.0), "a")


def test_at_most_two_thousand_frames_are_sampled() -> None:
    blocks = np.arange(5000)
    numbers = np.zeros((5000, 6))
    assert sample_of(blocks, numbers, points=False).frame_count == MOST_FRAMES == 2000


def test_neighbouring_frames_are_sampled_together() -> None:
    """A sampled frame has a neighbour in the sample, unless its video has none."""
    videos = make_annotations({("", "s"): {frame: [_BOX] for frame in range(4000)}}, arity=4)
    table = input_summary_of(align(videos, videos), BenchmarkSpec())[SAMPLE]
    frames = set(table.number("frame").tolist())
    whole = [frame for frame in frames if {frame // 4 * 4 + step for step in range(4)} <= frames]
    assert len(whole) >= len(frames) - 4


def test_the_size_of_a_crowded_frame_is_that_of_its_largest_object() -> None:
    """Of 299 objects of equal confidence, a sample of boxes would leave out 75."""
    small = [Thing((float(x), 0.0, float(x) + 1, 1.0), "a") for x in range(298)]
    frames = {frame: [*small, Thing((0.0, 0.0, 9.0, 5.0 * frame), "a")] for frame in range(40)}
    crowd = make_annotations({("", "s"): frames}, arity=4)
    answers = input_summary_of(align(crowd, crowd), BenchmarkSpec())[ANSWERS]
    sizes = dict(zip(answers.number("frame"), answers.number("size"), strict=True))
    assert sizes == {frame: max(9.0, 5.0 * frame) for frame in range(40)}


def test_the_order_of_rows_does_not_decide_which_equal_boxes_are_sampled() -> None:
    """Forty equal boxes of two labels, of which a sample takes 32."""
    truth = make_annotations({("", "s"): {0: [_BOX]}}, arity=4)
    boxes = [Thing((0.0, 0.0, 10.0, 10.0), label) for label in "ab"] * 20
    in_turn, sorted_ones = (
        make_annotations({("", "s"): {0: things}}, arity=4)
        for things in (boxes, sorted(boxes, key=lambda thing: thing.label))
    )
    first, second = (EVALUATOR.tally(truth, side) for side in (in_turn, sorted_ones))
    assert tally_to_bytes(first) == tally_to_bytes(second)
