"""Outcomes on the wire: the client reads what the evaluator computed, for every evaluator."""

from __future__ import annotations

import numpy as np
import pytest

from vidscore_cli.remote import to_outcomes
from vidscore_client.outcomes import decode_outcomes
from vidscore_evaluators.alignment import align
from vidscore_evaluators.annotations import Annotations, SequenceKey
from vidscore_evaluators.outcome_table import ROW_COLUMNS, Outcomes, concatenate_outcomes
from vidscore_evaluators.registry import create_evaluator, evaluator_class, evaluator_names
from vidscore_protos.v1 import submission_service_pb2
from vidscore_server.api import requests
from vidscore_server.api import stored_frames as api
from vidscore_server.domain.release import with_used_names

NAMES = [name for name in evaluator_names() if create_evaluator(name).has_outcomes]
SIZE_PX = 20.0


def side(arity: int, seed: int) -> Annotations:
    """Twelve frames of two sequences with three objects each, which move slightly."""
    chance = np.random.default_rng(seed)
    frames, objects = 12, 36
    corners = np.repeat([[0.0, 0.0], [100.0, 0.0], [0.0, 100.0]], frames, axis=0)
    corners = corners.reshape(3, frames, 2).swapaxes(0, 1).reshape(objects, 2)
    corners = corners + chance.uniform(0.0, 8.0, (objects, 2))
    outlines = {2: (0, 0), 4: (0, 0, 1, 1), 8: (0, 0, 1, 0, 1, 1, 0, 1)}
    offsets = SIZE_PX * np.array(outlines[arity], dtype=np.float64)
    return Annotations(
        sequences=(SequenceKey("Tower", "a"), SequenceKey("Tower", "b")),
        labels=("Car",),
        frame_sequences=np.repeat(np.arange(2, dtype=np.int64), frames // 2),
        frame_numbers=np.tile(np.arange(1, 1 + frames // 2, dtype=np.int64), 2),
        frame_flags=np.zeros(frames, dtype=np.uint8),
        frame_starts=np.arange(0, objects + 1, 3, dtype=np.int64),
        coordinates=np.tile(corners, arity // 2) + offsets,
        label_indices=np.zeros(objects, dtype=np.int64),
        confidences=chance.uniform(0.0, 1.0, objects),
        track_ids=np.tile(np.arange(3, dtype=np.int64), frames),
        flags=np.zeros(objects, dtype=np.uint8),
    )


def test_some_evaluators_have_outcomes() -> None:
    assert {"spotgeo", "f1", "clear"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("most_bytes", [500, requests.MAXIMUM_RESPONSE_BYTES])
def test_every_column_arrives_as_it_was_sent(
    name: str, most_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "MAXIMUM_RESPONSE_BYTES", most_bytes)
    needs = evaluator_class(name).needs
    truth, detections = side(needs.truth_arities[0], 1), side(needs.detection_arities[0], 2)
    found = create_evaluator(name).outcomes(align(truth, detections))
    assert len(found) == 72
    parts = [
        to_outcomes(
            decode_outcomes(
                submission_service_pb2.ReadOutcomesResponse(
                    score="s", evaluator=name, outcomes=batch
                )
            )
        )
        for batch in api.write_outcomes(found)
    ]
    assert (len(parts) > 1) == (most_bytes == 500)
    _check_equal(with_used_names(concatenate_outcomes(parts)), with_used_names(found))


def _check_equal(found: Outcomes, expected: Outcomes) -> None:
    assert found.sequence_keys == expected.sequence_keys
    assert found.label_names == expected.label_names
    for name in ROW_COLUMNS:
        left, right = getattr(found, name), getattr(expected, name)
        assert left.dtype == right.dtype, name
        np.testing.assert_array_equal(left, right, err_msg=name)
    assert list(found.columns) == list(expected.columns)
    for name, column in expected.columns.items():
        np.testing.assert_array_equal(found.columns[name], column, err_msg=name)


@pytest.mark.parametrize("name", NAMES)
def test_pages_read_what_the_server_sends(name: str) -> None:
    needs = evaluator_class(name).needs
    truth, detections = side(needs.truth_arities[0], 1), side(needs.detection_arities[0], 2)
    found = create_evaluator(name).outcomes(align(truth, detections))
    read = concatenate_outcomes(map(api.read_outcomes, api.write_outcomes(found)))
    _check_equal(with_used_names(read), with_used_names(found))
