"""TrackingCriterion: what all criteria of tracking share.

Source of what is common: trackeval, the reference implementation of the MOTChallenge, whose
conventions these are.

Readings of this project:

1. Each class of a sequence is judged on its own, unless classes are ignored; what is not named by
   class is pooled over classes as over sequences (trackeval's "detection averaged").
2. Don't-care is settled before a criterion sees anything, whatever the rule says, as in the
   MOTChallenge: a correspondence that lasts over frames has no room for what absorbs detections.
3. A pair whose similarity is the least that there is never counts, whatever the threshold: boxes
   that share nothing are not matched.
4. A score whose denominator is 0 is undefined; trackeval has 0 there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeVar

import numpy as np

from vidscore_evaluators.annotations import NO_TRACK, Annotations, ObjectFlag, Side
from vidscore_evaluators.arrays import AnyArray, BoolArray, FloatArray, IntArray, packed_columns
from vidscore_evaluators.criteria.candidates import Candidates, find_candidates
from vidscore_evaluators.criteria.criterion import ANY_SHAPE, Criterion
from vidscore_evaluators.criteria.levels import with_every_sequence
from vidscore_evaluators.criteria.parameters import CriterionParameters
from vidscore_evaluators.criteria.scene import Scene
from vidscore_evaluators.criteria.similarity import Similarity
from vidscore_evaluators.criteria.thresholds import THRESHOLD
from vidscore_evaluators.criteria.tracks import Tracks
from vidscore_evaluators.errors import Fault
from vidscore_evaluators.evaluator import Needs, Task, Unit
from vidscore_evaluators.parameters import parameter
from vidscore_evaluators.tally import Table, TableSchema, build_table

ParametersType = TypeVar("ParametersType", bound=CriterionParameters)

CHAINS_A_SEQUENCE = 100
"""Classes that the declared growth of a tally allows for in each sequence."""

FAULTS_A_RULE = 1000
"""Breaches of one rule that are listed; a file of millions must not become as many."""

EPSILON = float(np.finfo(np.float64).eps)
"""By how much a similarity may fall short of a threshold where trackeval allows it."""

_NOT_TRACKED = ObjectFlag.IGNORE | ObjectFlag.CROWD | ObjectFlag.REGION | ObjectFlag.DISTRACTOR


@dataclass(frozen=True)
class ThresholdParameters(CriterionParameters):
    """Parameters of criteria of tracking that match at one threshold."""

    threshold: float = parameter(0.5, "Least similarity of a pair that counts.", **THRESHOLD)


class TrackingCriterion(Criterion[ParametersType]):
    """A criterion that follows identities through whole sequences."""

    task = Task.TRACKING
    settles_first: ClassVar[bool] = True
    threshold_parameter: ClassVar[str] = "threshold"
    needs = Needs(ANY_SHAPE, ANY_SHAPE, tracks=True)

    @property
    def unit(self) -> Unit:
        """A sequence, because identities last."""
        return Unit.SEQUENCE

    def faults(self, side: Side, annotations: Annotations) -> Sequence[Fault]:
        """What is tracked has an identity, which comes once in a frame."""
        chosen = annotations.take_objects(self._is_tracked(side, annotations))
        return [*_without_track(side, chosen), *self._repeated(side, chosen)]

    def _is_tracked(self, side: Side, annotations: Annotations) -> BoolArray:
        """(N,) whether objects must have an identity: what only absorbs detections need not."""
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
        for row in order[np.flatnonzero(repeated)[:FAULTS_A_RULE]].tolist():
            yield Fault(
                source=side.value,
                entry=int(frames[row]),
                field="track_ids",
                found=f"track {tracks[row]} again in {annotations.frame_name(int(frames[row]))}",
                expected="each track once in a frame" + " and class" * separate,
            )


def _are_unique(*columns: IntArray) -> bool:
    """Whether no two rows are equal; where that takes more than one sort to tell, False."""
    [packed, *others] = packed_columns(columns)
    if others:
        return False
    packed = np.sort(packed, kind="stable")
    return not (packed[1:] == packed[:-1]).any()


def similar_pairs(scene: Scene, similarity: Similarity, at_least: float) -> Candidates:
    """Pairs of a scene that are alike enough, and alike at all (reading 3)."""
    above_least = float(np.nextafter(similarity.minimum, np.inf))
    at_least = max(at_least, above_least)
    if similarity.base == "giou":
        # Every pair of a frame is alike at all: far too many to keep where few are wanted.
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
        tracks: Says what the chains are.
        chains: (R,) chain of each raw row.
        counts: (R,) integers by column.
        sums: (R,) floats by column.
        part: Name of a further text key, its values, and (R,) which of them each row has.
    """
    scene = tracks.scene
    domains = [key.domain for key in scene.sequences]
    names = [key.sequence for key in scene.sequences]
    sequences, classes = tracks.chain_sequences[chains], tracks.chain_classes[chains]
    words = [*domains, *names, *scene.classes]
    codes = [sequences, sequences + len(domains), classes + 2 * len(domains)]
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
    for row in np.flatnonzero(annotations.track_ids == NO_TRACK)[:FAULTS_A_RULE].tolist():
        yield Fault(
            source=side.value,
            entry=int(frames[row]),
            field="track_ids",
            found=f"an object without a track in {annotations.frame_name(int(frames[row]))}",
            expected="a track id of 0 or more",
        )
