"""Parts of the data that are drawn: whole sequences, or runs of frames.

Frames that are independent images, as those of COCO, are drawn in runs of neighbours, of which a
domain has at most `RUNS`: tallies of thousands of images would take long to add in each draw. Runs
are also right where neighbours are alike, because such frames stay together. Source: H. R. Künsch,
"The Jackknife and the Bootstrap for General Stationary Observations", 1989.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

import numpy as np
from msgspec import Struct

from vidscore_evaluators.annotations import Annotations, SequenceKey
from vidscore_evaluators.arrays import IntArray
from vidscore_evaluators.trust.systems import Contest, Drawn, by_sequence

RUNS = 100
"""Maximum number of runs of a domain, but at least one for each of its sequences."""


class Part(Struct, frozen=True):
    """A part of both sides.

    Attributes:
        key: Its sequence.
        first: Number of its first frame.
        end: Number of the first frame after it.
    """

    key: SequenceKey
    first: float = -math.inf
    end: float = math.inf

    def of(self, sequence: Annotations) -> Annotations:
        """Its frames, of those of its sequence."""
        numbers = sequence.frame_numbers
        return sequence.take_frames((numbers >= self.first) & (numbers < self.end))


def sides_of_parts(parts: Sequence[Part], side: Annotations) -> Iterator[Annotations]:
    """The frames of each part.

    Args:
        parts: The parts, sorted by sequence; see `drawn_parts`.
        side: The truth, or a system.
    """
    groups = [(key, list(own)) for key, own in groupby(parts, lambda part: part.key)]
    sequences = by_sequence(side, [key for key, _ in groups])
    for sequence, (_, own) in zip(sequences, groups, strict=True):
        yield from (part.of(sequence) for part in own)


def drawn_parts(contest: Contest) -> list[Part]:
    """The parts of a contest that are drawn, sorted by sequence and frame.

    Args:
        contest: The systems, and the truth whose sequences or frames are drawn.
    """
    if contest.drawn is Drawn.SEQUENCES:
        return [Part(key) for key in contest.sequences]
    parts = by_sequence(contest.truth, contest.sequences)
    numbers = [np.sort(part.frame_numbers) for part in parts]
    totals: dict[str, int] = {}
    for key, own in zip(contest.sequences, numbers, strict=True):
        totals[key.domain] = totals.get(key.domain, 0) + len(own)
    return [
        part
        for key, own in zip(contest.sequences, numbers, strict=True)
        for part in _runs(key, own, math.ceil(totals[key.domain] / RUNS))
    ]


def _runs(key: SequenceKey, numbers: IntArray, length: int) -> list[Part]:
    """Runs of so many of the (N,) frames; frames that only detections have belong to one, too."""
    inner = numbers[length::length].tolist()
    ends = [-math.inf, *inner, math.inf]
    return [Part(key, first, end) for first, end in pairwise(ends)]
