"""What docs/integrations.md says of tools that are not installed, tested on their output."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace

import numpy as np
from tests.integrations.recipes import AP_50, FOUND, PAGE, TRUTH, run_program
from tests.support.tree import ROOT

LABELS = {0: "car", 1: "person"}
DASHBOARD = json.loads((ROOT / "deploy" / "grafana" / "vidscore.json").read_text("utf-8"))
OPERATIONS = (ROOT / "docs" / "operations.md").read_text("utf-8")


def test_output_of_torchvision_and_transformers_is_scored() -> None:
    target = {"boxes": TRUTH, "labels": np.array([0, 1])}
    found = {"boxes": FOUND, "labels": np.array([0, 1]), "scores": np.array([0.9, 0.8])}
    report = run_program("score_model.py")["score_model"](
        lambda images: [found] * len(images), [(None, target)] * 2, LABELS
    )
    assert {label: report.value("ap_50", label=label) for label in AP_50} == AP_50


class Boxes:
    """Boxes of ultralytics: rows of x1, y1, x2, y2, of an id if tracked, of score and class."""

    class _Column(np.ndarray):  # A tensor, as far as the programs can tell.
        def int(self) -> np.ndarray:
            return self.astype(np.int64)

    def __init__(self, rows: np.ndarray) -> None:
        self._rows = rows
        self.is_track = rows.shape[1] == 7
        self.xyxy, self.conf, self.cls = rows[:, :4], rows[:, -2], rows[:, -1].view(self._Column)
        self.id = rows[:, -3] if self.is_track else None

    def __getitem__(self, chosen: slice) -> Boxes:
        return Boxes(self._rows[chosen])


UNTRACKED = Boxes(np.column_stack([FOUND, [0.9, 0.8], [0.0, 1.0]]))


def test_results_of_ultralytics_are_scored() -> None:
    result = SimpleNamespace(boxes=UNTRACKED, names=LABELS)
    target = {"boxes": TRUTH, "labels": np.array([0, 1])}
    score = run_program("score_ultralytics.py")["score_results"]
    report = score([result] * 2, [target] * 2)
    assert {label: report.value("ap_50", label=label) for label in AP_50} == AP_50


def test_tracks_of_ultralytics_are_scored_in_frames_without_one_too() -> None:
    """The tracker follows nothing in the second frame, whose boxes stay as they were found."""
    tracked = Boxes(np.column_stack([TRUTH, [4.0, 7.0], [0.9, 0.8], [0.0, 1.0]]))
    results = [SimpleNamespace(boxes=boxes, names=LABELS) for boxes in (tracked, UNTRACKED)]
    target = {"boxes": TRUTH, "labels": np.array([0, 1]), "track_ids": np.array([1, 2])}
    score = run_program("score_ultralytics_tracks.py")["score_tracks"]
    report = score(results, [target] * 2)
    # Two of four objects, each in a track of its own: DetA and AssA are 1 / 2.
    assert [report.value(name) for name in ("det_a", "ass_a", "hota")] == [0.5, 0.5, 0.5]


def test_every_metric_of_the_dashboard_exists_on_servers() -> None:
    known = set(re.findall(r"`((?:vidscore|grpc_server)_[a-z_]+)`", OPERATIONS))
    asked = {
        name
        for panel in DASHBOARD["panels"]
        for target in panel["targets"]
        for name in re.findall(r"\b(?:vidscore|grpc_server|process)_[a-z_]+", target["expr"])
    }
    histograms = {f"{name}_bucket" for name in known if name.endswith("_seconds")}
    assert asked - known - histograms == {"process_resident_memory_bytes"}


def test_panels_of_the_dashboard_do_not_overlap() -> None:
    places = [panel["gridPos"] for panel in DASHBOARD["panels"]]
    corners = {(place["x"], place["y"]) for place in places}
    assert len(corners) == len(places)
    assert {(place["w"], place["h"]) for place in places} == {(12, 8)}
    assert {place["x"] for place in places} == {0, 12}
    assert {place["y"] % 8 for place in places} == {0}


def test_the_page_names_each_tool_with_a_recipe() -> None:
    headings = re.findall(r"^## (.+)$", PAGE, re.MULTILINE)
    first = PAGE.split("\n## ", 1)[0]
    words = {name for heading in headings for name in re.split(r", | and ", heading)}
    assert words
    assert all(f"[{name}]" in first or name in first for name in words)
