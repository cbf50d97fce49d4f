"""Outcomes of one sequence of a submission, without those that the client already has."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.server.domain.hosted import BENCHMARK, Hosted, refusal
from tests.server.domain.traced import frames, made, rows

from vidscore_protos.v1 import annotations_pb2, benchmark_pb2

pytestmark = pytest.mark.usefixtures("tracer")

SCORE = f"{BENCHMARK}/submissions/one/scores/1"
HERE, THERE = {1: [("car", 10, 20)]}, {1: [("car", 300, 200)], 4: [("bus", 5, 6)]}


async def _scored(hosted: Hosted, message: benchmark_pb2.Benchmark | None = None) -> None:
    """Two sequences, each in its own batch."""
    await hosted.organiser.create(message or made())
    batches = (frames(HERE), frames(THERE, "2"))
    await hosted.organiser.upload(*batches)
    stream = await hosted.red.begin(batches[0])
    await hosted.red.append(stream, 1, batches[1])
    await hosted.red.seal()
    await hosted.red.ended()


def _key(sequence: str) -> annotations_pb2.SequenceKey:
    return annotations_pb2.SequenceKey(sequence=sequence)


async def test_outcomes_of_a_sequence_have_only_its_rows(hosted: Hosted) -> None:
    await _scored(hosted)
    every = rows(await hosted.organiser.outcomes())
    for sequence in ("1", "2"):
        answers = await hosted.organiser.outcomes(sequence=_key(sequence))
        own = [row for row in every if row[1] == sequence]
        assert rows(answers) == own
        assert len(own) == (2 if sequence == "1" else 4)
        assert answers[-1].next_offset == len(own)
    [nothing] = await hosted.organiser.outcomes(sequence=_key("3"))
    assert rows([nothing]) == []


async def test_a_team_sees_its_own_detections_of_a_sequence(hosted: Hosted) -> None:
    await _scored(hosted)
    answers = await hosted.red.outcomes(sequence=_key("2"))
    assert {row[0] for row in rows(answers)} == {"DETECTIONS"}
    assert len(rows(answers)) == 2


async def test_a_team_never_sees_outcomes_of_private_sequences(hosted: Hosted) -> None:
    """Not even after the closing: they locate objects, and the truth may be used again."""
    message = made(private_sequences=["2"])
    message.close_time.FromDatetime(hosted.clock.now + timedelta(hours=1))
    await _scored(hosted, message)
    for hours in (0, 2):
        hosted.clock.pass_by(hours=hours)
        assert {row[1] for row in rows(await hosted.organiser.outcomes())} == {"1", "2"}
        assert {row[1] for row in rows(await hosted.red.outcomes())} == {"1"}
        assert rows(await hosted.red.outcomes(sequence=_key("2"))) == []


async def test_rows_that_a_client_already_has_are_not_sent_again(hosted: Hosted) -> None:
    await _scored(hosted)
    [answer] = await hosted.red.outcomes(sequence=_key("2"), known_score=SCORE)
    assert not answer.HasField("outcomes")
    assert (answer.score, answer.evaluator) == (SCORE, "tracer")
    [answer] = await hosted.red.outcomes(sequence=_key("2"), known_score=f"{SCORE}1")
    assert len(rows([answer])) == 2


async def test_a_request_for_known_rows_is_refused_under_the_same_rules(hosted: Hosted) -> None:
    await _scored(hosted, made(outcomes=benchmark_pb2.OUTCOMES_SHOWN_NONE))
    call = hosted.red.outcomes(sequence=_key("2"), known_score=SCORE)
    assert (await refusal(call)).reason == "NOT_RELEASED"
