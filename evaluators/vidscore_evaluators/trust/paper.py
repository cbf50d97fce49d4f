"""The criteria that the paper compares, and the figures that it prints.

Source: the paper, Tables 2, 3 and 7 (ranking errors) and 4 and 6 (indicators). In the tests of
detection, with confidences, distances of sets are those of shapes extended by their confidence
(section 4.1). The paper does not say so, but its rows are reproduced in no other way. If everything
is certain, the extension changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from msgspec import Struct, field

BASES = ("iou", "giou")
"""Base similarities of boxes that the paper compares."""

OPTIMUM, M_PARTIAL, M_FULL = "optimum", "m_partial", "m_full"

Setting = float | str | None
"""A value of the swept parameter, name of an aggregate over values, or None if none is swept."""


class PaperCriterion(Struct, frozen=True):
    """A criterion of the paper, as an evaluator of this project.

    Attributes:
        evaluator: Name of the evaluator.
        measure: The measure that is the score.
        parameters: Parameters that differ from their defaults.
        swept: Parameter for the paper's threshold; None if there is none.
        by_cutoff: Whether that parameter is a cut-off c of distances, which corresponds to the
            threshold 1 - c (IoU) or 1 - 2 c (GIoU).
    """

    evaluator: str
    measure: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    swept: str | None = None
    by_cutoff: bool = False


_EXTENDED = {"confidence_extended": True}
_OPTIMAL = {"assignment": "optimal"}

_F1 = PaperCriterion("f1", "f1_class_mean", {}, "threshold")
_MAP = PaperCriterion("map", "ap", {}, "thresholds")
_LOG_AMR = PaperCriterion("log-amr", "log_amr", {}, "threshold")
_OSPA_C = PaperCriterion("ospa", "ospa", _EXTENDED, "cutoff", by_cutoff=True)
_SET_DISTANCES = {
    "ospa": PaperCriterion("ospa", "ospa", _EXTENDED),
    "ospa-c": _OSPA_C,
    "emd": PaperCriterion("emd", "emd", _EXTENDED),
    "hausdorff": PaperCriterion("hausdorff", "hausdorff", _EXTENDED),
}

CRITERIA: Mapping[str, Mapping[str, PaperCriterion]] = MappingProxyType(
    {
        "multiclass-detection": {
            "f1": _F1,
            "map": _MAP,
            "map-optimal": PaperCriterion("map", "ap", _OPTIMAL, "thresholds"),
            "log-amr": _LOG_AMR,
            "log-amr-optimal": PaperCriterion("log-amr", "log_amr", _OPTIMAL, "threshold"),
            **_SET_DISTANCES,
        },
        "singleclass-detection": {"f1": _F1, **_SET_DISTANCES},
        "tracking": {
            "mota": PaperCriterion("clear", "mota", {}, "threshold"),
            "idf1": PaperCriterion("identity", "idf1", {}, "threshold"),
            "hota": PaperCriterion("hota", "hota"),
            "ospa": PaperCriterion("track-ospa", "track_ospa"),
            "ospa-c": PaperCriterion("track-ospa", "track_ospa", {}, "cutoff", by_cutoff=True),
            "emd": PaperCriterion("track-emd", "track_emd"),
            "hausdorff": PaperCriterion("track-hausdorff", "track_hausdorff"),
        },
        "figure-3": {"f1": _F1, **_SET_DISTANCES},
        "figure-11": {"f1": _F1, **_SET_DISTANCES},
    }
)
"""The criteria of each sanity test, by their names in tables."""

Figures = tuple[float, float]
"""Mean and standard deviation."""


def _by_threshold(*figures: Figures) -> dict[tuple[str, Setting], Figures]:
    """Figures of the eight columns of Tables 2, 3 and 7."""
    columns: list[tuple[str, Setting]] = [
        *(("iou", setting) for setting in (0.5, OPTIMUM, M_PARTIAL, M_FULL)),
        *(("giou", setting) for setting in (0.0, OPTIMUM, M_PARTIAL, M_FULL)),
    ]
    return dict(zip(columns, figures, strict=True))


def _without(iou: Figures, giou: Figures) -> dict[tuple[str, Setting], Figures]:
    """Figures of a criterion without a threshold."""
    return {("iou", None): iou, ("giou", None): giou}


_ERRORS: Mapping[str, Mapping[str, Mapping[tuple[str, Setting], Figures]]] = {
    "singleclass-detection": {
        "f1": _by_threshold(
            (10.0, 8.82), (7.33, 5.17), (6.68, 9.39), (2.15, 1.51),
            (7.89, 3.05), (7.69, 4.90), (7.49, 9.36), (2.17, 1.36),
        ),
        "ospa-c": _by_threshold(
            (5.19, 6.12), (1.97, 1.48), (5.69, 5.81), (2.37, 1.67),
            (2.38, 1.67), (2.18, 1.51), (6.18, 5.52), (2.18, 1.48),
        ),
        "hausdorff": _without((17.8, 9.87), (22.4, 11.1)),
        "emd": _without((3.88, 1.96), (5.16, 3.03)),
        "ospa": _without((1.97, 1.48), (2.22, 1.43)),
    },
    "multiclass-detection": {
        "map": _by_threshold(
            (10.0, 8.90), (7.08, 5.56), (7.52, 8.71), (3.62, 2.65),
            (9.41, 3.81), (7.39, 5.51), (8.27, 8.71), (4.86, 3.00),
        ),
        "map-optimal": _by_threshold(
            (9.16, 9.23), (5.36, 5.76), (6.34, 8.80), (2.31, 1.75),
            (10.4, 9.50), (5.45, 5.52), (6.87, 9.17), (3.23, 4.56),
        ),
        "log-amr": _by_threshold(
            (9.91, 5.97), (8.42, 5.29), (6.75, 3.42), (4.31, 2.30),
            (16.5, 6.57), (8.80, 5.46), (7.33, 3.69), (4.95, 2.83),
        ),
        "log-amr-optimal": _by_threshold(
            (8.64, 5.31), (6.72, 4.55), (5.64, 2.61), (3.36, 1.55),
            (9.30, 5.33), (6.78, 4.58), (5.89, 2.70), (3.73, 1.81),
        ),
        "ospa-c": _by_threshold(
            (4.38, 5.72), (1.84, 1.60), (4.56, 5.37), (2.06, 1.64),
            (2.27, 2.65), (1.86, 1.63), (4.78, 5.21), (1.97, 1.68),
        ),
        "hausdorff": _without((5.43, 2.71), (6.39, 2.88)),
        "emd": _without((2.80, 1.83), (3.50, 2.26)),
        "ospa": _without((1.86, 1.64), (2.41, 1.90)),
    },
    "tracking": {
        "mota": _by_threshold(
            (5.18, 5.51), (1.42, 1.60), (7.64, 7.74), (3.26, 3.90),
            (2.20, 2.28), (1.00, 1.39), (8.46, 8.22), (0.872, 0.806),
        ),
        "idf1": _by_threshold(
            (3.47, 3.51), (1.84, 1.63), (3.04, 3.00), (1.38, 1.54),
            (2.82, 2.47), (1.24, 1.68), (3.93, 3.62), (0.676, 0.920),
        ),
        # The evaluator's HOTA is the mean over all thresholds but the extremes: M-full.
        "hota": _without((1.45, 1.63), (1.02, 1.26)),
        "ospa-c": _by_threshold(
            (0.869, 0.800), (0.518, 0.580), (0.942, 0.843), (0.660, 0.682),
            (0.675, 0.670), (0.529, 0.567), (1.00, 0.872), (0.558, 0.585),
        ),
        "hausdorff": _without((12.0, 9.64), (10.6, 5.27)),
        "emd": _without((3.53, 2.38), (5.80, 3.29)),
        "ospa": _without((0.518, 0.580), (0.539, 0.577)),
    },
}  # fmt: skip

_INDICATORS: Mapping[str, Mapping[str, Mapping[str, tuple[Figures, Figures, Figures]]]] = {
    "singleclass-detection": {
        "f1": {
            "iou": ((7.73, 1.08), (3.43, 0.670), (4.33, 1.22)),
            "giou": ((8.98, 1.10), (2.91, 0.499), (3.69, 0.665)),
        },
        "ospa-c": {
            "iou": ((5.17, 1.44), (2.94, 0.745), (2.14, 1.46)),
            "giou": ((5.39, 1.56), (2.22, 0.630), (1.12, 0.793)),
        },
    },
    "multiclass-detection": {
        "map": {
            "iou": ((8.13, 1.20), (3.53, 0.664), (4.38, 1.42)),
            "giou": ((10.0, 1.31), (3.19, 0.534), (3.86, 1.13)),
        },
        "map-optimal": {
            "iou": ((7.37, 1.52), (3.18, 0.816), (3.88, 1.65)),
            "giou": ((9.01, 1.66), (2.82, 0.657), (3.39, 1.20)),
        },
        "log-amr": {
            "iou": ((7.89, 1.09), (3.25, 0.602), (4.18, 1.48)),
            "giou": ((10.4, 1.48), (3.27, 0.588), (4.12, 1.40)),
        },
        "log-amr-optimal": {
            "iou": ((6.96, 1.30), (2.73, 0.698), (3.52, 1.64)),
            "giou": ((9.07, 1.66), (2.70, 0.650), (3.47, 1.40)),
        },
        "ospa-c": {
            "iou": ((4.28, 1.70), (2.54, 0.855), (1.74, 1.59)),
            "giou": ((4.51, 1.97), (1.93, 0.739), (0.952, 0.980)),
        },
    },
    "tracking": {
        "mota": {
            "iou": ((2.65, 1.23), (1.14, 0.719), (0.733, 0.290)),
            "giou": ((3.31, 1.41), (1.13, 0.664), (0.546, 0.183)),
        },
        "idf1": {
            "iou": ((3.87, 1.28), (2.15, 0.633), (1.46, 0.718)),
            "giou": ((4.53, 1.37), (1.72, 0.492), (0.902, 0.380)),
        },
        "ospa-c": {
            "iou": ((1.64, 0.485), (1.56, 0.232), (0.479, 0.162)),
            "giou": ((1.68, 0.501), (1.13, 0.169), (0.247, 0.0834)),
        },
    },
}

NOT_REPRODUCED: Mapping[str, str] = MappingProxyType(
    {
        "singleclass-detection": "the single-class rows of the paper come out in no reading of "
        "its text that was tried",
        "tracking": "the tracking rows of the paper come out in no reading of its text that was "
        "tried",
    }
)
"""Tests whose printed figures cannot be reproduced from the text."""


def paper_error(test: str, criterion: str, base: str | None, setting: Setting) -> Figures | None:
    """Mean and standard deviation of a ranking error in units of 1e-2, if the paper has it."""
    return _ERRORS.get(test, {}).get(criterion, {}).get((base or "", setting))


def paper_indicators(
    test: str, criterion: str, base: str | None
) -> tuple[Figures, Figures, Figures] | None:
    """R_S, R_std and R_Sen, if the paper has them."""
    return _INDICATORS.get(test, {}).get(criterion, {}).get(base or "")
