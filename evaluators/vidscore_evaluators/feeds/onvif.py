"""ONVIF: the metadata stream of a camera, in XML.

ONVIF's coordinates range from -1 to 1, rightwards and upwards; a frame or an appearance may have a
transformation into that system. They are converted to fractions of the image from its upper left
corner. Document types, and so all entities, are refused; the input is bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from xml.parsers import expat  # document types are refused, so nothing is expanded

from msgspec import Struct, field

from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.feeds.frames import (
    MAXIMUM_DOCUMENT_BYTES,
    FeedFrame,
    Framing,
    Reading,
    Schema,
    Unit,
    Unsaid,
    check_length,
    detection,
    track_number,
    utc_seconds,
)
from vidscore_evaluators.formats._line_rules import MAXIMUM_OBJECTS
from vidscore_evaluators.formats._table import parse_number
from vidscore_evaluators.formats.source import show_text

_MOST_LEVELS = 32
_MOST_FRAMES = 100_000
_LONGEST_TEXT = 1000
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
    builder = _Builder()
    try:
        builder.parser.Parse(message, True)
    except expat.ExpatError as error:
        found = f"invalid XML ({expat.ErrorString(error.code)})"
        fault = Fault(found, "a metadata stream of ONVIF", line=error.lineno)
        raise InputError([fault]) from None
    frames = [
        _frame(frame, f"Frame[{row}]", builder.reading) for row, frame in enumerate(builder.frames)
    ]
    builder.reading.done()
    return frames


class _Builder:
    """Handles the events of a parser."""

    def __init__(self) -> None:
        self.frames: list[_Frame] = []
        self.reading = Reading()
        self._path: list[str] = []
        self._text: list[str] | None = None
        self._likelihood: float | None = None
        self.parser = expat.ParserCreate(namespace_separator=" ")
        handlers: dict[str, Callable[..., Any]] = {
            "StartDoctypeDeclHandler": self._doctype,
            "StartElementHandler": self._start,
            "EndElementHandler": self._end,
            "CharacterDataHandler": self._characters,
        }
        for name, handler in handlers.items():
            setattr(self.parser, name, handler)

    def _refuse(self, found: str, expected: str) -> InputError:
        return InputError([Fault(found, expected, line=self.parser.CurrentLineNumber)])

    def _doctype(self, *_: object) -> None:
        raise self._refuse("a document type", "a document without one, and without entities")

    @property
    def _in_frame(self) -> tuple[str, ...]:
        """The path below the frame."""
        names = [name.removeprefix(_NAMESPACE) for name in self._path]
        return tuple(names[names.index("Frame") :]) if "Frame" in names else ()

    def _start(self, name: str, attributes: Mapping[str, str]) -> None:
        if not self._path and not name.startswith(_NAMESPACE):
            raise self._refuse(f"the element {show_text(name)}", "tt:MetadataStream of ONVIF")
        self._path.append(name)
        if len(self._path) > _MOST_LEVELS:
            raise self._refuse("elements within elements", f"at most {_MOST_LEVELS} levels")
        path = self._in_frame
        if path == _FRAME:
            if len(self.frames) == _MOST_FRAMES:
                raise self._refuse("more frames", f"at most {_MOST_FRAMES} in a document")
            self.frames.append(_Frame(attributes.get("UtcTime"), attributes.get("Source")))
        elif path:
            self._start_in_frame(path, attributes)

    def _start_in_frame(self, path: tuple[str, ...], attributes: Mapping[str, str]) -> None:
        frame = self.frames[-1]
        if path == _OBJECT:
            if len(frame.objects) == MAXIMUM_OBJECTS:
                raise self._refuse("more objects", f"at most {MAXIMUM_OBJECTS} in a frame")
            frame.objects.append(_Object(attributes.get("ObjectId", "")))
        elif path == _BOX:
            frame.objects[-1].box = [self._number(attributes, side) for side in _SIDES]
        elif path in (_TYPE, (*_CANDIDATE, "Type"), (*_CANDIDATE, "Likelihood")):
            self._text = []
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
            fault = Fault(found, "a number", line=self.parser.CurrentLineNumber, field=name)
            self.reading.faults.append(fault)
        return 0.0 if value is None else value

    def _characters(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)
            if sum(map(len, self._text)) > _LONGEST_TEXT:
                raise self._refuse("a long text", f"at most {_LONGEST_TEXT} characters")

    def _end(self, _name: str) -> None:
        path = self._in_frame
        self._path.pop()
        if self._text is None:
            return
        text, self._text = "".join(self._text).strip(), None
        classes = self.frames[-1].objects[-1].classes
        if path == (*_CANDIDATE, "Likelihood"):  # of the type before it
            if classes:
                classes[-1] = (parse_number(text), classes[-1][1])
        else:
            classes.append((self._likelihood, text))


def _frame(frame: _Frame, place: str, reading: Reading) -> FeedFrame:
    time_s = utc_seconds(frame.time or "", f"{place}.UtcTime", reading)
    objects = [
        _object(entry, frame.transformation) for entry in frame.objects if entry.box is not None
    ]
    unsaid = {Unsaid.FRAME_NUMBER, Unsaid.RESOLUTION}
    if frame.sensor is None:
        unsaid.add(Unsaid.SENSOR)
    if any("confidence" not in entry for entry in objects):
        unsaid.add(Unsaid.CONFIDENCE)
    return FeedFrame(
        frame.sensor, None, time_s, objects, unit=Unit.FRACTION, unsaid=frozenset(unsaid)
    )


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
