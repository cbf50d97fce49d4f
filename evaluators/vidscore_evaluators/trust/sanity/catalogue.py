"""All sanity tests by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from vidscore_evaluators.evaluator import Task
from vidscore_evaluators.trust.sanity import (
    deterministic,
    multiclass_detection,
    singleclass_detection,
    tracking,
)
from vidscore_evaluators.trust.sanity.families import Generator


@dataclass(frozen=True)
class SanityTest:
    """A sanity test.

    Attributes:
        title: One line for headings.
        task: What the tested systems do.
        draw_family: Draws a family.
        random: Whether families differ: one of a test without chance is all there is.
        families_at_once: Families that are scored in one go: as many as fit in memory with ease.
    """

    title: str
    task: Task
    draw_family: Generator
    random: bool = True
    families_at_once: int = 5


SANITY_TESTS: Mapping[str, SanityTest] = MappingProxyType(
    {
        "multiclass-detection": SanityTest(
            "Multi-class multi-object detection", Task.DETECTION, multiclass_detection.draw_family
        ),
        "singleclass-detection": SanityTest(
            "Single-class multi-object detection",
            Task.DETECTION,
            singleclass_detection.draw_family,
        ),
        "tracking": SanityTest(
            "Multi-object tracking", Task.TRACKING, tracking.draw_family, families_at_once=1
        ),
        "figure-3": SanityTest(
            "Scenes of Fig. 3", Task.DETECTION, deterministic.draw_figure_3, random=False
        ),
        "figure-11": SanityTest(
            "Scenarios of Fig. 11", Task.DETECTION, deterministic.draw_figure_11, random=False
        ),
    }
)
