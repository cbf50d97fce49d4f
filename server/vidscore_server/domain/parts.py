"""The input of scoring: the truth and detections to compare, whole or in parts."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator

import numpy as np
from msgspec import Struct, field

from vidscore_evaluators.alignment import frames_in, resolve, restrict
from vidscore_evaluators.annotations import Annotations, SequenceKey, concatenate, empty_annotations
from vidscore_evaluators.arrays import BoolArray
from vidscore_evaluators.specification import BenchmarkSpec
from vidscore_server.domain.batches import BatchCodec


def sides_to_score(
    specification: BenchmarkSpec, truth: Annotations, detections: Annotations, *, complete: bool
) -> tuple[Annotations, Annotations]:
    """Truth and detections as evaluators get them.

    With complete truth, this is the same as for scoring files, except that detections of unknown
    sequences are left out, not refused, because no caller waits for the error. With incomplete
    truth, frames without truth are left out on both sides.

    Args:
        specification: The benchmark's specification.
        truth: All truth that is there.
        detections: All detections of a submission.
        complete: Whether the truth is complete.
    """
    return (
        truth_to_score(specification, truth, complete=complete),
        detections_to_score(specification, truth, detections, complete=complete),
    )


def truth_to_score(
    specification: BenchmarkSpec, truth: Annotations, *, complete: bool
) -> Annotations:
    """The truth of `sides_to_score`."""
    return resolve(specification, truth) if complete else restrict(specification, truth)


def detections_to_score(
    specification: BenchmarkSpec, truth: Annotations, detections: Annotations, *, complete: bool
) -> Annotations:
    """The detections of `sides_to_score`; they may be a part of a submission."""
    if not complete:
        return detections.take_frames(~without_truth(truth, detections))
    known = {*truth.sequences, *(entry.key for entry in specification.sequences)}
    of_known = np.array([key in known for key in detections.sequences], dtype=np.bool_)
    kept = of_known[detections.frame_sequences]
    return detections if kept.all() else detections.take_frames(kept)


def without_truth(truth: Annotations, detections: Annotations) -> BoolArray:
    """(F,) whether each frame of the detections is not in the truth."""
    return ~frames_in(detections, truth)


# --- Parts: memory does not grow with the size of a submission
#
# Tallies add exactly, so that any parts give the same report. A part is a group of whole sequences
# within a bound in bytes. A larger sequence is a part of its own or, if every evaluator judges
# frames one by one, several parts. A submission within the bound is one part, and is read once.


class Part(Struct, frozen=True):
    """Frames that are scored together.

    Attributes:
        rows: Indices of the batches that hold them, among all batches of the submission, sorted.
        sequences: The sequences of these frames.
        whole: Whether these are all frames of the sequences.
    """

    rows: array[int]
    sequences: frozenset[SequenceKey]
    whole: bool = True

    def of(self, side: Annotations) -> BoolArray:
        """(F,) whether each frame of a side is of the sequences."""
        chosen = np.array([key in self.sequences for key in side.sequences], dtype=np.bool_)
        return np.asarray(chosen[side.frame_sequences])

    def read(self, codec: BatchCodec, batches: Iterable[bytes], arity: int) -> Annotations:
        """Read its detections.

        Args:
            codec: The encoding of the batches.
            batches: The batches of `rows`.
            arity: Coordinates that an object has.
        """
        runs = (run.take_frames(self.of(run)) for run in codec.read_stored_runs(batches, arity))
        return concatenate([empty_annotations(arity), *runs])


class PartPlan(Struct, frozen=True):
    """How a submission is cut into parts for scoring.

    Attributes:
        parts: The parts; none if `everything` is set.
        everything: All of it; None if that is more than the bound.
        frame_count: Number of frames.
        size_bytes: Size in memory, in bytes.
    """

    parts: tuple[Part, ...]
    everything: Annotations | None
    frame_count: int
    size_bytes: int


class _Sequence(Struct):
    """The batches of a sequence, and its size."""

    rows: array[int] = field(default_factory=lambda: array("q"))
    sizes: array[int] = field(default_factory=lambda: array("q"))


def plan_parts(
    codec: BatchCodec, batches: Iterable[bytes], arity: int, maximum_bytes: int, *, by_frame: bool
) -> PartPlan:
    """Plan the parts of a submission from all of its batches.

    Args:
        codec: The encoding of the batches.
        batches: Serialized messages, in their order.
        arity: Coordinates that an object has.
        maximum_bytes: Maximum bytes of a part.
        by_frame: Whether sequences may be cut.
    """
    found: dict[SequenceKey, _Sequence] = {}
    kept: list[bytes] | None = []
    held = frame_count = 0
    for row, data in enumerate(batches):
        frames, sizes = codec.stored_sizes(data, arity)
        frame_count += frames
        for key, size in sizes:
            entry = found.setdefault(key, _Sequence())
            entry.rows.append(row)
            entry.sizes.append(size)
            held += size
        if held > maximum_bytes:
            kept = None
        if kept is not None:
            kept.append(data)
    if kept is not None:
        return PartPlan((), codec.read_stored_batches(kept, arity), frame_count, held)
    parts = tuple(_parts(found, maximum_bytes, by_frame=by_frame))
    return PartPlan(parts, None, frame_count, held)


def _parts(
    found: dict[SequenceKey, _Sequence], maximum_bytes: int, *, by_frame: bool
) -> Iterator[Part]:
    """Group sequences within the bound, in the order of arrival."""
    together: list[SequenceKey] = []
    held = 0
    for key, entry in found.items():
        size = sum(entry.sizes)
        if together and held + size > maximum_bytes:
            yield _joined(found, together)
            together, held = [], 0
        if by_frame and size > maximum_bytes:
            yield from _cut(key, entry, maximum_bytes)
        else:
            together.append(key)
            held += size
    if together:
        yield _joined(found, together)


def _joined(found: dict[SequenceKey, _Sequence], keys: list[SequenceKey]) -> Part:
    rows = sorted({row for key in keys for row in found[key].rows})
    return Part(array("q", rows), frozenset(keys))


def _cut(key: SequenceKey, entry: _Sequence, maximum_bytes: int) -> Iterator[Part]:
    """Cut a sequence into groups of batches within the bound."""
    rows, held = array("q"), 0
    for row, size in zip(entry.rows, entry.sizes, strict=True):
        if rows and held + size > maximum_bytes:
            yield Part(rows, frozenset([key]), whole=False)
            rows, held = array("q"), 0
        rows.append(row)
        held += size
    yield Part(rows, frozenset([key]), whole=False)


class ScoringInput:
    """Pairs a submission with its truth, part by part.

    Args:
        specification: The benchmark's.
        truth: All truth that is there.
        complete: Whether the truth is complete.
    """

    def __init__(self, specification: BenchmarkSpec, truth: Annotations, *, complete: bool) -> None:
        self._specification = specification
        self._complete = complete
        self._all = truth
        self._truth = truth_to_score(specification, truth, complete=complete)
        self._met = np.zeros(self._truth.frame_count, dtype=np.bool_)

    def meet(self, part: Part, detections: Annotations) -> tuple[Annotations, Annotations]:
        """Both sides of a part, as evaluators get them.

        Args:
            part: The part.
            detections: Its detections, as received.
        """
        own = part.of(self._truth)
        if not part.whole:
            own &= frames_in(self._truth, detections)
        self._met |= own
        return self._truth.take_frames(own), self._to_score(detections)

    def all_at_once(self, detections: Annotations) -> tuple[Annotations, Annotations]:
        """Both sides of the whole submission, instead of its parts."""
        return self._truth, self._to_score(detections)

    def rest(self, arity: int) -> tuple[Annotations, Annotations] | None:
        """The truth that no part has met, and no detections; None if there is none.

        Args:
            arity: Coordinates that a detection has.
        """
        if self._met.all():
            return None
        return self._truth.take_frames(~self._met), empty_annotations(arity)

    def _to_score(self, detections: Annotations) -> Annotations:
        return detections_to_score(
            self._specification, self._all, detections, complete=self._complete
        )
