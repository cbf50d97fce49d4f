"""All sources of a bridge, opened by their addresses, read into one submission.

Each has its own thread.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

import click
from msgspec import Struct

from vidscore_cli.bridge.choices import SourceChoice
from vidscore_cli.bridge.recordings import RecordingSource, is_recording
from vidscore_cli.bridge.source_run import SourceRun
from vidscore_cli.bridge.sources import (
    ByteSource,
    DatagramSource,
    SocketSource,
    Source,
    host_and_port,
)
from vidscore_cli.bridge.spool import Spool
from vidscore_cli.failures import ServerUnreachableError
from vidscore_cli.output import say
from vidscore_cli.records import short_names
from vidscore_cli.remote import detection_arity, open_client
from vidscore_cli.stopping import stopped_by_signals
from vidscore_cli.waiting import Breaks, told_while_waiting
from vidscore_evaluators.feeds import schema_of_name
from vidscore_evaluators.names import counted

if TYPE_CHECKING:
    from vidscore_cli.sites import ServerChoice
    from vidscore_client import Client, SubmissionStream

TELL_S = 2.0
"""Time after which a stopping bridge says what it waits for."""

STOP_S = 60.0
"""Maximum time of this wait."""

END_S = 1.0
"""Time after it for sources to end. One that its system blocks does not, such as a named pipe that
no program has opened to write."""

_LOOK_S = 0.2
_MEBIBYTE = 1 << 20


Opener = Callable[[str], Source]
"""Opens a source, given the name of this bridge at a broker."""


class BridgeChoices(Struct, frozen=True):
    """Options of `vidscore bridge`.

    Attributes:
        sources_file: File of the sources; None if one source was typed.
    """

    server: ServerChoice
    benchmark: str
    submission: str | None
    title: str
    sources: Sequence[SourceChoice]
    on_error: Literal["refuse", "skip"]
    sources_file: str | None = None


class LostFramesError(ServerUnreachableError):
    """Messages were lost, because neither the server nor the spool had room for them."""


def run_bridge(typed: BridgeChoices) -> None:
    """Read frames from sources until all have ended, or a signal stops the bridge.

    If all sources have ended, the submission is sealed.

    Raises:
        InputError: If a message cannot be read.
        click.ClickException: If another error occurs, or messages were lost.
    """
    stopping = threading.Event()
    with (
        stopped_by_signals(stopping),
        open_client(typed.server) as client,
        _Bridge(client, typed, stopping) as bridge,
    ):
        try:
            ended = bridge.run()
        finally:
            bridge.say_counts()
        name = short_names(bridge.submission)
        if bridge.gap:
            raise LostFramesError(f"{name} is not sealed: {counted(bridge.gap, 'message')} lost")
        if ended:
            client.submissions.seal(bridge.submission, retry=Breaks(partial(say, err=True)).retry())
            say(f"{name} is sealed: {counted(bridge.frames, 'frame')}", err=True)
        else:
            say(f"{name} is not sealed; vidscore submission seal {name} ends it", err=True)


def wait_for(
    threads: Sequence[threading.Thread], stopping: threading.Event, give_up: Callable[[], object]
) -> bool:
    """Wait until threads have ended; for a limited time once they have to stop.

    Args:
        threads: The threads.
        stopping: Set when they have to stop.
        give_up: Called when that time is over; makes them end at once.

    Returns:
        Whether the time was over.
    """
    since_s: float | None = None
    has_told = is_given_up = False
    while alive := [thread for thread in threads if thread.is_alive()]:
        alive[0].join(_LOOK_S)  # an unlimited wait would block signals
        if not stopping.is_set() or not alive[0].is_alive():
            continue
        since_s = time.monotonic() if since_s is None else since_s
        waited_s = time.monotonic() - since_s
        if is_given_up:
            if waited_s >= STOP_S + END_S:
                break
            continue
        if waited_s >= TELL_S and not has_told:
            has_told = True
            text = f"for {STOP_S:g} s at most; a second signal ends it at once"
            say(f"waiting for the server until all read messages are durable, {text}", err=True)
        if waited_s >= STOP_S:
            is_given_up = True
            give_up()
    return is_given_up


class _Bridge:
    """The sources with their streams; all streams are open while it is entered."""

    def __init__(self, client: Client, typed: BridgeChoices, stopping: threading.Event) -> None:
        self._client = client
        self._typed = typed
        self._openers = [self._opener(choice) for choice in typed.sources]
        self._arity = detection_arity(client.benchmarks.get(typed.benchmark))
        self._stopping = stopping
        self._ended: list[bool] = []
        self._errors: list[Exception] = []
        self._opened: list[tuple[SourceRun, SubmissionStream]] = []
        self.submission = ""

    def __enter__(self) -> _Bridge:
        name = self._typed.submission
        try:
            for choice, opener in zip(self._typed.sources, self._openers, strict=True):
                name = self._open(choice, opener, name)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for _run, stream in self._opened:
            stream.abort()  # nothing further will be delivered

    def _opener(self, choice: SourceChoice) -> Opener:
        """Check a source before a submission exists, and return its opener."""
        try:
            return source_opener(choice)
        except click.UsageError as error:
            raise self._blamed(error, choice.name) from None

    def _open(self, choice: SourceChoice, opener: Opener, submission: str | None) -> str:
        """Open a source and its stream, and return the last part of the submission's name."""
        from vidscore_client import Batching, Delivery, Retry

        runs: list[SourceRun] = []

        def tell(count: int) -> None:
            for run in runs:
                run.on_acknowledged(count)

        stream = self._client.submit(
            self._typed.benchmark,
            submission,
            stream=choice.name,
            title=self._typed.title,
            # However long the server is away, frames wait for it, and the source waits for them.
            batching=Batching(block_timeout_s=None),
            delivery=Delivery(
                retry=Retry(give_up_after_s=None),
                on_acknowledged=tell,
            ),
        )
        self.submission = stream.submission
        schema = schema_of_name(choice.schema)
        client_id = f"vidscore-{self.submission}-{choice.name}".replace("/", "-")
        try:
            source = opener(client_id)
        except click.UsageError as error:
            raise self._blamed(error, choice.name) from None
        skip = self._typed.on_error == "skip"
        run = SourceRun(
            choice.name, source, schema, choice.frames, choice.accept, skip, self._arity
        )
        runs.append(run)
        self._opened.append((run, stream))
        durable = counted(stream.next_offset, "frame")
        say(f"{short_names(self.submission)}: {choice.name}: {durable} durable before", err=True)
        return self.submission.rpartition("/")[2]

    def _blamed(self, error: Exception, source: str) -> Exception:
        """The error of a source; one about its address names the file of sources."""
        if not isinstance(error, click.UsageError) or self._typed.sources_file is None:
            return error
        return click.ClickException(f"{self._typed.sources_file}, {source}: {error.message}")

    def run(self) -> bool:
        """Read all sources; return whether all have ended by themselves.

        Raises:
            Exception: The first error of a source.
        """
        threads = [
            threading.Thread(
                target=self._run_one, args=entry, name=f"bridge-{entry[0].name}", daemon=True
            )
            for entry in self._opened
        ]
        for thread in threads:
            thread.start()
        errors: list[Exception] = []

        def give_up() -> None:
            errors.extend(self._errors[:1])  # later ones follow from it
            for _, stream in self._opened:
                stream.abort()

        if wait_for(threads, self._stopping, give_up):
            raise next(iter(errors), self._unanswered())
        if self._errors:
            raise self._errors[0]
        return all(self._ended)

    def _run_one(self, run: SourceRun, stream: SubmissionStream) -> None:
        def tell(text: str) -> None:
            say(f"{run.name}: {text}", err=True)

        try:
            with told_while_waiting(stream, tell):
                self._ended.append(run.run(stream, self._stopping.is_set))
        except Exception as error:  # noqa: BLE001 - raised again in the main thread
            self._errors.append(self._blamed(error, run.name))
            self._stopping.set()

    def _unanswered(self) -> ServerUnreachableError:
        left = sum(run.sent_offset for run, _ in self._opened) - self.frames
        name = short_names(self.submission)
        who = "the server does not answer" if left else "the server, or a source, does not answer"
        text = f"{who}; not durable: {counted(left, 'frame')}"
        advice = f"continue with --submission {name.rpartition('/')[2]} when it is back"
        return ServerUnreachableError(f"{name} is not sealed: {text} or more; {advice}")

    @property
    def gap(self) -> int:
        """Messages that were lost."""
        return sum(run.source.gap for run, _ in self._opened)

    @property
    def frames(self) -> int:
        """Frames of all streams that are durable."""
        return sum(stream.acknowledged_frames for _, stream in self._opened)

    def say_counts(self) -> None:
        """Report the numbers of left-out messages and frames."""
        for run, _ in self._opened:
            for count, what in (
                (run.skipped, "message that cannot be read"),
                (run.repeated, "repeated frame"),
                (run.source.gap, "message lost"),
            ):
                if count:
                    say(f"Warning: {run.name}: {what}: {count}", err=True)


def source_opener(choice: SourceChoice) -> Opener:
    """Check a chosen source, and return a function that opens it.

    Args:
        choice: Its address, and how to read it.

    Raises:
        click.UsageError: If there is no such kind of source, or its address is not complete.
        OSError: If there is no such file.
        MissingExtraError: If a package that reads it is not installed.
    """
    url, schema = choice.url, schema_of_name(choice.schema)
    address = urlsplit(url)
    is_file = address.scheme in {"", "file"} or "://" not in url
    path = address.path if address.scheme == "file" else url
    if is_file and is_recording(Path(path)):
        recording = RecordingSource(Path(path), choice.topics, schema.message_types)
        return lambda _: recording
    if choice.topics:
        raise click.UsageError(f"{url}: topics can be chosen only for recordings")
    if choice.spool and (is_file or address.scheme not in {"udp", "mqtt"}):
        raise click.UsageError(f"{url}: messages of this source wait there, without a --spool")
    if is_file:
        if path != "-":
            Path(path).stat()
        return lambda _: ByteSource(path, schema.framing)
    if address.scheme in {"tcp", "udp"}:
        host_and_port(address)
    if address.scheme in {"tcp", "unix"}:
        return lambda _: SocketSource(address, schema.framing)
    if address.scheme == "udp":
        if not choice.spool:
            raise click.UsageError(f"{url}: datagrams cannot wait: name a --spool file")
        return lambda _: DatagramSource(address, _spool(choice))
    if address.scheme in {"mqtt", "nats", "kafka"}:
        return _broker(choice, address.scheme)
    expected = "expected file, tcp, unix, udp, mqtt, nats or kafka"
    raise click.UsageError(f"{url}: found the scheme {address.scheme}, {expected}")


def _spool(choice: SourceChoice) -> Spool:
    return Spool(Path(choice.spool), choice.spool_mebibytes * _MEBIBYTE)


def _broker(choice: SourceChoice, scheme: str) -> Opener:
    """The opener of the source at a broker; libraries of brokers are imported only here."""
    if scheme == "mqtt" and "#" in choice.url:  # in an address, # begins a fragment
        raise click.UsageError(f"{choice.url}: write the wildcard # as %23")
    if not choice.access.topic:
        what = "a stream" if scheme == "nats" else "a topic"
        raise click.UsageError(f"{choice.access.address.geturl()}: {what} is missing")
    if scheme == "nats":
        from vidscore_cli.bridge.nats import NatsSource

        return partial(NatsSource, choice.access)
    if scheme == "kafka":
        from vidscore_cli.bridge.kafka import KafkaSource

        return partial(KafkaSource, choice.access)
    from vidscore_cli.bridge.mqtt import MqttSource, check_address

    check_address(choice.access)
    return lambda client_id: MqttSource(
        choice.access, client_id, _spool(choice) if choice.spool else None
    )
