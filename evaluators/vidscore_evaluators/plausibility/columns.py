"""Names of columns that look like known ones under another name."""

from __future__ import annotations

import re
from collections.abc import Iterable

_MEANINGS = {
    "confidence": ("score", "scores", "conf", "confidence", "prob", "probability", "logit"),
    "class": ("label", "labels", "category", "cls", "class"),
    "track": ("track", "tracklet", "id"),
    "x1, y1, x2, y2": (
        *("w", "h", "width", "height", "left", "top", "right", "bottom"),
        *("xmin", "ymin", "xmax", "ymax", "cx", "cy", "xc", "yc", "bbox", "box"),
    ),
}
_MEANING_OF = {word: meaning for meaning, words in _MEANINGS.items() for word in words}
_SIZES = {"w": "h", "width": "height", "bbox_w": "bbox_h", "bbox_width": "bbox_height"}


def resembles_known_column(name: str) -> bool:
    """Whether an unknown column may hold what a known one is for, under another name."""
    return bool(known_column(name))


def known_column(name: str) -> str:
    """The known column or columns that an unknown one resembles; empty where it resembles none.

    ``detection_score`` resembles ``confidence``; ``area`` and ``image_width`` nothing.
    """
    words = re.sub(r"([a-z])([A-Z])", r"\1_\2", name).casefold()
    parts = [part for part in re.split(r"[^a-z]+", words) if part]
    if not parts or parts[0] in ("image", "img", "frame"):
        return ""
    return next((_MEANING_OF[part] for part in reversed(parts) if part in _MEANING_OF), "")


def size_columns(names: Iterable[str]) -> tuple[str, ...]:
    """The columns that hold width and height of boxes; none where they are not both there."""
    folded = {name.casefold(): name for name in names}
    for pair in _SIZES.items():
        if folded.keys() >= set(pair):
            return tuple(folded[name] for name in pair)
    return ()
