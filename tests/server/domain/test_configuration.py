"""A configuration is read once, and all its faults are reported."""

from __future__ import annotations

import pytest
from google.protobuf.duration_pb2 import Duration
from tests.server.scene import configuration

from vidscore_evaluators.annotations import Side
from vidscore_protos.v1 import annotations_pb2, scoring_service_pb2
from vidscore_server.api.scoring import read_configuration
from vidscore_server.domain.scoring_session import LiveReporting
from vidscore_server.settings import Settings, load_settings
from vidscore_server.status import Refusal, field_path, refusal_of

pytestmark = pytest.mark.usefixtures("moody")


def _refusal(
    message: scoring_service_pb2.ScoreConfiguration, settings: Settings | None = None
) -> Refusal:
    with pytest.raises(ExceptionGroup) as caught:
        read_configuration(message, settings or Settings())
    return refusal_of(caught.value)


def _paths(refusal: Refusal) -> list[str]:
    return [field_path(fault) for fault in refusal.faults]


def test_evaluators_are_returned_in_order_with_their_parameters() -> None:
    message = configuration("moody", "spotgeo")
    message.specification.evaluators[1].parameters.add(name="tau", number=7)
    read = read_configuration(message, Settings())
    assert [evaluator.name for evaluator in read.evaluators] == ["moody", "spotgeo"]
    assert read.evaluators[1].parameters.tau == 7
    assert read.arities == {Side.TRUTH: 2, Side.DETECTIONS: 2}
    assert read.live is None


def test_live_intervals_are_frames_and_seconds() -> None:
    live = scoring_service_pb2.LiveReporting(
        frame_interval=5, time_interval=Duration(seconds=1, nanos=500_000_000), summary_only=True
    )
    read = read_configuration(configuration("moody", live=live), Settings())
    assert read.live == LiveReporting(5, 1.5, summary_only=True)


def test_all_faults_are_named_at_once() -> None:
    live = scoring_service_pb2.LiveReporting(frame_interval=-1, time_interval=Duration(seconds=-1))
    message = configuration("spotgeo", "moody", tau=-5, live=live)
    message.truth_geometry = annotations_pb2.GEOMETRY_BOX
    message.detection_geometry = annotations_pb2.GEOMETRY_UNSPECIFIED

    refusal = _refusal(message)

    assert refusal.reason == "INVALID_PARAMETER"
    assert _paths(refusal) == [
        "configuration.specification.evaluators[0].parameters.tau",
        "configuration.specification.evaluators[1].parameters.tau",
        "configuration.detection_geometry",
        "configuration.live_reporting.frame_interval",
        "configuration.live_reporting.time_interval",
    ]


def test_an_unknown_evaluator_is_not_found_and_its_place_is_named() -> None:
    refusal = _refusal(configuration("moody", "spotgoe"))
    assert (refusal.code.name, refusal.reason) == ("NOT_FOUND", "UNKNOWN_EVALUATOR")
    assert "did you mean spotgeo?" in refusal.message
    assert _paths(refusal) == ["configuration.specification.evaluators[1].name"]


def test_a_geometry_that_an_evaluator_cannot_use_is_refused_before_any_data() -> None:
    message = configuration("moody")
    message.detection_geometry = annotations_pb2.GEOMETRY_BOX
    refusal = _refusal(message)
    assert refusal.reason == "UNSUPPORTED_GEOMETRY"
    assert _paths(refusal) == ["configuration.detection_geometry"]


def test_at_least_one_evaluator_is_needed() -> None:
    assert _paths(_refusal(configuration())) == ["configuration.specification.evaluators"]


def test_live_reporting_needs_an_interval() -> None:
    live = scoring_service_pb2.LiveReporting(summary_only=True)
    refusal = _refusal(configuration("moody", live=live))
    assert _paths(refusal) == ["configuration.live_reporting"]


def test_more_evaluators_than_allowed_name_the_limit() -> None:
    settings = load_settings(flags={"maximum_evaluators": 1})
    refusal = _refusal(configuration("moody", "spotgeo"), settings)
    assert refusal.metadata == {"limit": "maximum_evaluators", "maximum": "1"}


def test_a_specification_of_more_frames_than_allowed_names_the_limit() -> None:
    message = configuration("moody")
    message.specification.sequences.add(name="a", frame_count=3)
    message.specification.sequences.add(name="b", frame_count=3)
    refusal = _refusal(message, load_settings(flags={"maximum_frames": 5}))
    assert refusal.metadata == {"limit": "maximum_frames", "maximum": "5"}
