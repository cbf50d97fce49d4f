import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from vidscore_protos.v1 import benchmark_pb2 as _benchmark_pb2
from vidscore_protos.v1 import organiser_pb2 as _organiser_pb2
from vidscore_protos.v1 import report_pb2 as _report_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class GetBenchmarkRequest(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class GetBenchmarkResponse(_message.Message):
    __slots__ = ("benchmark", "quotas")
    BENCHMARK_FIELD_NUMBER: _ClassVar[int]
    QUOTAS_FIELD_NUMBER: _ClassVar[int]
    benchmark: _benchmark_pb2.Benchmark
    quotas: _containers.RepeatedCompositeFieldContainer[Quota]
    def __init__(self, benchmark: _Optional[_Union[_benchmark_pb2.Benchmark, _Mapping]] = ..., quotas: _Optional[_Iterable[_Union[Quota, _Mapping]]] = ...) -> None: ...

class Quota(_message.Message):
    __slots__ = ("name", "maximum", "left", "renew_time")
    NAME_FIELD_NUMBER: _ClassVar[int]
    MAXIMUM_FIELD_NUMBER: _ClassVar[int]
    LEFT_FIELD_NUMBER: _ClassVar[int]
    RENEW_TIME_FIELD_NUMBER: _ClassVar[int]
    name: str
    maximum: int
    left: int
    renew_time: _timestamp_pb2.Timestamp
    def __init__(self, name: _Optional[str] = ..., maximum: _Optional[int] = ..., left: _Optional[int] = ..., renew_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ListBenchmarksRequest(_message.Message):
    __slots__ = ("page_size", "page_token")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListBenchmarksResponse(_message.Message):
    __slots__ = ("benchmarks", "next_page_token")
    BENCHMARKS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    benchmarks: _containers.RepeatedCompositeFieldContainer[_benchmark_pb2.Benchmark]
    next_page_token: str
    def __init__(self, benchmarks: _Optional[_Iterable[_Union[_benchmark_pb2.Benchmark, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class GetLeaderboardRequest(_message.Message):
    __slots__ = ("benchmark", "evaluator", "domain", "label", "page_size", "page_token")
    BENCHMARK_FIELD_NUMBER: _ClassVar[int]
    EVALUATOR_FIELD_NUMBER: _ClassVar[int]
    DOMAIN_FIELD_NUMBER: _ClassVar[int]
    LABEL_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    benchmark: str
    evaluator: str
    domain: str
    label: str
    page_size: int
    page_token: str
    def __init__(self, benchmark: _Optional[str] = ..., evaluator: _Optional[str] = ..., domain: _Optional[str] = ..., label: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class GetLeaderboardResponse(_message.Message):
    __slots__ = ("rows", "ranking", "truth_revision", "next_page_token", "newest_truth_revision", "submissions_to_rescore", "publishable", "tiers_note", "tiers_stale", "further_measures", "total_size", "submission_count", "most_submissions", "sequence_count")
    ROWS_FIELD_NUMBER: _ClassVar[int]
    RANKING_FIELD_NUMBER: _ClassVar[int]
    TRUTH_REVISION_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    NEWEST_TRUTH_REVISION_FIELD_NUMBER: _ClassVar[int]
    SUBMISSIONS_TO_RESCORE_FIELD_NUMBER: _ClassVar[int]
    PUBLISHABLE_FIELD_NUMBER: _ClassVar[int]
    TIERS_NOTE_FIELD_NUMBER: _ClassVar[int]
    TIERS_STALE_FIELD_NUMBER: _ClassVar[int]
    FURTHER_MEASURES_FIELD_NUMBER: _ClassVar[int]
    TOTAL_SIZE_FIELD_NUMBER: _ClassVar[int]
    SUBMISSION_COUNT_FIELD_NUMBER: _ClassVar[int]
    MOST_SUBMISSIONS_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_COUNT_FIELD_NUMBER: _ClassVar[int]
    rows: _containers.RepeatedCompositeFieldContainer[LeaderboardRow]
    ranking: _containers.RepeatedScalarFieldContainer[str]
    truth_revision: int
    next_page_token: str
    newest_truth_revision: int
    submissions_to_rescore: int
    publishable: bool
    tiers_note: str
    tiers_stale: bool
    further_measures: _containers.RepeatedScalarFieldContainer[str]
    total_size: int
    submission_count: int
    most_submissions: int
    sequence_count: int
    def __init__(self, rows: _Optional[_Iterable[_Union[LeaderboardRow, _Mapping]]] = ..., ranking: _Optional[_Iterable[str]] = ..., truth_revision: _Optional[int] = ..., next_page_token: _Optional[str] = ..., newest_truth_revision: _Optional[int] = ..., submissions_to_rescore: _Optional[int] = ..., publishable: bool = ..., tiers_note: _Optional[str] = ..., tiers_stale: bool = ..., further_measures: _Optional[_Iterable[str]] = ..., total_size: _Optional[int] = ..., submission_count: _Optional[int] = ..., most_submissions: _Optional[int] = ..., sequence_count: _Optional[int] = ...) -> None: ...

class LeaderboardRow(_message.Message):
    __slots__ = ("rank", "team", "submission", "title", "seal_time", "scores", "truth_revision", "evaluator_version", "apart", "tier", "first_probability", "submission_count", "curves", "disqualification")
    RANK_FIELD_NUMBER: _ClassVar[int]
    TEAM_FIELD_NUMBER: _ClassVar[int]
    SUBMISSION_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    SEAL_TIME_FIELD_NUMBER: _ClassVar[int]
    SCORES_FIELD_NUMBER: _ClassVar[int]
    TRUTH_REVISION_FIELD_NUMBER: _ClassVar[int]
    EVALUATOR_VERSION_FIELD_NUMBER: _ClassVar[int]
    APART_FIELD_NUMBER: _ClassVar[int]
    TIER_FIELD_NUMBER: _ClassVar[int]
    FIRST_PROBABILITY_FIELD_NUMBER: _ClassVar[int]
    SUBMISSION_COUNT_FIELD_NUMBER: _ClassVar[int]
    CURVES_FIELD_NUMBER: _ClassVar[int]
    DISQUALIFICATION_FIELD_NUMBER: _ClassVar[int]
    rank: int
    team: str
    submission: str
    title: str
    seal_time: _timestamp_pb2.Timestamp
    scores: _containers.RepeatedCompositeFieldContainer[LeaderboardScore]
    truth_revision: int
    evaluator_version: str
    apart: bool
    tier: int
    first_probability: float
    submission_count: int
    curves: _containers.RepeatedCompositeFieldContainer[_report_pb2.Curve]
    disqualification: str
    def __init__(self, rank: _Optional[int] = ..., team: _Optional[str] = ..., submission: _Optional[str] = ..., title: _Optional[str] = ..., seal_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., scores: _Optional[_Iterable[_Union[LeaderboardScore, _Mapping]]] = ..., truth_revision: _Optional[int] = ..., evaluator_version: _Optional[str] = ..., apart: bool = ..., tier: _Optional[int] = ..., first_probability: _Optional[float] = ..., submission_count: _Optional[int] = ..., curves: _Optional[_Iterable[_Union[_report_pb2.Curve, _Mapping]]] = ..., disqualification: _Optional[str] = ...) -> None: ...

class LeaderboardScore(_message.Message):
    __slots__ = ("measure", "value")
    MEASURE_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    measure: str
    value: float
    def __init__(self, measure: _Optional[str] = ..., value: _Optional[float] = ...) -> None: ...

class GetChecklistRequest(_message.Message):
    __slots__ = ("benchmark",)
    BENCHMARK_FIELD_NUMBER: _ClassVar[int]
    benchmark: str
    def __init__(self, benchmark: _Optional[str] = ...) -> None: ...

class GetChecklistResponse(_message.Message):
    __slots__ = ("items",)
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    items: _containers.RepeatedCompositeFieldContainer[ChecklistItem]
    def __init__(self, items: _Optional[_Iterable[_Union[ChecklistItem, _Mapping]]] = ...) -> None: ...

class ChecklistItem(_message.Message):
    __slots__ = ("question", "answer", "advice")
    QUESTION_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    ADVICE_FIELD_NUMBER: _ClassVar[int]
    question: str
    answer: str
    advice: str
    def __init__(self, question: _Optional[str] = ..., answer: _Optional[str] = ..., advice: _Optional[str] = ...) -> None: ...
