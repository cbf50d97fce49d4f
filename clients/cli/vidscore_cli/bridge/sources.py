"""Sources of messages: streams of bytes, sockets, datagrams."""

from __future__ import annotations

import errno
import os
import select
import selectors
import socket
import sys
import threading
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, NamedTuple, Protocol, TypeAlias
from urllib.parse import SplitResult

import click

from vidscore_cli.bridge.spool import Spool
from vidscore_cli.output import say
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.feeds.frames import Framing
from vidscore_evaluators.feeds.framing import Cutter
from vidscore_evaluators.names import counted

CHUNK_BYTES = 1 << 18
"""Maximum bytes per read of a stream."""

HEAD_BYTES = 1 << 16
"""Number of first bytes, at most up to the offset, that identify a file or pipe."""

MOST_MESSAGES = 256
"""Maximum number of messages per read."""

_DATAGRAM_BYTES = 1 << 16

MOST_CONNECTIONS = 256
"""Maximum number of open connections; further ones wait until one has ended."""


PROBES = {"TCP_KEEPIDLE": 30, "TCP_KEEPALIVE": 30, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 3}
"""Options by which TCP notices within a minute that the other end is gone: seconds of silence
before its first question (some systems have the first of these names, some the second) and
between two, and their number."""


Offset: TypeAlias = int | Mapping[str, int] | list[int]
"""Position in a source: a number, one number per partition, or a number and the CRC-32 of the first
bytes."""


class Message(NamedTuple):
    """A message of a source.

    Attributes:
        data: Its bytes.
        topic: The source's name for its origin; empty if there is none.
        offset: Offset after it; None if the source has no offsets.
        token: Identifies it for the acknowledgement, once its frames are durable.
        place: Its place, for people.
        fault: Error of its stream; then there are no bytes, and this is the last message of the
            stream.
    """

    data: bytes
    topic: str = ""
    offset: Offset | None = None
    token: object = None
    place: str = ""
    fault: InputError | None = None


class Source(Protocol):
    """A source of messages."""

    @property
    def offset_type(self) -> type | tuple[type, ...]:
        """Type of its offsets; `object` if it has none."""

    @property
    def gap(self) -> int:
        """Number of messages that were lost because neither server nor spool had room."""

    def open(self, offset: Any) -> None:
        """Begin to read at an offset of this source; None for the beginning."""

    def read(self, timeout_s: float) -> Sequence[Message] | None:
        """Some messages; an empty list if none came in time, None if no more will come."""

    def acknowledge(self, messages: Sequence[Message]) -> None:
        """Note that all frames of these messages are durable; called in order of messages."""

    def close(self) -> None:
        """Close the source."""


class ByteSource:
    """A file or standard input.

    Args:
        path: The file; ``-`` for standard input, which must begin as it began before.
        framing: How messages are separated.
    """

    offset_type = (list, int)  # older bridges stored an int

    def __init__(self, path: str, framing: Framing) -> None:
        self.gap = 0
        self._path = path
        self._cutter = Cutter(framing)
        self._stream: BinaryIO = sys.stdin.buffer
        self._cuts: Iterator[Message] = iter(())
        self._ended = False
        self._failed: InputError | None = None
        self._head = b""
        self._known = 0, 0  # number of first bytes, and their CRC-32

    def open(self, offset: int | list[int] | None) -> None:
        """Begin to read at an offset.

        Raises:
            InputError: If it ends before the offset, or does not begin as it did before.
            OSError: If the file cannot be read.
        """
        begin, crc = offset_and_mark(offset)
        self._cutter.offset = begin
        if self._path != "-":
            self._stream = Path(self._path).open("rb")  # noqa: SIM115 - `close` closes it
        self._head = self._stream.read(min(begin, HEAD_BYTES))
        rest = begin - len(self._head)
        if rest and self._path != "-" and self._stream.seekable():
            rest -= min(rest, self._stream.seek(0, os.SEEK_END) - len(self._head))
            self._stream.seek(begin)
        while rest and (data := self._stream.read(min(rest, CHUNK_BYTES))):
            rest -= len(data)
        if rest:
            self.close()
            raise InputError([ends_before(self._path, counted(begin - rest, "byte"), begin)])
        if crc not in {None, self._behind(begin)[1]}:
            self.close()
            raise InputError([replaced(self._path, "other first bytes", counted(begin, "byte"))])

    def _behind(self, end: int) -> list[int]:
        """An offset with its CRC-32."""
        size = min(end, HEAD_BYTES)
        if size != self._known[0]:
            self._known = size, zlib.crc32(self._head[:size])
        return [end, self._known[1]]

    def read(self, timeout_s: float) -> Sequence[Message] | None:
        """Some messages; None at the end.

        Raises:
            InputError: If the rest cannot be read; it cannot be left out like a single message.
        """
        while True:
            messages = list(islice(self._cuts, MOST_MESSAGES))
            if messages or self._ended:
                return messages or None
            if self._failed is not None:
                raise self._failed
            if not self._is_ready(timeout_s):
                return []
            data: bytes = getattr(self._stream, "read1", self._stream.read)(CHUNK_BYTES)
            self._ended = not data
            self._head += data[: HEAD_BYTES - len(self._head)]
            self._cuts = self._messages(data)

    def _messages(self, data: bytes) -> Iterator[Message]:
        try:
            for cut in self._cutter.feed(data) if data else self._cutter.finish():
                yield Message(
                    cut.message, "", self._behind(cut.end), place=f"before byte {cut.end}"
                )
        except InputError as error:
            self._failed = error
            end = self._cutter.offset
            yield Message(b"", "", self._behind(end), place=f"behind byte {end}", fault=error)

    def _is_ready(self, timeout_s: float) -> bool:
        """Whether a read would not block; always true for a stream without a file descriptor."""
        try:
            return bool(select.select([self._stream], [], [], timeout_s)[0])
        except (OSError, ValueError):
            return True

    def acknowledge(self, messages: Sequence[Message]) -> None:
        """Do nothing: the offset is stored with the frames."""

    def close(self) -> None:
        """Close the file."""
        if self._path != "-":
            self._stream.close()


class _Stream(NamedTuple):
    """The data of a connection, and the address of its other end."""

    cutter: Cutter
    place: str


class SocketSource:
    """Listens on a TCP or Unix socket; each connection is a stream of bytes.

    If a program writes faster than the server accepts frames, the socket makes it wait. A fault in
    one connection ends only that one.
    """

    offset_type: ClassVar[type] = object

    def __init__(self, address: SplitResult, framing: Framing) -> None:
        self.gap = 0
        self._address = address
        self._framing = framing
        self._selector = selectors.DefaultSelector()
        self._listener: socket.socket
        self._connections = 0
        self._is_full = self._has_warned = False

    def open(self, offset: int | None) -> None:
        """Listen.

        Raises:
            OSError: If that is not possible.
        """
        del offset
        if self._address.scheme == "unix":
            path = Path(self._address.path)
            if path.is_socket():
                with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking:
                    if asking.connect_ex(str(path)) == errno.ECONNREFUSED:
                        path.unlink(missing_ok=True)  # it has no listener any more
            self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                self._listener.bind(str(path))
            except OSError as error:
                raise OSError(error.errno, error.strerror or str(error), str(path)) from None
        else:
            place = host_and_port(self._address)
            self._listener = socket.create_server(place, family=_family(place))
        self._listener.listen()
        self._listener.setblocking(False)  # a connection may end before it is accepted
        self._selector.register(self._listener, selectors.EVENT_READ, None)

    def read(self, timeout_s: float) -> Sequence[Message] | None:
        """All messages in the next data of one connection."""
        for key, _ in self._selector.select(timeout_s):
            if key.data is None:
                self._accept()
                continue
            assert isinstance(key.fileobj, socket.socket)  # noqa: S101 - it was registered
            if messages := list(self._take(key.fileobj, key.data)):
                return messages
        return []

    def _accept(self) -> None:
        try:
            connection, peer = self._listener.accept()
        except (BlockingIOError, ConnectionError):  # it has ended before it was accepted
            return
        connection.setblocking(True)  # on some systems it inherits the listener's mode
        if connection.family != socket.AF_UNIX:
            _probe(connection)
        place = f"{peer[0]}:{peer[1]}" if isinstance(peer, tuple) else ""
        stream = _Stream(Cutter(self._framing), place)
        self._selector.register(connection, selectors.EVENT_READ, stream)
        self._connections += 1
        if self._connections < MOST_CONNECTIONS:
            return
        # Connections that are not accepted buffer data, and their writers wait.
        self._selector.unregister(self._listener)
        self._is_full = True
        if not self._has_warned:
            self._has_warned = True
            text = f"{self._connections} connections are open, further ones wait until one ends"
            say(f"Warning: {self._address.geturl()}: {text}", err=True)

    def _take(self, connection: socket.socket, stream: _Stream) -> Iterator[Message]:
        try:
            data = connection.recv(CHUNK_BYTES)
        except OSError:  # it was cut off
            data = b""
        if not data:
            self._drop(connection)
        try:
            for cut in stream.cutter.feed(data) if data else stream.cutter.finish():
                yield Message(cut.message, place=stream.place)
        except InputError as error:
            if data:
                self._drop(connection)
            yield Message(b"", place=stream.place, fault=error)

    def _drop(self, connection: socket.socket) -> None:
        """Close a connection, which makes room for another."""
        self._selector.unregister(connection)
        connection.close()
        self._connections -= 1
        if self._is_full:
            self._is_full = False
            self._selector.register(self._listener, selectors.EVENT_READ, None)

    def acknowledge(self, messages: Sequence[Message]) -> None:
        """Do nothing: programs at the other end expect no answer."""

    def close(self) -> None:
        """Close all connections."""
        for key in list((self._selector.get_map() or {}).values()):
            assert isinstance(key.fileobj, socket.socket)  # noqa: S101 - likewise
            key.fileobj.close()
        self._listener.close()
        self._selector.close()


class DatagramSource:
    """Datagrams of UDP, each a message. They cannot wait, so they go through a spool file.

    Args:
        address: The address to listen at.
        spool: The spool file.
    """

    offset_type: ClassVar[type] = int

    def __init__(self, address: SplitResult, spool: Spool) -> None:
        self._address = address
        self._spool = spool
        self._is_closing = False
        self._failed: OSError | None = None
        self._socket = socket.socket(_family(host_and_port(address)), socket.SOCK_DGRAM)
        self._listener = threading.Thread(target=self._listen, name="bridge-udp", daemon=True)

    @property
    def gap(self) -> int:
        """Number of datagrams that were lost for lack of room."""
        return self._spool.gap

    def open(self, offset: int | None) -> None:
        """Listen, and return spooled datagrams from an offset on.

        Raises:
            OSError: If that is not possible.
        """
        self._spool.open(offset)
        try:
            self._socket.bind(host_and_port(self._address))
        except OSError:
            self._spool.close()
            raise
        self._listener.start()

    def _listen(self) -> None:
        while not self._is_closing:
            try:
                data = self._socket.recv(_DATAGRAM_BYTES)
            except OSError as error:  # a closed socket raises one, too, which does not matter
                self._failed = error
                return
            if data:  # empty datagrams have no message, and a closed socket returns one
                self._spool.append(data)

    def read(self, timeout_s: float) -> Sequence[Message] | None:
        """Some messages from the spool.

        Raises:
            OSError: If no more datagrams can be received.
        """
        if self._failed is not None:
            raise self._failed
        return [Message(data, "", end) for data, end in self._spool.read(MOST_MESSAGES, timeout_s)]

    def acknowledge(self, messages: Sequence[Message]) -> None:
        """Release the durable messages."""
        offset = messages[-1].offset
        assert isinstance(offset, int)  # noqa: S101 - `read` returned it
        self._spool.release(offset)

    def close(self) -> None:
        """Stop listening; spooled datagrams stay for the next run."""
        self._is_closing = True
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._listener.join(1.0)
        self._spool.close()


def _probe(connection: socket.socket) -> None:
    """Let the system end a connection whose other end is gone without a word."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in PROBES.items():
        option = getattr(socket, name, None)
        if option is not None:
            connection.setsockopt(socket.IPPROTO_TCP, option, value)


def _family(place: tuple[str, int]) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in place[0] else socket.AF_INET


def host_and_port(address: SplitResult) -> tuple[str, int]:
    """Host and port to listen at or to connect to.

    Raises:
        click.UsageError: If the address has no port.
    """
    port = address.port
    if port is None:
        raise click.UsageError(f"{address.geturl()}: a port is missing")
    return address.hostname or "127.0.0.1", port


def offset_and_mark(offset: int | list[int] | None) -> tuple[int, int | None]:
    """An offset, and the CRC-32 that identifies the source; None from older bridges."""
    if isinstance(offset, list):
        return offset[0], offset[1]
    return offset or 0, None


def ends_before(path: str, found: str, begin: int) -> Fault:
    """The fault of a source that now ends before the part that was read."""
    return Fault(found, f"at least the {begin} read before", source=path)


def replaced(path: str, found: str, begin: str) -> Fault:
    """The fault of a source that begins differently from the one read before."""
    expected = f"the source that begins with the {begin} read before"
    return Fault(found, expected, source=path, advice="use another submission for another source")
