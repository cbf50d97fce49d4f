"""Annotations of PASCAL VOC in XML, read as untrusted input, one file at a time.

Only the elements named here are read, by their whole path, so that the parts of a person
(``annotation/object/part``) are not objects.
"""

from __future__ import annotations

from msgspec import Struct, field

from vidscore_evaluators.errors import Fault
from vidscore_evaluators.formats._table import EXPECTED_STRING, parse_number, parse_string
from vidscore_evaluators.formats._xml import XmlReader
from vidscore_evaluators.formats.source import show_text
from vidscore_evaluators.specification import image_size_of

CORNERS = ("xmin", "ymin", "xmax", "ymax")

_ROOT, _OBJECT, _SIZE = "annotation", ("annotation", "object"), ("annotation", "size")
_OF_OBJECT = {(*_OBJECT, name): name for name in ("name", "difficult")} | {
    (*_OBJECT, "bndbox", name): name for name in CORNERS
}
_OF_SIZE = {(*_SIZE, name): name for name in ("width", "height")}
_FIELDS = _OF_OBJECT | _OF_SIZE


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
    """

    objects: list[VocObject]
    size: tuple[int, int] | None


def parse_voc_xml(data: bytes) -> VocImage:
    """Read the content of an annotation file.

    Raises:
        InputError: If it cannot be read; the fault has no source.
    """
    reader = _VocReader()
    reader.read(data)
    size = (reader.size.get(name, "") for name in ("width", "height"))
    return VocImage(reader.objects, image_size_of(*map(parse_number, size)))


class _VocReader(XmlReader):
    """Keeps the texts of objects, and of the size of the image."""

    def __init__(self) -> None:
        super().__init__("an annotation file of PASCAL VOC")
        self.objects: list[VocObject] = []
        self.size: dict[str, str] = {}

    def start(self, _attributes: object) -> None:
        if self.path[0] != _ROOT:
            raise self.refusal(f"the element {show_text(self.path[0])}", f"the element '{_ROOT}'")
        path = tuple(self.path)
        if path == _OBJECT:
            self.objects.append(VocObject(self.line))
        elif path in _FIELDS:
            self.keep_text()

    def end(self, text: str) -> None:
        path = tuple(self.path)
        if path not in _FIELDS:
            return
        texts = self.objects[-1].texts if path in _OF_OBJECT else self.size
        name = _FIELDS[path]
        if name in texts:
            raise self.refusal(f"the element '{name}' again", "each once")
        texts[name] = text


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
