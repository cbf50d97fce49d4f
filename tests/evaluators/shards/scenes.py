"""Scenes as files, for tests of shards."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from vidscore_evaluators.preparation import DataChoice, judged_by, prepare
from vidscore_evaluators.shards.dealing import Shard
from vidscore_evaluators.shards.tally_files import shard_to_bytes
from vidscore_evaluators.shards.tallying import CheckedData

HEADER = "sequence,frame,class,x1,y1,x2,y2"
STREETS = tuple(f"street{number}" for number in range(6))


def write_scene(folder: Path, *, moved_px: int = 0, sequences: Sequence[str] = STREETS) -> None:
    """Write ``truth.csv`` and ``detections.csv``: three frames per sequence, a car in each.

    Args:
        folder: The folder for the files.
        moved_px: Displacement of the detection of the last frame.
        sequences: Names of the sequences.
    """
    truth, detections = [HEADER], [f"{HEADER},confidence"]
    for place, name in enumerate(sequences):
        for frame in range(3):
            truth.append(f"{name},{frame},car,{10 * frame},10,{10 * frame + 30},40")
            x = 10 * frame + place
            detections.append(f"{name},{frame},car,{x},10,{x + 30},40,0.{frame + 1}")
    last = detections.pop().split(",")
    last[3] = str(int(last[3]) + moved_px)
    detections.append(",".join(last))
    (folder / "truth.csv").write_text("\n".join(truth) + "\n")
    (folder / "detections.csv").write_text("\n".join(detections) + "\n")


def read_scene(folder: Path, *evaluators: str, **parameters: object) -> CheckedData:
    """Read the files of `write_scene`.

    Args:
        folder: The folder of the files.
        evaluators: The evaluators; f1 by default.
        parameters: Parameters of the evaluator.
    """
    specification = judged_by(
        evaluators or ["f1"], specification=None, manifest=None, parameters=parameters
    )
    sides = (folder / "truth.csv", folder / "detections.csv")
    return CheckedData.of(prepare(specification, *sides, DataChoice()), DataChoice())


def write_tallies(folder: Path, data: CheckedData, count: int) -> list[Path]:
    """Write the tally file of each shard."""
    files = []
    for shard in Shard.all_of(count):
        path = folder / f"{shard.number}.tally"
        path.write_bytes(shard_to_bytes(data.tally(shard)))
        files.append(path)
    return files
