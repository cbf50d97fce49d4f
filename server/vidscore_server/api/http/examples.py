"""Examples of requests and of an error, for the OpenAPI document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_BENCHMARK = "benchmarks/sky"
_SUBMISSION = f"{_BENCHMARK}/submissions/first"

_FRAMES = {
    "sequences": [{"sequence": "1"}],
    "frameSequences": [0, 0],
    "frameNumbers": ["1", "2"],
    "frameObjectCounts": [2, 0],
    "geometry": "GEOMETRY_POINT",
    "coordinates": [100, 100, 204, 200],
}

_V1 = "/vidscore.v1."
REQUEST_EXAMPLES: Mapping[str, Mapping[str, Any]] = {
    f"{_V1}BenchmarkService/CreateBenchmark": {
        "benchmarkId": "sky",
        "benchmark": {
            "truthGeometry": "GEOMETRY_POINT",
            "detectionGeometry": "GEOMETRY_POINT",
            "specification": {"evaluators": [{"name": "spotgeo"}]},
        },
    },
    f"{_V1}BenchmarkService/GetLeaderboard": {"benchmark": _BENCHMARK},
    f"{_V1}SubmissionService/CreateSubmission": {
        "benchmark": _BENCHMARK,
        "submissionId": "first",
        "title": "First try",
    },
    f"{_V1}SubmissionService/OpenStream": {"submission": _SUBMISSION},
    f"{_V1}SubmissionService/AppendBatch": {
        "stream": f"{_SUBMISSION}/streams/default",
        "epoch": "1",
        "offset": "0",
        "detections": _FRAMES,
    },
    f"{_V1}SubmissionService/CheckDetections": {"benchmark": _BENCHMARK, "detections": _FRAMES},
    f"{_V1}SubmissionService/SealSubmission": {"name": _SUBMISSION, "expectedFrameCount": "2"},
    f"{_V1}SubmissionService/WatchSubmission": {"name": _SUBMISSION},
    f"{_V1}SubmissionService/ListScores": {"submission": _SUBMISSION},
}
"""Requests by the full name of their method."""

ERROR_EXAMPLE: Mapping[str, Any] = {
    "code": "not_found",
    "message": f"there is no submission {_SUBMISSION}",
    "details": [
        {
            "type": "google.rpc.ErrorInfo",
            "value": "CglOT1RfRk9VTkQSCHZpZHNjb3Jl",
            "debug": {"reason": "NOT_FOUND", "domain": "vidscore"},
        }
    ],
}
"""An error of Connect; its `value` has the bytes of the message in `debug`."""
