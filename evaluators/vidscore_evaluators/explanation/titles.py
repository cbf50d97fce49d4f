"""Titles of measures and curves: the field's names for the identifiers in reports.

All titles are here. A name that is not in the tables, such as a measure of a plug-in, is turned
into words.
"""

from __future__ import annotations

_TITLES = {
    "ass_a": "AssA",
    "ass_pr": "AssPr",
    "ass_re": "AssRe",
    "az": "Az",
    "det_a": "DetA",
    "det_pr": "DetPr",
    "det_re": "DetRe",
    "emd": "EMD",
    "hausdorff": "Hausdorff distance",
    "hota_0": "HOTA(0)",
    "hota_loc_a_0": "HOTALocA(0)",
    "id_false_negatives": "IDFN",
    "id_false_positives": "IDFP",
    "id_true_positives": "IDTP",
    "loc_a": "LocA",
    "loc_a_0": "LocA(0)",
    "log_amr": "Log-average miss rate",
    "one_minus_f1": "1 \N{MINUS SIGN} F1",
    "ospa": "OSPA",
    "ospa2": "OSPA(2)",
    "precision_recall": "Precision-recall",
    "smota": "sMOTA",
    "track_emd": "Track EMD",
    "track_hausdorff": "Track Hausdorff distance",
    "track_ospa": "Track OSPA",
}

_ABBREVIATIONS = frozenset(
    {"ap", "ar", "f1", "hota", "idf1", "idp", "idr", "moda", "mota", "motal", "motp"}
    | {"mse", "nmotda", "owta", "roc", "sse"}
)

_OF_THRESHOLDS = {"_m_partial": " M-partial", "_m_full": " M-full", "_class_mean": " class mean"}
"""Suffixes of averaged measures, as in criteria.md."""

_LIMITS = frozenset({"ap", "ar"})
"""Measures that are written with their threshold after them, such as AP50."""

_BEFORE = {"detection_only_": "Detection-only ", "ap_gain_": "AP gain: "}


def measure_title(name: str) -> str:
    """The title of a measure or curve, such as ``DetA``, ``AP50`` or ``Mostly tracked``."""
    if name in _TITLES:
        return _TITLES[name]
    for ending, said in _OF_THRESHOLDS.items():
        if name.endswith(ending):
            return measure_title(name.removesuffix(ending)) + said
    for beginning, said in _BEFORE.items():
        if name.startswith(beginning):
            return said + _within(name.removeprefix(beginning))
    measure, by, sweep = name.partition("_by_")
    if by:
        return f"{measure_title(measure)} by {_within(sweep)}"
    measure, _, last = name.rpartition("_")
    if measure in _LIMITS and last.isdecimal():
        return f"{measure.upper()}{last}"
    if measure == "precision_recall":
        return f"Precision-recall at {_threshold(last)}"
    said = _within(name)
    return said[:1].upper() + said[1:]


def axis_title(column: str) -> str:
    """The label of an axis that shows a column of a curve."""
    return _within(column)


def _within(name: str) -> str:
    """Words, with abbreviations kept as such."""
    if name in _TITLES:
        return _TITLES[name]
    return " ".join(word.upper() if word in _ABBREVIATIONS else word for word in name.split("_"))


def _threshold(hundredths: str) -> str:
    """The threshold of a curve's name, ``50`` in ``precision_recall_50``."""
    try:
        return f"{float(hundredths) / 100:g}"
    except ValueError:
        return hundredths
