"""Scenes whose distances can be told by hand: the paper's Figs. 3 and 11.

In the scenes of Fig. 3, A finds three objects with an IoU of 0.75 each, B one with an IoU of 0.3,
and C is B with a spurious detection. In scenario k of Fig. 11, 2^k squares of 10 px are each found
2^(-k/2) px too far to the left; scenario 10 is the best. Reading of this project: the boxes of
Fig. 3 are squares of 10 px, and detections share their left edge and height.
"""

from __future__ import annotations

import numpy as np

from vidscore_evaluators.arrays import FloatArray
from vidscore_evaluators.trust.sanity.families import (
    CLASS_NAMES,
    Draw,
    Family,
    Objects,
    Scene,
    as_annotations,
)

SIDE_PX = 10.0
SPACING_PX = 40.0
SCENARIOS = range(1, 11)


def draw_figure_3(draw: Draw) -> Family:
    """Scenes A, B and C of Fig. 3; there is nothing to draw."""
    del draw
    three, one = _squares(3), _squares(1)
    spurious = one + SPACING_PX * np.array([[1.0, 0.0, 1.0, 0.0]])
    return Family(
        (
            _scene(three, _narrowed(three, 0.75)),
            _scene(one, _narrowed(one, 0.3)),
            _scene(one, np.vstack([_narrowed(one, 0.3), spurious])),
        )
    )


def draw_figure_11(draw: Draw) -> Family:
    """Scenarios 10 to 1 of Fig. 11; there is nothing to draw."""
    del draw
    return Family(tuple(_scenario(number) for number in reversed(SCENARIOS)))


def _scenario(number: int) -> Scene:
    squares = _squares(2**number)
    shift = np.array([[1.0, 0.0, 1.0, 0.0]]) * 2.0 ** (-number / 2)
    return _scene(squares, squares - shift)


def _squares(count: int) -> FloatArray:
    """(count, 4) squares in a row."""
    left = SPACING_PX * np.arange(count, dtype=np.float64)
    bottom = np.zeros(count)
    return np.column_stack([left, bottom, left + SIDE_PX, bottom + SIDE_PX])


def _narrowed(boxes: FloatArray, share: float) -> FloatArray:
    """The same boxes with a share of their width, which is then their IoU."""
    narrowed = boxes.copy()
    narrowed[:, 2] = boxes[:, 0] + share * SIDE_PX
    return narrowed


def _scene(truth: FloatArray, predictions: FloatArray) -> Scene:
    one, other = (
        as_annotations(
            Objects(
                centres=(boxes[:, :2] + boxes[:, 2:]) / 2,
                sizes=boxes[:, 2:] - boxes[:, :2],
                classes=np.zeros(len(boxes), dtype=np.int64),
                confidences=np.ones(len(boxes)),
            ),
            np.zeros(len(boxes), dtype=np.int64),
            1,
            CLASS_NAMES[:1],
        )
        for boxes in (truth, predictions)
    )
    return one, other
