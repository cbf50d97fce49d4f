"""Reports of any number of invented labels are refused before they are made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import grpc
import pytest
from tests.server.domain.hosted import dots, hosting, refusal
from tests.server.running import PlayedWorkers, serving
from tests.server.scene import HERE, configuration, parameter, points

from vidscore_evaluators.errors import LimitError
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.testing.examples import Thing, make_annotations
from vidscore_protos.v1 import annotations_pb2, scoring_service_pb2, scoring_service_pb2_grpc
from vidscore_server.domain.report_size import refuse_large_report
from vidscore_server.settings import Settings

BOX = (1.0, 2.0, 3.0, 4.0)


@pytest.mark.parametrize(
    ("evaluator", "parameters", "parts"),
    [
        ("f1", {}, 6),
        ("f1", {"classes": "ignore"}, 2),
        ("map", {}, 6),
        ("map", {"thresholds": [row / 100 for row in range(1, 41)]}, 12),
        ("map", {"distractor_classes": ["a"] * 40}, 6),
        ("spotgeo", {}, 2),
    ],
)
def test_a_report_has_as_many_parts_as_pairs_of_domains_and_labels_times_the_thresholds(
    evaluator: str, parameters: dict[str, Any], parts: int
) -> None:
    """Cars by night and by day; a tram and a bus were detected. Tables have each pair of them."""
    made = create_evaluator(evaluator, parameters)
    box = BOX if 4 in made.needs.truth_arities else BOX[:2]
    car, tram, bus = (Thing(box, label, 0.5) for label in ("car", "tram", "bus"))
    truth = make_annotations({("day", "a"): {1: [car]}, ("night", "b"): {1: [car, car]}})
    found = make_annotations({("day", "a"): {1: [tram, bus]}, ("night", "b"): {1: []}})
    tally = made.tally(truth, found)
    refuse_large_report(Settings(maximum_report_parts=parts), made, tally)
    with pytest.raises(LimitError, match="domains and labels; the limit maximum_report_parts"):
        refuse_large_report(Settings(maximum_report_parts=parts - 1), made, tally)


def _labelled(*labels: str) -> annotations_pb2.AnnotationBatch:
    batch = points({1: [HERE[0]] * len(labels)})
    batch.labels.extend(labels)
    batch.label_indices.extend(range(len(labels)))
    return batch


async def test_a_submission_of_too_many_labels_fails_at_once_and_says_why(tmp_path: Path) -> None:
    """By its own alone: with a limit on all, attempts that cost nothing would count the truth's."""
    async with hosting(tmp_path, maximum_report_parts=3) as hosted:
        message = dots(submissions_in_all=1)
        [entry] = message.specification.evaluators
        entry.name = "f1"
        entry.parameters.append(parameter("base", "euclidean"))
        await hosted.organiser.create(message)
        await hosted.organiser.upload(_labelled("car"))
        await hosted.red.submit(_labelled("a", "b", "c"), "good")
        assert (await hosted.red.ended("good")).submission.state_reason == "scored"
        await hosted.blue.submit(_labelled("a", "b", "c", "d"), "many")
        ended = (await hosted.blue.ended("many")).submission
        assert ended.state_reason == "scoring_failed"
        assert "the limit maximum_report_parts of the server is 3" in ended.state_message


async def test_a_call_of_too_many_labels_is_refused() -> None:
    async with serving(PlayedWorkers(), maximum_report_parts=3) as running:
        batch = _labelled("a", "b", "c", "d")
        call = scoring_service_pb2_grpc.ScoringServiceStub(running.channel).ScoreBatch(
            scoring_service_pb2.ScoreBatchRequest(
                configuration=configuration("f1", base="euclidean"),
                truth=[batch],
                detections=[batch],
            )
        )
        told = await refusal(call)
    assert told.code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert told.metadata["limit"] == "maximum_report_parts"
