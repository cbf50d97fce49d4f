import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from vidscore_protos.v1 import annotations_pb2 as _annotations_pb2
from vidscore_protos.v1 import report_pb2 as _report_pb2
from vidscore_protos.v1 import specification_pb2 as _specification_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ScoreConfiguration(_message.Message):
    __slots__ = ("specification", "truth_geometry", "detection_geometry", "live_reporting")
    SPECIFICATION_FIELD_NUMBER: _ClassVar[int]
    TRUTH_GEOMETRY_FIELD_NUMBER: _ClassVar[int]
    DETECTION_GEOMETRY_FIELD_NUMBER: _ClassVar[int]
    LIVE_REPORTING_FIELD_NUMBER: _ClassVar[int]
    specification: _specification_pb2.BenchmarkSpec
    truth_geometry: _annotations_pb2.Geometry
    detection_geometry: _annotations_pb2.Geometry
    live_reporting: LiveReporting
    def __init__(self, specification: _Optional[_Union[_specification_pb2.BenchmarkSpec, _Mapping]] = ..., truth_geometry: _Optional[_Union[_annotations_pb2.Geometry, str]] = ..., detection_geometry: _Optional[_Union[_annotations_pb2.Geometry, str]] = ..., live_reporting: _Optional[_Union[LiveReporting, _Mapping]] = ...) -> None: ...

class LiveReporting(_message.Message):
    __slots__ = ("frame_interval", "time_interval", "summary_only")
    FRAME_INTERVAL_FIELD_NUMBER: _ClassVar[int]
    TIME_INTERVAL_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_ONLY_FIELD_NUMBER: _ClassVar[int]
    frame_interval: int
    time_interval: _duration_pb2.Duration
    summary_only: bool
    def __init__(self, frame_interval: _Optional[int] = ..., time_interval: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., summary_only: bool = ...) -> None: ...

class ScoreRequest(_message.Message):
    __slots__ = ("configuration", "truth", "detections")
    CONFIGURATION_FIELD_NUMBER: _ClassVar[int]
    TRUTH_FIELD_NUMBER: _ClassVar[int]
    DETECTIONS_FIELD_NUMBER: _ClassVar[int]
    configuration: ScoreConfiguration
    truth: _annotations_pb2.AnnotationBatch
    detections: _annotations_pb2.AnnotationBatch
    def __init__(self, configuration: _Optional[_Union[ScoreConfiguration, _Mapping]] = ..., truth: _Optional[_Union[_annotations_pb2.AnnotationBatch, _Mapping]] = ..., detections: _Optional[_Union[_annotations_pb2.AnnotationBatch, _Mapping]] = ...) -> None: ...

class ScoreResponse(_message.Message):
    __slots__ = ("started", "live", "final")
    STARTED_FIELD_NUMBER: _ClassVar[int]
    LIVE_FIELD_NUMBER: _ClassVar[int]
    FINAL_FIELD_NUMBER: _ClassVar[int]
    started: ScoreStarted
    live: LiveReport
    final: FinalReport
    def __init__(self, started: _Optional[_Union[ScoreStarted, _Mapping]] = ..., live: _Optional[_Union[LiveReport, _Mapping]] = ..., final: _Optional[_Union[FinalReport, _Mapping]] = ...) -> None: ...

class ScoreStarted(_message.Message):
    __slots__ = ("server_version", "limits")
    class LimitsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    SERVER_VERSION_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    server_version: str
    limits: _containers.ScalarMap[str, int]
    def __init__(self, server_version: _Optional[str] = ..., limits: _Optional[_Mapping[str, int]] = ...) -> None: ...

class LiveReport(_message.Message):
    __slots__ = ("reports", "coverage")
    REPORTS_FIELD_NUMBER: _ClassVar[int]
    COVERAGE_FIELD_NUMBER: _ClassVar[int]
    reports: _containers.RepeatedCompositeFieldContainer[_report_pb2.Report]
    coverage: Coverage
    def __init__(self, reports: _Optional[_Iterable[_Union[_report_pb2.Report, _Mapping]]] = ..., coverage: _Optional[_Union[Coverage, _Mapping]] = ...) -> None: ...

class FinalReport(_message.Message):
    __slots__ = ("reports",)
    REPORTS_FIELD_NUMBER: _ClassVar[int]
    reports: _containers.RepeatedCompositeFieldContainer[_report_pb2.Report]
    def __init__(self, reports: _Optional[_Iterable[_Union[_report_pb2.Report, _Mapping]]] = ...) -> None: ...

class Coverage(_message.Message):
    __slots__ = ("paired_frames", "frames_waiting_for_detections", "frames_waiting_for_truth")
    PAIRED_FRAMES_FIELD_NUMBER: _ClassVar[int]
    FRAMES_WAITING_FOR_DETECTIONS_FIELD_NUMBER: _ClassVar[int]
    FRAMES_WAITING_FOR_TRUTH_FIELD_NUMBER: _ClassVar[int]
    paired_frames: int
    frames_waiting_for_detections: int
    frames_waiting_for_truth: int
    def __init__(self, paired_frames: _Optional[int] = ..., frames_waiting_for_detections: _Optional[int] = ..., frames_waiting_for_truth: _Optional[int] = ...) -> None: ...

class ScoreBatchRequest(_message.Message):
    __slots__ = ("configuration", "truth", "detections")
    CONFIGURATION_FIELD_NUMBER: _ClassVar[int]
    TRUTH_FIELD_NUMBER: _ClassVar[int]
    DETECTIONS_FIELD_NUMBER: _ClassVar[int]
    configuration: ScoreConfiguration
    truth: _containers.RepeatedCompositeFieldContainer[_annotations_pb2.AnnotationBatch]
    detections: _containers.RepeatedCompositeFieldContainer[_annotations_pb2.AnnotationBatch]
    def __init__(self, configuration: _Optional[_Union[ScoreConfiguration, _Mapping]] = ..., truth: _Optional[_Iterable[_Union[_annotations_pb2.AnnotationBatch, _Mapping]]] = ..., detections: _Optional[_Iterable[_Union[_annotations_pb2.AnnotationBatch, _Mapping]]] = ...) -> None: ...

class ScoreBatchResponse(_message.Message):
    __slots__ = ("reports",)
    REPORTS_FIELD_NUMBER: _ClassVar[int]
    reports: _containers.RepeatedCompositeFieldContainer[_report_pb2.Report]
    def __init__(self, reports: _Optional[_Iterable[_Union[_report_pb2.Report, _Mapping]]] = ...) -> None: ...
