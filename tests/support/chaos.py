"""A TCP proxy that breaks the network as a test asks.

    with ChaosProxy(server.address) as proxy:
        client = connect(proxy.address)
        proxy.cut_after(100, Direction.TO_CLIENT)

It runs on its own thread and event loop, so synchronous tests and asyncio tests use it alike.
Every method returns at once, with the change in effect.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
import threading
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass, field
from enum import Enum
from types import TracebackType
from typing import Any, Self, TypeVar

Result = TypeVar("Result")

PIECE_BYTES = 16_384
"""Maximum number of bytes forwarded at once."""

TICK_S = 0.01
"""Interval at which a delayed piece checks whether the test has lifted the delay."""

CONTROL_TIMEOUT_S = 60.0

ACCEPTING_ROUNDS = 10
"""Event loop rounds after which a newly accepted connection is certain to have its task."""

RESET_ON_CLOSE = struct.pack("ii", 1, 0)
"""SO_LINGER: closing sends RST and drops unsent data."""


class Direction(Enum):
    """The direction in which bytes go."""

    TO_SERVER = "to the server"
    TO_CLIENT = "to the client"


BOTH = (Direction.TO_SERVER, Direction.TO_CLIENT)


@dataclass
class _Way:
    """The faults for bytes of one direction, over all connections together."""

    delay_s: float = 0.0
    bytes_per_s: float | None = None
    cut_after: int | None = None
    cut_with_reset: bool = False
    silent_after: int | None = None
    passed: int = 0
    to_flip: list[bytes] = field(default_factory=list)

    @property
    def piece_bytes(self) -> int:
        """Maximum number of bytes of the next piece."""
        if self.bytes_per_s is None:
            return PIECE_BYTES
        return max(1, min(PIECE_BYTES, int(self.bytes_per_s * TICK_S)))

    def flip(self, piece: bytes) -> bytes:
        """Flip the lowest bit of each byte string in the piece that is to be flipped."""
        for wanted in [wanted for wanted in self.to_flip if wanted in piece]:
            self.to_flip.remove(wanted)
            piece = piece.replace(wanted, bytes([wanted[0] ^ 1]) + wanted[1:], 1)
        return piece


@dataclass(eq=False)
class _Connection:
    """A client's connection, and the matching connection to the server."""

    writers: dict[Direction, asyncio.StreamWriter] = field(default_factory=dict)
    deaf: set[Direction] = field(default_factory=set)

    def half_close(self, direction: Direction) -> None:
        """End one direction for its reader, and drop later bytes."""
        self.deaf.add(direction)
        with contextlib.suppress(OSError):
            self.writers[direction].write_eof()

    def silence(self) -> None:
        """Drop later bytes of both directions, and also their ends."""
        self.deaf.update(BOTH)

    def close(self, *, reset: bool) -> None:
        for writer in self.writers.values():
            if reset:
                connected: socket.socket = writer.get_extra_info("socket")
                with contextlib.suppress(OSError):
                    connected.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
                writer.transport.abort()
            else:
                writer.close()


class ChaosProxy:
    """A proxy between a client and a server.

    Args:
        target: ``host:port`` of the server.

    Attributes:
        address: ``host:port`` for the client; it never changes.
    """

    def __init__(self, target: str) -> None:
        """Reserve a port; nothing listens on it before the proxy is entered."""
        self._target = _parsed(target)
        # Bound but never listening: it keeps the port while connections are refused.
        self._holder = _bound(0)
        self._port: int = self._holder.getsockname()[1]
        self.address = f"127.0.0.1:{self._port}"
        self._ways = {direction: _Way() for direction in Direction}
        self._connections: set[_Connection] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        # Keep a reference until the end: nothing else refers to a transport that paused reading,
        # and it would never be closed.
        self._transports: set[asyncio.WriteTransport] = set()
        self._made = 0
        self._broken = 0
        self._hanging_up_with_reset: bool | None = None
        self._listening: asyncio.Server | None = None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="chaos", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self.accept()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._run(self._stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(CONTROL_TIMEOUT_S)
        self._loop.close()
        self._holder.close()

    # --- what a test may do ------------------------------------------------------------------

    def delay(self, delay_s: float, *directions: Direction) -> None:
        """Delay every piece; with `math.inf`, until `calm` is called."""
        self._change(directions, lambda way: setattr(way, "delay_s", delay_s))

    def throttle(self, bytes_per_s: float, *directions: Direction) -> None:
        """Limit the number of bytes forwarded per second."""
        self._change(directions, lambda way: setattr(way, "bytes_per_s", bytes_per_s))

    def cut_after(self, byte_count: int, direction: Direction, *, reset: bool = False) -> None:
        """Cut the connection that forwards the last of this many further bytes of a direction."""

        def arm(way: _Way) -> None:
            way.cut_after, way.cut_with_reset = byte_count, reset

        self._change([direction], arm)

    def silence(self) -> None:
        """Drop everything on the open connections and keep them open; later connections work."""
        self._each(_Connection.silence)

    def silence_after(self, byte_count: int, direction: Direction) -> None:
        """Silence the connection that forwards the last of these further bytes of a direction."""
        self._change([direction], lambda way: setattr(way, "silent_after", byte_count))

    def flip(self, direction: Direction, *wanted: bytes) -> None:
        """Flip a bit of the first byte of each byte string, the next time it is forwarded."""
        self._change([direction], lambda way: way.to_flip.extend(wanted))

    def hang_up(self, *, reset: bool) -> None:
        """Close new connections at once, until `calm` is called."""
        self._hanging_up_with_reset = reset

    def half_close(self, direction: Direction) -> None:
        """End one direction of every connection; the other one stays open."""
        self._each(lambda connection: connection.half_close(direction))

    def close_connections(self) -> None:
        """Close every connection normally."""
        self._each(lambda connection: connection.close(reset=False))

    def reset(self) -> None:
        """Close every connection with RST."""
        self._each(lambda connection: connection.close(reset=True))

    def refuse(self) -> None:
        """Refuse new connections, like a port without a listener."""
        self._run(self._end_listening())

    def accept(self) -> None:
        """Accept new connections again."""
        self._run(self._listen())

    def calm(self) -> None:
        """Remove all delays, limits and cuts, and accept new connections."""

        def calm(way: _Way) -> None:
            way.delay_s, way.bytes_per_s, way.cut_after = 0.0, None, None

        self._hanging_up_with_reset = None
        self._change(BOTH, calm)
        self.accept()

    # --- what a test may see -----------------------------------------------------------------

    @property
    def connections_made(self) -> int:
        """Number of connections that clients have made so far."""
        return self._made

    @property
    def connections_open(self) -> int:
        """Number of open connections."""
        return len(self._connections)

    @property
    def connections_broken(self) -> int:
        """Number of connections that were cut, closed, half closed or silenced so far."""
        return self._broken

    def left_to_flip(self, direction: Direction) -> int:
        """Number of byte strings that are still to be flipped."""
        return len(self._ways[direction].to_flip)

    def bytes_passed(self, direction: Direction) -> int:
        """Number of bytes forwarded so far."""
        return self._ways[direction].passed

    # --- on the proxy's own event loop -------------------------------------------------------

    def _run(self, work: Coroutine[Any, Any, Result]) -> Result:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(CONTROL_TIMEOUT_S)

    def _change(self, directions: Iterable[Direction], change: Callable[[_Way], object]) -> None:
        async def run() -> None:
            for direction in tuple(directions) or BOTH:
                change(self._ways[direction])

        self._run(run())

    def _each(self, action: Callable[[_Connection], None]) -> None:
        async def run() -> None:
            for connection in list(self._connections):
                self._broken += 1
                action(connection)

        self._run(run())

    async def _listen(self) -> None:
        if self._listening is None:
            listening = _bound(self._port)
            self._listening = await asyncio.start_server(self._begin, sock=listening)

    async def _end_listening(self) -> None:
        if self._listening is not None:
            self._listening.close()
            self._listening = None

    async def _stop(self) -> None:
        await self._end_listening()
        while True:  # Again if a connection appeared that had been accepted before.
            for _ in range(ACCEPTING_ROUNDS):
                await asyncio.sleep(0)
            if not self._tasks and not self._transports:
                return
            for task in list(self._tasks):
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            # A transport that was closed normally stays open until its peer reads.
            for transport in self._transports:
                transport.abort()  # It closes in the next round.
            self._transports.clear()

    def _begin(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._transports.add(writer.transport)
        task = self._loop.create_task(self._serve(reader, writer))
        self._tasks.add(task)

        def ended(_: object) -> None:
            self._tasks.discard(task)
            if task.cancelled():  # A task that never took a step closes nothing itself.
                writer.transport.abort()

        task.add_done_callback(ended)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._made += 1
        connection = _Connection({Direction.TO_CLIENT: writer})
        if self._hanging_up_with_reset is not None:
            self._broken += 1
            connection.close(reset=self._hanging_up_with_reset)
            return
        try:
            from_server, to_server = await asyncio.open_connection(*self._target)
            connection.writers[Direction.TO_SERVER] = to_server
            self._transports.add(to_server.transport)
            self._connections.add(connection)
            async with asyncio.TaskGroup() as both:
                both.create_task(self._pump(connection, reader, Direction.TO_SERVER))
                both.create_task(self._pump(connection, from_server, Direction.TO_CLIENT))
        except* OSError:
            connection.close(reset=True)  # Pass an error of one side on to the other side.
        finally:
            self._connections.discard(connection)
            connection.close(reset=False)

    async def _pump(
        self, connection: _Connection, reader: asyncio.StreamReader, direction: Direction
    ) -> None:
        try:
            await self._hand_on(connection, reader, direction)
        except OSError:
            if direction not in connection.deaf:  # This end is dropped, whatever kind of end it is.
                raise

    async def _hand_on(
        self, connection: _Connection, reader: asyncio.StreamReader, direction: Direction
    ) -> None:
        way, writer = self._ways[direction], connection.writers[direction]
        while piece := await reader.read(way.piece_bytes):
            await self._hold_back(way, len(piece))
            if direction in connection.deaf:
                continue
            if way.silent_after is not None:
                way.silent_after -= len(piece)
                if way.silent_after <= 0:
                    way.silent_after = None
                    self._broken += 1
                    connection.silence()
                    continue
            piece = way.flip(piece)
            cut = way.cut_after is not None and way.cut_after <= len(piece)
            piece = piece[: way.cut_after] if cut else piece
            writer.write(piece)
            way.passed += len(piece)
            if cut:
                way.cut_after = None
                self._broken += 1
                connection.close(reset=way.cut_with_reset)
                return
            if way.cut_after is not None:
                way.cut_after -= len(piece)
            await writer.drain()
        if direction not in connection.deaf:
            connection.half_close(direction)

    async def _hold_back(self, way: _Way, byte_count: int) -> None:
        """Wait as long as the direction's current delay and rate require."""
        came_s = self._loop.time()

        def rest_s() -> float:
            rate = way.bytes_per_s
            wanted_s = way.delay_s + (0.0 if rate is None else byte_count / rate)
            return came_s + wanted_s - self._loop.time()

        while (wait_s := rest_s()) > 0:  # noqa: ASYNC110 - what it waits for is mostly time
            await asyncio.sleep(min(wait_s, TICK_S))


def _parsed(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    return host, int(port)


def _bound(port: int) -> socket.socket:
    """A socket bound to a local port; several can be bound to it, but only one listens."""
    bound = socket.socket()
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    bound.bind(("127.0.0.1", port))
    return bound
