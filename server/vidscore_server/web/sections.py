"""The sections of the viewer: plain values for templates, from an explanation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from msgspec import Struct

from vidscore_evaluators.annotations import Annotations, SequenceKey, Side, sequence_name
from vidscore_evaluators.arrays import defined
from vidscore_evaluators.explanation.figures import FigureRow
from vidscore_evaluators.explanation.frame import Cell, FrameObjects, ObjectRow, objects_of_frame
from vidscore_evaluators.explanation.judgement import Judgement
from vidscore_evaluators.explanation.material import Material
from vidscore_evaluators.figures.overlay import Overlay
from vidscore_evaluators.figures.timeline import bin_frames, strip_svg
from vidscore_evaluators.figures.whisker import Interval as Drawn
from vidscore_evaluators.figures.whisker import whisker_svg
from vidscore_server.web.canvas import canvas_size
from vidscore_server.web.rendering import KIND_WORDS
from vidscore_server.web.site.phrases import things
from vidscore_server.web.view import KINDS, Links, View

ROWS = 40
"""Number of rows of the table of sequences on one page."""

NEIGHBOURS = 30
"""Number of frames before and after the current one that have a bar each."""

NO_IMAGE = "There is no image of this frame: its objects are drawn on a blank canvas."

MOST_ROWS = 400
"""Maximum number of rows of the table of objects; the rest is in the CSV."""

Context = dict[str, Any]


class Page(Struct, frozen=True, eq=False):
    """The inputs of a page.

    Attributes:
        material: Truth, systems and reports.
        view: The view.
        judgement: Outcomes at the view's operating point; None if no evaluator has outcomes.
        row: Row of the shown frame.
        links: Targets of links.
        image_size: Width and height of the images of the sequence.
        picture: Address of the picture of the frame; empty if there is none.
        lacks_image: Whether other frames have pictures, and this one has none.
    """

    material: Material
    view: View
    judgement: Judgement | None
    row: int
    links: Links
    image_size: tuple[float, float]
    picture: str = ""
    lacks_image: bool = False

    @property
    def sequence(self) -> int:
        """The shown sequence."""
        return self.material.frames.sequence_of(self.row)

    def name_of(self, sequence: int) -> str:
        """Name of a sequence with its domain."""
        return sequence_name(self.material.frames.sequences[sequence]) or "the sequence"

    def frame_url(self, row: int | None) -> str:
        """Address of a frame; empty if there is none."""
        if row is None:
            return ""
        frames = self.material.frames
        name = sequence_name(frames.sequences[frames.sequence_of(row)])
        return self.links.frame(self.view, row, name, int(frames.numbers[row]))


def figures_context(rows: list[FigureRow]) -> Context:
    """Rows of figures; all whiskers have one scale, except in rows with values outside it."""
    drawn = [[_drawn(row, system) for system in range(len(row.values))] for row in rows]
    known = [[entry for entry in own if entry is not None] for own in drawn]
    ends = [[end for entry in own for end in entry if end is not None] or [0.0] for own in known]
    alike = [own for own in ends if min(own) >= -1.0 and max(own) <= 1.0]
    low = min((min(own) for own in alike), default=0.0)
    shared = (min(math.floor(4 * low) / 4, 0.75), 1.0)
    shown = []
    for row, entries, own in zip(rows, drawn, ends, strict=True):
        fits = shared[0] <= min(own) and max(own) <= shared[1]
        scale = shared if fits else (min(0.0, 1.1 * min(own)), max(0.0, 1.1 * max(own)))
        shown.append(
            {"row": row, "own": None if fits else scale, "whisker": whisker_svg(entries, scale)}
        )
    return {"rows": shown, "scale": shared}


def _drawn(row: FigureRow, system: int) -> Drawn | None:
    value, interval = row.values[system], row.intervals[system]
    if value is None:
        return None
    low, high = (None, None) if interval is None else (interval.low, interval.high)
    return float(value), low, high


def sequences_context(page: Page, judgement: Judgement) -> Context:
    """One row per sequence, sorted by the cost to the first system, highest first."""
    order = judgement.order.tolist()
    first = min(page.view.first, max(0, len(order) - 1))
    rows = [_sequence_row(page, judgement, row) for row in order[first : first + ROWS]]
    after = first + ROWS
    return {
        "rows": rows,
        "first": first,
        "total": len(order),
        "before": page.links.view(page.view, first=max(0, first - ROWS)) if first else "",
        "after": page.links.view(page.view, first=after) if after < len(order) else "",
        "bins": max((judgement.bins(0, row).counts.hits.size for row in order[:1]), default=0),
        "score_name": judgement.score_name,
    }


def _sequence_row(page: Page, judgement: Judgement, sequence: int) -> Context:
    frames = page.material.frames
    span = frames.span(sequence)
    worst = judgement.worst_of(sequence)
    name, key = page.name_of(sequence), sequence_name(frames.sequences[sequence])
    return {
        "name": name,
        "frames": span.stop - span.start,
        "url": page.frame_url(worst),
        "current": sequence == page.sequence,
        "strip_url": page.links.view(page.view, sequence=key, frame=None, at=None),
        "held": _held_places(page, span) if not page.links.live else None,
        "strips": [
            (system, _strip(judgement, index, sequence, name))
            for index, system in enumerate(page.material.systems)
        ],
        "cells": [
            {
                "misses": int(judgement.by_sequence[index].misses[sequence]),
                "false_alarms": int(judgement.by_sequence[index].false_alarms[sequence]),
                "id_switches": int(judgement.by_sequence[index].id_switches[sequence]),
                "score": defined(judgement.scores[index][sequence]),
            }
            for index in range(len(page.material.systems))
        ],
        "share": float(judgement.costs[sequence]),
        "worst": int(frames.numbers[worst]),
    }


def _held_places(page: Page, span: slice) -> str:
    """Places in a sequence of the frames in a written file, each with its id."""
    count = span.stop - span.start
    held = sorted(row for row in page.links.held if span.start <= row < span.stop)
    return " ".join(f"{(row - span.start + 0.5) / count:.4f}:f{row}" for row in held)


def _strip(judgement: Judgement, system: int, sequence: int, name: str) -> str:
    bins = judgement.bins(system, sequence)
    counts = judgement.by_sequence[system]
    frames = judgement.frames
    span = frames.span(sequence)
    first, last = int(frames.numbers[span.start]), int(frames.numbers[span.stop - 1])
    title = (
        f"{name}, {judgement.systems[system].name}: {int(counts.misses[sequence]):,} missed, "
        f"{things(int(counts.false_alarms[sequence]), 'false alarm')}, "
        f"{things(int(counts.id_switches[sequence]), 'id switch', 'id switches')} "
        f"in frames {first} to {last}"
    )
    return strip_svg(bins, title, most_false_alarms=judgement.most_false_alarms)


def frame_context(page: Page, judgement: Judgement) -> Context:
    """A frame: pictures, neighbouring frames, objects, and links to other frames."""
    material, row = page.material, page.row
    objects = objects_of_frame(material, judgement, row)
    number = int(material.frames.numbers[row])
    name = page.name_of(page.sequence)
    rows = objects.sorted_rows
    return {
        "id": row,
        "name": name,
        "sequence_name": sequence_name(material.frames.sequences[page.sequence]),
        "number": number,
        "time_s": material.time_s(row),
        "by": judgement.evaluator.name,
        "at": judgement.at,
        "pictures": [
            _picture(page, objects, system, f"frame {number} of {name}")
            for system in range(len(material.systems))
        ],
        "around": _around(page, judgement, name),
        "rows": rows[:MOST_ROWS],
        "left_out": max(0, len(rows) - MOST_ROWS),
        "measured_by": _measured_by(rows),
        **ways_context(page, judgement),
    }


def ways_context(page: Page, judgement: Judgement) -> Context:
    """Addresses of the previous and next frame, mistake and sequence."""
    span = page.material.frames.span(page.sequence)
    order = judgement.order.tolist()
    place = order.index(page.sequence)
    row = page.row
    return {
        "frame_before": page.frame_url(row - 1 if row > span.start else None),
        "frame_after": page.frame_url(row + 1 if row + 1 < span.stop else None),
        "mistake_before": page.frame_url(judgement.mistake_from(row, -1)),
        "mistake_after": page.frame_url(judgement.mistake_from(row, 1)),
        "sequence_before": page.frame_url(judgement.worst_of(order[place - 1]) if place else None),
        "sequence_after": page.frame_url(
            judgement.worst_of(order[place + 1]) if place + 1 < len(order) else None
        ),
    }


def _picture(page: Page, objects: FrameObjects, system: int, where: str) -> Context:
    name = page.material.systems[system]
    counts = {kind: objects.count(system, kind) for kind in KINDS}
    found = counts["tp"] + counts["sw"]
    caption = f"{found:,} found, {counts['fn']:,} missed, {things(counts['fp'], 'false alarm')}"
    caption += f", {things(counts['sw'], 'id switch', 'id switches')}" if counts["sw"] else ""
    overlay = Overlay(
        *page.image_size,
        marks=objects.marks(system, "o" if page.links.live else f"o-{page.row}-"),
        regions=objects.regions,
        tails=objects.tails,
        picture=page.picture,
    )
    description = f"{caption}, {counts['ig']:,} ignored. Each is a row of the table below."
    svg = overlay.svg(f"{name} in {where}", description, f"p{page.row}-{system}")
    return {
        "name": name,
        "css": "va" if system == 0 else "vb",
        "caption": caption,
        "svg": svg,
        "note": NO_IMAGE if page.lacks_image else overlay.note,
    }


def _around(page: Page, judgement: Judgement, name: str) -> Context:
    """The frames around the current one, with a bar each."""
    span = page.material.frames.span(page.sequence)
    first, last = max(span.start, page.row - NEIGHBOURS), min(span.stop, page.row + NEIGHBOURS + 1)
    numbers = page.material.frames.numbers[first:last]
    strips = []
    for system, judged in enumerate(judgement.systems):
        counts = judged.counts.take(slice(first, last))
        bins = bin_frames(counts, numbers, tracked=judgement.tracked, bins=last - first)
        total = counts.total()
        title = (
            f"{name}, {judged.name}: {int(total.misses[0])} missed, "
            f"{things(int(total.false_alarms[0]), 'false alarm')}, "
            f"{things(int(total.id_switches[0]), 'id switch', 'id switches')} "
            f"in frames {numbers[0]} to {numbers[-1]}"
        )
        most = max(
            1.0, float(max(one.counts.false_alarms[first:last].max() for one in judgement.systems))
        )
        svg = strip_svg(bins, title, most_false_alarms=most, now=page.row - first, css="tall")
        strips.append((judged.name, svg, "va" if system == 0 else "vb"))
    return {"first": int(numbers[0]), "last": int(numbers[-1]), "strips": strips}


def _measured_by(rows: list[ObjectRow]) -> str:
    """Heading of the column with the similarity of a pair."""
    cells = [cell for row in rows for cell in row.cells if cell is not None]
    if any(cell.distance_px is not None for cell in cells):
        return "Distance, px"
    return "Similarity"


def image_extent(material: Material, sequence: int) -> tuple[float, float]:
    """Width and height of a sequence's images: as specified, or large enough for the objects."""
    key = material.frames.sequences[sequence]
    for entry in material.contest.specification.sequences:
        if entry.key == key and entry.image_width and entry.image_height:
            return float(entry.image_width), float(entry.image_height)
    truth, *systems = (
        _objects_in(side, key)
        for side in (material.contest.truth, *material.contest.systems.values())
    )
    return canvas_size(truth, systems)


def _objects_in(side: Annotations, key: SequenceKey) -> Annotations:
    rows = [row for row, own in enumerate(side.sequences) if own == key]
    return side.take_objects(
        np.flatnonzero(np.isin(side.frame_sequences, rows)[side.object_frames])
    )


def side_words(row: ObjectRow) -> str:
    """``object, track 9``, or ``detection``."""
    if row.side is Side.DETECTIONS:
        return "detection"
    return "object" if row.track is None else f"object, track {row.track}"


def outcome_words(cell: Cell) -> str:
    """``false negative``, or ``id switch`` if the match is one."""
    return KIND_WORDS["sw"] if cell.kind == "sw" else cell.outcome.value.replace("_", " ")
