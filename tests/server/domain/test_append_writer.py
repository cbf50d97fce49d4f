"""The offset protocol on a store: what a command with batches stores, and how it answers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any, cast

import pytest
from msgspec.structs import replace
from tests.server.store import records as r
from tests.server.store.commands import put
from tests.server.store.records import NOON, later

from vidscore_evaluators.errors import LimitError
from vidscore_server.domain.append_rules import MAXIMUM_WARNINGS, AppendRules
from vidscore_server.domain.appends import (
    MORE,
    Admit,
    AppendTarget,
    FirstFramesError,
    Outcome,
    PendingAppend,
    append_command,
    read_warnings,
    with_warnings,
)
from vidscore_server.domain.batches import pack
from vidscore_server.domain.byte_budget import Reservation
from vidscore_server.domain.names import StreamName, SubmissionName
from vidscore_server.errors import (
    ContentDiffersError,
    EpochStaleError,
    NotFoundError,
    OffsetGapError,
    OffsetStraddlesError,
    QuotaError,
    StateError,
    SubmissionEndedError,
)
from vidscore_server.settings import Settings
from vidscore_server.store import SqlStore, Transaction
from vidscore_server.store.errors import AlreadyExistsError
from vidscore_server.store.records import (
    BatchRecord,
    StreamRecord,
    SubmissionRecord,
    SubmissionState,
)
from vidscore_server.store.sqlite import open_sqlite_store

MEBIBYTE = 1 << 20
SUBMISSION = "s"
RULES = cast(AppendRules, None)  # No rule in these tests checks them.
NOW = later(3600)

_numbers = count()


def admit_all(_: Transaction, __: SubmissionRecord) -> None:
    """Admits every submission."""


@dataclass
class Site:
    """A benchmark in a store, with a submission that has two streams."""

    store: SqlStore
    benchmark: str

    def run(
        self,
        *appends: PendingAppend,
        admit: Admit | None = admit_all,
        settings: Settings = Settings(),  # noqa: B008 - it does not change
    ) -> list[Outcome]:
        return self.store.submit(append_command(appends, settings, NOW, admit)).result(60)

    def record(self) -> SubmissionRecord:
        with self.store.read() as reader:
            found = reader.submission(self.benchmark, SUBMISSION)
        assert found is not None
        return found

    def streams(self) -> dict[str, StreamRecord]:
        with self.store.read() as reader:
            return {one.stream: one for one in reader.streams(self.benchmark, SUBMISSION)}

    def change(self, **changes: Any) -> None:
        """Replace the record of the submission."""
        changed = replace(self.record(), revision=self.record().revision + 1, **changes)
        put(self.store, lambda transaction: transaction.update_submission(changed))

    def batch(
        self,
        offset: int,
        *frames: int,
        stream: str = "default",
        epoch: int = 1,
        team: str | None = "red",
        data: bytes = b"batch",
        warnings: tuple[str, ...] = (),
        position: str | None = None,
    ) -> PendingAppend:
        """A batch that has been checked."""
        name = StreamName(self.benchmark, SUBMISSION, stream)
        made = PendingAppend(
            AppendTarget(str(name), name, epoch, team, RULES),
            offset,
            data,
            len(frames),
            Reservation((), 0),
            cast("asyncio.Future[int]", None),
            NOON,
            position,
        )
        payload, digest = pack(data)
        made.record = BatchRecord(stream, offset, len(frames), digest, payload, NOON)
        made.frames = {("", stream): frames}
        made.warnings = warnings
        return made


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqlStore]:
    opened = open_sqlite_store(tmp_path_factory.mktemp("store") / "vidscore.sqlite")
    yield opened
    opened.close()


@pytest.fixture
def site(store: SqlStore) -> Site:
    benchmark = f"b{next(_numbers)}"

    def populate(transaction: Transaction) -> None:
        transaction.insert_benchmark(r.benchmark(benchmark))
        transaction.insert_submission(replace(r.submission(SUBMISSION), benchmark=benchmark))
        for stream in ("default", "second"):
            transaction.raise_epoch(benchmark, SUBMISSION, stream)

    put(store, populate)
    return Site(store, benchmark)


# --- Offsets


def test_consecutive_batches_are_stored_and_acknowledged(site: Site) -> None:
    batches = [
        site.batch(0, 1, 2),
        site.batch(0, 7, stream="second"),
        site.batch(2, 3, data=b"x" * 100),
    ]
    assert batches[0].target.submission == SubmissionName(site.benchmark, SUBMISSION)
    assert site.run(*batches) == [2, 1, 3]
    found = site.record()
    assert (found.state, found.frame_count) == (SubmissionState.RECEIVING, 4)
    assert found.byte_count == sum(len(batch.record.payload) for batch in batches)
    assert found.activity_time == found.state_time == NOW
    offsets = {name: stream.next_offset for name, stream in site.streams().items()}
    assert offsets == {"default": 3, "second": 1}
    before = site.record()
    assert site.run(site.batch(3, 4), admit=None) == [4]
    after = site.record()
    assert (after.frame_count, after.byte_count) == (5, before.byte_count + len(pack(b"batch")[0]))


def test_a_batch_that_is_sent_again_is_acknowledged_and_counted_once(site: Site) -> None:
    first, second = site.batch(0, 1, 2), site.batch(2, 3)
    assert site.run(first, first, second, second, first) == [2, 2, 3, 3, 3]
    assert site.run(first, second, site.batch(3, 4), admit=None) == [3, 3, 4]
    assert site.record().frame_count == 4
    assert site.streams()["default"].next_offset == 4


@pytest.mark.parametrize(
    ("offset", "frames", "data", "error"),
    [
        (4, (9,), b"batch", OffsetGapError),
        (2, (3, 4), b"batch", OffsetStraddlesError),
        (2, (3,), b"other", ContentDiffersError),
        (0, (1,), b"batch", ContentDiffersError),  # The same start, divided differently.
        (1, (2,), b"batch", ContentDiffersError),
        (1, (2, 3), b"batch", ContentDiffersError),
    ],
)
def test_a_batch_at_a_wrong_offset_is_refused_and_affects_no_other_batch(
    site: Site, offset: int, frames: tuple[int, ...], data: bytes, error: type[StateError]
) -> None:
    stored = [site.batch(0, 1, 2), site.batch(2, 3)]
    wrong = site.batch(offset, *frames, data=data)
    assert site.run(*stored) == [2, 3]
    refused, acknowledged = site.run(wrong, site.batch(3, 5), admit=None)
    assert isinstance(refused, error)
    assert refused.metadata["next_offset"] == "3"
    assert acknowledged == 4
    assert site.record().frame_count == 4


def test_a_duplicate_frame_ends_the_command_and_changes_nothing(site: Site) -> None:
    assert site.run(site.batch(0, 1)) == [1]
    before = site.record()
    with pytest.raises(AlreadyExistsError):
        site.run(site.batch(1, 2), site.batch(2, 1), admit=None)
    assert site.record() == before


# --- Writers


@pytest.mark.parametrize("team", ["red", None])
def test_a_team_appends_to_its_own_submissions_and_an_organiser_to_every_one(
    site: Site, team: str | None
) -> None:
    assert site.run(site.batch(0, 1, team=team)) == [1]


def test_an_append_to_another_team_or_without_a_stream_is_not_found(site: Site) -> None:
    found = site.run(site.batch(0, 1, team="blue"), site.batch(0, 1, stream="third"))
    for error, stream in zip(found, ("default", "third"), strict=True):
        assert isinstance(error, NotFoundError)
        name = f"benchmarks/{site.benchmark}/submissions/s/streams/{stream}"
        assert str(error) == f"{name} does not exist; OpenStream makes it"
    nowhere = Site(site.store, "nowhere")
    [error] = nowhere.run(nowhere.batch(0, 1))
    assert isinstance(error, NotFoundError)


@pytest.mark.parametrize("epoch", [0, 2])
def test_a_writer_of_another_epoch_is_refused_with_the_current_one(site: Site, epoch: int) -> None:
    [error] = site.run(site.batch(0, 1, epoch=epoch))
    assert isinstance(error, EpochStaleError)
    assert error.metadata == {"epoch": "1"}


@pytest.mark.parametrize("state", list(SubmissionState))
def test_only_an_open_submission_takes_frames(site: Site, state: SubmissionState) -> None:
    site.change(state=state)
    [found] = site.run(site.batch(0, 1))
    if state in {SubmissionState.OPEN, SubmissionState.RECEIVING}:
        assert found == 1
    else:
        assert isinstance(found, SubmissionEndedError)
        assert found.metadata == {"state": state.value}


# --- Limits


def test_frames_are_taken_up_to_the_maximum_whatever_was_sent_with_them(site: Site) -> None:
    settings = Settings(maximum_frames=5)
    batches = [site.batch(0, 1, 2), site.batch(2, 3), site.batch(3, 4, 5, 6), site.batch(3, 4)]
    *taken, refused, last = site.run(*batches, settings=settings)
    assert (taken, last) == ([2, 3], 4)
    assert isinstance(refused, LimitError)
    assert (refused.limit, refused.maximum) == ("maximum_frames", 5)
    [refused] = site.run(site.batch(4, 7, 8), admit=None, settings=settings)
    assert isinstance(refused, LimitError)
    assert site.run(site.batch(4, 7), admit=None, settings=settings) == [5]


SIZE = len(pack(b"batch")[0])


@pytest.mark.parametrize(
    ("held", "refused"),
    [
        (0, True),
        (100, False),
        (MEBIBYTE - SIZE - 1, False),
        (MEBIBYTE - SIZE, True),
        (MEBIBYTE, False),
        (3 * MEBIBYTE - 1, True),
    ],
)
def test_a_team_over_its_storage_limit_is_refused_at_each_started_mebibyte(
    site: Site, held: int, refused: bool
) -> None:
    other = replace(
        r.submission("other", frame_count=1), benchmark=site.benchmark, byte_count=MEBIBYTE
    )
    put(site.store, lambda transaction: transaction.insert_submission(other))
    site.change(byte_count=held, frame_count=1 if held else 0)
    settings = Settings(maximum_team_mebibytes=1)
    if refused:
        with pytest.raises(QuotaError):
            site.run(site.batch(0, 1), settings=settings)
        assert site.record().byte_count == held
    else:
        assert site.run(site.batch(0, 1), settings=settings) == [1]


# --- First frames


def test_first_frames_need_somebody_to_admit_them(site: Site) -> None:
    before = site.record()
    with pytest.raises(FirstFramesError):
        site.run(site.batch(0, 1), admit=None)
    assert site.record() == before
    [refused] = site.run(site.batch(1, 1), admit=None)
    assert isinstance(refused, OffsetGapError)


def test_a_submission_is_admitted_once_with_its_first_frames(site: Site) -> None:
    admitted: list[SubmissionRecord] = []

    def admit(_: Transaction, record: SubmissionRecord) -> None:
        admitted.append(record)

    first = site.batch(0, 1, 2)
    site.run(first, first, site.batch(2, 3), admit=admit)
    site.run(site.batch(3, 4), admit=admit)
    [record] = admitted
    assert (record.state, record.frame_count) == (SubmissionState.RECEIVING, 2)


def test_frames_of_a_submission_that_is_not_admitted_are_not_stored(site: Site) -> None:
    def admit(_: Transaction, __: SubmissionRecord) -> None:
        raise QuotaError("no place", quota="submissions_per_day", maximum="1")

    before = site.record()
    with pytest.raises(QuotaError):
        site.run(site.batch(0, 1), admit=admit)
    assert site.record() == before


# --- What goes with the frames


def test_the_last_source_position_is_stored(site: Site) -> None:
    site.run(
        site.batch(0, 1, position="one"),
        site.batch(1, 2, position="two"),
        site.batch(2, 3),
        site.batch(0, 4, stream="second"),
    )
    positions = {name: stream.source_position for name, stream in site.streams().items()}
    assert positions == {"default": "two", "second": ""}


def test_warnings_of_batches_are_stored_once_in_order(site: Site) -> None:
    site.run(site.batch(0, 1, warnings=("b", "a")), site.batch(1, 2, warnings=("a", "c")))
    site.run(site.batch(2, 3, warnings=("d", "b")), admit=None)
    assert read_warnings(site.record().warnings) == ["b", "a", "c", "d"]


def test_warnings_are_bounded_and_the_last_one_says_that_there_are_more() -> None:
    texts = [str(number) for number in range(MAXIMUM_WARNINGS + 1)]
    assert read_warnings("") == []
    full = with_warnings("", texts[:-1])
    assert read_warnings(full) == texts[:-1]
    assert with_warnings(full, ["3"]) is full
    assert with_warnings("", []) == ""
    more = [*texts[: MAXIMUM_WARNINGS - 1], MORE]
    assert read_warnings(with_warnings(full, texts[-1:])) == more
    assert read_warnings(with_warnings("", texts)) == more


# --- Outcomes


async def test_an_outcome_reaches_its_waiter_and_a_refusal_drops_the_following_batches(
    site: Site,
) -> None:
    loop = asyncio.get_running_loop()

    def waiting() -> PendingAppend:
        made = site.batch(0, 1)
        made.stored = loop.create_future()
        return made

    stored, refused, gone = waiting(), waiting(), waiting()
    stored.resolve(3)
    assert stored.stored.result() == 3
    assert stored.target.refused is False
    refused.resolve(OffsetGapError("gap"))
    assert isinstance(refused.stored.exception(), OffsetGapError)
    assert refused.target.refused is True
    gone.stored.cancel()
    gone.resolve(3)
    gone.resolve(OffsetGapError("gap"))
    assert gone.stored.cancelled()
    assert gone.target.refused is True
