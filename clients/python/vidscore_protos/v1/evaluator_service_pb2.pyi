from google.protobuf import struct_pb2 as _struct_pb2
from vidscore_protos.v1 import annotations_pb2 as _annotations_pb2
from vidscore_protos.v1 import specification_pb2 as _specification_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Direction(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DIRECTION_UNSPECIFIED: _ClassVar[Direction]
    DIRECTION_HIGHER: _ClassVar[Direction]
    DIRECTION_LOWER: _ClassVar[Direction]
    DIRECTION_NONE: _ClassVar[Direction]
DIRECTION_UNSPECIFIED: Direction
DIRECTION_HIGHER: Direction
DIRECTION_LOWER: Direction
DIRECTION_NONE: Direction

class ListEvaluatorsRequest(_message.Message):
    __slots__ = ("page_size", "page_token")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListEvaluatorsResponse(_message.Message):
    __slots__ = ("evaluators", "next_page_token")
    EVALUATORS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    evaluators: _containers.RepeatedCompositeFieldContainer[Evaluator]
    next_page_token: str
    def __init__(self, evaluators: _Optional[_Iterable[_Union[Evaluator, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class GetEvaluatorRequest(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class GetEvaluatorResponse(_message.Message):
    __slots__ = ("evaluator",)
    EVALUATOR_FIELD_NUMBER: _ClassVar[int]
    evaluator: Evaluator
    def __init__(self, evaluator: _Optional[_Union[Evaluator, _Mapping]] = ...) -> None: ...

class ListPresetsRequest(_message.Message):
    __slots__ = ("page_size", "page_token")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListPresetsResponse(_message.Message):
    __slots__ = ("presets", "next_page_token")
    PRESETS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    presets: _containers.RepeatedCompositeFieldContainer[Preset]
    next_page_token: str
    def __init__(self, presets: _Optional[_Iterable[_Union[Preset, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class Preset(_message.Message):
    __slots__ = ("name", "version", "title", "benchmark", "scorer", "format", "labels", "evaluators")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    BENCHMARK_FIELD_NUMBER: _ClassVar[int]
    SCORER_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    EVALUATORS_FIELD_NUMBER: _ClassVar[int]
    name: str
    version: str
    title: str
    benchmark: str
    scorer: str
    format: str
    labels: _specification_pb2.ClassList
    evaluators: _containers.RepeatedCompositeFieldContainer[_specification_pb2.EvaluatorSpec]
    def __init__(self, name: _Optional[str] = ..., version: _Optional[str] = ..., title: _Optional[str] = ..., benchmark: _Optional[str] = ..., scorer: _Optional[str] = ..., format: _Optional[str] = ..., labels: _Optional[_Union[_specification_pb2.ClassList, _Mapping]] = ..., evaluators: _Optional[_Iterable[_Union[_specification_pb2.EvaluatorSpec, _Mapping]]] = ...) -> None: ...

class Evaluator(_message.Message):
    __slots__ = ("name", "version", "title", "task", "parameters_schema", "measures", "ranking", "truth_geometries", "detection_geometries", "uses_confidences", "needs_tracks")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    TASK_FIELD_NUMBER: _ClassVar[int]
    PARAMETERS_SCHEMA_FIELD_NUMBER: _ClassVar[int]
    MEASURES_FIELD_NUMBER: _ClassVar[int]
    RANKING_FIELD_NUMBER: _ClassVar[int]
    TRUTH_GEOMETRIES_FIELD_NUMBER: _ClassVar[int]
    DETECTION_GEOMETRIES_FIELD_NUMBER: _ClassVar[int]
    USES_CONFIDENCES_FIELD_NUMBER: _ClassVar[int]
    NEEDS_TRACKS_FIELD_NUMBER: _ClassVar[int]
    name: str
    version: str
    title: str
    task: str
    parameters_schema: _struct_pb2.Struct
    measures: _containers.RepeatedCompositeFieldContainer[Measure]
    ranking: _containers.RepeatedScalarFieldContainer[str]
    truth_geometries: _containers.RepeatedScalarFieldContainer[_annotations_pb2.Geometry]
    detection_geometries: _containers.RepeatedScalarFieldContainer[_annotations_pb2.Geometry]
    uses_confidences: bool
    needs_tracks: bool
    def __init__(self, name: _Optional[str] = ..., version: _Optional[str] = ..., title: _Optional[str] = ..., task: _Optional[str] = ..., parameters_schema: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., measures: _Optional[_Iterable[_Union[Measure, _Mapping]]] = ..., ranking: _Optional[_Iterable[str]] = ..., truth_geometries: _Optional[_Iterable[_Union[_annotations_pb2.Geometry, str]]] = ..., detection_geometries: _Optional[_Iterable[_Union[_annotations_pb2.Geometry, str]]] = ..., uses_confidences: bool = ..., needs_tracks: bool = ...) -> None: ...

class Measure(_message.Message):
    __slots__ = ("name", "description", "unit", "minimum", "maximum", "direction", "averaging")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    UNIT_FIELD_NUMBER: _ClassVar[int]
    MINIMUM_FIELD_NUMBER: _ClassVar[int]
    MAXIMUM_FIELD_NUMBER: _ClassVar[int]
    DIRECTION_FIELD_NUMBER: _ClassVar[int]
    AVERAGING_FIELD_NUMBER: _ClassVar[int]
    name: str
    description: str
    unit: str
    minimum: float
    maximum: float
    direction: Direction
    averaging: str
    def __init__(self, name: _Optional[str] = ..., description: _Optional[str] = ..., unit: _Optional[str] = ..., minimum: _Optional[float] = ..., maximum: _Optional[float] = ..., direction: _Optional[_Union[Direction, str]] = ..., averaging: _Optional[str] = ...) -> None: ...
