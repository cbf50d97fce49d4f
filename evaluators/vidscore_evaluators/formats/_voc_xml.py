"""Annotations of PASCAL VOC in XML, read as untrusted input, one file at a time.

Only the elements named here are read, by their whole path, so that the parts of a person
(``annotation/object/part``) are not objects. A document type is refused, and with it every entity;
what is read is bounded by the size of the file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from xml.parsers import expat  # document types are refused, so there is nothing to expand

from msgspec import Struct, field

from vidscore_evaluators.errors import Fault
from vidscore_evaluators.formats._table import EXPECTED_STRING, parse_number, parse_string
from vidscore_evaluators.formats.source import show_text
from vidscore_evaluators.specification import image_size_of

CORNERS = ("xmin", "ymin", "xmax", "ymax")

_ROOT, _OBJECT, _SIZE = "annotation", ("annotation", "object"), ("annotation", "size")
_OF_OBJECT = {(*_OBJECT, name): name for name in ("name", "difficult")} | {
    (*_OBJECT, "bndbox", name): name for name in CORNERS
}
_OF_SIZE = {(*_SIZE, name): name for name in ("width", "height")}
_FIELDS = _OF_OBJECT | _OF_SIZE
_MOST_LEVELS = 32
_LONGEST_FIELD = 1000


class VocObject(Struct):
    """An object of an image.

    Attributes:
        line: Line on which it begins.
        texts: Content of its elements by name.
    """

    line: int
    texts: dict[str, str] = field(default_factory=dict)


class VocImage(Struct):
    """The contents of an annotation file.

    Attributes:
        objects: Its objects, in order.
        size: Width and height of the image, if both are given.
        faults: Why it cannot be read, without a source; then nothing else is valid.
    """

    objects: list[VocObject] = field(default_factory=list)
    size: tuple[int, int] | None = None
    faults: list[Fault] = field(default_factory=list)


class _RefusedError(Exception):
    """The document is not read any further."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.found)
        self.fault = fault


def parse_voc_xml(data: bytes) -> VocImage:
    """Read the content of an annotation file."""
    image = VocImage()
    builder = _Builder(image)
    parser = builder.parser
    try:
        parser.Parse(data, True)
    except _RefusedError as error:
        image.faults = [error.fault]
    except (expat.ExpatError, ValueError, LookupError) as error:
        line = getattr(error, "lineno", None)
        problem = getattr(error, "code", None)
        reason = expat.ErrorString(problem) if problem is not None else "an unknown encoding"
        image.faults = [
            Fault(f"invalid XML ({reason})", "an annotation file of PASCAL VOC", line=line)
        ]
    else:
        image.size = builder.size
    return image


class _Builder:
    """Handles the events of a parser."""

    def __init__(self, image: VocImage) -> None:
        self._image = image
        self._path: list[str] = []
        self._text: list[str] | None = None
        self._length = 0
        self._size: dict[str, str] = {}
        self.parser = expat.ParserCreate()
        handlers: dict[str, Callable[..., Any]] = {
            "StartDoctypeDeclHandler": self._doctype,
            "StartElementHandler": self._start,
            "EndElementHandler": self._end,
            "CharacterDataHandler": self._characters,
        }
        for name, handler in handlers.items():
            setattr(self.parser, name, handler)

    @property
    def size(self) -> tuple[int, int] | None:
        """Width and height, if both are valid for an image."""
        texts = (self._size.get(name, "") for name in ("width", "height"))
        return image_size_of(*map(parse_number, texts))

    def _refuse(self, found: str, expected: str) -> _RefusedError:
        return _RefusedError(Fault(found, expected, line=self.parser.CurrentLineNumber))

    def _doctype(self, *_: object) -> None:
        raise self._refuse("a document type", "a file without one, and without entities")

    def _start(self, name: str, _attributes: object) -> None:
        if not self._path and name != _ROOT:
            raise self._refuse(f"the element {show_text(name)}", f"the element '{_ROOT}'")
        self._path.append(name)
        if len(self._path) > _MOST_LEVELS:
            raise self._refuse("elements within elements", f"at most {_MOST_LEVELS} levels")
        path = tuple(self._path)
        if path == _OBJECT:
            self._image.objects.append(VocObject(self.parser.CurrentLineNumber))
        self._text, self._length = ([], 0) if path in _FIELDS else (None, 0)

    def _characters(self, text: str) -> None:
        if self._text is None:
            return
        self._length += len(text)
        if self._length > _LONGEST_FIELD:
            raise self._refuse("a long text", f"at most {_LONGEST_FIELD} characters")
        self._text.append(text)

    def _end(self, _name: str) -> None:
        path = tuple(self._path)
        self._path.pop()
        if self._text is not None and path in _FIELDS:
            of_object = path in _OF_OBJECT
            texts = self._image.objects[-1].texts if of_object else self._size
            name = _FIELDS[path]
            if name in texts:
                raise self._refuse(f"the element '{name}' again", "each once")
            texts[name] = "".join(self._text).strip()
        self._text = None


def object_faults(entry: VocObject) -> list[Fault]:
    """Faults of an object, without a source."""
    faults = []
    name = entry.texts.get("name", "")
    if not name or parse_string(name) is None:
        expected = EXPECTED_STRING + ", not empty"
        faults.append(Fault(show_text(name), expected, line=entry.line, field="name"))
    for corner in CORNERS:
        text = entry.texts.get(corner, "")
        if parse_number(text) is None:
            found = show_text(text)
            faults.append(Fault(found, "a finite number", line=entry.line, field=corner))
    difficult = entry.texts.get("difficult", "0")
    if difficult not in ("0", "1", ""):
        faults.append(Fault(show_text(difficult), "0 or 1", line=entry.line, field="difficult"))
    return faults
