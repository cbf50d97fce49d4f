"""Masks over HTTP: hosted scores equal those of `vidscore score`, and faults name a place.

The files have polygons, runs and compressed texts; all are runs on the wire.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.evaluators.plausibility.odd_masks import ODD_RESULTS, ODD_TRUTH
from tests.evaluators.presets.coco_masks import HEIGHT, WIDTH, random_mask_files
from tests.server.api.http.asking import LINES, ONE, STREAM, Caller, as_json, caller, lines
from tests.server.domain.hosted import BENCHMARK, end_of
from tests.server.domain.streets import streets
from tests.server.web.site.browsing import Browsing

from vidscore_evaluators import score
from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.formats import read_pair
from vidscore_evaluators.plausibility.summary import MASK_DOUBTS
from vidscore_protos.v1 import annotations_pb2, specification_pb2
from vidscore_server.api.batches import write_batch

BATCH = "SubmissionService/AppendBatch"
PARAMETERS = [specification_pb2.Parameter(name="base", text="mask")]


def coco_files(folder: Path) -> tuple[Path, Path]:
    """Truth and results, both with polygons, runs and compressed texts."""
    truth, results = random_mask_files(4)
    polygon = [[3.5, 4.0, 30.25, 6.0, 28.0, 33.5], [40.0, 5.0, 52.0, 5.0, 52.0, 20.0, 40.0, 20.0]]
    runs = {"size": [HEIGHT, WIDTH], "counts": [500, 40, HEIGHT * WIDTH - 540]}
    first = results[0]
    more = [first | {"segmentation": polygon}, first | {"segmentation": runs, "score": 0.25}]
    forms = {type(entry["segmentation"]) for entry in truth["annotations"]}
    assert forms == {list, dict}
    found = {**truth, "annotations": [*results, *more]}
    paths = folder / "truth.json", folder / "found.json"
    for path, document in zip(paths, (truth, found), strict=True):
        path.write_text(json.dumps(document))
    return paths


def append_of(offset: int, batch: annotations_pb2.AnnotationBatch) -> dict[str, Any]:
    detections = as_json(batch)
    return {"stream": STREAM, "epoch": "1", "offset": offset, "detections": detections}


async def hosted_truth(site: Browsing, truth: Annotations) -> None:
    """A benchmark of masks whose truth was uploaded over HTTP, one line per frame."""
    message = streets()
    [evaluator] = message.specification.evaluators
    evaluator.name = "coco"
    evaluator.parameters.extend(PARAMETERS)
    await site.hosted.organiser.create(message, public=("sequences", "labels"))
    batches = [write_batch(truth.frame_run(row, row + 1)) for row in range(truth.frame_count)]
    body = lines(
        {"header": {"benchmark": BENCHMARK, "complete": True}},
        *({"truth": as_json(batch)} for batch in batches),
        {"end": as_json(end_of(*batches))},
    )
    page = await caller(site, site.hosted.organiser).post(
        "BenchmarkService/UploadTruth", body, LINES
    )
    assert page.status == 200, page.text


@pytest.mark.parametrize("way", ["one body", "lines"])
async def test_masks_over_http_get_the_scores_of_the_files(
    site: Browsing, tmp_path: Path, way: str
) -> None:
    paths = coco_files(tmp_path)
    expected = score("coco", *paths, base="mask")
    report = await scored_over_http(site, paths, way)
    values = {
        entry["measure"]: entry["value"].get("number")
        for entry in report["scores"]
        if "label" not in entry
    }
    assert values == {
        row.measure: row.value
        for row in expected.rows()
        if row.label is None and row.sequence is None
    }
    assert values["ap"]


async def test_suspicious_masks_give_warnings_from_files_and_over_http(
    site: Browsing, tmp_path: Path
) -> None:
    paths = tmp_path / "truth.json", tmp_path / "found.json"
    for path, text in zip(paths, (ODD_TRUTH, ODD_RESULTS), strict=True):
        path.write_text(text)
    report = await scored_over_http(site, paths, "one body")
    expected = score("coco", *paths, base="mask")
    codes = [warning.code for warning in expected.warnings]
    assert [codes.count(code) for code in MASK_DOUBTS] == [2, 2, 2]
    assert [warning["code"] for warning in report["warnings"]] == codes


async def scored_over_http(site: Browsing, paths: tuple[Path, Path], way: str) -> dict[str, Any]:
    """The report of files that were sent over HTTP, as organisers see it."""
    pair = read_pair(*paths)
    await hosted_truth(site, pair.truth.annotations)
    await site.hosted.red.submission("one")
    red, found = caller(site, site.hosted.red), pair.detections.annotations
    if way == "one body":
        await red.value(BATCH, append_of(0, write_batch(found)))
    else:
        frames = [write_batch(found.frame_run(row, row + 1)) for row in range(found.frame_count)]
        body = lines(*(append_of(row, batch) for row, batch in enumerate(frames)))
        page = await red.post("SubmissionService/AppendFrames", body, LINES)
        assert page.status == 200, page.text
    await red.value("SubmissionService/SealSubmission", {"name": ONE})
    await site.hosted.red.ended()
    organiser = caller(site, site.hosted.organiser)
    asked = {"submission": ONE}
    [scored] = (await organiser.value("SubmissionService/ListScores", asked))["scores"]
    report: dict[str, Any] = scored["report"]
    return report


def masked(**columns: Any) -> dict[str, Any]:
    """A frame with two boxes and their masks of 2 by 3 pixels, as JSON."""
    batch = {
        "sequences": [{"sequence": "street"}],
        "labels": ["car"],
        "frameSequences": [0],
        "frameNumbers": [1],
        "frameObjectCounts": [2],
        "geometry": "GEOMETRY_BOX",
        "coordinates": [0, 0, 3, 2] * 2,
        "labelIndices": [0, 0],
        "maskHeights": [2, 2],
        "maskWidths": [3, 3],
        "maskRunCounts": [2, 3],
        "maskRuns": [0, 6, 1, 2, 3],
    }
    return {**batch, **columns}


@pytest.mark.parametrize(
    ("columns", "field", "found"),
    [
        ({"maskRuns": [0, 6, 1, 2, 2]}, "run_counts[1]", "runs of 5 pixels"),
        ({"maskRuns": [0, 6, 1, 2, 9]}, "run_counts[1]", "runs of more than 6 pixels"),
        ({"maskRunCounts": [2, 2]}, "runs", "5 values"),
        ({"maskHeights": [2, 0]}, "heights[1]", "0 by 3"),
        ({"maskHeights": [2]}, "widths", "2 values"),
        ({"maskHeights": [2, 3], "maskWidths": [3, 2]}, "heights[1]", "3 by 2"),
    ],
)
async def test_an_invalid_mask_is_refused_with_its_place(
    site: Browsing, columns: dict[str, Any], field: str, found: str
) -> None:
    """Nothing of the batch is stored."""
    red = await _team(site)
    body = {"stream": STREAM, "epoch": "1", "offset": 0, "detections": masked(**columns)}
    page = await red.post(BATCH, body)
    assert page.status == 400, page.text
    [_, request] = json.loads(page.body)["details"]
    violations = {
        entry["field"]: entry["description"] for entry in request["debug"]["fieldViolations"]
    }
    assert violations[f"detections.mask_{field}"].startswith(f"found {found}, expected ")
    whole = {**body, "detections": masked()}
    assert await red.value(BATCH, whole) == {"nextOffset": "1"}


async def _team(site: Browsing) -> Caller:
    await site.hosted.organiser.create(streets(), public=("sequences", "labels"))
    await site.hosted.red.submission("one")
    return caller(site, site.hosted.red)
