"""The size of a blank canvas, by hand."""

from __future__ import annotations

import numpy as np

from vidscore_evaluators.annotations import Annotations, empty_annotations
from vidscore_evaluators.testing.examples import Thing, make_annotations
from vidscore_server.web.canvas import canvas_size


def points(*places: tuple[float, float]) -> Annotations:
    """Points in one frame."""
    things = [Thing(place, "car") for place in places]
    return make_annotations({("", "s"): {1: things}}, arity=2)


NOTHING = empty_annotations(2)


def test_a_wild_detection_does_not_enlarge_the_canvas() -> None:
    """Twice the truth's 640 x 480 still counts; beyond it, in either direction, nothing does."""
    truth = points((640.0, 100.0), (10.0, 480.0))
    near, wild = points((700.0, 960.0)), points((1e6, 10.0), (5.0, 961.0), (-1e6, 3.0))
    assert canvas_size(truth, [near, wild]) == (700.0, 960.0)
    assert canvas_size(truth, [wild]) == (640.0, 480.0)
    assert canvas_size(truth, [points((1e308, -1e308))]) == (640.0, 480.0)


def test_without_objects_of_the_truth_most_detections_tell_the_size() -> None:
    """Of 21 detections 20 are within 100 x 50; both of two detections are usual."""
    usual = [(5.0 * number, 50.0) for number in range(1, 21)]
    assert canvas_size(NOTHING, [points(*usual, (1e6, 1e6))]) == (100.0, 50.0)
    assert canvas_size(None, [points((10.0, 10.0), (1000.0, 900.0))]) == (1000.0, 900.0)


def test_without_objects_the_canvas_is_a_pixel() -> None:
    assert canvas_size(None, []) == (1.0, 1.0)
    assert canvas_size(NOTHING, [NOTHING]) == (1.0, 1.0)
    assert np.isfinite(canvas_size(points((-5.0, -5.0)), [])).all()
