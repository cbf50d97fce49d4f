from vidscore_protos.v1 import specification_pb2 as _specification_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Report(_message.Message):
    __slots__ = ("evaluator", "version", "parameters", "truth_digest", "detections_digest", "software", "specification", "scores", "curves", "warnings", "preset")
    class SoftwareEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    EVALUATOR_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    PARAMETERS_FIELD_NUMBER: _ClassVar[int]
    TRUTH_DIGEST_FIELD_NUMBER: _ClassVar[int]
    DETECTIONS_DIGEST_FIELD_NUMBER: _ClassVar[int]
    SOFTWARE_FIELD_NUMBER: _ClassVar[int]
    SPECIFICATION_FIELD_NUMBER: _ClassVar[int]
    SCORES_FIELD_NUMBER: _ClassVar[int]
    CURVES_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    PRESET_FIELD_NUMBER: _ClassVar[int]
    evaluator: str
    version: str
    parameters: _containers.RepeatedCompositeFieldContainer[_specification_pb2.Parameter]
    truth_digest: str
    detections_digest: str
    software: _containers.ScalarMap[str, str]
    specification: _specification_pb2.BenchmarkSpec
    scores: _containers.RepeatedCompositeFieldContainer[Score]
    curves: _containers.RepeatedCompositeFieldContainer[Curve]
    warnings: _containers.RepeatedCompositeFieldContainer[Warning]
    preset: str
    def __init__(self, evaluator: _Optional[str] = ..., version: _Optional[str] = ..., parameters: _Optional[_Iterable[_Union[_specification_pb2.Parameter, _Mapping]]] = ..., truth_digest: _Optional[str] = ..., detections_digest: _Optional[str] = ..., software: _Optional[_Mapping[str, str]] = ..., specification: _Optional[_Union[_specification_pb2.BenchmarkSpec, _Mapping]] = ..., scores: _Optional[_Iterable[_Union[Score, _Mapping]]] = ..., curves: _Optional[_Iterable[_Union[Curve, _Mapping]]] = ..., warnings: _Optional[_Iterable[_Union[Warning, _Mapping]]] = ..., preset: _Optional[str] = ...) -> None: ...

class Score(_message.Message):
    __slots__ = ("domain", "label", "sequence", "measure", "value")
    DOMAIN_FIELD_NUMBER: _ClassVar[int]
    LABEL_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    MEASURE_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    domain: str
    label: str
    sequence: str
    measure: str
    value: Value
    def __init__(self, domain: _Optional[str] = ..., label: _Optional[str] = ..., sequence: _Optional[str] = ..., measure: _Optional[str] = ..., value: _Optional[_Union[Value, _Mapping]] = ...) -> None: ...

class Value(_message.Message):
    __slots__ = ("count", "number")
    COUNT_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    count: int
    number: float
    def __init__(self, count: _Optional[int] = ..., number: _Optional[float] = ...) -> None: ...

class Curve(_message.Message):
    __slots__ = ("domain", "label", "name", "columns")
    DOMAIN_FIELD_NUMBER: _ClassVar[int]
    LABEL_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    COLUMNS_FIELD_NUMBER: _ClassVar[int]
    domain: str
    label: str
    name: str
    columns: _containers.RepeatedCompositeFieldContainer[CurveColumn]
    def __init__(self, domain: _Optional[str] = ..., label: _Optional[str] = ..., name: _Optional[str] = ..., columns: _Optional[_Iterable[_Union[CurveColumn, _Mapping]]] = ...) -> None: ...

class CurveColumn(_message.Message):
    __slots__ = ("name", "values")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    name: str
    values: _containers.RepeatedCompositeFieldContainer[Value]
    def __init__(self, name: _Optional[str] = ..., values: _Optional[_Iterable[_Union[Value, _Mapping]]] = ...) -> None: ...

class Warning(_message.Message):
    __slots__ = ("code", "message", "count")
    CODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    code: str
    message: str
    count: int
    def __init__(self, code: _Optional[str] = ..., message: _Optional[str] = ..., count: _Optional[int] = ...) -> None: ...
