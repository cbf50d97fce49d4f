"""Archives in Parquet: each sequence is generated from its number."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from vidscore_evaluators.arrays import FloatArray

FRAMES_PER_SEQUENCE = 1_000
OBJECTS_PER_FRAME = 10
DETECTED = 0.9
WIDTH_PX, HEIGHT_PX, SIDE_PX = 1_900, 1_000, 40
LOCALISATION_PX = 3.0
LABELS = ("car", "person", "truck")

DETECTIONS_PER_SEQUENCE = FRAMES_PER_SEQUENCE * OBJECTS_PER_FRAME


def write_sequence(folder: Path, number: int) -> int:
    """Write both sides of a sequence, one file each, into `truth/` and `detections/` of a folder.

    Nine in ten objects are detected with a small displacement. For each other object there is a
    detection at a random place.

    Args:
        folder: Folder of both sides.
        number: Number of the sequence.

    Returns:
        Size of both files in bytes.
    """
    random = np.random.default_rng([3, number])
    count = DETECTIONS_PER_SEQUENCE
    corners = random.uniform((0, 0), (WIDTH_PX, HEIGHT_PX), (count, 2))
    labels = random.integers(0, len(LABELS), count)
    moved = corners + random.normal(0, LOCALISATION_PX, (count, 2))
    missed = random.random(count) >= DETECTED
    moved[missed] = random.uniform((0, 0), (WIDTH_PX, HEIGHT_PX), (int(missed.sum()), 2))
    name = f"s{number:07d}"
    confidences = np.round(random.random(count), 4)
    truth = _written(folder / "truth" / f"{name}.parquet", name, corners, labels, None)
    return truth + _written(
        folder / "detections" / f"{name}.parquet", name, moved, labels, confidences
    )


def _written(
    path: Path,
    name: str,
    corners: FloatArray,
    labels: np.ndarray,
    confidences: FloatArray | None,
) -> int:
    frames = np.repeat(np.arange(FRAMES_PER_SEQUENCE, dtype=np.int32), OBJECTS_PER_FRAME)
    low = np.round(corners, 1).astype(np.float32)
    rows = np.zeros(len(corners), dtype=np.int32)
    columns = {
        "sequence": pa.DictionaryArray.from_arrays(rows, pa.array([name])),
        "frame": frames,
        "class": pa.DictionaryArray.from_arrays(labels.astype(np.int32), pa.array(LABELS)),
        "x1": low[:, 0],
        "y1": low[:, 1],
        "x2": low[:, 0] + np.float32(SIDE_PX),
        "y2": low[:, 1] + np.float32(SIDE_PX),
    }
    if confidences is not None:
        columns["confidence"] = confidences
    pq.write_table(pa.table(columns), path, compression="zstd")
    return path.stat().st_size
