"""Don't-care rules as data: what happens to detections of unscored input, in all criteria.

Truth marks what is not scored by flags: ignored objects, crowds, regions, distractors (objects of a
class that systems may confuse with a scored one), and whole frames. `Limits` turn truncated,
occluded or small objects into ignored ones. A `DontCareRule` decides about the detections there. It
is a set of independent choices; `RULES` has those of each benchmark, and the default.

Terms: a detection is *absorbed* if it is matched with an ignored object, a crowd or a distractor;
it is then neither true nor false. A detection is *forgiven* if it lies in a region or is small; it
is then not counted if it has no match.

Every rule drops don't-care frames. Flags that a benchmark does not know are treated as in
`standard`. Rules are as their benchmarks publish them, with these differences:

1. `neovision2` (Neovision2 Performance Evaluation Protocol 3.0): don't-care objects absorb at the
   threshold and by the matching of the criterion. The evaluator ``neovision2`` has the protocol's
   own matching; this rule lends the rest to other criteria.
2. `coco`: pycocotools overwrites a truth's ``ignore`` with ``iscrowd``; here an ignored object
   stays ignored, and absorbs one detection. `pycocotools` does as pycocotools: an ignored object
   that is no crowd is scored.
3. `motchallenge` (trackeval's MotChallenge2DBox): detections are matched with scored truth and
   distractors alone, and ignored objects absorb. trackeval matches them with truth of all labels
   and leaves ignored objects out; so do ``match_unscored_classes`` and ``ignored_objects = drop``,
   which the presets of the MOTChallenge set.
4. `motchallenge`: MOT20's distractor ``non_mot_vehicle`` is not among the rule's; the preset
   `mot20` adds it.
5. `kitti` (trackeval's Kitti2DBox): limits of truncation, occlusion and height are parameters,
   which the preset `kitti-tracking` sets. Reports by the rule without them say so
   (`DontCareRule.shortfall`).
6. `mots` (trackeval's MOTSChallenge and KittiMOTS): regions are masks, and forgive.
7. `visdrone` (VisDrone's toolkits): boxes are not clipped to the image, as the toolkits clip them.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

import numpy as np
from msgspec import Struct

from vidscore_evaluators.annotations import Annotations, ObjectFlag
from vidscore_evaluators.arrays import BoolArray, FloatArray, IntArray, marked
from vidscore_evaluators.geometry import bounding_boxes
from vidscore_evaluators.matching import match_maximum_weight
from vidscore_evaluators.scene import Scene
from vidscore_evaluators.similarity import TOLERANCE, Candidates, Similarity, find_candidates

RuleName = Literal[
    "standard", "neovision2", "coco", "pycocotools", "visdrone", "motchallenge", "kitti", "mots"
]
IgnoredObjects = Literal["absorb", "drop"]

NO_LIMIT = -1.0
"""Value of a greatest truncation or occlusion that means no limit."""


_WITH_DEGREES = "the formats kitti-tracking, visdrone-det and visdrone-mot have it"
COLUMN_SOURCES: Mapping[str, str] = MappingProxyType(
    {
        "truncation": _WITH_DEGREES,
        "occlusion": _WITH_DEGREES,
        "visibility": "the format motchallenge has it, in truth of nine columns",
    }
)
"""Sources of the named columns that limits need."""


class Limits(Struct, frozen=True):
    """Limits of scored objects of the truth; an object beyond one of them is ignored.

    An unknown level (NaN) is beyond no limit.

    Attributes:
        maximum_truncation: Greatest value of the column ``truncation``; `NO_LIMIT` for any.
        maximum_occlusion: Greatest value of the column ``occlusion``; `NO_LIMIT` for any.
        minimum_visibility: Least value of the column ``visibility``; 0 for any.
        minimum_height_px: Least height of a box; 0 for any.
    """

    maximum_truncation: float = NO_LIMIT
    maximum_occlusion: float = NO_LIMIT
    minimum_visibility: float = 0.0
    minimum_height_px: float = 0.0

    @property
    def columns(self) -> tuple[str, ...]:
        """Named columns of the truth that the limits need."""
        limited = {
            "truncation": self.maximum_truncation != NO_LIMIT,
            "occlusion": self.maximum_occlusion != NO_LIMIT,
            "visibility": self.minimum_visibility > 0.0,
        }
        return tuple(name for name, needed in limited.items() if needed)

    def broken_by(self, truth: Annotations, tolerance: float) -> BoolArray:
        """(N,) whether each object is beyond a limit.

        Args:
            truth: Upright boxes or outlines; points, if no height is limited.
            tolerance: Tolerance of the limits, for rounding.
        """
        broken = np.zeros(truth.object_count, dtype=np.bool_)
        columns = truth.columns
        for name, greatest in (
            ("truncation", self.maximum_truncation),
            ("occlusion", self.maximum_occlusion),
        ):
            if greatest != NO_LIMIT and name in columns:
                broken |= columns[name] > greatest + tolerance
        if self.minimum_visibility > 0.0 and "visibility" in columns:
            broken |= columns["visibility"] < self.minimum_visibility - tolerance
        if self.minimum_height_px > 0.0:
            broken |= box_heights(truth) < self.minimum_height_px - tolerance
        return broken


def box_heights(side: Annotations) -> FloatArray:
    """(N,) heights of upright boxes, or of the boxes around outlines."""
    boxes = bounding_boxes(side.coordinates)
    heights: FloatArray = boxes[:, 3] - boxes[:, 1]
    return heights


ABSORBING_SIMILARITY = 0.5
"""Similarity (IoU for boxes) that the matching ``before`` needs."""


class DontCareRule(Struct, frozen=True):
    """What happens to detections of input that is not scored.

    Attributes:
        absorption: When detections are absorbed. ``matching``: by the criterion, at its own
            threshold, after everything real. ``before``: in a separate matching, over real and
            ignored objects alike, at `ABSORBING_SIMILARITY`. A criterion without a threshold always
            uses ``before``.
        ignored_labels: Whether an ignored object absorbs detections of its ``own`` class or of
            ``any``.
        absorbing_flags: Bits of `ObjectFlag` whose objects absorb.
        ignored_absorb_many: Whether an ignored object absorbs like a crowd: any number of
            detections, each by the fraction of its area inside it (`Similarity.of_shares`).
        ignored_objects: Whether ignored objects ``absorb``, or the rule lets them ``drop``, so that
            detections of them count.
        limits: Limits beyond which objects are ignored although no flag says so.
        match_unscored_classes: Whether the matching ``before`` includes truth that is neither real
            nor absorbs, such as that of unscored labels. Detections matched with it are kept.
        region_share: A detection lies in a region if more than this fraction of its area is inside
            the union of its frame's regions.
        region_share_counts: Whether exactly `region_share` is enough.
        region_pixels: Whether the area is counted in whole pixels: coordinates of boxes are
            rounded, sizes are at least 1, and a region includes its first and its last pixel. Not
            for polygons.
        regions_apart: Whether the fraction inside each region counts by itself, not in the union.
        forgiven_height_px: Detections at most this high are forgiven; 0 for none.
        tolerance: Tolerance of thresholds, fractions and heights, for rounding.
        regions_forgive: True: a detection in a region is forgiven. False: it is removed beforehand.
        regions_cover_truth: Whether truth in a region is removed, too.
        distractor_classes: Labels whose objects are distractors, for every class.
        neighbours: (label, scored label): objects of the first are distractors for the second.
        shortfall: Warning in reports, if the rule lacks a part of its benchmark's rule.
    """

    absorption: Literal["matching", "before"] = "matching"
    ignored_labels: Literal["own", "any"] = "own"
    absorbing_flags: int = ObjectFlag.IGNORE | ObjectFlag.CROWD | ObjectFlag.DISTRACTOR
    ignored_absorb_many: bool = False
    ignored_objects: IgnoredObjects = "absorb"
    limits: Limits = Limits()
    match_unscored_classes: bool = False
    region_share: float = 0.5
    region_share_counts: bool = False
    region_pixels: bool = False
    regions_apart: bool = False
    forgiven_height_px: float = 0.0
    tolerance: float = TOLERANCE
    regions_forgive: bool = True
    regions_cover_truth: bool = False
    distractor_classes: tuple[str, ...] = ()
    neighbours: tuple[tuple[str, str], ...] = ()
    shortfall: str = ""

    @property
    def absorbing(self) -> int:
        """Bits of `ObjectFlag` whose objects absorb, without those that `ignored_objects` drops."""
        dropped = ObjectFlag.IGNORE if self.ignored_objects == "drop" else 0
        return self.absorbing_flags & ~dropped

    @property
    def unscored_labels(self) -> tuple[str, ...]:
        """Labels that this rule excludes from scoring."""
        return (*self.distractor_classes, *(label for label, _ in self.neighbours))


RULES: Mapping[str, DontCareRule] = MappingProxyType(
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
            regions_apart=True,
            neighbours=(
                ("Van", "Car"),
                ("Person", "Pedestrian"),
                ("Person_sitting", "Pedestrian"),
            ),
            shortfall="dont_care=kitti without maximum_truncation, maximum_occlusion and "
            "forgiven_height_px is not KITTI's whole rule: HOTA of published trackers is off by up "
            "to 5 points and MOTA by up to 8; the preset kitti-tracking sets all three",
        ),
        "mots": DontCareRule(absorption="before"),
    }
)
"""The rule of each benchmark; `standard` is the default and does what each flag says."""


def resolve_dont_care(
    scene: Scene, rule: DontCareRule, similarity: Similarity, competes: BoolArray
) -> Scene:
    """Remove absorbed detections, and forgiven ones that have no match.

    Source: the preprocessing of MOTChallenge and KITTI tracking, as in trackeval. Detections are
    matched with all objects, real and ignored, by the greatest sum of similarities among the pairs
    that are similar enough; those matched with an ignored object are removed.

    Args:
        scene: A scene.
        rule: The rule.
        similarity: IoU for boxes and polygons, whatever the criterion's similarity is.
        competes: (A,) whether an absorber absorbs nothing, but keeps its match.

    Returns:
        The scene with only real truth and the remaining detections.
    """
    if competes.all() and not scene.forgiven.any():
        return scene.without_absorbers()
    candidates = find_candidates(scene, similarity, ABSORBING_SIMILARITY - rule.tolerance)
    many = scene.reusable_targets[candidates.targets]
    matched = _matched_targets(scene, candidates.take(~many))
    absorbs = np.concatenate([np.zeros(len(scene.truth), dtype=np.bool_), ~competes])
    absorbed = (matched >= 0) & absorbs[matched] if len(absorbs) else matched >= 0
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
