from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class BenchmarkSpec(_message.Message):
    __slots__ = ("title", "evaluators", "domains", "sequences", "classes")
    TITLE_FIELD_NUMBER: _ClassVar[int]
    EVALUATORS_FIELD_NUMBER: _ClassVar[int]
    DOMAINS_FIELD_NUMBER: _ClassVar[int]
    SEQUENCES_FIELD_NUMBER: _ClassVar[int]
    CLASSES_FIELD_NUMBER: _ClassVar[int]
    title: str
    evaluators: _containers.RepeatedCompositeFieldContainer[EvaluatorSpec]
    domains: _containers.RepeatedCompositeFieldContainer[DomainSpec]
    sequences: _containers.RepeatedCompositeFieldContainer[SequenceSpec]
    classes: ClassList
    def __init__(self, title: _Optional[str] = ..., evaluators: _Optional[_Iterable[_Union[EvaluatorSpec, _Mapping]]] = ..., domains: _Optional[_Iterable[_Union[DomainSpec, _Mapping]]] = ..., sequences: _Optional[_Iterable[_Union[SequenceSpec, _Mapping]]] = ..., classes: _Optional[_Union[ClassList, _Mapping]] = ...) -> None: ...

class EvaluatorSpec(_message.Message):
    __slots__ = ("name", "parameters")
    NAME_FIELD_NUMBER: _ClassVar[int]
    PARAMETERS_FIELD_NUMBER: _ClassVar[int]
    name: str
    parameters: _containers.RepeatedCompositeFieldContainer[Parameter]
    def __init__(self, name: _Optional[str] = ..., parameters: _Optional[_Iterable[_Union[Parameter, _Mapping]]] = ...) -> None: ...

class Parameter(_message.Message):
    __slots__ = ("name", "boolean", "integer", "number", "text", "numbers", "texts")
    NAME_FIELD_NUMBER: _ClassVar[int]
    BOOLEAN_FIELD_NUMBER: _ClassVar[int]
    INTEGER_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    NUMBERS_FIELD_NUMBER: _ClassVar[int]
    TEXTS_FIELD_NUMBER: _ClassVar[int]
    name: str
    boolean: bool
    integer: int
    number: float
    text: str
    numbers: NumberList
    texts: TextList
    def __init__(self, name: _Optional[str] = ..., boolean: bool = ..., integer: _Optional[int] = ..., number: _Optional[float] = ..., text: _Optional[str] = ..., numbers: _Optional[_Union[NumberList, _Mapping]] = ..., texts: _Optional[_Union[TextList, _Mapping]] = ...) -> None: ...

class NumberList(_message.Message):
    __slots__ = ("values",)
    VALUES_FIELD_NUMBER: _ClassVar[int]
    values: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, values: _Optional[_Iterable[float]] = ...) -> None: ...

class TextList(_message.Message):
    __slots__ = ("values",)
    VALUES_FIELD_NUMBER: _ClassVar[int]
    values: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, values: _Optional[_Iterable[str]] = ...) -> None: ...

class DomainSpec(_message.Message):
    __slots__ = ("name", "classes")
    NAME_FIELD_NUMBER: _ClassVar[int]
    CLASSES_FIELD_NUMBER: _ClassVar[int]
    name: str
    classes: ClassList
    def __init__(self, name: _Optional[str] = ..., classes: _Optional[_Union[ClassList, _Mapping]] = ...) -> None: ...

class ClassList(_message.Message):
    __slots__ = ("names",)
    NAMES_FIELD_NUMBER: _ClassVar[int]
    names: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, names: _Optional[_Iterable[str]] = ...) -> None: ...

class SequenceSpec(_message.Message):
    __slots__ = ("domain", "name", "frame_count", "first_frame", "frames", "dont_care_frames", "image_width", "image_height")
    DOMAIN_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    FRAME_COUNT_FIELD_NUMBER: _ClassVar[int]
    FIRST_FRAME_FIELD_NUMBER: _ClassVar[int]
    FRAMES_FIELD_NUMBER: _ClassVar[int]
    DONT_CARE_FRAMES_FIELD_NUMBER: _ClassVar[int]
    IMAGE_WIDTH_FIELD_NUMBER: _ClassVar[int]
    IMAGE_HEIGHT_FIELD_NUMBER: _ClassVar[int]
    domain: str
    name: str
    frame_count: int
    first_frame: int
    frames: FrameRangeList
    dont_care_frames: _containers.RepeatedCompositeFieldContainer[FrameRange]
    image_width: int
    image_height: int
    def __init__(self, domain: _Optional[str] = ..., name: _Optional[str] = ..., frame_count: _Optional[int] = ..., first_frame: _Optional[int] = ..., frames: _Optional[_Union[FrameRangeList, _Mapping]] = ..., dont_care_frames: _Optional[_Iterable[_Union[FrameRange, _Mapping]]] = ..., image_width: _Optional[int] = ..., image_height: _Optional[int] = ...) -> None: ...

class FrameRangeList(_message.Message):
    __slots__ = ("ranges",)
    RANGES_FIELD_NUMBER: _ClassVar[int]
    ranges: _containers.RepeatedCompositeFieldContainer[FrameRange]
    def __init__(self, ranges: _Optional[_Iterable[_Union[FrameRange, _Mapping]]] = ...) -> None: ...

class FrameRange(_message.Message):
    __slots__ = ("first", "last")
    FIRST_FIELD_NUMBER: _ClassVar[int]
    LAST_FIELD_NUMBER: _ClassVar[int]
    first: int
    last: int
    def __init__(self, first: _Optional[int] = ..., last: _Optional[int] = ...) -> None: ...
