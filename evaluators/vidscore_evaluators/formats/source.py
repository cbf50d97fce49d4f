"""Results of reading: annotations, the positions of their frames in the files, and faults."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Literal

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from vidscore_evaluators.annotations import Annotations, SequenceKey, Side
from vidscore_evaluators.arrays import BoolArray, IntArray
from vidscore_evaluators.errors import Fault
from vidscore_evaluators.names import counted, first_of
from vidscore_evaluators.plausibility.image_sizes import ImageSizes, warnings_of_positions
from vidscore_evaluators.report import FrameExample, ReportWarning

MAXIMUM_FAULTS = 100_000
"""Maximum number of faults listed per input; a file of broken rows must not fill the memory."""

SHOWN_CHARACTERS = 60
NOTHING = "nothing"
SKIPPED_ROWS = "skipped_rows"
NAMES_IN_WARNING = 10

SWAPPED = "it seems to be the other side; check --truth and --detections, or --side"
"""Advice if detections look like ground truth, or the other way round."""


Files = Mapping[str, bytes]
"""Content by relative path; a single file has the path ``""``."""


class ReadLimits(Struct, frozen=True):
    """Limits of what a reader accepts.

    Attributes:
        maximum_file_bytes: Size of one file.
        maximum_files: Number of files of one tree.
        maximum_unpacked_bytes: Size of all files of one archive, unpacked.
    """

    maximum_file_bytes: int = 4 << 30
    maximum_files: int = 100_000
    maximum_unpacked_bytes: int = 8 << 30


Wanted = Callable[[SequenceKey], bool]
"""Whether to read a sequence; if it is a `WantedFrames`, only some frames of it."""

_MOST_PARTS = 1 << 16
"""Maximum number of parts of a sequence that are checked one by one."""


def parts_of_frames(
    sequences: IntArray, frames: IntArray, cut_frames: int
) -> tuple[list[tuple[int, int]], IntArray]:
    """The parts of cut sequences that have frames, and (N,) the place of each frame's part.

    Args:
        sequences: (N,) index of each frame's sequence.
        frames: (N,) their numbers.
        cut_frames: Number of frame numbers per part.
    """
    numbers, of_frame = np.unique(frames // cut_frames, return_inverse=True)
    count = max(1, len(numbers))
    # One number for both sorts much faster than pairs do.
    found, place = np.unique(sequences * count + of_frame, return_inverse=True)
    own, parts = np.divmod(found, count)
    return list(zip(own.tolist(), numbers[parts].tolist(), strict=True)), place


class WantedFrames(Struct, frozen=True):
    """Selected parts of sequences that are cut at regular frame numbers.

    Attributes:
        cut_frames: Number of frame numbers per part.
        wants: Whether a part is selected, by its sequence and its index there, from 0.
    """

    cut_frames: int
    wants: Callable[[SequenceKey, int], bool]

    def __call__(self, key: SequenceKey) -> bool:
        """True, since some frames of any sequence may be wanted."""
        del key
        return True

    def between(self, key: SequenceKey, first: int, last: int) -> bool:
        """Whether any frame from `first` to `last`, both included, may be wanted."""
        parts = range(first // self.cut_frames, last // self.cut_frames + 1)
        return len(parts) > _MOST_PARTS or any(self.wants(key, part) for part in parts)

    def of(self, keys: Sequence[SequenceKey], sequences: IntArray, frames: IntArray) -> BoolArray:
        """(N,) whether each frame is wanted.

        Args:
            keys: Sequences.
            sequences: (N,) index of each frame's sequence.
            frames: (N,) their numbers.
        """
        parts, place = parts_of_frames(sequences, frames, self.cut_frames)
        own = [self.wants(keys[sequence], part) for sequence, part in parts]
        kept: BoolArray = np.array(own, dtype=np.bool_)[place]
        return kept


def wanted_rows(
    wanted: Wanted, keys: Sequence[SequenceKey], sequences: IntArray, frames: IntArray
) -> BoolArray:
    """(N,) whether each row is wanted.

    Args:
        wanted: Which sequences are, or which of their frames.
        keys: Sequences.
        sequences: (N,) index of each row's sequence.
        frames: (N,) number of each row's frame.
    """
    if isinstance(wanted, WantedFrames):
        return wanted.of(keys, sequences, frames)
    own: BoolArray = np.array([wanted(key) for key in keys], dtype=np.bool_)[sequences]
    return own


class ReadOptions(ReadLimits, frozen=True):
    """Limits, and facts that the files of some formats leave out.

    Attributes:
        image_size: Width and height in pixels of every image; None if unknown.
        wanted: Sequences to read, for formats that find them without reading the others; None for
            all.
        paired: Whether detections are read beside their truth, which may supply what they leave
            out.
        scaled: Whether the caller maps confidences to numbers from 0 to 1, so that any number may
            be one.
    """

    image_size: tuple[int, int] | None = None
    wanted: Wanted | None = None
    paired: bool = False
    scaled: bool = False


class Listing(Struct, frozen=True):
    """Facts about a side of which only wanted sequences were read.

    Attributes:
        sequences: All sequences, in the order of the whole side.
        digest: Digest of names and sizes of all files.
        empty: Sequences that were read and have no frame.
    """

    sequences: tuple[SequenceKey, ...]
    digest: str
    empty: frozenset[SequenceKey] = frozenset()

    @property
    def with_frames(self) -> tuple[SequenceKey, ...]:
        """All but the empty ones; sequences that were not read are assumed to have a frame."""
        return tuple(key for key in self.sequences if key not in self.empty)


SizeOf = Callable[[int | str], tuple[int, int] | None]
"""Height and width of an image by its number or name, 0 if unknown; None if it does not exist."""


class Numbering(Struct, frozen=True):
    """Meaning of the numbers in files that detections share with their truth.

    Attributes:
        frames: Sequence and frame number of each image, by its number or other id.
        labels: Name of each class number.
        files: File of each image, in the order of `frames`; empty if unknown.
        sizes: Height and width of each image, in the same order, 0 if unknown; or empty.
        image_names: For detections that name their images: the name behind each provisional frame
            number, which is replaced when the truth is known.
        label_entries: The first entry with each class number, if its name is still to be looked up.
        of_truth: Whether the numbers refer to the truth, and must be looked up there.
    """

    frames: Mapping[int | str, tuple[SequenceKey, int]] = field(default_factory=dict)
    labels: Mapping[int, str] = field(default_factory=dict)
    files: Sequence[str] = ()
    sizes: Sequence[Sequence[int]] = ()
    image_names: Mapping[int, str] = field(default_factory=dict)
    label_entries: Mapping[int, int] = field(default_factory=dict)
    of_truth: bool = False


class SourcePositions(Struct, frozen=True, eq=False):
    """Positions of the frames of annotations in the files.

    Attributes:
        sources: Names of the files.
        source_of_frame: (F,) index into `sources`.
        positions: (F,) line or entry in that file.
        position_name: ``line`` or ``entry``.
    """

    sources: tuple[str, ...]
    source_of_frame: IntArray
    positions: IntArray
    position_name: Literal["line", "entry"]

    def take_frames(self, rows: BoolArray) -> SourcePositions:
        """Keep some frames."""
        return replace(
            self,
            source_of_frame=self.source_of_frame[rows],
            positions=self.positions[rows],
        )

    def located(self, fault: Fault, row: int) -> Fault:
        """The fault, located at the frame in a row."""
        source = self.sources[self.source_of_frame[row]]
        position = int(self.positions[row])
        if self.position_name == "line":
            return replace(fault, source=source, line=position, entry=None)
        return replace(fault, source=source, line=None, entry=position)


def join_positions(parts: Sequence[SourcePositions]) -> SourcePositions:
    """The positions of concatenated frames; at least one part."""
    first = np.cumsum([0, *(len(part.sources) for part in parts)])[:-1].tolist()
    return replace(
        parts[0],
        sources=tuple(source for part in parts for source in part.sources),
        source_of_frame=np.concatenate(
            [part.source_of_frame + index for part, index in zip(parts, first, strict=True)]
        ),
        positions=np.concatenate([part.positions for part in parts]),
    )


class Source(Struct, frozen=True, eq=False):
    """One side of a scoring, read.

    Attributes:
        annotations: The annotations.
        name: Path as the user gave it; without one, the side.
        format: Name of its format; None for arrays.
        positions: Positions of its frames in the files; None for arrays.
        warnings: Warnings for readers of the scores.
        numbering: Meaning of its numbers, if its format has numbers that the files define.
        image_sizes: Width and height in pixels of the largest image of each sequence, if the files
            or the reader's options state them.
        listing: Facts about the whole side; None if all of it was read.
        tells_shape: Whether it determines the shape of objects; JSON lines without objects do not.
        resume: Reads detections whose masks need the sizes of the truth's images, given height and
            width by the number or name of an image; None if nothing is pending.
        left_out: The frame of each entry that could not be used, by its place; None if the frame is
            unreadable. Only for formats that require an entry for each frame.
    """

    annotations: Annotations
    name: str
    format: str | None = None
    positions: SourcePositions | None = None
    warnings: tuple[ReportWarning, ...] = ()
    numbering: Numbering | None = None
    image_sizes: ImageSizes = field(default_factory=dict)
    listing: Listing | None = None
    tells_shape: bool = True
    resume: Callable[[SizeOf], Reading] | None = None
    left_out: Mapping[int, tuple[SequenceKey, int] | None] = field(default_factory=dict)

    def locate(self, fault: Fault) -> Fault:
        """Turn the frame row of an evaluator's fault into file and line, or entry.

        The fault's field is a column of annotations, which the file may not have; it is dropped.
        """
        if self.positions is None or fault.entry is None:
            return replace(fault, source=self.name)
        return self.positions.located(replace(fault, field=None), fault.entry)

    def place_of(self, sequence: SequenceKey, frame: int) -> str:
        """File and line, or entry, of a frame; for arrays, the source's name."""
        annotations = self.annotations
        if self.positions is None or sequence not in annotations.sequences:
            return self.name
        of_sequence = annotations.frame_sequences == annotations.sequences.index(sequence)
        rows = np.flatnonzero(of_sequence & (annotations.frame_numbers == frame))
        return self.positions.located(Fault("", ""), int(rows[0])).place if len(rows) else self.name

    def places_of(
        self, frames: Iterable[tuple[SequenceKey, int]]
    ) -> dict[tuple[SequenceKey, int], str]:
        """The same for many frames at once, in a single pass."""
        annotations, positions = self.annotations, self.positions
        wanted = list(frames)
        if positions is None:
            return dict.fromkeys(wanted, self.name)
        index = {key: row for row, key in enumerate(annotations.sequences)}
        order = np.lexsort((annotations.frame_numbers, annotations.frame_sequences))
        numbers, sequences = annotations.frame_numbers[order], annotations.frame_sequences[order]
        places: dict[tuple[SequenceKey, int], str] = {}
        for key, frame in wanted:
            sequence = index.get(key, -1)
            first, end = np.searchsorted(sequences, (sequence, sequence + 1)).tolist()
            at = first + int(np.searchsorted(numbers[first:end], frame))
            found = at < end and int(numbers[at]) == frame
            places[key, frame] = (
                positions.located(Fault("", ""), int(order[at])).place if found else self.name
            )
        return places

    def without_frames(
        self, dropped: BoolArray, unknown: frozenset[SequenceKey] = frozenset()
    ) -> Source:
        """Drop frames, and sequences from the table."""
        kept = self.annotations.take_frames(~dropped)
        table = tuple(key for key in kept.sequences if key not in unknown)
        return replace(
            self,
            annotations=kept.with_tables(table, kept.labels),
            positions=None if self.positions is None else self.positions.take_frames(~dropped),
        )

    def only_wanted(self, wanted: Wanted, listing: Listing) -> Source:
        """The wanted frames, over a table of all sequences."""
        annotations = self.annotations
        empty = frozenset(annotations.sequences).difference(annotations.used_sequences)
        keys, sequences = annotations.sequences, annotations.frame_sequences
        keep = wanted_rows(wanted, keys, sequences, annotations.frame_numbers)
        kept = annotations.take_frames(keep)
        return replace(
            self,
            annotations=kept.with_tables(listing.sequences, kept.labels),
            positions=None if self.positions is None else self.positions.take_frames(keep),
            listing=replace(listing, empty=listing.empty | empty),
        )


def with_skipped(source: Source, skipped: int) -> Source:
    """A source with the warning that a number of rows or entries were left out, if any."""
    if not skipped:
        return source
    message = f"{source.name}: rows or entries that could not be used were left out"
    warning = ReportWarning(SKIPPED_ROWS, message, skipped)
    return replace(source, warnings=(*source.warnings, warning))


def same_data_warnings(truth: Source, detections: Source) -> tuple[ReportWarning, ...]:
    """The warning that both sides of one path are the same; a folder may hold two sides."""
    first, second = truth.annotations, detections.annotations
    if not second.object_count or not np.array_equal(first.coordinates, second.coordinates):
        return ()
    message = (
        "detections are the objects of the ground truth themselves, as both sides are "
        f"{detections.name}; give the file of the detections"
    )
    return (ReportWarning("same_file", message, second.object_count),)


class Pair(Struct, frozen=True, eq=False, dict=True):
    """Truth and detections, read and checked against each other."""

    truth: Source
    detections: Source

    @cached_property
    def warnings(self) -> tuple[ReportWarning, ...]:
        """Warnings of both, and about coordinates outside the images."""
        sizes = {**self.truth.image_sizes, **self.detections.image_sizes}
        return (
            *self.truth.warnings,
            *self.detections.warnings,
            *warnings_of_positions(Side.TRUTH, self.truth.annotations, sizes),
            *warnings_of_positions(Side.DETECTIONS, self.detections.annotations, sizes),
        )

    def place_of(self, example: FrameExample) -> str:
        """File and line, or entry, of the frame that a warning names."""
        source = self.truth if example.side is Side.TRUTH else self.detections
        return source.place_of(example.sequence, example.frame)

    def locate(self, fault: Fault) -> Fault:
        """Add file and line, or entry, to an evaluator's fault that names a side and a frame."""
        sides = {Side.TRUTH.value: self.truth, Side.DETECTIONS.value: self.detections}
        side = sides.get(fault.source or "")
        return fault if side is None else side.locate(fault)


class FaultList(Struct, eq=False):
    """Faults in the order in which they were found; those beyond `MAXIMUM_FAULTS` are only counted.

    Attributes:
        kept: The faults within the bound.
        total: Number of all faults.
    """

    kept: list[Fault] = field(default_factory=list)
    total: int = 0

    def __bool__(self) -> bool:
        """Whether there is any."""
        return self.total > 0

    def add(self, fault: Fault) -> None:
        """Add a fault."""
        self.total += 1
        if len(self.kept) < MAXIMUM_FAULTS:
            self.kept.append(fault)

    def extend(self, faults: Iterable[Fault]) -> None:
        """Add several."""
        for fault in faults:
            self.add(fault)

    def absorb(self, other: FaultList) -> None:
        """Add the faults of another list, including those only counted."""
        self.extend(other.kept)
        self.total += other.total - len(other.kept)

    def relocated(self, place: Callable[[Fault], Fault]) -> FaultList:
        """The same faults, each with the place that a function returns for it."""
        return FaultList([place(fault) for fault in self.kept], self.total)

    def listed(self) -> list[Fault]:
        """The faults sorted by place; if there are too many, with one that says so."""
        faults = sorted(
            self.kept, key=lambda one: (one.source or "", one.line or 0, one.entry or 0)
        )
        rest = self.total - len(faults)
        if rest:
            expected = f"at most {MAXIMUM_FAULTS} to be listed"
            faults.append(Fault(counted(rest, "more fault"), expected))
        return faults


class Reading(Struct, frozen=True, eq=False):
    """Result of reading a path.

    Attributes:
        source: The readable part.
        faults: Faults of rows and entries, which are left out of `source`.
        skipped: Number of rows and entries left out.
        listing: Facts about the whole side, if only files or row groups with wanted sequences were
            read.
    """

    source: Source
    faults: FaultList = field(default_factory=FaultList)
    skipped: int = 0
    listing: Listing | None = None


class PairReading(Struct, frozen=True, eq=False):
    """Result of checking detections against their truth.

    Attributes:
        detections: The detections that fit the truth.
        faults: Faults of the others.
        skipped: Number of entries or files left out of `detections`.
    """

    detections: Source
    faults: FaultList = field(default_factory=FaultList)
    skipped: int = 0


def show_text(text: str) -> str:
    """A string from a user's file, quoted and truncated; `NOTHING` for an empty one."""
    if not text:
        return NOTHING
    shown = repr(text[: SHOWN_CHARACTERS + 1])
    return shown if len(text) <= SHOWN_CHARACTERS else f"{shown[:SHOWN_CHARACTERS]}...'"


def listed_names(names: Sequence[str]) -> str:
    """The first names, and the number of further ones."""
    return first_of(names, NAMES_IN_WARNING)
