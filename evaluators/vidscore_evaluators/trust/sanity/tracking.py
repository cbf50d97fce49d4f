"""The sanity test of multi-object tracking.

Source: the paper, section 5.2 and appendix 4.2. The text leaves much open, and no reading
reproduces the tracking rows of the paper's tables. The readings of this project:

1. The number of tracks is uniform on 5..30 and stratified. Lengths, and the first frame among
   those that a length allows, are uniform integers.
2. The height falls linearly from 40 px at y = -200 to 20 px at y = 200; later it
   falls by 20 px for every 400 px that the track moves in y, and is never below 20 px.
3. Each object has its own direction of dislocation in each frame.
4. Counts (of tracks with a state-dependent false; of missed objects in a frame) are rounded half
   up. Tracks with a state-dependent false are drawn without replacement; the false has the
   same magnitude of dislocation in each frame, and its own directions.
5. In each frame the objects of the highest labels are missed; falses never are.
6. In eq. 8 the mutual IoU and P_id are percentages. The likelihood is above 0.5 if the IoU is
   above (15 + P_id) / 2, or above P_id if that is less than 15. IoU is that of the reference.
7. Pairs swap their identities in one frame, the one with the greatest IoU first; a track that
   has swapped in a frame does not swap again in it.
8. A random false track is anywhere in each of its ten frames.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.arrays import BoolArray, FloatArray, IntArray, expand_runs
from vidscore_evaluators.geometry import overlap_ratios
from vidscore_evaluators.trust.sanity.families import (
    CLASS_NAMES,
    LARGEST_DISTANCE_PX,
    SET_COUNT,
    SIZES_PX,
    SOUND_SETS,
    Draw,
    Family,
    Objects,
    as_annotations,
    ascending_poisson,
    dislocations,
    disturbed_sizes,
    draw_objects,
    join_objects,
    round_half_up,
)

FRAME_COUNT = 100
TRACKS = (5, 30)
LENGTHS = (50, FRAME_COUNT)
SPEEDS_PX = (1.0, 5.0)
ASPECTS = (0.5, 1.5)
FALSE_TRACK_LENGTH = 10

DISLOCATIONS_PX = np.linspace(20.0, 40.0, SET_COUNT)
"""T: dislocation of the track with the highest label, per set."""

FRACTIONS = (0.05, 1.0)
LEAST_SWAPPING_IOU = 0.15


class Tracks(Struct, frozen=True, eq=False):
    """N objects of some tracks over time.

    Attributes:
        objects: The objects.
        frames: (N,) frame of each.
        tracks: (N,) track of each.
    """

    objects: Objects
    frames: IntArray
    tracks: IntArray


class Mistakes(Struct, frozen=True, eq=False):
    """Amount of mistakes in each of the flawed sets, from the least to the most.

    Attributes:
        missed: P_fr: fraction of the objects of a frame that are missed.
        doubled: P_sft: fraction of the tracks that have a state-dependent false.
        swapping: P_id: the lower it is, the less two objects must overlap to swap identities.
        made_up: P_rft: number of random false tracks.
    """

    missed: FloatArray
    doubled: FloatArray
    swapping: FloatArray
    made_up: IntArray

    @classmethod
    def draw(cls, random: np.random.Generator) -> Mistakes:
        """Draw the amounts, sorted so that each set is worse than the one before."""
        count = SET_COUNT - SOUND_SETS
        return cls(
            missed=np.sort(random.uniform(*FRACTIONS, count)),
            doubled=np.sort(random.uniform(*FRACTIONS, count)),
            swapping=np.sort(random.uniform(*FRACTIONS, count))[::-1],
            made_up=ascending_poisson(count, random),
        )


def draw_family(draw: Draw) -> Family:
    """Draw a family of 100 frames."""
    random = draw.random()
    reference = draw_tracks(draw.object_count(*TRACKS, random), random)
    mistakes = Mistakes.draw(random)
    overlaps = _Overlaps.of(reference)
    sound = [_dislocated(reference, index, random) for index in range(SOUND_SETS)]
    flawed = [
        _flawed(reference, overlaps, index, mistakes, random)
        for index in range(SOUND_SETS, SET_COUNT)
    ]
    truth, *predictions = (_as_annotations(tracks) for tracks in (reference, *sound, *flawed))
    return Family.of(truth, predictions)


def draw_tracks(count: int, random: np.random.Generator) -> Tracks:
    """Tracks of constant velocity that begin anywhere (appendix 4.2)."""
    lengths = random.integers(LENGTHS[0], LENGTHS[1] + 1, size=count)
    first = random.integers(0, FRAME_COUNT - lengths + 1)
    centres = random.uniform(-LARGEST_DISTANCE_PX, LARGEST_DISTANCE_PX, (count, 2))
    slope = (SIZES_PX[1] - SIZES_PX[0]) / (2 * LARGEST_DISTANCE_PX)
    heights = SIZES_PX[1] - slope * (centres[:, 1] + LARGEST_DISTANCE_PX)
    widths = heights * random.uniform(*ASPECTS, count)
    courses = random.uniform(0.0, 2.0 * np.pi, count)
    speeds = random.uniform(*SPEEDS_PX, count)
    velocities = speeds[:, np.newaxis] * np.column_stack([np.cos(courses), np.sin(courses)])
    tracks = np.repeat(np.arange(count), lengths)
    ages = expand_runs(np.zeros(count, dtype=np.int64), lengths)
    moved = ages[:, np.newaxis] * velocities[tracks]
    later_heights = np.maximum(heights[tracks] - slope * moved[:, 1], SIZES_PX[0])
    objects = Objects(
        centres=centres[tracks] + moved,
        sizes=np.column_stack([widths[tracks], later_heights]),
        classes=np.zeros(len(tracks), dtype=np.int64),
        confidences=np.ones(len(tracks)),
    )
    return Tracks(objects, first[tracks] + ages, tracks)


def _dislocated(reference: Tracks, index: int, random: np.random.Generator) -> Tracks:
    """Every object, dislocated and with its size disturbed."""
    labels = (reference.tracks + 1) / (reference.tracks.max() + 1)
    objects = reference.objects
    moved = Objects(
        centres=objects.centres + dislocations(DISLOCATIONS_PX[index] * labels, random),
        sizes=disturbed_sizes(objects.sizes, random),
        classes=objects.classes,
        confidences=objects.confidences,
    )
    return Tracks(moved, reference.frames, reference.tracks)


def _flawed(
    reference: Tracks,
    overlaps: _Overlaps,
    index: int,
    mistakes: Mistakes,
    random: np.random.Generator,
) -> Tracks:
    """The same with misses, swapped identities, and falses of both kinds."""
    worse, count = index - SOUND_SETS, int(reference.tracks.max()) + 1
    found = _dislocated(reference, index, random)
    swapped = overlaps.swapped(float(mistakes.swapping[worse]))
    kept = ~_missed(reference, float(mistakes.missed[worse]))
    doubled_count = round_half_up(count * mistakes.doubled[worse])
    doubled = np.isin(reference.tracks, random.permutation(count)[:doubled_count])
    falses = _dislocated(reference, index, random)
    return _join(
        [
            _take(Tracks(found.objects, found.frames, swapped), kept),
            _take(Tracks(falses.objects, falses.frames, falses.tracks + count), doubled),
            _made_up(int(mistakes.made_up[worse]), 2 * count, random),
        ]
    )


def _missed(reference: Tracks, share: float) -> BoolArray:
    """(N,) whether each object is missed: those of the highest labels in each frame."""
    missed = np.zeros(len(reference.frames), dtype=np.bool_)
    for frame in np.unique(reference.frames).tolist():
        rows = np.flatnonzero(reference.frames == frame)
        highest_first = rows[np.argsort(-reference.tracks[rows])]
        missed[highest_first[: round_half_up(len(rows) * share)]] = True
    return missed


class _Overlaps(Struct, frozen=True, eq=False):
    """Pairs of overlapping objects of one frame, sorted by frame and descending IoU.

    Attributes:
        tracks: (N,) track of each object.
        pairs: (P, 2) objects.
        ious: (P,) their IoU.
    """

    tracks: IntArray
    pairs: IntArray
    ious: FloatArray

    @classmethod
    def of(cls, reference: Tracks) -> _Overlaps:
        """Find the pairs."""
        boxes = reference.objects.boxes()
        found = []
        for frame in np.unique(reference.frames).tolist():
            rows = np.flatnonzero(reference.frames == frame)
            first, second = np.triu_indices(len(rows), 1)
            found.append(np.column_stack([rows[first], rows[second]]))
        pairs = np.concatenate(found)
        ious = overlap_ratios(boxes[pairs[:, 0]], boxes[pairs[:, 1]])
        order = np.lexsort((-ious, reference.frames[pairs[:, 0]]))
        order = order[ious[order] > 0.0]
        return cls(reference.tracks, pairs[order], ious[order])

    def swapped(self, swapping: float) -> IntArray:
        """(N,) track of each object after all that overlap enough have swapped identities."""
        middle = (LEAST_SWAPPING_IOU + swapping) / 2
        least = middle if swapping >= LEAST_SWAPPING_IOU else swapping
        tracks = self.tracks.copy()
        done = np.zeros(len(tracks), dtype=np.bool_)
        for one, other in self.pairs[self.ious > least].tolist():
            if not done[one] and not done[other]:
                tracks[one], tracks[other] = tracks[other], tracks[one]
                done[one] = done[other] = True
        return tracks


def _made_up(count: int, first_track: int, random: np.random.Generator) -> Tracks:
    """Short tracks that are at random places in each frame."""
    first = random.integers(0, FRAME_COUNT - FALSE_TRACK_LENGTH + 1, size=count)
    lengths = np.full(count, FALSE_TRACK_LENGTH, dtype=np.int64)
    return Tracks(
        draw_objects(count * FALSE_TRACK_LENGTH, 1, random),
        expand_runs(first, lengths),
        first_track + np.repeat(np.arange(count), lengths),
    )


def _join(parts: list[Tracks]) -> Tracks:
    return Tracks(
        join_objects([part.objects for part in parts]),
        np.concatenate([part.frames for part in parts]),
        np.concatenate([part.tracks for part in parts]),
    )


def _take(tracks: Tracks, rows: BoolArray) -> Tracks:
    return Tracks(tracks.objects.take(rows), tracks.frames[rows], tracks.tracks[rows])


def _as_annotations(tracks: Tracks) -> Annotations:
    return as_annotations(
        tracks.objects, tracks.frames, FRAME_COUNT, CLASS_NAMES[:1], tracks.tracks
    )
