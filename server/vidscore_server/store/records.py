"""What a store keeps, as frozen records: no SQL, no protos, no rules.

Times are aware datetimes in UTC. Payloads are bytes that the store neither reads nor changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class SubmissionState(StrEnum):
    """Where a submission stands; what leads where is in `vidscore_server.hosting.states`."""

    OPEN = "open"
    RECEIVING = "receiving"
    SEALED = "sealed"
    WAITING_FOR_TRUTH = "waiting_for_truth"
    SCORING = "scoring"
    SCORED = "scored"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Role(StrEnum):
    """What the bearer of a token may do."""

    ORGANISER = "organiser"
    PARTICIPANT = "participant"
    VIEWER = "viewer"

    @classmethod
    def _missing_(cls, value: object) -> Role | None:
        """Stores and backups from before version 0.1 call participants performers."""
        return cls.PARTICIPANT if value == "performer" else None


@dataclass(frozen=True, slots=True)
class ServingRecord:
    """How long a site has served without a break.

    Attributes:
        quiet_from: Before it nobody is blamed for having been quiet.
        beat_time: When a server last said that it serves.
    """

    quiet_from: datetime
    beat_time: datetime


@dataclass(frozen=True, slots=True)
class BenchmarkRecord:
    """A benchmark.

    Attributes:
        benchmark: Its name.
        definition: Specification, geometries and policy, in the JSON form of the hosting layer.
        open_time: Submissions may be created from then on; None for at once.
        close_time: Submissions end then; None for never.
        create_time: When it was created.
        update_time: When it was last changed.
        revision: Goes up with every change of the record.
        truth_revision: Newest revision of the truth, 0 for none.
        board: What the scores on its board are under, in the JSON form of the hosting layer;
            empty while there is no board.
    """

    benchmark: str
    definition: str
    open_time: datetime | None
    close_time: datetime | None
    create_time: datetime
    update_time: datetime
    revision: int = 1
    truth_revision: int = 0
    board: str = ""


@dataclass(frozen=True, slots=True)
class TruthRevisionRecord:
    """A state of a benchmark's truth; it never changes.

    Attributes:
        benchmark: The benchmark.
        revision: From 1 on.
        digest: Fingerprint of the annotations (not keyed: it never leaves as it is).
        create_time: When it came.
        frame_count: Frames that it has.
        complete: Whether nothing waits for more.
        comment: Why it came.
    """

    benchmark: str
    revision: int
    digest: str
    create_time: datetime
    frame_count: int
    complete: bool
    comment: str


@dataclass(frozen=True, slots=True)
class SubmissionRecord:
    """A submission.

    Attributes:
        benchmark: Its benchmark.
        submission: Its name within the benchmark.
        team: Team that it belongs to.
        title: For people.
        state: Where it stands.
        state_reason: Why, as a stable code.
        state_message: Why, for people.
        state_time: Since when.
        create_time: When it was created.
        activity_time: When something last came from its team.
        seal_time: When it was sealed.
        frame_count: Durable frames of all its streams.
        revision: Goes up with every change.
        attempts: How often scoring has begun and was not ended in order: deaths, while none runs.
        warnings: What is doubtful about it, in the JSON form of the hosting layer; empty for
            nothing.
        score_shown: Whether its team was shown a score of it while it received.
        byte_count: Bytes of its frames as they are stored; 0 again once they were freed.
    """

    benchmark: str
    submission: str
    team: str
    title: str
    state: SubmissionState
    state_reason: str
    state_message: str
    state_time: datetime
    create_time: datetime
    activity_time: datetime
    seal_time: datetime | None = None
    frame_count: int = 0
    revision: int = 1
    attempts: int = 0
    warnings: str = ""
    score_shown: bool = False
    byte_count: int = 0


@dataclass(frozen=True, slots=True)
class Holdings:
    """What a team has in a benchmark.

    Attributes:
        open_count: Submissions that take frames, drafts too.
        byte_count: Bytes of the frames of all its submissions.
    """

    open_count: int
    byte_count: int


@dataclass(frozen=True, slots=True)
class StreamRecord:
    """An append stream of a submission."""

    stream: str
    epoch: int
    next_offset: int


@dataclass(frozen=True, slots=True)
class BatchRecord:
    """A batch of detections, as it was received.

    Attributes:
        stream: Its stream.
        first_offset: Offset of its first frame.
        frame_count: Frames that it has.
        digest: SHA-256 of the received bytes.
        payload: The received bytes, compressed by the caller.
    """

    stream: str
    first_offset: int
    frame_count: int
    digest: bytes
    payload: bytes


@dataclass(frozen=True, slots=True)
class ScoreRecord:
    """A score; it never changes, but is published later where its board is.

    Attributes:
        benchmark: The benchmark.
        submission: The submission.
        number: From 1 on within the submission.
        evaluator: Name of the evaluator.
        truth_revision: Revision of the truth that it is under.
        partial: Whether frames without truth were left out.
        create_time: When it was made.
        configuration: Evaluator, version, and a digest of parameters and specification.
        values: Ranking measures by name as JSON, first one first.
        released: What the team learnt by it, in the same form; empty where nothing.
        report: The report as JSON, compressed by the caller.
        published: Whether it was on the board, or may have been.
    """

    benchmark: str
    submission: str
    number: int
    evaluator: str
    truth_revision: int
    partial: bool
    create_time: datetime
    configuration: str
    values: str
    released: str
    report: bytes
    published: bool = True


@dataclass(frozen=True, slots=True)
class ScoreBasis:
    """What a score of a submission is under."""

    submission: str
    evaluator: str
    truth_revision: int
    configuration: str


@dataclass(frozen=True, slots=True)
class ReleaseRecord:
    """What was last released of an evaluator's ranking measures to a team (the Ladder's state)."""

    benchmark: str
    evaluator: str
    team: str
    submission: str
    values: str
    release_time: datetime


@dataclass(frozen=True, slots=True)
class TokenRecord:
    """A token, without its secret.

    Attributes:
        token: Its name.
        secret_hash: Hash of the secret.
        role: What its bearer may do.
        team: Team that a participant submits for, empty for others.
        comment: What it is for.
        create_time: When it was created.
        expire_time: When it ends; None for never.
        revoke_time: When it was revoked; None if it is not.
    """

    token: str
    secret_hash: bytes
    role: Role
    team: str
    comment: str
    create_time: datetime
    expire_time: datetime | None = None
    revoke_time: datetime | None = None


@dataclass(frozen=True, slots=True)
class OperationRecord:
    """Long work: what it is, how far it has come, what came of it."""

    operation: str
    kind: str
    request: str
    create_time: datetime
    progress: str = "{}"
    done: bool = False
    cancel_requested: bool = False
    result: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """One thing that somebody did; `number` is given by the store."""

    time: datetime
    actor: str
    action: str
    resource: str
    detail: str = ""
    number: int = 0


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Which audit records are wanted; what is empty or None does not matter.

    Attributes:
        resource: Name of a resource: records of it and of what belongs to it.
        actor: Who did it.
        action: What was done.
        since: The first moment.
        until: The moment after the last.
    """

    resource: str = ""
    actor: str = ""
    action: str = ""
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class LeaseRecord:
    """Work that a server does alone, until its lease ends."""

    work: str
    owner: str
    end_time: datetime
