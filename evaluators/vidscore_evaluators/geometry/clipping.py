"""Quadrilaterals clipped by upright boxes: areas in closed form, item by item."""

from __future__ import annotations

import numpy as np

from vidscore_evaluators.arrays import FloatArray


def clipped_areas(corners: FloatArray, boxes: FloatArray) -> FloatArray:
    """Area that each quadrilateral shares with a box.

    The area under a side, within the box, is the integral of the side's height cut to the box's;
    the signed sum over the four sides is what the quadrilateral encloses there (Green's theorem).

    Args:
        corners: (P, 8) corners x1, y1, ..., x4, y4 along the outline, of which no sides cross.
        boxes: (P, 4) upright boxes.

    Returns:
        (P,) areas, in square pixels.
    """
    areas = np.zeros(len(boxes))
    for index in range(0, 8, 2):
        start, end = corners[:, index : index + 2].T, corners[:, [index + 2 - 8, index + 3 - 8]].T
        areas += _areas_under(start, end, boxes.T)
    return np.abs(areas)


def _areas_under(start: FloatArray, end: FloatArray, boxes: FloatArray) -> FloatArray:
    """Signed areas between the lower edges of boxes and sides from start to end.

    Args:
        start: (2, P) x and y.
        end: (2, P) x and y.
        boxes: (4, P) boxes, x1, y1, x2, y2.
    """
    left, low, right, high = boxes
    first_x, last_x = np.clip(start[0], left, right), np.clip(end[0], left, right)
    run, fall = end - start
    # Shares of the way; where the side lies beside the box nothing is under it, whatever they are.
    first_y = start[1] + np.clip(_ratios(first_x - start[0], run), 0.0, 1.0) * fall
    last_y = start[1] + np.clip(_ratios(last_x - start[0], run), 0.0, 1.0) * fall
    # Between these shares of the way the side is inside the box's height, outside it is cut.
    rise = last_y - first_y
    crossings = [np.clip(_ratios(level - first_y, rise), 0.0, 1.0) for level in (low, high)]
    enter, leave = np.minimum(*crossings), np.maximum(*crossings)
    first, last = np.clip(first_y, low, high) - low, np.clip(last_y, low, high) - low
    mean_heights = enter * first + (leave - enter) * (first + last) / 2 + (1.0 - leave) * last
    areas: FloatArray = (last_x - first_x) * mean_heights
    return areas


def _ratios(dividends: FloatArray, divisors: FloatArray) -> FloatArray:
    """Quotients; 0 where the divisor is, so that a flat or an upright side has no crossing."""
    quotients = np.zeros(dividends.shape)
    with np.errstate(over="ignore"):  # a side may be all but flat
        return np.divide(dividends, divisors, out=quotients, where=divisors != 0.0)
