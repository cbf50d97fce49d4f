"""Which truth and which detections meet."""

from __future__ import annotations

from tests.server.scene import HERE, points

from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.specification import BenchmarkSpec, SequenceSpec
from vidscore_server.api.batches import read_stored_batch
from vidscore_server.domain.batches import frame_names
from vidscore_server.domain.parts import sides_to_score, without_truth


def _columns(*frames: int, sequence: str = "1") -> Annotations:
    message = points(dict.fromkeys(frames, HERE), sequence)
    return read_stored_batch(message.SerializeToString(), 2)


SPECIFICATION = BenchmarkSpec(sequences=(SequenceSpec("1", frame_count=3),))


def test_complete_truth_gets_the_frames_that_it_does_not_list() -> None:
    truth, detections = sides_to_score(SPECIFICATION, _columns(0), _columns(0, 2), complete=True)
    assert [name[2] for name in frame_names(truth)] == [0, 1, 2]
    assert [name[2] for name in frame_names(detections)] == [0, 2]


def test_detections_of_a_sequence_that_nobody_knows_are_left_out() -> None:
    _, detections = sides_to_score(
        SPECIFICATION, _columns(0), _columns(0, sequence="9"), complete=True
    )
    assert frame_names(detections) == []


def test_incomplete_truth_leaves_frames_without_truth_out_on_both_sides() -> None:
    truth, detections = sides_to_score(SPECIFICATION, _columns(0), _columns(0, 2), complete=False)
    assert [name[2] for name in frame_names(truth)] == [0]
    assert [name[2] for name in frame_names(detections)] == [0]


def test_frames_without_truth_are_found_whatever_their_order() -> None:
    assert without_truth(_columns(3, 1), _columns(1, 2, 3)).tolist() == [False, True, False]
