"""Configuration of a run: read once, with every fault, before any data is looked at."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vidscore_evaluators.annotations import Side
from vidscore_evaluators.errors import (
    Fault,
    GeometryError,
    InputError,
    LimitError,
    ParameterError,
    SpecificationError,
    UnknownEvaluatorError,
    VidscoreError,
)
from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.specification import BenchmarkSpec
from vidscore_protos.v1 import scoring_service_pb2
from vidscore_server.codec.annotations_codec import ARITY_OF_GEOMETRY, geometry_name
from vidscore_server.codec.specification_codec import read_specification
from vidscore_server.settings import Settings

PATH = "configuration"
SPECIFICATION_PATH = f"{PATH}.specification"
GEOMETRY_FIELDS = {Side.TRUTH: "truth_geometry", Side.DETECTIONS: "detection_geometry"}


@dataclass(frozen=True, slots=True)
class LiveReporting:
    """When live reports are wanted: when either interval has passed.

    Attributes:
        frame_interval: Frames that both sides have sent since the last report; 0: not by frames.
        time_interval_s: Time since the last report; None: not by time.
        summary_only: Whether they leave out single sequences and curves.
    """

    frame_interval: int
    time_interval_s: float | None
    summary_only: bool


@dataclass(frozen=True)
class RunConfiguration:
    """What is to be scored, and how.

    Attributes:
        specification: The benchmark.
        evaluators: Its evaluators, ready to judge, in its order.
        arities: Coordinates that an object has, by side.
        live: When live reports are wanted; None: never.
    """

    specification: BenchmarkSpec
    evaluators: tuple[Evaluator[Any], ...]
    arities: Mapping[Side, int]
    live: LiveReporting | None


def read_configuration(
    message: scoring_service_pb2.ScoreConfiguration, settings: Settings
) -> RunConfiguration:
    """Check a configuration.

    Raises:
        ExceptionGroup: Of every error, each with every fault.
    """
    collector = _Collector(settings)
    specification = collector.specification(message)
    evaluators = collector.evaluators(specification)
    arities = collector.arities(message, evaluators)
    live = collector.live(message)
    if collector.errors:
        raise ExceptionGroup("the configuration cannot be used", collector.errors)
    return RunConfiguration(specification, evaluators, arities, live)


class _Collector:
    """Reads part after part and collects what is wrong."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.errors: list[VidscoreError] = []

    def specification(self, message: scoring_service_pb2.ScoreConfiguration) -> BenchmarkSpec:
        try:
            specification = read_specification(message.specification, SPECIFICATION_PATH)
        except SpecificationError as error:
            self.errors.append(error)
            return BenchmarkSpec()
        if not specification.evaluators:
            self._fault("no evaluator", "at least one", "specification.evaluators")
        self._limit(len(specification.evaluators), "evaluators", "maximum_evaluators")
        frames = specification.evaluated_frame_count
        self._limit(frames, "evaluated frames", "maximum_frames")
        return specification

    def evaluators(self, specification: BenchmarkSpec) -> tuple[Evaluator[Any], ...]:
        created = []
        for index, entry in enumerate(specification.evaluators):
            path = f"specification.evaluators[{index}]"
            try:
                created.append(create_evaluator(entry.name, entry.parameters, specification))
            except UnknownEvaluatorError as error:
                self.errors.append(error)
                self._fault(entry.name[:80], "an evaluator of this server", f"{path}.name")
            except ParameterError as error:
                self.errors.append(_moved(error, f"{PATH}.{path}.parameters"))
        return tuple(created)

    def arities(
        self,
        message: scoring_service_pb2.ScoreConfiguration,
        evaluators: tuple[Evaluator[Any], ...],
    ) -> dict[Side, int]:
        arities: dict[Side, int] = {}
        for side, field in GEOMETRY_FIELDS.items():
            geometry = getattr(message, field)
            if geometry not in ARITY_OF_GEOMETRY:
                self._fault(geometry_name(geometry), "a geometry", field)
                continue
            arities[side] = ARITY_OF_GEOMETRY[geometry]
            for evaluator in evaluators:
                try:
                    evaluator.check_arity(side, arities[side])
                except GeometryError as error:
                    self.errors.append(_moved(error, PATH, field))
        return arities

    def live(self, message: scoring_service_pb2.ScoreConfiguration) -> LiveReporting | None:
        if not message.HasField("live_reporting"):
            return None
        wish = message.live_reporting
        by_time = wish.HasField("time_interval")
        seconds = wish.time_interval.seconds + wish.time_interval.nanos / 1e9 if by_time else None
        if wish.frame_interval < 0:
            self._fault(
                str(wish.frame_interval), "0 or more frames", "live_reporting.frame_interval"
            )
        if seconds is not None and seconds < 0:
            self._fault(f"{seconds} s", "0 s or more", "live_reporting.time_interval")
        if wish.frame_interval == 0 and not by_time:
            self._fault("no interval", "a frame or a time interval", "live_reporting")
        return LiveReporting(wish.frame_interval, seconds, wish.summary_only)

    def _fault(self, found: str, expected: str, field: str) -> None:
        self.errors.append(InputError([Fault(found, expected, source=PATH, field=field)]))

    def _limit(self, found: int, things: str, limit: str) -> None:
        maximum = getattr(self._settings, limit)
        if found > maximum:
            self.errors.append(LimitError(f"{found} {things}", limit, maximum))


def _moved(error: InputError, source: str, field: str | None = None) -> InputError:
    """The same error at its place in the request."""
    return type(error)(
        [
            dataclasses.replace(fault, source=source, field=field or fault.field)
            for fault in error.faults
        ]
    )
