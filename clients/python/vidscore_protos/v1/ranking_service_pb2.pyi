from vidscore_protos.v1 import annotations_pb2 as _annotations_pb2
from vidscore_protos.v1 import specification_pb2 as _specification_pb2
from vidscore_protos.v1 import trust_pb2 as _trust_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ExaminationConfiguration(_message.Message):
    __slots__ = ("specification", "evaluators", "truth_geometry", "detection_geometry", "systems", "questions")
    SPECIFICATION_FIELD_NUMBER: _ClassVar[int]
    EVALUATORS_FIELD_NUMBER: _ClassVar[int]
    TRUTH_GEOMETRY_FIELD_NUMBER: _ClassVar[int]
    DETECTION_GEOMETRY_FIELD_NUMBER: _ClassVar[int]
    SYSTEMS_FIELD_NUMBER: _ClassVar[int]
    QUESTIONS_FIELD_NUMBER: _ClassVar[int]
    specification: _specification_pb2.BenchmarkSpec
    evaluators: _containers.RepeatedCompositeFieldContainer[_specification_pb2.EvaluatorSpec]
    truth_geometry: _annotations_pb2.Geometry
    detection_geometry: _annotations_pb2.Geometry
    systems: _containers.RepeatedScalarFieldContainer[str]
    questions: _trust_pb2.RankingQuestions
    def __init__(self, specification: _Optional[_Union[_specification_pb2.BenchmarkSpec, _Mapping]] = ..., evaluators: _Optional[_Iterable[_Union[_specification_pb2.EvaluatorSpec, _Mapping]]] = ..., truth_geometry: _Optional[_Union[_annotations_pb2.Geometry, str]] = ..., detection_geometry: _Optional[_Union[_annotations_pb2.Geometry, str]] = ..., systems: _Optional[_Iterable[str]] = ..., questions: _Optional[_Union[_trust_pb2.RankingQuestions, _Mapping]] = ...) -> None: ...

class ExamineUploadRequest(_message.Message):
    __slots__ = ("configuration", "truth", "detections", "system")
    CONFIGURATION_FIELD_NUMBER: _ClassVar[int]
    TRUTH_FIELD_NUMBER: _ClassVar[int]
    DETECTIONS_FIELD_NUMBER: _ClassVar[int]
    SYSTEM_FIELD_NUMBER: _ClassVar[int]
    configuration: ExaminationConfiguration
    truth: _annotations_pb2.AnnotationBatch
    detections: _annotations_pb2.AnnotationBatch
    system: int
    def __init__(self, configuration: _Optional[_Union[ExaminationConfiguration, _Mapping]] = ..., truth: _Optional[_Union[_annotations_pb2.AnnotationBatch, _Mapping]] = ..., detections: _Optional[_Union[_annotations_pb2.AnnotationBatch, _Mapping]] = ..., system: _Optional[int] = ...) -> None: ...

class ExamineUploadResponse(_message.Message):
    __slots__ = ("progress", "outcome")
    PROGRESS_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    progress: _trust_pb2.TrustMetadata
    outcome: _trust_pb2.TrustResponse
    def __init__(self, progress: _Optional[_Union[_trust_pb2.TrustMetadata, _Mapping]] = ..., outcome: _Optional[_Union[_trust_pb2.TrustResponse, _Mapping]] = ...) -> None: ...
