"""Don't-care as data: what happens to detections of what is not scored, for all criteria alike.

Truth says what is not scored with flags: ignored objects, crowds, regions, distractors (objects
of a class that systems may confuse with a scored one), and frames as a whole. A `DontCareRule`
says what becomes of the detections there. It is a handful of choices that do not depend on one
another; the rule of each benchmark is one instance of it, a *preset*, and so is the default.

Words: a detection is *absorbed* where it is matched with an ignored object, a crowd or a
distractor, and is then neither true nor false. A detection is *forgiven* where it lies in a
region: should it be matched with nothing, it is not counted.

Every preset drops don't-care frames. Flags that a benchmark does not know are treated as
`standard` treats them. Presets are the rules as their benchmarks publish them, with these
differences:

1. `neovision2` (Neovision2 Performance Evaluation Protocol 3.0): don't-care objects absorb at the
   threshold and by the matching of the criterion. The evaluator ``neovision2`` has the protocol's
   own matching; this preset lends the rule to other criteria.
2. `coco`: pycocotools overwrites a truth's ``ignore`` with ``iscrowd``; here an ignored object
   stays ignored, and absorbs one detection. `pycocotools` does as pycocotools: an ignored object
   that is no crowd is scored.
3. `motchallenge` (trackeval's MotChallenge2DBox): detections are matched with scored truth,
   distractors and ignored objects; trackeval matches them with truth of all classes, and knows no
   ignored objects.
4. `motchallenge`: MOT20's distractor ``non_mot_vehicle`` is not among the preset's.
5. `kitti` (trackeval's Kitti2DBox): truth that is truncated or much occluded is scored, so is
   ``Person``, and small detections are not dropped. Reports say so (`DontCareRule.shortfall`).
6. `kitti`: a detection is forgiven by the union of the regions, there by one region alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np

from vidscore_evaluators.annotations import ObjectFlag
from vidscore_evaluators.arrays import IntArray, marked
from vidscore_evaluators.matching import match_maximum_weight
from vidscore_evaluators.scene import Scene
from vidscore_evaluators.similarity import TOLERANCE, Candidates, Similarity, find_candidates

Preset = Literal[
    "standard", "neovision2", "coco", "pycocotools", "visdrone", "motchallenge", "kitti"
]


@dataclass(frozen=True, slots=True)
class DontCareRule:
    """What becomes of detections of things that are not scored.

    Attributes:
        absorption: When detections are absorbed. ``matching``: by the criterion, at its own
            threshold, after everything real. ``before``: in a matching of their own, over real
            and ignored objects alike, at `threshold`. A criterion without a threshold always
            resolves it before.
        threshold: Similarity (IoU for boxes) that the matching before needs.
        ignored_labels: Whether an ignored object absorbs detections of its ``own`` class or of
            ``any``.
        absorbing_flags: Bits of `ObjectFlag` whose objects absorb.
        crowds_absorb_many: Whether a crowd absorbs any number of detections, each by the share of
            its area inside the crowd (`Similarity.of_shares`); else a crowd is an ignored object.
        ignored_absorb_many: Whether an ignored object does as such a crowd does.
        region_share: A detection lies in a region if more than this share of its area is inside the
            union of its frame's regions.
        region_share_counts: Whether exactly that share is enough.
        region_pixels: Whether the area is counted in whole pixels: coordinates of boxes are
            rounded, at least 1, and a region includes its first and its last pixel.
        tolerance: What `threshold` and `region_share` allow for rounding.
        regions_forgive: True: such a detection is forgiven. False: it is removed beforehand.
        regions_cover_truth: Whether truth in a region is removed, too.
        distractor_classes: Labels whose objects are distractors, for every class.
        neighbours: (label, scored label): objects of the first are distractors for the second.
        shortfall: What reports say of a preset that is not yet its benchmark's whole rule.
    """

    absorption: Literal["matching", "before"] = "matching"
    threshold: float = 0.5
    ignored_labels: Literal["own", "any"] = "own"
    absorbing_flags: int = ObjectFlag.IGNORE | ObjectFlag.CROWD | ObjectFlag.DISTRACTOR
    crowds_absorb_many: bool = True
    ignored_absorb_many: bool = False
    region_share: float = 0.5
    region_share_counts: bool = False
    region_pixels: bool = False
    tolerance: float = TOLERANCE
    regions_forgive: bool = True
    regions_cover_truth: bool = False
    distractor_classes: tuple[str, ...] = ()
    neighbours: tuple[tuple[str, str], ...] = ()
    shortfall: str = ""

    @property
    def unscored_labels(self) -> tuple[str, ...]:
        """Labels that this rule takes from what is scored."""
        return (*self.distractor_classes, *(label for label, _ in self.neighbours))


PRESETS: Mapping[str, DontCareRule] = MappingProxyType(
    {
        "standard": DontCareRule(),
        "neovision2": DontCareRule(
            ignored_labels="any",
            region_share=0.2,
            regions_forgive=False,
            regions_cover_truth=True,
        ),
        "coco": DontCareRule(),
        "pycocotools": DontCareRule(absorbing_flags=ObjectFlag.CROWD | ObjectFlag.DISTRACTOR),
        "visdrone": DontCareRule(
            ignored_absorb_many=True,
            region_share_counts=True,
            region_pixels=True,
            regions_forgive=False,
            regions_cover_truth=True,
        ),
        "motchallenge": DontCareRule(
            absorption="before",
            distractor_classes=(
                "person_on_vehicle",
                "static_person",
                "distractor",
                "reflection",
            ),
        ),
        "kitti": DontCareRule(
            absorption="before",
            neighbours=(("Van", "Car"), ("Person_sitting", "Pedestrian")),
            shortfall="dont_care=kitti is not KITTI's whole rule: truncated or much occluded truth "
            "and Person are scored, and small detections count; HOTA of published trackers is off "
            "by up to 5 points and MOTA by up to 8",
        ),
    }
)
"""The rule of each benchmark; `standard` is the default and does what each flag asks for."""


def resolve_dont_care(scene: Scene, rule: DontCareRule, similarity: Similarity) -> Scene:
    """Take out what is absorbed, and what is forgiven and matched with nothing.

    Source: the preprocessing of MOTChallenge and KITTI tracking, as trackeval does it: detections
    are matched with all objects, real and ignored, by the greatest sum of similarities among the
    pairs that are similar enough, and those matched with an ignored one are taken out.

    Args:
        scene: A scene.
        rule: Says how similar a pair must be.
        similarity: IoU for boxes, whatever the criterion's own similarity is.

    Returns:
        The scene with real truth and the detections that remain, and nothing else.
    """
    if len(scene.absorbers) == 0 and not scene.forgiven.any():
        return scene.without_absorbers()
    candidates = find_candidates(scene, similarity, rule.threshold - rule.tolerance)
    many = scene.reusable_targets[candidates.targets]
    matched = _matched_targets(scene, candidates.take(~many))
    absorbed = matched >= len(scene.truth)
    alone = matched < 0
    taken_by_many = marked(len(scene.detections), candidates.detections[many])
    out = absorbed | (alone & (taken_by_many | scene.forgiven))
    return scene.take_detections(~out).without_absorbers()


def _matched_targets(scene: Scene, candidates: Candidates) -> IntArray:
    """(D,) target that each detection is matched with, or -1."""
    target_count = len(scene.truth) + len(scene.absorbers)
    chosen = match_maximum_weight(
        candidates.pairs, candidates.similarities, len(scene.detections), target_count
    )
    targets = np.full(len(scene.detections), -1, dtype=np.int64)
    targets[candidates.detections[chosen]] = candidates.targets[chosen]
    return targets
