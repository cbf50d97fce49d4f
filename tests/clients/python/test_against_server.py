"""The client with a real server: the same report as scoring in this process, bit for bit."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from vidscore_client import (
    Client,
    Frames,
    Geometry,
    Health,
    InvalidArgumentError,
    LimitExceededError,
    Live,
    LiveReport,
    NotFoundError,
    __version__,
    aio,
    connect,
)
from vidscore_client import Masks as SentMasks
from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.convert import to_dict
from vidscore_evaluators.mask_forms import compressed_texts, masks_from_counts
from vidscore_evaluators.masks import Masks
from vidscore_evaluators.registry import create_evaluator, evaluator_names
from vidscore_evaluators.report import report_to_dict, report_to_json
from vidscore_evaluators.scoring import score_annotations
from vidscore_evaluators.specification import spec_from_dict
from vidscore_evaluators.validation import Columns, build_annotations


@dataclass(frozen=True)
class Scene:
    """Data to score.

    Attributes:
        evaluator: The evaluator.
        parameters: Its parameters that are not the defaults.
        specification: What the data alone cannot say.
        truth: The truth.
        detections: The detections.
        geometries: Shape of the truth's objects and of the detections.
    """

    evaluator: str
    parameters: dict[str, Any]
    specification: dict[str, Any]
    truth: Annotations
    detections: Annotations
    geometries: tuple[Geometry, Geometry]

    def in_process(self) -> Any:
        """The report of this process."""
        specification = spec_from_dict(
            {
                **self.specification,
                "evaluators": [{"name": self.evaluator, "parameters": self.parameters}],
            }
        )
        evaluator = create_evaluator(self.evaluator, self.parameters, specification)
        [report] = score_annotations([evaluator], self.truth, self.detections, specification)
        return report

    def arguments(self) -> dict[str, Any]:
        """The arguments of a stream that scores it."""
        return {
            "evaluators": [(self.evaluator, self.parameters)],
            "specification": to_dict(spec_from_dict(self.specification)),
            "truth_geometry": self.geometries[0],
            "detection_geometry": self.geometries[1],
        }


def random_side(
    random: np.random.Generator,
    sequences: list[tuple[str, str]],
    arity: int,
    *,
    labels: tuple[str, ...] = (),
    flags: bool = False,
    confidences: bool = False,
) -> Annotations:
    """Five frames of each sequence, with none to seven objects close to each other."""
    counts = random.integers(0, 8, 5 * len(sequences))
    total = int(counts.sum())
    corners = random.uniform(0.0, 40.0, (total, 1)) + random.uniform(0.0, 12.0, (total, 2))
    sizes = random.uniform(1.0, 15.0, (total, 2))
    return build_annotations(
        Columns(
            arity=arity,
            sequences=sequences,
            frame_sequences=np.repeat(np.arange(len(sequences)), 5),
            frame_numbers=np.tile(np.arange(1, 6), len(sequences)),
            object_counts=counts,
            coordinates=np.hstack([corners, corners + sizes])[:, :arity],
            labels=labels,
            label_indices=random.integers(0, len(labels), total) if labels else (),
            confidences=random.integers(0, 21, total) / 20 if confidences else (),
            object_flags=random.integers(0, 2, total) if flags else (),
            frame_flags=random.integers(0, 8, len(counts)) // 7 if flags else (),
        )
    )


def spotgeo() -> Scene:
    """Points of thirty sequences."""
    random = np.random.default_rng(1)
    sequences = [("", f"{number}") for number in range(30)]
    return Scene(
        evaluator="spotgeo",
        parameters={"tau": 8.0},
        specification={"title": "Points"},
        truth=random_side(random, sequences, 2),
        detections=random_side(random, sequences, 2),
        geometries=("point", "point"),
    )


def neovision2() -> Scene:
    """Labelled boxes of two domains, with don't-care objects and frames, and frames to come."""
    random = np.random.default_rng(2)
    sequences = [("Tower", f"t{number}") for number in range(6)]
    sequences += [("Helicopter", f"h{number}") for number in range(6)]
    labels = ("Car", "Bus", "Person", "Tree")
    return Scene(
        evaluator="neovision2",
        parameters={"overlap_threshold": 0.3},
        specification={
            "domains": [{"name": "Tower", "classes": ["Car", "Bus"]}],
            "sequences": [
                {"domain": "Tower", "name": "t0", "frame_count": 9, "dont_care_frames": [[7, 8]]}
            ],
        },
        truth=random_side(random, sequences, 4, labels=labels, flags=True),
        detections=random_side(random, sequences, 4, labels=labels, confidences=True),
        geometries=("box", "box"),
    )


def masks() -> Scene:
    """Boxes with masks of 30 by 40 pixels, some of which are empty."""
    random = np.random.default_rng(4)
    sequences = [("", f"m{number}") for number in range(3)]
    sides = [random_side(random, sequences, 4, confidences=bool(side)) for side in range(2)]
    truth, detections = (replace(side, masks=_random_masks(random, side)) for side in sides)
    return Scene(
        evaluator="f1",
        parameters={"base": "mask", "threshold": 0.3},
        specification={},
        truth=truth,
        detections=detections,
        geometries=("box", "box"),
    )


def _random_masks(random: np.random.Generator, side: Annotations) -> Masks:
    """The parts of the boxes of a side that are inside the image."""
    bounds = np.rint(side.coordinates).astype(int).tolist()
    image = np.zeros((side.object_count, 40, 30), dtype=np.uint8)  # Column by column.
    for pixels, (left, top, right, bottom) in zip(image, bounds, strict=True):
        pixels[left:right, top:bottom] = random.integers(0, 8) > 0
    counts = [[len(list(run)) for _, run in groupby([0, *pixels.flat])] for pixels in image]
    runs = [[first - 1, *others] for first, *others in counts]
    return masks_from_counts(runs, np.full((len(runs), 2), [30, 40]))


@pytest.fixture
def client(target: str) -> Iterator[Client]:
    """A synchronous client of the server."""
    with connect(target, timeout_s=60.0) as connected:
        yield connected


@pytest.fixture(params=[spotgeo, neovision2, masks], ids=lambda made: made.__name__, scope="module")
def scene(request: pytest.FixtureRequest) -> Scene:
    """Data to score."""
    made: Scene = request.param()
    return made


def live_loop(scene: Scene) -> Iterator[tuple[str, dict[str, Any]]]:
    """Method and arguments for each frame of both sides, in random order."""
    calls = [("send_truth", call) for call in _single_frames(scene.truth)]
    for call in _single_frames(scene.detections):
        del call["flags"], call["dont_care"]
        calls.append(("send", call))
    for index in np.random.default_rng(3).permutation(len(calls)).tolist():
        yield calls[index]


def _single_frames(side: Annotations) -> Iterator[dict[str, Any]]:
    for row in range(side.frame_count):
        objects = slice(side.frame_starts[row], side.frame_starts[row + 1])
        key = side.sequences[side.frame_sequences[row]]
        yield {
            "sequence": key.sequence,
            "domain": key.domain,
            "frame": int(side.frame_numbers[row]),
            "coordinates": side.coordinates[objects].tolist(),
            "labels": [side.labels[index] for index in side.label_indices[objects]],
            "confidences": side.confidences[objects].tolist(),
            "track_ids": side.track_ids[objects],
            "flags": side.flags[objects],
            "dont_care": bool(side.frame_flags[row]),
            "masks": None if side.masks is None else _as_coco(side.masks, objects),
        }


def _as_coco(masks: Masks, rows: slice) -> list[dict[str, Any]]:
    """Masks as COCO objects, alternately with their runs and with their text."""
    some = masks.run(rows.start, rows.stop)
    return [
        {"size": size, "counts": text if row % 2 else runs.tolist()}
        for row, (size, text, runs) in enumerate(
            zip(
                some.sizes.tolist(),
                compressed_texts(some),
                np.split(some.runs, some.starts[1:-1]),
                strict=False,  # No masks give one part without runs.
            )
        )
    ]


def odd_batches(side: Annotations) -> Iterator[Frames]:
    """The frames in batches of seven."""
    frames = Frames(
        sequences=side.sequences,
        frame_sequences=side.frame_sequences,
        frame_numbers=side.frame_numbers,
        frame_starts=side.frame_starts,
        coordinates=side.coordinates,
        labels=side.labels,
        label_indices=side.label_indices,
        confidences=side.confidences,
        track_ids=side.track_ids,
        flags=side.flags,
        frame_flags=side.frame_flags,
        masks=(
            None
            if side.masks is None
            else SentMasks(side.masks.sizes, side.masks.starts, side.masks.runs)
        ),
    )
    for first in range(0, frames.frame_count, 7):
        yield frames.part(first, min(first + 7, frames.frame_count))


@pytest.mark.slow
def test_a_stream_frame_by_frame_gives_the_report_of_this_process(
    client: Client, scene: Scene
) -> None:
    seen: list[LiveReport] = []
    live = Live(every_frames=1, every_s=0.01, on_report=seen.append)
    with client.score_stream(**scene.arguments(), live=live) as stream:
        for method, call in live_loop(scene):
            getattr(stream, method)(**call)
        [report] = stream.finish()
        assert stream.server_version == __version__
        assert stream.limits["maximum_frame_objects"] == 100
    expected = scene.in_process()
    assert report.to_dict() == report_to_dict(expected)
    assert report.to_json() == report_to_json(expected)
    assert [row.value for row in report.rows()] == [row.value for row in expected.rows()]
    covered = [one.coverage.paired_frames for one in seen]
    assert covered == sorted(covered)
    assert all(count <= scene.truth.frame_count for count in covered)


def test_an_upload_in_odd_batches_gives_the_report_of_this_process(
    client: Client, scene: Scene
) -> None:
    [report] = client.score(
        truth=odd_batches(scene.truth),
        detections=odd_batches(scene.detections),
        **scene.arguments(),
    )
    assert report.to_json() == report_to_json(scene.in_process())


async def test_the_asyncio_client_gives_the_report_of_this_process(
    target: str, scene: Scene
) -> None:
    async with aio.connect(target, timeout_s=60.0) as client:
        async with client.score_stream(**scene.arguments()) as stream:
            for method, call in live_loop(scene):
                await getattr(stream, method)(**call)
            [streamed] = await stream.finish()
        [uploaded] = await client.score(
            truth=odd_batches(scene.truth),
            detections=odd_batches(scene.detections),
            **scene.arguments(),
        )
    expected = report_to_json(scene.in_process())
    assert streamed.to_json() == expected
    assert uploaded.to_json() == expected


def test_live_reports_cover_the_frames_that_both_sides_have_sent(client: Client) -> None:
    live = Live(every_frames=1)
    with client.score_stream(["spotgeo"], truth_geometry="point", detection_geometry="point",
                             live=live) as stream:  # fmt: skip
        stream.send_truth("a", 1, [[1.0, 1.0]])
        stream.send_truth("a", 2, [[1.0, 1.0]])
        stream.send("a", 1, [[1.0, 2.0]])
        stream.send("b", 1, [])
        report = next(stream.live_reports())
        assert report.coverage.paired_frames == 1
        assert report.reports[0].value("true_positives") == 1
        assert report.reports[0].value("false_negatives") == 0


def test_evaluators_and_health_are_returned(client: Client) -> None:
    assert client.health() is Health.SERVING
    assert client.health("vidscore.v1.ScoringService") is Health.SERVING
    described = client.evaluators()
    assert [found.name for found in described] == list(evaluator_names())
    found = client.evaluator("spotgeo")
    assert found in described
    assert found.parameters_schema["properties"]["tau"]["default"] == 10
    assert found.ranking == ("f1", "mse")
    assert found.truth_geometries == ("point",)
    assert {"f1", "mse"} <= {measure.name for measure in found.measures}


def test_a_refusal_has_reason_and_fields(client: Client) -> None:
    with pytest.raises(NotFoundError, match="spotgeo") as unknown:
        client.score_stream(["spotgo"])
    assert unknown.value.reason == "UNKNOWN_EVALUATOR"
    with pytest.raises(InvalidArgumentError, match="tau") as parameter:
        client.score_stream([("spotgeo", {"tau": -1.0})], truth_geometry="point",
                            detection_geometry="point")  # fmt: skip
    assert parameter.value.reason == "INVALID_PARAMETER"
    with client.score_stream(["neovision2"]) as stream:
        stream.send("a", 0, [[0.0, 0.0, float("nan"), 1.0]], confidences=[math.inf])
        with pytest.raises(InvalidArgumentError) as batch:
            stream.finish()
    assert {violation.field for violation in batch.value.violations} == {
        "detections.coordinates[2]",
        "detections.confidences[0]",
    }
    assert batch.value.violation_count == 2
    with client.score_stream(["neovision2"]) as stream:
        stream.send("a", 0, [[0.0, 0.0, 1.0, 1.0]] * 101)
        with pytest.raises(LimitExceededError, match="maximum_frame_objects") as limit:
            stream.finish()
    assert limit.value.metadata["limit"] == "maximum_frame_objects"
