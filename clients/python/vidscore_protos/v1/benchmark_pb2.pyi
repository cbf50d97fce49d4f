import datetime

from google.protobuf import duration_pb2 as _duration_pb2
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

class FrameSource(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FRAME_SOURCE_UNSPECIFIED: _ClassVar[FrameSource]
    FRAME_SOURCE_PARTICIPANT: _ClassVar[FrameSource]
    FRAME_SOURCE_ORGANISER: _ClassVar[FrameSource]

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
    VISIBILITY_BOOTSTRAP: _ClassVar[Visibility]

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

class OutcomesShown(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    OUTCOMES_SHOWN_UNSPECIFIED: _ClassVar[OutcomesShown]
    OUTCOMES_SHOWN_NONE: _ClassVar[OutcomesShown]
    OUTCOMES_SHOWN_OWN: _ClassVar[OutcomesShown]
FRAME_SOURCE_UNSPECIFIED: FrameSource
FRAME_SOURCE_PARTICIPANT: FrameSource
FRAME_SOURCE_ORGANISER: FrameSource
NAME_KIND_UNSPECIFIED: NameKind
NAME_KIND_SEQUENCES: NameKind
NAME_KIND_LABELS: NameKind
NAME_KIND_FRAME_COUNTS: NameKind
VISIBILITY_UNSPECIFIED: Visibility
VISIBILITY_LADDER: Visibility
VISIBILITY_FINAL: Visibility
VISIBILITY_LIVE: Visibility
VISIBILITY_BOOTSTRAP: Visibility
QUIET_ACTION_UNSPECIFIED: QuietAction
QUIET_ACTION_SEAL: QuietAction
QUIET_ACTION_CANCEL: QuietAction
SELECTION_UNSPECIFIED: Selection
SELECTION_BEST: Selection
SELECTION_LATEST: Selection
RESCORE_UNSPECIFIED: Rescore
RESCORE_AUTOMATIC: Rescore
RESCORE_REVIEW: Rescore
OUTCOMES_SHOWN_UNSPECIFIED: OutcomesShown
OUTCOMES_SHOWN_NONE: OutcomesShown
OUTCOMES_SHOWN_OWN: OutcomesShown

class Benchmark(_message.Message):
    __slots__ = ("name", "specification", "truth_geometry", "detection_geometry", "open_time", "close_time", "policy", "create_time", "update_time", "truth_revision", "truth_digest", "public_names", "submissions_to_rescore", "truth_complete", "submission_budget", "warnings", "etag", "ladder_step_in_force", "private_sequence_count", "description", "team_count", "live")
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
    ETAG_FIELD_NUMBER: _ClassVar[int]
    LADDER_STEP_IN_FORCE_FIELD_NUMBER: _ClassVar[int]
    PRIVATE_SEQUENCE_COUNT_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    TEAM_COUNT_FIELD_NUMBER: _ClassVar[int]
    LIVE_FIELD_NUMBER: _ClassVar[int]
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
    etag: str
    ladder_step_in_force: float
    private_sequence_count: int
    description: str
    team_count: int
    live: LiveClock
    def __init__(self, name: _Optional[str] = ..., specification: _Optional[_Union[_specification_pb2.BenchmarkSpec, _Mapping]] = ..., truth_geometry: _Optional[_Union[_annotations_pb2.Geometry, str]] = ..., detection_geometry: _Optional[_Union[_annotations_pb2.Geometry, str]] = ..., open_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., close_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., policy: _Optional[_Union[Policy, _Mapping]] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., update_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., truth_revision: _Optional[int] = ..., truth_digest: _Optional[str] = ..., public_names: _Optional[_Union[PublicNames, _Mapping]] = ..., submissions_to_rescore: _Optional[int] = ..., truth_complete: bool = ..., submission_budget: _Optional[int] = ..., warnings: _Optional[_Iterable[str]] = ..., etag: _Optional[str] = ..., ladder_step_in_force: _Optional[float] = ..., private_sequence_count: _Optional[int] = ..., description: _Optional[str] = ..., team_count: _Optional[int] = ..., live: _Optional[_Union[LiveClock, _Mapping]] = ...) -> None: ...

class LiveClock(_message.Message):
    __slots__ = ("frame_rate", "frames", "sequences")
    FRAME_RATE_FIELD_NUMBER: _ClassVar[int]
    FRAMES_FIELD_NUMBER: _ClassVar[int]
    SEQUENCES_FIELD_NUMBER: _ClassVar[int]
    frame_rate: float
    frames: FrameSource
    sequences: _containers.RepeatedCompositeFieldContainer[SequenceClock]
    def __init__(self, frame_rate: _Optional[float] = ..., frames: _Optional[_Union[FrameSource, str]] = ..., sequences: _Optional[_Iterable[_Union[SequenceClock, _Mapping]]] = ...) -> None: ...

class SequenceClock(_message.Message):
    __slots__ = ("domain", "name", "frame_rate", "frame_times_s")
    DOMAIN_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    FRAME_RATE_FIELD_NUMBER: _ClassVar[int]
    FRAME_TIMES_S_FIELD_NUMBER: _ClassVar[int]
    domain: str
    name: str
    frame_rate: float
    frame_times_s: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, domain: _Optional[str] = ..., name: _Optional[str] = ..., frame_rate: _Optional[float] = ..., frame_times_s: _Optional[_Iterable[float]] = ...) -> None: ...

class PublicNames(_message.Message):
    __slots__ = ("kinds",)
    KINDS_FIELD_NUMBER: _ClassVar[int]
    kinds: _containers.RepeatedScalarFieldContainer[NameKind]
    def __init__(self, kinds: _Optional[_Iterable[_Union[NameKind, str]]] = ...) -> None: ...

class Policy(_message.Message):
    __slots__ = ("visibility", "ladder_step", "released_measures", "minimum_frames", "quiet_timeout", "quiet_action", "truth_timeout", "submissions_per_day", "submissions_in_all", "ranking_measure", "selection", "earlier_first", "public_board", "rescore", "unlimited_submissions", "outcomes", "private_sequences", "private_share", "final_submissions", "public_board_web", "release_curves")
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
    OUTCOMES_FIELD_NUMBER: _ClassVar[int]
    PRIVATE_SEQUENCES_FIELD_NUMBER: _ClassVar[int]
    PRIVATE_SHARE_FIELD_NUMBER: _ClassVar[int]
    FINAL_SUBMISSIONS_FIELD_NUMBER: _ClassVar[int]
    PUBLIC_BOARD_WEB_FIELD_NUMBER: _ClassVar[int]
    RELEASE_CURVES_FIELD_NUMBER: _ClassVar[int]
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
    outcomes: OutcomesShown
    private_sequences: _containers.RepeatedScalarFieldContainer[str]
    private_share: float
    final_submissions: int
    public_board_web: bool
    release_curves: bool
    def __init__(self, visibility: _Optional[_Union[Visibility, str]] = ..., ladder_step: _Optional[float] = ..., released_measures: _Optional[_Iterable[str]] = ..., minimum_frames: _Optional[int] = ..., quiet_timeout: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., quiet_action: _Optional[_Union[QuietAction, str]] = ..., truth_timeout: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., submissions_per_day: _Optional[int] = ..., submissions_in_all: _Optional[int] = ..., ranking_measure: _Optional[str] = ..., selection: _Optional[_Union[Selection, str]] = ..., earlier_first: bool = ..., public_board: bool = ..., rescore: _Optional[_Union[Rescore, str]] = ..., unlimited_submissions: bool = ..., outcomes: _Optional[_Union[OutcomesShown, str]] = ..., private_sequences: _Optional[_Iterable[str]] = ..., private_share: _Optional[float] = ..., final_submissions: _Optional[int] = ..., public_board_web: bool = ..., release_curves: bool = ...) -> None: ...
