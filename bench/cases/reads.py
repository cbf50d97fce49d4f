"""Small reads from a store, many at once, compared with a server that only answers."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
from google.protobuf.message import Message

from bench.case import Case, Size
from bench.measuring import Sample
from bench.rows import Row, at_most
from bench.servers.crowd import FIRST, crowded_store
from bench.servers.process import BENCHMARK, STORE, Served, echo_server, serving_store, settle
from vidscore_protos.v1 import benchmark_service_pb2, evaluator_service_pb2, submission_service_pb2

SUBMISSIONS = 50
"""The number on one page of the board."""

CALLS, FEWEST_CALLS = 2_000, 320
AT_ONCE = 16
MOST_OF_ECHO = 2.5

_BENCHMARK = f"benchmarks/{BENCHMARK}"
_SUBMISSION = f"{_BENCHMARK}/submissions/{FIRST}"
READS: dict[str, Message] = {
    "BenchmarkService/GetBenchmark": benchmark_service_pb2.GetBenchmarkRequest(name=_BENCHMARK),
    "SubmissionService/GetSubmission": submission_service_pb2.GetSubmissionRequest(
        name=_SUBMISSION
    ),
    "BenchmarkService/GetLeaderboard": benchmark_service_pb2.GetLeaderboardRequest(
        benchmark=_BENCHMARK
    ),
    "SubmissionService/ListScores": submission_service_pb2.ListScoresRequest(
        submission=_SUBMISSION
    ),
    "EvaluatorService/ListEvaluators": evaluator_service_pb2.ListEvaluatorsRequest(),
}
ANSWERED_BY_ECHO = "ScoringService/ScoreBatch"


async def _answer_all(
    address: str, method: str, request: bytes, count: int, metadata: tuple[tuple[str, str], ...]
) -> None:
    """Make `count` calls, `AT_ONCE` at a time; a refused call is an error.

    Requests and answers are bytes here, so that the client uses little processor time.
    """
    remaining = iter(range(count))
    async with grpc.aio.insecure_channel(address) as channel:
        stub: Any = channel.unary_unary(f"/vidscore.v1.{method}")  # of bytes

        async def call() -> None:
            for _ in remaining:
                await stub(request, metadata=metadata)

        await asyncio.gather(*(call() for _ in range(AT_ONCE)))


def _measured(
    served: Served, method: str, request: bytes, count: int, metadata: tuple[tuple[str, str], ...]
) -> tuple[float, float]:
    """Wall seconds per call, and processor seconds of the server per call."""
    used_s, begun_s = served.processor_s(), time.perf_counter()
    asyncio.run(_answer_all(served.address, method, request, count, metadata))
    elapsed_s = time.perf_counter() - begun_s
    return elapsed_s / count, (served.processor_s() - used_s) / count


def _reads(size: Size) -> Iterator[Row]:
    count = size.of(CALLS, FEWEST_CALLS)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        tokens = crowded_store(folder, size.of(SUBMISSIONS, SUBMISSIONS))
        metadata = (("authorization", f"Bearer {tokens['participant']}"),)
        with echo_server() as echo, serving_store(folder / STORE) as served:
            settle(served)
            for method, message in READS.items():
                request = message.SerializeToString()
                ours, others = [], []
                for _ in range(1 + size.repeats):
                    ours.append(_measured(served, method, request, count, metadata))
                    others.append(_measured(echo, ANSWERED_BY_ECHO, b"", count, ()))
                yield Row(
                    f"{method.partition('/')[2]}, {AT_ONCE} at once: time a call",
                    _sample(ours[1:]),
                    _sample(others[1:]),
                    "a server that only answers",
                    at_most(MOST_OF_ECHO),
                    note="the processor time is that of the servers only",
                )


def _sample(found: list[tuple[float, float]]) -> Sample:
    elapsed_s, used_s = zip(*found, strict=True)
    return Sample(elapsed_s, used_s)


CASES = (Case("reads", _reads),)
