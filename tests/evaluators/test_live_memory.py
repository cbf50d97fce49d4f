"""The memory of a stream is counted while it grows, so that a server can bound it."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pytest

from vidscore_evaluators.alignment import Aligned
from vidscore_evaluators.annotations import POINT, Annotations, Side, empty_annotations
from vidscore_evaluators.errors import LimitError
from vidscore_evaluators.evaluator import Evaluator, Growth, Needs, Task, Unit, count_measure
from vidscore_evaluators.live import JOIN_AFTER, Accumulator, Pairing
from vidscore_evaluators.report import Block, Scores
from vidscore_evaluators.tally import Table, TableSchema, Tally, build_table
from vidscore_evaluators.validation import Columns, build_annotations


@dataclass(frozen=True)
class _NoParameters:
    pass


class _Counter(Evaluator[_NoParameters]):
    """Counts frames; the test chooses its unit."""

    name = "counter"
    version = "1"
    title = "Counts frames"
    task = Task.DETECTION
    Parameters = _NoParameters
    measures = (count_measure("frames", "Frames."),)
    ranking = ()
    needs = Needs((POINT,), (POINT,))
    chosen_unit = Unit.FRAME

    @property
    def unit(self) -> Unit:
        return self.chosen_unit

    @property
    def growth(self) -> Growth:
        return Growth("bounded", 8)

    def tables(self, aligned: Aligned) -> Mapping[str, Table]:
        count = aligned.truth.frame_count
        schema = TableSchema(texts=("all",), counts=("frames",))
        codes = np.zeros(count, dtype=np.int64)
        ones = np.ones(count, dtype=np.int64)
        return {"frames": build_table(schema, [""], [codes], counts=[ones])}

    def scores(self, tally: Tally) -> Scores:
        total = int(tally.tables["frames"].count("frames").sum())
        return Scores((Block({"frames": (total,)}),))


class _WholeSequences(_Counter):
    chosen_unit = Unit.SEQUENCE


def _frames(*numbers: int) -> Annotations:
    return build_annotations(
        Columns(
            arity=POINT,
            sequences=[("", "video")],
            frame_sequences=[0] * len(numbers),
            frame_numbers=numbers,
            object_counts=[1] * len(numbers),
            coordinates=np.zeros(2 * len(numbers)),
        )
    )


def test_a_batch_is_held_until_its_last_frame_is_paired() -> None:
    pairing = Pairing(maximum_waiting=10)
    truth = _frames(0, 1, 2)
    pairing.add(Side.TRUTH, truth)
    assert pairing.held_bytes == truth.held_bytes
    pairing.add(Side.DETECTIONS, _frames(0, 1))
    assert pairing.held_bytes == truth.held_bytes
    pairing.add(Side.DETECTIONS, _frames(2))
    assert pairing.held_bytes == 0


def test_drained_frames_are_no_longer_held() -> None:
    pairing = Pairing(maximum_waiting=10)
    pairing.add(Side.TRUTH, _frames(0, 1))
    pairing.add(Side.DETECTIONS, _frames(1, 2))
    pairing.drain(Side.TRUTH)
    pairing.drain(Side.DETECTIONS)
    assert pairing.held_bytes == 0


def test_a_batch_without_frames_is_not_held() -> None:
    pairing = Pairing(maximum_waiting=10)
    pairing.add(Side.TRUTH, empty_annotations(POINT))
    assert pairing.held_bytes == 0


def test_a_batch_counts_with_its_columns_and_its_names() -> None:
    small, named = _frames(0), _frames(0)
    named = named.with_tables(named.sequences, ("", "x" * 1000))
    assert small.held_bytes > small.nbytes
    assert named.held_bytes - small.held_bytes >= 1000


def test_pending_bytes_grow_with_each_batch_and_fall_when_it_is_settled() -> None:
    accumulator = Accumulator(_Counter(_NoParameters()))
    assert accumulator.pending_bytes == 0
    accumulator.add(_frames(0), _frames(0))
    accumulator.add(_frames(1), _frames(1))
    assert accumulator.pending_bytes == 4 * _frames(0).held_bytes
    job = accumulator.work()
    assert job is not None
    taken = accumulator.pending_count
    accumulator.add(_frames(2), _frames(2))
    tally = accumulator.evaluator.tally(job.truth, job.detections)
    accumulator.compact(tally, taken)
    assert accumulator.pending_bytes == 2 * _frames(0).held_bytes


@pytest.mark.slow
def test_many_small_batches_of_whole_sequences_are_joined_as_they_arrive() -> None:
    accumulator = Accumulator(_WholeSequences(_NoParameters()))
    for number in range(2 * JOIN_AFTER):
        accumulator.add(_frames(number), _frames(number))
    assert accumulator.pending_count <= JOIN_AFTER
    job = accumulator.work()
    assert job is not None
    assert job.truth.frame_numbers.tolist() == list(range(2 * JOIN_AFTER))


def test_too_many_waiting_frames_name_the_limit_and_its_value() -> None:
    pairing = Pairing(maximum_waiting=2)
    with pytest.raises(LimitError, match="maximum_waiting_frames is 2") as caught:
        pairing.add(Side.TRUTH, _frames(0, 1, 2))
    assert (caught.value.limit, caught.value.maximum) == ("maximum_waiting_frames", 2)


def test_a_limit_error_survives_pickling_from_a_worker() -> None:
    error = LimitError("3 things", "maximum_things", 2)
    back = pickle.loads(pickle.dumps(error))
    assert (str(back), back.limit, back.maximum) == (str(error), "maximum_things", 2)
