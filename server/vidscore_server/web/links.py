"""Where the links of a page lead: to views of a server, or to what a written file holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from msgspec import Struct, field

from vidscore_server.web.view import View


class Links(Struct, frozen=True):
    """Links of a page.

    Attributes:
        base: Address of the page, which ends in a slash; empty in a written file.
        live: Whether a server answers.
        held: Of a written file, the frame rows that it holds.
        tables: Of a written file, each of its tables of CSV as a data URI, by name.
    """

    base: str = ""
    live: bool = True
    held: frozenset[int] = frozenset()
    tables: Mapping[str, str] = field(default_factory=dict)

    def view(self, view: View, **changes: Any) -> str:
        """Address of a view."""
        return view.url(self.base, **changes)

    def frame(self, view: View, row: int, sequence: str, number: int) -> str:
        """Address of a frame; empty where a written file does not hold it."""
        if not self.live:
            return f"#f{row}" if row in self.held else ""
        return self.view(view, sequence=sequence, frame=number, at=None) + "#frame"

    def csv(self, table: str, view: View) -> str:
        """Address of a table as CSV; empty where a written file does not hold it."""
        if not self.live:
            return self.tables.get(table, "")
        query = urlencode(view.pairs(without=("show", "hidden", "first")))
        return f"{self.base}csv/{table}.csv" + (f"?{query}" if query else "")

    def picture(self, row: int) -> str:
        """Address of the picture of a frame."""
        return f"{self.base}picture/{row}.jpg"

    def static(self, name: str) -> str:
        """Address of a file that never changes."""
        return f"{self.base}static/{name}"
