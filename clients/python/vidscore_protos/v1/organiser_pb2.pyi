import datetime

from google.protobuf import field_mask_pb2 as _field_mask_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from vidscore_protos.v1 import annotations_pb2 as _annotations_pb2
from vidscore_protos.v1 import benchmark_pb2 as _benchmark_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CreateBenchmarkRequest(_message.Message):
    __slots__ = ("benchmark_id", "benchmark", "request_id")
    BENCHMARK_ID_FIELD_NUMBER: _ClassVar[int]
    BENCHMARK_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    benchmark_id: str
    benchmark: _benchmark_pb2.Benchmark
    request_id: str
    def __init__(self, benchmark_id: _Optional[str] = ..., benchmark: _Optional[_Union[_benchmark_pb2.Benchmark, _Mapping]] = ..., request_id: _Optional[str] = ...) -> None: ...

class CreateBenchmarkResponse(_message.Message):
    __slots__ = ("benchmark",)
    BENCHMARK_FIELD_NUMBER: _ClassVar[int]
    benchmark: _benchmark_pb2.Benchmark
    def __init__(self, benchmark: _Optional[_Union[_benchmark_pb2.Benchmark, _Mapping]] = ...) -> None: ...

class UpdateBenchmarkRequest(_message.Message):
    __slots__ = ("benchmark", "update_mask", "validate_only")
    BENCHMARK_FIELD_NUMBER: _ClassVar[int]
    UPDATE_MASK_FIELD_NUMBER: _ClassVar[int]
    VALIDATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    benchmark: _benchmark_pb2.Benchmark
    update_mask: _field_mask_pb2.FieldMask
    validate_only: bool
    def __init__(self, benchmark: _Optional[_Union[_benchmark_pb2.Benchmark, _Mapping]] = ..., update_mask: _Optional[_Union[_field_mask_pb2.FieldMask, _Mapping]] = ..., validate_only: bool = ...) -> None: ...

class UpdateBenchmarkResponse(_message.Message):
    __slots__ = ("benchmark", "team_views")
    BENCHMARK_FIELD_NUMBER: _ClassVar[int]
    TEAM_VIEWS_FIELD_NUMBER: _ClassVar[int]
    benchmark: _benchmark_pb2.Benchmark
    team_views: _containers.RepeatedCompositeFieldContainer[TeamView]
    def __init__(self, benchmark: _Optional[_Union[_benchmark_pb2.Benchmark, _Mapping]] = ..., team_views: _Optional[_Iterable[_Union[TeamView, _Mapping]]] = ...) -> None: ...

class TeamView(_message.Message):
    __slots__ = ("team", "evaluator", "now", "then")
    TEAM_FIELD_NUMBER: _ClassVar[int]
    EVALUATOR_FIELD_NUMBER: _ClassVar[int]
    NOW_FIELD_NUMBER: _ClassVar[int]
    THEN_FIELD_NUMBER: _ClassVar[int]
    team: str
    evaluator: str
    now: SeenScores
    then: SeenScores
    def __init__(self, team: _Optional[str] = ..., evaluator: _Optional[str] = ..., now: _Optional[_Union[SeenScores, _Mapping]] = ..., then: _Optional[_Union[SeenScores, _Mapping]] = ...) -> None: ...

class SeenScores(_message.Message):
    __slots__ = ("submission", "rank", "values", "score_count", "curve_count", "outcome_submission_count")
    SUBMISSION_FIELD_NUMBER: _ClassVar[int]
    RANK_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    SCORE_COUNT_FIELD_NUMBER: _ClassVar[int]
    CURVE_COUNT_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_SUBMISSION_COUNT_FIELD_NUMBER: _ClassVar[int]
    submission: str
    rank: int
    values: _containers.RepeatedCompositeFieldContainer[SeenValue]
    score_count: int
    curve_count: int
    outcome_submission_count: int
    def __init__(self, submission: _Optional[str] = ..., rank: _Optional[int] = ..., values: _Optional[_Iterable[_Union[SeenValue, _Mapping]]] = ..., score_count: _Optional[int] = ..., curve_count: _Optional[int] = ..., outcome_submission_count: _Optional[int] = ...) -> None: ...

class SeenValue(_message.Message):
    __slots__ = ("measure", "value")
    MEASURE_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    measure: str
    value: float
    def __init__(self, measure: _Optional[str] = ..., value: _Optional[float] = ...) -> None: ...

class DeleteBenchmarkRequest(_message.Message):
    __slots__ = ("name", "force", "etag")
    NAME_FIELD_NUMBER: _ClassVar[int]
    FORCE_FIELD_NUMBER: _ClassVar[int]
    ETAG_FIELD_NUMBER: _ClassVar[int]
    name: str
    force: bool
    etag: str
    def __init__(self, name: _Optional[str] = ..., force: bool = ..., etag: _Optional[str] = ...) -> None: ...

class DeleteBenchmarkResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class UploadTruthHeader(_message.Message):
    __slots__ = ("benchmark", "merge", "complete", "comment", "request_id")
    BENCHMARK_FIELD_NUMBER: _ClassVar[int]
    MERGE_FIELD_NUMBER: _ClassVar[int]
    COMPLETE_FIELD_NUMBER: _ClassVar[int]
    COMMENT_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    benchmark: str
    merge: bool
    complete: bool
    comment: str
    request_id: str
    def __init__(self, benchmark: _Optional[str] = ..., merge: bool = ..., complete: bool = ..., comment: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

class UploadTruthRequest(_message.Message):
    __slots__ = ("header", "truth", "end", "truth_crc32")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    TRUTH_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    TRUTH_CRC32_FIELD_NUMBER: _ClassVar[int]
    header: UploadTruthHeader
    truth: _annotations_pb2.AnnotationBatch
    end: UploadTruthEnd
    truth_crc32: int
    def __init__(self, header: _Optional[_Union[UploadTruthHeader, _Mapping]] = ..., truth: _Optional[_Union[_annotations_pb2.AnnotationBatch, _Mapping]] = ..., end: _Optional[_Union[UploadTruthEnd, _Mapping]] = ..., truth_crc32: _Optional[int] = ...) -> None: ...

class UploadTruthEnd(_message.Message):
    __slots__ = ("frame_count",)
    FRAME_COUNT_FIELD_NUMBER: _ClassVar[int]
    frame_count: int
    def __init__(self, frame_count: _Optional[int] = ...) -> None: ...

class UploadTruthResponse(_message.Message):
    __slots__ = ("revision",)
    REVISION_FIELD_NUMBER: _ClassVar[int]
    revision: TruthRevision
    def __init__(self, revision: _Optional[_Union[TruthRevision, _Mapping]] = ...) -> None: ...

class TruthRevision(_message.Message):
    __slots__ = ("revision", "digest", "create_time", "frame_count", "complete", "comment", "submissions_to_rescore", "object_count", "sequence_count", "label_count")
    REVISION_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    FRAME_COUNT_FIELD_NUMBER: _ClassVar[int]
    COMPLETE_FIELD_NUMBER: _ClassVar[int]
    COMMENT_FIELD_NUMBER: _ClassVar[int]
    SUBMISSIONS_TO_RESCORE_FIELD_NUMBER: _ClassVar[int]
    OBJECT_COUNT_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_COUNT_FIELD_NUMBER: _ClassVar[int]
    LABEL_COUNT_FIELD_NUMBER: _ClassVar[int]
    revision: int
    digest: str
    create_time: _timestamp_pb2.Timestamp
    frame_count: int
    complete: bool
    comment: str
    submissions_to_rescore: int
    object_count: int
    sequence_count: int
    label_count: int
    def __init__(self, revision: _Optional[int] = ..., digest: _Optional[str] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., frame_count: _Optional[int] = ..., complete: bool = ..., comment: _Optional[str] = ..., submissions_to_rescore: _Optional[int] = ..., object_count: _Optional[int] = ..., sequence_count: _Optional[int] = ..., label_count: _Optional[int] = ...) -> None: ...

class ReadTruthRequest(_message.Message):
    __slots__ = ("benchmark", "revision", "offset")
    BENCHMARK_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    benchmark: str
    revision: int
    offset: int
    def __init__(self, benchmark: _Optional[str] = ..., revision: _Optional[int] = ..., offset: _Optional[int] = ...) -> None: ...

class ReadTruthResponse(_message.Message):
    __slots__ = ("revision", "truth", "next_offset")
    REVISION_FIELD_NUMBER: _ClassVar[int]
    TRUTH_FIELD_NUMBER: _ClassVar[int]
    NEXT_OFFSET_FIELD_NUMBER: _ClassVar[int]
    revision: int
    truth: _annotations_pb2.AnnotationBatch
    next_offset: int
    def __init__(self, revision: _Optional[int] = ..., truth: _Optional[_Union[_annotations_pb2.AnnotationBatch, _Mapping]] = ..., next_offset: _Optional[int] = ...) -> None: ...

class ListTruthRevisionsRequest(_message.Message):
    __slots__ = ("benchmark", "page_size", "page_token")
    BENCHMARK_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    benchmark: str
    page_size: int
    page_token: str
    def __init__(self, benchmark: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListTruthRevisionsResponse(_message.Message):
    __slots__ = ("revisions", "next_page_token")
    REVISIONS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    revisions: _containers.RepeatedCompositeFieldContainer[TruthRevision]
    next_page_token: str
    def __init__(self, revisions: _Optional[_Iterable[_Union[TruthRevision, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class RescoreSubmissionsRequest(_message.Message):
    __slots__ = ("benchmark", "submissions", "comment", "request_id")
    BENCHMARK_FIELD_NUMBER: _ClassVar[int]
    SUBMISSIONS_FIELD_NUMBER: _ClassVar[int]
    COMMENT_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    benchmark: str
    submissions: _containers.RepeatedScalarFieldContainer[str]
    comment: str
    request_id: str
    def __init__(self, benchmark: _Optional[str] = ..., submissions: _Optional[_Iterable[str]] = ..., comment: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

class RescoreSubmissionsResponse(_message.Message):
    __slots__ = ("operation",)
    OPERATION_FIELD_NUMBER: _ClassVar[int]
    operation: str
    def __init__(self, operation: _Optional[str] = ...) -> None: ...

class RescoreMetadata(_message.Message):
    __slots__ = ("submissions_in_all", "submissions_done", "start_time")
    SUBMISSIONS_IN_ALL_FIELD_NUMBER: _ClassVar[int]
    SUBMISSIONS_DONE_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    submissions_in_all: int
    submissions_done: int
    start_time: _timestamp_pb2.Timestamp
    def __init__(self, submissions_in_all: _Optional[int] = ..., submissions_done: _Optional[int] = ..., start_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class RescoreResponse(_message.Message):
    __slots__ = ("differences",)
    DIFFERENCES_FIELD_NUMBER: _ClassVar[int]
    differences: _containers.RepeatedCompositeFieldContainer[ScoreDifference]
    def __init__(self, differences: _Optional[_Iterable[_Union[ScoreDifference, _Mapping]]] = ...) -> None: ...

class ScoreDifference(_message.Message):
    __slots__ = ("submission", "evaluator", "measure", "before", "after", "rank_before", "rank_after")
    SUBMISSION_FIELD_NUMBER: _ClassVar[int]
    EVALUATOR_FIELD_NUMBER: _ClassVar[int]
    MEASURE_FIELD_NUMBER: _ClassVar[int]
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    RANK_BEFORE_FIELD_NUMBER: _ClassVar[int]
    RANK_AFTER_FIELD_NUMBER: _ClassVar[int]
    submission: str
    evaluator: str
    measure: str
    before: float
    after: float
    rank_before: int
    rank_after: int
    def __init__(self, submission: _Optional[str] = ..., evaluator: _Optional[str] = ..., measure: _Optional[str] = ..., before: _Optional[float] = ..., after: _Optional[float] = ..., rank_before: _Optional[int] = ..., rank_after: _Optional[int] = ...) -> None: ...

class PublishLeaderboardRequest(_message.Message):
    __slots__ = ("benchmark", "validate_only")
    BENCHMARK_FIELD_NUMBER: _ClassVar[int]
    VALIDATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    benchmark: str
    validate_only: bool
    def __init__(self, benchmark: _Optional[str] = ..., validate_only: bool = ...) -> None: ...

class PublishLeaderboardResponse(_message.Message):
    __slots__ = ("differences", "truth_revision")
    DIFFERENCES_FIELD_NUMBER: _ClassVar[int]
    TRUTH_REVISION_FIELD_NUMBER: _ClassVar[int]
    differences: _containers.RepeatedCompositeFieldContainer[ScoreDifference]
    truth_revision: int
    def __init__(self, differences: _Optional[_Iterable[_Union[ScoreDifference, _Mapping]]] = ..., truth_revision: _Optional[int] = ...) -> None: ...
