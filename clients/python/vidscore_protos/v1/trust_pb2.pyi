import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class RankingQuestions(_message.Message):
    __slots__ = ("draws", "coverage", "noise_px", "trials", "seed")
    DRAWS_FIELD_NUMBER: _ClassVar[int]
    COVERAGE_FIELD_NUMBER: _ClassVar[int]
    NOISE_PX_FIELD_NUMBER: _ClassVar[int]
    TRIALS_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    draws: int
    coverage: float
    noise_px: float
    trials: int
    seed: int
    def __init__(self, draws: _Optional[int] = ..., coverage: _Optional[float] = ..., noise_px: _Optional[float] = ..., trials: _Optional[int] = ..., seed: _Optional[int] = ...) -> None: ...

class TrustMetadata(_message.Message):
    __slots__ = ("stage", "pieces_done", "pieces_in_all", "start_time", "benchmark")
    STAGE_FIELD_NUMBER: _ClassVar[int]
    PIECES_DONE_FIELD_NUMBER: _ClassVar[int]
    PIECES_IN_ALL_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    BENCHMARK_FIELD_NUMBER: _ClassVar[int]
    stage: str
    pieces_done: int
    pieces_in_all: int
    start_time: _timestamp_pb2.Timestamp
    benchmark: str
    def __init__(self, stage: _Optional[str] = ..., pieces_done: _Optional[int] = ..., pieces_in_all: _Optional[int] = ..., start_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., benchmark: _Optional[str] = ...) -> None: ...

class TrustResponse(_message.Message):
    __slots__ = ("document_json",)
    DOCUMENT_JSON_FIELD_NUMBER: _ClassVar[int]
    document_json: str
    def __init__(self, document_json: _Optional[str] = ...) -> None: ...
