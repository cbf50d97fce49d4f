"""Outcomes of each object of the truth and of each detection, as columns."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vidscore_client._transport import Transport, read_resuming
from vidscore_client.errors import ConflictError, InternalError
from vidscore_client.frames import FloatArray, IntArray
from vidscore_client.settings import Retry
from vidscore_protos.v1 import outcomes_pb2
from vidscore_protos.v1 import submission_service_pb2 as wire

SIDES = ("truth", "detections")
"""Side by the number in `Outcomes.sides`."""

OUTCOMES = (
    "true_positive",
    "false_positive",
    "false_negative",
    "ignored",
    "duplicate",
    "mislocalised",
    "misclassified",
    "mislocalised_and_misclassified",
    "background",
)
"""Outcome by the number in `Outcomes.outcomes`."""

BoolArray = NDArray[np.bool_]

READ_OUTCOMES = "/vidscore.v1.SubmissionService/ReadOutcomes"


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Outcomes of N objects and detections; a participant gets only its own detections.

    Attributes:
        score: Full name of the explained score.
        evaluator: Name of its evaluator.
        sequences: Table of (domain, sequence) names.
        labels: Table of class labels.
        sides: (N,) index into `SIDES`.
        row_sequences: (N,) rows of `sequences`.
        frame_numbers: (N,) frame numbers.
        places: (N,) index of the object within its side and frame, from 0.
        label_indices: (N,) rows of `labels`.
        confidences: (N,) confidences; NaN for truth.
        track_ids: (N,) identities of tracks, -1 where there is none.
        outcomes: (N,) index into `OUTCOMES`.
        partners: (N,) index on the other side, in the same frame, of its match or of the row that
            its outcome refers to; -1 for none.
        similarities: (N,) similarity to the partner; NaN for none.
        distances_px: (N,) distance to the partner in pixels; NaN for none.
        shares: (N,) the row's contribution to the sum behind the evaluator's first measure.
        id_switches: (N,) whether the match changes the identity of the object's track.
        fragmentations: (N,) whether the match ends an interruption of the object's track.
        columns: Further (N,) columns of the evaluator, by name.
    """

    score: str
    evaluator: str
    sequences: tuple[tuple[str, str], ...]
    labels: tuple[str, ...]
    sides: IntArray
    row_sequences: IntArray
    frame_numbers: IntArray
    places: IntArray
    label_indices: IntArray
    confidences: FloatArray
    track_ids: IntArray
    outcomes: IntArray
    partners: IntArray
    similarities: FloatArray
    distances_px: FloatArray
    shares: FloatArray
    id_switches: BoolArray
    fragmentations: BoolArray
    columns: Mapping[str, NDArray[Any]] = field(default_factory=lambda: MappingProxyType({}))

    def __len__(self) -> int:
        """Number of rows N."""
        return len(self.sides)


def decode_outcomes(response: wire.ReadOutcomesResponse) -> Outcomes:
    """One batch of rows.

    Raises:
        InternalError: If it has values that this client does not know, or columns of different
            lengths.
    """
    batch = response.outcomes
    count = len(batch.outcomes)

    def column(values: Sequence[Any], dtype: Any, usual: Any = None) -> NDArray[Any]:
        if not values and usual is not None:
            return np.full(count, usual, dtype=dtype)
        if len(values) != count:
            raise InternalError("the server sent columns of different lengths")
        return np.array(values, dtype=dtype)

    return Outcomes(
        score=response.score,
        evaluator=response.evaluator,
        sequences=tuple((key.domain, key.sequence) for key in batch.sequences),
        labels=tuple(batch.labels),
        sides=_numbered(column(batch.sides, np.int64), SIDES),
        row_sequences=column(batch.row_sequences, np.int64),
        frame_numbers=column(batch.frame_numbers, np.int64),
        places=column(batch.places, np.int64),
        label_indices=column(batch.label_indices, np.int64),
        confidences=column(batch.confidences, np.float64),
        track_ids=column(batch.track_ids, np.int64, -1),
        outcomes=_numbered(column(batch.outcomes, np.int64), OUTCOMES),
        partners=column(batch.partners, np.int64, -1),
        similarities=column(batch.similarities, np.float64, np.nan),
        distances_px=column(batch.distances_px, np.float64, np.nan),
        shares=column(batch.shares, np.float64, 0.0),
        id_switches=column(batch.id_switches, np.bool_, False),
        fragmentations=column(batch.fragmentations, np.bool_, False),
        columns=MappingProxyType({entry.name: _further(entry) for entry in batch.columns}),
    )


def _numbered(numbers: IntArray, names: Sequence[str]) -> IntArray:
    """Convert numbers of the wire, from 1, to indices in a table."""
    if len(numbers) and not 1 <= numbers.min() <= numbers.max() <= len(names):
        raise InternalError("the server sent outcomes that this client does not know")
    return numbers - 1


def _further(column: outcomes_pb2.OutcomeColumn) -> NDArray[Any]:
    kinds: tuple[tuple[Sequence[Any], Any], ...] = (
        (column.integers, np.int64),
        (column.booleans, np.bool_),
        (column.strings, np.str_),
    )
    for values, dtype in kinds:
        if values:
            return np.array(values, dtype=dtype)
    return np.array(column.numbers, dtype=np.float64)


async def read_outcomes(
    transport: Transport, request: wire.ReadOutcomesRequest, retry: Retry
) -> AsyncGenerator[Outcomes, None]:
    """Read all outcomes, over as many calls as necessary.

    Args:
        transport: The connection.
        request: The first request.
        retry: What happens after a break.

    Raises:
        ConflictError: If a newer score appears between two calls.
        VidscoreError: If they cannot be read.
    """
    score, kind = "", wire.ReadOutcomesResponse
    async for response in read_resuming(transport, READ_OUTCOMES, request, kind, retry):
        if score not in {"", response.score}:
            raise ConflictError(
                "the submission was scored again in the meantime; read its outcomes again"
            )
        score = response.score
        yield decode_outcomes(response)
