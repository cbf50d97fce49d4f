"""Code shared by the two text formats of VisDrone: classes, and columns from the box on.

Source: the readmes of VisDrone2018-DET-toolkit 1.0.4 and VisDrone2018-MOT-toolkit (P. Zhu et al.,
"Vision Meets Drones"). Their rows end with
``left,top,width,height,score,class,truncation,occlusion``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from vidscore_evaluators.annotations import Annotations, Side
from vidscore_evaluators.arrays import BoolArray, FloatArray, IntArray
from vidscore_evaluators.formats._format import labels_of_objects, refuse_values
from vidscore_evaluators.formats._table import RowChecks, RowTable, parse_integer
from vidscore_evaluators.names import counted

DEGREES = ("truncation", "occlusion")
_DEGREES = (0.0, 1.0, 2.0)
COLUMNS = ("left", "top", "width", "height", "score", "class", *DEGREES)
CLASSES = (
    *("ignored-regions", "pedestrian", "people", "bicycle", "car", "van", "truck"),
    *("tricycle", "awning-tricycle", "bus", "motor", "others"),
)
"""Names of the classes by number from 0, as in the toolkits' readmes."""

REGION = 0
"""Number of the class of ignored regions."""


def are_class_and_degrees(fields: Sequence[str]) -> bool:
    """Whether the last three values of a row are a class and two degrees."""
    label, *degrees = (parse_integer(field) for field in fields)
    return (
        label is not None
        and 0 <= label < len(CLASSES)
        and all(degree in (-1, 0, 1, 2) for degree in degrees)
    )


def check_objects(checks: RowChecks, table: RowTable, side: Side) -> None:
    """Refuse rows whose box, score or class is invalid."""
    numbers = table.numbers
    checks.require_coordinates(("left", "top"))
    checks.require_sizes()
    classes = table.integers["class"]
    known = (classes >= 0) & (classes < len(CLASSES))
    checks.refuse(~known, "class", classes, f"the number of a class, 0 to {len(CLASSES) - 1}")
    if side is Side.DETECTIONS:
        checks.require_finite("score")
    else:
        scores = numbers["score"]
        checks.refuse(~np.isin(scores, (0.0, 1.0)), "score", scores, "1, or 0 (ignored)")


def degrees_of(table: RowTable) -> dict[str, FloatArray]:
    """Truncation and occlusion, NaN if unknown."""
    columns = {name: table.numbers[name] for name in DEGREES}
    return {name: np.where(column == -1.0, np.nan, column) for name, column in columns.items()}


def written_degrees(annotations: Annotations) -> list[FloatArray]:
    """(N,) truncation and (N,) occlusion, -1 if unknown or not a degree of VisDrone."""
    unknown = np.full(annotations.object_count, np.nan)
    columns = (annotations.columns.get(name, unknown) for name in DEGREES)
    return [np.where(np.isin(column, _DEGREES), column, -1.0) for column in columns]


def degree_remarks(annotations: Annotations) -> Iterator[str]:
    """Remark on values of truncation and occlusion unknown to VisDrone, such as KITTI's 3."""
    for name in DEGREES:
        column = annotations.columns.get(name, np.zeros(0))
        count = int((~np.isin(column, _DEGREES) & ~np.isnan(column)).sum())
        if count:
            yield f"{counted(count, 'value')} of the column {name} not written: not 0, 1 or 2"


def written_classes(annotations: Annotations, regions: BoolArray) -> IntArray:
    """(N,) number of each object's class.

    Args:
        annotations: One side.
        regions: (N,) whether each object is written as an ignored region, whatever its label.

    Raises:
        InputError: If a class has no number.
    """
    labels = labels_of_objects(annotations)
    place = {name: number for number, name in enumerate(CLASSES)}
    classes = np.array([place.get(label, -1) for label in labels], dtype=np.int64)
    classes = np.where(regions, REGION, classes)
    refuse_values(classes < 0, labels, "class", "a class of VisDrone: " + ", ".join(CLASSES))
    return classes
