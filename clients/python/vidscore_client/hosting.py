"""Hosted benchmarks as a client sees them: benchmarks, submissions, boards and tokens."""

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
        maximum: Most submissions; of the last one, mebibytes of detections.
        left: What the team may still have.
        renew_time: When it is whole again; None for never.
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
        definition: What `create` takes and `update` changes: the keys of a specification beside
            ``description``, ``truth_geometry``, ``detection_geometry``, ``open_time``,
            ``close_time``, ``public_names``, ``policy`` and ``live``.
        create_time: When it was created.
        update_time: When it was last changed.
        truth_revision: Newest revision of the truth, for organisers alone; 0 for none.
        truth_digest: Digest of it, keyed with a secret of the server.
        truth_complete: Whether it is complete, so that nothing waits for more.
        quotas: Limits on the submissions of the caller's team, where one benchmark was asked for.
        submissions_to_rescore: Scored submissions that are to be scored again before the board
            moves, for organisers alone.
        submission_budget: Scored submissions that a team may have in all, whether the policy says
            so or, where its ``submissions_in_all`` is -1, it follows from the truth; 0: no limit.
        ladder_step_in_force: Step to which scores are released now, whether the policy says so or,
            where its ``ladder_step`` is 0, it follows from the truth.
        private_sequence_count: Sequences of which no score is released before the benchmark closes.
        private_sequences: Their names, for organisers alone.
        warnings: What an organiser should know of what the policy gives away; organisers alone
            are told.
        etag: Identifies the present definition; organisers alone are told.
        team_count: Teams with submissions that count as scored; 0 if the board is not shown.
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
        """Shape of the truth's objects; None if the first truth will say it."""
        return self.definition.get("truth_geometry")

    @property
    def detection_geometry(self) -> Geometry | None:
        """Shape of detections; None if it follows from truth that has not come."""
        return self.definition.get("detection_geometry")


@dataclass(frozen=True)
class TruthRevision:
    """A state of a benchmark's truth; it never changes.

    Attributes:
        revision: Number, from 1 on.
        digest: Digest, keyed with a secret of the server.
        create_time: When it was uploaded.
        frame_count: Frames that it has.
        complete: Whether it is complete, so that nothing waits for more.
        comment: Why it was uploaded.
        submissions_to_rescore: Scored submissions that are still to be scored again under it; 0
            for all revisions but the one that the board is to stand on.
        object_count: Objects that it has; None if an older server has stored it.
        sequence_count: Sequences that it has; None likewise.
        label_count: Labels that it has; None likewise.
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
        """Whether nothing more happens by itself."""
        return self in {self.SCORED, self.FAILED, self.CANCELLED}


@dataclass(frozen=True)
class StreamInfo:
    """An append stream: its name, the epoch of its writer, the offset of its next frame.

    `source_position` is how far the writer had read its own source, in its own words.
    """

    stream: str
    epoch: int
    next_offset: int
    source_position: str = ""


@dataclass(frozen=True)
class DetectionsCheck:
    """What a benchmark says of detections that it would take.

    Attributes:
        frame_count: Frames that would be taken.
        warnings: What is doubtful about them, as in `Submission.warnings`.
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
        state_time: Since when.
        create_time: When it was created.
        seal_time: When it was sealed; None while it is not.
        frame_count: Frames that are durable, in all streams together.
        streams: Its append streams.
        revision: Goes up whenever anything of it changes.
        due_time: When time alone moves it on; None for never.
        due_reason: The ``state_reason`` that follows then, or ``draft_deleted``.
        warnings: What is doubtful about its detections, for people: names that the benchmark does
            not have, as far as they are public.
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
        """One of its streams; None if it is not there."""
        return next((known for known in self.streams if known.stream == name), None)


@dataclass(frozen=True)
class OnlineRecord:
    """Whether a submission answered a live benchmark online, and how fast.

    Attributes:
        certified: Whether the answer to every frame was durable before the next frame was given
            out.
        message: Why not, for people; empty if it is certified.
        frames: Where the frames came from: ``held by the participant``, so that it may have seen
            them before, or ``sent by the organiser``.
        frame_count: Frames of the clock.
        in_time_count: Frames whose answer was durable before the next frame was given out.
        late_count: Frames that were answered later.
        missing_count: Frames without an answer.
        passed_count: Those of them that were never given out, because no call was open or the
            server was behind.
        outside_count: Frames of the submission that are no answers.
        latency_50_s: Latency that half of the answers had at most, from giving out the frame to
            storing the answer; None without an answer, like the other latencies.
        latency_90_s: Latency that 90 of 100 answers had at most.
        latency_99_s: Latency that 99 of 100 answers had at most.
        latency_worst_s: Greatest latency.
        delay_worst_s: By how much the server gave out a frame later than the clock says, at most;
            None if it gave out none.
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
        truth_revision: Revision of the truth, for organisers alone; otherwise 0.
        report: The report, as far as the caller may see it.
        partial: Whether the truth was not complete: frames without truth were left out.
        current: Whether it is the newest of its evaluator.
        private_report: The report over the private sequences, as far as the caller may see it;
            None if there are none, or it may not be seen.
        public_report: The report over all others, for organisers alone; to others it is `report`.
        streaming_report: The report by streaming accuracy, over what `report` is over, as far as
            the caller may see it; None if there is none, or it may not be seen.
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
    """A submission at a revision, and the scores that may be seen then.

    Attributes:
        submission: The submission.
        scores: The scores.
        window_reports: A report for each evaluator over the last frames, where a window is watched
            and any of them has truth.
        window_frame_count: Frames that they are over.
    """

    submission: Submission
    scores: tuple[SubmissionScore, ...]
    window_reports: tuple[Report, ...] = ()
    window_frame_count: int = 0


@dataclass(frozen=True)
class ScoreDifference:
    """A score before and after it was made again.

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
    """How far a re-scoring has come: submissions that are scored, and those to score in all."""

    submissions_done: int
    submissions_in_all: int


TrustDocument = dict[str, Any]
"""What a trust analysis found, as `vidscore trust ranking --format json` prints it.

Of a criterion test: its name as ``test``, the number of ``families``, and rows as ``errors`` and
``indicators``.
"""


@dataclass(frozen=True)
class RankingQuestions:
    """What is asked of a ranking; what is None takes the server's default.

    Attributes:
        draws: Draws of sequences for the bootstrap; 0 for none.
        coverage: Share of the draws that an interval holds.
        noise_px: Bound of the noise of annotations; 0 for none, which is the default.
        trials: Trials with noise.
        seed: Seed of all chance.
    """

    draws: int | None = None
    coverage: float | None = None
    noise_px: float | None = None
    trials: int | None = None
    seed: int | None = None


@dataclass(frozen=True)
class TrustProgress:
    """How far a trust analysis has come.

    Attributes:
        stage: What is being done, for people; empty while it waits for its turn.
        pieces_done: Pieces of the stage that are done.
        pieces_in_all: Pieces of the stage in all; 0 if that is not known yet.
    """

    stage: str
    pieces_done: int
    pieces_in_all: int


class Role(StrEnum):
    """What the bearer of a token may do."""

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
        comment: What it is for.
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
    """A new token and its secret, which is returned this once."""

    token: Token
    secret: str

    def __repr__(self) -> str:
        """The token without the secret: representations end up in logs."""
        return f"NewToken(token={self.token!r})"


@dataclass(frozen=True)
class AuditFilter:
    """Which records of the audit record are wanted; what is not said does not matter.

    Attributes:
        benchmark: A benchmark: what was done to it and to what belongs to it.
        actor: Name of the token that did it, or ``server``.
        action: What was done, such as ``UploadTruth``.
        since: The first moment, with its offset from UTC.
        until: The moment after the last.
        resource: A resource: what was done to it and to what belongs to it; not beside a benchmark.
    """

    benchmark: str = ""
    actor: str = ""
    action: str = ""
    since: datetime | None = None
    until: datetime | None = None
    resource: str = ""


@dataclass(frozen=True)
class AuditRecord:
    """One thing that somebody did.

    Attributes:
        number: Number, from 1 on.
        time: When.
        actor: Full name of the token that did it, or ``server``.
        action: What.
        resource: What it was done to.
        detail: Further facts.
    """

    number: int
    time: datetime | None
    actor: str
    action: str
    resource: str
    detail: str
