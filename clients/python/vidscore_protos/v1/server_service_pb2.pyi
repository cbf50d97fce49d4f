import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from vidscore_protos.v1 import backup_pb2 as _backup_pb2
from vidscore_protos.v1 import submission_service_pb2 as _submission_service_pb2
from vidscore_protos.v1 import token_pb2 as _token_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class GetServerRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetServerResponse(_message.Message):
    __slots__ = ("server",)
    SERVER_FIELD_NUMBER: _ClassVar[int]
    server: Server
    def __init__(self, server: _Optional[_Union[Server, _Mapping]] = ...) -> None: ...

class GetQueueRequest(_message.Message):
    __slots__ = ("states", "page_size", "page_token")
    STATES_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    states: _containers.RepeatedScalarFieldContainer[_submission_service_pb2.SubmissionState]
    page_size: int
    page_token: str
    def __init__(self, states: _Optional[_Iterable[_Union[_submission_service_pb2.SubmissionState, str]]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class GetQueueResponse(_message.Message):
    __slots__ = ("submissions", "next_page_token", "counts")
    SUBMISSIONS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    COUNTS_FIELD_NUMBER: _ClassVar[int]
    submissions: _containers.RepeatedCompositeFieldContainer[_submission_service_pb2.Submission]
    next_page_token: str
    counts: _containers.RepeatedCompositeFieldContainer[StateCount]
    def __init__(self, submissions: _Optional[_Iterable[_Union[_submission_service_pb2.Submission, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., counts: _Optional[_Iterable[_Union[StateCount, _Mapping]]] = ...) -> None: ...

class StateCount(_message.Message):
    __slots__ = ("state", "count")
    STATE_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    state: _submission_service_pb2.SubmissionState
    count: int
    def __init__(self, state: _Optional[_Union[_submission_service_pb2.SubmissionState, str]] = ..., count: _Optional[int] = ...) -> None: ...

class Server(_message.Message):
    __slots__ = ("version", "oldest_client_version", "newest_client_version", "time", "hosting", "draining", "token", "store", "limits")
    class LimitsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    VERSION_FIELD_NUMBER: _ClassVar[int]
    OLDEST_CLIENT_VERSION_FIELD_NUMBER: _ClassVar[int]
    NEWEST_CLIENT_VERSION_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    HOSTING_FIELD_NUMBER: _ClassVar[int]
    DRAINING_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    STORE_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    version: str
    oldest_client_version: str
    newest_client_version: str
    time: _timestamp_pb2.Timestamp
    hosting: bool
    draining: bool
    token: _token_pb2.Token
    store: StoreInfo
    limits: _containers.ScalarMap[str, int]
    def __init__(self, version: _Optional[str] = ..., oldest_client_version: _Optional[str] = ..., newest_client_version: _Optional[str] = ..., time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., hosting: bool = ..., draining: bool = ..., token: _Optional[_Union[_token_pb2.Token, _Mapping]] = ..., store: _Optional[_Union[StoreInfo, _Mapping]] = ..., limits: _Optional[_Mapping[str, int]] = ...) -> None: ...

class StoreInfo(_message.Message):
    __slots__ = ("up", "kind", "size_bytes", "free_disk_bytes")
    UP_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    FREE_DISK_BYTES_FIELD_NUMBER: _ClassVar[int]
    up: bool
    kind: str
    size_bytes: int
    free_disk_bytes: int
    def __init__(self, up: bool = ..., kind: _Optional[str] = ..., size_bytes: _Optional[int] = ..., free_disk_bytes: _Optional[int] = ...) -> None: ...
