"""What a team sees of outcomes depends on what it sent and on one answer per detection."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vidscore_evaluators.alignment import align
from vidscore_evaluators.annotations import Annotations, SequenceKey, Side
from vidscore_evaluators.outcome_table import CODES, Outcome, OutcomeBuilder, Outcomes
from vidscore_server.api.stored_frames import write_outcomes
from vidscore_server.domain.access import Caller
from vidscore_server.domain.release import released_outcomes
from vidscore_server.store.records import Role

RED = Caller("tokens/red", Role.PARTICIPANT, "red")
ORGANISER = Caller("tokens/organiser", Role.ORGANISER)

Frames = list[tuple[int, int, int]]
"""Sequence, frame number and number of objects of each frame."""


def side(frames: Frames, labels: tuple[str, ...], chance: np.random.Generator) -> Annotations:
    """Points anywhere."""
    counts = [count for _, _, count in frames]
    total = sum(counts)
    return Annotations(
        sequences=tuple(SequenceKey("", name) for name in ("a", "b", "c")),
        labels=labels,
        frame_sequences=np.array([row for row, _, _ in frames], dtype=np.int64),
        frame_numbers=np.array([number for _, number, _ in frames], dtype=np.int64),
        frame_flags=np.zeros(len(frames), dtype=np.uint8),
        frame_starts=np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]),
        coordinates=chance.uniform(0, 100, (total, 2)),
        label_indices=chance.integers(0, len(labels), total),
        confidences=chance.uniform(0, 1, total),
        track_ids=chance.integers(0, 9, total),
        flags=np.zeros(total, dtype=np.uint8),
    )


def outcomes_of(truth: Annotations, detections: Annotations, answers: list[Outcome]) -> Outcomes:
    """Outcomes with the given answers; everything else is random."""
    chance = np.random.default_rng(truth.object_count)
    builder = OutcomeBuilder(align(truth, detections))
    for row, answer in enumerate(answers):
        builder.set(Side.DETECTIONS, np.array([row]), answer)
    builder.set(Side.TRUTH, np.arange(truth.object_count), Outcome.FALSE_NEGATIVE)
    counts = {Side.TRUTH: truth.object_count, Side.DETECTIONS: detections.object_count}
    for name, count in counts.items():
        builder.share(name, np.arange(count), chance.uniform(0, 1, count))
    secrets = {name: chance.uniform(0, 1, count) for name, count in counts.items()}
    return builder.build({"secret": secrets})


def sent(caller: Caller, outcomes: Outcomes) -> list[bytes]:
    """All bytes of the messages."""
    batches = write_outcomes(released_outcomes(caller, outcomes))
    return [batch.SerializeToString(deterministic=True) for batch in batches]


FRAMES = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 4), st.integers(0, 3)),
    max_size=6,
    unique_by=lambda frame: frame[:2],
)


@given(FRAMES, FRAMES, FRAMES, st.integers(0, 99), st.data())
@settings(deadline=None)
def test_two_truths_with_the_same_answers_send_a_team_the_same_bytes(
    detected: Frames, one: Frames, other: Frames, seed: int, data: st.DataObject
) -> None:
    """Whatever else differs: objects, frames, labels, matches, shares and further columns."""
    chance = np.random.default_rng(seed)
    detections = side(detected, ("car", "bus"), chance)
    truths = side(one, ("car", "secret"), chance), side(other, ("tram",), chance)
    answers = data.draw(
        st.lists(
            st.sampled_from(list(Outcome)),
            min_size=detections.object_count,
            max_size=detections.object_count,
        )
    )
    first, second = (sent(RED, outcomes_of(truth, detections, answers)) for truth in truths)
    assert first == second
    assert not any(secret in piece for piece in first for secret in (b"secret", b"tram"))
    if truths[0].object_count != truths[1].object_count:
        of_organiser = [sent(ORGANISER, outcomes_of(truth, detections, [])) for truth in truths]
        assert of_organiser[0] != of_organiser[1]


@pytest.mark.parametrize("outcome", list(Outcome))
def test_the_reason_why_a_detection_is_wrong_is_not_shown(outcome: Outcome) -> None:
    """Right, wrong or ignored: a duplicate or a near miss would reveal what is beside it."""
    chance = np.random.default_rng(0)
    detections, truth = side([(0, 1, 1)], ("car",), chance), side([(0, 1, 1)], ("car",), chance)
    shown = released_outcomes(RED, outcomes_of(truth, detections, [outcome]))
    same = {Outcome.TRUE_POSITIVE, Outcome.IGNORED}
    expected = outcome if outcome in same else Outcome.FALSE_POSITIVE
    assert shown.outcomes.tolist() == [CODES[expected]]
