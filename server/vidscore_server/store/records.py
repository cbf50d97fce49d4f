"""Records of the store, frozen: no SQL, no protos, no rules.

Times are aware datetimes in UTC. Payloads are bytes that the store neither reads nor changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from msgspec import Struct

Row = tuple[str, dict[str, Any]]
"""Name of a table, and values by column: strings, numbers, bytes or None."""

FrameName = tuple[str, str, int]
"""Domain, sequence and number of a frame."""

FrameNumbers = Mapping[tuple[str, str], Sequence[int]]
"""Numbers of frames by the domain and name of their sequence."""

SubmissionKey = tuple[str, str]
"""Benchmark and submission."""

HIDDEN = "~"
"""Begins the names of benchmarks that are being removed or restored, or that receive truth."""

HIDDEN_ROWS: SubmissionKey = ("", "")
"""Stands for the rows of hidden benchmarks in the locks of commands, like a submission."""

RowNumbers = dict[tuple[str, int], int]
"""New row numbers, by table and row number in the source."""


class SubmissionState(StrEnum):
    """State of a submission; the transitions are in `vidscore_server.domain.states`."""

    OPEN = "open"
    RECEIVING = "receiving"
    SEALED = "sealed"
    WAITING_FOR_TRUTH = "waiting_for_truth"
    SCORING = "scoring"
    SCORED = "scored"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Role(StrEnum):
    """Role of the bearer of a token."""

    ORGANISER = "organiser"
    PARTICIPANT = "participant"
    VIEWER = "viewer"

    @classmethod
    def _missing_(cls, value: object) -> Role | None:
        """Stores and backups of version 0.1 call participants performers."""
        return cls.PARTICIPANT if value == "performer" else None


class ServingRecord(Struct, frozen=True):
    """Heartbeat of a site.

    Attributes:
        quiet_from: Start of the present uptime: idle times are counted from then on.
        beat_time: Time of the last heartbeat of any server.
    """

    quiet_from: datetime
    beat_time: datetime


class BenchmarkRecord(Struct, frozen=True):
    """A benchmark.

    Attributes:
        benchmark: Name.
        definition: Specification, geometries and policy, in the JSON form of the hosting layer.
        open_time: Start of submissions; None for at once.
        close_time: End of submissions; None for never.
        create_time: Time of creation.
        update_time: Time of the last change.
        revision: Incremented by every change of the record.
        truth_revision: Newest revision of the truth, 0 for none.
        board: Basis of the scores on the board, in the JSON form of the hosting layer; empty while
            there is no board.
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


class TruthRevisionRecord(Struct, frozen=True):
    """A revision of a benchmark's truth; it never changes.

    Attributes:
        benchmark: The benchmark.
        revision: Number, from 1.
        digest: Fingerprint of the annotations, not keyed; only its keyed form is published.
        create_time: Time of the upload.
        frame_count: Number of frames.
        complete: Whether the truth is complete.
        comment: Reason, for people.
        object_count: Number of objects; None for a revision from before they were counted.
        sequence_count: Number of sequences; None likewise.
        label_count: Number of labels; None likewise.
    """

    benchmark: str
    revision: int
    digest: str
    create_time: datetime
    frame_count: int
    complete: bool
    comment: str
    object_count: int | None = None
    sequence_count: int | None = None
    label_count: int | None = None


class SubmissionRecord(Struct, frozen=True):
    """A submission.

    Attributes:
        benchmark: Name of the benchmark.
        submission: Name within the benchmark.
        team: Team that owns it.
        title: Title for people.
        state: Present state.
        state_reason: Reason of the state, a stable code.
        state_message: Reason of the state, for people.
        state_time: Start of the state.
        create_time: Time of creation.
        activity_time: Time of the team's last action.
        seal_time: Time of sealing.
        frame_count: Durable frames of all streams.
        revision: Incremented by every change.
        attempts: Number of scorings that started and did not end properly, for example because of a
            crash.
        warnings: Warnings, in the JSON form of the hosting layer; empty for none.
        score_shown: Whether the team was shown a score before the seal.
        byte_count: Stored bytes of its frames; 0 after they were freed.
        chosen: Whether its team has chosen it for the final order.
        disqualification: Why an organiser has disqualified it; empty if it is not.
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
    chosen: bool = False
    disqualification: str = ""


class Holdings(Struct, frozen=True):
    """Usage of a benchmark by a team.

    Attributes:
        open_count: Submissions that take frames, drafts included.
        byte_count: Stored bytes of the frames of all submissions.
    """

    open_count: int
    byte_count: int


class StreamRecord(Struct, frozen=True):
    """An append stream of a submission.

    Attributes:
        stream: Its name.
        epoch: Epoch of its writer.
        next_offset: Offset of its next frame.
        source_position: Source position of its writer after these frames; empty if it keeps none.
    """

    stream: str
    epoch: int
    next_offset: int
    source_position: str = ""


class BatchRecord(Struct, frozen=True):
    """A batch of detections, as it was received.

    Attributes:
        stream: Name of the stream.
        first_offset: Offset of the first frame.
        frame_count: Number of frames.
        digest: SHA-256 of the received bytes.
        payload: The received bytes, compressed by the caller.
        arrival_time: When the server received it, and so each of its frames; None if it was stored
            before arrivals were recorded.
    """

    stream: str
    first_offset: int
    frame_count: int
    digest: bytes
    payload: bytes
    arrival_time: datetime | None = None


class LiveClockRecord(Struct, frozen=True):
    """The clock of a submission to a live benchmark, once it has started.

    Events are frames given out, answers stored, and the end of the clock. Their numbers, from 1 in
    the order of their commits, tell which was durable first.

    Attributes:
        schedule: Its timeline, in the JSON form of the hosting layer.
        start_time: Time of its start.
        event_count: Number of events, which is the number of the last one.
        last_position: Position of the last frame that was given out; -1 for none.
        end_event: Event number of its end; None while it runs.
    """

    schedule: str
    start_time: datetime
    event_count: int = 0
    last_position: int = -1
    end_event: int | None = None


class LiveFrameRecord(Struct, frozen=True):
    """A frame that the clock has given out.

    Attributes:
        position: Number of frames before it on the clock.
        given_event: Number of the event that gave it out.
        given_time: Time of giving it out.
        answer_event: Number of the event that stored its answer; None without one.
        answer_time: Time of storing the answer.
        answer_offset: Offset of the answer in its stream.
    """

    position: int
    given_event: int
    given_time: datetime
    answer_event: int | None = None
    answer_time: datetime | None = None
    answer_offset: int | None = None


class ScoreRecord(Struct, frozen=True):
    """A score; it never changes, but may be published later, with its board.

    Attributes:
        benchmark: The benchmark.
        submission: The submission.
        number: Number within the submission, from 1.
        evaluator: Name of the evaluator.
        truth_revision: Revision of the truth.
        partial: Whether frames without truth were left out.
        create_time: Time of scoring.
        configuration: Evaluator, version, and a digest of parameters and specification.
        values: Ranking measures by name as JSON, in rank order.
        released: Values released to the team, in the same form; empty for none.
        report: The report as JSON, compressed by the caller.
        published: Whether it is or was on the board.
        outcomes_shown: Whether the team was shown outcomes of it.
        public_values: `values` over the public sequences; empty if no sequences are private.
        public_report: `report` over these; None if none are private.
        private_values: `values` over the private sequences; empty if there are none.
        private_report: `report` over these; None if there are none.
        estimate: Bootstrap estimate of the public part of `values`; empty if there is none.
        released_step: Step to which it was released; 0 if it was not released, or no step was
            recorded.
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
    outcomes_shown: bool = False
    public_values: str = ""
    public_report: bytes | None = None
    private_values: str = ""
    private_report: bytes | None = None
    estimate: str = ""
    released_step: float = 0.0


class ScoredTotals(Struct, frozen=True):
    """Submissions to a benchmark that count as scored.

    Attributes:
        teams: Teams with any.
        submissions: Number of these submissions.
        most: Maximum number of one team.
    """

    teams: int
    submissions: int
    most: int


class RankedVersion(NamedTuple):
    """The version of a submission on a board, as growing numbers.

    Attributes:
        revision: Revision of the submission.
        score: Number of the compared score; None if it has none.
    """

    revision: int
    score: int | None


class ReleaseRecord(Struct, frozen=True):
    """The last release of an evaluator's ranking measures to a team (the Ladder's state)."""

    benchmark: str
    evaluator: str
    team: str
    submission: str
    values: str
    release_time: datetime


class ScoreDrawsRecord(Struct, frozen=True):
    """Scores of a submission on draws of sequences, by one evaluator.

    Attributes:
        benchmark: The benchmark.
        submission: The submission.
        evaluator: The evaluator.
        truth_revision: Revision of the truth.
        configuration: Evaluator with version, parameters and specification, as a digest.
        payload: The scores.
    """

    benchmark: str
    submission: str
    evaluator: str
    truth_revision: int
    configuration: str
    payload: bytes


class TiersRecord(Struct, frozen=True):
    """Tiers of a board under one revision of the truth.

    Attributes:
        benchmark: The benchmark.
        evaluator: The evaluator that ranks.
        truth_revision: Revision of the truth.
        exact: Whether they belong to the organisers' board, or to the board that others see.
        document: The tiers.
    """

    benchmark: str
    evaluator: str
    truth_revision: int
    exact: bool
    document: str


class TokenRecord(Struct, frozen=True):
    """A token, without its secret.

    Attributes:
        token: Name.
        secret_hash: Hash of the secret.
        role: Role of the bearer.
        team: Team of a participant, empty for other roles.
        comment: Purpose, for people.
        create_time: Time of creation.
        expire_time: Time of expiry; None for never.
        revoke_time: Time of revocation; None if it is not revoked.
    """

    token: str
    secret_hash: bytes
    role: Role
    team: str
    comment: str
    create_time: datetime
    expire_time: datetime | None = None
    revoke_time: datetime | None = None


class InvitationRecord(Struct, frozen=True):
    """An invitation of a team, without its secret.

    Attributes:
        invitation: Name.
        secret_hash: Hash of the secret.
        team: The team.
        comment: Purpose, for people.
        create_time: Time of creation.
        expire_time: Time after which it cannot be accepted.
        token_lifetime_s: Seconds for which the accepted token is valid; None for ever.
        accept_time: Time of acceptance; None if it is not accepted.
        revoke_time: Time of revocation; None if it is not revoked.
        token: Name of the token that it was accepted for; empty for none.
    """

    invitation: str
    secret_hash: bytes
    team: str
    comment: str
    create_time: datetime
    expire_time: datetime
    token_lifetime_s: int | None = None
    accept_time: datetime | None = None
    revoke_time: datetime | None = None
    token: str = ""


class OperationRecord(Struct, frozen=True):
    """A long-running operation: request, progress, result."""

    operation: str
    kind: str
    request: str
    create_time: datetime
    progress: str = "{}"
    done: bool = False
    cancel_requested: bool = False
    result: str | None = None
    error: str | None = None


class AuditRecord(Struct, frozen=True):
    """One action of the audit record; the store assigns `number`."""

    time: datetime
    actor: str
    action: str
    resource: str
    detail: str = ""
    number: int = 0


class AuditFilter(Struct, frozen=True):
    """A filter of audit records; empty or None matches everything.

    Attributes:
        resource: Name of a resource: matches it and its children.
        actor: Name of the actor.
        action: Name of the action.
        since: Earliest time.
        until: Time after the latest.
    """

    resource: str = ""
    actor: str = ""
    action: str = ""
    since: datetime | None = None
    until: datetime | None = None


class LeaseRecord(Struct, frozen=True):
    """Exclusive work of one server, until the lease ends."""

    work: str
    owner: str
    end_time: datetime
