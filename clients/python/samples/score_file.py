"""Score a file of detections against a file of truth; the server keeps nothing.

python clients/python/samples/score_file.py localhost:50051 f1 truth.csv detections.csv
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import Any, NamedTuple

from table import print_scores

from vidscore_client import Geometry, ObjectFlag, VidscoreError, connect

SHAPES: dict[Geometry, tuple[str, ...]] = {
    "quadrilateral": ("x1", "y1", "x2", "y2", "x3", "y3", "x4", "y4"),
    "box": ("x1", "y1", "x2", "y2"),
    "point": ("x", "y"),
}
Row = dict[str, str]


class Contents(NamedTuple):
    """A file: the shape of its objects, and the rows of each of its frames."""

    geometry: Geometry
    frames: list[list[Row]]


def main(arguments: list[str]) -> int:
    """Score the files of the command line."""
    if len(arguments) != 4:
        print("usage: score_file.py ADDRESS EVALUATOR TRUTH.csv DETECTIONS.csv", file=sys.stderr)
        return 2
    address, evaluator = arguments[:2]
    truth, detections = (read_generic_csv(Path(name)) for name in arguments[2:])
    with (
        connect(address) as client,
        client.score_stream(
            [evaluator], truth_geometry=truth.geometry, detection_geometry=detections.geometry
        ) as stream,
    ):
        for rows in truth.frames:
            objects, flags = objects_of(rows, truth.geometry), flags_of(rows, truth.geometry)
            dont_care = any("dont_care_frame" in words_of(row) for row in rows)
            stream.send_truth(**objects, flags=flags, dont_care=dont_care)
        for rows in detections.frames:
            stream.send(**objects_of(rows, detections.geometry))
        print_scores(stream.finish())
    return 0


def read_generic_csv(path: Path) -> Contents:
    """Read a file in the generic CSV format: named columns, a row for each object."""
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        names = set(reader.fieldnames or ())
        geometry = next((shape for shape, needed in SHAPES.items() if names >= {*needed}), None)
        if geometry is None:
            raise ValueError(f"{path}: no coordinates among the columns {', '.join(sorted(names))}")
        frames: dict[tuple[str, str, str], list[Row]] = {}
        for row in reader:
            key = (row.get("domain", ""), row["sequence"], row["frame"])
            frames.setdefault(key, []).append(row)
    return Contents(geometry, list(frames.values()))


def objects_of(rows: list[Row], geometry: Geometry) -> dict[str, Any]:
    """A frame's name and objects, as `send` takes them."""
    objects = with_coordinates(rows, geometry)
    times_s = [float(row["time_s"]) for row in rows if row.get("time_s")]
    return {
        "sequence": rows[0]["sequence"],
        "frame": int(rows[0]["frame"]),
        "domain": rows[0].get("domain", ""),
        "time_s": times_s[0] if times_s else None,
        "coordinates": [[float(row[name]) for name in SHAPES[geometry]] for row in objects],
        "labels": [row.get("class", "") for row in objects],
        "confidences": [float(row.get("confidence") or 1) for row in objects],
        "track_ids": [int(row.get("track_id") or -1) for row in objects],
    }


def flags_of(rows: list[Row], geometry: Geometry) -> list[int]:
    """Flag bits of each object of a frame."""
    return [
        sum(flag for flag in ObjectFlag if flag.name and flag.name.lower() in words_of(row))
        for row in with_coordinates(rows, geometry)
    ]


def with_coordinates(rows: list[Row], geometry: Geometry) -> list[Row]:
    """The rows that are objects; a row without coordinates only lists its frame."""
    return [row for row in rows if row[SHAPES[geometry][0]]]


def words_of(row: Row) -> list[str]:
    """Words of a row's flags."""
    return row.get("flags", "").split("|")


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (VidscoreError, OSError, ValueError) as error:
        sys.exit(str(error))
