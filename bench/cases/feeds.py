"""Lines and feeds into a submission: the time that `pipe` and `bridge` add, and their memory."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from io import BytesIO
from itertools import cycle, islice
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np
import orjson

from bench.case import Case, Peer, Size, compare
from bench.measuring import Sample, run_interleaved
from bench.rows import Row, at_most
from bench.servers.process import BENCHMARK, VIDSCORE, Host, hosting_server
from vidscore_cli.bridge.source_run import SourceRun
from vidscore_cli.bridge.sources import MOST_MESSAGES, Message
from vidscore_cli.lines import FrameInput
from vidscore_cli.remote import to_frames
from vidscore_client import Client, SubmissionStream, connect
from vidscore_evaluators.annotations import POINT
from vidscore_evaluators.arrays import FloatArray
from vidscore_evaluators.feeds import schema_of_name
from vidscore_evaluators.feeds.mapping import FrameMap
from vidscore_evaluators.formats.json_lines import LineReader

FRAMES = 20_000
CAMERAS = 64
POINTS_PER_FRAME = 10
RATE_HZ = 25
LOOK_INTERVAL_S = 0.1
MOST_ADDED = 1.2
MOST_OF_TIME = 0.5
TRUTH_FRAMES = 16
MEMORY_BYTES = 192 * 2**20
SPOOL_MEBIBYTES = 16

_PEAK = re.compile(r"^VmHWM:\s+(\d+) kB", re.MULTILINE)


class _Found(NamedTuple):
    """A frame as arrays, as a detector outputs it."""

    sequence: str
    frame: int
    points: FloatArray
    confidences: FloatArray


_Send = Callable[[SubmissionStream, Sequence[bytes], Sequence[_Found]], None]


class _Given:
    """A source whose messages are all available from the start."""

    offset_type: ClassVar[type] = object

    def __init__(self, messages: Sequence[Message]) -> None:
        self.gap = 0
        self._messages = messages
        self._at = 0

    def open(self, offset: object) -> None:
        """Do nothing: reading always starts at the first message."""

    def read(self, timeout_s: float) -> Sequence[Message] | None:
        """The next messages; None at the end."""
        del timeout_s
        self._at += MOST_MESSAGES
        return self._messages[self._at - MOST_MESSAGES : self._at] or None

    def acknowledge(self, messages: Sequence[Message]) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


def _frames(count: int, cameras: int) -> list[_Found]:
    """Frames of some cameras in turn."""
    random = np.random.default_rng(3)
    points = random.uniform(0, 600, (count, POINTS_PER_FRAME, 2)).round(2)
    scores = random.uniform(0, 1, (count, POINTS_PER_FRAME)).round(3)
    return [
        _Found(f"s{row % cameras:03d}", row // cameras, points[row], scores[row])
        for row in range(count)
    ]


def _line(found: _Found) -> bytes:
    """A frame as a line of JSON."""
    pairs = zip(found.points.tolist(), found.confidences.tolist(), strict=True)
    objects = [{"point": point, "confidence": score} for point, score in pairs]
    frame = {"sequence": found.sequence, "frame": found.frame, "objects": objects}
    return orjson.dumps(frame) + b"\n"


def _by_sdk(stream: SubmissionStream, lines: Sequence[bytes], found: Sequence[_Found]) -> None:
    """Send as a program with the SDK does: frame by frame, from arrays."""
    del lines
    for sequence, number, points, confidences in found:
        stream.send(sequence, number, points, confidences=confidences)
    stream.flush()


def _by_pipe(stream: SubmissionStream, lines: Sequence[bytes], found: Sequence[_Found]) -> None:
    """Send as `vidscore pipe` does."""
    del found
    reader = FrameInput(False, LineReader(arity=POINT))
    for block in reader.blocks(BytesIO(b"".join(lines))):
        stream.send_batch(to_frames(block.frames))
    stream.flush()


def _by_bridge(stream: SubmissionStream, lines: Sequence[bytes], found: Sequence[_Found]) -> None:
    """Send as `vidscore bridge` does."""
    del found
    messages = [Message(line, "", number) for number, line in enumerate(lines, 1)]
    source, schema = _Given(messages), schema_of_name("jsonl")
    SourceRun("bench", source, schema, FrameMap(), (), False, POINT).run(stream, lambda: False)


def _submitted(
    client: Client, send: _Send, lines: Sequence[bytes], found: Sequence[_Found]
) -> None:
    """Send a new submission until its last frame is durable; then cancel it."""
    stream = client.submit(BENCHMARK, None)
    try:
        send(stream, lines, found)
    finally:
        stream.abort()
        client.submissions.cancel(stream.submission)


@contextmanager
def _hosted() -> Iterator[Host]:
    with tempfile.TemporaryDirectory() as folder:
        truth = Path(folder) / "truth.csv"
        rows = [
            f"s{camera:03d},{frame},10,20"
            for camera in range(CAMERAS)
            for frame in range(TRUTH_FRAMES)
        ]
        truth.write_text("\n".join(["sequence,frame,x,y", *rows]) + "\n", encoding="utf-8")
        with hosting_server(Path(folder), truth) as host:
            yield host


def _added(size: Size) -> Iterator[Row]:
    """The cost of a line or message, compared with the SDK's cost for the same frames."""
    count = max(1_000, size.of(FRAMES))
    with _hosted() as host, connect(host.address, token=host.secret) as client:
        found = _frames(count, 1)
        lines = list(map(_line, found))
        added = at_most(MOST_ADDED)
        sdk = Peer("the SDK", partial(_submitted, client, _by_sdk, lines, found), added)
        for name, send in (("pipe", _by_pipe), ("bridge", _by_bridge)):
            ours = partial(_submitted, client, send, lines, found)
            note = "our frames are lines of JSON, those of the SDK are arrays"
            yield from compare(f"{name}: {count} frames, durable", ours, [sdk], size.repeats, note)
        found = _frames(count, CAMERAS)
        ours = partial(_submitted, client, _by_bridge, list(map(_line, found)), found)
        [sample], _ = run_interleaved([ours], size.repeats)
        yield Row(
            f"one bridge from {CAMERAS} cameras: time a frame, durable",
            sample.scaled(1.0 / count),
            Sample((1.0 / (CAMERAS * RATE_HZ),)),
            f"time between two frames at {RATE_HZ} Hz each",
            at_most(MOST_OF_TIME),
        )


@contextmanager
def _bridge(host: Host, folder: Path) -> Iterator[tuple[int, socket.socket]]:
    """Run `vidscore bridge` from datagrams; gives its process and a socket that sends to it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sending:
        sending.bind(("127.0.0.1", 0))
        port = sending.getsockname()[1] ^ 1
        sources = folder / "sources.toml"
        sources.write_text(
            f'[[sources]]\nurl = "udp://127.0.0.1:{port}"\nschema = "jsonl"\n'
            f'spool = "{folder}/bench.spool"\nspool_mebibytes = {SPOOL_MEBIBYTES}\n'
        )
        command = [VIDSCORE, "bridge", "--sources", str(sources), "--benchmark", BENCHMARK]
        own = {"VIDSCORE_SERVER": host.address, "VIDSCORE_TOKEN": host.secret}
        with subprocess.Popen(
            command, env={**os.environ, **own}, stderr=subprocess.DEVNULL
        ) as process:
            try:
                sending.connect(("127.0.0.1", port))
                yield process.pid, sending
            finally:
                process.kill()


def _has_sent(sending: socket.socket, line: bytes) -> bool:
    """Send a datagram; false if the previous one was refused because nobody listens."""
    try:
        sending.send(line)
    except ConnectionRefusedError:
        return False
    return True


def _memory(size: Size) -> Iterator[Row]:
    """Ten minutes of datagrams from all cameras, sent as fast as possible, without a server."""
    frames = round(CAMERAS * RATE_HZ * 60 * size.minutes)
    lines = list(map(_line, _frames(min(frames, FRAMES), CAMERAS)))
    with (
        tempfile.TemporaryDirectory() as folder,
        _hosted() as host,
        _bridge(host, Path(folder)) as (pid, sending),
    ):
        while not (_has_sent(sending, lines[0]) and _has_sent(sending, lines[0])):
            time.sleep(LOOK_INTERVAL_S)
        os.kill(host.served.pid, signal.SIGKILL)
        for line in islice(cycle(lines), frames):
            _has_sent(sending, line)
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    [kibibytes] = _PEAK.findall(status)
    yield Row(
        f"memory of a bridge of {CAMERAS} cameras, ten minutes without a server",
        Sample((float(kibibytes) * 1024,)),
        Sample((float(MEMORY_BYTES),)),
        "limit",
        at_most(1.0),
        unit="bytes",
        note=f"{frames} datagrams, sent as fast as possible; a spool of {SPOOL_MEBIBYTES} MiB",
    )


CASES = (Case("feeds", _added), Case("bridge-memory", _memory))
