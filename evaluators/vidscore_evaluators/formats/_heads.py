"""Formats that the first bytes of a file, or names in a folder, identify without other imports."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from vidscore_evaluators.formats._files import InputPath, is_folder, visible_entries
from vidscore_evaluators.formats._times import ARRIVAL, COLUMN

COCO, SPOTGEO, JSON_LINES = "coco-json", "spotgeo-json", "jsonl"
GENERIC, PARQUET, ARROW = "generic-csv", "parquet", "arrow"
"""Names of formats that other modules need."""

COCO_ARRAYS = ("videos", "images", "categories", "annotations")
COCO_HEAD = re.compile(
    rb'(?s)(?:\xef\xbb\xbf)?\s*(?:\{.*"(?:%s)"'
    % "|".join((*COCO_ARRAYS, "info", "licenses", "type")).encode()
    + rb'|\[.*(?:"image_id"|"file_name".*%s|%s.*"file_name"))'
    % ((rb'"(?:bbox|segmentation)"',) * 2)
)
"""An object with a key of COCO, or an array of results."""

SPOTGEO_HEAD = re.compile(
    rb"(?s)(?:\xef\xbb\xbf)?\s*\[\s*(?:\]|\Z"
    rb'|\{.*"(?:sequence_id|num_objects|object_coords)")'
)
"""An array; if not empty, of objects with a key of spotGEO."""

FRAME_KEYS = ("domain", "sequence", "frame", COLUMN, ARRIVAL, "flags", "objects")
"""Keys of a frame in JSON lines."""

JSON_LINES_HEAD = re.compile(
    rb'(?:\xef\xbb\xbf)?\s*\{\s*"(?:%s)"\s*:' % "|".join(FRAME_KEYS).encode()
)
"""An object whose first key is one of a frame's."""

PARQUET_HEAD, ARROW_FILE_HEAD = b"PAR1", b"ARROW1"
ARROW_STREAM_HEAD = re.compile(rb"\xff{4}..[\0-\x0f]\0", re.DOTALL)
"""The first message of a stream: a marker, and a moderate length of the schema."""

SUFFIXES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {PARQUET: (".parquet",), ARROW: (".arrow", ".feather", ".arrows")}
)
"""Suffixes of files with typed columns in folders; the first is recommended."""

PARTITIONED = ("domain", "sequence")
"""Columns that folder names may stand for."""

MOST_COLUMNS_DEEP = 8
"""Maximum depth of nested folders of columns."""

DATA = "a file or folder of annotations"


def is_empty_array(head: bytes) -> bool:
    """Whether a JSON file is an empty array."""
    return head.removeprefix(codecs.BOM_UTF8).split() in ([b"[]"], [b"[", b"]"])


def columns_of_folder(folder: InputPath) -> str | None:
    """The format of a folder that has only files of typed columns; None for any other folder.

    Folders of columns are recognised by their names, and only the first of them is opened.
    """
    entries = visible_entries(folder)
    names = [entry.name for entry in entries if not entry.name.startswith("_")]
    if not names:
        return None
    for format_name, suffixes in SUFFIXES.items():
        alone = all(name.endswith(suffixes) or stands_for_column(name) for name in names)
        if alone and holds_files(folder, suffixes):
            return format_name
    return None


def holds_files(folder: InputPath, suffixes: Sequence[str], depth: int = 0) -> bool:
    """Whether the first file in a folder, or in its folders of columns, has one of the suffixes."""
    if depth > MOST_COLUMNS_DEEP:  # links may form a cycle
        return False
    for entry in visible_entries(folder):
        if not is_folder(entry):
            if entry.suffix in suffixes:
                return True
        elif stands_for_column(entry.name) and holds_files(entry, suffixes, depth + 1):
            return True
    return False


def stands_for_column(folder_name: str) -> bool:
    """Whether a folder is named as engines name folders of any column."""
    name, equals, _ = folder_name.partition("=")
    return bool(equals) and name.isidentifier()
