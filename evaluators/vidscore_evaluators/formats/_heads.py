"""Formats that the first bytes of a file tell, so that the others need not be imported for it."""

from __future__ import annotations

import codecs
import re

from vidscore_evaluators.formats._times import ARRIVAL, COLUMN

COCO, SPOTGEO, JSON_LINES = "coco-json", "spotgeo-json", "jsonl"
GENERIC, PARQUET, ARROW = "generic-csv", "parquet", "arrow"
"""Names of formats that others have to know."""

COCO_ARRAYS = ("videos", "images", "categories", "annotations")
COCO_HEAD = re.compile(
    rb'(?s)(?:\xef\xbb\xbf)?\s*(?:\{.*"(?:%s)"'
    % "|".join((*COCO_ARRAYS, "info", "licenses", "type")).encode()
    + rb'|\[.*(?:"image_id"|"file_name".*"bbox"|"bbox".*"file_name"))'
)
"""An object with a key of COCO, or an array of results."""

SPOTGEO_HEAD = re.compile(rb"(?:\xef\xbb\xbf)?\s*\[\s*(?:[{\]]|\Z)")
"""An array, of objects if of anything."""

FRAME_KEYS = ("domain", "sequence", "frame", COLUMN, ARRIVAL, "flags", "objects")
"""Keys of a frame in JSON lines."""

JSON_LINES_HEAD = re.compile(
    rb'(?:\xef\xbb\xbf)?\s*\{\s*"(?:%s)"\s*:' % "|".join(FRAME_KEYS).encode()
)
"""An object whose first key is one of a frame's."""

PARQUET_HEAD, ARROW_FILE_HEAD = b"PAR1", b"ARROW1"
ARROW_STREAM_HEAD = re.compile(rb"\xff{4}..[\0-\x0f]\0", re.DOTALL)
"""The first message of a stream: a mark, and the length of what says the columns, no great one."""

DATA = "a file or folder of annotations"


def is_empty_array(head: bytes) -> bool:
    """Whether a JSON file is an array of nothing."""
    return head.removeprefix(codecs.BOM_UTF8).split() in ([b"[]"], [b"[", b"]"])
