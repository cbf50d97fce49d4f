import datetime

from google.longrunning import operations_pb2 as _operations_pb2
from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import field_mask_pb2 as _field_mask_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from vidscore_protos.v1 import annotations_pb2 as _annotations_pb2
from vidscore_protos.v1 import specification_pb2 as _specification_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class NameKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    NAME_KIND_UNSPECIFIED: _ClassVar[NameKind]
    NAME_KIND_SEQUENCES: _ClassVar[NameKind]
    NAME_KIND_LABELS: _ClassVar[NameKind]
    NAME_KIND_FRAME_COUNTS: _ClassVar[NameKind]

class Visibility(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    VISIBILITY_UNSPECIFIED: _ClassVar[Visibility]
    VISIBILITY_LADDER: _ClassVar[Visibility]
    VISIBILITY_FINAL: _ClassVar[Visibility]
    VISIBILITY_LIVE: _ClassVar[Visibility]

class QuietAction(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    QUIET_ACTION_UNSPECIFIED: _ClassVar[QuietAction]
    QUIET_ACTION_SEAL: _ClassVar[QuietAction]
    QUIET_ACTION_CANCEL: _ClassVar[QuietAction]

class Selection(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SELECTION_UNSPECIFIED: _ClassVar[Selection]
    SELECTION_BEST: _ClassVar[Selection]
    SELECTION_LATEST: _ClassVar[Selection]

class Rescore(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RESCORE_UNSPECIFIED: _ClassVar[Rescore]
    RESCORE_AUTOMATIC: _ClassVar[Rescore]
    RESCORE_REVIEW: _ClassVar[Rescore]
NAME_KIND_UNSPECIFIED: NameKind
NAME_KIND_SEQUENCES: NameKind
NAME_KIND_LABELS: NameKind
NAME_KIND_FRAME_COUNTS: NameKind
VISIBILITY_UNSPECIFIED: Visibility
VISIBILITY_LADDER: Visibility
VISIBILITY_FINAL: Visibility
VISIBILITY_LIVE: Visibility
QUIET_ACTION_UNSPECIFIED: QuietAction
QUIET_ACTION_SEAL: QuietAction
QUIET_ACTION_CANCEL: QuietAction
SELECTION_UNSPECIFIED: Selection
SELECTION_BEST: Selection
SELECTION_LATEST: Selection
RESCORE_UNSPECIFIED: Rescore
RESCORE_AUTOMATIC: Rescore
RESCORE_REVIEW: Rescore

class Benchmark(_message.Message):
    __slots__ = ("name", "specification", "truth_geometry", "detection_geometry", "open_time", "close_time", "policy", "create_time", "update_time", "truth_revision", "truth_digest", "public_names", "submissions_to_rescore", "truth_complete", "submission_budget", "warnings")
    NAME_FIELD_NUMBER: _ClassVar[int]
    SPECIFICATION_FIELD_NUMBER: _ClassVar[int]
    TRUTH_GEOMETRY_FIELD_NUMBER: _ClassVar[int]
    DETECTION_GEOMETRY_FIELD_NUMBER: _ClassVar[int]
    OPEN_TIME_FIELD_NUMBER: _ClassVar[int]
    CLOSE_TIME_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    UPDATE_TIME_FIELD_NUMBER: _ClassVar[int]
    TRUTH_REVISION_FIELD_NUMBER: _ClassVar[int]
    TRUTH_DIGEST_FIELD_NUMBER: _ClassVar[int]
    PUBLIC_NAMES_FIELD_NUMBER: _ClassVar[int]
    SUBMISSIONS_TO_RESCORE_FIELD_NUMBER: _ClassVar[int]
    TRUTH_COMPLETE_FIELD_NUMBER: _ClassVar[int]
    SUBMISSION_BUDGET_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    name: str
    specification: _specification_pb2.BenchmarkSpec
    truth_geometry: _annotations_pb2.Geometry
    detection_geometry: _annotations_pb2.Geometry
    open_time: _timestamp_pb2.Timestamp
    close_time: _timestamp_pb2.Timestamp
    policy: Policy
    create_time: _timestamp_pb2.Timestamp
    update_time: _timestamp_pb2.Timestamp
    truth_revision: int
    truth_digest: str
    public_names: PublicNames
    submissions_to_rescore: int
    truth_complete: bool
    submission_budget: int
    warnings: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, name: _Optional[str] = ..., specification: _Optional[_Union[_specification_pb2.BenchmarkSpec, _Mapping]] = ..., truth_geometry: _Optional[_Union[_annotations_pb2.Geometry, str]] = ..., detection_geometry: _Optional[_Union[_annotations_pb2.Geometry, str]] = ..., open_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., close_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., policy: _Optional[_Union[Policy, _Mapping]] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., update_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., truth_revision: _Optional[int] = ..., truth_digest: _Optional[str] = ..., public_names: _Optional[_Union[PublicNames, _Mapping]] = ..., submissions_to_rescore: _Optional[int] = ..., truth_complete: bool = ..., submission_budget: _Optional[int] = ..., warnings: _Optional[_Iterable[str]] = ...) -> None: ...

class PublicNames(_message.Message):
    __slots__ = ("kinds",)
    KINDS_FIELD_NUMBER: _ClassVar[int]
    kinds: _containers.RepeatedScalarFieldContainer[NameKind]
    def __init__(self, kinds: _Optional[_Iterable[_Union[NameKind, str]]] = ...) -> None: ...

class Policy(_message.Message):
    __slots__ = ("visibility", "ladder_step", "released_measures", "minimum_frames", "quiet_timeout", "quiet_action", "truth_timeout", "submissions_per_day", "submissions_in_all", "ranking_measure", "selection", "earlier_first", "public_board", "rescore", "unlimited_submissions")
    VISIBILITY_FIELD_NUMBER: _ClassVar[int]
    LADDER_STEP_FIELD_NUMBER: _ClassVar[int]
    RELEASED_MEASURES_FIELD_NUMBER: _ClassVar[int]
    MINIMUM_FRAMES_FIELD_NUMBER: _ClassVar[int]
    QUIET_TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    QUIET_ACTION_FIELD_NUMBER: _ClassVar[int]
    TRUTH_TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    SUBMISSIONS_PER_DAY_FIELD_NUMBER: _ClassVar[int]
    SUBMISSIONS_IN_ALL_FIELD_NUMBER: _ClassVar[int]
    RANKING_MEASURE_FIELD_NUMBER: _ClassVar[int]
    SELECTION_FIELD_NUMBER: _ClassVar[int]
    EARLIER_FIRST_FIELD_NUMBER: _ClassVar[int]
    PUBLIC_BOARD_FIELD_NUMBER: _ClassVar[int]
    RESCORE_FIELD_NUMBER: _ClassVar[int]
    UNLIMITED_SUBMISSIONS_FIELD_NUMBER: _ClassVar[int]
    visibility: Visibility
    ladder_step: float
    released_measures: _containers.RepeatedScalarFieldContainer[str]
    minimum_frames: int
    quiet_timeout: _duration_pb2.Duration
    quiet_action: QuietAction
    truth_timeout: _duration_pb2.Duration
    submissions_per_day: int
    submissions_in_all: int
    ranking_measure: str
    selection: Selection
    earlier_first: bool
    public_board: bool
    rescore: Rescore
    unlimited_submissions: bool
    def __init__(self, visibility: _Optional[_Union[Visibility, str]] = ..., ladder_step: _Optional[float] = ..., released_measures: _Optional[_Iterable[str]] = ..., minimum_frames: _Optional[int] = ..., quiet_timeout: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., quiet_action: _Optional[_Union[QuietAction, str]] = ..., truth_timeout: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., submissions_per_day: _Optional[int] = ..., submissions_in_all: _Optional[int] = ..., ranking_measure: _Optional[str] = ..., selection: _Optional[_Union[Selection, str]] = ..., earlier_first: bool = ..., public_board: bool = ..., rescore: _Optional[_Union[Rescore, str]] = ..., unlimited_submissions: bool = ...) -> None: ...

class CreateBenchmarkRequest(_message.Message):
    __slots__ = ("benchmark_id", "benchmark", "request_id")
    BENCHMARK_ID_FIELD_NUMBER: _ClassVar[int]
    BENCHMARK_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    benchmark_id: str
    benchmark: Benchmark
    request_id: str
    def __init__(self, benchmark_id: _Optional[str] = ..., benchmark: _Optional[_Union[Benchmark, _Mapping]] = ..., request_id: _Optional[str] = ...) -> None: ...

class CreateBenchmarkResponse(_message.Message):
    __slots__ = ("benchmark",)
    BENCHMARK_FIELD_NUMBER: _ClassVar[int]
    benchmark: Benchmark
    def __init__(self, benchmark: _Optional[_Union[Benchmark, _Mapping]] = ...) -> None: ...

class GetBenchmarkRequest(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class GetBenchmarkResponse(_message.Message):
    __slots__ = ("benchmark", "quotas")
    BENCHMARK_FIELD_NUMBER: _ClassVar[int]
    QUOTAS_FIELD_NUMBER: _ClassVar[int]
    benchmark: Benchmark
    quotas: _containers.RepeatedCompositeFieldContainer[Quota]
    def __init__(self, benchmark: _Optional[_Union[Benchmark, _Mapping]] = ..., quotas: _Optional[_Iterable[_Union[Quota, _Mapping]]] = ...) -> None: ...

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
    benchmarks: _containers.RepeatedCompositeFieldContainer[Benchmark]
    next_page_token: str
    def __init__(self, benchmarks: _Optional[_Iterable[_Union[Benchmark, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class UpdateBenchmarkRequest(_message.Message):
    __slots__ = ("benchmark", "update_mask")
    BENCHMARK_FIELD_NUMBER: _ClassVar[int]
    UPDATE_MASK_FIELD_NUMBER: _ClassVar[int]
    benchmark: Benchmark
    update_mask: _field_mask_pb2.FieldMask
    def __init__(self, benchmark: _Optional[_Union[Benchmark, _Mapping]] = ..., update_mask: _Optional[_Union[_field_mask_pb2.FieldMask, _Mapping]] = ...) -> None: ...

class UpdateBenchmarkResponse(_message.Message):
    __slots__ = ("benchmark",)
    BENCHMARK_FIELD_NUMBER: _ClassVar[int]
    benchmark: Benchmark
    def __init__(self, benchmark: _Optional[_Union[Benchmark, _Mapping]] = ...) -> None: ...

class DeleteBenchmarkRequest(_message.Message):
    __slots__ = ("name", "force")
    NAME_FIELD_NUMBER: _ClassVar[int]
    FORCE_FIELD_NUMBER: _ClassVar[int]
    name: str
    force: bool
    def __init__(self, name: _Optional[str] = ..., force: bool = ...) -> None: ...

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
    __slots__ = ("revision", "digest", "create_time", "frame_count", "complete", "comment", "submissions_to_rescore")
    REVISION_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    FRAME_COUNT_FIELD_NUMBER: _ClassVar[int]
    COMPLETE_FIELD_NUMBER: _ClassVar[int]
    COMMENT_FIELD_NUMBER: _ClassVar[int]
    SUBMISSIONS_TO_RESCORE_FIELD_NUMBER: _ClassVar[int]
    revision: int
    digest: str
    create_time: _timestamp_pb2.Timestamp
    frame_count: int
    complete: bool
    comment: str
    submissions_to_rescore: int
    def __init__(self, revision: _Optional[int] = ..., digest: _Optional[str] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., frame_count: _Optional[int] = ..., complete: bool = ..., comment: _Optional[str] = ..., submissions_to_rescore: _Optional[int] = ...) -> None: ...

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

class GetLeaderboardRequest(_message.Message):
    __slots__ = ("benchmark", "evaluator", "domain", "class_name", "page_size", "page_token")
    BENCHMARK_FIELD_NUMBER: _ClassVar[int]
    EVALUATOR_FIELD_NUMBER: _ClassVar[int]
    DOMAIN_FIELD_NUMBER: _ClassVar[int]
    CLASS_NAME_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    benchmark: str
    evaluator: str
    domain: str
    class_name: str
    page_size: int
    page_token: str
    def __init__(self, benchmark: _Optional[str] = ..., evaluator: _Optional[str] = ..., domain: _Optional[str] = ..., class_name: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class GetLeaderboardResponse(_message.Message):
    __slots__ = ("rows", "ranking", "truth_revision", "next_page_token", "newest_truth_revision", "submissions_to_rescore", "publishable")
    ROWS_FIELD_NUMBER: _ClassVar[int]
    RANKING_FIELD_NUMBER: _ClassVar[int]
    TRUTH_REVISION_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    NEWEST_TRUTH_REVISION_FIELD_NUMBER: _ClassVar[int]
    SUBMISSIONS_TO_RESCORE_FIELD_NUMBER: _ClassVar[int]
    PUBLISHABLE_FIELD_NUMBER: _ClassVar[int]
    rows: _containers.RepeatedCompositeFieldContainer[LeaderboardRow]
    ranking: _containers.RepeatedScalarFieldContainer[str]
    truth_revision: int
    next_page_token: str
    newest_truth_revision: int
    submissions_to_rescore: int
    publishable: bool
    def __init__(self, rows: _Optional[_Iterable[_Union[LeaderboardRow, _Mapping]]] = ..., ranking: _Optional[_Iterable[str]] = ..., truth_revision: _Optional[int] = ..., next_page_token: _Optional[str] = ..., newest_truth_revision: _Optional[int] = ..., submissions_to_rescore: _Optional[int] = ..., publishable: bool = ...) -> None: ...

class LeaderboardRow(_message.Message):
    __slots__ = ("rank", "team", "submission", "title", "seal_time", "scores", "truth_revision", "evaluator_version", "apart")
    RANK_FIELD_NUMBER: _ClassVar[int]
    TEAM_FIELD_NUMBER: _ClassVar[int]
    SUBMISSION_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    SEAL_TIME_FIELD_NUMBER: _ClassVar[int]
    SCORES_FIELD_NUMBER: _ClassVar[int]
    TRUTH_REVISION_FIELD_NUMBER: _ClassVar[int]
    EVALUATOR_VERSION_FIELD_NUMBER: _ClassVar[int]
    APART_FIELD_NUMBER: _ClassVar[int]
    rank: int
    team: str
    submission: str
    title: str
    seal_time: _timestamp_pb2.Timestamp
    scores: _containers.RepeatedCompositeFieldContainer[LeaderboardScore]
    truth_revision: int
    evaluator_version: str
    apart: bool
    def __init__(self, rank: _Optional[int] = ..., team: _Optional[str] = ..., submission: _Optional[str] = ..., title: _Optional[str] = ..., seal_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., scores: _Optional[_Iterable[_Union[LeaderboardScore, _Mapping]]] = ..., truth_revision: _Optional[int] = ..., evaluator_version: _Optional[str] = ..., apart: bool = ...) -> None: ...

class LeaderboardScore(_message.Message):
    __slots__ = ("measure", "value")
    MEASURE_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    measure: str
    value: float
    def __init__(self, measure: _Optional[str] = ..., value: _Optional[float] = ...) -> None: ...

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
