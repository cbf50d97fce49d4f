"""What a file is that is of no known format, by its first bytes: the nearest format, or a sentence.

The nearest format's reader then says what is wrong, with its place; where no format is near, the
sentence says what the file is instead.
"""

from __future__ import annotations

import codecs
import csv
import re
from dataclasses import dataclass
from types import MappingProxyType

from vidscore_evaluators.formats import (
    coco_json,
    generic_csv,
    kitti,
    motchallenge,
    spotgeo_json,
    yolo,
)
from vidscore_evaluators.formats.fault_list import show_text
from vidscore_evaluators.formats.texts import read_number, read_whole


@dataclass(frozen=True)
class Unknown:
    """What is no data.

    Attributes:
        found: What it is, in words.
        advice: What to do.
    """

    found: str
    advice: str


_PACKED = "unpack it, or pack it as zip or gzip"
_ANNOTATIONS = "give the annotations, not the images"
_KINDS = MappingProxyType(
    {
        b"\xff\xd8\xff": Unknown("a JPEG image", _ANNOTATIONS),
        b"\x89PNG": Unknown("a PNG image", _ANNOTATIONS),
        b"GIF8": Unknown("a GIF image", _ANNOTATIONS),
        b"BM": Unknown("a bitmap image", _ANNOTATIONS),
        b"II*\0": Unknown("a TIFF image", _ANNOTATIONS),
        b"%PDF": Unknown("a PDF document", "give CSV, JSON or text"),
        b"PAR1": Unknown("a Parquet file", "write it as CSV"),
        b"\x93NUMPY": Unknown("a numpy array", "pass arrays to the library, or write CSV"),
        b"\x89HDF": Unknown("an HDF5 file", "write it as CSV"),
        b"SQLite format 3": Unknown("an SQLite database", "write it as CSV"),
        b"BZh": Unknown("a file packed with bzip2", _PACKED),
        b"\xfd7zXZ": Unknown("a file packed with xz", _PACKED),
        b"\x28\xb5\x2f\xfd": Unknown("a file packed with zstd", _PACKED),
        b"7z\xbc\xaf": Unknown("a 7z archive", _PACKED),
        b"Rar!": Unknown("a RAR archive", _PACKED),
        b"PK\x03\x04": Unknown("a zip within an archive", "unpack the inner one first"),
        b"\x1f\x8b": Unknown("a gzip file within an archive", "unpack the inner one first"),
        codecs.BOM_UTF16_LE: Unknown("text in UTF-16", "save it as UTF-8"),
        codecs.BOM_UTF16_BE: Unknown("text in UTF-16", "save it as UTF-8"),
        b"<": Unknown("an XML document", "write it as COCO JSON or generic CSV"),
    }
)
"""What files are that begin like this."""

EMPTY = Unknown("an empty file", "if nothing was detected, say so with --input-format")
POLYGONS = Unknown(
    "rows of polygons, as YOLO has them for segmentation",
    "write boxes: class, centre, width and height",
)
KITTI_OBJECTS = Unknown(
    "rows of KITTI's object detection, which name no frame",
    "rows of kitti-tracking begin with frame and track id",
)
ONE_YOLO_FILE = Unknown("one file of YOLO text", "give the folder that holds a file for each image")

TOML = Unknown("a TOML document", "give a manifest with --manifest")

_TOML_TABLE = re.compile(r"\[+[ \t]*[A-Za-z_][\w.-]*[ \t]*\]+")
_TAR = b"ustar"
_TAR_AT = 257
_COLUMN_NAME = re.compile(r'[ \t]*"?[^\W\d][\w./-]{0,40}( [\w./()-]{1,40})?"?[ \t]*')
_NO_NUMBERS = ("", "nan", "inf", "-inf", "+inf")
_MOT_COLUMNS = range(6, 13)


def is_empty_array(head: bytes) -> bool:
    """Whether a JSON file is an array of nothing."""
    return head.removeprefix(codecs.BOM_UTF8).split() in ([b"[]"], [b"[", b"]"])


def guess(head: bytes) -> str | Unknown:
    """Name of the nearest format of a file that is of none, or what it is.

    Args:
        head: Its first bytes.
    """
    known = next((kind for mark, kind in _KINDS.items() if head.startswith(mark)), None)
    if known is not None:
        return known
    if head[_TAR_AT:].startswith(_TAR):
        return Unknown("a tar archive", _PACKED)
    if b"\0" in head:
        return Unknown("a file that is no text", "give CSV, JSON or text")
    lines = head.decode("utf-8-sig", errors="replace").splitlines()
    line = next((line for line in lines if line.strip()), "")
    if not line:
        return EMPTY
    if line.lstrip().startswith("{"):
        return coco_json.NAME
    if line.startswith("["):
        return TOML if _TOML_TABLE.match(line) else spotgeo_json.NAME
    return _guess_rows(line)


def _guess_rows(line: str) -> str | Unknown:
    values, words = line.split(","), line.split()
    if len(values) > 1 and all(map(_like_number, values)):
        is_mot = len(values) in _MOT_COLUMNS and read_whole(values[0]) is not None
        return motchallenge.NAME if is_mot else generic_csv.NAME
    if len(words) > 1 and "," not in line and ";" not in line:
        found = _guess_words(words)
        if found is not None:
            return found
    names = next(csv.reader([re.sub("[;\t]", ",", line)]), [])
    if len(names) > 1 and all(map(_COLUMN_NAME.fullmatch, names)):
        return generic_csv.NAME
    if len(names) > 2 and any(read_number(name) is not None for name in names):
        return generic_csv.NAME  # without a header
    return Unknown(f"text that is no data, beginning with {show_text(line.strip())}", "")


def _guess_words(words: list[str]) -> str | Unknown | None:
    """The same of values between blanks; None where they are none."""
    if len(words) in (15, 16) and not _like_number(words[0]):
        return KITTI_OBJECTS if all(map(_like_number, words[1:])) else None
    if len(words) in (17, 18) and not _like_number(words[2]):
        return kitti.NAME if all(map(_like_number, (*words[:2], *words[3:]))) else None
    if not all(map(_like_number, words)):
        return None
    numbers = [read_number(word) for word in words[1:]]
    parts = all(number is not None and 0.0 <= number <= 1.0 for number in numbers)
    if parts and len(words) >= 7 and len(words) % 2 == 1:
        return POLYGONS
    if len(words) in _MOT_COLUMNS and not parts and len(words) > 6:
        return motchallenge.NAME
    return yolo.NAME if 4 <= len(words) <= len(yolo.COLUMNS) + 1 else None


def _like_number(field: str) -> bool:
    return read_number(field) is not None or field.strip().casefold() in _NO_NUMBERS
