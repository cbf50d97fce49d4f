"""Descriptions of evaluators to messages."""

from __future__ import annotations

from google.protobuf import struct_pb2

from vidscore_evaluators.evaluator import Direction, Measure
from vidscore_evaluators.parameters import json_schema
from vidscore_evaluators.registry import EvaluatorClass
from vidscore_protos.v1 import annotations_pb2, evaluator_service_pb2
from vidscore_server.codec.annotations_codec import GEOMETRY_OF_ARITY

RESOURCE_PREFIX = "evaluators/"
"""Resource names are ``evaluators/{evaluator}``."""

_DIRECTIONS = {
    Direction.HIGHER: evaluator_service_pb2.DIRECTION_HIGHER,
    Direction.LOWER: evaluator_service_pb2.DIRECTION_LOWER,
    Direction.NONE: evaluator_service_pb2.DIRECTION_NONE,
}


def write_evaluator(evaluator: EvaluatorClass) -> evaluator_service_pb2.Evaluator:
    """An evaluator's description as a message."""
    schema = struct_pb2.Struct()
    schema.update(json_schema(evaluator.Parameters))
    return evaluator_service_pb2.Evaluator(
        name=RESOURCE_PREFIX + evaluator.name,
        version=evaluator.version,
        title=evaluator.title,
        task=evaluator.task.value,
        parameters_schema=schema,
        measures=[_write_measure(measure) for measure in evaluator.measures],
        ranking=evaluator.ranking,
        truth_geometries=_geometries(evaluator.needs.truth_arities),
        detection_geometries=_geometries(evaluator.needs.detection_arities),
        uses_confidences=evaluator.needs.confidences,
        needs_tracks=evaluator.needs.tracks,
    )


def _write_measure(measure: Measure) -> evaluator_service_pb2.Measure:
    return evaluator_service_pb2.Measure(
        name=measure.name,
        description=measure.description,
        unit=measure.unit,
        minimum=measure.minimum,
        maximum=measure.maximum,
        direction=_DIRECTIONS[measure.direction],
        averaging=measure.averaging.value,
    )


def _geometries(arities: tuple[int, ...]) -> list[annotations_pb2.Geometry]:
    return [GEOMETRY_OF_ARITY[arity] for arity in arities]
