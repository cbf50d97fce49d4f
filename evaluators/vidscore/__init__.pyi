# Written by `make docs` from the registry of evaluators. Do not edit.
"""The library of vidscore: read files, score detections against truth, in one call each."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from os import PathLike
from typing import Any, Literal, TypedDict, Unpack, overload

from numpy.typing import NDArray

from vidscore_evaluators import Annotations as Annotations
from vidscore_evaluators import BenchmarkSpec as BenchmarkSpec
from vidscore_evaluators import Comparison as Comparison
from vidscore_evaluators import DomainSpec as DomainSpec
from vidscore_evaluators import EvaluatorSpec as EvaluatorSpec
from vidscore_evaluators import Fault as Fault
from vidscore_evaluators import FrameRanges as FrameRanges
from vidscore_evaluators import GeometryError as GeometryError
from vidscore_evaluators import InputError as InputError
from vidscore_evaluators import LimitError as LimitError
from vidscore_evaluators import Outcome as Outcome
from vidscore_evaluators import Outcomes as Outcomes
from vidscore_evaluators import ParameterError as ParameterError
from vidscore_evaluators import PlugInError as PlugInError
from vidscore_evaluators import Preset as Preset
from vidscore_evaluators import Report as Report
from vidscore_evaluators import Row as Row
from vidscore_evaluators import Scorer as Scorer
from vidscore_evaluators import Selection as Selection
from vidscore_evaluators import SequenceKey as SequenceKey
from vidscore_evaluators import SequenceSpec as SequenceSpec
from vidscore_evaluators import Side as Side
from vidscore_evaluators import SpecificationError as SpecificationError
from vidscore_evaluators import UnknownEvaluatorError as UnknownEvaluatorError
from vidscore_evaluators import VidscoreError as VidscoreError
from vidscore_evaluators import compare as compare
from vidscore_evaluators import evaluator_names as evaluator_names
from vidscore_evaluators import find_preset as find_preset
from vidscore_evaluators import outcomes as outcomes
from vidscore_evaluators import plot as plot
from vidscore_evaluators import preset_names as preset_names
from vidscore_evaluators import read as read
from vidscore_evaluators.formats.plain_arrays import DataFrame

__all__ = [
    "Annotations",
    "BenchmarkSpec",
    "Comparison",
    "DomainSpec",
    "EvaluatorSpec",
    "Fault",
    "FrameRanges",
    "GeometryError",
    "InputError",
    "LimitError",
    "Outcome",
    "Outcomes",
    "ParameterError",
    "PlugInError",
    "Preset",
    "Report",
    "Row",
    "Scorer",
    "Selection",
    "SequenceKey",
    "SequenceSpec",
    "Side",
    "SpecificationError",
    "UnknownEvaluatorError",
    "VidscoreError",
    "compare",
    "evaluator_names",
    "find_preset",
    "outcomes",
    "plot",
    "preset_names",
    "read",
    "score",
]

_Data = str | PathLike[str] | Annotations | Mapping[str, Any] | DataFrame

class _Options(TypedDict, total=False):
    specification: BenchmarkSpec | None
    """Facts that the data cannot give: frames, classes, don't-care frames."""
    manifest: str | PathLike[str] | None
    """The same, as a TOML file."""
    format: str
    """Name of the files' format; ``auto``: the preset's, or detected from their content."""
    on_error: Literal["refuse", "skip"]
    """Whether a faulty row makes the call fail, or is skipped."""
    confidence_scale: str | None
    """How to map confidences to numbers from 0 to 1: ``sigmoid``, or ``MIN,MAX``."""
    select: Selection
    """The part of the data to score; all by default."""
    online: bool
    """Whether frames are judged against the last answer that had arrived by their time."""
    workers: int
    """Processes to use; the scores do not depend on it."""
    executor: Executor | None
    """Scores in place of this process; only for paths."""
    shards: int
    """Number of parts for the executor; the scores do not depend on it."""
    progress: Callable[[int, int], None] | None
    """Called with the number of frames done and in all; with an executor, of shards."""

class _SpotGeoParameters(_Options, total=False):
    profile: Literal['protocol', 'kelvins']
    """The rules: those of the metric document, or of the released scorer. [default: 'protocol']"""
    tau: float
    """Greatest distance of a true positive; each miss and each false alarm costs its square. [default: 10.0]"""
    epsilon: float
    """Distance up to which a true positive has no regression error; less than tau. [default: 3.0]"""
    image_width: int
    """Width of the images; x lies in [-0.5, width - 0.5]. [default: 640]"""
    image_height: int
    """Height of the images; y lies in [-0.5, height - 0.5]. [default: 480]"""
    maximum_detections: int
    """Maximum number of detections in a frame. [default: 30]"""
    frames_per_sequence: int
    """Frames of a sequence; they are numbered from 1. [default: 5]"""

class _Neovision2Parameters(_Options, total=False):
    overlap_threshold: float
    """Least overlap ratio of a match (section 3.1); boxes that overlap by more are merged in the detection-only score. [default: 0.2]"""
    region_share: float
    """Boxes with more than this fraction of their area in don't-care regions are removed (section 3.7). [default: 0.2]"""
    c_m: float
    """Cost of a missed detection (section 3.2, eq. 2). [default: 1.0]"""
    c_f: float
    """Cost of a false positive (section 3.2, eq. 2). [default: 1.0]"""
    confidence_threshold: float
    """Least confidence of a scored detection; curves have their own thresholds. [default: 0.0]"""
    frames: Literal['listed', 'all']
    """Evaluated frames: those that the truth lists, or all from 0 to the last listed one. [default: 'listed']"""
    merged_shape: Literal['box', 'union']
    """How the detection-only score merges overlapping boxes: into their enclosing box, or the union of their areas. [default: 'box']"""
    thresholds: Literal['ten', 'all']
    """Points of the ROC curve: the protocol's ten thresholds, or every confidence that occurs. [default: 'ten']"""
    az_limit: float
    """False positives per frame up to which the area under the ROC curve is taken. [default: 1.0]"""

class _SceneParameters(_Options, total=False):
    classes: Literal['separate', 'ignore']
    """Match within each class, or ignore classes and match everything. [default: 'separate']"""
    dont_care: Literal['standard', 'neovision2', 'coco', 'pycocotools', 'visdrone', 'motchallenge', 'kitti', 'mots']
    """Whose rule handles detections of objects and regions that are not scored. [default: 'standard']"""
    distractor_classes: Sequence[str] | NDArray[Any]
    """Labels whose objects are distractors, besides those of the rule and flagged ones. [default: ()]"""
    neighbour_classes: Sequence[str] | NDArray[Any]
    """Pairs such as Van=Car: objects of the first label are distractors of the second. [default: ()]"""
    match_unscored_classes: bool
    """Whether the matching that resolves don't-care beforehand includes truth of all labels. [default: False]"""
    ignored_objects: Literal['absorb', 'drop']
    """Whether ignored objects absorb their detections, or drop out so that these count. [default: 'absorb']"""
    maximum_truncation: float
    """Objects with a greater truncation are ignored; -1 for no limit. [default: -1.0]"""
    maximum_occlusion: float
    """Objects with a greater occlusion are ignored; -1 for no limit. [default: -1.0]"""
    minimum_visibility: float
    """Objects with a lower visibility are ignored. [default: 0.0]"""
    minimum_height_px: float
    """Objects with a lower height are ignored. [default: 0.0]"""
    forgiven_height_px: float
    """Unmatched detections at most this high are not counted; 0 for none. [default: 0.0]"""
    threshold_tolerance: float
    """How far a similarity may fall short of a threshold and still meet it, for rounding. [default: 1e-09]"""

class _CriterionParameters(_SceneParameters, total=False):
    base: Literal['iou', 'giou', 'polygon', 'mask', 'euclidean']
    """Similarity of two objects: IoU or GIoU of upright boxes, IoU of polygons (four corners) or of masks, or the distance of points. [default: 'iou']"""
    cutoff_px: float
    """Distance from which points have similarity 0 (base euclidean). [default: 10.0]"""

class _ExtendedParameters(_CriterionParameters, total=False):
    confidence_extended: bool
    """Whether the similarity of areas uses confidences (Algorithm 1). [default: False]"""

class _F1Parameters(_ExtendedParameters, total=False):
    threshold: float
    """Least similarity of a true positive. [default: 0.5]"""

class _RankingParameters(_SceneParameters, total=False):
    ties: Literal['step', 'row']
    """Whether equal confidences are one step of the curve, or are ranked by sequence, frame and row of the frame. [default: 'step']"""
    box_areas: Literal['corners', 'given']
    """Whether a box's area is that of its corners, or width times height if the format has these. [default: 'corners']"""

class _MeanAveragePrecisionParameters(_RankingParameters, total=False):
    base: Literal['iou', 'giou', 'polygon', 'mask', 'euclidean']
    """Similarity of two objects: IoU or GIoU of upright boxes, IoU of polygons (four corners) or of masks, or the distance of points. [default: 'iou']"""
    cutoff_px: float
    """Distance from which points have similarity 0 (base euclidean). [default: 10.0]"""
    thresholds: Sequence[float] | NDArray[Any]
    """Least similarities of a true positive; `ap` is the mean over them. [default: (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)]"""
    interpolation: Literal['all-point', '11-point', '11-point-voc', '11-point-numpy', '101-point']
    """Levels of recall at which precision is sampled: all, 11 or 101. [default: 'all-point']"""
    assignment: Literal['greedy', 'optimal', 'best']
    """Greedy by confidence, optimal on the confidence-extended similarity, or each detection's best object only, taken or not. [default: 'greedy']"""
    inclusive_pixels: bool
    """Whether boxes include their last pixels: 1 is added to widths and heights. [default: False]"""
    maximum_detections: int
    """Number of detections of a frame that are used, by `limit`; 0 for all. [default: 0]"""
    limit: Literal['class', 'frame']
    """Which detections of a frame come first: the most confident of each class, or its first rows (needs `ties=row`). [default: 'class']"""
    class_mean: Literal['classes', 'frames']
    """Whether a mean over classes counts each class once, or once for each frame with an object of it. [default: 'classes']"""

class _CocoParameters(_RankingParameters, total=False):
    dont_care: Literal['standard', 'neovision2', 'coco', 'pycocotools', 'visdrone', 'motchallenge', 'kitti', 'mots']
    """Whose rule handles detections of objects and regions that are not scored. [default: 'coco']"""
    base: Literal['iou', 'polygon', 'mask']
    """Similarity of two objects: IoU of upright boxes, of polygons (four corners), or of masks. [default: 'iou']"""
    thresholds: Sequence[float] | NDArray[Any]
    """Least IoU of a true positive; figures are means over them, `ap_50` and `ap_75` are null if 0.5 and 0.75 are not among them. [default: (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)]"""

class _LogAverageMissRateParameters(_CriterionParameters, total=False):
    threshold: float
    """Least similarity of a true positive. [default: 0.5]"""
    assignment: Literal['greedy', 'optimal', 'best']
    """Greedy by confidence, optimal on the confidence-extended similarity, or each detection's best object only, taken or not. [default: 'greedy']"""

class _DetectionErrorsParameters(_CriterionParameters, total=False):
    threshold: float
    """Least similarity of a true positive. [default: 0.5]"""
    background_threshold: float
    """A detection with a lower similarity to every object is a false alarm. [default: 0.1]"""
    interpolation: Literal['all-point', '11-point', '11-point-voc', '11-point-numpy', '101-point']
    """Levels of recall at which precision is sampled: all, 11 or 101. [default: '101-point']"""

class _SetDistanceParameters(_ExtendedParameters, total=False):
    frames: Literal['all', 'occupied']
    """Whether a mean is over all evaluated frames or, for each class, over those with an object or a detection. [default: 'all']"""

class _HausdorffParameters(_SetDistanceParameters, total=False):
    pass

class _EmdParameters(_SetDistanceParameters, total=False):
    order: float
    """Order p of the distance: with a larger p, the worst pairs weigh more. [default: 1.0]"""

class _OspaParameters(_SetDistanceParameters, total=False):
    cutoff: float
    """Cut-off c: a base distance counts as at most c, and a missing partner as c. [default: 1.0]"""
    order: float
    """Order p of the distance: with a larger p, the worst pairs weigh more. [default: 1.0]"""

class _ThresholdParameters(_CriterionParameters, total=False):
    threshold: float
    """Least similarity of a pair that counts. [default: 0.5]"""

class _ClearParameters(_ThresholdParameters, total=False):
    switch_rule: Literal['trackeval', 'motmetrics']
    """Whose rules decide which pairs stay matched, and define fragmentation and mostly tracked. [default: 'trackeval']"""

class _IdentityParameters(_ThresholdParameters, total=False):
    pass

class _HotaParameters(_CriterionParameters, total=False):
    thresholds: Sequence[float] | NDArray[Any]
    """Least similarities of a match; figures are means over them. [default: (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)]"""

class _TrackHausdorffParameters(_ExtendedParameters, total=False):
    pass

class _TrackEmdParameters(_ExtendedParameters, total=False):
    order: float
    """Order p of the distance: with a larger p, the worst pairs weigh more. [default: 1.0]"""

class _TrackOspaParameters(_ExtendedParameters, total=False):
    cutoff: float
    """Cut-off c: a base distance counts as at most c, and a missing partner as c. [default: 1.0]"""
    order: float
    """Order p of the distance: with a larger p, the worst pairs weigh more. [default: 1.0]"""

class _Ospa2Parameters(_SetDistanceParameters, total=False):
    window_frames: int
    """Evaluated frames that a window holds. [default: 25]"""
    cutoff: float
    """Cut-off c: a base distance counts as at most c, and a missing partner as c. [default: 1.0]"""
    order: float
    """Order p of the distance: with a larger p, the worst pairs weigh more. [default: 1.0]"""

@overload
def score(  # type: ignore[overload-overlap]
    evaluator: Literal["spotgeo"],
    truth: _Data,
    detections: _Data,
    **options: Unpack[_SpotGeoParameters],
) -> Report:
    """Score detections against truth."""

@overload
def score(  # type: ignore[overload-overlap]
    evaluator: Literal["neovision2"],
    truth: _Data,
    detections: _Data,
    **options: Unpack[_Neovision2Parameters],
) -> Report:
    """Score detections against truth."""

@overload
def score(  # type: ignore[overload-overlap]
    evaluator: Literal["f1"],
    truth: _Data,
    detections: _Data,
    **options: Unpack[_F1Parameters],
) -> Report:
    """Score detections against truth."""

@overload
def score(  # type: ignore[overload-overlap]
    evaluator: Literal["map"],
    truth: _Data,
    detections: _Data,
    **options: Unpack[_MeanAveragePrecisionParameters],
) -> Report:
    """Score detections against truth."""

@overload
def score(  # type: ignore[overload-overlap]
    evaluator: Literal["coco"],
    truth: _Data,
    detections: _Data,
    **options: Unpack[_CocoParameters],
) -> Report:
    """Score detections against truth."""

@overload
def score(  # type: ignore[overload-overlap]
    evaluator: Literal["log-amr"],
    truth: _Data,
    detections: _Data,
    **options: Unpack[_LogAverageMissRateParameters],
) -> Report:
    """Score detections against truth."""

@overload
def score(  # type: ignore[overload-overlap]
    evaluator: Literal["errors"],
    truth: _Data,
    detections: _Data,
    **options: Unpack[_DetectionErrorsParameters],
) -> Report:
    """Score detections against truth."""

@overload
def score(  # type: ignore[overload-overlap]
    evaluator: Literal["hausdorff"],
    truth: _Data,
    detections: _Data,
    **options: Unpack[_HausdorffParameters],
) -> Report:
    """Score detections against truth."""

@overload
def score(  # type: ignore[overload-overlap]
    evaluator: Literal["emd"],
    truth: _Data,
    detections: _Data,
    **options: Unpack[_EmdParameters],
) -> Report:
    """Score detections against truth."""

@overload
def score(  # type: ignore[overload-overlap]
    evaluator: Literal["ospa"],
    truth: _Data,
    detections: _Data,
    **options: Unpack[_OspaParameters],
) -> Report:
    """Score detections against truth."""

@overload
def score(  # type: ignore[overload-overlap]
    evaluator: Literal["clear"],
    truth: _Data,
    detections: _Data,
    **options: Unpack[_ClearParameters],
) -> Report:
    """Score detections against truth."""

@overload
def score(  # type: ignore[overload-overlap]
    evaluator: Literal["identity"],
    truth: _Data,
    detections: _Data,
    **options: Unpack[_IdentityParameters],
) -> Report:
    """Score detections against truth."""

@overload
def score(  # type: ignore[overload-overlap]
    evaluator: Literal["hota"],
    truth: _Data,
    detections: _Data,
    **options: Unpack[_HotaParameters],
) -> Report:
    """Score detections against truth."""

@overload
def score(  # type: ignore[overload-overlap]
    evaluator: Literal["track-hausdorff"],
    truth: _Data,
    detections: _Data,
    **options: Unpack[_TrackHausdorffParameters],
) -> Report:
    """Score detections against truth."""

@overload
def score(  # type: ignore[overload-overlap]
    evaluator: Literal["track-emd"],
    truth: _Data,
    detections: _Data,
    **options: Unpack[_TrackEmdParameters],
) -> Report:
    """Score detections against truth."""

@overload
def score(  # type: ignore[overload-overlap]
    evaluator: Literal["track-ospa"],
    truth: _Data,
    detections: _Data,
    **options: Unpack[_TrackOspaParameters],
) -> Report:
    """Score detections against truth."""

@overload
def score(  # type: ignore[overload-overlap]
    evaluator: Literal["ospa2"],
    truth: _Data,
    detections: _Data,
    **options: Unpack[_Ospa2Parameters],
) -> Report:
    """Score detections against truth."""

@overload
def score(  # type: ignore[overload-overlap]
    evaluator: Literal["coco-detection", "coco-segmentation", "dota", "visdrone-det", "voc2007", "voc2012"],
    truth: _Data,
    detections: _Data,
    **options: Unpack[_Options],
) -> Report:
    """Score detections against truth."""

@overload
def score(  # type: ignore[overload-overlap]
    evaluator: Literal["kitti-mots", "kitti-tracking", "mot15", "mot16", "mot17", "mot20", "mots", "visdrone-mot"],
    truth: _Data,
    detections: _Data,
    **options: Unpack[_Options],
) -> tuple[Report, ...]:
    """Score detections against truth."""

@overload
def score(  # type: ignore[overload-overlap]
    evaluator: str | EvaluatorSpec,
    truth: _Data,
    detections: _Data,
    **options: Unpack[_Options],
) -> Report | Any:
    """Score detections against truth."""

@overload
def score(
    evaluator: Sequence[str | EvaluatorSpec],
    truth: _Data,
    detections: _Data,
    **options: Unpack[_Options],
) -> list[Report]:
    """Score detections against truth."""
