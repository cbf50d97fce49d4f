"""The strip below a picture: name of the frame, numbers of objects by outcome, and a bar."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import cv2
import numpy as np
from msgspec import Struct

from vidscore_evaluators.annotations import sequence_name
from vidscore_evaluators.names import counted, is_right_to_left
from vidscore_evaluators.render.plates import Type, draw_mark
from vidscore_evaluators.render.scored import FrameView
from vidscore_evaluators.render.style import INK, PAPER, RULE, SECOND_INK, STYLES, Image, Kind

COUNTED = (Kind.HIT, Kind.FALSE_ALARM, Kind.MISS, Kind.ID_SWITCH, Kind.IGNORED)
"""Kinds in the order of their counts on the strip."""

BARRED = (Kind.HIT, Kind.MISS, Kind.FALSE_ALARM)
"""Kinds in the order of the bar, so that its parts can be distinguished by position."""

WORDS_SHRINK = 0.75
"""Smallest scale of the counts with words; if they do not fit then, words are omitted."""

LEAST_HEIGHT_PX = 6


class _Item(Struct, frozen=True):
    """A count on the strip."""

    kind: Kind
    text: str
    is_nothing: bool


def strip_height(type_: Type) -> int:
    """Height of the strip in pixels: two lines and the bar."""
    return 2 * (type_.height_px + 3 * type_.gap_px) + _bar_height(type_) + 5 * type_.gap_px


def draw_strip(image: Image, view: FrameView, type_: Type, without_plate: int) -> None:
    """Draw the strip of a frame over a whole image.

    Args:
        image: The lower part of the canvas, `strip_height` high.
        view: The frame.
        type_: Size of its text.
        without_plate: Number of objects whose plates did not fit.
    """
    width = image.shape[1]
    image[:] = PAPER
    edge = 3 * type_.gap_px
    base = type_.height_px + 3 * type_.gap_px
    _write_title(image, view, type_, base, without_plate)
    base += type_.height_px + 3 * type_.gap_px
    own, items = _fitting(view, type_, width - 2 * edge)
    left = edge
    for item in items:
        colour = SECOND_INK if item.is_nothing else STYLES[item.kind].colour
        middle = (left + own.height_px // 2, base - own.height_px // 2)
        draw_mark(image, item.kind, middle, own.height_px, colour)
        left += own.height_px + own.gap_px
        own.write(image, item.text, left, base, SECOND_INK if item.is_nothing else INK)
        left += own.width_px(item.text) + 4 * own.gap_px
    bottom = base + 2 * type_.gap_px + _bar_height(type_)
    bar = image[bottom - _bar_height(type_) : bottom, edge:-edge]
    _draw_bar(bar, [view.counts[kind] for kind in BARRED])


def counts_in_words(counts: Mapping[Kind, int]) -> str:
    """``2 found, 1 false alarm, 3 missed``, without counts of 0."""
    said = [_in_words(kind, counts[kind]) for kind in COUNTED if counts[kind]]
    return ", ".join(said) or "nothing"


def bar_widths(counts: Sequence[int], width: int, gap: int) -> list[int]:
    """Widths in pixels of the parts of a bar, proportional to counts.

    A part with a count above 0 is at least one pixel wide; one of 0 has neither width nor gap.
    """
    present = sum(count > 0 for count in counts)
    room = width - gap * max(0, present - 1)
    if not present or room < present:
        return [0] * len(counts)
    shared = room - present
    ends = np.rint(np.cumsum([0, *counts]) / sum(counts) * shared).astype(np.int64)
    return [int(wide) + (count > 0) for wide, count in zip(np.diff(ends), counts, strict=True)]


def _bar_height(type_: Type) -> int:
    return max(4, round(type_.height_px * 0.6))


def _write_title(image: Image, view: FrameView, type_: Type, base: int, without_plate: int) -> None:
    """Sequence and frame on the left, remarks on the right."""
    edge, width = 3 * type_.gap_px, image.shape[1]
    remarks = ["don't-care frame"] if view.dont_care else []
    remarks += [f"{without_plate} without a plate"] if without_plate else []
    remark = ", ".join(remarks)
    frame = f"frame {view.number}"
    room = width - 2 * edge - type_.width_px(frame) - 4 * type_.gap_px
    right = type_.width_px(remark) + 6 * type_.gap_px if remark else 0
    if room - right > type_.width_px("0") * 8:
        room -= right
        if remark:
            type_.write(image, remark, width - edge - type_.width_px(remark), base, SECOND_INK)
    name = sequence_name(view.sequence)
    # OpenCV writes only from left to right, and would reverse such a name.
    name = "" if is_right_to_left(name) else _shortened(name, room, type_)
    type_.write(image, name, edge, base, INK)
    left = edge + (type_.width_px(name) + 4 * type_.gap_px if name else 0)
    type_.write(image, frame, left, base, INK)


def _shortened(name: str, room: int, type_: Type) -> str:
    """Shorten a name in its middle if it is too long for the room."""
    kept = len(name)
    shown = name
    while kept > 0 and type_.width_px(shown) > room:
        kept -= 1
        shown = f"{name[: kept - kept // 2]}...{name[len(name) - kept // 2 :]}"
    return shown if kept else ""


def _items(view: FrameView, *, short: bool) -> list[_Item]:
    items = []
    for kind in COUNTED:
        count = view.counts[kind]
        items.append(_Item(kind, str(count) if short else _in_words(kind, count), count == 0))
    return items


def _in_words(kind: Kind, count: int) -> str:
    return counted(count, STYLES[kind].singular, STYLES[kind].plural)


def _fitting(view: FrameView, type_: Type, room: int) -> tuple[Type, list[_Item]]:
    """The counts with words, slightly smaller if needed; else without words, as small as needed.

    Returns:
        The text size, and the counts to write.
    """
    with_words, numbers = _items(view, short=False), _items(view, short=True)
    least = round(type_.height_px * WORDS_SHRINK)
    for height in range(type_.height_px, least - 1, -1):
        if _line_width(with_words, Type.of(height)) <= room:
            return Type.of(height), with_words
    for height in range(type_.height_px, LEAST_HEIGHT_PX, -1):
        if _line_width(numbers, Type.of(height)) <= room:
            return Type.of(height), numbers
    return Type.of(LEAST_HEIGHT_PX), numbers


def _line_width(items: Sequence[_Item], type_: Type) -> int:
    each = type_.height_px + 5 * type_.gap_px
    return sum(type_.width_px(item.text) + each for item in items) - 4 * type_.gap_px


def _draw_bar(bar: Image, counts: Sequence[int]) -> None:
    gap = 2
    left = 0
    if not any(counts):
        cv2.line(bar, (0, bar.shape[0] // 2), (bar.shape[1] - 1, bar.shape[0] // 2), RULE, 1)
        return
    for kind, width in zip(BARRED, bar_widths(counts, bar.shape[1], gap), strict=True):
        bar[:, left : left + width] = STYLES[kind].colour
        left += width + (gap if width else 0)
