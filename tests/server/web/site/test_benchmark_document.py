"""The file of a benchmark, made from the answer of a call, creates the same benchmark again."""

from __future__ import annotations

import tomllib
from datetime import UTC, datetime
from typing import Any

from msgspec import structs

from vidscore_evaluators.formats.manifest import write_document
from vidscore_protos.v1 import benchmark_pb2
from vidscore_protos.v1.benchmark_service_pb2 import GetBenchmarkResponse
from vidscore_server.api.definitions import write_benchmark
from vidscore_server.api.pages import plain
from vidscore_server.domain.benchmarks import to_json
from vidscore_server.domain.definition import (
    Definition,
    definition_from_dict,
    definition_to_dict,
)
from vidscore_server.store.records import BenchmarkRecord

NOW = datetime(2026, 5, 1, tzinfo=UTC)

WHOLE: dict[str, Any] = {
    "title": "Streets",
    "description": "# About\n\nFind *all* of it.",
    "evaluators": [
        {"name": "f1", "parameters": {"threshold": 0.25}},
        {"name": "map"},
    ],
    "domains": [{"name": "Tower", "classes": ["car", "bus"]}, {"name": "Air"}],
    "classes": ["car"],
    "sequences": [
        {
            "domain": "Tower",
            "name": "one",
            "frame_count": 100,
            "first_frame": 5,
            "frames": [[5, 50], [60, 60]],
            "dont_care_frames": [[7, 7]],
            "image_width": 640,
            "image_height": 480,
        },
        {"name": "two"},
    ],
    "truth_geometry": "box",
    "detection_geometry": "box",
    "open_time": "2026-05-01T00:00:00+00:00",
    "close_time": "2026-06-01T00:00:00+00:00",
    "public_names": ["sequences", "labels"],
    "policy": {
        "visibility": "final",
        "released_measures": ["recall"],
        "submissions_in_all": 0,
        "quiet_timeout_s": 60.5,
        "public_board_web": True,
    },
}


def _again(document: dict[str, Any]) -> dict[str, Any]:
    """A definition through the store, the wire, a page and its file."""
    return _read_again(definition_from_dict(document))


def _read_again(definition: Definition) -> dict[str, Any]:
    record = BenchmarkRecord("streets", to_json(definition), None, None, NOW, NOW)
    message: benchmark_pb2.Benchmark = write_benchmark(record, definition)
    shown = plain(GetBenchmarkResponse(benchmark=message))["benchmark"]
    file = write_document(shown["document"])
    return definition_to_dict(definition_from_dict(tomllib.loads(file)))


def test_the_file_makes_the_same_benchmark() -> None:
    assert _again(WHOLE) == definition_to_dict(definition_from_dict(WHOLE))


def test_the_file_of_a_minimal_benchmark_makes_the_same_benchmark() -> None:
    little = {"evaluators": [{"name": "spotgeo"}]}
    assert _again(little) == definition_to_dict(definition_from_dict(little))


def test_an_empty_list_of_labels_stays_empty() -> None:
    document = {"evaluators": [{"name": "f1"}], "classes": []}
    assert _again(document) == definition_to_dict(definition_from_dict(document))


def test_the_file_of_a_live_benchmark_has_its_clock() -> None:
    document = {
        "evaluators": [{"name": "f1"}],
        "sequences": [
            {"name": "one", "frame_count": 2, "first_frame": 1},
            {"name": "two", "frame_count": 3},
        ],
        "public_names": ["sequences", "labels", "frame_counts"],
        "live": {
            "frame_rate": 12.5,
            "frames": "sent by the organiser",
            "sequences": [
                {"name": "two", "frame_times_s": [0.0, 0.25, 0.75]},
            ],
        },
    }
    assert _again(document) == definition_to_dict(definition_from_dict(document))


def test_the_file_of_a_benchmark_whose_private_sequences_were_drawn_has_their_share() -> None:
    """Another benchmark has another draw."""
    document = {"evaluators": [{"name": "f1"}], "policy": {"private_share": 0.5}}
    definition = structs.replace(definition_from_dict(document), private_names=("one", "two"))
    assert _read_again(definition) == definition_to_dict(definition_from_dict(document))
