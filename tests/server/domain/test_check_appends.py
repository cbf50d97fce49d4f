"""Batches checked together get the same results as alone, and few are read alone."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from typing import Any, cast

import pytest
from tests.server.domain.streets import things
from tests.server.store.records import later

from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.errors import InputError, LimitError
from vidscore_protos.v1 import annotations_pb2
from vidscore_server.api import batches as codec
from vidscore_server.domain.append_rules import AppendRules, known_names
from vidscore_server.domain.appends import AppendTarget, PendingAppend, check_appends
from vidscore_server.domain.batches import BatchCodec, BatchRules
from vidscore_server.domain.byte_budget import Reservation
from vidscore_server.domain.definition import definition_from_dict
from vidscore_server.domain.names import StreamName
from vidscore_server.settings import Settings

BOX = 4
SETTINGS = Settings(maximum_batch_frames=3)
TRUTH = codec.read_batch(things({1: ["car", "bus"]}), "truth", BatchRules(BOX, SETTINGS))


def rules_of(*public: str) -> AppendRules:
    document = {"evaluators": [{"name": "f1"}], "public_names": list(public)}
    definition = definition_from_dict(document)
    return AppendRules(definition, BOX, known_names(definition, TRUTH))


RULES = rules_of("sequences", "labels")


class Counting:
    """The server's codec of batches, with a count of those that are read alone."""

    def __init__(self) -> None:
        self.alone = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(codec, name)

    def read_batch(self, message: Any, source: str, rules: BatchRules) -> Annotations:
        self.alone += 1
        return codec.read_batch(message, source, rules)


def pending(
    message: annotations_pb2.AnnotationBatch,
    row: int = 0,
    rules: AppendRules = RULES,
    position: str | None = None,
) -> PendingAppend:
    name = StreamName("b", "s", f"stream{row}")
    return PendingAppend(
        AppendTarget(str(name), name, 1, "red", rules),
        row,
        message,
        1,
        Reservation((), 0),
        cast("asyncio.Future[int]", None),
        later(row),
        position,
    )


def checked(appends: Sequence[PendingAppend]) -> tuple[list[Exception | None], int]:
    """The results, and the number of batches that were read alone."""
    counting = Counting()
    return check_appends(appends, SETTINGS, cast(BatchCodec, counting)), counting.alone


def frames_of(row: int) -> tuple[int, ...]:
    """Frames of a batch that has one or two frames, and none of another batch."""
    return tuple(range(10 * row, 10 * row + 1 + row % 2))


def fine(row: int, position: str | None = None) -> PendingAppend:
    frames = {number: ["car"] for number in frames_of(row)}
    return pending(things(frames), row, position=position)


@pytest.mark.parametrize("count", [1, 2, 5, 8])
def test_valid_batches_get_their_records_and_are_read_as_one(count: int) -> None:
    appends = [fine(row) for row in range(count)]
    assert checked(appends) == ([None] * count, 1 if count == 1 else 0)
    for row, append in enumerate(appends):
        frames, record = frames_of(row), append.record
        assert (record.stream, record.first_offset, record.frame_count) == (
            f"stream{row}",
            row,
            len(frames),
        )
        data = append.message.SerializeToString(deterministic=True)
        assert record.digest == hashlib.sha256(data).digest()
        assert record.arrival_time == later(row)
        assert {name: tuple(numbers) for name, numbers in append.frames.items()} == {
            ("", "street"): frames
        }
        assert append.warnings == ()


@pytest.mark.parametrize(
    ("wrong", "error", "field"),
    [
        (pending(things({})), InputError, None),
        (pending(things({1: ["car"]}, "road")), InputError, "sequences[0]"),
        (pending(things({1: ["car"]}), -1), InputError, "append.offset"),
        (
            pending(things({1: ["car"]}), position="é" * 8_193),
            InputError,
            "append.source_position",
        ),
        (pending(things({number: ["car"] for number in range(4)})), LimitError, None),
    ],
    ids=["no frame", "no such sequence", "before the stream", "a long position", "too many"],
)
@pytest.mark.parametrize(
    ("row", "count", "read_alone"), [(0, 1, 1), (0, 2, 2), (1, 2, 2), (4, 5, 3), (3, 8, 2)]
)
def test_an_invalid_batch_is_refused_alone(
    wrong: PendingAppend,
    error: type[Exception],
    field: str | None,
    row: int,
    count: int,
    read_alone: int,
) -> None:
    """Halved again and again: [0 1 2 3 4] into [0 1] and [2 3 4], that into [2] and [3 4]."""
    appends = [wrong if place == row else fine(place) for place in range(count)]
    found, alone = checked(appends)
    assert [type(one) for one in found] == [
        error if place == row else type(None) for place in range(count)
    ]
    assert alone == read_alone
    if isinstance(refused := found[row], InputError) and error is InputError:
        assert [fault.field for fault in refused.faults] == [field]
    assert all(append.record for append in appends if append is not wrong)


def test_a_position_up_to_the_maximum_length_is_accepted() -> None:
    appends = [fine(row, position="é" * 8_192) for row in range(2)]
    assert checked(appends) == ([None, None], 0)


def test_every_fault_of_a_batch_is_reported() -> None:
    [found], _ = checked([pending(things({1: ["car"]}, "road"), -1, position="x" * 16_385)])
    assert isinstance(found, InputError)
    fields = [fault.field for fault in found.faults]
    assert fields == ["append.offset", "append.source_position", "sequences[0]"]


@pytest.mark.parametrize("row", range(3))
def test_a_warning_belongs_to_its_own_batch(row: int) -> None:
    appends = [fine(place) for place in range(3)]
    appends[row] = pending(things({77: ["car"], 78: ["zebra"]}), row)
    assert checked(appends) == ([None] * 3, 0)
    assert [len(append.warnings) for append in appends] == [int(place == row) for place in range(3)]
    assert "zebra" in appends[row].warnings[0]
    [alone] = [pending(things({77: ["car"], 78: ["zebra"]}))]
    assert checked([alone]) == ([None], 1)
    assert alone.warnings == appends[row].warnings


def test_if_names_are_withheld_every_batch_says_so() -> None:
    rules = rules_of("labels")
    batches = ["car", "zebra", "bus"]
    appends = [pending(things({row: [name]}), row, rules) for row, name in enumerate(batches)]
    assert checked(appends) == ([None] * 3, 0)
    withheld = rules.names.withheld
    assert withheld
    assert [text for append in appends for text in append.warnings].count(withheld) == 3
    assert [len(append.warnings) for append in appends] == [1, 2, 1]
