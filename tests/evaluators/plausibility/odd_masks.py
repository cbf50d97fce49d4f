"""COCO files in which every mask gives a warning: one empty, one full, and one beside its box."""

from __future__ import annotations

import json

ODD = (
    "masks of {side} have no pixel",
    "masks of {side} have every pixel of their image",
    "boxes of {side} and the masks that come with them hardly overlap",
)
"""The warnings about a side with such masks."""

_OBJECTS = [
    {"bbox": [1, 2, 2, 2], "segmentation": {"size": [6, 8], "counts": [48]}},
    {"bbox": [0, 0, 8, 6], "segmentation": {"size": [6, 8], "counts": [0, 48]}},
    {"bbox": [5, 0, 2, 2], "segmentation": {"size": [6, 8], "counts": [8, 2, 4, 2, 32]}},
]
_COMMON = {"image_id": 1, "category_id": 1}

ODD_RESULTS = json.dumps(
    [{**_COMMON, **entry, "score": 0.25 * row} for row, entry in enumerate(_OBJECTS, 1)]
)
ODD_TRUTH = json.dumps(
    {
        "images": [{"id": 1, "width": 8, "height": 6}],
        "categories": [{"id": 1, "name": "car"}],
        "annotations": [{"id": row, **_COMMON, **entry} for row, entry in enumerate(_OBJECTS, 1)],
    }
)
