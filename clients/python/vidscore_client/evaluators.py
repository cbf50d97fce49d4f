"""A server's descriptions of its evaluators, and the choice of evaluators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vidscore_client.frames import Geometry

ParameterValue = bool | int | float | str | Sequence[float] | Sequence[str]
"""A value of a parameter, of the type that the evaluator declares."""

EvaluatorChoice = str | tuple[str, Mapping[str, ParameterValue]]
"""An evaluator or preset by name, or an evaluator with parameters that differ from its defaults."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One score that an evaluator reports.

    Attributes:
        name: Name in reports.
        description: Its meaning, in one sentence.
        unit: ``count``, ``ratio``, ``px``, ``px^2`` and the like.
        minimum: Lower bound of the value; None if there is none.
        maximum: Upper bound of the value; None if there is none.
        direction: Whether ``higher`` or ``lower`` is better; ``none`` if it says nothing about
            quality alone.
        averaging: How values of many frames are combined: ``pooled``, ``mean`` or ``median``.
    """

    name: str
    description: str
    unit: str
    minimum: float | None
    maximum: float | None
    direction: str
    averaging: str


@dataclass(frozen=True)
class EvaluatorDescription:
    """The rules of one benchmark protocol or criterion, on a server.

    Attributes:
        name: Name by which it is chosen.
        version: Goes up whenever a score may change.
        title: One line for lists.
        task: Task of the evaluated systems: ``detection`` or ``tracking``.
        parameters_schema: JSON Schema of its parameters.
        measures: Every measure that a report may have.
        ranking: Ranking measures, in rank order.
        truth_geometries: Allowed shapes of truth objects, among those that can be sent.
        detection_geometries: Allowed shapes of detections, among those that can be sent.
        uses_confidences: Whether it uses confidences.
        needs_tracks: Whether objects must carry a track id.
    """

    name: str
    version: str
    title: str
    task: str
    parameters_schema: Mapping[str, Any]
    measures: tuple[Measure, ...]
    ranking: tuple[str, ...]
    truth_geometries: tuple[Geometry, ...]
    detection_geometries: tuple[Geometry, ...]
    uses_confidences: bool
    needs_tracks: bool


@dataclass(frozen=True)
class PresetDescription:
    """A benchmark's evaluators, labels and file format by one name, on a server.

    Attributes:
        name: Name by which it is chosen.
        version: Goes up whenever a score may change.
        title: One line for lists.
        benchmark: Benchmark that it belongs to.
        scorer: Official scorer that it reproduces, with its version.
        format: Format of the benchmark's files; empty if it is detected from their content.
        labels: Labels that are scored; None for all.
        evaluators: Name and parameters of each evaluator, in the order of the reports.
    """

    name: str
    version: str
    title: str
    benchmark: str
    scorer: str
    format: str
    labels: tuple[str, ...] | None
    evaluators: tuple[tuple[str, Mapping[str, Any]], ...]
