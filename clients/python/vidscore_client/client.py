"""The synchronous client: the asyncio client over a blocking transport."""

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

    Proxies of the environment (``https_proxy``, ``no_proxy``) are used for other machines.

    Args:
        target: Address: ``host:port``, ``[address]:port`` or ``unix:path``.
        tls: Whether to encrypt: `Tls` has the certificates, True trusts the system's authorities.
        token: Sent with each call as ``authorization: Bearer``.
        timeout_s: Seconds that a call, or the opening of a stream, may take.
        allow_plaintext_token: Whether to allow sending the token unencrypted to another machine.
        keepalive: How silent connections are detected.

    Raises:
        InputError: If an argument is wrong, a certificate cannot be used, or the token would be
            sent unencrypted to another machine.
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
        """The reliability of rankings and criteria."""
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
            maximum: Maximum number of records; None for all.
            wanted: Filter of the records.

        Raises:
            VidscoreError: If the call fails.
        """
        return run_blocking(self._client.audit(maximum, wanted))

    def queue(self, states: Iterable[SubmissionState | str] = ()) -> Queue:
        """Waiting, running and failed submissions of all benchmarks. For organisers.

        Args:
            states: States to include; empty for sealed, waiting, scoring and failed ones.

        Raises:
            InputError: If there is no such state.
            VidscoreError: If the call fails.
        """
        return run_blocking(self._client.queue(states))

    def server(self) -> ServerInfo:
        """Describe the server; it answers clients of any version.

        Raises:
            VidscoreError: If the call fails.
        """
        return run_blocking(self._client.server())

    def export_backup(self, write: Callable[[bytes], object], benchmark: str | None = None) -> None:
        """Take a backup while the server runs. For organisers.

        Args:
            write: Called with each piece of the file. It holds hidden truth and hashes of tokens:
                let nobody else read it.
            benchmark: The benchmark; None for the whole site.

        Raises:
            NotFoundError: If there is no such benchmark.
            VidscoreError: If the call fails; then the written bytes are not a backup.
        """
        run_blocking(self._client.export_backup(write, benchmark))

    def import_backup(self, chunks: Iterable[bytes]) -> str:
        """Add a benchmark from its backup: whole, or not at all. For organisers.

        Args:
            chunks: The file, in pieces of any size.

        Returns:
            Full name of the benchmark.

        Raises:
            InvalidArgumentError: If it is damaged, or has other tables; nothing was added.
            ConflictError: If a benchmark of that name exists.
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
        """Whether the server accepts calls, by the standard health protocol.

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
            evaluators: Names, or (name, parameters). If given, they replace those of
                the specification.
            specification: The specification, in its JSON form or as the message.
            truth_geometry: Shape of the truth's objects.
            detection_geometry: Shape of the detections.
            live: When to send live reports; None for never.
            batching: How frames are batched, and what happens if the server is slow.
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
            evaluators: Evaluators, as in `score_stream`.
            truth: Batches of the truth; may be a generator.
            detections: Batches of detections; may be a generator.
            specification: The specification.
            truth_geometry: Shape of the truth's objects; None for that of its first batch.
            detection_geometry: Shape of the detections; None for that of their first batch.
            timeout_s: Seconds that it may take; None for no limit.

        Returns:
            A report for each evaluator, in the order of the request.

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
        """Answer every frame of a live benchmark while it is current, until the clock has ended.

        The first call of a submission starts its clock, which never waits. While `on_frame`
        processes a frame, only the newest later frame waits; those before it stay unanswered. After
        a break of the connection or the program, answers continue with the current frame; frames
        that have passed stay unanswered.

        Args:
            benchmark: The benchmark.
            on_frame: Called with each frame; it answers with `LiveFrame.answer`, or leaves the
                frame without an answer.
            submission: Last part of the submission's name, as in `submit`; None to let the server
                choose.
            title: Title for people, of a new submission.
            on_stored: Called with each answer of this call once it is durable; must be quick,
                because the server's next response waits for it.
            seal: Whether to seal the submission, and so score it, once the clock has ended.
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

        The submission is created if it does not exist. A program that dies and restarts continues
        by naming the same submission and stream: `SubmissionStream.next_offset` is the number of
        durable frames, and ``replay=True`` omits exactly these from sending.

        Args:
            benchmark: The benchmark.
            submission: Last part of the submission's name: 1 to 63 lower-case letters, digits and
                hyphens, a letter first; None to let the server choose.
            stream: Which of the submission's streams this program writes. Programs that send
                concurrently each need their own; opening another program's stream excludes that
                program.
            title: Title for people, of a new submission.
            replay: Whether the program sends the same frames again from the first one on, in the
                same order, so that frames that are already durable are omitted.
            batching: How frames are batched, and what happens if the server is slow.
            delivery: How frames are kept until they are acknowledged, and retries after a break.

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

        Streams into submissions deliver all accepted frames, like their own `close`; scoring
        streams are cancelled.

        Raises:
            VidscoreError: The error of a stream that could not deliver everything; all others are
                closed anyway.
        """
        run_blocking(self._client.close())

    def abort(self) -> None:
        """End every open stream and the connection at once; undelivered frames are given up."""
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
