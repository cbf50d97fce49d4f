"""Code shared by tracking criteria: tracks of a scene, the common base class, and its tables.

A *chain* is tracked independently: one class in one sequence, or one sequence if classes are
ignored; identities do not extend beyond it. Truth and detections have separate tracks, numbered
without gaps over all chains, so that whole arrays hold the tracks of all sequences at once.

Source of these conventions: trackeval, the reference implementation of the MOTChallenge.

Readings of this project:

1. Each class of a sequence is judged separately, unless classes are ignored. Figures that are not
   per class are pooled over classes as over sequences (trackeval's "detection averaged").
2. Don't-care is resolved before matching, whatever the rule, as in the MOTChallenge: a
   correspondence over frames cannot include objects that absorb detections.
3. A pair with the least possible similarity never counts, whatever the threshold: boxes that do not
   overlap are not matched.
4. A score whose denominator is 0 is undefined; trackeval returns 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeVar

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from vidscore_evaluators._report_rows import with_every_sequence
from vidscore_evaluators.annotations import NO_TRACK, Annotations, ObjectFlag, Side
from vidscore_evaluators.arrays import (
    LARGEST_KEY,
    AnyArray,
    BoolArray,
    FloatArray,
    IntArray,
    run_starts,
)
from vidscore_evaluators.criterion import ANY_SHAPE, THRESHOLD, Criterion, CriterionParameters
from vidscore_evaluators.errors import Fault
from vidscore_evaluators.evaluator import Needs, Task, Unit
from vidscore_evaluators.kernels import previous_rows
from vidscore_evaluators.keys import factorize, packed_columns
from vidscore_evaluators.parameters import parameter
from vidscore_evaluators.scene import Items, Scene
from vidscore_evaluators.similarity import Candidates, Similarity, find_candidates
from vidscore_evaluators.tally import Table, TableSchema, build_table


class TrackSet(Struct, frozen=True, eq=False):
    """The T tracks that the N objects of one side belong to.

    Attributes:
        of_objects: (N,) track of each object.
        chains: (T,) chain of each track, ascending.
        lengths: (T,) objects of each track.
    """

    of_objects: IntArray
    chains: IntArray
    lengths: IntArray

    def __len__(self) -> int:
        """Number of tracks T."""
        return len(self.chains)

    @classmethod
    def of(cls, chains: IntArray, ids: IntArray) -> TrackSet:
        """Group objects by identity.

        Args:
            chains: (N,) chain of each object, 0 or more.
            ids: (N,) its track id.
        """
        least, greatest = (int(ids.min()), int(ids.max())) if len(ids) else (0, 0)
        if (greatest - least + 1) * (int(chains.max(initial=0)) + 1) > LARGEST_KEY:
            numbers, ids = np.unique(ids, return_inverse=True)
            least, greatest = 0, len(numbers) - 1
        ids, width = ids - least, greatest - least + 1
        keys, of_objects, lengths = factorize(chains * width + ids)
        return cls(of_objects, keys // width, lengths)

    def places(self) -> IntArray:
        """(N,) position of each object in its track, in the order of frames, from 0."""
        order = np.argsort(self.of_objects, kind="stable")
        places = np.empty(len(order), dtype=np.int64)
        starts = np.cumsum(self.lengths) - self.lengths
        places[order] = np.arange(len(order)) - starts[self.of_objects[order]]
        return places


class Tracks(Struct, frozen=True, eq=False):
    """A scene's objects by track.

    Attributes:
        scene: The scene, of G groups.
        chain_sequences: (C,) sequence of each chain, an index into the scene's, ascending.
        chain_classes: (C,) class of each chain, an index into the scene's.
        group_chains: (G,) chain of each group.
        truth: Tracks of the truth, ascending in track id within a chain.
        detections: Tracks of the detections, likewise.
    """

    scene: Scene
    chain_sequences: IntArray
    chain_classes: IntArray
    group_chains: IntArray
    truth: TrackSet
    detections: TrackSet

    @classmethod
    def of(cls, scene: Scene) -> Tracks:
        """Group the objects of a scene by identity; criteria share the result for one scene."""
        # The cached value must not refer to the scene: a cycle would delay freeing both.
        return cls(scene, *scene.cache.get_or_compute("tracks", lambda: _grouped(scene)))

    @property
    def chain_count(self) -> int:
        """Number of chains C."""
        return len(self.chain_sequences)

    @property
    def frame_counts(self) -> IntArray:
        """(C,) evaluated frames of the sequence of each chain."""
        of_sequences = np.bincount(self.scene.frame_sequences, minlength=len(self.scene.sequences))
        counts: IntArray = of_sequences[self.chain_sequences]
        return counts

    def shared_steps(self) -> IntArray:
        """(G,) number of earlier groups of the same chain that have objects of both sides.

        A group that holds objects of one side alone has the number of the next that holds both.
        """
        shared = (self.scene.truth.counts > 0) & (self.scene.detections.counts > 0)
        order = np.argsort(self.group_chains, kind="stable")
        in_order = self.group_chains[order]
        before: IntArray = np.cumsum(shared[order]) - shared[order]
        first = run_starts(in_order)
        steps = np.empty(len(order), dtype=np.int64)
        steps[order] = before - np.repeat(before[first], np.diff(first, append=len(order)))
        return steps

    def by_chain(self, objects: IntArray, items: Items) -> IntArray:
        """(C,) number of some objects (rows of `items`) in each chain."""
        chains = self.group_chains[items.groups[objects]]
        return np.bincount(chains, minlength=self.chain_count)

    def totals(self, side: TrackSet) -> IntArray:
        """(C,) objects of a side in each chain."""
        totals = np.zeros(self.chain_count, dtype=np.int64)
        np.add.at(totals, side.chains, side.lengths)
        return totals


def _grouped(scene: Scene) -> tuple[IntArray, IntArray, IntArray, TrackSet, TrackSet]:
    """The fields of `Tracks` besides its scene, in order."""
    class_count = max(1, len(scene.classes))
    keys = scene.group_sequences * class_count + scene.group_classes
    chains, group_chains, _ = factorize(keys)
    truth, detections = (
        TrackSet.of(group_chains[items.groups], items.track_ids)
        for items in (scene.truth, scene.detections)
    )
    return chains // class_count, chains % class_count, group_chains, truth, detections


class TrackPairs(Struct, frozen=True, eq=False):
    """P pairs of a track of the truth and one of the detections, each pair once.

    Attributes:
        truth: (P,) tracks of the truth, ascending.
        detections: (P,) tracks of the detections, ascending within one of the truth.
        of_candidates: For each candidate the pair of its tracks.
        counts: (P,) candidates of each pair.
    """

    truth: IntArray
    detections: IntArray
    of_candidates: IntArray
    counts: IntArray

    @classmethod
    def of(cls, tracks: Tracks, candidates: Candidates) -> TrackPairs:
        """Pairs of tracks that occur together, and their numbers of candidates.

        Args:
            tracks: Tracks of a scene.
            candidates: Pairs of its objects.
        """
        # Only tracks of one chain occur together, so positions in the chain identify them.
        in_chains = np.bincount(tracks.detections.chains, minlength=tracks.chain_count)
        first = np.cumsum(in_chains) - in_chains
        width = int(in_chains.max(initial=1))
        truth = tracks.truth.of_objects[candidates.targets]
        places = tracks.detections.of_objects[candidates.detections]
        places -= first[tracks.truth.chains[truth]]
        pairs, of_candidates, counts = factorize(truth * width + places)
        truth = pairs // width
        detections = pairs % width + first[tracks.truth.chains[truth]]
        return cls(truth, detections, of_candidates, counts)

    def __len__(self) -> int:
        """Number of pairs P."""
        return len(self.truth)


ParametersType = TypeVar("ParametersType", bound=CriterionParameters)

CHAINS_PER_SEQUENCE = 100
"""Number of classes per sequence that the declared growth of a tally allows for."""

FAULTS_PER_RULE = 1000
"""Maximum number of faults listed per rule; a file of millions must not list as many."""

EPSILON = float(np.finfo(np.float64).eps)
"""Tolerance by which trackeval lets a similarity miss a threshold."""

_NOT_TRACKED = ObjectFlag.IGNORE | ObjectFlag.CROWD | ObjectFlag.REGION | ObjectFlag.DISTRACTOR


@dataclass(frozen=True)
class ThresholdParameters(CriterionParameters):
    """Parameters of criteria of tracking that match at one threshold."""

    threshold: float = parameter(0.5, "Least similarity of a pair that counts.", **THRESHOLD)


class TrackingCriterion(Criterion[ParametersType]):
    """A criterion that follows identities through whole sequences."""

    task = Task.TRACKING
    resolves_dont_care: ClassVar[bool] = True
    threshold_parameter: ClassVar[str] = "threshold"
    needs = Needs(ANY_SHAPE, ANY_SHAPE, tracks=True)

    @property
    def unit(self) -> Unit:
        """A sequence, because identities span frames."""
        return Unit.SEQUENCE

    def faults(self, side: Side, annotations: Annotations) -> Sequence[Fault]:
        """Tracked objects without an identity, or with one that occurs twice in a frame."""
        tracked = self._is_tracked(side, annotations)
        chosen = replace(annotations, masks=None).take_objects(tracked)
        return [
            *super().faults(side, annotations),
            *_without_track(side, chosen),
            *self._repeated(side, chosen),
        ]

    def _is_tracked(self, side: Side, annotations: Annotations) -> BoolArray:
        """(N,) whether each object must have an identity; those that only absorb need none."""
        if side is Side.DETECTIONS:
            return np.ones(annotations.object_count, dtype=np.bool_)
        unscored = {label.casefold() for label in self.parameters.rule.unscored_labels}
        labels = np.array([label.casefold() in unscored for label in annotations.labels] or [False])
        tracked: BoolArray = (annotations.flags & _NOT_TRACKED) == 0
        tracked &= ~labels[annotations.label_indices]
        return tracked

    def _repeated(self, side: Side, annotations: Annotations) -> Iterator[Fault]:
        frames, tracks = annotations.object_frames, annotations.track_ids
        separate = self.parameters.classes == "separate"
        labels = annotations.label_indices if separate else np.zeros_like(tracks)
        if _are_unique(frames, tracks, labels):
            return
        order = np.lexsort((labels, tracks, frames))
        repeated = np.zeros(len(order), dtype=np.bool_)
        repeated[1:] = tracks[order][1:] != NO_TRACK
        for column in (frames, tracks, labels):
            repeated[1:] &= column[order][1:] == column[order][:-1]
        for row in order[np.flatnonzero(repeated)[:FAULTS_PER_RULE]].tolist():
            yield Fault(
                source=side.value,
                entry=int(frames[row]),
                field="track_ids",
                found=f"track {tracks[row]} again in {annotations.frame_name(int(frames[row]))}",
                expected="each track once in a frame" + " and class" * separate,
            )


def _are_unique(*columns: IntArray) -> bool:
    """Whether no two rows are equal; also False if a single sort cannot decide it."""
    [packed, *others] = packed_columns(columns)
    if others:
        return False
    if (packed[1:] > packed[:-1]).all():
        return True
    packed = np.sort(packed)
    return not (packed[1:] == packed[:-1]).any()


def similar_pairs(scene: Scene, similarity: Similarity, at_least: float) -> Candidates:
    """Pairs of a scene that are similar enough, and more than minimally similar (reading 3)."""
    above_least = math.nextafter(similarity.minimum, math.inf)
    at_least = max(at_least, above_least)
    if similarity.base == "giou":
        # Every pair of a frame exceeds the minimum: too many to cache if few are needed.
        return find_candidates(scene, similarity, at_least)
    pairs = scene.cache.get_or_compute(
        (similar_pairs, similarity), lambda: find_candidates(scene, similarity, above_least)
    )
    return pairs.take(np.flatnonzero(pairs.similarities >= at_least))


def chain_table(
    tracks: Tracks,
    chains: IntArray,
    counts: Mapping[str, AnyArray],
    sums: Mapping[str, FloatArray] = {},
    part: tuple[str, Sequence[str], IntArray] | None = None,
) -> Table:
    """A table keyed by domain, sequence and class.

    Args:
        tracks: Defines the chains.
        chains: (R,) chain of each raw row.
        counts: (R,) integers by column.
        sums: (R,) floats by column.
        part: Name of a further string key, its values, and (R,) index of the value of each row.
    """
    scene = tracks.scene
    words, codes = scene.text_keys(tracks.chain_sequences[chains], tracks.chain_classes[chains])
    texts: tuple[str, ...] = ("domain", "sequence", "class")
    if part is not None:
        name, values, of_rows = part
        codes.append(of_rows + len(words))
        texts, words = (*texts, name), [*words, *values]
    schema = TableSchema(texts, counts=tuple(counts), sums=tuple(sums))
    return build_table(schema, words, codes, counts=list(counts.values()), sums=list(sums.values()))


def count_table(tracks: Tracks, counts: Mapping[str, IntArray]) -> Table:
    """(C,) counts of each chain, by domain, sequence and class; empty sequences have zeros."""
    table = chain_table(tracks, np.arange(tracks.chain_count), counts)
    return with_every_sequence(table, tracks.scene)


def _without_track(side: Side, annotations: Annotations) -> Iterator[Fault]:
    frames = annotations.object_frames
    for row in np.flatnonzero(annotations.track_ids == NO_TRACK)[:FAULTS_PER_RULE].tolist():
        yield Fault(
            source=side.value,
            entry=int(frames[row]),
            field="track_ids",
            found=f"an object without a track in {annotations.frame_name(int(frames[row]))}",
            expected="a track id of 0 or more",
        )


def previous_occurrence(keys: IntArray) -> IntArray:
    """Row of the previous occurrence of each of (N,) keys; -1 for the first one.

    Args:
        keys: (N,) keys, 0 or more; the largest should not be far above N.
    """
    count = len(keys)
    if count and keys.min() < 0:
        raise ValueError("a negative key")
    last = np.full(int(keys.max(initial=-1)) + 1, -1, dtype=np.int64)
    previous = np.empty(count, dtype=np.int64)
    previous_rows(np.ascontiguousarray(keys), count, last, previous)
    return previous
