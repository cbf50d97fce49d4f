"""CLEAR, Identity and HOTA compared with trackeval and motmetrics, on random and real data."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import motmetrics
import numpy as np
import pytest
from tests.evaluators.presets.trackeval_tables import ALL_METRICS, CLEAR, HOTA, IDENTITY, TOLERANCE
from tests.evaluators.tracking.tracking_data import (
    TUD,
    motmetrics_accumulator,
    random_tracking,
    sequence_of,
    trackeval_data,
    tud,
)

from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.report import Report
from vidscore_evaluators.testing import Case

SEEDS = range(6)

MOTMETRICS_FIELDS = {
    "mota": "mota",
    "recall": "recall",
    "precision": "precision",
    "matches": "num_detections",
    "misses": "num_misses",
    "false_positives": "num_false_positives",
    "id_switches": "num_switches",
    "fragmentations": "num_fragmentations",
    "mostly_tracked": "mostly_tracked",
    "partially_tracked": "partially_tracked",
    "mostly_lost": "mostly_lost",
}


@cache
def scenes() -> list[Any]:
    crowded = partial(random_tracking, object_count=20, extent_px=40.0, frame_count=60)
    return [
        *(pytest.param(random_tracking(seed), id=f"random {seed}") for seed in SEEDS),
        *(pytest.param(crowded(seed), id=f"crowded {seed}") for seed in SEEDS),
        pytest.param(tud(), id="TUD"),
    ]


def report_of(name: str, scene: Case, **parameters: object) -> Report:
    evaluator = create_evaluator(name, parameters)
    return evaluator.report(evaluator.tally(*scene))


def reference(metric: Any, scene: Case) -> dict[str | None, dict[str, Any]]:
    """trackeval's figures of each sequence and, under None, of all together."""
    names = [key.sequence for key in scene.truth.sequences]
    found: dict[str | None, Any] = {
        name: metric.eval_sequence(trackeval_data(sequence_of(scene, name))) for name in names
    }
    return {**found, None: metric.combine_sequences(found)}


@pytest.mark.parametrize("scene", scenes())
@pytest.mark.parametrize(
    ("name", "metric", "fields"),
    [("clear", "CLEAR", CLEAR), ("identity", "Identity", IDENTITY)],
    ids=["clear", "identity"],
)
def test_every_figure_equals_that_of_trackeval(
    scene: Case, name: str, metric: str, fields: dict[str, str]
) -> None:
    report = report_of(name, scene)
    for sequence, expected in reference(ALL_METRICS[metric], scene).items():
        found = {measure: report.value(measure, sequence=sequence) for measure in fields}
        assert found == pytest.approx(
            {measure: expected[field] for measure, field in fields.items()}, abs=TOLERANCE
        ), sequence


@pytest.mark.parametrize("scene", scenes())
def test_hota_at_every_threshold_equals_that_of_trackeval(scene: Case) -> None:
    report = report_of("hota", scene)
    found = reference(ALL_METRICS["HOTA"], scene)
    curve = report.curve("hota_by_threshold").columns
    for measure, field in HOTA.items():
        if not measure.endswith("_0"):  # That is for the lowest threshold only.
            assert curve[measure] == pytest.approx(found[None][field].tolist(), abs=TOLERANCE)
        for sequence, expected in found.items():
            value = report.value(measure, sequence=sequence)
            assert value == pytest.approx(np.mean(expected[field]), abs=TOLERANCE), sequence


@pytest.mark.slow
@pytest.mark.parametrize("scene", scenes())
def test_with_their_switch_rule_every_figure_equals_that_of_motmetrics(scene: Case) -> None:
    report = report_of("clear", scene, switch_rule="motmetrics")
    host = motmetrics.metrics.create()
    for key in scene.truth.sequences:
        accumulator = motmetrics_accumulator(sequence_of(scene, key.sequence))
        names = [*MOTMETRICS_FIELDS.values(), "motp"]
        expected = host.compute(accumulator, metrics=names, return_dataframe=False)
        values = {name: report.value(name, sequence=key.sequence) for name in MOTMETRICS_FIELDS}
        assert values == pytest.approx(
            {name: expected[field] for name, field in MOTMETRICS_FIELDS.items()}, abs=TOLERANCE
        )
        motp = report.value("motp", sequence=key.sequence)
        assert motp == pytest.approx(1 - expected["motp"], abs=TOLERANCE)


PUBLISHED = {
    "TUD-Campus": (55.8, 73.0, 45.1, 58.2, 94.1, 1, 6, 1, 13, 150, 7, 7, 52.6, 0.277),
    "TUD-Stadtmitte": (64.5, 82.0, 53.1, 60.9, 94.0, 5, 4, 1, 45, 452, 7, 6, 56.4, 0.346),
}
"""The table of motmetrics' own documentation: its columns from IDF1 to MOTP."""


@pytest.mark.parametrize("sequence", TUD)
def test_the_published_table_of_tud_is_reproduced(sequence: str) -> None:
    clear = report_of("clear", tud(), switch_rule="motmetrics")
    identity = report_of("identity", tud())

    def percent(report: Report, measure: str) -> float:
        value = report.value(measure, sequence=sequence)
        assert value is not None
        return round(100 * value, 1)

    counts = (
        "mostly_tracked",
        "partially_tracked",
        "mostly_lost",
        "false_positives",
        "misses",
        "id_switches",
        "fragmentations",
    )
    found = (
        *(percent(identity, name) for name in ("idf1", "idp", "idr")),
        *(percent(clear, name) for name in ("recall", "precision")),
        *(clear.value(name, sequence=sequence) for name in counts),
        percent(clear, "mota"),
        round(1 - (clear.value("motp", sequence=sequence) or 0.0), 3),
    )
    assert found == PUBLISHED[sequence]
