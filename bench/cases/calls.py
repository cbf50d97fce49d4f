"""Small calls, one at a time and many at once, compared with a server that only answers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

import grpc

from bench.case import Case, Size
from bench.measuring import Sample
from bench.rows import Row, at_most, not_yet
from bench.servers.process import Served, echo_server, scoring_server
from vidscore_protos.v1 import annotations_pb2, scoring_service_pb2, specification_pb2
from vidscore_protos.v1 import scoring_service_pb2_grpc as services

CALLS, FEWEST_CALLS = 2_000, 300
AT_ONCE = (1, 16, 128)
FRAMES = 2
MOST_OF_ECHO = 3.0


def _request() -> scoring_service_pb2.ScoreBatchRequest:
    """A request with two frames of one point each, on both sides."""
    batch = annotations_pb2.AnnotationBatch(
        sequences=[annotations_pb2.SequenceKey(sequence="1")],
        frame_sequences=[0] * FRAMES,
        frame_numbers=range(1, 1 + FRAMES),
        frame_object_counts=[1] * FRAMES,
        geometry=annotations_pb2.GEOMETRY_POINT,
        coordinates=[10.0, 20.0] * FRAMES,
    )
    evaluator = specification_pb2.EvaluatorSpec(name="spotgeo")
    configuration = scoring_service_pb2.ScoreConfiguration(
        specification=specification_pb2.BenchmarkSpec(evaluators=[evaluator]),
        truth_geometry=annotations_pb2.GEOMETRY_POINT,
        detection_geometry=annotations_pb2.GEOMETRY_POINT,
    )
    return scoring_service_pb2.ScoreBatchRequest(
        configuration=configuration, truth=[batch], detections=[batch]
    )


async def _call_all(address: str, count: int, at_once: int) -> None:
    """Make `count` calls, `at_once` at a time; a refused call is an error."""
    request = _request()
    remaining = iter(range(count))
    async with grpc.aio.insecure_channel(address) as channel:
        stub: services.ScoringServiceAsyncStub = services.ScoringServiceStub(channel)

        async def call() -> None:
            for _ in remaining:
                await stub.ScoreBatch(request)

        await asyncio.gather(*(call() for _ in range(at_once)))


def _measured(served: Served, count: int, at_once: int) -> tuple[float, float]:
    """Wall seconds per call, and processor seconds of the server per call."""
    used_s, begun_s = served.processor_s(), time.perf_counter()
    asyncio.run(_call_all(served.address, count, at_once))
    elapsed_s = time.perf_counter() - begun_s
    return elapsed_s / count, (served.processor_s() - used_s) / count


def _calls(size: Size) -> Iterator[Row]:
    count = size.of(CALLS, FEWEST_CALLS)
    with echo_server() as echo, scoring_server() as server:
        for at_once in AT_ONCE:
            ours, others = [], []
            for _ in range(1 + size.repeats):
                ours.append(_measured(server, count, at_once))
                others.append(_measured(echo, count, at_once))
            yield Row(
                f"scoring {FRAMES} frames in a call, {at_once} at once: time a call",
                Sample(*zip(*ours[1:], strict=True)),
                Sample(*zip(*others[1:], strict=True)),
                "a server that only answers",
                not_yet(at_most(MOST_OF_ECHO)),
                note="the processor time is that of the servers only",
            )


CASES = (Case("calls", _calls),)
