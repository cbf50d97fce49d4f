"""The synchronous client: the asyncio one over a transport that blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import Self

from vidscore_client._encoding import DEFAULT_STREAM
from vidscore_client._endpoint import make_endpoint
from vidscore_client._specification import Specification
from vidscore_client._threads import ThreadTransport
from vidscore_client._transport import run_blocking
from vidscore_client.access import Tokens
from vidscore_client.aio import AsyncClient
from vidscore_client.benchmarks import Benchmarks
from vidscore_client.evaluators import EvaluatorChoice, EvaluatorDescription, PresetDescription
from vidscore_client.frames import Frames, Geometry
from vidscore_client.hosting import AuditFilter, AuditRecord, SubmissionState
from vidscore_client.live import LiveOutcome, OnFrame, OnStored
from vidscore_client.organising import Invitations, Queue
from vidscore_client.reports import Report
from vidscore_client.servers import Health, ServerInfo
from vidscore_client.settings import (
    DEFAULT_BATCHING,
    DEFAULT_DELIVERY,
    DEFAULT_KEEPALIVE,
    DEFAULT_RETRY,
    Batching,
    Delivery,
    Keepalive,
    Live,
    Retry,
    Tls,
)
from vidscore_client.stream import ScoreStream
from vidscore_client.submission_stream import SubmissionStream
from vidscore_client.submissions import Submissions
from vidscore_client.trust import Trust


def connect(
    target: str,
    *,
    tls: bool | Tls = False,
    token: str | None = None,
    timeout_s: float = 10.0,
    allow_plaintext_token: bool = False,
    keepalive: Keepalive = DEFAULT_KEEPALIVE,
) -> Client:
    """Make a client of a server; the connection itself is made by the first call.

    Proxies that the environment names (``https_proxy``, ``no_proxy``) are used for other machines.

    Args:
        target: Address: ``host:port``, ``[address]:port`` or ``unix:path``.
        tls: Whether to encrypt: `Tls` names certificates, True trusts the system's authorities.
        token: Sent with each call as ``authorization: Bearer``.
        timeout_s: Seconds that a call, or the opening of a stream, may take.
        allow_plaintext_token: Whether the token may go unencrypted to another machine.
        keepalive: How a connection is found out that has gone silent.

    Raises:
        InputError: If an argument is wrong, a certificate cannot be used, or the token would go
            unencrypted to another machine.
    """
    endpoint = make_endpoint(
        target,
        tls=tls,
        token=token,
        timeout_s=timeout_s,
        allow_plaintext_token=allow_plaintext_token,
        keepalive=keepalive,
    )
    return Client(AsyncClient(ThreadTransport(endpoint)))


class Client:
    """A connection to a server; made by `connect`.

    Every method may be called from any thread, and a client may have any number of streams open.
    As a context manager it is closed at the end of the block.
    """

    def __init__(self, client: AsyncClient) -> None:
        self._client = client

    @property
    def submissions(self) -> Submissions:
        """Submissions to hosted benchmarks."""
        return Submissions(self._client.submissions)

    @property
    def benchmarks(self) -> Benchmarks:
        """Hosted benchmarks."""
        return Benchmarks(self._client.benchmarks)

    @property
    def trust(self) -> Trust:
        """How far rankings and criteria can be relied on."""
        return Trust(self._client.trust)

    @property
    def tokens(self) -> Tokens:
        """Tokens, for organisers."""
        return Tokens(self._client.tokens)

    @property
    def invitations(self) -> Invitations:
        """Invitations of teams."""
        return Invitations(self._client.invitations)

    def audit(
        self, maximum: int | None = None, wanted: AuditFilter = AuditFilter()
    ) -> list[AuditRecord]:
        """The audit record, newest first. For organisers.

        Args:
            maximum: Most records wanted; None for all.
            wanted: Which records.

        Raises:
            VidscoreError: If the call fails.
        """
        return run_blocking(self._client.audit(maximum, wanted))

    def queue(self, states: Iterable[SubmissionState | str] = ()) -> Queue:
        """Submissions of all benchmarks that wait, run or have failed. For organisers.

        Args:
            states: Only those in these states; none for sealed, waiting, scoring and failed ones.

        Raises:
            InputError: If there is no such state.
            VidscoreError: If the call fails.
        """
        return run_blocking(self._client.queue(states))

    def server(self) -> ServerInfo:
        """What the server is; it answers clients of any version.

        Raises:
            VidscoreError: If the call fails.
        """
        return run_blocking(self._client.server())

    def export_backup(self, write: Callable[[bytes], object], benchmark: str | None = None) -> None:
        """Take a backup while the server goes on. For organisers.

        Args:
            write: Called with each piece of the file. It holds hidden truth and hashes of tokens:
                let nobody else read it.
            benchmark: The benchmark; None for the whole site.

        Raises:
            NotFoundError: If there is no such benchmark.
            VidscoreError: If the call fails; what was written is no backup then.
        """
        run_blocking(self._client.export_backup(write, benchmark))

    def import_backup(self, chunks: Iterable[bytes]) -> str:
        """Add a benchmark out of its backup: whole, or not at all. For organisers.

        Args:
            chunks: The file, in pieces of any size.

        Returns:
            Full name of the benchmark.

        Raises:
            InvalidArgumentError: If it is damaged, or of other tables; nothing was added.
            ConflictError: If a benchmark of that name is there.
            VidscoreError: If the call fails.
        """
        return run_blocking(self._client.import_backup(chunks))

    def evaluators(self) -> list[EvaluatorDescription]:
        """Every evaluator of the server, built-in ones first.

        Raises:
            VidscoreError: If the call fails.
        """
        return run_blocking(self._client.evaluators())

    def evaluator(self, name: str) -> EvaluatorDescription:
        """One evaluator.

        Raises:
            NotFoundError: If the server has none of that name.
            VidscoreError: If the call fails.
        """
        return run_blocking(self._client.evaluator(name))

    def presets(self) -> list[PresetDescription]:
        """Every preset of the server, built-in ones first.

        Raises:
            VidscoreError: If the call fails.
        """
        return run_blocking(self._client.presets())

    def health(self, service: str = "") -> Health:
        """Whether the server takes calls, by the standard health protocol.

        Args:
            service: Full name of a service; empty for the server as a whole.

        Raises:
            NotFoundError: If the server does not know the service.
            VidscoreError: If the call fails.
        """
        return run_blocking(self._client.health(service))

    def score_stream(
        self,
        evaluators: Sequence[EvaluatorChoice] = (),
        *,
        specification: Specification | None = None,
        truth_geometry: Geometry = "box",
        detection_geometry: Geometry = "box",
        live: Live | None = None,
        batching: Batching = DEFAULT_BATCHING,
        timeout_s: float | None = None,
    ) -> ScoreStream:
        """Open a stream that takes truth and detections frame by frame.

        Args:
            evaluators: What judges: names, or (name, parameters). Where given, they stand in the
                place of the specification's own.
            specification: What the data alone cannot say, in its JSON form or as the message.
            truth_geometry: Shape of the truth's objects.
            detection_geometry: Shape of the detections.
            live: When live reports are wanted; None for never.
            batching: How frames are put together, and what happens where the server is slow.
            timeout_s: Seconds that the whole stream may take; None for no limit.

        Raises:
            InputError: If an argument is wrong.
            InvalidArgumentError: If the server refuses the configuration.
            UnavailableError: If the server cannot be reached.
            VidscoreError: If the stream cannot be opened for another reason.
        """
        stream = self._client.score_stream(
            evaluators,
            specification=specification,
            truth_geometry=truth_geometry,
            detection_geometry=detection_geometry,
            live=live,
            batching=batching,
            timeout_s=timeout_s,
        )
        return ScoreStream(stream)

    def score(
        self,
        evaluators: Sequence[EvaluatorChoice],
        truth: Iterable[Frames],
        detections: Iterable[Frames],
        *,
        specification: Specification | None = None,
        truth_geometry: Geometry | None = None,
        detection_geometry: Geometry | None = None,
        timeout_s: float | None = None,
    ) -> list[Report]:
        """Send everything and wait for the final reports.

        Args:
            evaluators: What judges, as in `score_stream`.
            truth: Batches of the truth; may be a generator.
            detections: Batches of detections; may be a generator.
            specification: What the data alone cannot say.
            truth_geometry: Shape of the truth's objects; None for that of its first batch.
            detection_geometry: Shape of the detections; None for that of their first batch.
            timeout_s: Seconds that it may take; None for no limit.

        Returns:
            A report for each evaluator, in the order in which they were asked for.

        Raises:
            InputError: If an argument is wrong.
            VidscoreError: If the server refuses it or fails.
        """
        scoring = self._client.score(
            evaluators,
            truth,
            detections,
            specification=specification,
            truth_geometry=truth_geometry,
            detection_geometry=detection_geometry,
            timeout_s=timeout_s,
        )
        return run_blocking(scoring)

    def answer_live(
        self,
        benchmark: str,
        on_frame: OnFrame,
        submission: str | None = None,
        *,
        title: str = "",
        on_stored: OnStored | None = None,
        seal: bool = True,
        retry: Retry = DEFAULT_RETRY,
    ) -> LiveOutcome:
        """Answer every frame of a live benchmark while it is now; returns when its clock has ended.

        The first call of a submission starts its clock, which waits for nobody. A frame that comes
        while `on_frame` looks at another one waits, and only the newest does: those before it stay
        unanswered. After a break of the connection, or of the program, the frames that are now are
        answered, and those that have passed are not.

        Args:
            benchmark: The benchmark.
            on_frame: Called with each frame; it answers with `LiveFrame.answer`, or leaves the
                frame without an answer.
            submission: Last part of the submission's name, as in `submit`; None to let the server
                choose.
            title: Title for people, of a new submission.
            on_stored: Called with each answer of this call once it is durable; quick, as what the
                server says next waits for it.
            seal: Whether the submission is sealed, and so scored, once the clock has ended.
            retry: What happens after a break of the connection.

        Raises:
            ConflictError: If the benchmark is not live (reason ``NOT_LIVE``).
            CallbackError: If `on_stored` raised.
            SupersededError: If another program answers for the same submission.
            VidscoreError: If frames cannot be answered for another reason.
        """
        return run_blocking(
            self._client.answer_live(
                benchmark,
                on_frame,
                submission,
                title=title,
                on_stored=on_stored,
                seal=seal,
                retry=retry,
            )
        )

    def submit(
        self,
        benchmark: str,
        submission: str | None = None,
        *,
        stream: str = DEFAULT_STREAM,
        title: str = "",
        replay: bool = False,
        batching: Batching = DEFAULT_BATCHING,
        delivery: Delivery = DEFAULT_DELIVERY,
    ) -> SubmissionStream:
        """Open a stream of detections into a submission to a hosted benchmark.

        The submission is created where it is not there. A program that dies and starts again goes
        on by naming the same submission and stream: `SubmissionStream.next_offset` tells how many
        frames are durable, and ``replay=True`` leaves exactly these out of what is sent.

        Args:
            benchmark: The benchmark.
            submission: Last part of the submission's name: 1 to 63 lower-case letters, digits and
                hyphens, a letter first; None to let the server choose.
            stream: Which of the submission's streams this program writes. Programs that send at
                once each take one of their own; opening one that another program writes shuts
                that program out.
            title: Title for people, of a new submission.
            replay: Whether the same frames are sent again from the first one on, in the same
                order, so that those that are durable already are left out.
            batching: How frames are put together, and what happens where the server is slow.
            delivery: How frames are held until they are acknowledged, and what happens after a
                break.

        Raises:
            NotFoundError: If there is no such benchmark.
            QuotaExceededError: If the team may have no more submissions.
            SubmissionEndedError: If the submission takes no more frames.
            VidscoreError: If the stream cannot be opened for another reason.
        """
        submitting = self._client.submit(
            benchmark,
            submission,
            stream=stream,
            title=title,
            replay=replay,
            batching=batching,
            delivery=delivery,
        )
        return SubmissionStream(submitting)

    def close(self) -> None:
        """Close every open stream and the connection; may be called again.

        Streams into submissions deliver what they have taken, as their own `close` does; streams
        that score are cancelled.

        Raises:
            VidscoreError: What a stream that could not deliver everything failed with; the rest is
                closed all the same.
        """
        run_blocking(self._client.close())

    def abort(self) -> None:
        """End every open stream at once, giving up what is not delivered, and the connection."""
        run_blocking(self._client.abort())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        run_blocking(self._client.__aexit__(kind, error, traceback))
