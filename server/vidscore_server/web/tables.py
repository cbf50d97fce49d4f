"""The tables of the page as CSV, with all of their columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from vidscore_evaluators.csv_text import csv_text
from vidscore_evaluators.explanation.figures import all_figures
from vidscore_evaluators.explanation.judgement import Judgement
from vidscore_evaluators.outcomes import NO_PARTNER, OUTCOMES, SIDES, Outcomes
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
            cells = zip(*(column.tolist() for column in columns), running, bins.worst.tolist())
            for row in cells:
                yield (*key, judged.name, *row)


def _frame(viewer: Viewer, view: View) -> Rows | None:
    page = viewer.look(view)
    if page.judgement is None:
        return None
    parts = [(judged.name, judged.of_frame(page.row)) for judged in page.judgement.systems]
    return OUTCOME_COLUMNS, _outcome_rows(parts)


def _outcomes(viewer: Viewer, view: View) -> Rows | None:
    judgement = viewer.judgement(view)
    if judgement is None:
        return None
    return OUTCOME_COLUMNS, _outcome_rows([(one.name, one.outcomes) for one in judgement.systems])


OUTCOME_COLUMNS = (
    *("system", "side", "domain", "sequence", "frame", "row", "label", "confidence", "track"),
    *("outcome", "partner", "similarity", "distance_px", "share", "id_switch", "fragmentation"),
)


def _outcome_rows(parts: Sequence[tuple[str, Outcomes]]) -> Iterable[Sequence[object]]:
    for system, outcomes in parts:
        for row in range(len(outcomes)):
            yield (
                system,
                SIDES[outcomes.sides[row]].value,
                *outcomes.sequence_keys[outcomes.sequences[row]],
                int(outcomes.frames[row]),
                int(outcomes.rows[row]),
                outcomes.label_names[outcomes.labels[row]],
                _defined(outcomes.confidences[row]),
                _unless(int(outcomes.tracks[row]), NO_PARTNER),
                OUTCOMES[outcomes.outcomes[row]].value,
                _unless(int(outcomes.partners[row]), NO_PARTNER),
                _defined(outcomes.similarities[row]),
                _defined(outcomes.distances_px[row]),
                float(outcomes.shares[row]),
                int(outcomes.id_switches[row]),
                int(outcomes.fragmentations[row]),
            )


def _defined(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _unless(value: int, absent: int) -> int | None:
    return None if value == absent else value


TABLES: dict[str, Callable[[Viewer, View], Rows | None]] = {
    "figures": _figures,
    "sequences": _sequences,
    "bins": _bins,
    "frame": _frame,
    "outcomes": _outcomes,
}
"""Tables by the name of their file."""
