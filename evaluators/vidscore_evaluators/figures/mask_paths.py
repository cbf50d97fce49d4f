"""Masks as SVG paths, kept short by integers and relative steps between corners."""

from __future__ import annotations

import numpy as np

from vidscore_evaluators.mask_outlines import column_pieces, mask_outlines
from vidscore_evaluators.masks import Masks

MOST_BYTES = 1 << 16
"""Upper bound on the length of all paths of a picture."""

MOST_PIECES = 200_000
"""Upper bound on the pieces of columns in the masks of a picture, from which its paths are made."""


def mask_paths(masks: Masks, scale: float) -> list[str] | None:
    """Paths around masks.

    Args:
        masks: The masks.
        scale: Units of the picture per pixel; corners are rounded to whole units.

    Returns:
        A path for each mask, empty if it has no pixels or covers no unit; None if they exceed the
        bounds of a picture.
    """
    boxes = masks.boxes()
    if len(masks.runs) / 2 + (boxes[:, 2] - boxes[:, 0]).sum() > MOST_PIECES:
        return None
    outlines = mask_outlines(column_pieces(masks))
    edges, loops = outlines.edges()
    corners = np.rint(edges * scale).astype(np.int64)
    steps = np.where(np.arange(len(edges)) % 2 == 0, corners[:, 2] - corners[:, 0],
                     corners[:, 3] - corners[:, 1])  # fmt: skip
    kept = np.flatnonzero(steps)
    if 2 * len(kept) > MOST_BYTES:
        return None
    texts = [
        f"{'hv'[row % 2]}{step}"
        for row, step in zip(kept.tolist(), steps[kept].tolist(), strict=True)
    ]
    paths = [""] * masks.count
    bounds = np.searchsorted(loops[kept], np.arange(len(outlines.masks) + 1)).tolist()
    begins = corners[outlines.starts[:-1], :2].tolist()
    for loop, (mask, (x, y)) in enumerate(zip(outlines.masks.tolist(), begins, strict=True)):
        # The last side is drawn by closing the path.
        sides = texts[bounds[loop] : bounds[loop + 1]][:-1]
        if sides:
            paths[mask] += f"M{x} {y}{''.join(sides)}z"
    return paths if sum(map(len, paths)) <= MOST_BYTES else None
