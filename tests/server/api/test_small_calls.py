"""Which calls are so small that they are scored where they arrive."""

from __future__ import annotations

import pytest
from tests.server.running import serving
from tests.server.scene import configuration

from vidscore_evaluators.jobs import Job
from vidscore_protos.v1 import annotations_pb2, scoring_service_pb2, scoring_service_pb2_grpc
from vidscore_server.workers import WorkerPool


def _named(*names: tuple[str, str, str]) -> annotations_pb2.AnnotationBatch:
    """A frame without objects in each domain and sequence, and a table of labels."""
    batch = annotations_pb2.AnnotationBatch(
        frame_sequences=range(len(names)),
        frame_numbers=[1] * len(names),
        frame_object_counts=[0] * len(names),
        geometry=annotations_pb2.GEOMETRY_POINT,
        labels=dict.fromkeys(label for *_, label in names),
    )
    for domain, sequence, _ in names:
        batch.sequences.add(domain=domain, sequence=sequence)
    return batch


def _request(
    batch: annotations_pb2.AnnotationBatch, chosen: scoring_service_pb2.ScoreConfiguration
) -> scoring_service_pb2.ScoreBatchRequest:
    return scoring_service_pb2.ScoreBatchRequest(
        configuration=chosen, truth=[batch], detections=[batch]
    )


@pytest.mark.parametrize(
    ("batch", "listed", "thresholds", "in_worker"),
    [
        (_named(*(("", f"{row}", "car") for row in range(4))), 0, 0, False),
        (_named(*((f"{row}", "", "car") for row in range(4))), 0, 0, False),
        (_named(*((f"{row}", "", "car") for row in range(5))), 0, 0, True),
        (_named(*(("", f"{row}", f"{row}") for row in range(5))), 0, 0, True),
        (_named(*((f"{row}", f"{row}", f"{row}") for row in range(3))), 0, 0, True),
        (_named(("", "", "car")), 5, 0, True),
        (_named(("", "", "car")), 0, 200, True),
    ],
)
async def test_a_call_of_many_names_or_thresholds_is_not_scored_inline_however_small(
    workers: WorkerPool,
    monkeypatch: pytest.MonkeyPatch,
    batch: annotations_pb2.AnnotationBatch,
    listed: int,
    thresholds: int,
    in_worker: bool,
) -> None:
    """5 kB with 190 domains stopped the server for half a second, and became a report of 2.7 MB."""
    chosen = configuration("map", base="euclidean")
    for row in range(listed):
        chosen.specification.sequences.add(domain=f"{row}", name="s", frame_count=0)
    if thresholds:
        [entry] = chosen.specification.evaluators
        values = [row / thresholds for row in range(1, thresholds)]
        entry.parameters.add(name="thresholds").numbers.values.extend(values)
    jobs = []
    async with serving(workers) as running:
        stub = scoring_service_pb2_grpc.ScoringServiceStub(running.channel)
        await stub.ScoreBatch(
            _request(_named(("", "", "car")), configuration("map", base="euclidean"))
        )
        run = workers.run

        async def noted(job: Job) -> bytes:
            jobs.append(job)
            return await run(job)

        monkeypatch.setattr(workers, "run", noted)
        await stub.ScoreBatch(_request(batch, chosen))
    assert len(jobs) == in_worker
