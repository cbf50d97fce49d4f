"""A file of bounded size for messages that cannot wait at their source."""

from __future__ import annotations

import errno
import os
import struct
import threading
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from vidscore_cli.output import say
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.names import counted

_HEADER = struct.Struct(">4sIQ")
_MAGIC = b"VSP2"
_OLD_HEADER = struct.Struct(">8sQ")
_OLD_MAGIC = b"VSPOOL01"
"""Header of version 0.2.0: it has the same length, but no checksum."""

_RECORD = struct.Struct(">II")
_CHUNK_BYTES = 1 << 20
_LEFT_OUT = 0xFFFF_FFFF
"""A checksum XOR this marks a damaged message that is skipped."""


class _Damage(NamedTuple):
    """Bytes of a spool that are not a whole message.

    Attributes:
        begin: Offset of the first byte.
        next: Offset of the next message; None if nothing after them can be read.
        end: Offset after the last byte.
    """

    begin: int
    next: int | None
    end: int


class Spool:
    """Messages in order of arrival, each at an offset that is never used again.

    Messages take up space until they are released. When all are released, or the file is full and
    half of it is released, the file is rewritten with the rest. No message is kept in memory. Only
    one process uses the file at a time.

    Appended messages outlive the process, but are not synced to the disk: if the machine fails, the
    last seconds are lost, of messages that their transport might have lost as well. The rest is
    complete, and keeps its offsets. Damaged messages are left out, reported and counted, and a copy
    of the damaged file is kept.
    """

    def __init__(self, path: Path, maximum_bytes: int) -> None:
        self.gap = 0
        self._path = path
        self._maximum_bytes = maximum_bytes
        self._base = 0  # offset of the file's first message
        self._read_at = 0  # offset of the first message that was not read
        self._released = 0
        self._write_at = 0
        self._has_header = False  # the header is written with the first message
        self._has_warned = False
        self._changed = threading.Condition()
        self._file = -1

    def open(self, offset: int | None) -> None:
        """Begin to read messages at an offset.

        Raises:
            InputError: If the file is not a spool, or another bridge uses it.
            OSError: If the file cannot be opened.
        """
        self._file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            self._lock(self._file)
            if not os.path.samestat(os.fstat(self._file), self._path.stat()):
                raise self._in_use()  # another bridge has just replaced the file
            base = self._stored_base()
            self._has_header = base is not None
            self._base = self._write_at = (offset or 0) if base is None else base
            is_message = self._scan(offset)
        except BaseException:
            self.close()
            raise
        if offset is not None and offset > self._write_at:
            self._restart(offset)
        # If no message begins at the offset, read all: repeated frames count once.
        begin = self._base if offset is None or not is_message else max(self._base, offset)
        self._released = self._read_at = begin

    def _lock(self, file: int) -> None:
        """Lock the file against other processes; the lock ends with this process."""
        import fcntl  # none on Windows, where the bridge has its other sources

        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise self._in_use() from None

    def _in_use(self) -> Exception:
        expected = "a separate file for each source"
        return _refused(self._path, "a spool that a bridge is using", expected, "name another file")

    def _stored_base(self) -> int | None:
        """Offset of the first message, from the header; None if the file is empty."""
        head = os.pread(self._file, _HEADER.size, 0)
        if not head:
            return None
        if len(head) == _OLD_HEADER.size and head.startswith(_OLD_MAGIC):
            return int(_OLD_HEADER.unpack(head)[1])
        advice = "name another file, or move this one away"
        if not head.startswith(_MAGIC):
            expected = "a new or empty file, or one that a bridge has spooled into"
            raise _refused(self._path, "a file that is not a spool", expected, advice)
        if len(head) < _HEADER.size or crc32(head[-8:]) != _HEADER.unpack(head)[1]:
            found = "a spool whose first 16 bytes are damaged"
            raise _refused(self._path, found, "a complete one", advice)
        return int(_HEADER.unpack(head)[2])

    def _header(self, base: int) -> bytes:
        return _HEADER.pack(_MAGIC, crc32(base.to_bytes(8, "big")), base)

    # --- what a process has left -----------------------------------------------------------------

    def _scan(self, offset: int | None) -> bool:
        """Find the end of the messages, and leave out damaged ones.

        Returns:
            Whether a message begins or ends at the offset.
        """
        end = self._base + max(0, os.fstat(self._file).st_size - _HEADER.size)
        damages: list[_Damage] = []
        is_message = offset is not None and not self._base < offset < end
        while self._write_at < end:
            is_message = is_message or self._write_at == offset
            found = self._record_at(self._write_at)
            if found is None:
                behind = self._behind_damage(self._write_at, offset, end)
                damages.append(_Damage(self._write_at, behind, end if behind is None else behind))
                if behind is None:
                    break
                self._write_at = behind
            else:
                self._write_at = found[1]
        if damages:
            self._leave_out(damages, offset or 0)
        return is_message

    def _behind_damage(self, damaged: int, offset: int | None, end: int) -> int | None:
        """Offset of the next message after a damaged one; None if there is no sure one."""
        candidates = [] if offset is None or offset <= damaged else [offset]
        head = os.pread(self._file, _RECORD.size, self._place(damaged))
        if len(head) == _RECORD.size:
            candidates.insert(0, damaged + _RECORD.size + _RECORD.unpack(head)[0])
        for found in candidates:
            if found == end or (found < end and self._record_at(found) is not None):
                return found
        return None

    def _leave_out(self, damages: list[_Damage], durable: int) -> None:
        """Mark damaged messages, so that they are skipped now and later, and report them.

        Raises:
            InputError: If there is no room for a copy of the damaged file.
        """
        kept = _keep_copy(self._path, self._file)
        for damage in damages:
            place = self._place(damage.begin)
            if damage.next is None:
                os.ftruncate(self._file, place)
                continue
            length = damage.end - damage.begin - _RECORD.size
            data = os.pread(self._file, length, place + _RECORD.size)
            mark = _RECORD.pack(length, crc32(data) ^ _LEFT_OUT)
            os.pwrite(self._file, mark, place)
        lost = [damage for damage in damages if damage.end > durable]
        self.gap += len(lost)
        byte_count = sum(damage.end - damage.begin for damage in lost)
        text = f"{counted(byte_count, 'byte')} of messages that were not durable, left out"
        first = self._place(damages[0].begin)
        say(f"Warning: {self._path}: damaged at byte {first}: {text}", err=True)
        say(f"Warning: the damaged file is kept as {kept}", err=True)

    def _record_at(self, offset: int) -> tuple[bytes | None, int] | None:
        """The message at an offset, None for a marked one, and the offset after it.

        Returns None if there is no whole message.
        """
        head = os.pread(self._file, _RECORD.size, self._place(offset))
        if len(head) < _RECORD.size:
            return None
        length, check = _RECORD.unpack(head)
        if length > self._maximum_bytes:
            return None
        data = os.pread(self._file, length, self._place(offset) + _RECORD.size)
        if len(data) < length or check not in (crc32(data), crc32(data) ^ _LEFT_OUT):
            return None
        behind = offset + _RECORD.size + length
        return (data if check == crc32(data) else None), behind

    def _place(self, offset: int) -> int:
        return _HEADER.size + offset - self._base

    # --- what comes and goes ---------------------------------------------------------------------

    def append(self, data: bytes) -> None:
        """Store a message; if there is no room, count it as lost."""
        with self._changed:
            size = _RECORD.size + len(data)
            if self._place(self._write_at) + size > self._maximum_bytes:
                self._compact()
            if self._place(self._write_at) + size > self._maximum_bytes:
                self._lose(f"{self._maximum_bytes} bytes are full")
                return
            if self._write(_RECORD.pack(len(data), crc32(data)) + data):
                self._write_at += size
                self._changed.notify()

    def _write(self, record: bytes) -> bool:
        """Write a message; return whether it was written completely."""
        place = self._place(self._write_at) if self._has_header else 0
        try:
            _write_all(self._file, record if place else self._header(self._base) + record, place)
        except OSError as error:
            with suppress(OSError):  # an incomplete message would look like damage
                os.ftruncate(self._file, place)
            self._lose(error.strerror or str(error))
            return False
        self._has_header = True
        return True

    def _lose(self, reason: str) -> None:
        self.gap += 1
        if not self._has_warned:
            self._has_warned = True
            text = "messages are lost until there is room"
            say(f"Warning: {self._path}: {reason}: {text}", err=True)

    def read(self, most: int, timeout_s: float) -> list[tuple[bytes, int]]:
        """Unread messages, each with the offset after it.

        Raises:
            InputError: If a written message is damaged.
        """
        given: list[tuple[bytes, int]] = []
        with self._changed:
            self._changed.wait_for(lambda: self._read_at < self._write_at, timeout_s)
            while len(given) < most and self._read_at < self._write_at:
                found = self._record_at(self._read_at)
                if found is None:
                    damaged = f"damage at byte {self._place(self._read_at)} since it was written"
                    expected = "a disk that keeps it, and no other program that writes into it"
                    raise _refused(self._path, damaged, expected, "start the bridge again")
                data, self._read_at = found
                if data is not None:
                    given.append((data, self._read_at))
        return given

    def release(self, offset: int) -> None:
        """Release the messages before an offset."""
        with self._changed:
            self._released = max(self._released, offset)
            if self._released == self._write_at:
                self._restart(self._released)

    def _compact(self) -> None:
        """Rewrite a full file from the first message that is not released, if the disk has room."""
        left = self._write_at - self._released
        if 2 * left > self._maximum_bytes:
            return
        data = os.pread(self._file, left, self._place(self._released))
        fresh = self._path.with_name(self._path.name + ".new")
        file = -1
        try:
            file = os.open(fresh, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
            self._lock(file)
            _write_all(file, self._header(self._released) + data, 0)
            os.fsync(file)  # a failing machine could else leave an empty new file
            fresh.replace(self._path)  # a killed process leaves either file
        except OSError:
            if file >= 0:
                os.close(file)
            with suppress(OSError):
                fresh.unlink()
            return
        os.close(self._file)
        self._file, self._base = file, self._released

    def _restart(self, offset: int) -> None:
        """Release all messages."""
        os.ftruncate(self._file, 0)
        self._has_header = False
        self._base = self._released = self._read_at = self._write_at = offset

    def close(self) -> None:
        """Close the file; its messages stay."""
        with self._changed:
            if self._file >= 0:
                os.close(self._file)
                self._file = -1


def _write_all(file: int, data: bytes, place: int) -> None:
    """Write bytes; an almost full disk may take only a part at first.

    Raises:
        OSError: If not all can be written.
    """
    while data:
        count = os.pwrite(file, data, place)
        if not count:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        data, place = data[count:], place + count


def _refused(path: Path, found: str, expected: str, advice: str) -> InputError:
    """The error of a file that cannot be a spool."""
    return InputError([Fault(found, expected, source=str(path), advice=advice)])


def _keep_copy(path: Path, file: int) -> Path:
    """Copy a damaged file beside itself, and return the path of the copy.

    Raises:
        InputError: If that is not possible.
    """
    names = (path.with_name(f"{path.name}.damaged-{number}") for number in count(1))
    kept = next(name for name in names if not name.exists())
    try:
        kept.touch(0o600, exist_ok=False)
        with kept.open("wb") as copy:
            place = 0
            while data := os.pread(file, _CHUNK_BYTES, place):
                copy.write(data)
                place += len(data)
    except OSError as error:
        with suppress(OSError):
            kept.unlink()
        found = f"damage, and no way to keep the file as {kept.name} ({error.strerror})"
        expected = "a folder with room for a copy"
        raise _refused(path, found, expected, "make room, or move the file away") from None
    return kept
