"""Files mean the same to us as to the tools that made their formats."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import motmetrics
import numpy as np
import pytest
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval
from tests.evaluators.formats.helpers import detections_of, truth_of

from vidscore_evaluators.annotations import SequenceKey, Side
from vidscore_evaluators.formats.convert import convert
from vidscore_evaluators.formats.source import Source
from vidscore_evaluators.scoring import score
from vidscore_evaluators.testing import Thing, make_annotations

MOT_DATA = Path(motmetrics.__file__).parent / "data"


# motmetrics subtracts the pixel in a way that newer versions of pandas warn about.
@pytest.mark.filterwarnings("ignore:Operation with tuple is deprecated")
@pytest.mark.parametrize("name", ["TUD-Campus", "TUD-Stadtmitte"])
@pytest.mark.parametrize("file", ["gt.txt", "test.txt"])
def test_motmetrics_reads_the_same_rows(name: str, file: str) -> None:
    """Same frames, tracks and boxes; motmetrics subtracts the 1 of the first pixel, we do not."""
    path = MOT_DATA / name / file
    read = truth_of if file == "gt.txt" else detections_of
    ours = read(path, format_name="motchallenge").annotations
    theirs = motmetrics.io.loadtxt(path, fmt="mot15-2D", min_confidence=-np.inf)
    theirs = theirs.sort_index(kind="stable")
    frames = ours.frame_numbers[ours.object_frames]
    order = np.lexsort((ours.track_ids, frames))
    assert list(zip(frames[order], ours.track_ids[order], strict=True)) == list(theirs.index)
    x1, y1, x2, y2 = ours.coordinates[order].T
    boxes = np.stack([x1 - 1, y1 - 1, x2 - x1, y2 - y1], axis=1)
    expected = theirs[["X", "Y", "Width", "Height"]].to_numpy(dtype=np.float64)
    np.testing.assert_allclose(boxes, expected, atol=1e-9)


def test_a_single_file_is_named_after_its_folder_if_its_own_name_says_nothing() -> None:
    source = truth_of(MOT_DATA / "TUD-Campus" / "gt.txt", format_name="motchallenge")
    assert source.annotations.sequences == (SequenceKey("", "TUD-Campus"),)


def test_pycocotools_gives_written_files_the_same_score(tmp_path: Path) -> None:
    """AP of COCOeval over the converted truth and results equals ours over the originals."""
    random = np.random.default_rng(8)
    truth: dict[int, list[Thing]] = {}
    found: dict[int, list[Thing]] = {}
    for frame in range(12):
        boxes = random.integers(0, 200, (5, 2)) + np.array([[0, 0]])
        sizes = random.integers(20, 60, (5, 2))
        labels = random.choice(["car", "dog"], 5).tolist()
        corners = np.concatenate([boxes, boxes + sizes], axis=1).astype(float)
        noise = random.integers(-6, 7, corners.shape) / 2
        truth[frame] = [
            Thing(tuple(box), label) for box, label in zip(corners, labels, strict=True)
        ]
        found[frame] = [
            Thing(tuple(box), label, confidence)
            for box, label, confidence in zip(
                corners + noise, labels, random.permutation(100)[:5] / 100, strict=True
            )
        ]
    sides = [make_annotations({("", "street"): frames}) for frames in (truth, found)]
    sources = [Source(side, "given") for side in sides]
    paths = [tmp_path / "truth.json", tmp_path / "results.json"]
    for source, side, path in zip(sources, Side, paths, strict=True):
        path.write_bytes(convert(source, "coco-json", side, truth=sources[0]).files[""])
    with contextlib.redirect_stdout(io.StringIO()):
        reference = COCO(str(paths[0]))
        evaluation = COCOeval(reference, reference.loadRes(str(paths[1])), "bbox")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    report = score("coco", paths[0], paths[1])
    assert report.value("ap") == pytest.approx(float(evaluation.stats[0]), abs=1e-9)
    assert 0.1 < float(evaluation.stats[0]) < 0.9
    assert report.rows() == score("coco", *sides).rows()
