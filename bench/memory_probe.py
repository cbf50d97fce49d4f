"""Measure the memory of scoring, in a separate process that prints it.

``python -m bench.memory_probe columns TRUTH DETECTIONS EVALUATOR ...`` loads the columns that
`save` has written into two folders, and scores them with the evaluators. ``... files ...`` reads
and scores files. ``... outcomes ...`` loads columns and makes outcomes. All print the maximum
growth of the process since its start, in bytes.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np

from vidscore_evaluators import score
from vidscore_evaluators.annotations import Annotations, SequenceKey
from vidscore_evaluators.jobs import outcomes_in_parts
from vidscore_evaluators.outcome_table import concatenate_outcomes
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


def save(annotations: Annotations, folder: Path) -> None:
    """Write the columns of a side into a new folder."""
    folder.mkdir()
    for name in COLUMNS:
        np.save(folder / f"{name}.npy", getattr(annotations, name))
    np.save(folder / "sequences.npy", np.array([tuple(key) for key in annotations.sequences]))
    np.save(folder / "labels.npy", np.array(annotations.labels))


def load(folder: Path) -> Annotations:
    """Read the columns that `save` has written."""
    return Annotations(
        sequences=tuple(SequenceKey(*key) for key in np.load(folder / "sequences.npy").tolist()),
        labels=tuple(np.load(folder / "labels.npy").tolist()),
        **{name: np.load(folder / f"{name}.npy") for name in COLUMNS},
    )


def peak_of(*arguments: str) -> float:
    """Maximum growth in bytes of a process that runs this module with the arguments."""
    command = [sys.executable, "-m", "bench.memory_probe", *arguments]
    printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return float(printed)


def main() -> None:
    """Score, and print the maximum growth of the process."""
    kind, truth, detections, *names = sys.argv[1:]
    evaluators = [create_evaluator(name) for name in names]
    before = _peak_bytes()
    if kind == "files":
        score(names, Path(truth), Path(detections))
    elif kind == "outcomes":
        for evaluator in evaluators:
            sides = load(Path(truth)), load(Path(detections))
            rows = sum(side.object_count for side in sides)
            concatenate_outcomes(outcomes_in_parts(evaluator, *sides), rows)
    else:
        score_annotations(evaluators, load(Path(truth)), load(Path(detections)))
    print(_peak_bytes() - before)


def _peak_bytes() -> int:
    # Not from getrusage: its peak includes that of the process that started this one.
    status = Path("/proc/self/status").read_text(encoding="ascii")
    [kibibytes] = re.findall(r"VmHWM:\s+(\d+) kB", status)
    return int(kibibytes) * 1024


if __name__ == "__main__":
    main()
