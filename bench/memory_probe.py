"""How much memory scoring takes: run in a process of its own, which prints two numbers.

``python -m bench.memory_probe FOLDER`` loads the columns that `bench.cases.growth` wrote, scores
them, and prints the bytes of the columns and the greatest growth of the process since its start.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np

from vidscore_evaluators.annotations import Annotations, SequenceKey
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.scoring import score_annotations

COLUMNS = (
    "frame_sequences",
    "frame_numbers",
    "frame_flags",
    "frame_starts",
    "coordinates",
    "label_indices",
    "confidences",
    "track_ids",
    "flags",
)


def save(annotations: Annotations, folder: Path, side: str) -> None:
    """Write the columns of a side."""
    for name in COLUMNS:
        np.save(folder / f"{side}-{name}.npy", getattr(annotations, name))
    keys = np.array([tuple(key) for key in annotations.sequences])
    np.save(folder / f"{side}-sequences.npy", keys)
    np.save(folder / f"{side}-labels.npy", np.array(annotations.labels))


def load(folder: Path, side: str) -> Annotations:
    """Read them."""
    keys = np.load(folder / f"{side}-sequences.npy").tolist()
    return Annotations(
        sequences=tuple(SequenceKey(*key) for key in keys),
        labels=tuple(np.load(folder / f"{side}-labels.npy").tolist()),
        **{name: np.load(folder / f"{side}-{name}.npy") for name in COLUMNS},
    )


def main() -> None:
    """Load, score, and print columns' bytes and peak growth."""
    evaluator = create_evaluator("neovision2")
    before = _peak_bytes()
    folder = Path(sys.argv[1])
    sides = load(folder, "truth"), load(folder, "detections")
    score_annotations([evaluator], *sides)
    print(sum(side.nbytes for side in sides), _peak_bytes() - before)


def _peak_bytes() -> int:
    # Not what getrusage says: a process begins there with the peak of the one that started it.
    status = Path("/proc/self/status").read_text(encoding="ascii")
    [kibibytes] = re.findall(r"VmHWM:\s+(\d+) kB", status)
    return int(kibibytes) * 1024


if __name__ == "__main__":
    main()
