import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from vidscore_protos.v1 import annotations_pb2 as _annotations_pb2
from vidscore_protos.v1 import benchmark_pb2 as _benchmark_pb2
from vidscore_protos.v1 import outcomes_pb2 as _outcomes_pb2
from vidscore_protos.v1 import report_pb2 as _report_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class SubmissionState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SUBMISSION_STATE_UNSPECIFIED: _ClassVar[SubmissionState]
    SUBMISSION_STATE_OPEN: _ClassVar[SubmissionState]
    SUBMISSION_STATE_RECEIVING: _ClassVar[SubmissionState]
    SUBMISSION_STATE_SEALED: _ClassVar[SubmissionState]
    SUBMISSION_STATE_WAITING_FOR_TRUTH: _ClassVar[SubmissionState]
    SUBMISSION_STATE_SCORING: _ClassVar[SubmissionState]
    SUBMISSION_STATE_SCORED: _ClassVar[SubmissionState]
    SUBMISSION_STATE_FAILED: _ClassVar[SubmissionState]
    SUBMISSION_STATE_CANCELLED: _ClassVar[SubmissionState]
SUBMISSION_STATE_UNSPECIFIED: SubmissionState
SUBMISSION_STATE_OPEN: SubmissionState
SUBMISSION_STATE_RECEIVING: SubmissionState
SUBMISSION_STATE_SEALED: SubmissionState
SUBMISSION_STATE_WAITING_FOR_TRUTH: SubmissionState
SUBMISSION_STATE_SCORING: SubmissionState
SUBMISSION_STATE_SCORED: SubmissionState
SUBMISSION_STATE_FAILED: SubmissionState
SUBMISSION_STATE_CANCELLED: SubmissionState

class Submission(_message.Message):
    __slots__ = ("name", "team", "title", "state", "state_reason", "state_message", "state_time", "create_time", "seal_time", "frame_count", "streams", "revision", "warnings", "due_time", "due_reason", "disqualification", "chosen", "history")
    NAME_FIELD_NUMBER: _ClassVar[int]
    TEAM_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    STATE_REASON_FIELD_NUMBER: _ClassVar[int]
    STATE_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    STATE_TIME_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    SEAL_TIME_FIELD_NUMBER: _ClassVar[int]
    FRAME_COUNT_FIELD_NUMBER: _ClassVar[int]
    STREAMS_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    DUE_TIME_FIELD_NUMBER: _ClassVar[int]
    DUE_REASON_FIELD_NUMBER: _ClassVar[int]
    DISQUALIFICATION_FIELD_NUMBER: _ClassVar[int]
    CHOSEN_FIELD_NUMBER: _ClassVar[int]
    HISTORY_FIELD_NUMBER: _ClassVar[int]
    name: str
    team: str
    title: str
    state: SubmissionState
    state_reason: str
    state_message: str
    state_time: _timestamp_pb2.Timestamp
    create_time: _timestamp_pb2.Timestamp
    seal_time: _timestamp_pb2.Timestamp
    frame_count: int
    streams: _containers.RepeatedCompositeFieldContainer[StreamInfo]
    revision: int
    warnings: _containers.RepeatedScalarFieldContainer[str]
    due_time: _timestamp_pb2.Timestamp
    due_reason: str
    disqualification: str
    chosen: bool
    history: _containers.RepeatedCompositeFieldContainer[SubmissionEvent]
    def __init__(self, name: _Optional[str] = ..., team: _Optional[str] = ..., title: _Optional[str] = ..., state: _Optional[_Union[SubmissionState, str]] = ..., state_reason: _Optional[str] = ..., state_message: _Optional[str] = ..., state_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., seal_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., frame_count: _Optional[int] = ..., streams: _Optional[_Iterable[_Union[StreamInfo, _Mapping]]] = ..., revision: _Optional[int] = ..., warnings: _Optional[_Iterable[str]] = ..., due_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., due_reason: _Optional[str] = ..., disqualification: _Optional[str] = ..., chosen: bool = ..., history: _Optional[_Iterable[_Union[SubmissionEvent, _Mapping]]] = ...) -> None: ...

class SubmissionEvent(_message.Message):
    __slots__ = ("time", "reason", "stream", "epoch")
    TIME_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    STREAM_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    time: _timestamp_pb2.Timestamp
    reason: str
    stream: str
    epoch: int
    def __init__(self, time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., reason: _Optional[str] = ..., stream: _Optional[str] = ..., epoch: _Optional[int] = ...) -> None: ...

class StreamInfo(_message.Message):
    __slots__ = ("stream", "epoch", "next_offset", "source_position")
    STREAM_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    NEXT_OFFSET_FIELD_NUMBER: _ClassVar[int]
    SOURCE_POSITION_FIELD_NUMBER: _ClassVar[int]
    stream: str
    epoch: int
    next_offset: int
    source_position: str
    def __init__(self, stream: _Optional[str] = ..., epoch: _Optional[int] = ..., next_offset: _Optional[int] = ..., source_position: _Optional[str] = ...) -> None: ...

class CreateSubmissionRequest(_message.Message):
    __slots__ = ("benchmark", "submission_id", "title", "request_id")
    BENCHMARK_FIELD_NUMBER: _ClassVar[int]
    SUBMISSION_ID_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    benchmark: str
    submission_id: str
    title: str
    request_id: str
    def __init__(self, benchmark: _Optional[str] = ..., submission_id: _Optional[str] = ..., title: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

class CreateSubmissionResponse(_message.Message):
    __slots__ = ("submission",)
    SUBMISSION_FIELD_NUMBER: _ClassVar[int]
    submission: Submission
    def __init__(self, submission: _Optional[_Union[Submission, _Mapping]] = ...) -> None: ...

class GetSubmissionRequest(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class GetSubmissionResponse(_message.Message):
    __slots__ = ("submission",)
    SUBMISSION_FIELD_NUMBER: _ClassVar[int]
    submission: Submission
    def __init__(self, submission: _Optional[_Union[Submission, _Mapping]] = ...) -> None: ...

class ListSubmissionsRequest(_message.Message):
    __slots__ = ("benchmark", "page_size", "page_token", "team", "state")
    BENCHMARK_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    TEAM_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    benchmark: str
    page_size: int
    page_token: str
    team: str
    state: SubmissionState
    def __init__(self, benchmark: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., team: _Optional[str] = ..., state: _Optional[_Union[SubmissionState, str]] = ...) -> None: ...

class ListSubmissionsResponse(_message.Message):
    __slots__ = ("submissions", "next_page_token")
    SUBMISSIONS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    submissions: _containers.RepeatedCompositeFieldContainer[Submission]
    next_page_token: str
    def __init__(self, submissions: _Optional[_Iterable[_Union[Submission, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class OpenStreamRequest(_message.Message):
    __slots__ = ("submission", "stream")
    SUBMISSION_FIELD_NUMBER: _ClassVar[int]
    STREAM_FIELD_NUMBER: _ClassVar[int]
    submission: str
    stream: str
    def __init__(self, submission: _Optional[str] = ..., stream: _Optional[str] = ...) -> None: ...

class OpenStreamResponse(_message.Message):
    __slots__ = ("stream", "limits")
    class LimitsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    STREAM_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    stream: StreamInfo
    limits: _containers.ScalarMap[str, int]
    def __init__(self, stream: _Optional[_Union[StreamInfo, _Mapping]] = ..., limits: _Optional[_Mapping[str, int]] = ...) -> None: ...

class AppendRequest(_message.Message):
    __slots__ = ("stream", "epoch", "offset", "detections", "detections_crc32", "source_position")
    STREAM_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    DETECTIONS_FIELD_NUMBER: _ClassVar[int]
    DETECTIONS_CRC32_FIELD_NUMBER: _ClassVar[int]
    SOURCE_POSITION_FIELD_NUMBER: _ClassVar[int]
    stream: str
    epoch: int
    offset: int
    detections: _annotations_pb2.AnnotationBatch
    detections_crc32: int
    source_position: str
    def __init__(self, stream: _Optional[str] = ..., epoch: _Optional[int] = ..., offset: _Optional[int] = ..., detections: _Optional[_Union[_annotations_pb2.AnnotationBatch, _Mapping]] = ..., detections_crc32: _Optional[int] = ..., source_position: _Optional[str] = ...) -> None: ...

class AppendResponse(_message.Message):
    __slots__ = ("next_offset",)
    NEXT_OFFSET_FIELD_NUMBER: _ClassVar[int]
    next_offset: int
    def __init__(self, next_offset: _Optional[int] = ...) -> None: ...

class CheckDetectionsRequest(_message.Message):
    __slots__ = ("benchmark", "detections")
    BENCHMARK_FIELD_NUMBER: _ClassVar[int]
    DETECTIONS_FIELD_NUMBER: _ClassVar[int]
    benchmark: str
    detections: _annotations_pb2.AnnotationBatch
    def __init__(self, benchmark: _Optional[str] = ..., detections: _Optional[_Union[_annotations_pb2.AnnotationBatch, _Mapping]] = ...) -> None: ...

class CheckDetectionsResponse(_message.Message):
    __slots__ = ("frame_count", "warnings")
    FRAME_COUNT_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    frame_count: int
    warnings: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, frame_count: _Optional[int] = ..., warnings: _Optional[_Iterable[str]] = ...) -> None: ...

class SealSubmissionRequest(_message.Message):
    __slots__ = ("name", "expected_frame_count")
    NAME_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_FRAME_COUNT_FIELD_NUMBER: _ClassVar[int]
    name: str
    expected_frame_count: int
    def __init__(self, name: _Optional[str] = ..., expected_frame_count: _Optional[int] = ...) -> None: ...

class SealSubmissionResponse(_message.Message):
    __slots__ = ("submission",)
    SUBMISSION_FIELD_NUMBER: _ClassVar[int]
    submission: Submission
    def __init__(self, submission: _Optional[_Union[Submission, _Mapping]] = ...) -> None: ...

class CancelSubmissionRequest(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class CancelSubmissionResponse(_message.Message):
    __slots__ = ("submission",)
    SUBMISSION_FIELD_NUMBER: _ClassVar[int]
    submission: Submission
    def __init__(self, submission: _Optional[_Union[Submission, _Mapping]] = ...) -> None: ...

class RetrySubmissionRequest(_message.Message):
    __slots__ = ("name", "request_id")
    NAME_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    name: str
    request_id: str
    def __init__(self, name: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

class RetrySubmissionResponse(_message.Message):
    __slots__ = ("submission",)
    SUBMISSION_FIELD_NUMBER: _ClassVar[int]
    submission: Submission
    def __init__(self, submission: _Optional[_Union[Submission, _Mapping]] = ...) -> None: ...

class DisqualifySubmissionRequest(_message.Message):
    __slots__ = ("name", "reason")
    NAME_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    name: str
    reason: str
    def __init__(self, name: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class DisqualifySubmissionResponse(_message.Message):
    __slots__ = ("submission",)
    SUBMISSION_FIELD_NUMBER: _ClassVar[int]
    submission: Submission
    def __init__(self, submission: _Optional[_Union[Submission, _Mapping]] = ...) -> None: ...

class ReinstateSubmissionRequest(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class ReinstateSubmissionResponse(_message.Message):
    __slots__ = ("submission",)
    SUBMISSION_FIELD_NUMBER: _ClassVar[int]
    submission: Submission
    def __init__(self, submission: _Optional[_Union[Submission, _Mapping]] = ...) -> None: ...

class ChooseSubmissionRequest(_message.Message):
    __slots__ = ("name", "undo")
    NAME_FIELD_NUMBER: _ClassVar[int]
    UNDO_FIELD_NUMBER: _ClassVar[int]
    name: str
    undo: bool
    def __init__(self, name: _Optional[str] = ..., undo: bool = ...) -> None: ...

class ChooseSubmissionResponse(_message.Message):
    __slots__ = ("submission",)
    SUBMISSION_FIELD_NUMBER: _ClassVar[int]
    submission: Submission
    def __init__(self, submission: _Optional[_Union[Submission, _Mapping]] = ...) -> None: ...

class WatchSubmissionRequest(_message.Message):
    __slots__ = ("name", "from_revision", "window_frames")
    NAME_FIELD_NUMBER: _ClassVar[int]
    FROM_REVISION_FIELD_NUMBER: _ClassVar[int]
    WINDOW_FRAMES_FIELD_NUMBER: _ClassVar[int]
    name: str
    from_revision: int
    window_frames: int
    def __init__(self, name: _Optional[str] = ..., from_revision: _Optional[int] = ..., window_frames: _Optional[int] = ...) -> None: ...

class WatchSubmissionResponse(_message.Message):
    __slots__ = ("submission", "scores", "window_reports", "window_frame_count")
    SUBMISSION_FIELD_NUMBER: _ClassVar[int]
    SCORES_FIELD_NUMBER: _ClassVar[int]
    WINDOW_REPORTS_FIELD_NUMBER: _ClassVar[int]
    WINDOW_FRAME_COUNT_FIELD_NUMBER: _ClassVar[int]
    submission: Submission
    scores: _containers.RepeatedCompositeFieldContainer[SubmissionScore]
    window_reports: _containers.RepeatedCompositeFieldContainer[_report_pb2.Report]
    window_frame_count: int
    def __init__(self, submission: _Optional[_Union[Submission, _Mapping]] = ..., scores: _Optional[_Iterable[_Union[SubmissionScore, _Mapping]]] = ..., window_reports: _Optional[_Iterable[_Union[_report_pb2.Report, _Mapping]]] = ..., window_frame_count: _Optional[int] = ...) -> None: ...

class SubmissionScore(_message.Message):
    __slots__ = ("name", "create_time", "truth_revision", "report", "partial", "current", "private_report", "public_report", "online", "streaming_report")
    NAME_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    TRUTH_REVISION_FIELD_NUMBER: _ClassVar[int]
    REPORT_FIELD_NUMBER: _ClassVar[int]
    PARTIAL_FIELD_NUMBER: _ClassVar[int]
    CURRENT_FIELD_NUMBER: _ClassVar[int]
    PRIVATE_REPORT_FIELD_NUMBER: _ClassVar[int]
    PUBLIC_REPORT_FIELD_NUMBER: _ClassVar[int]
    ONLINE_FIELD_NUMBER: _ClassVar[int]
    STREAMING_REPORT_FIELD_NUMBER: _ClassVar[int]
    name: str
    create_time: _timestamp_pb2.Timestamp
    truth_revision: int
    report: _report_pb2.Report
    partial: bool
    current: bool
    private_report: _report_pb2.Report
    public_report: _report_pb2.Report
    online: OnlineRecord
    streaming_report: _report_pb2.Report
    def __init__(self, name: _Optional[str] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., truth_revision: _Optional[int] = ..., report: _Optional[_Union[_report_pb2.Report, _Mapping]] = ..., partial: bool = ..., current: bool = ..., private_report: _Optional[_Union[_report_pb2.Report, _Mapping]] = ..., public_report: _Optional[_Union[_report_pb2.Report, _Mapping]] = ..., online: _Optional[_Union[OnlineRecord, _Mapping]] = ..., streaming_report: _Optional[_Union[_report_pb2.Report, _Mapping]] = ...) -> None: ...

class OnlineRecord(_message.Message):
    __slots__ = ("certified", "message", "frames", "frame_count", "in_time_count", "late_count", "missing_count", "passed_count", "outside_count", "latency_50_s", "latency_90_s", "latency_99_s", "latency_worst_s", "delay_worst_s")
    CERTIFIED_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    FRAMES_FIELD_NUMBER: _ClassVar[int]
    FRAME_COUNT_FIELD_NUMBER: _ClassVar[int]
    IN_TIME_COUNT_FIELD_NUMBER: _ClassVar[int]
    LATE_COUNT_FIELD_NUMBER: _ClassVar[int]
    MISSING_COUNT_FIELD_NUMBER: _ClassVar[int]
    PASSED_COUNT_FIELD_NUMBER: _ClassVar[int]
    OUTSIDE_COUNT_FIELD_NUMBER: _ClassVar[int]
    LATENCY_50_S_FIELD_NUMBER: _ClassVar[int]
    LATENCY_90_S_FIELD_NUMBER: _ClassVar[int]
    LATENCY_99_S_FIELD_NUMBER: _ClassVar[int]
    LATENCY_WORST_S_FIELD_NUMBER: _ClassVar[int]
    DELAY_WORST_S_FIELD_NUMBER: _ClassVar[int]
    certified: bool
    message: str
    frames: _benchmark_pb2.FrameSource
    frame_count: int
    in_time_count: int
    late_count: int
    missing_count: int
    passed_count: int
    outside_count: int
    latency_50_s: float
    latency_90_s: float
    latency_99_s: float
    latency_worst_s: float
    delay_worst_s: float
    def __init__(self, certified: bool = ..., message: _Optional[str] = ..., frames: _Optional[_Union[_benchmark_pb2.FrameSource, str]] = ..., frame_count: _Optional[int] = ..., in_time_count: _Optional[int] = ..., late_count: _Optional[int] = ..., missing_count: _Optional[int] = ..., passed_count: _Optional[int] = ..., outside_count: _Optional[int] = ..., latency_50_s: _Optional[float] = ..., latency_90_s: _Optional[float] = ..., latency_99_s: _Optional[float] = ..., latency_worst_s: _Optional[float] = ..., delay_worst_s: _Optional[float] = ...) -> None: ...

class ListScoresRequest(_message.Message):
    __slots__ = ("submission", "page_size", "page_token")
    SUBMISSION_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    submission: str
    page_size: int
    page_token: str
    def __init__(self, submission: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListScoresResponse(_message.Message):
    __slots__ = ("scores", "next_page_token")
    SCORES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    scores: _containers.RepeatedCompositeFieldContainer[SubmissionScore]
    next_page_token: str
    def __init__(self, scores: _Optional[_Iterable[_Union[SubmissionScore, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ReadOutcomesRequest(_message.Message):
    __slots__ = ("submission", "evaluator", "threshold", "confidence", "offset", "sequence", "known_score")
    SUBMISSION_FIELD_NUMBER: _ClassVar[int]
    EVALUATOR_FIELD_NUMBER: _ClassVar[int]
    THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    KNOWN_SCORE_FIELD_NUMBER: _ClassVar[int]
    submission: str
    evaluator: str
    threshold: float
    confidence: float
    offset: int
    sequence: _annotations_pb2.SequenceKey
    known_score: str
    def __init__(self, submission: _Optional[str] = ..., evaluator: _Optional[str] = ..., threshold: _Optional[float] = ..., confidence: _Optional[float] = ..., offset: _Optional[int] = ..., sequence: _Optional[_Union[_annotations_pb2.SequenceKey, _Mapping]] = ..., known_score: _Optional[str] = ...) -> None: ...

class ReadOutcomesResponse(_message.Message):
    __slots__ = ("score", "evaluator", "outcomes", "next_offset")
    SCORE_FIELD_NUMBER: _ClassVar[int]
    EVALUATOR_FIELD_NUMBER: _ClassVar[int]
    OUTCOMES_FIELD_NUMBER: _ClassVar[int]
    NEXT_OFFSET_FIELD_NUMBER: _ClassVar[int]
    score: str
    evaluator: str
    outcomes: _outcomes_pb2.OutcomeBatch
    next_offset: int
    def __init__(self, score: _Optional[str] = ..., evaluator: _Optional[str] = ..., outcomes: _Optional[_Union[_outcomes_pb2.OutcomeBatch, _Mapping]] = ..., next_offset: _Optional[int] = ...) -> None: ...

class AnswerFramesRequest(_message.Message):
    __slots__ = ("submission", "position", "detections", "detections_crc32")
    SUBMISSION_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    DETECTIONS_FIELD_NUMBER: _ClassVar[int]
    DETECTIONS_CRC32_FIELD_NUMBER: _ClassVar[int]
    submission: str
    position: int
    detections: _annotations_pb2.AnnotationBatch
    detections_crc32: int
    def __init__(self, submission: _Optional[str] = ..., position: _Optional[int] = ..., detections: _Optional[_Union[_annotations_pb2.AnnotationBatch, _Mapping]] = ..., detections_crc32: _Optional[int] = ...) -> None: ...

class AnswerFramesResponse(_message.Message):
    __slots__ = ("frame", "stored", "ended")
    FRAME_FIELD_NUMBER: _ClassVar[int]
    STORED_FIELD_NUMBER: _ClassVar[int]
    ENDED_FIELD_NUMBER: _ClassVar[int]
    frame: FrameNow
    stored: AnswerStored
    ended: ClockEnded
    def __init__(self, frame: _Optional[_Union[FrameNow, _Mapping]] = ..., stored: _Optional[_Union[AnswerStored, _Mapping]] = ..., ended: _Optional[_Union[ClockEnded, _Mapping]] = ...) -> None: ...

class FrameNow(_message.Message):
    __slots__ = ("position", "sequence", "frame_number", "due_s", "remaining_s", "repeated")
    POSITION_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    FRAME_NUMBER_FIELD_NUMBER: _ClassVar[int]
    DUE_S_FIELD_NUMBER: _ClassVar[int]
    REMAINING_S_FIELD_NUMBER: _ClassVar[int]
    REPEATED_FIELD_NUMBER: _ClassVar[int]
    position: int
    sequence: _annotations_pb2.SequenceKey
    frame_number: int
    due_s: float
    remaining_s: float
    repeated: bool
    def __init__(self, position: _Optional[int] = ..., sequence: _Optional[_Union[_annotations_pb2.SequenceKey, _Mapping]] = ..., frame_number: _Optional[int] = ..., due_s: _Optional[float] = ..., remaining_s: _Optional[float] = ..., repeated: bool = ...) -> None: ...

class AnswerStored(_message.Message):
    __slots__ = ("position", "in_time", "latency_s")
    POSITION_FIELD_NUMBER: _ClassVar[int]
    IN_TIME_FIELD_NUMBER: _ClassVar[int]
    LATENCY_S_FIELD_NUMBER: _ClassVar[int]
    position: int
    in_time: bool
    latency_s: float
    def __init__(self, position: _Optional[int] = ..., in_time: bool = ..., latency_s: _Optional[float] = ...) -> None: ...

class ClockEnded(_message.Message):
    __slots__ = ("online",)
    ONLINE_FIELD_NUMBER: _ClassVar[int]
    online: OnlineRecord
    def __init__(self, online: _Optional[_Union[OnlineRecord, _Mapping]] = ...) -> None: ...

class ReadDetectionsRequest(_message.Message):
    __slots__ = ("submission", "stream", "offset")
    SUBMISSION_FIELD_NUMBER: _ClassVar[int]
    STREAM_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    submission: str
    stream: str
    offset: int
    def __init__(self, submission: _Optional[str] = ..., stream: _Optional[str] = ..., offset: _Optional[int] = ...) -> None: ...

class ReadDetectionsResponse(_message.Message):
    __slots__ = ("stream", "detections", "next_offset")
    STREAM_FIELD_NUMBER: _ClassVar[int]
    DETECTIONS_FIELD_NUMBER: _ClassVar[int]
    NEXT_OFFSET_FIELD_NUMBER: _ClassVar[int]
    stream: str
    detections: _annotations_pb2.AnnotationBatch
    next_offset: int
    def __init__(self, stream: _Optional[str] = ..., detections: _Optional[_Union[_annotations_pb2.AnnotationBatch, _Mapping]] = ..., next_offset: _Optional[int] = ...) -> None: ...
