"""Systems whose ranking a server examines without keeping them; shared by both clients."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import zip_longest

from vidscore.v1 import ranking_service_pb2 as wire
from vidscore.v1 import trust_pb2
from vidscore_client._encoding import encode_frames, encode_geometry
from vidscore_client._specification import (
    Specification,
    encode_bare_specification,
    encode_evaluators,
)
from vidscore_client._trust_operations import filled, read_document, read_progress
from vidscore_client._upload import messages_of, with_first_geometry
from vidscore_client.errors import InputError, InternalError
from vidscore_client.evaluators import EvaluatorChoice
from vidscore_client.frames import Frames, text
from vidscore_client.hosting import RankingQuestions, TrustDocument, TrustProgress

OnProgress = Callable[[TrustProgress], object]


@dataclass(frozen=True)
class Examined:
    """What is to be examined, as it was given.

    Attributes:
        truth: Batches of the truth.
        systems: Batches of each system's detections, by its name.
        evaluators: Who ranks.
        specification: What the data alone cannot say.
        questions: What is asked.
    """

    truth: Iterable[Frames]
    systems: Mapping[str, Iterable[Frames]]
    evaluators: Sequence[EvaluatorChoice]
    specification: Specification | None
    questions: RankingQuestions


def upload_requests(given: Examined) -> Iterator[wire.ExamineUploadRequest]:
    """What an upload sends: the configuration, then all sides in turns.

    Raises:
        InputError: If an argument is wrong; a batch that is none, when its turn comes.
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
        systems=[text("systems", name) for name in given.systems],
        questions=filled(trust_pb2.RankingQuestions(), asdict(given.questions)),
    )
    return _requests(configuration, truth, [batches for batches, _ in looked_at])


def read_response(
    response: wire.ExamineUploadResponse, on_progress: OnProgress | None
) -> TrustDocument | None:
    """The document, once it comes; progress is told."""
    kind: str | None = response.WhichOneof("message")
    if kind == "outcome":
        return read_document(response.outcome)
    if kind == "progress" and on_progress is not None:
        on_progress(read_progress(response.progress))
    return None


def no_outcome() -> InternalError:
    """An error about a server that ends well and says nothing."""
    return InternalError("the server ended the call without an outcome")


def _requests(
    configuration: wire.ExaminationConfiguration,
    truth: Iterable[Frames],
    systems: Sequence[Iterable[Frames]],
) -> Iterator[wire.ExamineUploadRequest]:
    yield wire.ExamineUploadRequest(configuration=configuration)
    sides = [messages_of("systems", batches) for batches in systems]
    for true, *detected in zip_longest(messages_of("truth", truth), *sides):
        if true is not None:
            yield wire.ExamineUploadRequest(truth=encode_frames(true))
        for index, frames in enumerate(detected):
            if frames is not None:
                yield wire.ExamineUploadRequest(detections=encode_frames(frames), system=index)
