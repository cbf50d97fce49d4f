"""Programs of docs/integrations.md, and a small scene for them."""

from __future__ import annotations

from typing import Any

import numpy as np
from tools.docs_pages import ROOT, blocks

PAGE = (ROOT / "docs" / "integrations.md").read_text("utf-8")

TRUTH = np.array([[10.0, 10.0, 50.0, 50.0], [100.0, 10.0, 120.0, 60.0]])
"""A car and a person, in each of two frames."""

FOUND = np.array([[12.0, 10.0, 52.0, 50.0], [300.0, 30.0, 320.0, 80.0]])
"""The car with an IoU of 38/42, and a person where there is none."""

AP_50 = {"car": 1.0, "person": 0.0}
"""Average precision at IoU 0.5 of `FOUND` against `TRUTH`, by hand: one is always found."""


def program(name: str) -> str:
    """The text of a program of the page."""
    [found] = [block.text for block in blocks(PAGE) if block.file == name]
    return found


def run_program(name: str) -> dict[str, Any]:
    """The names that a program of the page defines."""
    names: dict[str, Any] = {"__name__": name.removesuffix(".py")}
    exec(compile(program(name), name, "exec"), names)
    return names


def table(boxes: list[np.ndarray[Any, np.dtype[np.float64]]]) -> dict[str, Any]:
    """Boxes of a car and a person in each of some frames, as columns."""
    corners = np.concatenate(boxes)
    columns = dict(zip(("x1", "y1", "x2", "y2"), corners.T, strict=True))
    frames = np.repeat(np.arange(len(boxes)), 2)
    labels = np.tile(["car", "person"], len(boxes))
    return {"sequence": ["street"] * len(corners), "frame": frames, "label": labels, **columns}
