from google.longrunning import operations_pb2 as _operations_pb2
from vidscore_protos.v1 import specification_pb2 as _specification_pb2
from vidscore_protos.v1 import trust_pb2 as _trust_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

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
    questions: _trust_pb2.RankingQuestions
    comment: str
    request_id: str
    def __init__(self, benchmark: _Optional[str] = ..., submissions: _Optional[_Iterable[str]] = ..., evaluators: _Optional[_Iterable[_Union[_specification_pb2.EvaluatorSpec, _Mapping]]] = ..., questions: _Optional[_Union[_trust_pb2.RankingQuestions, _Mapping]] = ..., comment: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

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
