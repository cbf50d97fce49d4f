"""The viewer as one file: the same page with its bins, its worst frames and their pictures.

It needs no server and no network, and its policy allows neither: its only style and its only script
are named by their digests.
"""

from __future__ import annotations

import base64
import dataclasses
import hashlib
from collections.abc import Sequence

from markupsafe import Markup
from msgspec import structs

from vidscore_evaluators.explanation.judgement import Judgement
from vidscore_server.web.rendering import STATIC, environment
from vidscore_server.web.sections import Context, frame_context
from vidscore_server.web.tables import TABLES, table_text
from vidscore_server.web.view import Links, View
from vidscore_server.web.viewer import Viewer

MOST_BYTES = 5_000_000
"""Size that no file exceeds."""

WORST_FRAMES = 20
"""Frames of each system that a file holds, where there is room."""

MOST_TABLE_BYTES = 500_000
"""Size of a table beyond which it is left out."""

_LEAST_PICTURE_BYTES = 12_000


def written_page(viewer: Viewer, command: str) -> bytes:
    """The page as HTML.

    Args:
        viewer: The pages; its intervals have to be computed.
        command: What shows what the file leaves out, on a command line.
    """
    count = WORST_FRAMES
    while True:
        rows = _worst_rows(viewer, count)
        bare = _render(viewer, rows, command, {})
        if len(bare) <= MOST_BYTES or count <= 1:
            break
        count //= 2
    room = MOST_BYTES - len(bare)
    while room > 0:
        pictures = _pictures(viewer, rows, room)
        written = _render(viewer, rows, command, pictures) if pictures else bare
        if len(written) <= MOST_BYTES:
            return written
        room = room * 3 // 4
    return bare


def _worst_rows(viewer: Viewer, count: int) -> list[int]:
    """Rows of the worst frames of each system, the worst of all first."""
    judgement = viewer.judgement(View())
    if judgement is None:
        return []
    found = {
        int(row)
        for system in range(len(judgement.systems))
        for row in judgement.worst_frames(count, system)
    }
    found |= {judgement.worst_of(int(judgement.order[0]))}
    mistakes = judgement.mistakes()
    return sorted(found, key=lambda row: (-int(mistakes[row]), row))


def _render(viewer: Viewer, rows: Sequence[int], command: str, pictures: dict[int, str]) -> bytes:
    """The page with some frames.

    Args:
        viewer: The pages.
        rows: Rows of the frames.
        command: What shows the rest.
        pictures: Data URI of the pictures that there are, by row.
    """
    links = Links(live=False, held=frozenset(rows), tables=_tables(viewer))
    own = dataclasses.replace(viewer, links=links)
    view = View()
    page = own.look(view)
    context = own.context(view)
    judgement = page.judgement
    frames: list[Context] = []
    if judgement is not None:
        for place, row in enumerate(rows):
            size = own.image_size(row)
            # Both systems are drawn over one picture, which the file holds once.
            picture = f"#i{row}" if row in pictures else ""
            at = structs.replace(page, row=row, image_size=size, picture=picture)
            frame = frame_context(at, judgement) | {"data": pictures.get(row, "")}
            frames.append(_held_frame(frame, rows, place))
    about = context["about"] | {
        "command": command,
        "has_pictures": bool(pictures),
        "sequences_held": _held_sequences(context, judgement),
    }
    names = ("keys.js", "viewer.js", "style.css")
    *scripts, style = ((STATIC / name).read_text(encoding="utf-8") for name in names)
    script = "".join(scripts)
    policy = (
        f"default-src 'none'; img-src data:; style-src '{_digest(style)}'; "
        f"script-src '{_digest(script)}'; base-uri 'none'; form-action 'none'"
    )
    context |= {
        "frames": frames,
        "about": about,
        "policy": policy,
        "script": Markup(script),  # noqa: S704 - our own file
        "style": Markup(style),  # noqa: S704 - our own file
    }
    return environment().get_template("viewer.html").render(context).encode()


def _held_frame(frame: Context, rows: Sequence[int], place: int) -> Context:
    """A frame whose neighbours are those that the file holds, in order of their mistakes."""
    return frame | {
        "mistake_before": f"#f{rows[place - 1]}" if place else "",
        "mistake_after": f"#f{rows[place + 1]}" if place + 1 < len(rows) else "",
    }


def _held_sequences(context: Context, judgement: Judgement | None) -> str:
    if judgement is None or context["sequences"] is None:
        return "no sequence"
    shown, total = len(context["sequences"]["rows"]), context["sequences"]["total"]
    return "every sequence" if shown == total else f"the {shown} costliest of {total:,} sequences"


def _tables(viewer: Viewer) -> dict[str, str]:
    """Tables as data URIs, but for what is too large."""
    found = {}
    for name in TABLES:
        data = (table_text(viewer, name, View()) or "").encode()
        if 0 < len(data) <= MOST_TABLE_BYTES:
            found[name] = _data_uri("text/csv;charset=utf-8", data)
    return found


def _pictures(viewer: Viewer, rows: Sequence[int], room: int) -> dict[int, str]:
    """Pictures of the frames, worst first, as large as there is room for."""
    if viewer.pictures is None or not rows:
        return {}
    # Base64 takes four characters for three bytes.
    each = int(0.7 * room / len(rows))
    if each < _LEAST_PICTURE_BYTES:
        return {}
    found = {}
    for row in rows:
        data = viewer.pictures.jpeg(*viewer.place(row), most_bytes=each)
        if data is not None:
            found[row] = _data_uri("image/jpeg", data)
    return found


def _data_uri(kind: str, data: bytes) -> str:
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"


def _digest(text: str) -> str:
    """A digest as policies name what stands within a page."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
