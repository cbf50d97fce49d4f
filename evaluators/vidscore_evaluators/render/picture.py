"""Draw a frame as a picture: its objects, their outcomes, and the strip below."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import cv2
import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from vidscore_evaluators.annotations import POINT, Side
from vidscore_evaluators.arrays import BoolArray, FloatArray
from vidscore_evaluators.mask_outlines import mask_outlines
from vidscore_evaluators.names import escape_controls
from vidscore_evaluators.outcome_table import NO_PARTNER
from vidscore_evaluators.render.areas import Area, area_of_outlines, area_of_pieces, hatched, tint
from vidscore_evaluators.render.plates import (
    NO_PLATE,
    Plate,
    Type,
    cut,
    draw_plates,
    place_plates,
    plate_sizes,
)
from vidscore_evaluators.render.scored import FrameView, SideView
from vidscore_evaluators.render.strip import draw_strip, strip_height
from vidscore_evaluators.render.strokes import Pen, edges_of, outlines, stroke, stroke_outlines
from vidscore_evaluators.render.style import KINDS, ORDER, STYLES, WHITE, Image, Kind

FILL_OPACITY = 0.2
"""Opacity of hits, which are drawn less prominently than mistakes."""

MASK_OPACITY = 0.5
"""Opacity of masks, except of objects that are found: these are only outlined."""

REGION_OPACITY = 0.45
SHORT_SIDE_PX = 720.0
"""Short side of a picture at which lines are 2 px wide and capitals 13 px high."""

WANTED_WIDTH_PX = 640
"""Narrower pictures are enlarged, to make room for plates."""

LARGEST_ENLARGEMENT = 16

CROWDED = 0.15
"""Fraction of the picture that plates may cover; above it, `QUIET` kinds show the number alone."""

QUIET = frozenset({Kind.HIT, Kind.IGNORED})

POINT_RADIUS = 4.5
"""Radius of the mark around a point, in line widths."""


class Drawing(Struct, frozen=True):
    """What to draw of a frame, and how.

    Attributes:
        hidden: Kinds to omit; the strip still counts them.
        plates: Whether objects have plates.
        scale: Pixels of the picture per pixel of the media; None to enlarge only small pictures.
        first_pixel: Coordinate of the left and upper edge of the first pixel, for boxes and
            quadrilaterals.
    """

    hidden: frozenset[Kind] = frozenset()
    plates: bool = True
    scale: float | None = None
    first_pixel: float = 0.0


def scale_for(width: int, drawing: Drawing) -> float:
    """Pixels of the picture per pixel of media of a given width."""
    if drawing.scale is not None:
        return drawing.scale
    return float(min(LARGEST_ENLARGEMENT, max(1, -(-WANTED_WIDTH_PX // width))))


def draw_frame(image: Image, view: FrameView, drawing: Drawing = Drawing()) -> Image:
    """Draw a frame.

    Args:
        image: (height, width, 3) the original frame; it is not changed.
        view: Contents of the frame.
        drawing: What to draw.

    Returns:
        A picture with the strip below; its sides are even, as videos require.
    """
    scale = scale_for(image.shape[1], drawing)
    height, width = (max(1, round(side * scale)) for side in image.shape[:2])
    unit = max(1.0, min(height, width) / SHORT_SIDE_PX)
    type_ = Type.of(13.0 * unit)
    strip = strip_height(type_)
    canvas = np.zeros((_even(height + strip), _even(width), 3), dtype=np.uint8)
    picture = canvas[:height, :width]
    nearest = cv2.INTER_NEAREST if scale >= 1.0 else cv2.INTER_AREA
    picture[:] = image if scale == 1.0 else cv2.resize(image, (width, height), dst=None,
                                                       interpolation=nearest)  # fmt: skip
    painter = _Painter(picture, view, drawing, scale, max(2, round(2.0 * unit)), type_)
    painter.draw()
    canvas[:height, width:] = picture[:, -1:]  # of an odd width, the last column twice
    draw_strip(canvas[height:], view, type_, painter.without_plate)
    return canvas


def _even(side: int) -> int:
    return side + side % 2


class _Painter(Struct, eq=False):
    """Draws a frame, one kind after the other."""

    picture: Image
    view: FrameView
    drawing: Drawing
    scale: float
    line_px: int
    type_: Type
    without_plate: int = 0

    def draw(self) -> None:
        self._regions()
        self._fills()
        for kind in ORDER:
            if kind not in self.drawing.hidden:
                self._tails(kind)
        self._pairs()
        for kind in ORDER:
            if kind not in self.drawing.hidden:
                self._outlines(kind)
        if self.drawing.plates:
            self._plates()

    def _scaled(self, coordinates: FloatArray, arity: int) -> FloatArray:
        """Convert to pixels of the picture; a point is the middle of a pixel and remains one."""
        if arity == POINT:
            return (coordinates + 0.5) * self.scale - 0.5
        return (coordinates - self.drawing.first_pixel) * self.scale

    def _outline(self, side: SideView, rows: BoolArray, kind: Kind) -> FloatArray:
        coordinates = self._scaled(side.coordinates[rows], side.coordinates.shape[1])
        return outlines(coordinates, kind, POINT_RADIUS * self.line_px)

    def _regions(self) -> None:
        """Areas in which nothing is scored: hatched, with a dashed white outline."""
        colour = STYLES[Kind.IGNORED].colour
        dashes = (3.0 * self.line_px, 3.0 * self.line_px)
        for side in self.view.sides.values():
            rows = side.are_regions
            if not rows.any() or side.coordinates.shape[1] == POINT:
                continue
            for area in self._areas(side, rows):
                stripes = hatched(area, 5 * self.line_px, self.line_px)
                tint(self.picture, stripes, colour, REGION_OPACITY)
            self._lines(side, rows, Kind.IGNORED, Pen(colour, self.line_px))
            self._lines(side, rows, Kind.IGNORED, Pen(WHITE, self.line_px, dashes))

    def _areas(self, side: SideView, rows: BoolArray) -> Iterator[Area]:
        """Areas of the masks of some objects, and of the shapes of those without pixels."""
        masked, shapes = rows & side.have_pixels, rows & ~side.have_pixels
        if masked.any():
            yield area_of_pieces(side.pieces.of(masked), self.scale, self.picture)
        if shapes.any() and side.coordinates.shape[1] != POINT:
            yield area_of_outlines(self._outline(side, shapes, Kind.HIT), self.picture)

    def _lines(self, side: SideView, rows: BoolArray, kind: Kind, pen: Pen) -> None:
        """Outline the masks of some objects, and the shapes of those without pixels."""
        masked, shapes = rows & side.have_pixels, rows & ~side.have_pixels
        stroke(self.picture, edges_of(self._outline(side, shapes, kind)), pen)
        if masked.any():
            around = mask_outlines(side.pieces.of(masked))
            edges, loops = around.edges()
            stroke_outlines(self.picture, edges.astype(np.float64) * self.scale, loops, pen)

    def _fills(self) -> None:
        """Fill masks by outcome, and shapes of hits, which are less opaque."""
        for kind in ORDER:
            if kind in self.drawing.hidden:
                continue
            for name, side in self.view.sides.items():
                if _is_found_object(name, kind):
                    continue
                rows = side.are(kind)
                self._fill(side, rows & side.have_pixels, kind, MASK_OPACITY)
                if kind is Kind.HIT:
                    self._fill(side, rows & ~side.have_pixels, kind, FILL_OPACITY)

    def _fill(self, side: SideView, rows: BoolArray, kind: Kind, opacity: float) -> None:
        for area in self._areas(side, rows):
            tint(self.picture, area, STYLES[kind].colour, opacity)

    def _tails(self, kind: Kind) -> None:
        """Tails of detections, and of objects that were not found."""
        for name, side in self.view.sides.items():
            rows = side.are(kind)
            if _is_found_object(name, kind):
                continue
            goes_on = rows[side.tail_of] & ~side.tail_breaks
            to = np.flatnonzero(goes_on)
            points = self._scaled(side.tails, side.coordinates.shape[1])
            edges = np.concatenate([points[to - 1], points[to]], axis=1)
            pen = Pen(STYLES[kind].colour, max(1, self.line_px // 2), (), max(1, self.line_px // 2))
            stroke(self.picture, edges, pen)

    def _pairs(self) -> None:
        """A line from an object to its matched detection, if they do not overlap."""
        truth, detections = self.view.sides[Side.TRUTH], self.view.sides[Side.DETECTIONS]
        if Kind.HIT in self.drawing.hidden:
            return
        rows = np.flatnonzero(
            (truth.partners != NO_PARTNER) & (truth.are(Kind.HIT) | truth.are(Kind.ID_SWITCH))
        )
        ends = [
            self._scaled(side.coordinates[chosen], side.coordinates.shape[1])
            for side, chosen in ((truth, rows), (detections, truth.partners[rows]))
        ]
        corners = [one.reshape(len(rows), one.shape[1] // 2, 2) for one in ends]
        low = np.maximum(*(one.min(axis=1) for one in corners))
        high = np.minimum(*(one.max(axis=1) for one in corners))
        apart = (low > high).any(axis=1)
        middles = [one.mean(axis=1)[apart] for one in corners]
        pen = Pen(STYLES[Kind.HIT].colour, max(1, self.line_px // 2), (), 1)
        stroke(self.picture, np.concatenate(middles, axis=1), pen)

    def _outlines(self, kind: Kind) -> None:
        style = STYLES[kind]
        for name, side in self.view.sides.items():
            rows = side.are(kind)
            # An object that is found has a thin line, because its detection is the one to look at.
            found = _is_found_object(name, kind)
            if found and side.coordinates.shape[1] == POINT:
                continue  # the line to its detection starts there
            width = max(1, round((0.5 if found else style.width) * self.line_px))
            pen = Pen(
                STYLES[Kind.HIT].colour if found else style.colour,
                width,
                tuple(length * self.line_px for length in style.dashes),
                1 if found else max(1, round(self.line_px * 0.75)),
            )
            shown = Kind.HIT if found else kind
            self._lines(side, rows, shown, pen)

    def _plates(self) -> None:
        plates: list[Plate] = []
        boxes = [np.zeros((0, 4))]
        for kind in reversed(ORDER):
            if kind in self.drawing.hidden:
                continue
            for name, side in self.view.sides.items():
                rows = side.are(kind)
                if _is_found_object(name, kind):
                    continue  # its detection has the plate
                boxes.append(_boxes_around(self._outline(side, rows, kind)))
                plates += _plates_of(side, np.flatnonzero(rows).tolist())
        around = self._grown(np.concatenate(boxes))
        height, width = self.picture.shape[:2]
        seen = (around[:, 2:] > 0.0).all(axis=1) & (around[:, :2] < [width, height]).all(axis=1)
        around = around[seen]
        plates = [plates[row] for row in np.flatnonzero(seen).tolist()]
        sizes = plate_sizes(plates, self.type_)
        if sizes[:, 0].prod(axis=1).sum() > CROWDED * height * width:
            quiet = [plate.kind in QUIET for plate in plates]
            sizes[quiet, 0] = sizes[quiet, 1]
            plates = [
                replace(plate, text=plate.short) if plate.kind in QUIET else plate
                for plate in plates
            ]
        small = around[(around[:, 3] - around[:, 1]) < 3 * self.type_.height_px]
        placed = place_plates(sizes, around, small, np.array([0, 0, width, height]))
        draw_plates(self.picture, plates, placed, self.type_)
        self.without_plate = int((placed.versions == NO_PLATE).sum())

    def _grown(self, boxes: FloatArray) -> FloatArray:
        """Boxes, enlarged by the width of a line."""
        grown: FloatArray = boxes + np.array([-1.0, -1.0, 1.0, 1.0]) * self.line_px
        return grown


def _is_found_object(side: Side, kind: Kind) -> bool:
    """Whether it is an object that is found; then its detection shows the outcome."""
    return side is Side.TRUTH and kind in (Kind.HIT, Kind.ID_SWITCH)


def _plates_of(side: SideView, rows: Sequence[int]) -> list[Plate]:
    plates = []
    for row in rows:
        confidence = side.confidences[row]
        said = "" if np.isnan(confidence) else f" {confidence:.2f}"
        name = cut(escape_controls(side.names[row]))
        plates.append(Plate(KINDS[side.kinds[row]], f"{name}{said}", str(row)))
    return plates


def _boxes_around(closed: FloatArray) -> FloatArray:
    """(N, 4) upright boxes around (N, K, 2) outlines."""
    corners: FloatArray = np.hstack([closed.min(axis=1), closed.max(axis=1)])
    return corners
