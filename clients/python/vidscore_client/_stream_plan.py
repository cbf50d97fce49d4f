"""What a scoring stream was asked to be, checked; shared by the synchronous and asyncio streams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from vidscore_client._encoding import encode_configuration
from vidscore_client._specification import Specification
from vidscore_client.errors import InputError
from vidscore_client.evaluators import EvaluatorChoice
from vidscore_client.frames import ARITIES, Frames, Geometry, Side
from vidscore_client.settings import Batching, Live
from vidscore_protos.v1 import scoring_service_pb2


@dataclass(frozen=True)
class StreamPlan:
    """A stream before it is opened.

    Attributes:
        first_request: The message that opens it.
        arities: Coordinates an object has, by side.
        batching: How frames are put together.
        live: Which live reports are wanted.
        timeout_s: Seconds that the whole stream may take; None for no limit.
    """

    first_request: scoring_service_pb2.ScoreRequest
    arities: Mapping[Side, int]
    batching: Batching
    live: Live | None
    timeout_s: float | None

    def check_batch(self, side: Side, frames: Frames) -> None:
        """Refuse a batch that does not belong to this stream.

        Raises:
            InputError: If there is no such side, or its objects have another shape.
        """
        if side not in self.arities:
            raise InputError("side", repr(side)[:80], "'truth' or 'detections'")
        if not isinstance(frames, Frames):
            raise InputError("frames", repr(frames)[:80], "Frames")
        if frames.arity != self.arities[side]:
            found = f"{frames.arity} coordinates an object"
            raise InputError("frames", found, f"{self.arities[side]}, as the stream was opened for")


def plan_stream(
    evaluators: Sequence[EvaluatorChoice],
    specification: Specification | None,
    geometries: tuple[Geometry, Geometry],
    live: Live | None,
    batching: Batching,
    timeout_s: float | None,
) -> StreamPlan:
    """Check the arguments of `score_stream`; nothing is sent yet.

    Args:
        evaluators: What judges.
        specification: The benchmark's specification.
        geometries: Shape of the truth's objects and of the detections.
        live: Which live reports are wanted.
        batching: How frames are put together.
        timeout_s: Seconds that the whole stream may take.

    Raises:
        InputError: If an argument has the wrong type or value.
    """
    truth_geometry, detection_geometry = geometries
    configuration = encode_configuration(
        evaluators, specification, truth_geometry, detection_geometry, live
    )
    if timeout_s is not None and not timeout_s > 0:
        raise InputError("timeout_s", str(timeout_s), "more than 0, or None")
    return StreamPlan(
        first_request=scoring_service_pb2.ScoreRequest(configuration=configuration),
        arities=MappingProxyType(
            {"truth": ARITIES[truth_geometry], "detections": ARITIES[detection_geometry]}
        ),
        batching=batching,
        live=live,
        timeout_s=timeout_s,
    )
