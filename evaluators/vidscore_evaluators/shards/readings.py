"""Readings: results of reading a part of each side, which add up to those of reading the whole.

Shards that read only their own sequences do not know the warnings about the whole. Warnings about
names of files are the same in all shards. Frames and objects that a warning counts are counted
here; the warning is made after the counts of all shards are added.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise

from msgspec import Struct

from vidscore_evaluators.annotations import Annotations, SequenceKey, Side
from vidscore_evaluators.errors import Fault
from vidscore_evaluators.formats import Pair, reads_by_sequence
from vidscore_evaluators.formats._times import (
    TIMES_GO_BACK,
    timed_parts,
    times_back,
    times_back_warning,
)
from vidscore_evaluators.formats.source import Listing, Source, Wanted, WantedFrames
from vidscore_evaluators.plausibility.image_sizes import (
    ImageSizes,
    beyond_image_warnings,
    count_beyond_image,
)
from vidscore_evaluators.preparation import DataChoice
from vidscore_evaluators.presets import format_of
from vidscore_evaluators.remote_files import DataPath
from vidscore_evaluators.report import FrameExample, ReportWarning
from vidscore_evaluators.shards.dealing import Shard, shard_number
from vidscore_evaluators.specification import BenchmarkSpec


class Counted(Struct, frozen=True):
    """Number of frames or objects of a part that a warning counts.

    Attributes:
        count: Their number.
        place: Index in the whole side of the first one's sequence.
        sequence: The first one's sequence.
        frame: The first one's frame.
    """

    count: int
    place: int
    sequence: SequenceKey
    frame: int


class TimedPart(Struct, frozen=True):
    """The times at both ends of a part of a cut sequence.

    Attributes:
        place: Index of the sequence in the whole side.
        sequence: The sequence.
        frame: The first frame with a time.
        first_s: Its time.
        last_s: The time of the last one.
    """

    place: int
    sequence: SequenceKey
    frame: int
    first_s: float
    last_s: float


class PartReading(Struct, frozen=True):
    """The result of reading a part of a side.

    Attributes:
        name: Name of the side's files.
        listed: Warnings about names of files.
        back: Frames before earlier ones of their videos; None for none.
        beyond: Objects beyond their images; None if no size is known.
        sized: Number of objects in images of known size.
        timed: Parts of cut sequences whose frames have times.
        masked: Whether its objects have masks; None if there are no objects.
    """

    name: str
    listed: tuple[ReportWarning, ...]
    back: Counted | None = None
    beyond: Counted | None = None
    sized: int = 0
    timed: tuple[TimedPart, ...] = ()
    masked: bool | None = None


Readings = tuple[PartReading, PartReading]
"""Readings of truth and detections."""


def wanted_by(
    shard: Shard,
    specification: BenchmarkSpec,
    truth: DataPath,
    detections: DataPath,
    choice: DataChoice,
) -> Wanted | None:
    """The sequences that a shard reads; None if it must read all of them.

    A selection of sequences, labels or frames requires all: its names are checked against the whole
    data. So do left-out rows, which are counted over both sides.

    Args:
        shard: The shard.
        specification: The specification; its presets may define the format.
        truth: Path of the truth.
        detections: Path of the detections.
        choice: How both are read, and which part is scored.

    Raises:
        InputError: If nothing of a known format is there.
    """
    if shard.count == 1 or choice.selection or choice.on_error != "refuse":
        return None
    name = format_of(specification.evaluators, choice.format_name, files=True)
    if not all(reads_by_sequence(path, name) for path in (truth, detections)):
        return None
    number, count = shard.number, shard.count
    if choice.cut_frames is not None:
        return WantedFrames(
            choice.cut_frames, lambda key, part: shard_number(key, count, part) == number
        )
    return lambda key: shard_number(key, count) == number


def readings_of(pair: Pair, cut_frames: int | None) -> Readings | None:
    """The results of reading parts of both sides; None if the whole was read.

    Args:
        pair: Both sides.
        cut_frames: Number of frame numbers of a part of a sequence; None if sequences are whole.

    Raises:
        ValueError: If only one of the sides was read in part.
    """
    truth, detections = pair.truth.listing, pair.detections.listing
    if truth is None and detections is None:
        return None
    if truth is None or detections is None:
        raise ValueError("one side was read whole, the other in part")
    sizes = {**pair.truth.image_sizes, **pair.detections.image_sizes}
    return (
        _reading(pair.truth, Side.TRUTH, truth, sizes, cut_frames),
        _reading(pair.detections, Side.DETECTIONS, detections, sizes, cut_frames),
    )


def _reading(
    source: Source, side: Side, listing: Listing, sizes: ImageSizes, cut_frames: int | None
) -> PartReading:
    annotations, places = (
        source.annotations,
        {key: row for row, key in enumerate(listing.sequences)},
    )
    rows = times_back(annotations, cut_frames)
    back = beyond = None
    if len(rows):
        row = int(rows[0])
        key = annotations.sequences[annotations.frame_sequences[row]]
        back = Counted(len(rows), places[key], key, int(annotations.frame_numbers[row]))
    found = count_beyond_image(side, annotations, sizes)
    if found is not None and found[0]:
        example = found[2]
        beyond = Counted(found[0], places[example.sequence], example.sequence, example.frame)
    listed = tuple(warning for warning in source.warnings if warning.code != TIMES_GO_BACK)
    timed = () if cut_frames is None else tuple(_timed(annotations, places, cut_frames))
    sized = 0 if found is None else found[1]
    masked = annotations.masks is not None if annotations.object_count else None
    return PartReading(source.name, listed, back, beyond, sized, timed, masked)


def _timed(
    annotations: Annotations, places: Mapping[SequenceKey, int], cut_frames: int
) -> Iterator[TimedPart]:
    times_s = annotations.frame_times_s
    if times_s is None:
        return
    for first, last in zip(*timed_parts(annotations, cut_frames), strict=True):
        key = annotations.sequences[annotations.frame_sequences[first]]
        frame = int(annotations.frame_numbers[first])
        yield TimedPart(places[key], key, frame, float(times_s[first]), float(times_s[last]))


def cited(readings: Readings) -> Iterator[FrameExample]:
    """Frames that warnings about the whole may cite."""
    for side, reading in zip(Side, readings, strict=True):
        if reading.beyond is not None:
            yield FrameExample(side, reading.beyond.sequence, reading.beyond.frame)


def faults_between(parts: Mapping[str, Readings]) -> Iterator[Fault]:
    """Parts that were read differently from the whole: masks count only if all objects have one.

    Args:
        parts: Those of every shard, by the name of its file.
    """
    for row, side in enumerate(Side):
        owners = {readings[row].masked: name for name, readings in parts.items()}
        if True in owners and False in owners:
            yield Fault(
                "objects without masks",
                f"masks, as the objects of {owners[True]} have them",
                source=owners[False],
                field=f"masks of the {side.value}",
                advice="give each object a mask or none, or score the data whole",
            )


def warnings_of(parts: Sequence[Readings]) -> tuple[ReportWarning, ...]:
    """The warnings about the whole, equal to those of `vidscore_evaluators.formats.Pair`.

    Args:
        parts: Those of every shard, in order.
    """
    sides = list(zip(*parts, strict=True))
    return (
        *(warning for of_side in sides for warning in _of_source(of_side)),
        *(
            warning
            for side, of_side in zip(Side, sides, strict=True)
            for warning in _of_positions(side, of_side)
        ),
    )


def _of_source(parts: Sequence[PartReading]) -> Iterator[ReportWarning]:
    yield from parts[0].listed
    back = _sum(chain((part.back for part in parts), _between(parts)))
    if back is not None:
        yield times_back_warning(back.count, back.sequence, back.frame, parts[0].name)


def _between(parts: Iterable[PartReading]) -> Iterator[Counted]:
    """Frames that begin a part of a cut sequence before the end of the part before it, in time."""
    timed = sorted(
        (one for part in parts for one in part.timed), key=lambda one: (one.place, one.frame)
    )
    for before, one in pairwise(timed):
        if before.place == one.place and one.first_s < before.last_s:
            yield Counted(1, one.place, one.sequence, one.frame)


def _of_positions(side: Side, parts: Sequence[PartReading]) -> Iterator[ReportWarning]:
    beyond = _sum(part.beyond for part in parts)
    if beyond is not None:
        example = FrameExample(side, beyond.sequence, beyond.frame)
        sized = sum(part.sized for part in parts)
        yield from beyond_image_warnings(side, beyond.count, sized, example)


def _sum(parts: Iterable[Counted | None]) -> Counted | None:
    known = [part for part in parts if part is not None]
    if not known:
        return None
    first = min(known, key=lambda one: (one.place, one.frame))
    count = sum(part.count for part in known)
    return Counted(count, first.place, first.sequence, first.frame)
