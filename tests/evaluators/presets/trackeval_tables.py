"""trackeval's tables of a benchmark's files, and a preset's reports of the same files."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from trackeval import metrics

from vidscore_evaluators.formats import read_pair
from vidscore_evaluators.presets import create_evaluators, format_of
from vidscore_evaluators.report import Report
from vidscore_evaluators.scoring import score_pair
from vidscore_evaluators.specification import BenchmarkSpec, EvaluatorSpec

TOLERANCE = 1e-9

CLEAR = {
    "mota": "MOTA",
    "motp": "MOTP",
    "moda": "MODA",
    "smota": "sMOTA",
    "motal": "MOTAL",
    "recall": "CLR_Re",
    "precision": "CLR_Pr",
    "f1": "CLR_F1",
    "mostly_tracked_share": "MTR",
    "partially_tracked_share": "PTR",
    "mostly_lost_share": "MLR",
    "matches": "CLR_TP",
    "misses": "CLR_FN",
    "false_positives": "CLR_FP",
    "id_switches": "IDSW",
    "fragmentations": "Frag",
    "mostly_tracked": "MT",
    "partially_tracked": "PT",
    "mostly_lost": "ML",
    "false_positives_per_frame": "FP_per_frame",
}
COUNT = {
    "truth_objects": "GT_Dets",
    "detections": "Dets",
    "truth_tracks": "GT_IDs",
    "detection_tracks": "IDs",
}
IDENTITY = {
    "idf1": "IDF1",
    "idp": "IDP",
    "idr": "IDR",
    "id_true_positives": "IDTP",
    "id_false_positives": "IDFP",
    "id_false_negatives": "IDFN",
}
HOTA = {
    "hota": "HOTA",
    "det_a": "DetA",
    "ass_a": "AssA",
    "loc_a": "LocA",
    "det_re": "DetRe",
    "det_pr": "DetPr",
    "ass_re": "AssRe",
    "ass_pr": "AssPr",
    "owta": "OWTA",
    "hota_0": "HOTA(0)",
    "loc_a_0": "LocA(0)",
    "hota_loc_a_0": "HOTALocA(0)",
}
TABLES = (
    ("hota", "HOTA", HOTA),
    ("clear", "CLEAR", CLEAR),
    ("clear", "Count", COUNT),
    ("identity", "Identity", IDENTITY),
)
CURVE = {"true_positives": "HOTA_TP", "false_negatives": "HOTA_FN", "false_positives": "HOTA_FP"}
CLASS_MEANS = {
    ("hota", "hota_class_mean"): ("HOTA", "HOTA"),
    ("clear", "mota_class_mean"): ("CLEAR", "MOTA"),
    ("identity", "idf1_class_mean"): ("Identity", "IDF1"),
}

Scope = tuple[str | None, str | None]
"""A class and a sequence; None for all of them."""

Table = Mapping[Scope, Mapping[str, Mapping[str, Any]]]
"""The fields of each metric, by scope."""

ALL_METRICS = {
    "HOTA": metrics.HOTA(),
    "CLEAR": metrics.CLEAR({"PRINT_CONFIG": False}),
    "Identity": metrics.Identity({"PRINT_CONFIG": False}),
    "Count": metrics.Count(),
}


def trackeval_tables(dataset: Any, labels: Mapping[str, str]) -> Table:
    """Every figure of trackeval for its dataset: by class, by sequence, and of everything.

    Args:
        dataset: A dataset of trackeval.
        labels: Label by trackeval's name of the class.
    """
    by_class: dict[str, dict[str, Any]] = {label: {} for label in labels.values()}
    with contextlib.redirect_stdout(io.StringIO()):
        for sequence in dataset.seq_list:
            raw = dataset.get_raw_seq_data("T", sequence)
            for name, label in labels.items():
                data = dataset.get_preprocessed_seq_data(raw, name)
                by_class[label][sequence] = {
                    key: metric.eval_sequence(data) for key, metric in ALL_METRICS.items()
                }
    return combined(by_class)


def combined(by_class: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> Table:
    """Figures of everything, of classes and of sequences, combined as by trackeval.

    Args:
        by_class: The metrics' results by class and sequence.
    """
    table: dict[Scope, dict[str, Any]] = {}
    for key, metric in ALL_METRICS.items():
        of_class = {
            label: metric.combine_sequences({name: own[key] for name, own in sequences.items()})
            for label, sequences in by_class.items()
        }
        everything = metric.combine_classes_det_averaged(of_class)
        everything["class averaged"] = metric.combine_classes_class_averaged(of_class)
        table.setdefault((None, None), {})[key] = everything
        for label, found in of_class.items():
            table.setdefault((label, None), {})[key] = found
        for sequence in next(iter(by_class.values())):
            own = {label: sequences[sequence][key] for label, sequences in by_class.items()}
            table.setdefault((None, sequence), {})[key] = (
                next(iter(own.values()))
                if len(own) == 1
                else metric.combine_classes_det_averaged(own)
            )
    return table


def reports_of(preset: str, truth: Path, detections: Path) -> dict[str, Report]:
    """The reports of a preset over files, by evaluator."""
    specification = BenchmarkSpec(evaluators=(EvaluatorSpec(preset),))
    evaluators = create_evaluators(specification)
    pair = read_pair(truth, detections, format_name=format_of(specification.evaluators, "auto"))
    reports = score_pair(evaluators, pair, specification)
    return {report.evaluator: report for report in reports}


def differences(reports: Mapping[str, Report], table: Table) -> list[str]:
    """Every figure that differs from trackeval; what is undefined here is 0 or 1 there."""
    return [text for evaluator in reports for text in differences_of(evaluator, reports, table)]


def differences_of(evaluator: str, reports: Mapping[str, Report], table: Table) -> list[str]:
    """The differences of one of the reports."""
    report, found = reports[evaluator], []
    for (label, sequence), fields in table.items():
        for owner, metric, names in TABLES:
            for measure, field in names.items() if owner == evaluator else ():
                ours = report.value(measure, label=label, sequence=sequence)
                theirs = float(np.mean(fields[metric][field]))
                if not _agree(measure, ours, theirs, fields[metric]):
                    found.append(f"{label} {sequence} {measure}: {ours} here, {theirs} there")
    if evaluator == "hota":
        found.extend(_differing_curves(report, table))
    return [*found, *_differing_means(evaluator, report, table)]


def _agree(measure: str, ours: float | None, theirs: float, fields: Mapping[str, Any]) -> bool:
    if ours is None:
        undefined = (0.0, 1.0) if measure in ("loc_a", "loc_a_0", "mostly_lost_share") else (0.0,)
        # Without truth trackeval's accuracies are the negative counts, over one object.
        no_truth = (
            measure in ("mota", "moda", "smota", "motal")
            and not fields["CLR_TP"] + fields["CLR_FN"]
        )
        return no_truth or theirs in undefined or measure == "false_positives_per_frame"
    if measure in ("hota", "f1", "idf1") and ours == 1.0 and theirs == 0.0:
        return _is_nothing(fields)
    return ours == pytest.approx(theirs, abs=TOLERANCE)


def _is_nothing(fields: Mapping[str, Any]) -> bool:
    counts = [
        key for key in fields if key in ("CLR_FN", "CLR_FP", "CLR_TP", "IDTP", "IDFP", "IDFN")
    ]
    counts += [key for key in fields if key.startswith("HOTA_")]
    return not any(np.any(fields[key]) for key in counts)


def _differing_curves(report: Report, table: Table) -> list[str]:
    found = []
    for (label, sequence), fields in table.items():
        if sequence is not None or (label is not None and not np.any(fields["Count"]["GT_Dets"])):
            continue
        curve = report.curve("hota_by_threshold", label=label).columns
        for column, field in CURVE.items():
            if [*curve[column]] != fields["HOTA"][field].tolist():
                found.append(
                    f"{label} {column}: {curve[column]} here, {fields['HOTA'][field]} there"
                )
    return found


def _differing_means(evaluator: str, report: Report, table: Table) -> list[str]:
    classes = [fields for (label, _), fields in table.items() if label is not None]
    if not all(fields["Count"]["GT_Dets"] for fields in classes):
        return []
    found = []
    for (owner, measure), (metric, field) in CLASS_MEANS.items():
        if owner != evaluator:
            continue
        ours = report.value(measure)
        theirs = float(np.mean(table[None, None][metric]["class averaged"][field]))
        if ours != pytest.approx(theirs, abs=TOLERANCE):
            found.append(f"{measure}: {ours} here, {theirs} there")
    return found


def write_rows(path: Path, rows: Sequence[Sequence[object]], separator: str) -> None:
    """Rows of text, with the folders above."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(separator.join(map(str, row)) + "\n" for row in rows)
    path.write_text(text, encoding="utf-8")
