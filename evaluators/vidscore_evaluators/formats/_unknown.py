"""Paths of no known format: the most similar format, or what they are instead.

The reader of that format then reports what is wrong, with its place.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Callable, Sequence
from types import MappingProxyType

from msgspec import Struct

from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats import coco, generic, kitti, mot, neovision2, spotgeo, yolo
from vidscore_evaluators.formats._files import (
    InputPath,
    is_folder,
    read_head,
    text_files,
    visible_entries,
)
from vidscore_evaluators.formats._heads import DATA
from vidscore_evaluators.formats._table import parse_integer, parse_number
from vidscore_evaluators.formats.source import listed_names, show_text


class Unknown(Struct, frozen=True):
    """A file of an unsupported kind.

    Attributes:
        found: Its kind, in words.
        advice: Advice.
    """

    found: str
    advice: str


_NEIGHBOURS = 100
"""Maximum number of entries of a folder that are examined to find the one that was meant."""

_PACKED = "unpack it, or pack it as zip or gzip"
_ANNOTATIONS = "give the annotations, not the images"
_SIGNATURES = MappingProxyType(
    {
        b"\xff\xd8\xff": Unknown("a JPEG image", _ANNOTATIONS),
        b"\x89PNG": Unknown("a PNG image", _ANNOTATIONS),
        b"GIF8": Unknown("a GIF image", _ANNOTATIONS),
        b"BM": Unknown("a bitmap image", _ANNOTATIONS),
        b"II*\0": Unknown("a TIFF image", _ANNOTATIONS),
        b"%PDF": Unknown("a PDF document", "give CSV, JSON or text"),
        b"\x93NUMPY": Unknown("a numpy array", "pass arrays to the library, or write CSV"),
        b"\x89HDF": Unknown("an HDF5 file", "write it as CSV"),
        b"SQLite format 3": Unknown("an SQLite database", "write it as CSV"),
        b"BZh": Unknown("a file packed with bzip2", _PACKED),
        b"\xfd7zXZ": Unknown("a file packed with xz", _PACKED),
        b"\x28\xb5\x2f\xfd": Unknown("a file packed with zstd", _PACKED),
        b"7z\xbc\xaf": Unknown("a 7z archive", _PACKED),
        b"Rar!": Unknown("a RAR archive", _PACKED),
        b"PK\x03\x04": Unknown("a zip within a folder or an archive", "unpack it first"),
        b"\x1f\x8b": Unknown("a gzip file within a folder or an archive", "unpack it first"),
        codecs.BOM_UTF16_LE: Unknown("text in UTF-16", "save it as UTF-8"),
        codecs.BOM_UTF16_BE: Unknown("text in UTF-16", "save it as UTF-8"),
        b"<": Unknown("an XML document", "write it as COCO JSON or generic CSV"),
    }
)
"""Other kinds of files, by their first bytes."""

EMPTY = Unknown("an empty file", "if that is right, name its format with --input-format")
POLYGONS = Unknown(
    "rows of polygons, as YOLO has them for segmentation",
    "write boxes: class, centre, width and height",
)
TRACKED_YOLO = Unknown(
    "rows of YOLO boxes with a confidence and a track id",
    "write boxes: class, centre, width, height and confidence",
)
KITTI_OBJECTS = Unknown(
    "rows of KITTI's object detection, which name no frame",
    "rows of kitti-tracking begin with frame and track id",
)
ONE_YOLO_FILE = Unknown("one file of YOLO text", "give the folder that holds a file for each image")

TOML = Unknown("a TOML document", "give a manifest with --manifest")

_TOML_TABLE = re.compile(r"\[+[ \t]*[A-Za-z_][\w.-]*[ \t]*\]+")
_SEPARATOR = re.compile(r'"?(sep=.)"?[ \t]*\Z', re.IGNORECASE)
"""The line by which a spreadsheet learns what separates columns."""

_KEY = re.compile(rb'"([\w .-]{1,40})"\s*:')
_MOST_KEYS = 5
_TAR = b"ustar"
_TAR_AT = 257
_COLUMN_NAME = re.compile(r'[ \t]*"?[^\W\d][\w./-]{0,40}( [\w./()-]{1,40})?"?[ \t]*')
_NO_NUMBERS = ("", "nan", "inf", "-inf", "+inf")
_MOT_COLUMNS = range(6, 13)


def nearest_format(
    path: InputPath,
    formats: Sequence[str],
    recognise: Callable[[InputPath], str | None],
) -> str:
    """Name of the format that is most similar to a path of no format.

    Args:
        path: File or folder.
        formats: Names of all formats.
        recognise: Returns the name of the format of another path, None if it has none.

    Raises:
        InputError: If no format is similar; the text says what is there instead.
    """
    if is_folder(path):
        return _nearest_of_folder(path, formats, recognise)
    head = read_head(path, DATA)
    guess = guess_file(head)
    if isinstance(guess, str) and neovision2.looks_like_header(head):
        root = path.absolute().parent.parent
        guess = Unknown("one CSV file of Neovision2", f"give the folder {root}")
    if guess == yolo.NAME:
        guess = ONE_YOLO_FILE
    if isinstance(guess, Unknown):
        raise _error(guess, path, formats)
    return guess


def _nearest_of_folder(
    path: InputPath,
    formats: Sequence[str],
    recognise: Callable[[InputPath], str | None],
) -> str:
    entries = visible_entries(path)
    heads = ((file, read_head(file, DATA)) for file in text_files(path))
    text, head = next(((file, head) for file, head in heads if head.strip()), (None, b""))
    guess = None if text is None else guess_file(head)
    if isinstance(guess, str) and guess in (mot.NAME, kitti.NAME, yolo.NAME):
        return guess
    if not entries:
        raise InputError([Fault("an empty folder", "", source=str(path))])
    meant = meant_within(path, recognise)
    if meant is None and text is not None and guess in (POLYGONS, TRACKED_YOLO, KITTI_OBJECTS):
        raise _error(guess, text, formats)
    advice = meant or "give the file or folder of annotations itself"
    found = "a folder of no known format"
    raise InputError([Fault(found, "", source=str(path), advice=advice)])


def meant_within(path: InputPath, recognise: Callable[[InputPath], str | None]) -> str | None:
    """The file or folder that may have been meant by the folder that contains it.

    Args:
        path: The folder.
        recognise: Returns the name of the format of an entry, None if it has none.
    """
    entries = visible_entries(path)[:_NEIGHBOURS]
    found = []
    for entry in entries:
        try:
            found.append((entry, recognise(entry)))
        except InputError:  # unreadable, but not what was asked for
            continue
    known = [(entry, name) for entry, name in found if name is not None]
    if len(known) == 1:
        entry, name = known[0]
        return f"did you mean {entry}, which looks like {name}?"
    if known:
        return f"did you mean one of {listed_names([str(entry) for entry, _ in known])}?"
    tables = (entry for entry in entries if entry.suffix.lower() == ".csv")
    if any(
        not is_folder(table) and neovision2.looks_like_header(read_head(table, DATA))
        for table in tables
    ):
        return f"it is one domain of Neovision2: give the folder {path.absolute().parent}"
    return None


def advice_on(path: InputPath, recognise: Callable[[InputPath], str | None]) -> str:
    """Advice about a path that is not of the requested format; empty if there is none.

    Args:
        path: File or folder.
        recognise: Returns the name of the format of an entry, None if it has none.
    """
    if is_folder(path):
        return meant_within(path, recognise) or ""
    kind = guess_file(read_head(path, DATA))
    if isinstance(kind, Unknown) and kind.advice == _PACKED:
        return f"this is {kind.found}: {kind.advice}"
    return ""


def _error(unknown: Unknown, path: InputPath, formats: Sequence[str]) -> InputError:
    advice = unknown.advice or "the formats are " + ", ".join(formats)
    return InputError([Fault(unknown.found, "", source=str(path), advice=advice)])


def guess_file(head: bytes) -> str | Unknown:
    """Name of the format most similar to a file of no format, or its kind, by first bytes."""
    known = next((kind for mark, kind in _SIGNATURES.items() if head.startswith(mark)), None)
    if known is not None:
        return known
    if head[_TAR_AT:].startswith(_TAR):
        return Unknown("a tar archive", _PACKED)
    if b"\0" in head:
        return Unknown("a binary file", "give CSV, JSON or text")
    lines = head.decode("utf-8-sig", errors="replace").splitlines()
    line = next((line for line in lines if line.strip()), "")
    if not line:
        return EMPTY
    separator = _SEPARATOR.match(line)
    if separator is not None:
        found = f"the line {separator[1]!r} of a spreadsheet"
        return Unknown(found, "remove it, and separate columns by commas and fractions by points")
    if line.lstrip().startswith("{"):
        return coco.NAME
    if line.startswith("["):
        return TOML if _TOML_TABLE.match(line) else _guess_array(head)
    return _guess_rows(line)


def _guess_array(head: bytes) -> str | Unknown:
    """The same for an array that has neither results of COCO nor frames of spotGEO."""
    found = (match[1].decode() for match in _KEY.finditer(head))
    keys = list(dict.fromkeys(found))[:_MOST_KEYS]
    if not keys:
        return spotgeo.NAME
    text = f"a JSON array of objects with the keys {', '.join(map(show_text, keys))}"
    return Unknown(text, "write COCO JSON, JSON lines or generic CSV")


def _guess_rows(line: str) -> str | Unknown:
    values, words = line.split(","), line.split()
    if len(values) > 1 and all(map(_like_number, values)):
        whole = parse_integer(values[0]) is not None or parse_number(values[0]) is None  # nan
        is_mot = len(values) in _MOT_COLUMNS and whole
        return mot.NAME if is_mot else generic.NAME
    if len(words) > 1 and "," not in line and ";" not in line:
        found = _guess_words(words)
        if found is not None:
            return found
    names = next(csv.reader([re.sub("[;\t]", ",", line)]), [])
    if len(names) > 1 and all(map(_COLUMN_NAME.fullmatch, names)):
        return generic.NAME
    if len(names) > 2 and any(parse_number(name) is not None for name in names):
        return generic.NAME  # without a header
    return Unknown(f"text without data, beginning with {show_text(line.strip())}", "")


def _guess_words(words: list[str]) -> str | Unknown | None:
    """The same for values between blanks; None if these are not values."""
    if len(words) in (15, 16) and not _like_number(words[0]):
        return KITTI_OBJECTS if all(map(_like_number, words[1:])) else None
    if len(words) in (17, 18) and not _like_number(words[2]):
        return kitti.NAME if all(map(_like_number, (*words[:2], *words[3:]))) else None
    if not all(map(_like_number, words)):
        return None
    numbers = [parse_number(word) for word in words[1:]]
    are_parts = [number is not None and 0.0 <= number <= 1.0 for number in numbers]
    if len(words) == len(yolo.COLUMNS) + 1 and all(are_parts[:-1]) and _is_track(words[-1]):
        return TRACKED_YOLO
    parts = all(are_parts)
    if parts and len(words) >= 7:
        return POLYGONS
    if len(words) in _MOT_COLUMNS and not parts and len(words) > 6:
        return mot.NAME
    return yolo.NAME if 4 <= len(words) <= len(yolo.COLUMNS) + 1 else None


def _is_track(word: str) -> bool:
    number = parse_integer(word)
    return number is not None and number > 0


def _like_number(field: str) -> bool:
    return parse_number(field) is not None or field.strip().casefold() in _NO_NUMBERS
