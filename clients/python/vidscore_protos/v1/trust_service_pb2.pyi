import datetime

from google.longrunning import operations_pb2 as _operations_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from vidscore_protos.v1 import specification_pb2 as _specification_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
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

class ExamineRankingRequest(_message.Message):
    __slots__ = ("benchmark", "submissions", "evaluators", "questions", "comment", "request_id")
    BENCHMARK_FIELD_NUMBER: _ClassVar[int]
    SUBMISSIONS_FIELD_NUMBER: _ClassVar[int]
    EVALUATORS_FIELD_NUMBER: _ClassVar[int]
    QUESTIONS_FIELD_NUMBER: _ClassVar[int]
    COMMENT_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    benchmark: str
    submissions: _containers.RepeatedScalarFieldContainer[str]
    evaluators: _containers.RepeatedCompositeFieldContainer[_specification_pb2.EvaluatorSpec]
    questions: RankingQuestions
    comment: str
    request_id: str
    def __init__(self, benchmark: _Optional[str] = ..., submissions: _Optional[_Iterable[str]] = ..., evaluators: _Optional[_Iterable[_Union[_specification_pb2.EvaluatorSpec, _Mapping]]] = ..., questions: _Optional[_Union[RankingQuestions, _Mapping]] = ..., comment: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

class TestCriterionRequest(_message.Message):
    __slots__ = ("test", "criteria", "strata", "realisations", "seed", "comment", "request_id")
    TEST_FIELD_NUMBER: _ClassVar[int]
    CRITERIA_FIELD_NUMBER: _ClassVar[int]
    STRATA_FIELD_NUMBER: _ClassVar[int]
    REALISATIONS_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    COMMENT_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    test: str
    criteria: _containers.RepeatedCompositeFieldContainer[_specification_pb2.EvaluatorSpec]
    strata: int
    realisations: int
    seed: int
    comment: str
    request_id: str
    def __init__(self, test: _Optional[str] = ..., criteria: _Optional[_Iterable[_Union[_specification_pb2.EvaluatorSpec, _Mapping]]] = ..., strata: _Optional[int] = ..., realisations: _Optional[int] = ..., seed: _Optional[int] = ..., comment: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

class TrustMetadata(_message.Message):
    __slots__ = ("stage", "pieces_done", "pieces_in_all", "start_time")
    STAGE_FIELD_NUMBER: _ClassVar[int]
    PIECES_DONE_FIELD_NUMBER: _ClassVar[int]
    PIECES_IN_ALL_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    stage: str
    pieces_done: int
    pieces_in_all: int
    start_time: _timestamp_pb2.Timestamp
    def __init__(self, stage: _Optional[str] = ..., pieces_done: _Optional[int] = ..., pieces_in_all: _Optional[int] = ..., start_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class TrustResponse(_message.Message):
    __slots__ = ("document_json",)
    DOCUMENT_JSON_FIELD_NUMBER: _ClassVar[int]
    document_json: str
    def __init__(self, document_json: _Optional[str] = ...) -> None: ...
