"""Points scored by the evaluator ``tracer``, with outcomes worked out by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tests.server.domain.hosted import Client, Hosted, dots
from tests.server.scene import batch

from vidscore_protos.v1 import annotations_pb2, benchmark_pb2, outcomes_pb2, submission_service_pb2

Things = Sequence[tuple[str, float, float]]
"""Label and position of each object of a frame."""


def frames(numbered: Mapping[int, Things], sequence: str = "1") -> annotations_pb2.AnnotationBatch:
    """Points with labels."""
    labels = [label for objects in numbered.values() for label, _, _ in objects]
    places = {number: [(x, y) for _, x, y in objects] for number, objects in numbered.items()}
    return batch(((("", sequence), number, found) for number, found in places.items()), labels)


TRUTH = frames({1: [("car", 10, 20), ("car", 300, 200)], 2: [], 3: [("car", 50, 60)]})
DETECTIONS = frames(
    {
        1: [("car", 13, 24), ("car", 500, 400), ("car", 318, 200)],
        2: [("car", 1, 2)],
        3: [("bus", 50, 60)],
    }
)
"""Frame 1: 5 px from the first object, far from both, 18 px from the second. Frame 3: at a car."""


def made(evaluators: Sequence[str] = ("tracer",), **policy: object) -> benchmark_pb2.Benchmark:
    """A benchmark that shows a team its outcomes by default."""
    shown = {
        "visibility": benchmark_pb2.VISIBILITY_FINAL,
        "outcomes": benchmark_pb2.OUTCOMES_SHOWN_OWN,
    }
    message = dots(**{**shown, **policy})
    del message.specification.evaluators[:]
    for name in evaluators:
        message.specification.evaluators.add(name=name)
    return message


async def scored(hosted: Hosted, message: benchmark_pb2.Benchmark | None = None) -> None:
    """A benchmark with a scored submission of red's."""
    await hosted.organiser.create(message or made())
    await hosted.organiser.upload(TRUTH)
    await submit(hosted.red)


async def submit(client: Client, name: str = "one") -> None:
    await client.submit(DETECTIONS, name)
    await client.ended(name)


Row = tuple[object, ...]


def rows(responses: Sequence[submission_service_pb2.ReadOutcomesResponse]) -> list[Row]:
    """Side, sequence, frame, row, label and outcome of each row."""
    found: list[Row] = []
    for response in responses:
        batch = response.outcomes
        found += [
            (
                outcomes_pb2.OutcomeSide.Name(side).rpartition("_")[2],
                batch.sequences[sequence].sequence,
                frame,
                place,
                batch.labels[label],
                outcomes_pb2.Outcome.Name(outcome).removeprefix("OUTCOME_").lower(),
            )
            for side, sequence, frame, place, label, outcome in zip(
                batch.sides,
                batch.row_sequences,
                batch.frame_numbers,
                batch.places,
                batch.label_indices,
                batch.outcomes,
                strict=True,
            )
        ]
    return found


ALL: list[Row] = [
    ("TRUTH", "1", 1, 0, "car", "true_positive"),
    ("TRUTH", "1", 1, 1, "car", "false_negative"),
    ("DETECTIONS", "1", 1, 0, "car", "true_positive"),
    ("DETECTIONS", "1", 1, 1, "car", "background"),
    ("DETECTIONS", "1", 1, 2, "car", "mislocalised"),
    ("DETECTIONS", "1", 2, 0, "car", "background"),
    ("TRUTH", "1", 3, 0, "car", "false_negative"),
    ("DETECTIONS", "1", 3, 0, "bus", "misclassified"),
]
OWN: list[Row] = [
    ("DETECTIONS", "1", 1, 0, "car", "true_positive"),
    ("DETECTIONS", "1", 1, 1, "car", "false_positive"),
    ("DETECTIONS", "1", 1, 2, "car", "false_positive"),
    ("DETECTIONS", "1", 2, 0, "car", "false_positive"),
    ("DETECTIONS", "1", 3, 0, "bus", "false_positive"),
]
