"""A file of bounded size in which messages wait that cannot wait at their source."""

from __future__ import annotations

import os
import struct
import threading
from pathlib import Path
from zlib import crc32

_HEADER = struct.Struct(">8sQ")
_MAGIC = b"VSPOOL01"
_RECORD = struct.Struct(">II")


class Spool:
    """Messages in the order in which they came, each at an offset that no other one ever has.

    Room is taken by messages that are not released. When all are released, or the file is full and
    half of it is released, the file begins anew with what is left. A file that a killed process
    has left is read up to its last whole message. Nothing of a message is kept in memory.

    What was appended outlives its process. It is not written through to the disk: where the machine
    fails, the last seconds are lost, of messages whose transport might have lost them too. What is
    left then is whole, and no offset of it stands for another message.

    Args:
        path: The file.
        maximum_bytes: Its size at most.
    """

    def __init__(self, path: Path, maximum_bytes: int) -> None:
        self.gap = 0
        self._path = path
        self._maximum_bytes = maximum_bytes
        self._base = 0  # offset of the file's first message
        self._read_at = 0  # offset of the first message that was not given
        self._released = 0
        self._write_at = 0
        self._changed = threading.Condition()
        self._file = -1

    def open(self, offset: int | None) -> None:
        """Begin to give messages behind an offset.

        Raises:
            OSError: If the file cannot be opened.
        """
        self._file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        head = os.pread(self._file, _HEADER.size, 0)
        if len(head) == _HEADER.size and head.startswith(_MAGIC):
            self._base = _HEADER.unpack(head)[1]
        else:
            self._base = offset or 0
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, _HEADER.pack(_MAGIC, self._base), 0)
        self._released = self._write_at = self._base
        self._scan()
        if offset is not None and offset > self._write_at:
            self._restart(offset)
        self._released = self._read_at = max(self._base, offset or 0)

    def _scan(self) -> None:
        """Find where the messages that are there end, and cut off one that is not whole."""
        while (found := self._message_at(self._write_at)) is not None:
            self._write_at = found[1]
        os.ftruncate(self._file, self._place(self._write_at))

    def _message_at(self, offset: int) -> tuple[bytes, int] | None:
        """The message at an offset and the offset behind it; None where no whole one is there."""
        head = os.pread(self._file, _RECORD.size, self._place(offset))
        if len(head) < _RECORD.size:
            return None
        length, check = _RECORD.unpack(head)
        if length > self._maximum_bytes:
            return None
        data = os.pread(self._file, length, self._place(offset) + _RECORD.size)
        if len(data) < length or crc32(data) != check:
            return None
        return data, offset + _RECORD.size + length

    def _place(self, offset: int) -> int:
        return _HEADER.size + offset - self._base

    def append(self, data: bytes) -> None:
        """Keep a message; where there is no room it is counted as lost."""
        with self._changed:
            size = _RECORD.size + len(data)
            if self._place(self._write_at) + size > self._maximum_bytes:
                self._compact()
            if self._place(self._write_at) + size > self._maximum_bytes:
                self.gap += 1
                return
            record = _RECORD.pack(len(data), crc32(data)) + data
            os.pwrite(self._file, record, self._place(self._write_at))
            self._write_at += size
            self._changed.notify()

    def read(self, most: int, timeout_s: float) -> list[tuple[bytes, int]]:
        """Messages that were not given yet, each with the offset behind it."""
        given: list[tuple[bytes, int]] = []
        with self._changed:
            self._changed.wait_for(lambda: self._read_at < self._write_at, timeout_s)
            while len(given) < most and self._read_at < self._write_at:
                found = self._message_at(self._read_at)
                assert found is not None  # noqa: S101 - `append` has written it
                given.append(found)
                self._read_at = found[1]
        return given

    def release(self, offset: int) -> None:
        """Let go of the messages before an offset."""
        with self._changed:
            self._released = max(self._released, offset)
            if self._released == self._write_at:
                self._restart(self._released)

    def _compact(self) -> None:
        """Let a full file begin with the first message that is not released."""
        left = self._write_at - self._released
        if 2 * left > self._maximum_bytes:
            return
        data = os.pread(self._file, left, self._place(self._released))
        fresh = self._path.with_name(self._path.name + ".new")
        file = os.open(fresh, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        os.pwrite(file, _HEADER.pack(_MAGIC, self._released) + data, 0)
        os.fsync(file)  # else a machine that fails may leave the new name and none of the messages
        fresh.replace(self._path)  # a killed process leaves the one or the other
        os.close(self._file)
        self._file, self._base = file, self._released

    def _restart(self, offset: int) -> None:
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, _HEADER.pack(_MAGIC, offset), 0)
        self._base = self._released = self._read_at = self._write_at = offset

    def close(self) -> None:
        """Close the file; what is in it stays."""
        with self._changed:
            if self._file >= 0:
                os.close(self._file)
                self._file = -1
