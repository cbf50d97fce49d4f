"""The tallies of a submission by part of the data, and an estimate from its sequences' tallies.

Under ``bootstrap`` a team sees an estimate instead of its score: the score over sequences that are
weighted by the Bayesian bootstrap (Rubin, "The Bayesian Bootstrap", 1981). Source of the release
policy: Neto and others, "Reducing Overfitting in Challenge-Based Competitions" (2016,
arXiv:1607.00091).

Readings of this project: the units are sequences; tallies add only whole, so that weights, which
are distributed as exponential numbers divided by their sum, are rounded to integer multiples, and a
sequence of weight 2 counts as two; and the noise is a keyed digest, so that a repeat gets the same
answer.
"""

from __future__ import annotations

import hashlib
import hmac
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence

import numpy as np

from vidscore_evaluators.annotations import Annotations, SequenceKey
from vidscore_evaluators.arrays import FloatArray
from vidscore_evaluators.tally import Tally, merge_tallies
from vidscore_evaluators.trust.drawn_tallies import pack_parts
from vidscore_evaluators.trust.systems import by_sequence
from vidscore_evaluators.trust.tiers import DrawsJob
from vidscore_server.domain.definition import Definition
from vidscore_server.domain.policy import Visibility
from vidscore_server.domain.private_part import Portion, answered_portion, private_frames

Sides = tuple[Annotations, Annotations]
"""Truth and detections."""

Place = tuple[Portion, SequenceKey | None]
"""A part of the data, and a sequence of it; None for all."""


def places(definition: Definition, both: Sides) -> dict[Place, Sides]:
    """Cut both sides of whole sequences into the places that are tallied separately.

    Args:
        definition: The benchmark.
        both: Truth and detections.
    """
    found: dict[Place, Sides] = {(Portion.WHOLE, None): both}
    if definition.policy.keeps_private:
        found = {
            (portion, None): sides
            for portion, sides in _split(definition, both).items()
            if any(side.frame_count for side in sides)
        }
    if definition.policy.shown is Visibility.BOOTSTRAP:
        answered = answered_portion(definition.policy)
        sides = found.pop((answered, None), None)
        found |= {} if sides is None else _by_sequence(answered, sides)
    return found


def _split(definition: Definition, both: Sides) -> dict[Portion, Sides]:
    private = [private_frames(side, definition.is_private) for side in both]
    truth, detections = both
    return {
        Portion.PUBLIC: (truth.take_frames(~private[0]), detections.take_frames(~private[1])),
        Portion.PRIVATE: (truth.take_frames(private[0]), detections.take_frames(private[1])),
    }


def public_side(definition: Definition, side: Annotations) -> Annotations:
    """The frames of a side outside private sequences."""
    if not definition.policy.keeps_private:
        return side
    return side.take_frames(~private_frames(side, definition.is_private))


def _by_sequence(portion: Portion, both: Sides) -> dict[Place, Sides]:
    keys = sorted({key for side in both for key in side.used_sequences})
    truth, detections = (by_sequence(side, keys) for side in both)
    split = zip(truth, detections, strict=True)
    return {(portion, key): sides for key, sides in zip(keys, split, strict=True)}


class PartTallies:
    """Collects the tallies of a submission."""

    def __init__(self, definition: Definition) -> None:
        self._definition = definition
        self._evaluators = definition.evaluators
        self._tallies: dict[Place, list[Tally]] = {}

    def add(self, found: Mapping[Place, Sequence[Tally]]) -> None:
        """Add tallies of each evaluator over some places."""
        for place, tallies in found.items():
            before = self._tallies.get(place)
            self._tallies[place] = [
                tally if before is None else merge_tallies([before[row], tally])
                for row, tally in enumerate(tallies)
            ]

    def parts(self) -> dict[Portion, list[Tally | None]]:
        """By part of the data, the tally of each evaluator; everything comes first.

        None if a part has no frames.
        """
        portions = [Portion.WHOLE]
        if self._definition.policy.keeps_private:
            portions += [Portion.PUBLIC, Portion.PRIVATE]
        return {portion: self._merged(portion) for portion in portions}

    def _merged(self, portion: Portion) -> list[Tally | None]:
        own = [
            tallies for (of, _), tallies in self._tallies.items() if portion in {of, Portion.WHOLE}
        ]
        return [
            merge_tallies([tallies[row] for tallies in own]) if own else None
            for row in range(len(self._evaluators))
        ]

    def estimate_jobs(self, key: str) -> list[DrawsJob | None]:
        """The work for `estimate` of each evaluator's ranking measures, if the policy asks for it.

        Args:
            key: Keys the noise.
        """
        if self._definition.policy.shown is not Visibility.BOOTSTRAP:
            return [None] * len(self._evaluators)
        tallies = {
            sequence: found
            for (_, sequence), found in sorted(self._tallies.items(), key=_in_order)
            if sequence is not None
        }
        times = np.array([bootstrap_times(key, list(tallies))], dtype=np.int64)
        return [
            DrawsJob.of(
                evaluator,
                pack_parts([found[row] for found in tallies.values()]) if tallies else b"",
                times,
                list(self._definition.ranking(evaluator)),
            )
            for row, evaluator in enumerate(self._evaluators)
        ]


def _in_order(entry: tuple[Place, list[Tally]]) -> tuple[str, str]:
    sequence = entry[0][1]
    return ("", "") if sequence is None else (sequence.domain, sequence.sequence)


MOST_COPIES = 8
"""Copies of a sequence of average weight if there are few sequences: weights in eighths."""

ENOUGH_COPIES = 2000
"""Number of copies in all above which finer weights are not worth their time."""


def bootstrap_times(key: str, sequences: Sequence[SequenceKey]) -> list[int]:
    """How often each of S sequences counts in a draw of the Bayesian bootstrap.

    Args:
        key: Keys the noise.
        sequences: The sequences; the number for each depends on its name, and on the others only by
            their sum.
    """
    if not sequences:
        return []
    copies = max(1, min(MOST_COPIES, ENOUGH_COPIES // len(sequences)))
    total = copies * len(sequences)
    drawn = [_exponential(key, sequence) for sequence in sequences]
    exact = [total * number / math.fsum(drawn) for number in drawn]
    times = [math.floor(number) for number in exact]
    # The rest from rounding down goes to the sequences with the largest remainders.
    by_rest = sorted(range(len(exact)), key=lambda row: (times[row] - exact[row], row))
    for row in by_rest[: total - sum(times)]:
        times[row] += 1
    return times


def _exponential(key: str, sequence: SequenceKey) -> float:
    """An exponentially distributed number from a keyed digest of a sequence's name."""
    content = f"{sequence.domain}\0{sequence.sequence}".encode()
    digest = hmac.new(key.encode(), content, hashlib.sha256).digest()
    uniform = (int.from_bytes(digest[:8], "big") + 0.5) / 2.0**64
    return -math.log(uniform)


async def estimate(
    draws: Callable[[DrawsJob], Awaitable[FloatArray]], job: DrawsJob
) -> dict[str, float | None]:
    """The measures of a job over everything, with each sequence counted as often as it says.

    Args:
        draws: Runs the job.
        job: The job, of one draw.
    """
    if not job.tallies:
        return dict.fromkeys(job.measures)
    [values] = (await draws(job)).tolist()
    return {
        name: None if math.isnan(value) else value
        for name, value in zip(job.measures, values, strict=True)
    }
