"""Sanity tests: scenes whose predictions have a true order, by which criteria can be tested.

A test draws *families*: a reference and prediction sets, from the truly best to the truly worst.
A family depends only on its seed, its stratum and its realisation, so that any process can draw
it again.

Source: the paper, sections 3.2, 5 and appendix 4. If the text leaves a choice open, the module of a
test lists this project's readings.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct

from vidscore_evaluators.evaluator import Task
from vidscore_evaluators.trust.sanity import detection, tracking
from vidscore_evaluators.trust.sanity.families import Generator


class SanityTest(Struct, frozen=True):
    """A sanity test.

    Attributes:
        title: One line for headings.
        task: Task of the tested systems.
        draw_family: Draws a family.
        random: Whether families differ; a test without randomness has only one.
        families_at_once: Number of families that are scored together, bounded to limit memory.
    """

    title: str
    task: Task
    draw_family: Generator
    random: bool = True
    families_at_once: int = 5


SANITY_TESTS: Mapping[str, SanityTest] = MappingProxyType(
    {
        "multiclass-detection": SanityTest(
            "Multi-class multi-object detection",
            Task.DETECTION,
            detection.draw_multiclass,
        ),
        "singleclass-detection": SanityTest(
            "Single-class multi-object detection",
            Task.DETECTION,
            detection.draw_singleclass,
        ),
        "tracking": SanityTest(
            "Multi-object tracking", Task.TRACKING, tracking.draw_family, families_at_once=1
        ),
        "figure-3": SanityTest(
            "Scenes of Fig. 3", Task.DETECTION, detection.draw_figure_3, random=False
        ),
        "figure-11": SanityTest(
            "Scenarios of Fig. 11", Task.DETECTION, detection.draw_figure_11, random=False
        ),
    }
)
