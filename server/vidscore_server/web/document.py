"""Exports of the viewer: tables as CSV, and one file with the page, bins and pictures.

The file needs no server and no network, and its content policy forbids both: its only style and its
only script are named by their digests.
"""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import io
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from markupsafe import Markup
from msgspec import structs

from vidscore_evaluators.explanation.figures import all_figures
from vidscore_evaluators.explanation.judgement import Judgement
from vidscore_evaluators.explanation.mistakes import confusion, kind_rows
from vidscore_evaluators.machine_text import csv_text
from vidscore_evaluators.outcome_files import CsvOutcomes
from vidscore_server.web.rendering import STATIC, environment
from vidscore_server.web.sections import Context, frame_context
from vidscore_server.web.view import Links, View
from vidscore_server.web.viewer import Viewer

MOST_BYTES = 5_000_000
"""Maximum size of a file."""

WORST_FRAMES = 20
"""Number of frames of each system that a file holds, if there is room."""

MOST_TABLE_BYTES = 500_000
"""Maximum size of a table; larger ones are left out."""

_LEAST_PICTURE_BYTES = 12_000


def written_page(viewer: Viewer, command: str) -> bytes:
    """The page as HTML.

    Args:
        viewer: The pages, with computed intervals.
        command: The command that shows everything that the file leaves out.
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
    """Rows of the worst frames of each system, worst first."""
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
    """Render the page with the given frames.

    Args:
        viewer: The pages.
        rows: Rows of the frames.
        command: The command that shows the rest.
        pictures: Data URIs of the available pictures, by row.
    """
    tables = _tables(viewer)
    held = {name: uri for name, uri in tables.items() if uri}
    links = Links(live=False, held=frozenset(rows), tables=held)
    own = dataclasses.replace(viewer, links=links)
    view = View()
    page = own.look(view)
    context = own.context(view)
    judgement = page.judgement
    frames: list[Context] = []
    if judgement is not None:
        for place, row in enumerate(rows):
            size = own.image_size(row)
            # Both systems are drawn over the same picture, which the file holds once.
            picture = f"#i{row}" if row in pictures else ""
            lacks_image = own.lacks_image(row)
            at = structs.replace(
                page, row=row, image_size=size, picture=picture, lacks_image=lacks_image
            )
            frame = frame_context(at, judgement) | {"data": pictures.get(row, "")}
            frames.append(_held_frame(frame, rows, place))
    about = context["about"] | {
        "command": command,
        "has_pictures": bool(pictures),
        "sequences_held": _held_sequences(context, judgement),
        "left_out": sorted(tables.keys() - held.keys()),
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
    """A frame whose neighbours are the frames in the file, sorted by mistakes."""
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
    """Tables as data URIs, which are empty for those that are too large."""
    found = {}
    for name in TABLES:
        data = (table_text(viewer, name, View()) or "").encode()
        if data:
            fits = len(data) <= MOST_TABLE_BYTES
            found[name] = _data_uri("text/csv;charset=utf-8", data) if fits else ""
    return found


def _pictures(viewer: Viewer, rows: Sequence[int], room: int) -> dict[int, str]:
    """Pictures of the frames, worst first, as large as the room allows."""
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
    """A digest of inline content in the form of content policies."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


# --- Tables as CSV, with all columns, and outcomes

Rows = tuple[Sequence[str], Iterable[Sequence[object]]]


def table_text(viewer: Viewer, name: str, view: View) -> str | None:
    """A table as CSV; None if the view has none.

    Args:
        viewer: The pages.
        name: One of `TABLES`.
        view: The view.
    """
    made = TABLES[name](viewer, view)
    return None if made is None else csv_text(*made)


def _figures(viewer: Viewer, view: View) -> Rows:
    del view
    header = ("evaluator", "domain", "label", "sequence", "measure", *viewer.material.systems)
    return header, all_figures(viewer.material)


def _sequences(viewer: Viewer, view: View) -> Rows | None:
    judgement = viewer.judgement(view)
    if judgement is None:
        return None
    header = ("domain", "sequence", "system", "frames", "hits", "misses", "false_alarms")
    score = judgement.score_name.lower()
    return (*header, "id_switches", score, "share_of_mistakes"), _sequence_rows(judgement)


def _sequence_rows(judgement: Judgement) -> Iterable[Sequence[object]]:
    lengths = np.diff(judgement.frames.starts).tolist()
    for sequence in judgement.order.tolist():
        key = judgement.frames.sequences[sequence]
        for system, judged in enumerate(judgement.systems):
            counts = judgement.by_sequence[system].take(np.array([sequence]))
            score = float(judgement.scores[system][sequence])
            yield (
                *key,
                judged.name,
                lengths[sequence],
                *(int(column[0]) for column in counts.columns()),
                None if np.isnan(score) else score,
                float(judgement.costs[sequence]) if system == 0 else None,
            )


def _bins(viewer: Viewer, view: View) -> Rows | None:
    judgement = viewer.judgement(view)
    if judgement is None:
        return None
    header = ("domain", "sequence", "system", "first_frame", "frames", "hits", "misses")
    return (*header, "false_alarms", "id_switches", "running_score", "worst_frame"), _bin_rows(
        judgement
    )


def _bin_rows(judgement: Judgement) -> Iterable[Sequence[object]]:
    for sequence in judgement.order.tolist():
        key = judgement.frames.sequences[sequence]
        for system, judged in enumerate(judgement.systems):
            bins = judgement.bins(system, sequence)
            columns = [bins.numbers, bins.lengths, *bins.counts.columns()]
            running = [None if np.isnan(value) else value for value in bins.running.tolist()]
            cells = zip(
                *(column.tolist() for column in columns), running, bins.worst.tolist(), strict=True
            )
            for row in cells:
                yield (*key, judged.name, *row)


def _curves(viewer: Viewer, view: View) -> Rows | None:
    del view
    if not viewer.has_curves:
        return None
    return ("evaluator", "system", "domain", "label", "curve", "point", "column", "value"), (
        (report.evaluator, system, curve.domain, curve.label, curve.name, point, column, value)
        for system in viewer.material.systems
        for report in viewer.material.reports[system]
        for curve in report.curves
        for column, values in curve.columns.items()
        for point, value in enumerate(values)
    )


def _kinds(viewer: Viewer, view: View) -> Rows | None:
    judgement = viewer.judgement(view)
    if judgement is None:
        return None
    systems = viewer.material.systems
    header = ("kind", *systems, *(f"ap_to_gain_{system}" for system in systems))
    rows = kind_rows(viewer.material, judgement.at, view.label)
    return header, ((row.kind.name, *row.counts, *row.gains) for row in rows)


def _confusion(viewer: Viewer, view: View) -> Rows | None:
    judgement, sorter = viewer.judgement(view), viewer.material.sorter
    if judgement is None or sorter is None:
        return None
    sorted_ = viewer.material.judge(sorter, judgement.at, view.label)
    return ("system", "truth_label", "detection_label", "count"), _confusion_rows(sorted_)


def _confusion_rows(judgement: Judgement) -> Iterable[Sequence[object]]:
    for judged in judgement.systems:
        table = confusion(judged)
        names = (*table.labels, None)
        for row, truth_label in enumerate(names):
            for column, detection_label in enumerate(names):
                if truth_label is not None or detection_label is not None:
                    count = int(table.counts[row, column])
                    yield (judged.name, truth_label, detection_label, count)


TABLES: dict[str, Callable[[Viewer, View], Rows | None]] = {
    "figures": _figures,
    "curves": _curves,
    "kinds": _kinds,
    "confusion": _confusion,
    "sequences": _sequences,
    "bins": _bins,
}
"""Tables by the name of their file; those of outcomes are made by `outcomes_text`."""

OUTCOMES = ("frame", "frame-b", "outcomes", "outcomes-b")
"""Outcomes of a frame and of all frames; those of the second system end in ``-b``."""


def outcomes_text(viewer: Viewer, name: str, view: View) -> bytes | None:
    """Outcomes as CSV, as `vidscore outcomes` writes them; None if the view has none.

    Args:
        viewer: The pages.
        name: One of `OUTCOMES`.
        view: The view.
    """
    page = viewer.look(view)
    kind, _, second = name.partition("-")
    if page.judgement is None or (second and len(page.judgement.systems) < 2):
        return None
    judged = page.judgement.systems[1 if second else 0]
    outcomes = judged.of_frame(page.row) if kind == "frame" else judged.outcomes
    file = io.BytesIO()
    with CsvOutcomes(file) as writer:
        writer.write(outcomes, page.judgement.evaluator.name)
    return file.getvalue()
