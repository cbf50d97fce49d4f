from vidscore_protos.v1 import annotations_pb2 as _annotations_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class OutcomeSide(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    OUTCOME_SIDE_UNSPECIFIED: _ClassVar[OutcomeSide]
    OUTCOME_SIDE_TRUTH: _ClassVar[OutcomeSide]
    OUTCOME_SIDE_DETECTIONS: _ClassVar[OutcomeSide]

class Outcome(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    OUTCOME_UNSPECIFIED: _ClassVar[Outcome]
    OUTCOME_TRUE_POSITIVE: _ClassVar[Outcome]
    OUTCOME_FALSE_POSITIVE: _ClassVar[Outcome]
    OUTCOME_FALSE_NEGATIVE: _ClassVar[Outcome]
    OUTCOME_IGNORED: _ClassVar[Outcome]
    OUTCOME_DUPLICATE: _ClassVar[Outcome]
    OUTCOME_MISLOCALISED: _ClassVar[Outcome]
    OUTCOME_MISCLASSIFIED: _ClassVar[Outcome]
    OUTCOME_MISLOCALISED_AND_MISCLASSIFIED: _ClassVar[Outcome]
    OUTCOME_BACKGROUND: _ClassVar[Outcome]
OUTCOME_SIDE_UNSPECIFIED: OutcomeSide
OUTCOME_SIDE_TRUTH: OutcomeSide
OUTCOME_SIDE_DETECTIONS: OutcomeSide
OUTCOME_UNSPECIFIED: Outcome
OUTCOME_TRUE_POSITIVE: Outcome
OUTCOME_FALSE_POSITIVE: Outcome
OUTCOME_FALSE_NEGATIVE: Outcome
OUTCOME_IGNORED: Outcome
OUTCOME_DUPLICATE: Outcome
OUTCOME_MISLOCALISED: Outcome
OUTCOME_MISCLASSIFIED: Outcome
OUTCOME_MISLOCALISED_AND_MISCLASSIFIED: Outcome
OUTCOME_BACKGROUND: Outcome

class OutcomeBatch(_message.Message):
    __slots__ = ("sequences", "labels", "sides", "row_sequences", "frame_numbers", "places", "label_indices", "confidences", "track_ids", "outcomes", "partners", "similarities", "distances_px", "shares", "id_switches", "fragmentations", "columns")
    SEQUENCES_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    SIDES_FIELD_NUMBER: _ClassVar[int]
    ROW_SEQUENCES_FIELD_NUMBER: _ClassVar[int]
    FRAME_NUMBERS_FIELD_NUMBER: _ClassVar[int]
    PLACES_FIELD_NUMBER: _ClassVar[int]
    LABEL_INDICES_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCES_FIELD_NUMBER: _ClassVar[int]
    TRACK_IDS_FIELD_NUMBER: _ClassVar[int]
    OUTCOMES_FIELD_NUMBER: _ClassVar[int]
    PARTNERS_FIELD_NUMBER: _ClassVar[int]
    SIMILARITIES_FIELD_NUMBER: _ClassVar[int]
    DISTANCES_PX_FIELD_NUMBER: _ClassVar[int]
    SHARES_FIELD_NUMBER: _ClassVar[int]
    ID_SWITCHES_FIELD_NUMBER: _ClassVar[int]
    FRAGMENTATIONS_FIELD_NUMBER: _ClassVar[int]
    COLUMNS_FIELD_NUMBER: _ClassVar[int]
    sequences: _containers.RepeatedCompositeFieldContainer[_annotations_pb2.SequenceKey]
    labels: _containers.RepeatedScalarFieldContainer[str]
    sides: _containers.RepeatedScalarFieldContainer[OutcomeSide]
    row_sequences: _containers.RepeatedScalarFieldContainer[int]
    frame_numbers: _containers.RepeatedScalarFieldContainer[int]
    places: _containers.RepeatedScalarFieldContainer[int]
    label_indices: _containers.RepeatedScalarFieldContainer[int]
    confidences: _containers.RepeatedScalarFieldContainer[float]
    track_ids: _containers.RepeatedScalarFieldContainer[int]
    outcomes: _containers.RepeatedScalarFieldContainer[Outcome]
    partners: _containers.RepeatedScalarFieldContainer[int]
    similarities: _containers.RepeatedScalarFieldContainer[float]
    distances_px: _containers.RepeatedScalarFieldContainer[float]
    shares: _containers.RepeatedScalarFieldContainer[float]
    id_switches: _containers.RepeatedScalarFieldContainer[bool]
    fragmentations: _containers.RepeatedScalarFieldContainer[bool]
    columns: _containers.RepeatedCompositeFieldContainer[OutcomeColumn]
    def __init__(self, sequences: _Optional[_Iterable[_Union[_annotations_pb2.SequenceKey, _Mapping]]] = ..., labels: _Optional[_Iterable[str]] = ..., sides: _Optional[_Iterable[_Union[OutcomeSide, str]]] = ..., row_sequences: _Optional[_Iterable[int]] = ..., frame_numbers: _Optional[_Iterable[int]] = ..., places: _Optional[_Iterable[int]] = ..., label_indices: _Optional[_Iterable[int]] = ..., confidences: _Optional[_Iterable[float]] = ..., track_ids: _Optional[_Iterable[int]] = ..., outcomes: _Optional[_Iterable[_Union[Outcome, str]]] = ..., partners: _Optional[_Iterable[int]] = ..., similarities: _Optional[_Iterable[float]] = ..., distances_px: _Optional[_Iterable[float]] = ..., shares: _Optional[_Iterable[float]] = ..., id_switches: _Optional[_Iterable[bool]] = ..., fragmentations: _Optional[_Iterable[bool]] = ..., columns: _Optional[_Iterable[_Union[OutcomeColumn, _Mapping]]] = ...) -> None: ...

class OutcomeColumn(_message.Message):
    __slots__ = ("name", "numbers", "integers", "booleans", "strings")
    NAME_FIELD_NUMBER: _ClassVar[int]
    NUMBERS_FIELD_NUMBER: _ClassVar[int]
    INTEGERS_FIELD_NUMBER: _ClassVar[int]
    BOOLEANS_FIELD_NUMBER: _ClassVar[int]
    STRINGS_FIELD_NUMBER: _ClassVar[int]
    name: str
    numbers: _containers.RepeatedScalarFieldContainer[float]
    integers: _containers.RepeatedScalarFieldContainer[int]
    booleans: _containers.RepeatedScalarFieldContainer[bool]
    strings: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, name: _Optional[str] = ..., numbers: _Optional[_Iterable[float]] = ..., integers: _Optional[_Iterable[int]] = ..., booleans: _Optional[_Iterable[bool]] = ..., strings: _Optional[_Iterable[str]] = ...) -> None: ...
