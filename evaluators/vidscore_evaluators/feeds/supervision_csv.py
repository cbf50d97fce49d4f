"""The CSV file of supervision's CSVSink.

Its own columns have no frame number, so one of the user's columns must, under one of the names
here. A frame without detections has no row.
"""

from __future__ import annotations

import csv
from typing import Any

from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.feeds.frames import (
    MAXIMUM_DOCUMENT_BYTES,
    FeedFrame,
    Framing,
    Reading,
    Schema,
    Unsaid,
    check_length,
    detection,
    track_number,
)
from vidscore_evaluators.formats._json import show_value
from vidscore_evaluators.formats._table import parse_number

FRAME_COLUMNS = ("frame", "frame_number", "frame_index", "frame_id")
SEQUENCE_COLUMNS = ("sequence", "video", "camera", "source")
TIME_COLUMNS = ("time_s", "timestamp")
_CORNERS = ("x_min", "y_min", "x_max", "y_max")
_ADVICE = "give it to the sink: sink.append(detections, custom_data={'frame': number})"


def read(message: bytes) -> list[FeedFrame]:
    """The frames of a file, in the order of their first rows.

    Raises:
        InputError: With every fault of the file.
    """
    check_length(message, MAXIMUM_DOCUMENT_BYTES)
    rows = csv.DictReader(_lines(message), strict=True)
    try:
        names = list(rows.fieldnames or ())
        _require_columns(names)
        reading = Reading()
        frames: dict[tuple[str, int, float | None], list[dict[str, Any]]] = {}
        for row in rows:
            key, entry = _row(row, f"line {rows.line_num}", reading)
            frames.setdefault(key, []).append(entry)
    except csv.Error as error:
        fault = Fault(f"invalid CSV ({error})", "a file of CSVSink", line=rows.line_num)
        raise InputError([fault]) from None
    reading.done()
    return [_frame(key, objects) for key, objects in frames.items()]


def _lines(message: bytes) -> list[str]:
    try:
        return message.decode("utf-8-sig").splitlines(keepends=True)
    except UnicodeDecodeError:
        raise InputError([Fault("other bytes", "text in UTF-8")]) from None


def _require_columns(names: list[str]) -> None:
    faults = [
        Fault("no such column", "the columns of CSVSink", field=name)
        for name in _CORNERS
        if name not in names
    ]
    if not any(name in names for name in FRAME_COLUMNS):
        expected = "a column with the number of the frame: " + ", ".join(FRAME_COLUMNS)
        faults.append(Fault("none", expected, field="frame", advice=_ADVICE))
    if faults:
        raise InputError(faults)


def _row(
    row: dict[str, str], place: str, reading: Reading
) -> tuple[tuple[str, int, float | None], dict[str, Any]]:
    number = _number(row, FRAME_COLUMNS, place, reading)
    if number is None or number < 0 or not number.is_integer():
        found = _first(row, FRAME_COLUMNS) or "nothing"
        reading.fault(f"{place}, frame", found, "an integer, 0 or more")
        number = 0.0
    time_s = _number(row, TIME_COLUMNS, place, reading)
    box = [_corner(row, name, place, reading) for name in _CORNERS]
    confidence = _number(row, ("confidence",), place, reading)
    label = row.get("class_name") or row.get("class_id") or ""
    track = track_number((row.get("tracker_id") or "").removesuffix(".0"))
    key = (_first(row, SEQUENCE_COLUMNS), int(number), time_s)
    return key, detection(label, box, confidence, track)


def _corner(row: dict[str, str], name: str, place: str, reading: Reading) -> float:
    if not row[name]:
        reading.fault(f"{place}, {name}", "nothing", "a finite number")
    return _number(row, (name,), place, reading) or 0.0


def _first(row: dict[str, str], names: tuple[str, ...]) -> str:
    return next((row[name] for name in names if row.get(name)), "")


def _number(
    row: dict[str, str], names: tuple[str, ...], place: str, reading: Reading
) -> float | None:
    text = _first(row, names)
    if not text:
        return None
    value = parse_number(text)
    if value is None:
        reading.fault(f"{place}, {names[0]}", show_value(text), "a finite number")
    return value


def _frame(key: tuple[str, int, float | None], objects: list[dict[str, Any]]) -> FeedFrame:
    sequence, number, time_s = key
    unsaid = frozenset({Unsaid.EMPTY_FRAMES})
    return FeedFrame(sequence or None, number, time_s, objects, unsaid=unsaid)


SCHEMA = Schema("supervision-csv", "supervision: the file of CSVSink", read, Framing.DOCUMENT)
