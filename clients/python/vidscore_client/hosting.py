"""Hosted benchmarks for clients: benchmarks, submissions, boards and tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from vidscore_client.frames import Geometry
from vidscore_client.reports import Report


@dataclass(frozen=True)
class Quota:
    """A limit on a team's submissions.

    Attributes:
        name: Key of the policy, or setting of the server, that sets it: ``submissions_per_day``,
            ``maximum_team_open_submissions``, ``maximum_team_mebibytes``.
        maximum: Maximum number of submissions; for the last one, mebibytes of detections.
        left: Remaining amount for the team.
        renew_time: When it is renewed; None for never.
    """

    name: str
    maximum: int
    left: int
    renew_time: datetime | None


@dataclass(frozen=True)
class Benchmark:
    """A specification, truth and a policy, hosted.

    Attributes:
        name: Its name, such as ``streets``.
        definition: The argument of `create` and `update`: the keys of a specification and
            ``description``, ``truth_geometry``, ``detection_geometry``, ``open_time``,
            ``close_time``, ``public_names``, ``policy`` and ``live``.
        create_time: When it was created.
        update_time: When it was last changed.
        truth_revision: Newest revision of the truth, for organisers only; 0 for none.
        truth_digest: Its digest, keyed with a secret of the server.
        truth_complete: Whether it is complete, so that nothing waits for more.
        quotas: Quotas of the caller's team, if a single benchmark was requested.
        submissions_to_rescore: Number of scored submissions to score again before the board moves,
            for organisers only.
        submission_budget: Number of scored submissions that a team may have in all, from the policy
            or, if its ``submissions_in_all`` is -1, from the truth; 0: no limit.
        ladder_step_in_force: Current step of released scores, from the policy or, if its
            ``ladder_step`` is 0, from the truth.
        private_sequence_count: Number of sequences whose scores are not released before the
            benchmark closes.
        private_sequences: Their names, for organisers only.
        warnings: Warnings about what the policy reveals; for organisers only.
        etag: Identifies the current definition; for organisers only.
        team_count: Number of teams with submissions that count as scored; 0 if the board is not
            shown.
    """

    name: str
    definition: Mapping[str, Any]
    create_time: datetime | None
    update_time: datetime | None
    truth_revision: int
    truth_digest: str
    truth_complete: bool = False
    quotas: tuple[Quota, ...] = ()
    submissions_to_rescore: int = 0
    submission_budget: int = 0
    ladder_step_in_force: float = 0.0
    private_sequence_count: int = 0
    private_sequences: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    etag: str = ""
    team_count: int = 0

    @property
    def title(self) -> str:
        """Title for people."""
        return str(self.definition.get("title", ""))

    @property
    def truth_geometry(self) -> Geometry | None:
        """Shape of the truth's objects; None if the first truth will settle it."""
        return self.definition.get("truth_geometry")

    @property
    def detection_geometry(self) -> Geometry | None:
        """Shape of detections; None if it depends on truth that is not uploaded yet."""
        return self.definition.get("detection_geometry")


@dataclass(frozen=True)
class TruthRevision:
    """A state of a benchmark's truth; it never changes.

    Attributes:
        revision: Number, from 1 on.
        digest: Digest, keyed with a secret of the server.
        create_time: When it was uploaded.
        frame_count: Number of frames.
        complete: Whether it is complete, so that nothing waits for more.
        comment: Reason for the upload.
        submissions_to_rescore: Number of scored submissions still to score again under it; 0 for
            all revisions except the one that the board is to be based on.
        object_count: Number of objects; None if an older server has stored it.
        sequence_count: Number of sequences; None likewise.
        label_count: Number of labels; None likewise.
    """

    revision: int
    digest: str
    create_time: datetime | None
    frame_count: int
    complete: bool
    comment: str
    submissions_to_rescore: int = 0
    object_count: int | None = None
    sequence_count: int | None = None
    label_count: int | None = None


class SubmissionState(StrEnum):
    """State of a submission."""

    UNKNOWN = "unknown"
    OPEN = "open"
    RECEIVING = "receiving"
    SEALED = "sealed"
    WAITING_FOR_TRUTH = "waiting_for_truth"
    SCORING = "scoring"
    SCORED = "scored"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def has_ended(self) -> bool:
        """Whether the state changes only on request."""
        return self in {self.SCORED, self.FAILED, self.CANCELLED}


@dataclass(frozen=True)
class StreamInfo:
    """An append stream: its name, the epoch of its writer, the offset of its next frame.

    `source_position` is the writer's position in its own source, in its own form.
    """

    stream: str
    epoch: int
    next_offset: int
    source_position: str = ""


@dataclass(frozen=True)
class DetectionsCheck:
    """Result of checking detections that a benchmark would accept.

    Attributes:
        frame_count: Number of frames that would be accepted.
        warnings: Doubts about them, as in `Submission.warnings`.
    """

    frame_count: int
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Submission:
    """One system's detections for a benchmark.

    Attributes:
        name: Full name: ``benchmarks/{benchmark}/submissions/{submission}``.
        team: Team that it belongs to.
        title: Title for people.
        state: Its state.
        state_reason: Reason for the state: a stable code.
        state_message: The same for people.
        state_time: Start of the state.
        create_time: When it was created.
        seal_time: When it was sealed; None before.
        frame_count: Number of durable frames in all streams together.
        streams: Its append streams.
        revision: Increases with every change.
        due_time: Time of its next state change by a timeout; None for none.
        due_reason: The ``state_reason`` after that change, or ``draft_deleted``.
        warnings: Doubts about its detections, for people: names that the benchmark does not have,
            if names are public.
        chosen: Whether its team has chosen it for the final order of a benchmark with private
            sequences.
        disqualification: Why an organiser has disqualified it; empty if it is not.
    """

    name: str
    team: str
    title: str
    state: SubmissionState
    state_reason: str
    state_message: str
    state_time: datetime | None
    create_time: datetime | None
    seal_time: datetime | None
    frame_count: int
    streams: tuple[StreamInfo, ...]
    revision: int
    due_time: datetime | None = None
    due_reason: str = ""
    warnings: tuple[str, ...] = ()
    chosen: bool = False
    disqualification: str = ""

    @property
    def benchmark(self) -> str:
        """Name of the benchmark."""
        return self.name.split("/")[1]

    @property
    def submission(self) -> str:
        """Last part of the name."""
        return self.name.rpartition("/")[2]

    def stream(self, name: str) -> StreamInfo | None:
        """One of its streams; None if it does not exist."""
        return next((known for known in self.streams if known.stream == name), None)


@dataclass(frozen=True)
class OnlineRecord:
    """Whether a submission answered a live benchmark online, and how fast.

    Attributes:
        certified: Whether the answer to every frame was durable before the next frame was given
            out.
        message: Why it is not certified, for people; empty if it is.
        frames: Where the frames came from: ``held by the participant``, so that it may have seen
            them before, or ``sent by the organiser``.
        frame_count: Frames of the clock.
        in_time_count: Frames whose answer was durable before the next frame was given out.
        late_count: Frames that were answered late.
        missing_count: Frames without an answer.
        passed_count: Missing frames that were never given out, because no call was open or the
            server was behind.
        outside_count: Frames of the submission that are not answers.
        latency_50_s: Median latency, from giving out a frame to storing its answer; None without an
            answer, like the other latencies.
        latency_90_s: 90th percentile of the latency.
        latency_99_s: 99th percentile of the latency.
        latency_worst_s: Maximum latency.
        delay_worst_s: Maximum delay of giving out a frame after its due time; None if no frame was
            given out.
    """

    certified: bool
    message: str
    frames: str
    frame_count: int
    in_time_count: int
    late_count: int
    missing_count: int
    passed_count: int
    outside_count: int
    latency_50_s: float | None
    latency_90_s: float | None
    latency_99_s: float | None
    latency_worst_s: float | None
    delay_worst_s: float | None


@dataclass(frozen=True)
class SubmissionScore:
    """A score of a submission; it never changes.

    Attributes:
        name: Full name; empty for a live score.
        create_time: When it was made.
        truth_revision: Revision of the truth, for organisers only; otherwise 0.
        report: The visible part of the report.
        partial: Whether the truth was incomplete, so that frames without truth were left out.
        current: Whether it is the one score of its evaluator to show.
        private_report: The visible report over the private sequences; None if there are none, or it
            is hidden.
        public_report: The report over all others, for organisers only; for others, it is `report`.
        streaming_report: The visible report by streaming accuracy, over the same data as `report`;
            None if there is none, or it is hidden.
        online: Whether the submission answered online; None if its benchmark is not live.
    """

    name: str
    create_time: datetime | None
    truth_revision: int
    report: Report
    partial: bool
    current: bool
    private_report: Report | None = None
    public_report: Report | None = None
    streaming_report: Report | None = None
    online: OnlineRecord | None = None


@dataclass(frozen=True)
class SubmissionUpdate:
    """A submission at a revision, with its visible scores.

    Attributes:
        submission: The submission.
        scores: The scores.
        window_reports: A report for each evaluator over the last frames, if a window is watched and
            any of them has truth.
        window_frame_count: Number of frames that they cover.
    """

    submission: Submission
    scores: tuple[SubmissionScore, ...]
    window_reports: tuple[Report, ...] = ()
    window_frame_count: int = 0


@dataclass(frozen=True)
class ScoreDifference:
    """A value and rank before and after re-scoring.

    Attributes:
        submission: Full name of the submission.
        evaluator: Evaluator.
        measure: Measure over everything.
        before: Value before; None if it was undefined, or there was none.
        after: Value after; None if it is undefined.
        rank_before: Rank before; None if it was not on the board.
        rank_after: Rank after, likewise.
    """

    submission: str
    evaluator: str
    measure: str
    before: float | None
    after: float | None
    rank_before: int | None
    rank_after: int | None


@dataclass(frozen=True)
class RescoreProgress:
    """Progress of a re-scoring: numbers of scored submissions, and of all submissions to score."""

    submissions_done: int
    submissions_in_all: int


TrustDocument = dict[str, Any]
"""Result of a trust analysis, as printed by `vidscore trust ranking --format json`.

For a criterion test: its name as ``test``, the number of ``families``, and rows as ``errors`` and
``indicators``.
"""


@dataclass(frozen=True)
class RankingQuestions:
    """Questions about a ranking; None means the server's default.

    Attributes:
        draws: Number of draws of sequences for the bootstrap; 0 for none.
        coverage: Probability that an interval covers a figure on other sequences.
        noise_px: Bound of the annotation noise; 0, the default, for none.
        trials: Number of trials with noise.
        seed: Seed of the random numbers.
    """

    draws: int | None = None
    coverage: float | None = None
    noise_px: float | None = None
    trials: int | None = None
    seed: int | None = None


@dataclass(frozen=True)
class TrustProgress:
    """Progress of a trust analysis.

    Attributes:
        stage: Current work, for people; empty while it is queued.
        pieces_done: Number of finished pieces of the stage.
        pieces_in_all: Number of all pieces of the stage; 0 if unknown.
    """

    stage: str
    pieces_done: int
    pieces_in_all: int


class Role(StrEnum):
    """Role of the bearer of a token."""

    UNKNOWN = "unknown"
    ORGANISER = "organiser"
    PARTICIPANT = "participant"
    VIEWER = "viewer"

    @classmethod
    def _missing_(cls, value: object) -> Role | None:
        """``performer`` is an earlier name of ``participant``."""
        return cls.PARTICIPANT if value == "performer" else None


@dataclass(frozen=True)
class Token:
    """A token of the server, without its secret.

    Attributes:
        name: Full name: ``tokens/{token}``.
        role: What its bearer may do.
        team: Team that a participant submits for.
        comment: Its purpose.
        create_time: When it was created.
        expire_time: When it ends; None for never.
        revoke_time: When it was revoked; None if it is not.
    """

    name: str
    role: Role
    team: str
    comment: str
    create_time: datetime | None
    expire_time: datetime | None
    revoke_time: datetime | None


@dataclass(frozen=True)
class NewToken:
    """A new token and its secret, which is returned only once."""

    token: Token
    secret: str

    def __repr__(self) -> str:
        """The token without the secret, because representations end up in logs."""
        return f"NewToken(token={self.token!r})"


@dataclass(frozen=True)
class AuditFilter:
    """A filter of the audit record; empty fields match everything.

    Attributes:
        benchmark: A benchmark: matches actions on it and its parts.
        actor: Name of the acting token, or ``server``.
        action: The action, such as ``UploadTruth``.
        since: Earliest time, with its offset from UTC.
        until: Time after the latest.
        resource: A resource: matches actions on it and its parts; not together with `benchmark`.
    """

    benchmark: str = ""
    actor: str = ""
    action: str = ""
    since: datetime | None = None
    until: datetime | None = None
    resource: str = ""


@dataclass(frozen=True)
class AuditRecord:
    """One recorded action.

    Attributes:
        number: Number, from 1 on.
        time: When.
        actor: Full name of the acting token, or ``server``.
        action: The action.
        resource: The affected resource.
        detail: Further facts.
    """

    number: int
    time: datetime | None
    actor: str
    action: str
    resource: str
    detail: str
