from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class ExportBackupRequest(_message.Message):
    __slots__ = ("benchmark",)
    BENCHMARK_FIELD_NUMBER: _ClassVar[int]
    benchmark: str
    def __init__(self, benchmark: _Optional[str] = ...) -> None: ...

class ExportBackupResponse(_message.Message):
    __slots__ = ("chunk",)
    CHUNK_FIELD_NUMBER: _ClassVar[int]
    chunk: bytes
    def __init__(self, chunk: _Optional[bytes] = ...) -> None: ...

class ImportBackupRequest(_message.Message):
    __slots__ = ("chunk",)
    CHUNK_FIELD_NUMBER: _ClassVar[int]
    chunk: bytes
    def __init__(self, chunk: _Optional[bytes] = ...) -> None: ...

class ImportBackupResponse(_message.Message):
    __slots__ = ("benchmark", "submission_count")
    BENCHMARK_FIELD_NUMBER: _ClassVar[int]
    SUBMISSION_COUNT_FIELD_NUMBER: _ClassVar[int]
    benchmark: str
    submission_count: int
    def __init__(self, benchmark: _Optional[str] = ..., submission_count: _Optional[int] = ...) -> None: ...
