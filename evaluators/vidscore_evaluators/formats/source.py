"""What reading gives: annotations, where their frames stand in the files, and what was odd."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from vidscore_evaluators.annotations import Annotations, SequenceKey, Side
from vidscore_evaluators.arrays import BoolArray, IntArray
from vidscore_evaluators.errors import Fault
from vidscore_evaluators.formats.fault_list import FaultList
from vidscore_evaluators.formats.packed import InputPath
from vidscore_evaluators.plausibility.summary import ImageSizes
from vidscore_evaluators.report import ReportWarning

NAMES_IN_WARNING = 10

SWAPPED = "you may have swapped --truth and --detections"
"""Advice where detections look like ground truth, or the other way round."""

IMAGES = "images"
"""Sequence of images that belong to no video; their frame numbers are the images' own."""


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """How much a reader takes in.

    Attributes:
        maximum_file_bytes: Size of one file.
        maximum_files: Files of one tree.
        maximum_unpacked_bytes: Size of all files of one archive, unpacked.
    """

    maximum_file_bytes: int = 4 << 30
    maximum_files: int = 100_000
    maximum_unpacked_bytes: int = 8 << 30


@dataclass(frozen=True, slots=True)
class ReadOptions(ReadLimits):
    """The same, and what the files of some formats leave out.

    Attributes:
        image_size: Width and height in pixels of every image; None where it is not known.
    """

    image_size: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Numbering:
    """Meaning of the numbers in files that detections share with their truth.

    Attributes:
        frames: Sequence and frame number of each image, by its number or other id.
        labels: Name of each class number.
        files: File of each image, in the order of `frames`; empty where it is not said.
        image_names: Of detections that name their images: the name by the frame number that
            stands for it until the truth is known.
    """

    frames: Mapping[int | str, tuple[SequenceKey, int]] = field(default_factory=dict)
    labels: Mapping[int, str] = field(default_factory=dict)
    files: Sequence[str] = ()
    image_names: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Places:
    """Where the frames of annotations stand.

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

    def take_frames(self, rows: BoolArray) -> Places:
        """Keep some frames."""
        return replace(
            self,
            source_of_frame=self.source_of_frame[rows],
            positions=self.positions[rows],
        )

    def located(self, fault: Fault, row: int) -> Fault:
        """The fault at the place of the frame in that row."""
        source = self.sources[self.source_of_frame[row]]
        position = int(self.positions[row])
        if self.position_name == "line":
            return replace(fault, source=source, line=position, entry=None)
        return replace(fault, source=source, line=None, entry=position)


def join_places(parts: Sequence[Places]) -> Places:
    """The places of frames that are put one after the other; at least one part."""
    first = np.cumsum([0, *(len(part.sources) for part in parts)])[:-1].tolist()
    return replace(
        parts[0],
        sources=tuple(source for part in parts for source in part.sources),
        source_of_frame=np.concatenate(
            [part.source_of_frame + index for part, index in zip(parts, first, strict=True)]
        ),
        positions=np.concatenate([part.positions for part in parts]),
    )


@dataclass(frozen=True, eq=False)
class Source:
    """One side of a scoring, read.

    Attributes:
        annotations: What was read.
        name: Path as the user gave it, or the side where there is none.
        format: Name of its format; None where it came as arrays.
        places: Where its frames stand; None where it came as arrays.
        warnings: What a reader of the scores should know.
        numbering: What its numbers stand for, where its format has such and the files say so.
        image_sizes: Width and height in pixels of the largest image of each sequence, where the
            files or the reader's options say it.
    """

    annotations: Annotations
    name: str
    format: str | None = None
    places: Places | None = None
    warnings: tuple[ReportWarning, ...] = ()
    numbering: Numbering | None = None
    image_sizes: ImageSizes = field(default_factory=dict)

    def locate(self, fault: Fault) -> Fault:
        """Turn the frame row of an evaluator's fault into file and line, or entry.

        The fault's field is a column of annotations, which the file may not have: it is dropped.
        """
        if self.places is None or fault.entry is None:
            return replace(fault, source=self.name)
        return self.places.located(replace(fault, field=None), fault.entry)

    def place_of(self, sequence: SequenceKey, frame: int) -> str:
        """File and line, or entry, of a frame; the source's name where it came as arrays."""
        annotations = self.annotations
        if self.places is None or sequence not in annotations.sequences:
            return self.name
        of_sequence = annotations.frame_sequences == annotations.sequences.index(sequence)
        rows = np.flatnonzero(of_sequence & (annotations.frame_numbers == frame))
        return self.places.located(Fault("", ""), int(rows[0])).place if len(rows) else self.name

    def without_frames(
        self, dropped: BoolArray, unknown: frozenset[SequenceKey] = frozenset()
    ) -> Source:
        """Drop frames, and sequences from the table."""
        kept = self.annotations.take_frames(~dropped)
        table = tuple(key for key in kept.sequences if key not in unknown)
        return replace(
            self,
            annotations=kept.with_tables(table, kept.labels),
            places=None if self.places is None else self.places.take_frames(~dropped),
        )


@dataclass(frozen=True, eq=False)
class Reading:
    """What a reader makes of a path.

    Attributes:
        source: What could be read.
        faults: What is wrong with rows and entries; those are not in `source`.
        skipped: Rows and entries that are not in `source`.
    """

    source: Source
    faults: FaultList = field(default_factory=FaultList)
    skipped: int = 0


@dataclass(frozen=True, eq=False)
class PairReading:
    """What a format makes of detections beside their truth.

    Attributes:
        detections: The detections without what does not fit the truth.
        faults: What does not fit.
        skipped: Entries or files that are not in `detections`.
    """

    detections: Source
    faults: FaultList
    skipped: int = 0


@dataclass(frozen=True)
class Format:
    """A file format.

    Attributes:
        name: Its name on the command line.
        title: One line for lists.
        matches: Whether a path is of this format, by its content; given its first bytes, which
            are empty for a folder.
        read: Reads one side. Raises InputError where nothing can be read.
        pair: Checks detections against truth, given the sequences that are known.
        first_frame: Number of the first frame of a video, where the format says so.
        first_pixel: Coordinate of the left or upper edge of an image's first pixel, where the
            format says so.
    """

    name: str
    title: str
    matches: Callable[[InputPath, bytes], bool]
    read: Callable[[InputPath, Side, ReadOptions], Reading]
    pair: Callable[[Source, Source, frozenset[SequenceKey]], PairReading]
    first_frame: int | None = None
    first_pixel: int | None = None


def accept_pair(truth: Source, detections: Source, known: frozenset[SequenceKey]) -> PairReading:
    """The pair check of a format that asks nothing more of detections than to be readable."""
    del truth, known
    return PairReading(detections, FaultList())


def listed_names(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    shown = ", ".join(names[:NAMES_IN_WARNING])
    rest = len(names) - NAMES_IN_WARNING
    return f"{shown} and {rest} more" if rest > 0 else shown


def sequence_name(key: SequenceKey) -> str:
    """``Tower/001``; the sequence alone where there is no domain."""
    return "/".join(filter(None, key))


def no_frames(source: Source) -> BoolArray:
    """(F,) no frame of the source."""
    return np.zeros(source.annotations.frame_count, dtype=np.bool_)
