"""The file format of backups: a magic line, and compressed rows that end with their digest.

    the line `MAGIC`, then one zlib stream of entries;
    an entry: the length of its head, 4 bytes; the head, which is
    JSON, [table, {column: value}, {binary column: its length}]; the binary columns, in that order.

The first entry's table is ``backup``, and has the `BackupHeader`; the last one's is ``end``, and
has the number of rows and the SHA-256 of all entries before it. So a file that was truncated,
changed or extended is rejected before anything is restored.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

import orjson
from msgspec import Struct
from msgspec.structs import asdict

from vidscore_evaluators.errors import Fault
from vidscore_server.errors import BackupError
from vidscore_server.store.records import Row

MAGIC = b"vidscore backup 1\n"
FIRST, LAST = "backup", "end"

CHUNK_BYTES = 1 << 20
MAXIMUM_HEAD_BYTES = 64 << 20
MAXIMUM_BINARY_BYTES = 1 << 30


class BackupHeader(Struct, frozen=True):
    """Origin of a backup.

    Attributes:
        version: Version of the server.
        schema: Revision of the store's tables.
        time: Time of the backup, as ISO 8601.
        benchmark: Name of the benchmark; empty for the whole site.
    """

    version: str
    schema: str
    time: str
    benchmark: str


def write_backup(header: BackupHeader, rows: Iterable[Row]) -> Iterator[bytes]:
    """Yield the file in chunks."""
    packer, digest, count = zlib.compressobj(), hashlib.sha256(), 0
    pending = bytearray(MAGIC)
    for table, values in _framed(header, rows):
        entry = _entry(table, values)
        digest.update(entry)
        count += 1
        pending += packer.compress(entry)
        while len(pending) >= CHUNK_BYTES:
            yield bytes(pending[:CHUNK_BYTES])
            del pending[:CHUNK_BYTES]
    end = {"rows": count - 1, "sha256": digest.hexdigest()}
    pending += packer.compress(_entry(LAST, end)) + packer.flush()
    yield bytes(pending)


def _framed(header: BackupHeader, rows: Iterable[Row]) -> Iterator[Row]:
    yield FIRST, asdict(header)
    yield from rows


def _entry(table: str, values: dict[str, Any]) -> bytes:
    binary = {name: value for name, value in values.items() if isinstance(value, bytes)}
    plain = {name: value for name, value in values.items() if name not in binary}
    head = orjson.dumps([table, plain, {name: len(value) for name, value in binary.items()}])
    return b"".join([len(head).to_bytes(4, "big"), head, *binary.values()])


def check_backup(file: BinaryIO) -> BackupHeader:
    """Verify a file, and rewind it.

    Raises:
        BackupError: If it is damaged, or is not a backup.
    """
    for _ in read_rows(file):
        pass
    return read_header(file)


def read_header(file: BinaryIO) -> BackupHeader:
    """The header of a backup; rewinds the file.

    Raises:
        BackupError: If it is damaged, or is not a backup.
    """
    file.seek(0)
    try:
        _, values, _ = next(_Entries(file))
    finally:
        file.seek(0)
    try:
        header = BackupHeader(**values)
    except TypeError:
        raise _damaged("another first entry", "the origin of the backup") from None
    if not all(isinstance(value, str) for value in values.values()):
        raise _damaged("another first entry", "the origin of the backup")
    return header


def read_rows(file: BinaryIO) -> Iterator[Row]:
    """The rows of a backup.

    Raises:
        BackupError: If the file is damaged; some damage is found only after the last row.
    """
    file.seek(0)
    entries = _Entries(file)
    first, _, _ = next(entries)
    if first != FIRST:
        raise _damaged(f"table {first[:80]!r}", f"table {FIRST!r} first")
    digest = entries.digest.hexdigest()
    for count, (table, values, is_last) in enumerate(entries):
        if is_last:
            if values != {"rows": count, "sha256": digest}:
                raise _damaged("other rows", "those whose digest ends the file")
            return
        digest = entries.digest.hexdigest()
        yield table, values


class _Entries:
    """Iterates over the entries of a file; the last one must be its end."""

    def __init__(self, file: BinaryIO) -> None:
        magic = file.read(len(MAGIC))
        if magic != MAGIC:
            found = repr(magic[:40]).removeprefix("b")
            raise _damaged(found, f"a file that begins with {MAGIC.decode().strip()!r}")
        self.digest = hashlib.sha256()
        self._file = file
        self._unpacker = zlib.decompressobj()
        self._buffer = bytearray()
        self._ended = False

    def __iter__(self) -> _Entries:
        return self

    def __next__(self) -> tuple[str, dict[str, Any], bool]:
        if self._ended:
            raise _damaged("nothing", "an entry that ends the backup")
        size = self._take(4)
        head_bytes = int.from_bytes(size, "big")
        if head_bytes > MAXIMUM_HEAD_BYTES:
            raise _damaged(f"a head of {head_bytes} bytes", f"at most {MAXIMUM_HEAD_BYTES}")
        head = self._take(head_bytes)
        table, values, sizes = _read_head(head)
        binary = {name: self._take(sizes[name]) for name in sizes}
        if table == LAST:
            self._end()
        for part in (size, head, *binary.values()):
            self.digest.update(part)
        return table, {**values, **binary}, table == LAST

    def _end(self) -> None:
        self._ended = True
        if self._buffer or not self._drained():
            raise _damaged("something after its end", "the end of the file")

    def _drained(self) -> bool:
        more = self._unpacker.decompress(self._unpacker.unconsumed_tail, 1)
        rest = self._file.read(1)
        if rest and not self._unpacker.eof:
            more += self._unpacker.decompress(rest + self._file.read(CHUNK_BYTES), 1)
            rest = b""
        return not (more or rest or self._unpacker.unused_data) and self._unpacker.eof

    def _take(self, count: int) -> bytes:
        while len(self._buffer) < count:
            self._fill()
        taken = bytes(self._buffer[:count])
        del self._buffer[:count]
        return taken

    def _fill(self) -> None:
        data = self._unpacker.unconsumed_tail or self._file.read(CHUNK_BYTES)
        if not data or self._unpacker.eof:
            raise _damaged("the end of the file", "more of the backup")
        try:
            self._buffer += self._unpacker.decompress(data, CHUNK_BYTES)
        except zlib.error:
            raise _damaged("bytes that cannot be unpacked", "what was written") from None


def _read_head(head: bytes) -> tuple[str, dict[str, Any], dict[str, int]]:
    try:
        table, values, sizes = orjson.loads(head)
    except (ValueError, TypeError):
        raise _damaged("a head that cannot be read", "a table, values and sizes") from None
    of_kind = isinstance(table, str) and isinstance(values, dict) and isinstance(sizes, dict)
    if not of_kind or not all(isinstance(size, int) and size >= 0 for size in sizes.values()):
        raise _damaged("a head of another kind", "a table, values and sizes")
    if sum(sizes.values()) > MAXIMUM_BINARY_BYTES:
        raise _damaged(f"{sum(sizes.values())} bytes", f"at most {MAXIMUM_BINARY_BYTES} a row")
    return table, values, sizes


def _damaged(found: str, expected: str) -> BackupError:
    return BackupError([Fault(found, expected, field="backup")])
