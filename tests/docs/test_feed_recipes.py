"""The programs of the feed recipes write what the bridge and the pipe read."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.clients.cli.bridge.recorded import detection_array, vision_store
from tests.support.certificates import make_authority
from tools.docs_pages import ROOT, blocks

from vidscore_cli.bridge.choices import read_sources
from vidscore_evaluators.feeds import schema_of_name

PAGE = (ROOT / "docs" / "feed-recipes.md").read_text("utf-8")


def program(name: str) -> str:
    [found] = [block.text for block in blocks(PAGE) if block.file == name]
    return found


def run_program(name: str, module: str = "__main__") -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": module}
    exec(compile(program(name), name, "exec"), names)
    return names


def module(name: str, **attributes: object) -> ModuleType:
    made = ModuleType(name)
    vars(made).update(attributes)
    return made


# --- ultralytics -----------------------------------------------------------------------------


class Boxes:
    """Boxes of a result: rows of x1, y1, x2, y2, confidence, class and, if tracked, track."""

    def __init__(self, *rows: list[float]) -> None:
        values = np.array(rows).reshape(len(rows), -1 if rows else 6)
        self.xyxy, self.conf, self.cls = values[:, :4], values[:, 4], values[:, 5]
        self.is_track = values.shape[1] == 7
        self.id = values[:, 6] if self.is_track else None

    def __getitem__(self, _chosen: slice) -> Boxes:
        return Boxes()


class Yolo:
    """A model that gives its callback two batches: two frames, then one without an object.

    The tracker follows an object of the first frame.
    """

    mode = "predict"

    def __init__(self, weights: str) -> None:
        assert weights.endswith(".pt")

    def add_callback(self, event: str, function: Callable[[object], None]) -> None:
        assert event == "on_predict_batch_end"
        self.call = function

    def predict(self, video: str, *, stream: bool, conf: float, verbose: bool) -> list[object]:
        assert (video, stream, conf, verbose) == ("street.mp4", True, 0.01, False)
        track = [7] if self.mode == "track" else []
        found, plain = Boxes([1, 2, 3.5, 4, 0.75, 2, *track]), Boxes([1, 2, 3, 4, 0.5, 0])
        for batch in ([found, plain], [Boxes()]):
            names = {0: "person", 2: "car"}
            results = [SimpleNamespace(boxes=found, names=names) for found in batch]
            self.call(SimpleNamespace(results=results, args=SimpleNamespace(mode=self.mode)))
        return []


CAR = {"label": "car", "box": [1, 2, 3.5, 4], "confidence": 0.75}
PERSON = {"label": "person", "box": [1, 2, 3, 4], "confidence": 0.5}


@pytest.mark.parametrize(
    ("mode", "wanted"),
    [("predict", [[CAR], [PERSON], []]), ("track", [[{**CAR, "track": 7}], [], []])],
)
def test_the_callback_of_ultralytics_writes_every_frame(
    mode: str, wanted: list[object], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A frame in which nothing is tracked keeps its boxes, without tracks, which are left out."""
    monkeypatch.setitem(sys.modules, "ultralytics", module("ultralytics", YOLO=Yolo))
    monkeypatch.setattr(Yolo, "mode", mode)
    monkeypatch.setattr(sys, "argv", ["detect.py", "street.mp4", "street", str(tmp_path / "lines")])
    run_program("detect.py")["lines"].close()
    frames = schema_of_name("jsonl").read((tmp_path / "lines").read_bytes())
    assert [(frame.sensor, frame.number, frame.objects) for frame in frames] == [
        ("street", number, objects) for number, objects in enumerate(wanted)
    ]


# --- supervision -----------------------------------------------------------------------------


@pytest.mark.slow
def test_both_sinks_of_supervision_give_the_same_objects(tmp_path: Path) -> None:
    """The sink of the page writes the empty frame 1 too, which CSVSink leaves out."""
    import supervision

    empty = supervision.Detections.empty()
    found = supervision.Detections(
        xyxy=np.array([[1.0, 2.0, 3.5, 4.0], [5.0, 6.0, 7.0, 8.0]]),
        confidence=np.array([0.75, 0.5]),
        class_id=np.array([2, 0]),
        tracker_id=np.array([7, 8]),
        data={"class_name": np.array(["car", "person"])},
    )
    sink = run_program("line_sink.py", "line_sink")["LineSink"]
    with (
        sink(tmp_path / "lines", "street") as own,
        supervision.CSVSink(str(tmp_path / "found.csv")) as other,
    ):
        for number, detections in enumerate([found, empty, found]):
            own.append(detections, {"frame": number})
            other.append(detections, {"frame": number, "sequence": "street"})
    lines = schema_of_name("jsonl").read((tmp_path / "lines").read_bytes())
    rows = schema_of_name("supervision-csv").read((tmp_path / "found.csv").read_bytes())
    assert [frame.number for frame in lines] == [0, 1, 2]
    assert [(frame.sensor, frame.number, frame.objects) for frame in rows] == [
        (frame.sensor, frame.number, frame.objects) for frame in lines if frame.objects
    ]


# --- ROS 2 -----------------------------------------------------------------------------------


class Node:
    """A node whose topic is the requested one."""

    def __init__(self, name: str) -> None:
        self.name = name

    def declare_parameter(self, name: str, usual: str) -> SimpleNamespace:
        assert name == "topic"
        return SimpleNamespace(value=usual)

    def create_subscription(
        self, kind: object, topic: str, function: Callable[[object], None], profile: object
    ) -> None:
        assert (kind, topic, profile) == ("Detection2DArray", "/detections", {"depth": 1000})
        self.write = function

    def destroy_node(self) -> None:
        self.name = ""


def plain(value: Any) -> Any:
    """A message as returned by `message_to_ordereddict`: dictionaries, lists and plain values."""
    if is_dataclass(value):
        names = [field.name for field in fields(value) if field.name != "__msgtype__"]
        return {name: plain(getattr(value, name)) for name in names}
    if isinstance(value, np.ndarray):
        return value.tolist()
    return [plain(entry) for entry in value] if isinstance(value, list) else value


def test_the_node_of_ros_writes_what_the_bridge_reads(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    store = vision_store()

    def spin(node: Node) -> None:
        for number in range(2):
            node.write(detection_array(store, 1000 * 10**9 + number * 10**8, number))
        raise KeyboardInterrupt

    for made in (
        module("rclpy", init=lambda: None, spin=spin),
        module("rclpy.node", Node=Node),
        module("rclpy.qos", QoSProfile=dict),
        module("rosidl_runtime_py", message_to_ordereddict=plain),
        module("vision_msgs"),
        module("vision_msgs.msg", Detection2DArray="Detection2DArray"),
    ):
        monkeypatch.setitem(sys.modules, made.__name__, made)
    run_program("detections_to_lines.py")
    lines = capsys.readouterr().out.splitlines()
    read = schema_of_name("vision-msgs-json").read
    frames = [frame for line in lines for frame in read(line.encode())]
    assert [(frame.sensor, frame.time_s) for frame in frames] == [("cam", 1000.0), ("cam", 1000.1)]
    assert frames[1].objects == [
        {"label": "car", "box": [1.25, 0.0, 11.25, 10.0], "confidence": 0.51, "track": 7}
    ]
    assert json.loads(lines[0])["header"]["frame_id"] == "cam"


def test_the_node_of_ros_has_about_40_lines() -> None:
    assert len(program("detections_to_lines.py").splitlines()) <= 40


def test_the_configuration_of_deepstream_sends_every_frame_in_protobuf() -> None:
    [text] = [block.text for block in blocks(PAGE) if block.language == "ini"]
    assert {"msg-conv-frame-interval=1", "msg-conv-payload-type=2"} <= set(text.splitlines())


def test_files_of_sources_on_the_page_of_feeds_are_accepted(tmp_path: Path) -> None:
    make_authority(tmp_path)
    (tmp_path / "broker").write_text("secret")
    page = (ROOT / "docs" / "feeds.md").read_text("utf-8")
    texts = [block.text for block in blocks(page) if "[[sources]]" in block.text]
    names = []
    for text in texts:
        file = tmp_path / "sources.toml"
        file.write_text(re.sub(r"/(etc/vidscore|run/secrets)(?=/)", str(tmp_path), text))
        names.append([source.name for source in read_sources(file)])
    assert names == [["north", "drive", "south"], ["south"]]
