"""Bags of ROS 2, written by rosbags, which has its own CDR encoder."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

DETECTIONS = "/detections"
NOISE = "/log"

_DEFINITIONS = {
    "Point2D": "float64 x\nfloat64 y",
    "Pose2D": "vision_msgs/Point2D position\nfloat64 theta",
    "BoundingBox2D": "vision_msgs/Pose2D center\nfloat64 size_x\nfloat64 size_y",
    "ObjectHypothesis": "string class_id\nfloat64 score",
    "ObjectHypothesisWithPose": (
        "vision_msgs/ObjectHypothesis hypothesis\ngeometry_msgs/PoseWithCovariance pose"
    ),
    "Detection2D": (
        "std_msgs/Header header\nvision_msgs/ObjectHypothesisWithPose[] results\n"
        "vision_msgs/BoundingBox2D bbox\nstring id"
    ),
    "Detection2DArray": "std_msgs/Header header\nvision_msgs/Detection2D[] detections",
}
"""The messages of vision_msgs 4."""


def vision_store() -> Any:
    store = get_typestore(Stores.ROS2_HUMBLE)
    for name, text in _DEFINITIONS.items():
        store.register(get_types_from_msg(text, f"vision_msgs/msg/{name}"))
    return store


def detection_array(store: Any, time_ns: int, number: int) -> Any:
    """A frame with one object: a car at (number, 0) of 10 x 10 pixels."""
    types = store.types
    stamp = types["builtin_interfaces/msg/Time"](time_ns // 10**9, time_ns % 10**9)
    header = types["std_msgs/msg/Header"](stamp, "cam")
    point, turn = types["geometry_msgs/msg/Point"], types["geometry_msgs/msg/Quaternion"]
    pose = types["geometry_msgs/msg/Pose"](point(0, 0, 0), turn(0, 0, 0, 1))
    with_covariance = types["geometry_msgs/msg/PoseWithCovariance"](pose, np.zeros(36))
    hypothesis = types["vision_msgs/msg/ObjectHypothesis"]("car", 0.5 + number / 100)
    result = types["vision_msgs/msg/ObjectHypothesisWithPose"](hypothesis, with_covariance)
    center = types["vision_msgs/msg/Pose2D"](
        types["vision_msgs/msg/Point2D"](number + 5.25, 5.0), 0.0
    )
    box = types["vision_msgs/msg/BoundingBox2D"](center, 10.0, 10.0)
    found = types["vision_msgs/msg/Detection2D"](header, [result], box, "7")
    return types["vision_msgs/msg/Detection2DArray"](header, [found])


def write_bag(folder: Path, plugin: StoragePlugin, numbers: Iterable[int]) -> None:
    """Record ten frames in a second, from 1000 s on, each followed by a log line."""
    store = vision_store()
    with Writer(folder, version=9, storage_plugin=plugin) as writer:
        found = writer.add_connection(
            DETECTIONS, "vision_msgs/msg/Detection2DArray", typestore=store
        )
        log = writer.add_connection(NOISE, "std_msgs/msg/String", typestore=store)
        for number in numbers:
            time_ns = 1000 * 10**9 + number * 10**8
            message = detection_array(store, time_ns, number)
            data = store.serialize_cdr(message, "vision_msgs/msg/Detection2DArray")
            writer.write(found, time_ns + 5_000_000, data)
            text = store.types["std_msgs/msg/String"](f"frame {number}")
            writer.write(log, time_ns + 6_000_000, store.serialize_cdr(text, "std_msgs/msg/String"))
