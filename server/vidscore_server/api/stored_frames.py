"""Stored frames as messages of bounded size: detections, truth for its organisers, outcomes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from vidscore_evaluators.annotations import NO_TRACK, Annotations, SequenceKey
from vidscore_evaluators.arrays import AnyArray
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.outcome_table import NO_PARTNER, OUTCOMES, SIDES, OperatingPoint, Outcomes
from vidscore_protos.v1 import annotations_pb2, organiser_pb2, outcomes_pb2
from vidscore_protos.v1 import submission_service_pb2 as pb
from vidscore_server.api.batches import write_batch
from vidscore_server.api.requests import bounded_messages, refuse_negative, request_of
from vidscore_server.api.stream import Responses
from vidscore_server.domain.access import current_caller
from vidscore_server.domain.hosting import Hosting
from vidscore_server.domain.names import benchmark_name, parse_id, read_benchmark, read_submission
from vidscore_server.domain.release import with_used_names
from vidscore_server.runtime import offload

FRAMES_AT_ONCE = 2000
"""Maximum number of frames of truth that are written at once."""


async def send_detections(
    hosting: Hosting,
    request: pb.ReadDetectionsRequest,
    responses: Responses[pb.ReadDetectionsResponse],
) -> None:
    """Answer a call of ReadDetections."""
    name = read_submission(request.submission, "submission")
    stream = request.stream and parse_id(request.stream, "stream")
    refuse_negative(request, "offset")
    if request.offset and not stream:
        fault = Fault("no stream", "the stream that the offset counts in", field="stream")
        raise InputError([fault])
    runs = hosting.detections.read(name, current_caller(), stream, request.offset)
    async for run in runs:
        offset = run.next_offset - run.frames.frame_count
        for batch in await _written(run.frames):
            offset += len(batch.frame_numbers)
            await responses.send(
                pb.ReadDetectionsResponse(stream=run.stream, detections=batch, next_offset=offset)
            )


async def send_truth(
    hosting: Hosting,
    request: organiser_pb2.ReadTruthRequest,
    responses: Responses[organiser_pb2.ReadTruthResponse],
) -> None:
    """Answer a call of ReadTruth, which is audited."""
    name = read_benchmark(request.benchmark, "benchmark")
    refuse_negative(request, "revision", "offset")
    revision, truth = await hosting.truth.read(name, request.revision)
    made = request_of(request, "ReadTruth", hosting.context)
    await hosting.context.write(
        lambda transaction: made.audit(transaction, benchmark_name(name), f"revision {revision}")
    )
    offset = request.offset
    if truth is None or offset >= truth.frame_count:
        end = 0 if truth is None else truth.frame_count
        await responses.send(organiser_pb2.ReadTruthResponse(revision=revision, next_offset=end))
        return
    for start in range(offset, truth.frame_count, FRAMES_AT_ONCE):
        rows = np.arange(start, min(start + FRAMES_AT_ONCE, truth.frame_count))
        for batch in await _written(truth.take_frames(rows)):
            offset += len(batch.frame_numbers)
            await responses.send(
                organiser_pb2.ReadTruthResponse(revision=revision, truth=batch, next_offset=offset)
            )


async def _written(frames: Annotations) -> list[annotations_pb2.AnnotationBatch]:
    """Their messages, made in a thread if there are many."""
    return await offload(frames.frame_count + frames.coordinates.size, list, write_pieces(frames))


def write_pieces(frames: Annotations) -> Iterator[annotations_pb2.AnnotationBatch]:
    """Frames as messages of bounded size, at least one; a larger frame gets its own message."""
    return bounded_messages(
        np.arange(frames.frame_count),
        lambda rows: write_batch(frames.take_frames(rows).with_used_tables()),
    )


# --- Outcomes: columns, in batches of bounded size

_SIDES = np.array([getattr(outcomes_pb2, f"OUTCOME_SIDE_{side.name}") for side in SIDES])
_OUTCOMES = np.array([getattr(outcomes_pb2, f"OUTCOME_{outcome.name}") for outcome in OUTCOMES])
_COLUMNS = {"b": "booleans", "i": "integers", "u": "integers", "f": "numbers", "U": "strings"}
"""Field of an additional column, by the kind of its numpy type."""


async def send_outcomes(
    hosting: Hosting,
    request: pb.ReadOutcomesRequest,
    responses: Responses[pb.ReadOutcomesResponse],
) -> None:
    """Answer a call of ReadOutcomes."""
    name = read_submission(request.submission, "submission")
    at = read_operating_point(request)
    refuse_negative(request, "offset")
    with hosting.outcomes.place(current_caller()):
        made = request_of(request, "ReadOutcomes", hosting.context)
        plan = await hosting.outcomes.plan(made, name, request.evaluator, at, _sequence(request))
        score = f"{name}/scores/{plan.score.number}"
        if request.known_score == score:
            evaluator = plan.evaluator.name
            await responses.send(pb.ReadOutcomesResponse(score=score, evaluator=evaluator))
            return
        offset = 0
        async for rows in hosting.outcomes.batches(plan):
            skipped = min(len(rows), max(0, request.offset - offset))
            offset += skipped
            if skipped == len(rows) and skipped:
                continue
            for batch in write_outcomes(rows.take(np.arange(skipped, len(rows)))):
                offset += len(batch.outcomes)
                await responses.send(
                    pb.ReadOutcomesResponse(
                        score=score,
                        evaluator=plan.evaluator.name,
                        outcomes=batch,
                        next_offset=offset,
                    )
                )


def read_operating_point(request: pb.ReadOutcomesRequest) -> OperatingPoint:
    """Read the point on the evaluator's curves.

    Raises:
        InputError: If a number is not finite.
    """
    given = {
        field: getattr(request, field)
        for field in ("threshold", "confidence")
        if request.HasField(field)
    }
    faults = [
        Fault(str(value), "a finite number", field=field)
        for field, value in given.items()
        if not math.isfinite(value)
    ]
    if faults:
        raise InputError(faults)
    return OperatingPoint(**given)


def write_outcomes(outcomes: Outcomes) -> Iterator[outcomes_pb2.OutcomeBatch]:
    """Rows as messages of bounded size, at least one; a larger row gets its own message."""
    return bounded_messages(
        np.arange(len(outcomes)), lambda rows: _batch(with_used_names(outcomes.take(rows)))
    )


def _batch(outcomes: Outcomes) -> outcomes_pb2.OutcomeBatch:
    return outcomes_pb2.OutcomeBatch(
        sequences=[
            annotations_pb2.SequenceKey(domain=key.domain, sequence=key.sequence)
            for key in outcomes.sequence_keys
        ],
        labels=outcomes.label_names,
        sides=_SIDES[outcomes.sides].tolist(),
        row_sequences=outcomes.sequences.tolist(),
        frame_numbers=outcomes.frames.tolist(),
        places=outcomes.rows.tolist(),
        label_indices=outcomes.labels.tolist(),
        confidences=outcomes.confidences.tolist(),
        track_ids=_unless_all(outcomes.tracks, NO_TRACK),
        outcomes=_OUTCOMES[outcomes.outcomes].tolist(),
        partners=_unless_all(outcomes.partners, NO_PARTNER),
        similarities=_unless_all(outcomes.similarities, math.nan),
        distances_px=_unless_all(outcomes.distances_px, math.nan),
        shares=_unless_all(outcomes.shares, 0.0),
        id_switches=_unless_all(outcomes.id_switches, False),
        fragmentations=_unless_all(outcomes.fragmentations, False),
        columns=[_column(name, column) for name, column in outcomes.columns.items()],
    )


def _column(name: str, column: AnyArray) -> outcomes_pb2.OutcomeColumn:
    message = outcomes_pb2.OutcomeColumn(name=name)
    getattr(message, _COLUMNS.get(column.dtype.kind, "strings")).extend(
        column.tolist() if column.dtype.kind in _COLUMNS else map(str, column.tolist())
    )
    return message


def read_outcomes(message: outcomes_pb2.OutcomeBatch) -> Outcomes:
    """Inverse of `write_outcomes`, for one message."""
    count = len(message.sides)
    side_of = {int(number): row for row, number in enumerate(_SIDES)}
    outcome_of = {int(number): row for row, number in enumerate(_OUTCOMES)}

    def column(name: str, usual: float, dtype: type[np.generic]) -> AnyArray:
        given = np.array(getattr(message, name), dtype=dtype)
        return given if len(given) else np.full(count, usual, dtype=dtype)

    return Outcomes(
        sequence_keys=tuple(SequenceKey(key.domain, key.sequence) for key in message.sequences),
        label_names=tuple(message.labels),
        sides=np.array([side_of[number] for number in message.sides], dtype=np.uint8),
        sequences=column("row_sequences", 0, np.int32),
        frames=column("frame_numbers", 0, np.int64),
        rows=column("places", 0, np.int32),
        labels=column("label_indices", 0, np.int32),
        confidences=column("confidences", math.nan, np.float64),
        tracks=column("track_ids", NO_TRACK, np.int64),
        outcomes=np.array([outcome_of[number] for number in message.outcomes], dtype=np.uint8),
        partners=column("partners", NO_PARTNER, np.int32),
        similarities=column("similarities", math.nan, np.float64),
        distances_px=column("distances_px", math.nan, np.float64),
        shares=column("shares", 0.0, np.float64),
        id_switches=column("id_switches", False, np.bool_),
        fragmentations=column("fragmentations", False, np.bool_),
        columns={entry.name: _values_of(entry) for entry in message.columns},
    )


def _values_of(message: outcomes_pb2.OutcomeColumn) -> AnyArray:
    fields = dict.fromkeys(_COLUMNS.values())
    given = next((field for field in fields if len(getattr(message, field))), "numbers")
    return np.array(getattr(message, given))


def _unless_all(column: AnyArray, usual: float) -> list[Any]:
    """Values of a column; none if all are the usual value, which is NaN or a number."""
    is_usual = np.isnan(column) if math.isnan(usual) else column == usual
    return [] if is_usual.all() else column.tolist()


def _sequence(request: pb.ReadOutcomesRequest) -> SequenceKey | None:
    if not request.HasField("sequence"):
        return None
    return SequenceKey(request.sequence.domain, request.sequence.sequence)
