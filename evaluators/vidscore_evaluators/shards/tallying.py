"""The tally of one shard: the data is read and checked, the sequences of the shard are scored.

If the formats of both sides allow reading a sequence without the others, a shard reads only its
own. Otherwise it reads both sides whole, as `vidscore_evaluators.scoring.score` does: in some
formats, the meaning of a number depends on all files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from msgspec import Struct

from vidscore_evaluators.annotations import Annotations, SequenceKey, Side
from vidscore_evaluators.errors import InputError
from vidscore_evaluators.fingerprint import fingerprint
from vidscore_evaluators.formats.source import Source
from vidscore_evaluators.jobs import frames_of_part, tally_in_parts
from vidscore_evaluators.plausibility.sample import SAMPLE, block_sequence
from vidscore_evaluators.plausibility.summary import EXAMPLES
from vidscore_evaluators.preparation import DataChoice, checked_truth
from vidscore_evaluators.report import FrameExample
from vidscore_evaluators.runtime import Progress
from vidscore_evaluators.selection import Selected
from vidscore_evaluators.shards.dealing import Shard, check_cut, shards_of_frames
from vidscore_evaluators.shards.readings import Readings, cited, readings_of
from vidscore_evaluators.shards.runs import Run
from vidscore_evaluators.tally import Table, Tally

Places = Mapping[FrameExample, str]
"""File and line, or entry, of frames that warnings may cite."""


class ShardTally(Struct, frozen=True, eq=False):
    """The tally of one shard.

    Attributes:
        run: What it has in common with the other shards.
        shard: The shard.
        tallies: A tally for each evaluator.
        places: Places in the files of the frames that warnings may cite.
        readings: Results of reading its part; None if it has read the whole data.
    """

    run: Run
    shard: Shard
    tallies: Sequence[Tally]
    places: Places
    readings: Readings | None = None


class CheckedData(Struct, frozen=True, eq=False):
    """All data of a scoring, or the part of one shard, read and checked.

    Attributes:
        part: Evaluators, both sides and specification.
        truth: The frames of the truth that are evaluated.
        run: What all its shards have in common.
        readings: Results of reading the part of a shard, which is then the only one that can be
            tallied; None if everything was read.
    """

    part: Selected
    truth: Annotations
    run: Run
    readings: Readings | None = None

    @classmethod
    def of(cls, part: Selected, choice: DataChoice) -> CheckedData:
        """Check data that was read.

        Args:
            part: Evaluators, both sides and specification.
            choice: How it was read, and whether sequences are cut.

        Raises:
            InputError: With every fault of both sides.
            ParameterError: If an evaluator scores whole sequences, and they are cut.
        """
        check_cut(part.evaluators, choice.cut_frames)
        pair = part.pair
        truth = checked_truth(part.evaluators, pair, part.specification)
        readings, listings = (
            readings_of(pair, choice.cut_frames),
            (pair.truth.listing, pair.detections.listing),
        )
        if readings is None:
            digests = str(fingerprint(truth)), str(fingerprint(pair.detections.annotations))
            return cls(part, truth, Run.of(part.evaluators, digests, pair.warnings, choice))
        first, second = (listing.digest for listing in listings if listing is not None)
        listed = (warning for reading in readings for warning in reading.listed)
        run = Run.of(part.evaluators, (first, second), listed, choice, in_parts=True)
        return cls(part, truth, run, readings)

    @property
    def detections(self) -> Annotations:
        """The detections."""
        return self.part.pair.detections.annotations

    def sides_of(self, shard: Shard) -> tuple[Annotations, Annotations]:
        """Evaluated truth and detections of the sequences of a shard."""
        return next(self.sides_of_each([shard]))

    def sides_of_each(self, shards: Sequence[Shard]) -> Iterator[tuple[Annotations, Annotations]]:
        """The sides of some shards, at least one; names are dealt once for all of them."""
        of_truth, of_detections = (
            shards_of_frames(side, shards[0].count, self.run.cut_frames)
            for side in (self.truth, self.detections)
        )
        return (
            (
                frames_of_part(self.truth, of_truth, shard.number),
                frames_of_part(self.detections, of_detections, shard.number),
            )
            for shard in shards
        )

    def tally(
        self, shard: Shard, *, workers: int = 1, progress: Progress | None = None
    ) -> ShardTally:
        """Score the sequences of a shard.

        Args:
            shard: The shard; it may have no sequences.
            workers: Processes to use; 1 for this one alone.
            progress: Called with (frames done, frames in all).

        Raises:
            InputError: If the evaluator's rules forbid something, with file and line, or entry.
        """
        try:
            tallies = tally_in_parts(
                self.part.evaluators, *self.sides_of(shard), workers=workers, progress=progress
            )
        except InputError as error:
            faults = [self.part.pair.locate(fault) for fault in error.faults]
            raise type(error)(faults) from None
        return ShardTally(self.run, shard, tallies, self._places(tallies), self.readings)

    def cited_places(self) -> Places:
        """Places of the frames that warnings of reading cite, in any shard."""
        return {example: self.part.pair.place_of(example) for example in self._warned()}

    def _warned(self) -> Iterator[FrameExample]:
        """Frames that warnings of reading cite, or may cite when all shards are known."""
        for warning in self.run.warnings:
            if warning.example is not None:
                yield warning.example
        if self.readings is not None:
            yield from cited(self.readings)

    def _places(self, tallies: Sequence[Tally]) -> Places:
        summaries = {id(tally.input_summary): tally.input_summary for tally in tallies}
        wanted = {frame for summary in summaries.values() for frame in _citable(summary)}
        pair = self.part.pair
        return {
            **_places_in(pair.truth, Side.TRUTH, wanted),
            **_places_in(pair.detections, Side.DETECTIONS, wanted),
            **self.cited_places(),
        }


def _citable(summary: Mapping[str, Table]) -> Iterator[tuple[SequenceKey, int]]:
    """Frames of an input summary; its warnings may cite one of them on either side."""
    examples, sample = summary[EXAMPLES], summary[SAMPLE]
    keys = map(SequenceKey, examples.texts("domain"), examples.texts("sequence"))
    yield from zip(keys, examples.number("frame").astype(np.int64).tolist(), strict=True)
    frames = sample.number("frame").astype(np.int64).tolist()
    for block, frame in dict.fromkeys(zip(sample.texts("block"), frames, strict=True)):
        yield block_sequence(block), frame


def _places_in(
    source: Source, side: Side, wanted: Iterable[tuple[SequenceKey, int]]
) -> dict[FrameExample, str]:
    places = source.places_of(wanted)
    return {FrameExample(side, *frame): place for frame, place in places.items()}
