"""Alignment: which frames are evaluated, and both sides over them in one order.

The common order is ascending domain, sequence name and frame number. It does not depend on the
order of either side, which is the first half of "any split and order gives the same bits".

A specification is applied to truth in two steps, so that a stream and a whole file give the same
frames: `restrict` works on any batch, `unlisted_frames` adds, at the end, the evaluated frames that
no batch listed.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from operator import lt
from typing import Any, TypeVar

import numpy as np
from msgspec import Struct
from msgspec.structs import asdict, replace

from vidscore_evaluators.annotations import (
    Annotations,
    FrameFlag,
    SequenceKey,
    concatenate,
    frame_list,
    key_columns,
    rows_by_sequence,
    sequence_name,
)
from vidscore_evaluators.arrays import (
    BoolArray,
    FlagArray,
    FloatArray,
    IntArray,
    expand_runs,
    marked,
    run_starts,
    starts_from_counts,
)
from vidscore_evaluators.errors import FAULTS_PER_KIND, Fault, SpecificationError
from vidscore_evaluators.keys import packed_columns
from vidscore_evaluators.masks import Masks
from vidscore_evaluators.names import did_you_mean, first_of
from vidscore_evaluators.specification import BenchmarkSpec, SequenceSpec

_NAMES_COMPARED = 1000
"""Maximum number of known names that an unknown one is compared with; comparing takes time."""
_NAMES_LISTED = 5
"""Maximum number of known names that the fault of an unknown one lists."""

Result = TypeVar("Result")
Value = TypeVar("Value")


class Cache:
    """Intermediate results that several evaluators share, by key; they must not be modified."""

    def __init__(self) -> None:
        self._results: dict[Hashable, Any] = {}

    def get_or_compute(self, key: Hashable, compute: Callable[[], Result]) -> Result:
        """The result for a key, computed at the first call.

        Args:
            key: Everything that the result depends on besides the input itself.
            compute: Computes the result; pure.
        """
        if key not in self._results:
            self._results[key] = compute()
        result: Result = self._results[key]
        return result


@dataclass(frozen=True, eq=False)
class Aligned:
    """Truth and detections over the same F frames, sequences and labels.

    Attributes:
        truth: Truth. Its frame columns are those of `detections`, except the times: each side has
            its own.
        detections: Detections.
        listed: (F,) whether the truth lists the frame.
        detected: (F,) whether the detections list the frame.
        cache: Intermediate results of evaluators.
    """

    truth: Annotations
    detections: Annotations
    listed: BoolArray
    detected: BoolArray
    cache: Cache = field(default_factory=Cache, init=False, repr=False)

    def take_frames(self, rows: BoolArray | IntArray) -> Aligned:
        """Keep some frames on both sides."""
        return Aligned(
            truth=self.truth.take_frames(rows),
            detections=self.detections.take_frames(rows),
            listed=self.listed[rows],
            detected=self.detected[rows],
        )


def read_only(value: Value) -> Value:
    """Annotations or aligned sides, as views that cannot be written to; other values as they are.

    Several hold the arrays: an evaluator of a plug-in and all other evaluators, or the caller of
    `vidscore_evaluators.read` and reports that compute digests and warnings later. Views of aligned
    sides have a cache of their own.
    """
    viewed: Any = value
    if isinstance(value, Aligned):
        sides = read_only(value.truth), read_only(value.detections)
        viewed = Aligned(*sides, _viewed(value.listed), _viewed(value.detected))
    elif isinstance(value, Annotations | Masks):
        viewed = replace(value, **{name: _viewed(own) for name, own in asdict(value).items()})
    return viewed  # type: ignore[no-any-return]  # of the type that was given


def _viewed(value: Any) -> Any:
    """A field of annotations; an array as a view that cannot be written to."""
    if isinstance(value, np.ndarray):
        view = value.view()
        view.setflags(write=False)
        return view
    if isinstance(value, Mapping):
        return {name: _viewed(column) for name, column in value.items()}
    return read_only(value)


def align(truth: Annotations, detections: Annotations) -> Aligned:
    """Put both sides over the union of their frames, in the common order.

    A frame that one side lacks becomes a frame without objects there. Frame flags are the truth's.

    Args:
        truth: Truth of any frames.
        detections: Detections of any frames, of any arity.

    Returns:
        Both sides over one frame table, one sequence table (sorted) and one label table (sorted).
    """
    truth, detections = _over_sorted_tables(truth, detections)
    frames = _union(truth, detections)
    truth_rows, detection_rows = frames.rows_of_truth, frames.rows_of_detections
    flags = np.zeros(frames.count, dtype=np.uint8)
    flags[truth_rows] = truth.frame_flags
    return Aligned(
        truth=_spread(truth, frames, truth_rows, flags),
        detections=_spread(detections, frames, detection_rows, flags),
        listed=marked(frames.count, truth_rows),
        detected=marked(frames.count, detection_rows),
    )


def frames_in(side: Annotations, other: Annotations) -> BoolArray:
    """(F,) whether the other side also has each frame of a side.

    Args:
        side: The frames to look up.
        other: The frames to look among.
    """
    sequences = tuple({**dict.fromkeys(side.sequences), **dict.fromkeys(other.sequences)})
    frames = _union(
        side.with_tables(sequences, side.labels), other.with_tables(sequences, other.labels)
    )
    return marked(frames.count, frames.rows_of_detections)[frames.rows_of_truth]


def _over_sorted_tables(
    truth: Annotations, detections: Annotations
) -> tuple[Annotations, Annotations]:
    """Both sides over one table of sequences and one of labels, both sorted."""
    labels = tuple(sorted({*truth.labels, *detections.labels}))
    keys = truth.sequences
    if keys == detections.sequences:
        detections = replace(detections, sequences=keys)  # one object: not compared again
    else:
        keys = tuple({*keys, *detections.sequences})
    truth, detections = truth.with_tables(keys, labels), detections.with_tables(keys, labels)
    if all(map(lt, keys, keys[1:])):
        return truth, detections
    order = _sorted_rows(keys)
    places = np.empty(len(keys), dtype=np.int64)
    places[np.fromiter(order, np.int64, len(keys))] = np.arange(len(keys))
    sequences = tuple([keys[row] for row in order])
    return (
        replace(truth, sequences=sequences, frame_sequences=places[truth.frame_sequences]),
        replace(
            detections, sequences=sequences, frame_sequences=places[detections.frame_sequences]
        ),
    )


def _sorted_rows(keys: Sequence[SequenceKey]) -> list[int]:
    """Rows of sequences in ascending order; strings sort several times faster than tuples."""
    domains, names = key_columns(keys)
    by_name = sorted(range(len(keys)), key=names.__getitem__)
    return sorted(by_name, key=domains.__getitem__) if len(set(domains)) > 1 else by_name


class _Frames(Struct, frozen=True, eq=False):
    sequences: IntArray
    numbers: IntArray
    rows_of_truth: IntArray
    rows_of_detections: IntArray

    @property
    def count(self) -> int:
        return len(self.numbers)


def _union(truth: Annotations, detections: Annotations) -> _Frames:
    """Frames of both sides, each once, in the common order, and each side's rows there."""
    sides = (truth.frame_sequences, detections.frame_sequences)
    numbers_of_sides = (truth.frame_numbers, detections.frame_numbers)
    are_same = truth.frame_count == detections.frame_count and all(
        (own == other).all() for own, other in (sides, numbers_of_sides)
    )
    if are_same:
        sequences, numbers = truth.frame_sequences, truth.frame_numbers
    else:
        sequences, numbers = np.concatenate(sides), np.concatenate(numbers_of_sides)
    first, groups = _numbered(sequences, numbers)
    return _Frames(
        sequences=sequences[first],
        numbers=numbers[first],
        rows_of_truth=groups[: truth.frame_count],
        rows_of_detections=groups if are_same else groups[truth.frame_count :],
    )


def _numbered(sequences: IntArray, numbers: IntArray) -> tuple[IntArray, IntArray]:
    """Row of each distinct frame, in order, and the position there of each row's frame."""
    count = len(numbers)
    order = np.arange(count, dtype=np.int64)
    later = sequences[1:] > sequences[:-1]
    later |= (sequences[1:] == sequences[:-1]) & (numbers[1:] > numbers[:-1])
    if later.all():
        return order, order
    keys = packed_columns([sequences, numbers])
    order = np.lexsort(keys[::-1])
    first = run_starts(*(key[order] for key in keys))
    of_sorted = np.zeros(count, dtype=np.int64)
    of_sorted[first[1:]] = 1
    groups = np.empty(count, dtype=np.int64)
    groups[order] = np.add.accumulate(of_sorted)
    return order[first], groups


def _spread(side: Annotations, frames: _Frames, rows: IntArray, flags: FlagArray) -> Annotations:
    """One side over the common frames; `rows` has the new row of each of its frames."""
    if len(rows) == frames.count and (rows[1:] > rows[:-1]).all():
        # Its frames are the common ones in the same order.
        return replace(side, frame_flags=flags)
    counts = np.zeros(frames.count, dtype=np.int64)
    counts[rows] = side.object_counts
    starts = np.zeros(frames.count, dtype=np.int64)
    starts[rows] = side.frame_starts[:-1]
    offsets = starts_from_counts(counts)
    return replace(
        side.gather_objects(expand_runs(starts, counts, offsets), offsets),
        frame_sequences=frames.sequences,
        frame_numbers=frames.numbers,
        frame_flags=flags,
        frame_times_s=_spread_seconds(side.frame_times_s, frames.count, rows),
        frame_arrivals_s=_spread_seconds(side.frame_arrivals_s, frames.count, rows),
    )


def _spread_seconds(seconds: FloatArray | None, count: int, rows: IntArray) -> FloatArray | None:
    if seconds is None:
        return None
    spread = np.full(count, np.nan)
    spread[rows] = seconds
    return spread


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
    if not specification.sequences:
        return truth
    specs = {sequence.key: sequence for sequence in specification.sequences}
    if specs.keys().isdisjoint(truth.sequences):
        return truth
    keep = np.ones(truth.frame_count, dtype=np.bool_)
    flags = truth.frame_flags.copy()
    faults: list[Fault] = []
    for key, rows in rows_by_sequence(truth).items():
        sequence = specs.get(key)
        if sequence is None:
            continue
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
    """Frames that a specification evaluates and the truth does not list, without objects.

    Args:
        specification: The specification.
        listed: Sequence and number of every frame of the truth.
        arity: Coordinates per object of the truth.
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
) -> dict[SequenceKey, Fault]:
    """A fault for each sequence of the detections that neither truth nor specification knows.

    The first of them name the most similar known sequence.

    Args:
        specification: The specification.
        listed: Sequences that have a frame in the truth.
        detected: Sequences that have a frame in the detections.
    """
    known = set(listed)
    unknown = set(detected) - known
    if unknown:
        known.update(sequence.key for sequence in specification.sequences)
    expected = "a sequence of the truth or of the specification"
    return {
        key: Fault(f"sequence {sequence_name(key)}", expected, source="detections", advice=advice)
        for key, advice in with_near_names(unknown - known, known)
    }


def with_near_names(
    unknown: Iterable[SequenceKey], known: Iterable[SequenceKey]
) -> Iterator[tuple[SequenceKey, str | None]]:
    """Unknown sequences in order; the first ones with the name that was meant, or known names."""
    missing = sorted(unknown)
    if not missing:
        return  # the usual case; known names are many, and sorting them takes time
    names = [sequence_name(key) for key in islice(sorted(known), _NAMES_COMPARED)]
    there_are = f"there {'is' if len(names) == 1 else 'are'} {first_of(names, _NAMES_LISTED)}"
    for place, key in enumerate(missing):
        near = did_you_mean(sequence_name(key), names) if place < FAULTS_PER_KIND else None
        yield key, near or (there_are if names and not place else None)


def _outside(sequence: SequenceSpec, numbers: IntArray) -> list[Fault]:
    if sequence.frame_count is None:
        return []
    first, last = sequence.first_frame, sequence.first_frame + sequence.frame_count - 1
    frames = f"frames {first} to {last}" if sequence.frame_count else "no frame"
    name = sequence_name(sequence.key)
    outside = np.sort(numbers[(numbers < first) | (numbers > last)])
    return [
        Fault(
            source=f"truth of {name}",
            found=f"frame {number}",
            expected=f"{frames}, as the specification says",
        )
        for number in outside.tolist()
    ]
