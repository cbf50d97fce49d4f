"""What is found about rankings as one document: the form in which it is printed, sent and kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vidscore_evaluators.parameters import parameter_values
from vidscore_evaluators.trust.bootstrap import Bootstrap
from vidscore_evaluators.trust.noise import NoiseEffect
from vidscore_evaluators.trust.ranking import RankingTrust, distances_between
from vidscore_evaluators.trust.ranking_sweep import Sweep
from vidscore_evaluators.trust.tables import INDICATORS


def ranking_document(
    systems: Sequence[str], examined: Sequence[RankingTrust], seed: int
) -> dict[str, Any]:
    """Everything as JSON can hold it.

    Args:
        systems: Names of the systems.
        examined: What each evaluator says of them.
        seed: Seed of the order of ties in indicators.
    """
    return {
        "systems": list(systems),
        "rankings": [_document(systems, one, seed) for one in examined],
        "kendall_distances": distances_between(examined),
    }


def _document(systems: Sequence[str], one: RankingTrust, seed: int) -> dict[str, Any]:
    return {
        "evaluator": one.evaluator.name,
        "parameters": parameter_values(one.evaluator.parameters),
        "ranks": dict(zip(systems, one.ranks.tolist(), strict=True)),
        "scores": {
            measure: dict(zip(systems, values, strict=True))
            for measure, values in one.scores.items()
        },
        "sweeps": [_sweep(systems, sweep, seed) for sweep in one.sweeps],
        "bootstrap": None if one.bootstrap is None else _draws(systems, one.bootstrap),
        "noise": None if one.noise is None else _noise(one.noise),
    }


def _sweep(systems: Sequence[str], sweep: Sweep, seed: int) -> dict[str, Any]:
    found = sweep.indicators(seed)
    values = (found.switches, found.distortion, found.sensitivity)
    return {
        "parameter": sweep.parameter,
        "values": list(sweep.values),
        "ranks": dict(zip(systems, sweep.ranks.T.tolist(), strict=True)),
        "scores": {
            measure: dict(zip(systems, map(list, zip(*rows, strict=True)), strict=True))
            for measure, rows in sweep.scores.items()
        },
        "indicators": {name: float(value) for name, value in zip(INDICATORS, values, strict=True)},
    }


def _draws(systems: Sequence[str], drawn: Bootstrap) -> dict[str, Any]:
    return {
        "draws": drawn.draws,
        "coverage": drawn.coverage,
        "intervals": [
            {
                "system": system,
                "domain": domain,
                "label": class_,
                "measure": measure,
                "value": interval.value,
                "low": interval.low,
                "high": interval.high,
            }
            for system, intervals in zip(systems, drawn.intervals, strict=True)
            for (domain, class_, measure), interval in intervals.items()
        ],
        "above": drawn.above.tolist(),
        "groups": [[systems[row] for row in group] for group in drawn.groups],
    }


def _noise(noise: NoiseEffect) -> dict[str, Any]:
    return {
        "bound_px": noise.bound_px,
        "trials": len(noise.trials),
        "changed": noise.changed,
        "kendall_distance": noise.distance,
        "above": noise.above.tolist(),
    }
