from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Geometry(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    GEOMETRY_UNSPECIFIED: _ClassVar[Geometry]
    GEOMETRY_POINT: _ClassVar[Geometry]
    GEOMETRY_BOX: _ClassVar[Geometry]
    GEOMETRY_QUADRILATERAL: _ClassVar[Geometry]
GEOMETRY_UNSPECIFIED: Geometry
GEOMETRY_POINT: Geometry
GEOMETRY_BOX: Geometry
GEOMETRY_QUADRILATERAL: Geometry

class SequenceKey(_message.Message):
    __slots__ = ("domain", "sequence")
    DOMAIN_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    domain: str
    sequence: str
    def __init__(self, domain: _Optional[str] = ..., sequence: _Optional[str] = ...) -> None: ...

class AnnotationBatch(_message.Message):
    __slots__ = ("sequences", "labels", "frame_sequences", "frame_numbers", "frame_object_counts", "frame_flags", "geometry", "coordinates", "label_indices", "confidences", "track_ids", "object_flags", "columns", "frame_times_s", "mask_heights", "mask_widths", "mask_run_counts", "mask_runs")
    SEQUENCES_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    FRAME_SEQUENCES_FIELD_NUMBER: _ClassVar[int]
    FRAME_NUMBERS_FIELD_NUMBER: _ClassVar[int]
    FRAME_OBJECT_COUNTS_FIELD_NUMBER: _ClassVar[int]
    FRAME_FLAGS_FIELD_NUMBER: _ClassVar[int]
    GEOMETRY_FIELD_NUMBER: _ClassVar[int]
    COORDINATES_FIELD_NUMBER: _ClassVar[int]
    LABEL_INDICES_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCES_FIELD_NUMBER: _ClassVar[int]
    TRACK_IDS_FIELD_NUMBER: _ClassVar[int]
    OBJECT_FLAGS_FIELD_NUMBER: _ClassVar[int]
    COLUMNS_FIELD_NUMBER: _ClassVar[int]
    FRAME_TIMES_S_FIELD_NUMBER: _ClassVar[int]
    MASK_HEIGHTS_FIELD_NUMBER: _ClassVar[int]
    MASK_WIDTHS_FIELD_NUMBER: _ClassVar[int]
    MASK_RUN_COUNTS_FIELD_NUMBER: _ClassVar[int]
    MASK_RUNS_FIELD_NUMBER: _ClassVar[int]
    sequences: _containers.RepeatedCompositeFieldContainer[SequenceKey]
    labels: _containers.RepeatedScalarFieldContainer[str]
    frame_sequences: _containers.RepeatedScalarFieldContainer[int]
    frame_numbers: _containers.RepeatedScalarFieldContainer[int]
    frame_object_counts: _containers.RepeatedScalarFieldContainer[int]
    frame_flags: _containers.RepeatedScalarFieldContainer[int]
    geometry: Geometry
    coordinates: _containers.RepeatedScalarFieldContainer[float]
    label_indices: _containers.RepeatedScalarFieldContainer[int]
    confidences: _containers.RepeatedScalarFieldContainer[float]
    track_ids: _containers.RepeatedScalarFieldContainer[int]
    object_flags: _containers.RepeatedScalarFieldContainer[int]
    columns: _containers.RepeatedCompositeFieldContainer[NamedColumn]
    frame_times_s: _containers.RepeatedScalarFieldContainer[float]
    mask_heights: _containers.RepeatedScalarFieldContainer[int]
    mask_widths: _containers.RepeatedScalarFieldContainer[int]
    mask_run_counts: _containers.RepeatedScalarFieldContainer[int]
    mask_runs: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, sequences: _Optional[_Iterable[_Union[SequenceKey, _Mapping]]] = ..., labels: _Optional[_Iterable[str]] = ..., frame_sequences: _Optional[_Iterable[int]] = ..., frame_numbers: _Optional[_Iterable[int]] = ..., frame_object_counts: _Optional[_Iterable[int]] = ..., frame_flags: _Optional[_Iterable[int]] = ..., geometry: _Optional[_Union[Geometry, str]] = ..., coordinates: _Optional[_Iterable[float]] = ..., label_indices: _Optional[_Iterable[int]] = ..., confidences: _Optional[_Iterable[float]] = ..., track_ids: _Optional[_Iterable[int]] = ..., object_flags: _Optional[_Iterable[int]] = ..., columns: _Optional[_Iterable[_Union[NamedColumn, _Mapping]]] = ..., frame_times_s: _Optional[_Iterable[float]] = ..., mask_heights: _Optional[_Iterable[int]] = ..., mask_widths: _Optional[_Iterable[int]] = ..., mask_run_counts: _Optional[_Iterable[int]] = ..., mask_runs: _Optional[_Iterable[int]] = ...) -> None: ...

class NamedColumn(_message.Message):
    __slots__ = ("name", "values")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    name: str
    values: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, name: _Optional[str] = ..., values: _Optional[_Iterable[float]] = ...) -> None: ...
