"""The tally of one shard: all the data is read and checked, the sequences of the shard are scored.

Each shard reads both sides whole, as `vidscore_evaluators.scoring.score` does: some formats say
only with all their files what a number means, and faults and warnings are then those of the whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from vidscore_evaluators.annotations import Annotations, SequenceKey, Side
from vidscore_evaluators.errors import InputError
from vidscore_evaluators.fingerprint import fingerprint
from vidscore_evaluators.formats.source import Source
from vidscore_evaluators.input_checks import checked_truth
from vidscore_evaluators.jobs import PartArray, frames_of_part, tally_in_parts
from vidscore_evaluators.plausibility.summary import EXAMPLES, SAMPLE, block_sequence
from vidscore_evaluators.report import FrameExample
from vidscore_evaluators.runtime import Progress
from vidscore_evaluators.selection import Selected
from vidscore_evaluators.shards.dealing import Shard, shards_of_frames
from vidscore_evaluators.shards.runs import Run
from vidscore_evaluators.tally import Table, Tally

Places = Mapping[FrameExample, str]
"""File and line, or entry, of frames that warnings may cite."""


@dataclass(frozen=True, eq=False)
class ShardTally:
    """The tally of one shard.

    Attributes:
        run: What it has in common with the other shards.
        shard: Which shard it is.
        tallies: A tally for each evaluator.
        places: Where the frames stand that warnings may cite.
    """

    run: Run
    shard: Shard
    tallies: Sequence[Tally]
    places: Places


@dataclass(frozen=True, eq=False)
class CheckedData:
    """All that is scored, read and checked.

    Attributes:
        part: Evaluators, both sides and specification.
        truth: The frames of the truth that are evaluated.
        run: What all shards of it have in common.
    """

    part: Selected
    truth: Annotations
    run: Run

    @classmethod
    def of(cls, part: Selected) -> CheckedData:
        """Check what was read.

        Args:
            part: Evaluators, both sides and specification.

        Raises:
            InputError: With every fault of both sides.
        """
        pair = part.pair
        truth = checked_truth(part.evaluators, pair, part.specification)
        digests = fingerprint(truth), fingerprint(pair.detections.annotations)
        return cls(part, truth, Run.of(part.evaluators, *digests, pair.warnings))

    @property
    def detections(self) -> Annotations:
        """The detections."""
        return self.part.pair.detections.annotations

    def sides_of(self, shard: Shard) -> tuple[Annotations, Annotations]:
        """Evaluated truth and detections of the sequences of a shard."""
        return self._cut(self._numbers(shard.count), shard)

    def sides_by_shard(self, count: int) -> Iterator[tuple[Annotations, Annotations]]:
        """The sides of each of so many shards, in order; names are dealt once for all of them."""
        numbers = self._numbers(count)
        return (self._cut(numbers, shard) for shard in Shard.all_of(count))

    def tally(
        self, shard: Shard, *, workers: int = 1, progress: Progress | None = None
    ) -> ShardTally:
        """Score the sequences of a shard.

        Args:
            shard: The shard; no sequence may belong to it.
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
        return ShardTally(self.run, shard, tallies, self._places(tallies))

    def _cut(
        self, numbers: tuple[PartArray, PartArray], shard: Shard
    ) -> tuple[Annotations, Annotations]:
        of_truth, of_detections = numbers
        return (
            frames_of_part(self.truth, of_truth, shard.number),
            frames_of_part(self.detections, of_detections, shard.number),
        )

    def _numbers(self, count: int) -> tuple[PartArray, PartArray]:
        return shards_of_frames(self.truth, count), shards_of_frames(self.detections, count)

    def _places(self, tallies: Sequence[Tally]) -> Places:
        summaries = {id(tally.input_summary): tally.input_summary for tally in tallies}
        wanted = {frame for summary in summaries.values() for frame in _citable(summary)}
        pair = self.part.pair
        return {
            **_places_in(pair.truth, Side.TRUTH, wanted),
            **_places_in(pair.detections, Side.DETECTIONS, wanted),
            **{
                warning.example: pair.place_of(warning.example)
                for warning in self.run.warnings
                if warning.example is not None
            },
        }


def _citable(summary: Mapping[str, Table]) -> Iterator[tuple[SequenceKey, int]]:
    """Frames of a summary of the input, of which its warnings may cite one on either side."""
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
