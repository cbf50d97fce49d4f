"""The frames that every language scores: small ones, worked out by hand, and a larger one.

    python -m tests.conformance.cases

writes the missing files: the frames of each case, and the report of the library for each of its
evaluators. Committed files never change; see `test_golden`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from google.protobuf import json_format
from tests.support.tree import ROOT

from vidscore_client import Frames
from vidscore_client import Masks as SentMasks
from vidscore_evaluators.annotations import Annotations, SequenceKey, Side, known_times
from vidscore_evaluators.live import StreamScorer
from vidscore_evaluators.mask_forms import masks_from_compressed, masks_from_counts
from vidscore_evaluators.masks import Masks, concatenate_masks
from vidscore_evaluators.registry import create_evaluator, evaluator_class
from vidscore_evaluators.report import Report, Row
from vidscore_protos.v1.specification_pb2 import BenchmarkSpec
from vidscore_server.api.convert import read_specification

GOLDEN = ROOT / "tests/conformance/golden"

WARNINGS = "warnings.json"
"""Beside golden reports, what a later release warns of; unlike them it may change."""

Document = dict[str, Any]
FrameDocument = dict[str, Any]

ARITIES = {"point": 2, "box": 4, "quadrilateral": 8}


@dataclass(frozen=True)
class Case:
    """Frames and the evaluators that score them.

    Attributes:
        name: Name, and the folder below `GOLDEN`.
    """

    name: str

    @property
    def frames_file(self) -> Path:
        """The file that a runner gets."""
        return GOLDEN / self.name / "frames.json"

    @cached_property
    def document(self) -> Document:
        """The frames as they are in the file."""
        document: Document = json.loads(self.frames_file.read_text(encoding="utf-8"))
        return document

    @property
    def report_files(self) -> list[Path]:
        """The golden report of each evaluator at its present version, in order."""
        names = [entry["name"] for entry in self.document["configuration"]["evaluators"]]
        return [
            GOLDEN / self.name / f"{name}-{evaluator_class(name).version}.json" for name in names
        ]

    def golden_reports(self) -> list[Document]:
        """The reports that every language must get."""
        reports = [
            _with_labels(json.loads(file.read_text(encoding="utf-8"))) for file in self.report_files
        ]
        for report in reports:
            report["warnings"] = self._later_warnings.get(report["evaluator"], report["warnings"])
        return reports

    @property
    def _later_warnings(self) -> dict[str, list[Document]]:
        """By evaluator, the warnings of a later release that differ from the golden report.

        They are advice about the data and not a figure of the evaluator, whose version stays.
        """
        file = GOLDEN / self.name / WARNINGS
        return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}

    def library_reports(self) -> list[Document]:
        """The library's reports on the frames, without a server."""
        configuration = self.document["configuration"]
        message = json_format.ParseDict(configuration["specification"], BenchmarkSpec())
        specification = read_specification(message, "specification")
        scorer = StreamScorer(
            [
                create_evaluator(entry["name"], entry["parameters"], specification)
                for entry in configuration["evaluators"]
            ],
            specification,
        )
        scorer.add(Side.TRUTH, columns_of(self.document["truth"], self._arity("truth")))
        scorer.add(
            Side.DETECTIONS, columns_of(self.document["detections"], self._arity("detection"))
        )
        return [report_document(report) for report in scorer.final_reports()]

    def truth(self) -> Frames:
        """The truth as an organiser uploads it."""
        columns = columns_of(self.document["truth"], self._arity("truth"))
        return Frames(
            sequences=columns.sequences,
            frame_sequences=columns.frame_sequences,
            frame_numbers=columns.frame_numbers,
            frame_starts=columns.frame_starts,
            coordinates=columns.coordinates,
            labels=columns.labels,
            label_indices=columns.label_indices,
            confidences=columns.confidences,
            track_ids=columns.track_ids,
            flags=columns.flags,
            frame_flags=columns.frame_flags,
            frame_times_s=columns.frame_times_s,
            masks=_sent_masks(columns),
        )

    def _arity(self, side: str) -> int:
        return ARITIES[self.document["configuration"][f"{side}_geometry"]]


POINTS = Case("points")
BOXES = Case("boxes")
EMPTY = Case("empty")
TRACKS = Case("tracks")
STREETS = Case("streets")
TIMES = Case("times")
MASKS = Case("masks")
CASES = (POINTS, BOXES, EMPTY, TRACKS, STREETS, TIMES, MASKS)


def columns_of(frames: Sequence[FrameDocument], arity: int) -> Annotations:
    """Columns of frames."""
    objects = [entry for frame in frames for entry in frame["objects"]]
    keys = [SequenceKey(frame["domain"], frame["sequence"]) for frame in frames]
    sequences = tuple(dict.fromkeys(keys))
    labels = tuple(dict.fromkeys(entry["label"] for entry in objects))
    counts = [len(frame["objects"]) for frame in frames]
    return Annotations(
        sequences=sequences,
        labels=labels,
        frame_sequences=_whole([sequences.index(key) for key in keys]),
        frame_numbers=_whole([frame["frame"] for frame in frames]),
        frame_flags=np.array([frame["dont_care"] for frame in frames], dtype=np.uint32),
        frame_starts=_whole([0, *np.cumsum(counts).tolist()]),
        coordinates=np.array([entry["coordinates"] for entry in objects]).reshape(-1, arity),
        label_indices=_whole([labels.index(entry["label"]) for entry in objects]),
        confidences=np.array([entry["confidence"] for entry in objects], dtype=np.float64),
        track_ids=_whole([entry["track_id"] for entry in objects]),
        flags=np.array([entry["flags"] for entry in objects], dtype=np.uint32),
        frame_times_s=known_times(
            np.array([frame.get("time_s", np.nan) for frame in frames], dtype=np.float64)
        ),
        masks=_masks_of([entry["mask"] for entry in objects if "mask" in entry]),
    )


def _masks_of(documents: Sequence[Document]) -> Masks | None:
    """Masks of runs, or of COCO's texts of them."""
    if not documents:
        return None
    sizes = [_whole([document["size"]]) for document in documents]
    return concatenate_masks(
        [
            masks_from_compressed([document["text"]], size)
            if "text" in document
            else masks_from_counts([document["runs"]], size)
            for document, size in zip(documents, sizes, strict=True)
        ]
    )


def _sent_masks(columns: Annotations) -> SentMasks | None:
    masks = columns.masks
    return None if masks is None else SentMasks(masks.sizes, masks.starts, masks.runs)


def report_document(report: Report) -> Document:
    """A report in the form in which runners print it."""
    return {
        "evaluator": report.evaluator,
        "version": report.version,
        "parameters": json.loads(json.dumps(dict(report.parameters))),
        "truth_digest": report.truth_digest,
        "detections_digest": report.detections_digest,
        "scores": [_row_document(row) for row in report.rows()],
        "curves": [
            {
                "name": curve.name,
                "domain": curve.domain,
                "label": curve.label,
                "columns": [
                    {"name": name, "values": list(values)} for name, values in curve.columns.items()
                ],
            }
            for curve in report.curves
        ],
        "warnings": [
            {"code": warning.code, "message": warning.message, "count": warning.count}
            for warning in report.warnings
        ],
    }


def _with_labels(golden: Document) -> Document:
    """A golden report as runners print it: goldens are never rewritten, and call labels classes."""

    def renamed(entry: Document) -> Document:
        return {"label" if key == "class" else key: value for key, value in entry.items()}

    return {
        **golden,
        **{key: [renamed(one) for one in golden[key]] for key in ("scores", "curves")},
    }


def _row_document(row: Row) -> Document:
    kinds = {int: "count", float: "number"}
    return {
        "domain": row.domain,
        "label": row.label,
        "sequence": row.sequence,
        "measure": row.measure,
        "value": row.value,
        "kind": kinds.get(type(row.value), "undefined"),
    }


def _whole(values: Sequence[int]) -> Any:
    return np.array(values, dtype=np.int64)


# --- how the cases were made ---------------------------------------------------------------------


def thing(*coordinates: float, **columns: Any) -> Document:
    """An object with every column."""
    defaults = {"label": "", "confidence": 1.0, "track_id": -1, "flags": 0}
    return {"coordinates": list(coordinates), **defaults, **columns}


def frame(
    sequence: str, number: int, *objects: Document, domain: str = "", dont_care: bool = False
) -> FrameDocument:
    """A frame with every field."""
    return {
        "domain": domain,
        "sequence": sequence,
        "frame": number,
        "dont_care": dont_care,
        "objects": list(objects),
    }


def _frames_of(
    geometry: str,
    evaluators: dict[str, Document],
    truth: list[FrameDocument],
    detections: list[FrameDocument],
    specification: Document | None = None,
) -> Document:
    chosen = [{"name": name, "parameters": given} for name, given in evaluators.items()]
    return {
        "configuration": {
            "evaluators": chosen,
            "specification": specification or {},
            "truth_geometry": geometry,
            "detection_geometry": geometry,
        },
        "truth": truth,
        "detections": detections,
    }


def points() -> Document:
    """Two objects of three found, one of them 4 pixels off, and one false positive."""
    empty = [frame("1", number) for number in (3, 4, 5)]
    truth = [
        frame("1", 1, thing(100.0, 100.0), thing(200.0, 200.0)),
        frame("1", 2, thing(300.0, 300.0)),
        *empty,
    ]
    detections = [
        frame("1", 1, thing(100.0, 100.0), thing(204.0, 200.0)),
        frame("1", 2, thing(10.0, 10.0)),
        *empty,
    ]
    return _frames_of(
        "point", {"spotgeo": {"tau": 7.5, "maximum_detections": 20}}, truth, detections
    )


def boxes() -> Document:
    """Two domains and classes: a car found twice, a person once, and a false car."""

    def car(x: float, **columns: Any) -> Document:
        return thing(x, 10.0, x + 40.0, 50.0, label="Car", **columns)

    def person(x: float, **columns: Any) -> Document:
        return thing(x, 100.0, x + 20.0, 150.0, label="Person", **columns)

    truth = [
        frame("001", 0, car(10.0), person(100.0), domain="Tower"),
        frame("001", 1, car(12.0), domain="Tower"),
        frame("Été", 0, person(104.0), domain="Helicopter"),
    ]
    detections = [
        frame("001", 0, car(12.0, confidence=0.9), person(100.0, confidence=0.8), domain="Tower"),
        frame("001", 1, car(12.0, confidence=0.7), car(300.0, confidence=0.2), domain="Tower"),
        frame("Été", 0, domain="Helicopter"),
    ]
    evaluators: dict[str, Document] = {
        "neovision2": {"overlap_threshold": 0.25},
        "f1": {"threshold": 0.5, "classes": "ignore"},
    }
    return _frames_of("box", evaluators, truth, detections)


def empty() -> Document:
    """No objects and no detections: counts are 0, and fractions of them are undefined."""
    frames = [frame("street", number) for number in range(3)]
    return _frames_of("box", {"f1": {}}, frames, frames)


def tracks() -> Document:
    """One object with two identities, one off by 10 pixels and lost once, and a false track.

    The last frame is not evaluated, and an ignored object costs nothing.
    """

    def person(x: float, track: int, **columns: Any) -> Document:
        return thing(x, 10.0, x + 40.0, 50.0, label="person", track_id=track, **columns)

    there = [(person(10.0 + 2.0 * n, 1), person(100.0, 2)) for n in range(5)]
    ignored = person(400.0, 3, flags=1)
    truth = [frame("street", n, *there[n], ignored, dont_care=n == 4) for n in range(len(there))]
    seen = [
        (person(10.0, 5), person(110.0, 6)),
        (person(12.0, 5), person(110.0, 6)),
        (person(14.0, 7), person(400.0, 9)),
        (person(16.0, 7), person(110.0, 6), person(300.0, 8)),
        (person(200.0, 10),),
    ]
    detections = [frame("street", n, *seen[n]) for n in range(len(seen))]
    sequence = {"name": "street", "frameCount": "5", "imageWidth": 640, "imageHeight": 480}
    return _frames_of("box", {"clear": {}}, truth, detections, {"sequences": [sequence]})


def streets() -> Document:
    """Some hundred frames by a fixed seed, scored by criteria whose figures need many digits."""
    chance = Random("streets")
    labels = ("car", "person", "bicycle")
    truth: list[FrameDocument] = []
    detections: list[FrameDocument] = []
    for number in range(120):
        sequence = f"street-{number // 40}"
        there = [_box(chance, chance.choice(labels)) for _ in range(chance.randrange(5))]
        seen = [_moved(chance, entry) for entry in there if chance.random() < 0.85]
        if chance.random() < 0.3:
            seen.append(_box(chance, chance.choice(labels), chance.random() / 2))
        truth.append(frame(sequence, number % 40, *there))
        detections.append(frame(sequence, number % 40, *seen))
    evaluators: dict[str, Document] = {
        "map": {"thresholds": [0.25, 0.5], "interpolation": "11-point"},
        "f1": {"threshold": 0.4, "confidence_extended": True},
        "ospa": {},
    }
    return _frames_of("box", evaluators, truth, detections)


def times() -> Document:
    """Some frames on either side have a time, which affects no score but both digests."""
    truth = [frame("1", number, thing(100.0, 100.0)) for number in (1, 2, 3)]
    detections = [frame("1", number, thing(101.0, 100.0)) for number in (1, 2, 3)]
    truth[0]["time_s"], truth[2]["time_s"] = 0.0, 1732270000.1234567
    for row, entry in enumerate(detections):
        entry["time_s"] = 0.04 * row
    return _frames_of("point", {"spotgeo": {}}, truth, detections)


def masks() -> Document:
    """In images of two sizes, three objects of four found by their pixels, and two things too many.

    The second car of the first frame has the box of what is seen there, and no pixel of it. What is
    seen in the last frame has no pixel at all.
    """

    def masked(*runs: int, box: Sequence[float], **columns: Any) -> Document:
        return thing(*box, mask={"size": [4, 6], "runs": list(runs)}, **columns)

    def seen(text: str, confidence: float, box: Sequence[float], label: str = "car") -> Document:
        mask = {"size": [4, 6], "text": text}
        return thing(*box, label=label, confidence=confidence, mask=mask)

    left, right, whole = (0, 0, 2, 4), (3, 0, 6, 4), (0, 0, 6, 4)
    small = thing(0, 0, 2, 2, label="car", mask={"size": [2, 3], "runs": [1, 2, 3]})
    truth = [
        frame(
            "a",
            0,
            masked(0, 8, 16, box=left, label="car"),
            masked(12, 4, 3, 1, 3, 1, box=right, label="car"),
        ),
        frame("a", 1, masked(0, 24, box=whole, label="person")),
        frame("a", 2),
        frame("b", 0, small),
    ]
    detections = [
        # Three columns instead of two, and what the car beside them leaves free.
        frame("a", 0, seen("0<<", 0.9, (0, 0, 3, 4)), seen("`031O1", 0.8, right)),
        frame("a", 1, seen("0d04", 0.7, (0, 0, 5, 4), "person")),
        frame("a", 2, seen("h0", 0.6, (1, 1, 2, 2))),
        frame("b", 0, {**small, "confidence": 0.5, "mask": {"size": [2, 3], "text": "123"}}),
    ]
    evaluators: dict[str, Document] = {
        "f1": {"threshold": 0.6, "base": "mask"},
        "map": {"thresholds": [0.6, 0.75], "base": "mask"},
    }
    return _frames_of("box", evaluators, truth, detections)


def _box(chance: Random, label: str, confidence: float = 1.0) -> Document:
    x, y = chance.uniform(0, 500), chance.uniform(0, 400)
    sides = chance.uniform(20, 120), chance.uniform(20, 80)
    return thing(x, y, x + sides[0], y + sides[1], label=label, confidence=confidence)


def _moved(chance: Random, entry: Document) -> Document:
    coordinates = [value + chance.gauss(0, 4) for value in entry["coordinates"]]
    return thing(*coordinates, label=entry["label"], confidence=0.5 + chance.random() / 2)


def text_of(document: Document) -> str:
    """JSON with a line for each frame, score and curve."""
    listed = {
        name: [json.dumps(entry, ensure_ascii=False) for entry in value]
        for name, value in document.items()
        if isinstance(value, list)
    }
    lines = []
    for name, value in document.items():
        if listed.get(name):
            shown = "[\n  " + ",\n  ".join(listed[name]) + "\n ]"
        else:
            shown = json.dumps(value, ensure_ascii=False)
        lines.append(f" {json.dumps(name)}: {shown}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def write() -> None:
    """Write the missing files."""
    for case, made in zip(
        CASES, (points, boxes, empty, tracks, streets, times, masks), strict=True
    ):
        case.frames_file.parent.mkdir(parents=True, exist_ok=True)
        if not case.frames_file.exists():
            case.frames_file.write_text(text_of(made()), encoding="utf-8")
        for file, report in zip(case.report_files, case.library_reports(), strict=True):
            if not file.exists():
                file.write_text(text_of(report), encoding="utf-8")


if __name__ == "__main__":
    write()
