"""Scores by hour: curves over the times of frames, for streams without an end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from vidscore_evaluators.alignment import align
from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.report import Curve, Report, overall_scores

HOUR_S = 3600


def with_hours(
    reports: Sequence[Report],
    evaluators: Sequence[Evaluator[Any]],
    truth: Annotations,
    detections: Annotations,
) -> list[Report]:
    """Reports with a curve of each ranking measure over the hours of the frames' times.

    An hour has the frames whose time in the truth lies in it; without a time in the truth, that in
    the detections. A frame without any time belongs to no hour.

    Args:
        reports: The reports over everything.
        evaluators: The evaluators that made them.
        truth: The evaluated frames of the truth.
        detections: The detections.
    """
    aligned = align(truth, detections)
    times = [side.frame_times_s for side in (aligned.truth, aligned.detections)]
    known = [np.full(len(aligned.listed), np.nan) if one is None else one for one in times]
    hours = np.floor(np.where(np.isnan(known[0]), known[1], known[0]) / HOUR_S)
    starts = np.unique(hours[aligned.listed & ~np.isnan(hours)])
    parts = [aligned.take_frames(aligned.listed & (hours == start)) for start in starts]
    return [
        _with_curves(
            report,
            evaluator,
            [int(start) * HOUR_S for start in starts.tolist()],
            [evaluator.report(evaluator.tally(part.truth, part.detections)) for part in parts],
        )
        for report, evaluator in zip(reports, evaluators, strict=True)
    ]


def _with_curves(
    report: Report, evaluator: Evaluator[Any], starts: Sequence[int], hourly: Sequence[Report]
) -> Report:
    values = [overall_scores(one) for one in hourly]
    curves = [
        Curve(
            f"{measure}_by_hour",
            {"hour_start_s": starts, measure: [found.get(measure) for found in values]},
        )
        for measure in evaluator.ranking
    ]
    return replace(report, scores=replace(report.scores, curves=(*report.curves, *curves)))
