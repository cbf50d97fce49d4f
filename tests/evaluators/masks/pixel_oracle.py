"""Criteria of masks by their definitions: over pixels, in plain loops.

Nothing here uses the code under test. Unscored rows follow the standard rule. A detection that
matches nothing real is absorbed by an ignored object of its class or by a distractor, which take
one of a class each, or by a crowd of its class with enough of it inside. It is forgiven with more
than half of it in the union of the regions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment
from tests.evaluators.detection.oracle import Found
from tests.evaluators.distances import track_oracle
from tests.evaluators.distances.track_oracle import Track, pixel_iou
from tests.evaluators.masks.pixel_worlds import NOT_EVALUATED, Drawn, World

from vidscore_evaluators.annotations import ObjectFlag

ROUNDING = 1e-9
BEFORE = 0.5
"""IoU at which criteria without a threshold first resolve unscored rows."""

Distance = Callable[[list[Track], list[Track]], float]
Places = list[tuple[str, int]]
"""Video and frame."""


@dataclass(frozen=True)
class Frame:
    """An evaluated frame."""

    truth: list[Drawn]
    detections: list[Drawn]

    def real(self, label: str | None = None) -> list[Drawn]:
        """Objects that are scored, of one class or of all."""
        return [one for one in self.truth if not one.flag and label in (None, one.label)]

    def surest_first(self) -> list[Drawn]:
        """Detections in descending confidence."""
        return sorted(self.detections, key=lambda one: -one.confidence)

    def is_forgiven(self, detection: Drawn) -> bool:
        """Whether more than half of it is in regions."""
        union = np.zeros_like(detection.pixels)
        for one in self.truth:
            if one.flag == ObjectFlag.REGION:
                union |= one.pixels
        return bool(2 * (union & detection.pixels).sum() > detection.pixels.sum())

    def absorbers(self, detection: Drawn) -> list[tuple[float, Drawn]]:
        """Similarity of each possible absorber to a detection; for crowds, the share inside."""
        found = []
        for one in self.truth:
            if one.flag == ObjectFlag.CROWD and one.label == detection.label:
                inside = (one.pixels & detection.pixels).sum() / detection.pixels.sum()
                found.append((float(inside), one))
            elif one.flag == ObjectFlag.DISTRACTOR or (
                one.flag == ObjectFlag.IGNORE and one.label == detection.label
            ):
                found.append((pixel_iou(one.pixels, detection.pixels), one))
        return found


def frames_of(world: World) -> dict[tuple[str, int], Frame]:
    """The evaluated frames."""
    return {
        (video, frame): Frame(objects, world.detections[video][frame])
        for video, by_frame in world.truth.items()
        for frame, objects in by_frame.items()
        if (video, frame) != NOT_EVALUATED
    }


def labels_of(world: World) -> list[str]:
    """Classes of the truth that is scored."""
    return sorted({one.label for frame in frames_of(world).values() for one in frame.real()})


# --- matching at a threshold -------------------------------------------------------------------


Taken = set[tuple[Drawn, str]]
"""What is already matched, by the class of the detection."""


@dataclass(frozen=True)
class Match:
    """The outcome of a detection.

    Attributes:
        outcome: True, False, or None for not counted.
        partner: The matched real object.
    """

    outcome: bool | None
    partner: Drawn | None = None


def greedily(frame: Frame, threshold: float) -> dict[Drawn, Match]:
    """The most confident detections choose first, each the most similar free object."""
    taken: Taken = set()
    matches = {}
    for detection in frame.surest_first():
        label = detection.label
        free = [one for one in frame.real(label) if (one, label) not in taken]
        best = max(free, key=lambda one: pixel_iou(one.pixels, detection.pixels), default=None)
        if best is not None and meets(pixel_iou(best.pixels, detection.pixels), threshold):
            taken.add((best, label))
            matches[detection] = Match(True, best)
        else:
            matches[detection] = _unmatched(frame, detection, threshold, taken)
    return matches


def optimally(frame: Frame, threshold: float) -> dict[Drawn, Match]:
    """In each class the maximum sum of IoU, thresholded afterwards."""
    matches: dict[Drawn, Match] = {}
    for label in sorted({one.label for one in frame.detections}):
        real = frame.real(label)
        own = [one for one in frame.detections if one.label == label]
        table = [[pixel_iou(one.pixels, other.pixels) for other in own] for one in real]
        if real:
            pairs = zip(*linear_sum_assignment(np.array(table), maximize=True), strict=True)
            for row, column in pairs:
                if meets(table[row][column], threshold):
                    matches[own[column]] = Match(True, real[row])
    taken: Taken = set()
    for detection in frame.surest_first():
        if detection not in matches:
            matches[detection] = _unmatched(frame, detection, threshold, taken)
    return matches


def _unmatched(frame: Frame, detection: Drawn, threshold: float, taken: Taken) -> Match:
    """The outcome of a detection that is matched with nothing real."""
    free = [
        (alike, one)
        for alike, one in frame.absorbers(detection)
        if (one, detection.label) not in taken and meets(alike, threshold)
    ]
    if free:
        _, best = max(free, key=lambda entry: entry[0])
        if best.flag != ObjectFlag.CROWD:
            taken.add((best, detection.label))
        return Match(None)
    return Match(None if frame.is_forgiven(detection) else False)


def meets(similarity: float, threshold: float) -> bool:
    """Whether a similarity is at least a threshold, apart from rounding."""
    return similarity >= threshold - ROUNDING


def found_by_class(
    world: World, match: Callable[[Frame, float], dict[Drawn, Match]], threshold: float
) -> Iterator[tuple[list[Found], int]]:
    """Detections of each class of the truth with their outcomes, and its objects."""
    frames = list(frames_of(world).values())
    matched = [match(frame, threshold) for frame in frames]
    for label in labels_of(world):
        found = [
            Found(detection.confidence, one.outcome)
            for matches in matched
            for detection, one in matches.items()
            if detection.label == label
        ]
        yield found, sum(len(frame.real(label)) for frame in frames)


# --- distances ---------------------------------------------------------------------------------


def settled(frame: Frame) -> Frame:
    """A frame without unscored rows, and without the detections matched with them.

    Those of a class are matched with its real and ignored objects, and with distractors, by the
    maximum sum of IoU among pairs at `BEFORE` or above.
    """
    partner: dict[Drawn, Drawn] = {}
    for label in {one.label for one in frame.detections}:
        own = [one for one in frame.detections if one.label == label]
        targets = [
            one
            for one in frame.truth
            if one.flag == ObjectFlag.DISTRACTOR
            or (one.flag in (0, ObjectFlag.IGNORE) and one.label == label)
        ]
        table = np.zeros((len(targets), len(own)))
        for row, column in np.ndindex(table.shape):
            alike = pixel_iou(targets[row].pixels, own[column].pixels)
            table[row, column] = alike if meets(alike, BEFORE) else 0.0
        for row, column in zip(*linear_sum_assignment(table, maximize=True), strict=True):
            if table[row, column] > 0:
                partner[own[column]] = targets[row]
    kept = []
    for detection in frame.detections:
        if detection in partner:
            if not partner[detection].flag:
                kept.append(detection)
            continue
        in_crowd = any(
            one.flag == ObjectFlag.CROWD and meets(alike, BEFORE)
            for alike, one in frame.absorbers(detection)
        )
        if not in_crowd and not frame.is_forgiven(detection):
            kept.append(detection)
    return Frame(frame.real(), kept)


def over_frames(world: World, distance: Distance) -> float:
    """Mean over classes of the mean over frames; the set of a frame has tracks of one frame."""
    frames = [settled(frame) for frame in frames_of(world).values()]
    means = []
    for label in labels_of(world):
        sides = [
            (_shapes(frame.truth, label), _shapes(frame.detections, label)) for frame in frames
        ]
        means.append(np.mean([distance(*both) for both in sides]))
    return float(np.mean(means))


def _shapes(side: list[Drawn], label: str) -> list[Track]:
    return [{0: one.pixels} for one in side if one.label == label]


def over_sequences(world: World, distance: Distance) -> float:
    """Mean over classes of the mean over the sequences in which either side has a track."""
    means = []
    for label in labels_of(world):
        sides = [both for both in tracks_of(world, label).values() if any(both)]
        means.append(np.mean([distance(*both) for both in sides]))
    return float(np.mean(means))


def over_windows(world: World, distance: Distance, window_frames: int) -> float:
    """Mean over classes of the mean over frames, each the end of a window of evaluated frames."""
    means = []
    for label in labels_of(world):
        values = []
        for video, (truth, detections) in tracks_of(world, label).items():
            count = sum(place[0] == video for place in frames_of(world))
            for last in range(count):
                first = last - window_frames + 1
                cut = [track_oracle.within(side, first, last) for side in (truth, detections)]
                values.append(distance(*cut))
        means.append(np.mean(values))
    return float(np.mean(means))


def tracks_of(world: World, label: str) -> dict[str, tuple[list[Track], list[Track]]]:
    """Tracks of a class by video and side; frames are numbered in order of evaluation."""
    tracks: dict[str, tuple[dict[int, Track], dict[int, Track]]] = {}
    counts: dict[str, int] = {}
    for (video, _), frame in frames_of(world).items():
        number = counts[video] = counts.get(video, -1) + 1
        own = settled(frame)
        sides = tracks.setdefault(video, ({}, {}))
        for by_track, side in zip(sides, (own.truth, own.detections), strict=True):
            for one in side:
                if one.label == label:
                    by_track.setdefault(one.track, {})[number] = one.pixels
    return {
        video: (list(truth.values()), list(found.values()))
        for video, (truth, found) in tracks.items()
    }
