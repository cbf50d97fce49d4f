"""The clock of a live benchmark: which frame is the current one at a time after its start.

The clock follows from the benchmark's definition alone, never from its truth. It goes through the
sequences in the order of the specification; the last frame of a sequence lasts as long as the one
before it, and the first frame of the next follows at once. Times are integer microseconds, as in
the store, so that every server computes the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import pairwise
from math import isfinite
from typing import Any

import numpy as np
import orjson
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from vidscore_evaluators.annotations import SequenceKey
from vidscore_evaluators.convert import converted, from_dict, to_dict
from vidscore_evaluators.errors import Fault, SpecificationError
from vidscore_evaluators.names import counted, did_you_mean
from vidscore_evaluators.specification import BenchmarkSpec, SequenceSpec, required_name
from vidscore_server.domain.policy import NameKind, in_order

SHORTEST_S, LONGEST_S = 0.001, 60.0
"""Bounds on the duration of a frame: a store commits in milliseconds, and a silent call ends."""

MAXIMUM_FRAMES = 1_000_000
"""Maximum number of frames of a clock."""

MICROSECONDS = 1_000_000

TOLD = frozenset({NameKind.SEQUENCES, NameKind.FRAME_COUNTS})
"""Kinds of names that the clock reveals to everybody."""


class FrameSource(StrEnum):
    """Where the frames of a live benchmark come from; the server sends none."""

    PARTICIPANT = "held by the participant"
    ORGANISER = "sent by the organiser"


def _rate(value: object) -> float:
    number = float(value) if type(value) in {int, float} else 0.0  # type: ignore[arg-type] # a number, as was just looked at
    if not 1 / LONGEST_S <= number <= 1 / SHORTEST_S:
        raise ValueError(f"frames per second, from 1/{LONGEST_S:g} to {1 / SHORTEST_S:g}")
    return number


def _times(value: object) -> tuple[float, ...]:
    entries = list(value) if isinstance(value, list | tuple) else []
    if not entries or any(type(entry) not in {int, float} for entry in entries):
        raise ValueError("an array of seconds, one for each frame")
    times = tuple(map(float, entries))
    if times[0] != 0.0 or not all(map(isfinite, times)):
        raise ValueError("seconds from the first frame, which is at 0")
    # In microseconds: as floats in seconds, 1.001 and 1.0 are less than 0.001 apart.
    steps_us = [round((later - sooner) * MICROSECONDS, 0) for sooner, later in pairwise(times)]
    if not all(SHORTEST_S * MICROSECONDS <= step <= LONGEST_S * MICROSECONDS for step in steps_us):
        raise ValueError(
            f"times in order, each from {SHORTEST_S:g} to {LONGEST_S:g} s after the one before"
        )
    return times


def _source(value: object) -> FrameSource:
    if not isinstance(value, str) or value not in set(FrameSource):
        raise ValueError(" or ".join(repr(source.value) for source in FrameSource))
    return FrameSource(value)


@dataclass(frozen=True, slots=True)
class SequenceClock:
    """When the frames of one sequence are given out: by a rate, or by their times.

    Attributes:
        name: Name of the sequence.
        domain: Its domain; empty if there is only one.
        frame_rate: Frames per second; None if times are given.
        frame_times_s: Seconds from the first frame to each; empty if a rate is given.
    """

    name: str = converted(read=required_name)
    domain: str = converted("", leading=True)
    frame_rate: float | None = converted(None, read=_rate)
    frame_times_s: tuple[float, ...] = converted((), read=_times, write=list)

    @property
    def key(self) -> SequenceKey:
        """Domain and name."""
        return SequenceKey(self.domain, self.name)


@dataclass(frozen=True, slots=True)
class LiveClock:
    """An organiser's settings of the clock of a live benchmark.

    Attributes:
        frame_rate: Frames per second of sequences that are not listed; None if all are listed.
        frames: Where the frames come from.
        sequences: Sequences with times of their own.
    """

    frame_rate: float | None = converted(None, read=_rate)
    frames: FrameSource = converted(
        FrameSource.PARTICIPANT, read=_source, write=lambda source: source.value
    )
    sequences: tuple[SequenceClock, ...] = converted((), unique=("domain", "name"))


def read_live(
    document: object,
    specification: BenchmarkSpec,
    public_names: Collection[NameKind],
    source: str | None,
) -> tuple[LiveClock | None, list[Fault]]:
    """Read the clock from a benchmark's table `live`, with every fault.

    Args:
        document: The table; None for a benchmark that is not live.
        specification: The benchmark's specification.
        public_names: Names that participants may know.
        source: Where the table stands, for messages.
    """
    if document is None:
        return None, []
    try:
        clock = from_dict(LiveClock, document, source)
    except SpecificationError as error:
        return None, [replace(fault, field=f"live.{fault.field}") for fault in error.faults]
    faults = [
        Fault(found, expected, source=source, field=field)
        for field, found, expected in _misfits(clock, specification, public_names)
    ]
    return clock, faults


_Misfit = tuple[str, str, str]
"""Field, what was found, and what was expected."""


def _misfits(
    clock: LiveClock, specification: BenchmarkSpec, public_names: Collection[NameKind]
) -> Iterator[_Misfit]:
    """All ways in which a clock does not fit its benchmark."""
    if not TOLD.issubset(public_names):
        told = ", ".join(in_order(public_names)) or "none"
        yield "public_names", told, "sequences and frame_counts, because the clock reveals them"
    if not specification.sequences:
        yield "sequences", "none", "the sequences that the clock goes through, with frame_count"
        return
    counts = {entry.key: entry.frame_count for entry in specification.sequences}
    total = sum(count or 0 for count in counts.values())
    if None not in counts.values() and not 1 <= total <= MAXIMUM_FRAMES:
        yield "sequences", f"{total} frames in all", f"1 to {MAXIMUM_FRAMES} frames on the clock"
    own = {entry.key: entry for entry in clock.sequences}
    for row, sequence in enumerate(specification.sequences):
        place = f"sequences[{row}]"
        if sequence.frame_count is None:
            yield f"{place}.frame_count", "missing", "the number of frames that the clock gives out"
        if sequence.key not in own and clock.frame_rate is None:
            expected = f"one for {sequence.name}, here or in an entry of live.sequences"
            yield "live.frame_rate", "missing", expected
    for row, entry in enumerate(clock.sequences):
        yield from _entry_misfits(entry, counts, f"live.sequences[{row}]")


def _entry_misfits(
    entry: SequenceClock, counts: dict[SequenceKey, int | None], place: str
) -> Iterator[_Misfit]:
    if entry.key not in counts:
        near = did_you_mean(entry.name, [key.sequence for key in counts])
        expected = "a sequence of the specification" + (f"; {near}" if near else "")
        yield f"{place}.name", repr(entry.name)[:80], expected
        return
    if (entry.frame_rate is None) == (not entry.frame_times_s):
        found = "neither" if entry.frame_rate is None else "both"
        yield place, found, "frame_rate or frame_times_s"
    count = counts[entry.key]
    if entry.frame_times_s and count not in {None, len(entry.frame_times_s)}:
        expected = f"{count}, the sequence's frame_count"
        yield f"{place}.frame_times_s", counted(len(entry.frame_times_s), "time"), expected
    if len(entry.frame_times_s) == 1:
        yield f"{place}.frame_times_s", "one time", "frame_rate: one time gives no duration"


# --- The timeline: frames and times of the clock


class Timeline(Struct, frozen=True, eq=False, dict=True):
    """Every frame of a clock in its order, and when it is due.

    Attributes:
        source: Where the frames come from.
        keys: The sequences, in order.
        first_frames: Number of the first frame of each.
        starts: Position of the first frame of each.
        due_us: Microseconds from the start of the clock to each frame.
        end_us: Microseconds from the start to the end of the clock.
    """

    source: FrameSource
    keys: tuple[SequenceKey, ...]
    first_frames: tuple[int, ...]
    starts: NDArray[np.int64]
    due_us: NDArray[np.int64]
    end_us: int

    def __len__(self) -> int:
        """Number of frames."""
        return len(self.due_us)

    @cached_property
    def _ends_us(self) -> NDArray[np.int64]:
        return np.append(self.due_us[1:], self.end_us)

    def position_at(self, elapsed_us: int) -> int | None:
        """Position of the current frame; None once the clock has ended.

        Args:
            elapsed_us: Microseconds since the start; before the start, the first frame is current.
        """
        if elapsed_us >= self.end_us:
            return None
        return max(0, int(np.searchsorted(self.due_us, elapsed_us, side="right")) - 1)

    def frame(self, position: int) -> tuple[SequenceKey, int]:
        """Sequence and number of a frame."""
        row = int(np.searchsorted(self.starts, position, side="right")) - 1
        return self.keys[row], self.first_frames[row] + position - int(self.starts[row])

    def due_at(self, position: int) -> int:
        """Microseconds from the start to a frame."""
        return int(self.due_us[position])

    def over_at(self, position: int) -> int:
        """Microseconds from the start to the frame after the given one, or to the end."""
        return int(self._ends_us[position])


def timeline_of(clock: LiveClock, sequences: Collection[SequenceSpec]) -> Timeline:
    """The timeline of a valid clock."""
    own = {entry.key: entry for entry in clock.sequences}
    kept = [entry for entry in sequences if entry.frame_count]
    parts: list[NDArray[np.int64]] = []
    end_us = 0
    for entry in kept:
        due_us, lasts_us = _part(own.get(entry.key), clock.frame_rate, entry.frame_count or 0)
        parts.append(end_us + due_us)
        end_us += lasts_us
    counts = [len(part) for part in parts]
    return Timeline(
        source=clock.frames,
        keys=tuple(entry.key for entry in kept),
        first_frames=tuple(entry.first_frame for entry in kept),
        starts=np.cumsum([0, *counts[:-1]], dtype=np.int64),
        due_us=np.concatenate(parts),
        end_us=end_us,
    )


def _part(
    own: SequenceClock | None, frame_rate: float | None, count: int
) -> tuple[NDArray[np.int64], int]:
    """When the frames of a sequence are due after its first, and how long it lasts."""
    if own is not None and own.frame_times_s:
        times_s = np.array(own.frame_times_s)
        times_s = np.append(times_s, 2 * times_s[-1] - times_s[-2])
    else:
        rate = frame_rate if own is None else own.frame_rate
        times_s = np.arange(count + 1) / (rate or 1.0)
    due_us = np.rint(times_s * MICROSECONDS).astype(np.int64)
    return due_us[:-1], int(due_us[-1])


def timeline_to_json(clock: LiveClock, sequences: Collection[SequenceSpec]) -> str:
    """The stored timeline of a run of the clock, which later changes do not affect."""
    kept = [
        SequenceSpec(entry.name, entry.domain, entry.frame_count, entry.first_frame)
        for entry in sequences
    ]
    document = {"live": to_dict(clock), "sequences": [to_dict(entry) for entry in kept]}
    return orjson.dumps(document).decode()


def timeline_from_json(text: str) -> Timeline:
    """The timeline of a text from `timeline_to_json`.

    Raises:
        SpecificationError: If it is not a timeline.
        ValueError: If the text is not JSON.
    """
    document: dict[str, Any] = orjson.loads(text)
    clock = from_dict(LiveClock, document["live"])
    sequences = [from_dict(SequenceSpec, entry) for entry in document["sequences"]]
    specification = BenchmarkSpec(sequences=tuple(sequences))
    faults = [Fault(found, expected, field=field)
              for field, found, expected in _misfits(clock, specification, TOLD)]  # fmt: skip
    if faults:
        raise SpecificationError(faults)
    return timeline_of(clock, sequences)
