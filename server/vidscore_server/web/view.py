"""A view of the viewer: the choices in its address, and links. Every view is a URL."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self
from urllib.parse import urlencode

from msgspec import Struct, field
from starlette.datastructures import QueryParams

from vidscore_evaluators.annotations import sequence_name
from vidscore_evaluators.figures.frames import FrameTable

SHOWS = ("a", "b", "both", "difference")
"""First system, second system, side by side, and differences."""

KINDS = ("tp", "fp", "fn", "ig", "sw")
"""Kinds of outcomes that can be shown or hidden, in the order of their keys."""

SHOWN = "outcome"
"""Name of the boxes of `KINDS`; an empty value marks a sent form, even if no box is ticked."""


class NoSuchViewError(LookupError):
    """An address names something unknown; the message names it."""


@dataclass(frozen=True, slots=True)
class View:
    """The choices of a view.

    Attributes:
        sequence: Name of the sequence, with its domain; empty for the one with the highest cost.
        frame: Number of the frame; None for the worst one.
        at: Place in the sequence, as a fraction of its length, whose worst frame is shown; None for
            no place.
        show: One of `SHOWS`.
        hidden: Which of `KINDS` are hidden.
        by: Evaluator of the outcomes; empty for the first one that has outcomes.
        confidence: Detections below it do not count; None for all.
        label: The only label that counts; empty for all.
        first: First row of the table of sequences.
    """

    sequence: str = ""
    frame: int | None = None
    at: float | None = None
    show: str = "both"
    hidden: frozenset[str] = frozenset()
    by: str = ""
    confidence: float | None = None
    label: str = ""
    first: int = 0

    @classmethod
    def of(cls, query: QueryParams) -> Self:
        """Read a query; unreadable values count as missing."""
        shown = query.getlist(SHOWN)
        show = query.get("show", "")
        frame, first = _integer(query.get("frame")), _integer(query.get("first"))
        return cls(
            sequence=query.get("sequence", ""),
            frame=frame,
            at=_fraction(query.get("at")),
            show=show if show in SHOWS else "both",
            hidden=frozenset(KINDS).difference(shown) if shown else frozenset(),
            by=query.get("by", ""),
            confidence=_number(query.get("confidence")),
            label=query.get("label", ""),
            first=first or 0,
        )

    def with_(self, **changes: Any) -> Self:
        """The same view with some changes."""
        return replace(self, **changes)

    def url(self, base: str = "", **changes: Any) -> str:
        """Address of the view, with some changes.

        Args:
            base: The address before the query.
            changes: Fields to change.
        """
        pairs = [*self.with_(**changes).pairs()]
        return f"{base}?{urlencode(pairs)}" if pairs else base or "?"

    def pairs(self, without: Sequence[str] = ()) -> list[tuple[str, str]]:
        """Names and values of its query, without defaults."""
        found: list[tuple[str, str]] = []
        for entry in fields(self):
            value = getattr(self, entry.name)
            if entry.name in without or value == entry.default:
                continue
            if entry.name == "hidden":
                found.append((SHOWN, ""))
                found.extend((SHOWN, kind) for kind in KINDS if kind not in value)
            else:
                found.append((entry.name, str(value)))
        return found


def require_known(what: str, name: str, known: Collection[str]) -> None:
    """Check that a name in an address is known; an empty name names nothing.

    Args:
        what: Kind of the named thing.
        name: Its name.
        known: All known names.

    Raises:
        NoSuchViewError: If it is unknown.
    """
    if name and name not in known:
        raise NoSuchViewError(f"There is no {what} {name[:_MOST_NAMED]!r} here.")


def require_frame(query: QueryParams, frames: FrameTable) -> None:
    """Check that the sequence and the frame in an address exist.

    Raises:
        NoSuchViewError: If they do not.
    """
    view = View.of(query)
    names = [sequence_name(key) for key in frames.sequences]
    if view.frame is None:
        require_known("frame", query.get("frame", ""), ())
    require_known("sequence", view.sequence, names)
    if view.frame is None:
        return
    if view.sequence not in names:
        raise NoSuchViewError(
            f"Frame {view.frame} has no sequence: an address with a frame must name both."
        )
    own = frames.numbers[frames.span(names.index(view.sequence))]
    if view.frame not in own:
        name = view.sequence or "the sequence"
        raise NoSuchViewError(
            f"There is no frame {view.frame} of {name}: its frames are {own[0]} to {own[-1]}."
        )


_MOST_NAMED = 80
"""Maximum number of characters of an unknown name in a message."""


def _integer(text: str | None) -> int | None:
    if text is None or not text.isascii() or not text.isdigit() or len(text) > 12:
        return None
    return int(text)


def _fraction(text: str | None) -> float | None:
    """A number from 0 to 1."""
    value = _number(text)
    return value if value is not None and 0.0 <= value <= 1.0 else None


def _number(text: str | None) -> float | None:
    """A finite number."""
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if math.isfinite(value) else None


# --- Links of a page: to views of a server, or within a written file


class Links(Struct, frozen=True):
    """Links of a page.

    Attributes:
        base: Address of the page, with a trailing slash; empty in a written file.
        live: Whether a server answers.
        held: Frame rows in a written file.
        tables: Tables of CSV in a written file as data URIs, by name.
    """

    base: str = ""
    live: bool = True
    held: frozenset[int] = frozenset()
    tables: Mapping[str, str] = field(default_factory=dict)

    def view(self, view: View, **changes: Any) -> str:
        """Address of a view."""
        return view.url(self.base, **changes)

    def frame(self, view: View, row: int, sequence: str, number: int) -> str:
        """Address of a frame; empty if a written file does not hold it."""
        if not self.live:
            return f"#f{row}" if row in self.held else ""
        return self.view(view, sequence=sequence, frame=number, at=None) + "#frame"

    def csv(self, table: str, view: View) -> str:
        """Address of a table as CSV; empty if a written file does not hold it."""
        if not self.live:
            return self.tables.get(table, "")
        query = urlencode(view.pairs(without=("show", "hidden", "first")))
        return f"{self.base}csv/{table}.csv" + (f"?{query}" if query else "")

    def picture(self, row: int) -> str:
        """Address of the picture of a frame."""
        return f"{self.base}picture/{row}.jpg"

    def static(self, name: str) -> str:
        """Address of a static file."""
        return f"{self.base}static/{name}"
