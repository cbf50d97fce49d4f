"""What a reader of the scores should know: how much was left out, and what was odd."""

from __future__ import annotations

from vidscore_evaluators.report import ReportWarning
from vidscore_evaluators.tally import Table

_MESSAGES = {
    "unevaluated_detections": "detections in frames that are not evaluated are not scored",
    "dont_care_frames": "don't-care frames are left out of every count and average",
    "detections_in_dont_care_frames": "detections in don't-care frames are not scored",
    "objects_in_regions": "annotated objects are left out, because more of their area than "
    "region_share lies inside don't-care regions",
    "detections_in_regions": "detections are left out, because more of their area than "
    "region_share lies inside don't-care regions",
    "objects_without_area": "annotated boxes have no area and can never be matched",
    "detections_without_area": "detected boxes have no area and can never be matched",
    "crossed_regions": "don't-care regions have sides that cross; their convex hulls are used",
    "unlisted_objects": "annotated objects have labels that their domain does not score; they "
    "take part in the detection-only score alone",
    "unlisted_detections": "detections have labels that their domain does not score; they take "
    "part in the detection-only score alone",
}
_SILENT_SEQUENCES = "sequences have no detections at all; all of their objects count as missed"


def report_warnings(frames: Table) -> tuple[ReportWarning, ...]:
    """Warnings out of the counters, each with its stable code and how often it applies.

    Args:
        frames: The table of frames, a row a sequence.
    """
    counts = {code: int(frames.count(code).sum()) for code in _MESSAGES}
    silent = (frames.count("received_detections") == 0) & (frames.count("evaluated_frames") > 0)
    counted = [(code, _MESSAGES[code], count) for code, count in counts.items()]
    counted.append(("sequences_without_detections", _SILENT_SEQUENCES, int(silent.sum())))
    return tuple(ReportWarning(*entry) for entry in counted if entry[2])
