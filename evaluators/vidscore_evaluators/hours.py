"""Scores by hour: curves over the times of frames, for streams without an end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from vidscore_evaluators.alignment import align
from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.jobs import Job, evaluator_of
from vidscore_evaluators.report import Curve, Report, overall_scores

HOUR_S = 3600


def hourly_curves(
    evaluator: Evaluator[Any], truth: Annotations, detections: Annotations
) -> list[Curve]:
    """A curve of each ranking measure over the hours of the frames' times.

    An hour has the frames whose time in the truth lies in it; without a time in the truth, that in
    the detections. A frame without any time belongs to no hour.

    Args:
        evaluator: The evaluator.
        truth: The evaluated frames of the truth.
        detections: The detections.
    """
    aligned = align(truth, detections)
    times = [side.frame_times_s for side in (aligned.truth, aligned.detections)]
    known = [np.full(len(aligned.listed), np.nan) if one is None else one for one in times]
    hours = np.floor(np.where(np.isnan(known[0]), known[1], known[0]) / HOUR_S)
    starts = np.unique(hours[aligned.listed & ~np.isnan(hours)])
    parts = (aligned.take_frames(aligned.listed & (hours == start)) for start in starts)
    values = [
        overall_scores(evaluator.report(evaluator.tally(part.truth, part.detections)))
        for part in parts
    ]
    starts_s = [int(start) * HOUR_S for start in starts.tolist()]
    return [
        Curve(
            f"{measure}_by_hour",
            {"hour_start_s": starts_s, measure: [found.get(measure) for found in values]},
        )
        for measure in evaluator.ranking
    ]


def run_hours_job(job: Job) -> list[Curve]:
    """The hourly curves of the evaluator and the sides of a job."""
    return hourly_curves(evaluator_of(job), job.truth, job.detections)


def with_curves(report: Report, curves: Sequence[Curve]) -> Report:
    """A report with further curves behind its own."""
    return replace(report, scores=replace(report.scores, curves=(*report.curves, *curves)))
