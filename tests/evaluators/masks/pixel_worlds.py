"""Seeded worlds of drawn objects that are not boxes, with don't-care of every kind.

No two similarities of an object are equal: the criteria do not define which of the two is taken.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from msgspec import structs
from tests.evaluators.distances.track_oracle import pixel_iou
from tests.evaluators.test_mask_base import masks_of

from vidscore_evaluators.annotations import Annotations, ObjectFlag
from vidscore_evaluators.arrays import BoolArray
from vidscore_evaluators.testing import Thing, make_annotations

HEIGHT, WIDTH = 26, 34
FRAMES = 5
VIDEOS = ("first", "second")
NOT_EVALUATED = ("first", 2)
"""The don't-care frame of a world."""

_ABSORBERS = ((ObjectFlag.IGNORE, 7), (ObjectFlag.CROWD, 8), (ObjectFlag.DISTRACTOR, 9))
_REGIONS = (10, 11)


@dataclass(frozen=True, eq=False)
class Drawn:
    """An object of a frame.

    Attributes:
        pixels: (HEIGHT, WIDTH), its own pixels.
        label: Its class.
        track: Its track.
        confidence: Its confidence.
        flag: A bit of `ObjectFlag`, or 0.
    """

    pixels: BoolArray
    label: str
    track: int
    confidence: float = 1.0
    flag: int = 0


Frames = Mapping[int, list[Drawn]]


@dataclass(frozen=True)
class World:
    """Objects of both sides by video and frame; each side lists all frames."""

    truth: Mapping[str, Frames]
    detections: Mapping[str, Frames]

    def annotations(self) -> tuple[Annotations, Annotations]:
        """Both sides as annotations for the code under test."""
        return _annotations(self.truth), _annotations(self.detections)


def make_world(seed: int) -> World:
    """Objects that move and change, and a system that finds, splits and confuses them."""
    random = np.random.default_rng([seed, 2121])
    truth: dict[str, Frames] = {}
    detections: dict[str, Frames] = {}
    for video in VIDEOS:
        objects = [Drawn(_blob(random, 12), "aab"[track % 3], track) for track in range(4)]
        shown: dict[int, list[Drawn]] = {}
        found: dict[int, list[Drawn]] = {}
        for frame in range(FRAMES):
            objects = [
                dataclasses.replace(one, pixels=_moved(random, one.pixels, 2)) for one in objects
            ]
            present = [one for one in objects if random.random() < 0.8]
            special = _special(random)
            shown[frame] = [*present, *special]
            found[frame] = _found(random, present, special)
            while _have_ties(shown[frame], found[frame]):  # Any rule may break these.
                found[frame] = _found(random, present, special)
        shown[FRAMES], found[FRAMES] = [], []
        truth[video], detections[video] = shown, found
    return World(truth, detections)


def _special(random: np.random.Generator) -> list[Drawn]:
    """Unscored rows: at most one absorber of each kind, and regions that overlap."""
    made = [
        Drawn(_blob(random, 16), "ab"[int(random.integers(2))], track, flag=flag)
        for flag, track in _ABSORBERS
        if random.random() < 0.5
    ]
    if random.random() < 0.5:
        made += [Drawn(_blob(random, 14), "a", track, flag=ObjectFlag.REGION) for track in _REGIONS]
    return made


def _found(random: np.random.Generator, present: list[Drawn], special: list[Drawn]) -> list[Drawn]:
    """Detections: most objects once, some twice, some of another class, and some false ones."""
    found: list[Drawn] = []
    for one in [*present, *special]:
        for again in range(2):
            if random.random() < (0.2 if again else 0.8):
                pixels = _moved(random, one.pixels, 1 + again)
                label = one.label if random.random() < 0.8 else "ab"[one.label == "a"]
                found.append(Drawn(pixels, label, one.track + 20 * (again + 1)))
    if random.random() < 0.4:
        found.append(Drawn(_blob(random, 10), "a", 90))
    tracks = {track: one for one in found for track in [(one.label, one.track)]}
    chosen = list(tracks.values())
    # Two decimals, and fewer than 100 detections, so that none are equal in a frame.
    confidences = random.permutation(97)[: len(chosen)] / 100
    return [
        dataclasses.replace(one, confidence=float(confidence))
        for one, confidence in zip(chosen, confidences.tolist(), strict=True)
    ]


def _have_ties(objects: list[Drawn], detections: list[Drawn]) -> bool:
    """Whether two detections are equally similar to an object, or two objects to a detection."""
    pairs = [[pixel_iou(one.pixels, other.pixels) for other in detections] for one in objects]
    columns = [list(column) for column in zip(*pairs, strict=True)]
    lines = [[value for value in line if value] for line in [*pairs, *columns]]
    return any(len(set(line)) < len(line) for line in lines)


def _blob(random: np.random.Generator, most_px: int) -> BoolArray:
    """Ragged pixels of a few overlapping ellipses."""
    rows, columns = np.mgrid[:HEIGHT, :WIDTH]
    pixels = np.zeros((HEIGHT, WIDTH), dtype=np.bool_)
    top, left = random.uniform(4, HEIGHT - 4), random.uniform(4, WIDTH - 4)
    for _ in range(2):
        across, down = random.uniform(2, most_px / 2, 2)
        distance = ((rows - top) / down) ** 2 + ((columns - left) / across) ** 2
        pixels |= distance < 1
        top, left = top + random.uniform(-3, 3), left + random.uniform(-3, 3)
    return _frayed(random, pixels)


def _moved(random: np.random.Generator, pixels: BoolArray, most_px: int) -> BoolArray:
    """The same mask, moved and with other edges; pixels that leave the image re-enter it."""
    shift = random.integers(-most_px, most_px + 1, 2).tolist()
    return _frayed(random, np.roll(pixels, shift, (0, 1)))


def _frayed(random: np.random.Generator, pixels: BoolArray) -> BoolArray:
    """The same mask without some of its pixels and with some others."""
    kept: BoolArray = pixels & (random.random(pixels.shape) < 0.95)
    return kept if kept.any() else pixels


def _annotations(side: Mapping[str, Frames]) -> Annotations:
    frames = {
        ("", video): {
            frame: [
                Thing(_box(one.pixels), one.label, one.confidence, one.track, one.flag)
                for one in objects
            ]
            for frame, objects in by_frame.items()
        }
        for video, by_frame in side.items()
    }
    video, frame = NOT_EVALUATED
    boxes = make_annotations(frames, arity=4, dont_care=[(("", video), frame)])
    images = [
        one.pixels for by_frame in side.values() for objects in by_frame.values() for one in objects
    ]
    return structs.replace(boxes, masks=masks_of(images))


def _box(pixels: BoolArray) -> tuple[float, ...]:
    rows, columns = np.nonzero(pixels)
    edges = columns.min(), rows.min(), columns.max() + 1, rows.max() + 1
    return tuple(map(float, edges))
