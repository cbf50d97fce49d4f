"""Both sides of a benchmark, as they were read."""

from __future__ import annotations

from functools import cached_property

from msgspec import Struct

from vidscore_evaluators.annotations import Side
from vidscore_evaluators.errors import Fault
from vidscore_evaluators.formats.source import Source
from vidscore_evaluators.plausibility.image_sizes import warnings_of_positions
from vidscore_evaluators.report import FrameExample, ReportWarning


class Pair(Struct, frozen=True, eq=False, dict=True):
    """Truth and detections, read and checked against each other."""

    truth: Source
    detections: Source

    @cached_property
    def warnings(self) -> tuple[ReportWarning, ...]:
        """Warnings of both, and about coordinates outside the images."""
        sizes = {**self.truth.image_sizes, **self.detections.image_sizes}
        return (
            *self.truth.warnings,
            *self.detections.warnings,
            *warnings_of_positions(Side.TRUTH, self.truth.annotations, sizes),
            *warnings_of_positions(Side.DETECTIONS, self.detections.annotations, sizes),
        )

    def place_of(self, example: FrameExample) -> str:
        """File and line, or entry, of the frame that a warning names."""
        source = self.truth if example.side is Side.TRUTH else self.detections
        return source.place_of(example.sequence, example.frame)

    def locate(self, fault: Fault) -> Fault:
        """Add file and line, or entry, to an evaluator's fault that names a side and a frame."""
        sides = {Side.TRUTH.value: self.truth, Side.DETECTIONS.value: self.detections}
        side = sides.get(fault.source or "")
        return fault if side is None else side.locate(fault)
