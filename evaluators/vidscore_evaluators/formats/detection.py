"""Which format a file or folder is of, by its content."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from vidscore_evaluators.annotations import Side
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats import (
    coco_json,
    generic_csv,
    guessing,
    kitti,
    motchallenge,
    neovision2_csv,
    spotgeo_json,
    yolo,
)
from vidscore_evaluators.formats.files import is_folder, read_head, visible_entries
from vidscore_evaluators.formats.guessing import KITTI_OBJECTS, POLYGONS, Unknown
from vidscore_evaluators.formats.packed import InputPath, entrances
from vidscore_evaluators.formats.source import Format, listed_names
from vidscore_evaluators.names import name_advice

AUTO = "auto"

FORMATS = MappingProxyType(
    {
        known.name: known
        for known in (
            coco_json.FORMAT,
            spotgeo_json.FORMAT,
            motchallenge.FORMAT,
            neovision2_csv.FORMAT,
            kitti.FORMAT,
            yolo.FORMAT,
            generic_csv.FORMAT,
        )
    }
)
"""Every format by name; content is held against them in this order."""

_WHAT = "a file or folder of annotations"
_NEIGHBOURS = 100
"""Entries of a folder that are looked at to say which of them may have been meant."""


@dataclass(frozen=True)
class Located:
    """Where data is, and of which format.

    Attributes:
        path: The file or folder.
        format: Its format.
        guessed: Whether it is only the nearest format, whose rules the data breaks.
    """

    path: InputPath
    format: Format
    guessed: bool = False

    def explained(self, faults: Sequence[Fault]) -> list[Fault]:
        """The faults of reading it; the first says that the format is a guess, if it is one."""
        if not self.guessed:
            return list(faults)
        guess = f"it looks most like {self.format.name}; --input-format chooses another format"
        advice = "; ".join(filter(None, (faults[0].advice, guess)))
        return [replace(faults[0], advice=advice), *faults[1:]]


def detect_format(path: InputPath) -> Format:
    """The format of a file or folder, by its content.

    Raises:
        InputError: If there is nothing there, or nothing of a known format.
    """
    return locate(path, AUTO).format


def find_format(name: str) -> Format:
    """The format of that name.

    Raises:
        InputError: If there is none.
    """
    if name in FORMATS:
        return FORMATS[name]
    advice = name_advice(name, (AUTO, *FORMATS))
    raise InputError([Fault(f"no format is called {name!r}", "", field="format", advice=advice)])


def locate(
    path: InputPath, format_name: str, side: Side | None = None, beside: str | None = None
) -> Located:
    """Where the data of a path is, and of which format.

    Args:
        path: File or folder; of an archive also what alone is in it may be meant.
        format_name: A name of `FORMATS`, or ``auto`` to go by the content.
        side: Which side it is, where that is known.
        beside: Format of the truth that detections go with, where it is known.

    Raises:
        InputError: If there is no such format, nothing there, or nothing of a known format; it
            says what is there.
    """
    candidates = entrances(path)
    if format_name != AUTO:
        chosen = find_format(format_name)
        if len(candidates) == 1:
            return Located(path, chosen)
        places = (place for place in candidates if chosen.matches(place, _head(place)))
        return Located(next(places, candidates[-1]), chosen)
    for place in candidates:
        found = _matching(place, side, beside)
        if found is not None:
            return Located(place, found)
    return _nearest(candidates[-1])


def _matching(
    path: InputPath, side: Side | None = None, beside: str | None = None
) -> Format | None:
    head = _head(path)
    may_be_empty = side is Side.DETECTIONS and beside != spotgeo_json.NAME
    if may_be_empty and guessing.is_empty_array(head):
        return coco_json.FORMAT  # a detector that finds nothing; spotGEO lists every frame
    return next((known for known in FORMATS.values() if known.matches(path, head)), None)


def _head(path: InputPath) -> bytes:
    return b"" if is_folder(path) else read_head(path, _WHAT)


def _nearest(path: InputPath) -> Located:
    """The nearest format of what is of none.

    Raises:
        InputError: If none is near; it says what is there instead.
    """
    if is_folder(path):
        return _nearest_of_folder(path)
    head = _head(path)
    guess = guessing.guess(head)
    if neovision2_csv.looks_like_header(head):
        guess = Unknown("one CSV file of Neovision2", f"give the folder {path.parent.parent}")
    if guess == yolo.NAME:
        guess = guessing.ONE_YOLO_FILE
    if isinstance(guess, Unknown):
        raise InputError([_fault(guess, path)])
    return Located(path, FORMATS[guess], guessed=True)


def _nearest_of_folder(path: InputPath) -> Located:
    entries = visible_entries(path)
    texts = (entry for entry in entries if entry.suffix == ".txt" and not is_folder(entry))
    text = next((file for file in texts if _head(file).strip()), None)
    guess = None if text is None else guessing.guess(_head(text))
    if isinstance(guess, str) and guess in (motchallenge.NAME, kitti.NAME, yolo.NAME):
        return Located(path, FORMATS[guess], guessed=True)
    if not entries:
        raise InputError([Fault("an empty folder", "", source=str(path))])
    meant = _meant(path, entries)
    if meant is None and text is not None and guess in (POLYGONS, KITTI_OBJECTS):
        raise InputError([_fault(guess, text)])
    advice = meant or "give the file or folder of annotations itself"
    found = "a folder of no known format"
    raise InputError([Fault(found, "", source=str(path), advice=advice)])


def _meant(path: InputPath, entries: Sequence[InputPath]) -> str | None:
    """Which file or folder may have been meant by a folder that is of no format."""
    near = [(entry, _quietly_matching(entry)) for entry in entries[:_NEIGHBOURS]]
    found = [(entry, known) for entry, known in near if known is not None]
    if len(found) == 1:
        entry, known = found[0]
        return f"did you mean {entry}, which looks like {known.name}?"
    if found:
        return f"did you mean one of {listed_names([str(entry) for entry, _ in found])}?"
    tables = (entry for entry in entries[:_NEIGHBOURS] if entry.suffix.lower() == ".csv")
    if any(
        not is_folder(table) and neovision2_csv.looks_like_header(_head(table)) for table in tables
    ):
        return f"it is one domain of Neovision2: give the folder {path.absolute().parent}"
    return None


def _quietly_matching(path: InputPath) -> Format | None:
    try:
        return _matching(path)
    except InputError:  # it may not be read; it is not what was asked for
        return None


def _fault(unknown: Unknown, path: InputPath) -> Fault:
    advice = unknown.advice or "the formats are " + ", ".join(FORMATS)
    return Fault(unknown.found, "", source=str(path), advice=advice)
