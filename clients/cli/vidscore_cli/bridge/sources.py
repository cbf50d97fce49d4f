"""Where messages come from: streams of bytes, sockets, datagrams."""

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

from vidscore_cli.bridge.going_on import ends_before, offset_and_mark, replaced
from vidscore_cli.bridge.spool import Spool
from vidscore_cli.output import say
from vidscore_evaluators.errors import InputError
from vidscore_evaluators.feeds.frames import Framing
from vidscore_evaluators.feeds.framing import Cutter
from vidscore_evaluators.names import counted

CHUNK_BYTES = 1 << 18
"""Most bytes that are taken from a stream at once."""

HEAD_BYTES = 1 << 16
"""First bytes of a file or pipe by which it is known again; those before the offset, if fewer."""

MOST_MESSAGES = 256
"""Most messages that are given at once."""

_DATAGRAM_BYTES = 1 << 16

MOST_CONNECTIONS = 256
"""Most connections of a socket at once; further ones wait until one has ended."""


Offset: TypeAlias = int | Mapping[str, int] | list[int]
"""Where to go on in a source: a number, one for each of its partitions, or a number and the
CRC-32 of the first bytes."""


class Message(NamedTuple):
    """A message of a source.

    Attributes:
        data: Its bytes.
        topic: What the source calls the place it came from; empty if it has no name.
        offset: Where to go on behind it; None if the source has no offsets.
        token: By which the source is told that the frames of it are durable.
        place: Where it stands, for people.
        fault: What is wrong with the stream that it would be of; then nothing more comes of that
            stream, and there are no bytes.
    """

    data: bytes
    topic: str = ""
    offset: Offset | None = None
    token: object = None
    place: str = ""
    fault: InputError | None = None


class Source(Protocol):
    """Where messages come from."""

    @property
    def offset_type(self) -> type | tuple[type, ...]:
        """Of the offsets behind which it can go on; `object` where it goes on behind none."""

    @property
    def gap(self) -> int:
        """Messages that were lost because neither server nor spool had room for them."""

    def open(self, offset: Any) -> None:
        """Begin to read behind an offset of this source; None for the beginning."""

    def read(self, timeout_s: float) -> Sequence[Message] | None:
        """Some messages; none where none came in time, None if no more will come."""

    def acknowledge(self, messages: Sequence[Message]) -> None:
        """Take note that all frames of these messages are durable, in their order."""

    def close(self) -> None:
        """Let go of the source."""


class ByteSource:
    """A file or standard input.

    Args:
        path: The file; ``-`` for standard input, which has to begin where it began before.
        framing: How messages are told apart.
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
        self._known = 0, 0  # how many of the first bytes, and their CRC-32

    def open(self, offset: int | list[int] | None) -> None:
        """Begin to read behind an offset.

        Raises:
            InputError: If it ends before, or does not begin as what was read before.
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
        """Where to go on behind an offset."""
        size = min(end, HEAD_BYTES)
        if size != self._known[0]:
            self._known = size, zlib.crc32(self._head[:size])
        return [end, self._known[1]]

    def read(self, timeout_s: float) -> Sequence[Message] | None:
        """Some messages; None at the end.

        Raises:
            InputError: If the rest cannot be read, which no one leaves out as a single message.
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
        """Whether there is something to read, or the end; a stream without a number always is."""
        try:
            return bool(select.select([self._stream], [], [], timeout_s)[0])
        except (OSError, ValueError):
            return True

    def acknowledge(self, messages: Sequence[Message]) -> None:
        """Nothing: the offset that is stored with the frames says it."""

    def close(self) -> None:
        """Close the file."""
        if self._path != "-":
            self._stream.close()


class _Stream(NamedTuple):
    """What comes over a connection, and who is at its other end."""

    cutter: Cutter
    place: str


class SocketSource:
    """Listens on a TCP or Unix socket; each connection is a stream of bytes.

    A program that writes faster than the server takes frames is made to wait by the socket. What
    is wrong with one connection ends that one.
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
                        path.unlink(missing_ok=True)  # nobody listens any more
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
        """All messages of one connection that have been taken from it."""
        for key, _ in self._selector.select(timeout_s):
            if key.data is None:
                self._accept()
                continue
            assert isinstance(key.fileobj, socket.socket)  # noqa: S101 - what was registered
            if messages := list(self._take(key.fileobj, key.data)):
                return messages
        return []

    def _accept(self) -> None:
        try:
            connection, peer = self._listener.accept()
        except (BlockingIOError, ConnectionError):  # it has ended before it was accepted
            return
        connection.setblocking(True)  # some systems let it take after the listener
        place = f"{peer[0]}:{peer[1]}" if isinstance(peer, tuple) else ""
        stream = _Stream(Cutter(self._framing), place)
        self._selector.register(connection, selectors.EVENT_READ, stream)
        self._connections += 1
        if self._connections < MOST_CONNECTIONS:
            return
        # Those that are not accepted keep what they write, and its writers wait.
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
        """Close a connection, which leaves room for another."""
        self._selector.unregister(connection)
        connection.close()
        self._connections -= 1
        if self._is_full:
            self._is_full = False
            self._selector.register(self._listener, selectors.EVENT_READ, None)

    def acknowledge(self, messages: Sequence[Message]) -> None:
        """Nothing: programs at the other end are told nothing."""

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
        address: Where to listen.
        spool: Where they wait.
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
        """Datagrams for which there was no room."""
        return self._spool.gap

    def open(self, offset: int | None) -> None:
        """Listen, and give what is spooled behind an offset.

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
            except OSError as error:  # that of a socket that is closed is no matter
                self._failed = error
                return
            if data:  # an empty datagram says nothing, and a socket that is closed gives one
                self._spool.append(data)

    def read(self, timeout_s: float) -> Sequence[Message] | None:
        """Some messages out of the spool.

        Raises:
            OSError: If no more datagrams can be received.
        """
        if self._failed is not None:
            raise self._failed
        return [Message(data, "", end) for data, end in self._spool.read(MOST_MESSAGES, timeout_s)]

    def acknowledge(self, messages: Sequence[Message]) -> None:
        """Let go of what is durable."""
        offset = messages[-1].offset
        assert isinstance(offset, int)  # noqa: S101 - what `read` has given
        self._spool.release(offset)

    def close(self) -> None:
        """Stop listening; what is spooled stays for the next run."""
        self._is_closing = True
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._listener.join(1.0)
        self._spool.close()


def _family(place: tuple[str, int]) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in place[0] else socket.AF_INET


def host_and_port(address: SplitResult) -> tuple[str, int]:
    """Where to listen or to connect.

    Raises:
        click.UsageError: If the address has no port.
    """
    port = address.port
    if port is None:
        raise click.UsageError(f"{address.geturl()}: a port is missing")
    return address.hostname or "127.0.0.1", port
