"""Titles of measures are the usual names in the field."""

from __future__ import annotations

import re

import pytest

from vidscore_evaluators.explanation.titles import axis_title, measure_title
from vidscore_evaluators.registry import evaluator_class, evaluator_names

MEASURES = sorted(
    {measure.name for name in evaluator_names() for measure in evaluator_class(name).measures}
)

FIELD = {
    "ap": "AP",
    "ap_50": "AP50",
    "ap_75": "AP75",
    "ap_small": "AP small",
    "ap_m_partial": "AP M-partial",
    "ap_gain_wrong_class": "AP gain: wrong class",
    "ar_1": "AR1",
    "ar_100": "AR100",
    "f1": "F1",
    "f1_m_partial": "F1 M-partial",
    "f1_m_full": "F1 M-full",
    "f1_class_mean": "F1 class mean",
    "hota": "HOTA",
    "hota_0": "HOTA(0)",
    "det_a": "DetA",
    "det_re": "DetRe",
    "det_pr": "DetPr",
    "ass_a": "AssA",
    "ass_re": "AssRe",
    "ass_pr": "AssPr",
    "loc_a": "LocA",
    "hota_loc_a_0": "HOTALocA(0)",
    "owta": "OWTA",
    "mota": "MOTA",
    "motp": "MOTP",
    "moda": "MODA",
    "smota": "sMOTA",
    "motal": "MOTAL",
    "mota_class_mean": "MOTA class mean",
    "idf1": "IDF1",
    "idp": "IDP",
    "idr": "IDR",
    "id_true_positives": "IDTP",
    "id_switches": "Id switches",
    "mostly_tracked_share": "Mostly tracked share",
    "nmotda": "NMOTDA",
    "weighted_mean_nmotda": "Weighted mean NMOTDA",
    "detection_only_nmotda": "Detection-only NMOTDA",
    "detection_only_az": "Detection-only Az",
    "detection_only_true_positives": "Detection-only true positives",
    "log_amr": "Log-average miss rate",
    "log_amr_m_partial": "Log-average miss rate M-partial",
    "ospa2": "OSPA(2)",
    "track_emd": "Track EMD",
    "one_minus_f1": "1 \N{MINUS SIGN} F1",
    "sse": "SSE",
}


@pytest.mark.parametrize("name", FIELD)
def test_measures_have_their_usual_names(name: str) -> None:
    assert name in MEASURES
    assert measure_title(name) == FIELD[name]


@pytest.mark.parametrize("name", MEASURES)
def test_no_title_of_a_measure_looks_like_a_split_identifier(name: str) -> None:
    """Like ``DET a``, ``AP 50`` or ``F1 m partial``: a letter, number or prefix by itself."""
    title = measure_title(name)
    words = title.replace("1 \N{MINUS SIGN} F1", "").split()
    assert "_" not in title
    assert not [word for word in words if len(word) == 1 or word.isdecimal()]
    assert not re.search(r"\b(DET|ASS|LOC|LOG|AMR)\b|\b(re|pr|ap|ar|mota|hota|ospa)\b", title)
    assert title[0].isupper() or title[0].isdecimal() or title.startswith("sMOTA")


@pytest.mark.parametrize(
    ("curve", "title"),
    [
        ("precision_recall", "Precision-recall"),
        ("precision_recall_50", "Precision-recall at 0.5"),
        ("precision_recall_2.5", "Precision-recall at 0.025"),
        ("hota_by_threshold", "HOTA by threshold"),
        ("log_amr_by_threshold", "Log-average miss rate by threshold"),
        ("ospa2_by_frame", "OSPA(2) by frame"),
        ("f1_by_latency_budget", "F1 by latency budget"),
        ("miss_rate", "Miss rate"),
        ("roc", "ROC"),
        ("something_of_a_plug_in", "Something of a plug in"),
    ],
)
def test_curves_and_measures_of_plug_ins_are_written_in_words(curve: str, title: str) -> None:
    assert measure_title(curve) == title


def test_axes_have_the_same_names_without_an_initial_capital() -> None:
    assert [
        axis_title(name) for name in ("det_a", "ap", "recall", "false_positives_per_frame")
    ] == [
        "DetA",
        "AP",
        "recall",
        "false positives per frame",
    ]
