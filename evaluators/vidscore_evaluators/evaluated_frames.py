"""Which frames are evaluated: bring truth into agreement with a benchmark's specification.

Done in two steps, so that a stream and a whole file come to the same: `restrict` works on any
batch of truth, `unlisted_frames` gives, once all truth is there, what it did not list.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from vidscore_evaluators.annotations import (
    Annotations,
    FrameFlag,
    SequenceKey,
    concatenate,
    frame_list,
)
from vidscore_evaluators.arrays import IntArray
from vidscore_evaluators.errors import Fault, SpecificationError
from vidscore_evaluators.specification import BenchmarkSpec, SequenceSpec


def resolve(specification: BenchmarkSpec, truth: Annotations) -> Annotations:
    """Apply a specification to the whole truth.

    Frames that the specification evaluates and the truth does not list are added without
    objects, frames that it does not evaluate are dropped, and its don't-care frames are marked.
    Sequences that it does not name stay as they are.

    Raises:
        SpecificationError: If the truth has a frame outside a video's `frame_count`.
    """
    restricted = restrict(specification, truth)
    if all(sequence.evaluated_frames is None for sequence in specification.sequences):
        return restricted
    seen = zip(truth.frame_sequences.tolist(), truth.frame_numbers.tolist(), strict=True)
    missing = unlisted_frames(
        specification, ((truth.sequences[index], number) for index, number in seen), truth.arity
    )
    return concatenate([restricted, restrict(specification, missing)])


def restrict(specification: BenchmarkSpec, truth: Annotations) -> Annotations:
    """Drop the frames of a batch of truth that are not evaluated; mark don't-care frames.

    Raises:
        SpecificationError: If a frame lies outside a video's `frame_count`.
    """
    specs = {sequence.key: sequence for sequence in specification.sequences}
    named = [index for index, key in enumerate(truth.sequences) if key in specs]
    if not named:
        return truth
    keep = np.ones(truth.frame_count, dtype=np.bool_)
    flags = truth.frame_flags.copy()
    order = np.argsort(truth.frame_sequences, kind="stable")
    bounds = np.searchsorted(truth.frame_sequences[order], np.arange(len(truth.sequences) + 1))
    faults: list[Fault] = []
    for index in named:
        rows = order[bounds[index] : bounds[index + 1]]
        sequence = specs[truth.sequences[index]]
        numbers = truth.frame_numbers[rows]
        faults.extend(_outside(sequence, numbers))
        evaluated = sequence.evaluated_frames
        if evaluated is not None:
            keep[rows] = evaluated.contains(numbers)
        flags[rows[sequence.dont_care_frames.contains(numbers)]] |= np.uint8(FrameFlag.DONT_CARE)
    if faults:
        raise SpecificationError(faults)
    return replace(truth, frame_flags=flags).take_frames(keep)


def unlisted_frames(
    specification: BenchmarkSpec, listed: Iterable[tuple[SequenceKey, int]], arity: int
) -> Annotations:
    """Frames that a specification evaluates and that nobody has listed, without objects.

    Args:
        specification: The specification.
        listed: Sequence and number of every frame of the truth.
        arity: Coordinates that an object of the truth has.
    """
    seen: dict[SequenceKey, list[int]] = {}
    for key, number in listed:
        seen.setdefault(key, []).append(number)
    numbers, indices = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for index, sequence in enumerate(specification.sequences):
        if sequence.evaluated_frames is None:
            continue
        mine = np.array(seen.get(sequence.key, []), dtype=np.int64)
        evaluated = sequence.evaluated_frames.numbers()
        missing = evaluated[~np.isin(evaluated, mine, assume_unique=True)]
        numbers.append(missing)
        indices.append(np.full(len(missing), index))
    table = tuple(sequence.key for sequence in specification.sequences)
    return frame_list(table, np.concatenate(indices), np.concatenate(numbers), arity)


def unknown_sequences(
    specification: BenchmarkSpec, listed: Iterable[SequenceKey], detected: Iterable[SequenceKey]
) -> list[Fault]:
    """A fault for each sequence of the detections that nothing else mentions.

    Args:
        specification: The specification.
        listed: Sequences that have a frame in the truth.
        detected: Sequences that have a frame in the detections.
    """
    known = (sequence.key for sequence in specification.sequences)
    unknown = set(detected).difference(listed, known)
    return [
        Fault(
            source="detections",
            found=f"sequence {'/'.join(filter(None, key))}",
            expected="a sequence of the truth or of the specification",
        )
        for key in sorted(unknown)
    ]


def _outside(sequence: SequenceSpec, numbers: IntArray) -> list[Fault]:
    if sequence.frame_count is None:
        return []
    first, last = sequence.first_frame, sequence.first_frame + sequence.frame_count - 1
    frames = f"frames {first} to {last}" if sequence.frame_count else "no frame"
    name = "/".join(filter(None, sequence.key))
    outside = np.sort(numbers[(numbers < first) | (numbers > last)])
    return [
        Fault(
            source=f"truth of {name}",
            found=f"frame {number}",
            expected=f"{frames}, as the specification says",
        )
        for number in outside.tolist()
    ]
