import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from vidscore_protos.v1 import backup_pb2 as _backup_pb2
from vidscore_protos.v1 import token_pb2 as _token_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
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

class Server(_message.Message):
    __slots__ = ("version", "oldest_client_version", "newest_client_version", "time", "hosting", "draining", "token", "store")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    OLDEST_CLIENT_VERSION_FIELD_NUMBER: _ClassVar[int]
    NEWEST_CLIENT_VERSION_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    HOSTING_FIELD_NUMBER: _ClassVar[int]
    DRAINING_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    STORE_FIELD_NUMBER: _ClassVar[int]
    version: str
    oldest_client_version: str
    newest_client_version: str
    time: _timestamp_pb2.Timestamp
    hosting: bool
    draining: bool
    token: _token_pb2.Token
    store: StoreInfo
    def __init__(self, version: _Optional[str] = ..., oldest_client_version: _Optional[str] = ..., newest_client_version: _Optional[str] = ..., time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., hosting: bool = ..., draining: bool = ..., token: _Optional[_Union[_token_pb2.Token, _Mapping]] = ..., store: _Optional[_Union[StoreInfo, _Mapping]] = ...) -> None: ...

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
