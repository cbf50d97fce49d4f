"""The laws that hold in every world; checked at every commit and at the end."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from itertools import chain
from typing import Any, TypeVar

import orjson
from msgspec.structs import replace
from tests.campaigns.simulation.batches import SEQUENCE, Batch
from tests.campaigns.simulation.memory import SERVING, State
from tests.campaigns.simulation.release_laws import ReleaseLaws
from tests.campaigns.simulation.rules import Rules
from tests.campaigns.simulation.servers import TRUTH

from vidscore_server.domain.schedule import OUTAGE_BEATS, TIMEOUT_BEATS
from vidscore_server.store.records import (
    HIDDEN,
    OperationRecord,
    ScoreRecord,
    SubmissionKey,
    SubmissionRecord,
)
from vidscore_server.store.records import SubmissionState as S

Key = TypeVar("Key")
Value = TypeVar("Value")

STEPS: frozenset[tuple[S, S]] = frozenset(
    {
        (S.OPEN, S.RECEIVING),
        (S.OPEN, S.CANCELLED),
        (S.RECEIVING, S.SEALED),
        (S.RECEIVING, S.CANCELLED),
        (S.SEALED, S.WAITING_FOR_TRUTH),
        (S.SEALED, S.SCORING),
        (S.SEALED, S.CANCELLED),
        (S.WAITING_FOR_TRUTH, S.SCORING),
        (S.WAITING_FOR_TRUTH, S.FAILED),
        (S.WAITING_FOR_TRUTH, S.CANCELLED),
        (S.SCORING, S.SEALED),
        (S.SCORING, S.WAITING_FOR_TRUTH),
        (S.SCORING, S.SCORED),
        (S.SCORING, S.FAILED),
        (S.SCORING, S.CANCELLED),
        (S.FAILED, S.SEALED),
    }
)
"""The allowed transitions of a submission with frames; a draft may also start again."""

OF_SUBMISSIONS = frozenset({"submissions", "streams", "batches", "frames", "scores", "failed"})
"""Tables whose keys begin with the submission's key."""

SETTLED = frozenset({S.SCORED, S.FAILED, S.CANCELLED})
LATE_S = 60.0
"""A heartbeat older than this was on its way when the clock jumped."""

QUIET = frozenset({"sealed_when_quiet", "cancelled_when_quiet"})
TAKING = frozenset({S.OPEN, S.RECEIVING})


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """A batch that a client was told is stored."""

    submission: SubmissionKey
    stream: str
    offset: int
    batch: Batch


class Laws:
    """Checks the commits of a world against its laws.

    Attributes:
        broken: The violations, one line each.
        acknowledged: What clients were told.
        commits: The number of commits.
        history: A digest of all commits in order.
    """

    def __init__(self) -> None:
        self.broken: list[str] = []
        self.acknowledged: list[Acknowledged] = []
        self.commits = 0
        self.history = 0
        self.retried: Counter[SubmissionKey] = Counter()
        self._waited_s: defaultdict[SubmissionKey, float] = defaultdict(float)
        self._beat_at_s = 0.0
        self._back_at: datetime | None = None
        self._sealed: dict[SubmissionKey, int] = {}
        self._time: Callable[[], datetime]
        self._rules: Rules

    def begin(self, time: Callable[[], datetime], now_s: Callable[[], float], rules: Rules) -> None:
        """Start checking.

        Args:
            time: The store's clock.
            now_s: Seconds since the world began, whatever clocks say.
            rules: Rules of the world.
        """
        self._now_s = now_s
        self._time, self._rules = time, rules
        self._policy = rules.definition.policy
        self.release = ReleaseLaws(rules, time, self._break)

    def sealed(self, key: SubmissionKey, expected: int, found: int) -> None:
        """Note that a client was told that a submission is sealed, with this number of frames."""
        self._sealed[key] = found
        if expected != found:
            self._break(f"{key[1]} was sealed with {found} frames in place of {expected}")

    def committed(
        self,
        owner: str,
        before: State,
        after: State,
        about: Collection[SubmissionKey] | None,
    ) -> None:
        """Check a commit."""
        if about is not None:
            self._touches_no_other(about, before, after)
        self.commits += 1
        told = f"{self.history} {owner} {self._time()}"
        self.history = int.from_bytes(sha256(told.encode()).digest()[:8], "big")
        for key, old, new in _changed(before.submissions, after.submissions):
            self._submission(owner, key, (old, new), before, after)
        for work, held, taken in _changed(before.leases, after.leases):
            if held and taken and held.owner != taken.owner and held.end_time > self._time():
                self._break(f"{work} was taken by {taken.owner} while {held.owner} had it")
        for _, none, score in _changed(before.scores, after.scores):
            if none is None and score is not None:
                self._scored(owner, score, before, after)
        if before.scores is not after.scores or before.benchmarks is not after.benchmarks:
            self.release.committed(before, after)
        if before.truth is not after.truth:
            self._truth(after)
        if before.serving is not after.serving:
            self._beats(after)

    def _truth(self, state: State) -> None:
        """Every visible revision has all its batches."""
        for key in state.truth:
            found = [
                payload for at, payload in sorted(state.truth_batches.items()) if at[:2] == key
            ]
            if key[0] < HIDDEN and found != list(chain(*TRUTH)):
                self._break(f"truth revision {key[1]} has the batches {found}")

    def _submission(
        self,
        owner: str,
        key: SubmissionKey,
        change: tuple[SubmissionRecord | None, SubmissionRecord | None],
        before: State,
        after: State,
    ) -> None:
        """Check a change of a submission."""
        old, new = change
        self._states(key, old, new)
        if old is not None:
            self._quiet(key, old, new)
        if new is not None and not _same_frames(old, new, before, after):
            self._frames(key, new, after)
        if old is not None and new is not None:
            self._quotas(old, new, after)
            self._ends(owner, key, (old, new), before)

    def at_the_end(self, state: State) -> None:
        """Check the final state, once all work is done."""
        for told in self.acknowledged:
            self._kept(told, state)
        for key, count in self._sealed.items():
            record = state.submissions.get(key)
            if record is None or record.frame_count != count or record.state in TAKING:
                self._break(f"{key[1]} was told to be sealed with {count} frames: {record}")
        for key, record in state.submissions.items():
            if record.state not in SETTLED:
                self._break(f"{key[1]} is still {record.state}")
        for operation in state.operations.values():
            self._finished(operation)
        left = {key for key in state.benchmarks if key >= HIDDEN}
        left |= {at[0] for at in state.truth_batches if at[:2] not in state.truth}
        if left:
            self._break(f"{len(left)} truths that were given up are still stored")
        if not self.release.is_at_rest(state):
            self._break("the board does not come to show the newest truth")

    def found(self, what: str) -> None:
        """Record a violation that other code found."""
        self._break(what)

    def _touches_no_other(
        self, about: Collection[SubmissionKey], before: State, after: State
    ) -> None:
        """A command that names its submissions must change nothing else."""
        mine = {tuple(key) for key in about}
        for name, old in vars(before).items():
            if name == "serving":
                continue
            new = getattr(after, name)
            if new is old:
                continue
            if name in OF_SUBMISSIONS:
                others = [key[:2] for key, *_ in _changed(old, new) if key[:2] not in mine]
            else:
                others = [] if _shown(old) == _shown(new) else [name]
            if others:
                self._break(f"a command about {sorted(mine)} has changed {others[0]} of {name}")

    # --- states ----------------------------------------------------------------------------

    def _states(
        self, key: SubmissionKey, old: SubmissionRecord | None, new: SubmissionRecord | None
    ) -> None:
        if new is None:
            if old is not None and old.frame_count:
                self._break(f"{key[1]} was deleted with {old.frame_count} frames")
            return
        if old is None:
            if (new.state, new.frame_count) != (S.OPEN, 0):
                self._break(f"{key[1]} began as {new.state} with {new.frame_count} frames")
            return
        if new.revision <= old.revision and replace(old, byte_count=new.byte_count) != new:
            self._break(f"{key[1]} has changed and its revision is {new.revision}")
        if new.frame_count < old.frame_count:
            self._break(f"{key[1]} had {old.frame_count} frames and has {new.frame_count}")
        if new.frame_count != old.frame_count and old.state not in TAKING:
            self._break(f"{key[1]} was {old.state} and took frames")
        anew = old.frame_count == 0 and new.state is S.OPEN
        if old.state is not new.state and (old.state, new.state) not in STEPS and not anew:
            self._break(f"{key[1]} went from {old.state} to {new.state}")
        if old.state is not new.state:
            self._waits(key, old, new)
        if old.state is S.FAILED and new.state is S.SEALED:
            self.retried[key] += 1
            if new.state_reason != "scoring_retried" or new.seal_time != old.seal_time:
                self._break(f"{key[1]} was retried as {new.state_reason}, {new.seal_time}")

    def _waits(self, key: SubmissionKey, old: SubmissionRecord, new: SubmissionRecord) -> None:
        """A submission whose waiting time for truth is used up does not wait again."""
        longest_s = self._policy.truth_timeout_s
        if old.state is S.FAILED:
            self._waited_s[key] = 0.0
        elif old.state is S.WAITING_FOR_TRUTH:
            self._waited_s[key] += (new.state_time - old.state_time).total_seconds()
        elif new.state is S.WAITING_FOR_TRUTH and self._waited_s[key] >= longest_s:
            self._break(f"{key[1]} has waited {self._waited_s[key]:.0f} s for truth, and again")

    def _ends(
        self,
        owner: str,
        key: SubmissionKey,
        change: tuple[SubmissionRecord, SubmissionRecord],
        before: State,
    ) -> None:
        """Only the owner of the lease may record the outcome of a scoring."""
        old, new = change
        if old.state is not S.SCORING or new.state not in {S.SCORED, S.FAILED}:
            return
        if not self._holds(owner, f"score benchmarks/{key[0]}/submissions/{key[1]}", before):
            self._break(f"{key[1]} became {new.state} by {owner}, who had no lease")

    def _holds(self, owner: str, work: str, state: State) -> bool:
        lease = state.leases.get(work)
        return lease is not None and lease.owner == owner and lease.end_time > self._time()

    # --- quotas and quiet times ---------------------------------------------------------------

    def _quotas(self, old: SubmissionRecord, new: SubmissionRecord, state: State) -> None:
        """A submission that newly counts keeps its team within its quotas; retries are free."""
        first = old.frame_count == 0 < new.frame_count
        if not first and not (old.state in TAKING and new.state is S.SEALED):
            return
        counted = [
            record.seal_time or record.state_time
            for record in state.submissions.values()
            if record.team == new.team
            and record.frame_count
            and record.state not in {S.FAILED, S.CANCELLED}
        ]
        day = (new.seal_time or new.state_time).date()
        today = sum(time.date() == day for time in counted)
        most, most_today = self._policy.submissions_in_all, self._policy.submissions_per_day
        if most and len(counted) > most:
            self._break(f"{new.team} has {len(counted)} submissions of {most}")
        if most_today and today > most_today:
            self._break(f"{new.team} has {today} submissions of {most_today} on {day}")

    def _beats(self, state: State) -> None:
        """Note the end of an outage, unless the clock jumped while a heartbeat was on its way."""
        now_s = self._now_s()
        longest_beats = OUTAGE_BEATS + TIMEOUT_BEATS  # The last answer may have been this late.
        if now_s - self._beat_at_s > longest_beats * self._rules.settings.heartbeat_interval_s:
            late_s = (self._time() - state.serving[SERVING].beat_time).total_seconds()
            self._back_at = self._time() if late_s < LATE_S else None
        self._beat_at_s = now_s

    def _quiet(
        self, key: SubmissionKey, old: SubmissionRecord, new: SubmissionRecord | None
    ) -> None:
        """Only a submission that was quiet long enough since the last outage is ended."""
        if new is not None and new.state_reason not in QUIET:
            return
        if new is not None and new.state is old.state:
            return
        closing = self._rules.close_time
        now = self._time()
        if new is None and closing is not None and now >= closing:
            return
        quiet_s = (now - old.activity_time).total_seconds()
        if quiet_s < self._policy.quiet_timeout_s:
            self._break(f"{key[1]} was ended as quiet after {quiet_s:.1f} s")
        if self._back_at is not None:
            since_s = (now - self._back_at).total_seconds()
            if since_s < self._policy.quiet_timeout_s:
                self._break(f"{key[1]} was ended as quiet {since_s:.1f} s after an outage")

    def _finished(self, operation: OperationRecord) -> None:
        """A re-scoring ends, and one that reports success has scored everything."""
        if not operation.done:
            self._break(f"{operation.operation} is not done")
        elif operation.error is None:
            wanted = orjson.loads(operation.request)["submissions"]
            done = orjson.loads(operation.progress).get("done", [])
            if done != wanted:
                self._break(f"{operation.operation} has scored {done} of {wanted}")

    # --- frames ----------------------------------------------------------------------------

    def _frames(self, key: SubmissionKey, record: SubmissionRecord, state: State) -> None:
        """All counts of a submission's frames agree."""
        if record.state is S.CANCELLED:
            return  # Its frames are freed.
        offsets = sum(entry.next_offset for at, entry in state.streams.items() if at[:2] == key)
        batches = sum(entry.frame_count for at, entry in state.batches.items() if at[:2] == key)
        frames = sum(at[:2] == key for at in state.frames)
        if not record.frame_count == offsets == batches == frames:
            self._break(
                f"{key[1]} has {record.frame_count} frames, its streams end at {offsets}, its "
                f"batches have {batches}, and {frames} are known"
            )

    def _kept(self, told: Acknowledged, state: State) -> None:
        """Acknowledged frames are stored exactly once."""
        record = state.submissions.get(told.submission)
        if record is not None and record.state is S.CANCELLED:
            return
        batch = state.batches.get((*told.submission, told.stream, told.offset))
        there = batch is not None and batch.digest == sha256(told.batch.data).digest()
        frames = [(*told.submission, "", SEQUENCE, number) for number in told.batch.numbers]
        if not there or not all(frame in state.frames for frame in frames):
            self._break(
                f"frames {told.batch.numbers} at offset {told.offset} of {told.stream} of "
                f"{told.submission[1]} were acknowledged and are lost"
            )

    # --- scores ----------------------------------------------------------------------------

    def _scored(self, owner: str, score: ScoreRecord, before: State, after: State) -> None:
        """A score covers every frame, and is written by the owner of the lease."""
        key = (score.benchmark, score.submission)
        stored = sorted(at[4] for at in after.frames if at[:2] == key)
        scored = orjson.loads(score.report)
        if stored != scored:
            self._break(f"{key[1]} has frames {stored}, and {scored} were scored")
        works = [f"score benchmarks/{key[0]}/submissions/{key[1]}", f"operation board {key[0]}"]
        works += [f"operation {name}" for name in before.operations]
        if not any(self._holds(owner, work, before) for work in works):
            self._break(f"{key[1]} was scored by {owner}, who had no lease")

    def _break(self, what: str) -> None:
        if what not in self.broken:
            self.broken.append(what)


def _shown(table: Any) -> Any:
    """A table without the rows of hidden benchmarks."""
    if not isinstance(table, dict):
        return table
    names = {key: key[0] if isinstance(key, tuple) else key for key in table}
    return {key: row for key, row in table.items() if names[key] < HIDDEN}


def _same_frames(
    old: SubmissionRecord | None, new: SubmissionRecord, before: State, after: State
) -> bool:
    """Whether everything recorded about a submission's frames is unchanged."""
    return (
        old is not None
        and (old.frame_count, old.state) == (new.frame_count, new.state)
        and before.streams is after.streams
        and before.batches is after.batches
        and before.frames is after.frames
    )


def _changed(
    before: Mapping[Key, Value], after: Mapping[Key, Value]
) -> Iterator[tuple[Key, Value | None, Value | None]]:
    """The records that were changed, added and removed."""
    if after is before:
        return
    for key, value in after.items():
        if key not in before or before[key] is not value:
            yield key, before.get(key), value
    for key, value in before.items():
        if key not in after:
            yield key, value, None
