"""ONVIF: the metadata stream of a camera, in XML.

ONVIF's coordinates range from -1 to 1, rightwards and upwards; a frame or an appearance may have a
transformation into that system. They are converted to fractions of the image from its upper left
corner.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from vidscore_evaluators.errors import Fault
from vidscore_evaluators.feeds.frames import (
    MAXIMUM_DOCUMENT_BYTES,
    FeedFrame,
    Framing,
    Reading,
    Schema,
    Unit,
    check_length,
    detection,
    track_number,
    utc_seconds,
)
from vidscore_evaluators.formats._line_rules import MAXIMUM_OBJECTS
from vidscore_evaluators.formats._table import parse_number
from vidscore_evaluators.formats._xml import XmlReader
from vidscore_evaluators.formats.source import show_text

_MOST_FRAMES = 100_000
_NAMESPACE = "http://www.onvif.org/ver10/schema "
_SIDES = ("left", "top", "right", "bottom")
_SIDE_AXES = ("x", "y", "x", "y")

_FRAME = ("Frame",)
_OBJECT = ("Frame", "Object")
_APPEARANCE = (*_OBJECT, "Appearance")
_BOX = (*_APPEARANCE, "Shape", "BoundingBox")
_TYPE = (*_APPEARANCE, "Class", "Type")
_CANDIDATE = (*_APPEARANCE, "Class", "ClassCandidate")


class _Transformation(Struct):
    """Transforms into the system of the enclosing element: first scale, then translate."""

    scale: dict[str, float] = field(default_factory=lambda: {"x": 1.0, "y": 1.0})
    translate: dict[str, float] = field(default_factory=lambda: {"x": 0.0, "y": 0.0})

    def apply(self, value: float, axis: str) -> float:
        return value * self.scale[axis] + self.translate[axis]


class _Object(Struct):
    identity: str
    box: list[float] | None = None
    classes: list[tuple[float | None, str]] = field(default_factory=list)
    transformation: _Transformation = field(default_factory=_Transformation)


class _Frame(Struct):
    time: str | None
    sensor: str | None
    objects: list[_Object] = field(default_factory=list)
    transformation: _Transformation = field(default_factory=_Transformation)


def read(message: bytes) -> list[FeedFrame]:
    """The frames of a metadata stream.

    Raises:
        InputError: With every fault, or with the reason why reading stops.
    """
    check_length(message, MAXIMUM_DOCUMENT_BYTES)
    reader = _MetadataReader()
    reader.read(message)
    frames = [
        _frame(frame, f"Frame[{row}]", reader.reading) for row, frame in enumerate(reader.frames)
    ]
    reader.reading.done()
    return frames


class _MetadataReader(XmlReader):
    """Keeps the frames, with their objects."""

    def __init__(self) -> None:
        super().__init__("a metadata stream of ONVIF", namespace_separator=" ")
        self.frames: list[_Frame] = []
        self.reading = Reading()
        self._likelihood: float | None = None

    @property
    def _in_frame(self) -> tuple[str, ...]:
        """The path below the frame."""
        names = [name.removeprefix(_NAMESPACE) for name in self.path]
        return tuple(names[names.index("Frame") :]) if "Frame" in names else ()

    def start(self, attributes: Mapping[str, str]) -> None:
        root = self.path[0]
        if not root.startswith(_NAMESPACE):
            raise self.refusal(f"the element {show_text(root)}", "tt:MetadataStream of ONVIF")
        path = self._in_frame
        if path == _FRAME:
            if len(self.frames) == _MOST_FRAMES:
                raise self.refusal("more frames", f"at most {_MOST_FRAMES} in a document")
            self.frames.append(_Frame(attributes.get("UtcTime"), attributes.get("Source")))
        elif path:
            self._start_in_frame(path, attributes)

    def _start_in_frame(self, path: tuple[str, ...], attributes: Mapping[str, str]) -> None:
        frame = self.frames[-1]
        if path == _OBJECT:
            if len(frame.objects) == MAXIMUM_OBJECTS:
                raise self.refusal("more objects", f"at most {MAXIMUM_OBJECTS} in a frame")
            frame.objects.append(_Object(attributes.get("ObjectId", "")))
        elif path == _BOX:
            frame.objects[-1].box = [self._number(attributes, side) for side in _SIDES]
        elif path in (_TYPE, (*_CANDIDATE, "Type"), (*_CANDIDATE, "Likelihood")):
            self.keep_text()
            self._likelihood = None
            if "Likelihood" in attributes:
                self._likelihood = self._number(attributes, "Likelihood")
        elif path[-2:-1] == ("Transformation",) and path[-1] in ("Scale", "Translate"):
            self._transform(path, {axis: self._number(attributes, axis) for axis in "xy"})

    def _transform(self, path: tuple[str, ...], values: dict[str, float]) -> None:
        frame = self.frames[-1]
        around = path[:-2]
        if around not in (_FRAME, _APPEARANCE):
            return
        owner = frame if around == _FRAME else frame.objects[-1]
        setattr(owner.transformation, path[-1].lower(), values)

    def _number(self, attributes: Mapping[str, str], name: str) -> float:
        value = parse_number(attributes.get(name, ""))
        if value is None:
            found = show_text(attributes.get(name, ""))
            fault = Fault(found, "a number", line=self.line, field=name)
            self.reading.faults.append(fault)
        return 0.0 if value is None else value

    def end(self, text: str) -> None:
        classes = self.frames[-1].objects[-1].classes
        if self._in_frame == (*_CANDIDATE, "Likelihood"):  # of the type before it
            if classes:
                classes[-1] = (parse_number(text), classes[-1][1])
        else:
            classes.append((self._likelihood, text))


def _frame(frame: _Frame, place: str, reading: Reading) -> FeedFrame:
    time_s = utc_seconds(frame.time or "", f"{place}.UtcTime", reading)
    objects = [
        _object(entry, frame.transformation) for entry in frame.objects if entry.box is not None
    ]
    return FeedFrame(frame.sensor, None, time_s, objects, unit=Unit.FRACTION)


def _object(entry: _Object, outer: _Transformation) -> dict[str, Any]:
    left, top, right, bottom = (
        outer.apply(entry.transformation.apply(value, axis), axis)
        for value, axis in zip(entry.box or (), _SIDE_AXES, strict=True)
    )
    box = [(left + 1) / 2, (1 - top) / 2, (right + 1) / 2, (1 - bottom) / 2]
    likelihood, label = max(
        entry.classes,
        key=lambda of_class: -1.0 if of_class[0] is None else of_class[0],
        default=(None, ""),
    )
    return detection(label, box, likelihood, track_number(entry.identity))


SCHEMA = Schema("onvif", "ONVIF: metadata of a camera, XML", read, Framing.DOCUMENT)
