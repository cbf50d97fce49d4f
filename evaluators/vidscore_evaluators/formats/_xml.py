"""XML as untrusted input, element by element.

A document type is refused, and with it every entity; what is kept is bounded by the size of the
document.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from xml.parsers import expat  # document types are refused, so there is nothing to expand

from vidscore_evaluators.errors import Fault, InputError

_MOST_LEVELS = 32
_LONGEST_TEXT = 1000


class XmlReader(ABC):
    """Follows the elements of a document; subclasses keep what they know.

    Args:
        expected: The kind of document, for errors.
        namespace_separator: What stands between a namespace and a name; None if names are kept as
            they are written.

    Attributes:
        path: Names of the elements that are open, from the root.
    """

    def __init__(self, expected: str, namespace_separator: str | None = None) -> None:
        self.path: list[str] = []
        self._expected = expected
        self._text: list[str] | None = None
        self._parser = expat.ParserCreate(namespace_separator=namespace_separator)
        self._parser.StartDoctypeDeclHandler = self._refuse_doctype
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters

    @abstractmethod
    def start(self, attributes: Mapping[str, str]) -> None:
        """Called when the last element of `path` begins."""

    @abstractmethod
    def end(self, text: str) -> None:
        """Called when an element of `path` ends with the text for which `keep_text` asked."""

    @property
    def line(self) -> int:
        """The line that is read, counted from 1."""
        return self._parser.CurrentLineNumber

    def read(self, document: bytes) -> None:
        """Follow a whole document.

        Raises:
            InputError: If it is not XML or is refused; the fault has no source.
        """
        try:
            self._parser.Parse(document, True)
        except (expat.ExpatError, ValueError, LookupError) as error:
            problem = getattr(error, "code", None)  # codecs, not expat, refuse unknown encodings
            reason = "an unknown encoding" if problem is None else expat.ErrorString(problem)
            line = getattr(error, "lineno", None)
            fault = Fault(f"invalid XML ({reason})", self._expected, line=line)
            raise InputError([fault]) from None

    def keep_text(self) -> None:
        """Keep the text from here to the next end of an element."""
        self._text, self._length = [], 0

    def refusal(self, found: str, expected: str) -> InputError:
        """The error to raise if a document is not to be read any further."""
        return InputError([Fault(found, expected, line=self.line)])

    def _refuse_doctype(self, *_: object) -> None:
        raise self.refusal("a document type", "a document without one, and without entities")

    def _start(self, name: str, attributes: Mapping[str, str]) -> None:
        self.path.append(name)
        if len(self.path) > _MOST_LEVELS:
            raise self.refusal("elements within elements", f"at most {_MOST_LEVELS} levels")
        self.start(attributes)

    def _characters(self, text: str) -> None:
        if self._text is None:
            return
        self._length += len(text)
        if self._length > _LONGEST_TEXT:
            raise self.refusal("a long text", f"at most {_LONGEST_TEXT} characters")
        self._text.append(text)

    def _end(self, _name: str) -> None:
        if self._text is not None:
            text, self._text = "".join(self._text).strip(), None
            self.end(text)
        self.path.pop()
