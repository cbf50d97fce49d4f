"""The tables of the page as CSV, with all of their columns."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from vidscore_evaluators.csv_text import csv_text
from vidscore_evaluators.explanation.figures import all_figures
from vidscore_evaluators.explanation.judgement import Judgement
from vidscore_evaluators.explanation.mistakes import confusion, kind_rows
from vidscore_evaluators.outcome_files import CsvOutcomes
from vidscore_server.web.view import View
from vidscore_server.web.viewer import Viewer

Rows = tuple[Sequence[str], Iterable[Sequence[object]]]


def table_text(viewer: Viewer, name: str, view: View) -> str | None:
    """A table as CSV; None where the view has none.

    Args:
        viewer: The pages.
        name: One of `TABLES`.
        view: What is looked at.
    """
    made = TABLES[name](viewer, view)
    return None if made is None else csv_text(*made)


def _figures(viewer: Viewer, view: View) -> Rows:
    del view
    header = ("evaluator", "domain", "label", "sequence", "measure", *viewer.material.systems)
    return header, all_figures(viewer.material)


def _sequences(viewer: Viewer, view: View) -> Rows | None:
    judgement = viewer.judgement(view)
    if judgement is None:
        return None
    header = ("domain", "sequence", "system", "frames", "hits", "misses", "false_alarms")
    score = judgement.score_name.lower()
    return (*header, "id_switches", score, "share_of_mistakes"), _sequence_rows(judgement)


def _sequence_rows(judgement: Judgement) -> Iterable[Sequence[object]]:
    lengths = np.diff(judgement.frames.starts).tolist()
    for sequence in judgement.order.tolist():
        key = judgement.frames.sequences[sequence]
        for system, judged in enumerate(judgement.systems):
            counts = judgement.by_sequence[system].take(np.array([sequence]))
            score = float(judgement.scores[system][sequence])
            yield (
                *key,
                judged.name,
                lengths[sequence],
                *(int(column[0]) for column in counts.columns()),
                None if np.isnan(score) else score,
                float(judgement.costs[sequence]) if system == 0 else None,
            )


def _bins(viewer: Viewer, view: View) -> Rows | None:
    judgement = viewer.judgement(view)
    if judgement is None:
        return None
    header = ("domain", "sequence", "system", "first_frame", "frames", "hits", "misses")
    return (*header, "false_alarms", "id_switches", "running_score", "worst_frame"), _bin_rows(
        judgement
    )


def _bin_rows(judgement: Judgement) -> Iterable[Sequence[object]]:
    for sequence in judgement.order.tolist():
        key = judgement.frames.sequences[sequence]
        for system, judged in enumerate(judgement.systems):
            bins = judgement.bins(system, sequence)
            columns = [bins.numbers, bins.lengths, *bins.counts.columns()]
            running = [None if np.isnan(value) else value for value in bins.running.tolist()]
            cells = zip(
                *(column.tolist() for column in columns), running, bins.worst.tolist(), strict=True
            )
            for row in cells:
                yield (*key, judged.name, *row)


def _curves(viewer: Viewer, view: View) -> Rows | None:
    del view
    if not viewer.has_curves:
        return None
    return ("evaluator", "system", "domain", "label", "curve", "point", "column", "value"), (
        (report.evaluator, system, curve.domain, curve.label, curve.name, point, column, value)
        for system in viewer.material.systems
        for report in viewer.material.reports[system]
        for curve in report.curves
        for column, values in curve.columns.items()
        for point, value in enumerate(values)
    )


def _kinds(viewer: Viewer, view: View) -> Rows | None:
    judgement = viewer.judgement(view)
    if judgement is None:
        return None
    systems = viewer.material.systems
    header = ("kind", *systems, *(f"ap_to_gain_{system}" for system in systems))
    rows = kind_rows(viewer.material, judgement.at, view.label)
    return header, ((row.kind.name, *row.counts, *row.gains) for row in rows)


def _confusion(viewer: Viewer, view: View) -> Rows | None:
    judgement, sorter = viewer.judgement(view), viewer.material.sorter
    if judgement is None or sorter is None:
        return None
    sorted_ = viewer.material.judge(sorter, judgement.at, view.label)
    return ("system", "truth_label", "detection_label", "count"), _confusion_rows(sorted_)


def _confusion_rows(judgement: Judgement) -> Iterable[Sequence[object]]:
    for judged in judgement.systems:
        table = confusion(judged)
        names = (*table.labels, None)
        for row, truth_label in enumerate(names):
            for column, detection_label in enumerate(names):
                if truth_label is not None or detection_label is not None:
                    count = int(table.counts[row, column])
                    yield (judged.name, truth_label, detection_label, count)


TABLES: dict[str, Callable[[Viewer, View], Rows | None]] = {
    "figures": _figures,
    "curves": _curves,
    "kinds": _kinds,
    "confusion": _confusion,
    "sequences": _sequences,
    "bins": _bins,
}
"""Tables by the name of their file; those of outcomes are made by `outcomes_text`."""

OUTCOMES = ("frame", "frame-b", "outcomes", "outcomes-b")
"""Outcomes of a frame and of all frames; those of the second system end in ``-b``."""


def outcomes_text(viewer: Viewer, name: str, view: View) -> bytes | None:
    """Outcomes as CSV, as `vidscore outcomes` writes them; None where the view has none.

    Args:
        viewer: The pages.
        name: One of `OUTCOMES`.
        view: What is looked at.
    """
    page = viewer.look(view)
    kind, _, second = name.partition("-")
    if page.judgement is None or (second and len(page.judgement.systems) < 2):
        return None
    judged = page.judgement.systems[1 if second else 0]
    outcomes = judged.of_frame(page.row) if kind == "frame" else judged.outcomes
    file = io.BytesIO()
    with CsvOutcomes(file) as writer:
        writer.write(outcomes, page.judgement.evaluator.name)
    return file.getvalue()
