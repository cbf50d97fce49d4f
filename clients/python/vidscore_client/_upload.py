"""Uploads of whole batches: to score, or of systems whose ranking is examined."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, zip_longest
from typing import Any, NamedTuple

from vidscore_client._encoding import encode_frames
from vidscore_client._outbox import Batch, Outbox
from vidscore_client._specification import (
    Specification,
    encode_bare_specification,
    encode_evaluators,
    encode_geometry,
)
from vidscore_client.errors import InputError
from vidscore_client.evaluators import EvaluatorChoice
from vidscore_client.frames import GEOMETRY_OF_ARITY, Frames, Geometry, Side, parse_string
from vidscore_client.hosting import RankingQuestions
from vidscore_client.settings import Batching
from vidscore_protos.v1 import ranking_service_pb2 as wire
from vidscore_protos.v1 import trust_pb2

UNHURRIED = Batching(block_timeout_s=None)
"""Waits for the server as long as the whole call may take."""


class Upload(NamedTuple):
    """An upload.

    Attributes:
        truth_geometry: Shape of the truth's objects.
        detection_geometry: Shape of the detections.
        batches: Batches of both sides in turns, so that few frames wait for the other side.
    """

    truth_geometry: Geometry
    detection_geometry: Geometry
    batches: Iterator[Batch]


def plan_upload(
    truth: Iterable[Frames],
    detections: Iterable[Frames],
    truth_geometry: Geometry | None,
    detection_geometry: Geometry | None,
) -> Upload:
    """Take missing shapes from the first batch of each side.

    Raises:
        InputError: If a side has no batch and its shape is not given.
    """
    truth, truth_geometry = _with_geometry("truth", truth, truth_geometry)
    detections, detection_geometry = _with_geometry("detections", detections, detection_geometry)
    return Upload(truth_geometry, detection_geometry, _in_turns(truth, detections))


def _with_geometry(
    side: Side, batches: Iterable[Frames], geometry: Geometry | None
) -> tuple[Iterable[Frames], Geometry]:
    if geometry is not None:
        return _listed(side, batches), geometry
    batches, geometry = with_first_geometry(side, batches)
    if geometry is None:
        raise InputError(side, "no batch", "at least one, or an explicit geometry")
    return batches, geometry


def with_first_geometry(
    argument: str, batches: Iterable[Frames]
) -> tuple[Iterable[Frames], Geometry | None]:
    """All batches, and the shape of the first one; None if there is no batch.

    Args:
        argument: Name of their argument, for errors.
        batches: The batches.

    Raises:
        InputError: If it is a single batch, not a list, or the first is not a batch.
    """
    rest = iter(_listed(argument, batches))
    first = next(rest, None)
    if first is None:
        return (), None
    if not isinstance(first, Frames):
        raise InputError(argument, repr(first)[:80], "Frames")
    return chain([first], rest), GEOMETRY_OF_ARITY[first.arity]


def _listed(argument: str, batches: Iterable[Frames]) -> Iterable[Frames]:
    """The batches.

    Raises:
        InputError: If it is a single batch, not a list.
    """
    if isinstance(batches, Frames):
        raise InputError(argument, "one batch", "a list of batches")
    return batches


def _in_turns(truth: Iterable[Frames], detections: Iterable[Frames]) -> Iterator[Batch]:
    for true, detected in zip_longest(_pieces(truth), _pieces(detections)):
        if true is not None:
            yield Batch("truth", true)
        if detected is not None:
            yield Batch("detections", detected)


def _pieces(batches: Iterable[Frames]) -> Iterator[Frames]:
    for frames in batches:
        for first in range(0, frames.frame_count, UNHURRIED.batch_frames):
            yield frames.part(first, min(first + UNHURRIED.batch_frames, frames.frame_count))


def messages_of(argument: str, batches: Iterable[Frames], batching: Batching) -> Iterator[Frames]:
    """Batches, cut so that no message has too many frames or bytes.

    Args:
        argument: Name of their argument, for errors.
        batches: The batches.
        batching: Limits of a message.

    Raises:
        InputError: If one is not a batch, when it is reached.
    """
    outbox = Outbox(batching)
    for frames in batches:
        if not isinstance(frames, Frames):
            raise InputError(argument, repr(frames)[:80], "Frames")
        if frames.frame_count:
            outbox.offer("truth", frames, 0.0)
        while (batch := outbox.take(0.0)) is not None:
            yield batch.frames


def refuse_other_arity(frames: Frames, arity: int) -> None:
    """Refuse detections of another shape than the benchmark's.

    Raises:
        InputError: If the shapes differ.
    """
    if frames.arity != arity:
        found = f"{frames.arity} coordinates per object"
        raise InputError("frames", found, f"{arity}, as in the benchmark")


@dataclass(frozen=True)
class Examined:
    """The arguments of an examination, as given.

    Attributes:
        truth: Batches of the truth.
        systems: Batches of each system's detections, by its name.
        evaluators: The evaluators that rank.
        specification: The specification.
        questions: The questions.
    """

    truth: Iterable[Frames]
    systems: Mapping[str, Iterable[Frames]]
    evaluators: Sequence[EvaluatorChoice]
    specification: Specification | None
    questions: RankingQuestions


def upload_requests(given: Examined, batching: Batching) -> Iterator[wire.ExamineUploadRequest]:
    """The requests of an upload: the configuration, then all sides in turns.

    Args:
        given: The arguments of the examination.
        batching: Limits of a message.

    Raises:
        InputError: If an argument is wrong; for a wrong batch, when it is reached.
    """
    truth, truth_geometry = with_first_geometry("truth", given.truth)
    looked_at = [
        with_first_geometry(f"systems[{name!r}]", batches)
        for name, batches in given.systems.items()
    ]
    shapes = [shape for _, shape in looked_at if shape is not None]
    if truth_geometry is None or not shapes:
        argument = "truth" if truth_geometry is None else "systems"
        raise InputError(argument, "no batch", "at least one, which may be empty")
    specification = encode_bare_specification(given.specification)
    evaluators = encode_evaluators("evaluators", given.evaluators)
    if not evaluators and not specification.evaluators:
        raise InputError("evaluators", "none", "at least one name")
    configuration = wire.ExaminationConfiguration(
        specification=specification,
        evaluators=evaluators,
        truth_geometry=encode_geometry("truth", truth_geometry),
        detection_geometry=encode_geometry("systems", shapes[0]),
        systems=[parse_string("systems", name) for name in given.systems],
        questions=filled(trust_pb2.RankingQuestions(), asdict(given.questions)),
    )
    sides = [messages_of("systems", batches, batching) for batches, _ in looked_at]
    return _requests(configuration, messages_of("truth", truth, batching), sides)


def _requests(
    configuration: wire.ExaminationConfiguration,
    truth: Iterator[Frames],
    systems: Sequence[Iterator[Frames]],
) -> Iterator[wire.ExamineUploadRequest]:
    yield wire.ExamineUploadRequest(configuration=configuration)
    for true, *detected in zip_longest(truth, *systems):
        if true is not None:
            yield wire.ExamineUploadRequest(truth=encode_frames(true))
        for index, frames in enumerate(detected):
            if frames is not None:
                yield wire.ExamineUploadRequest(detections=encode_frames(frames), system=index)


def filled(message: Any, values: dict[str, Any]) -> Any:
    """A message with the values that are not None.

    Raises:
        InputError: If one has another type, or is too large for the wire.
    """
    for name, value in values.items():
        if value is None:
            continue
        try:
            setattr(message, name, value)
        except (TypeError, ValueError):
            raise InputError(name, repr(value)[:80], "a number in the field's range") from None
    return message
