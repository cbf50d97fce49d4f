"""Systems that are ranked: their detections for one truth, their ranks, and distances of rankings.

For distances and indicators, scores are dissimilarities: lower is better, and NaN means undefined,
which ranks last.

Source of the indicators: the paper, appendix 2. Readings of this project: systems that tie at a
value of the parameter are put in random order there, since they need distinct ranks; the standard
deviation is that of the population (divided by m); values count as evenly spaced, so that
sensitivity is in ranks per step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from vidscore_evaluators.alignment import resolve
from vidscore_evaluators.annotations import (
    Annotations,
    SequenceKey,
    Side,
    rows_by_sequence,
    sequence_name,
)
from vidscore_evaluators.arrays import FloatArray, IntArray, distinct
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.evaluator import Evaluator, RankKey
from vidscore_evaluators.fingerprint import Fingerprint, fingerprint
from vidscore_evaluators.parameters import describe_parameters, parameter_values
from vidscore_evaluators.preparation import check_sides
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.report import Report, Scores
from vidscore_evaluators.specification import BenchmarkSpec
from vidscore_evaluators.trust.paper import BASES
from vidscore_evaluators.validation import unit_confidence_faults


class Drawn(StrEnum):
    """What draws choose."""

    SEQUENCES = "sequences"
    FRAMES = "frames"

    @property
    def noun(self) -> str:
        """One of them."""
        return self.value[:-1]


LEAST_COPIED = 20
"""Number of objects from which sequences with the same ground truth must be copies."""


class Contest(Struct, frozen=True, dict=True):
    """Systems that are to be ranked.

    Attributes:
        truth: Truth, restricted to the evaluated frames.
        systems: Detections of each system, by its name.
        specification: The benchmark's specification.
        drawn: What draws choose, to see how far other data would change the result.
    """

    truth: Annotations
    systems: Mapping[str, Annotations]
    specification: BenchmarkSpec = BenchmarkSpec()
    drawn: Drawn = Drawn.SEQUENCES

    @classmethod
    def of(
        cls,
        truth: Annotations,
        systems: Mapping[str, Annotations],
        specification: BenchmarkSpec = BenchmarkSpec(),
        drawn: Drawn = Drawn.SEQUENCES,
    ) -> Contest:
        """Restrict the truth to the evaluated frames.

        Raises:
            InputError: If a frame lies outside its video.
        """
        return cls(resolve(specification, truth), systems, specification, drawn)

    def check(self, evaluators: Sequence[Evaluator[Any]]) -> None:
        """Check all inputs before scoring.

        Raises:
            InputError: If there are fewer than two systems, or an input breaks a rule.
        """
        if len(self.systems) < 2:
            raise InputError([Fault(f"{len(self.systems)} system", "at least two to be ranked")])
        for detections in self.systems.values():
            check_system(evaluators, self.truth, detections, self.specification)

    @cached_property
    def sequences(self) -> list[SequenceKey]:
        """Sequences of the truth that have a frame, in ascending order."""
        used = np.unique(self.truth.frame_sequences).tolist()
        return sorted(self.truth.sequences[row] for row in used)

    @cached_property
    def label_sizes(self) -> dict[str, int]:
        """Number of sequences (or frames, if those are drawn) with an object of each label.

        Flagged objects do not count.
        """
        truth = self.truth
        counting = truth.flags == 0
        frames, count = truth.object_frames[counting], truth.frame_count
        if self.drawn is Drawn.SEQUENCES:
            frames, count = truth.frame_sequences[frames], len(truth.sequences)
        places = distinct(truth.label_indices[counting] * count + frames)
        sizes = np.bincount(places // max(1, count), minlength=len(truth.labels))
        return dict(zip(truth.labels, sizes.tolist(), strict=True))

    @cached_property
    def copies(self) -> tuple[tuple[str, ...], ...]:
        """Names of sequences with the same ground truth, of at least `LEAST_COPIED` objects.

        The sequences of a group are copies of one video, as those that MOT17 has for each of three
        detectors.
        """
        groups: dict[Fingerprint, list[str]] = {}
        parts = by_sequence(self.truth, self.sequences)
        for key, part in zip(self.sequences, parts, strict=True):
            if part.object_count >= LEAST_COPIED:
                content = fingerprint(replace(part, sequences=(SequenceKey("", ""),)))
                groups.setdefault(content, []).append(sequence_name(key))
        return tuple(tuple(names) for names in groups.values() if len(names) > 1)


def check_system(
    evaluators: Sequence[Evaluator[Any]],
    truth: Annotations,
    detections: Annotations,
    specification: BenchmarkSpec,
) -> None:
    """Refuse a system that breaks a rule of an evaluator, or whose confidences cannot be swept.

    Raises:
        GeometryError: If an evaluator cannot use the coordinates of a side.
        InputError: With every fault.
    """
    check_sides(evaluators, truth, detections, specification)
    if any(evaluator.needs.confidences for evaluator in evaluators):
        faults = unit_confidence_faults("the sweep over confidences", detections)
        if faults:
            raise InputError([replace(fault, source=Side.DETECTIONS.value) for fault in faults])


class Request(Struct, frozen=True):
    """An evaluator as data, to be created in any process.

    Attributes:
        evaluator: Its name.
        parameters: Its parameters.
        specification: The benchmark's specification.
    """

    evaluator: str
    parameters: Mapping[str, Any]
    specification: BenchmarkSpec

    @classmethod
    def of(cls, evaluator: Evaluator[Any]) -> Request:
        """The request for an evaluator."""
        values = parameter_values(evaluator.parameters)
        return cls(evaluator.name, values, evaluator.specification)

    def create(self) -> Evaluator[Any]:
        """Create it."""
        return create_evaluator(self.evaluator, self.parameters, self.specification)


def with_both_bases(evaluator: Evaluator[Any]) -> list[Evaluator[Any]]:
    """The evaluator with IoU and with GIoU, if it has that choice; else the evaluator alone."""
    described = {entry.name: entry for entry in describe_parameters(evaluator.Parameters)}
    present = parameter_values(evaluator.parameters)
    if "base" not in described or present["base"] not in BASES:
        return [evaluator]
    return [
        create_evaluator(evaluator.name, {**present, "base": base}, evaluator.specification)
        for base in BASES
        if base in described["base"].choices
    ]


def title_of(evaluator: str, parameters: Mapping[str, Any]) -> str:
    """Name of an evaluator, with its base if it has one."""
    base = parameters.get("base")
    return f"{evaluator} ({base})" if base else evaluator


def bare_report(evaluator: Evaluator[Any], scores: Scores) -> Report:
    """A report of scores only, which is all that ranking needs."""
    values = parameter_values(evaluator.parameters)
    return Report(evaluator.name, evaluator.version, values, "", "", scores)


def rank_reports(evaluator: Evaluator[Any], reports: Sequence[Report]) -> IntArray:
    """(K,) rank of each system, 1 for the best; equal systems share the lowest of their ranks."""
    return ranks_of_keys([evaluator.rank_key(report) for report in reports])


def ranks_of_keys(keys: Sequence[RankKey]) -> IntArray:
    """(K,) rank of each key, 1 for the least; equal keys share the lowest of their ranks."""
    ordered = sorted(keys)
    return np.array([1 + ordered.index(key) for key in keys], dtype=np.int64)


def by_sequence(side: Annotations, keys: Sequence[SequenceKey]) -> Iterator[Annotations]:
    """The frames of each of some sequences, each as a side of this sequence alone.

    Args:
        side: Truth or detections.
        keys: The sequences; those that the side lacks have no frames.
    """
    rows, none = rows_by_sequence(side), np.zeros(0, dtype=np.int64)
    for key in keys:
        own = side.take_frames(rows.get(key, none))
        yield replace(own, sequences=(key,), frame_sequences=np.zeros_like(own.frame_sequences))


# --- ranks with ties, and distances of rankings ----------------------------------------------


def ranks_with_random_ties(dissimilarities: FloatArray, random: np.random.Generator) -> IntArray:
    """Rank of each system, 1 to K, all distinct: equal systems are put in random order.

    Args:
        dissimilarities: (..., K) dissimilarities of K systems.
        random: Breaks ties, independently for each of (...).
    """
    values = _undefined_last(dissimilarities)
    order = np.lexsort((random.random(values.shape), values), axis=-1)
    placed = np.empty(values.shape, dtype=np.int64)
    everyone = np.broadcast_to(np.arange(1, values.shape[-1] + 1), values.shape)
    np.put_along_axis(placed, order, everyone, axis=-1)
    return placed


def ranking_errors(dissimilarities: FloatArray) -> FloatArray:
    """Normalised Kendall tau-b error of systems in order from the truly best to the worst.

    With n0 pairs of systems, Q of them in the wrong order and T of them tied, e = (1 - (n0 - T - 2
    Q) / sqrt(n0 (n0 - T))) / 2: 0 if all are in the right order, 1 if all are in the wrong order,
    and 0.5 if all are tied. (The paper's Kendall tau distance, section 3.2; that it is tau-b is
    this project's reading.)

    Args:
        dissimilarities: (..., K) dissimilarities of at least two systems.

    Returns:
        (...) errors in [0, 1].
    """
    values = _undefined_last(dissimilarities)
    better, worse = np.triu_indices(values.shape[-1], 1)
    wrong = (values[..., worse] < values[..., better]).sum(axis=-1)
    tied = (values[..., worse] == values[..., better]).sum(axis=-1)
    untied = len(better) - tied
    # If all are tied, the numerator is 0 as well.
    scale = np.sqrt(len(better) * np.maximum(untied, 1.0))
    errors: FloatArray = (1.0 - (untied - 2 * wrong) / scale) / 2.0
    return errors


def kendall_distances(first: FloatArray, second: FloatArray) -> FloatArray:
    """Normalised Kendall distance of two rankings of the same systems, by tau-b: (1 - tau) / 2.

    If one of the two puts all systems on one rank, tau is taken as 0 and the distance is 0.5. If
    both do, they agree, and it is 0.

    Args:
        first: (..., K) dissimilarities by one criterion.
        second: (..., K) dissimilarities by another.

    Returns:
        (...) distances in [0, 1].
    """
    signs = [_pair_signs(values) for values in (first, second)]
    agreement = (signs[0] * signs[1]).sum(axis=-1)
    untied = [np.abs(sign).sum(axis=-1) for sign in signs]
    scale = np.sqrt(np.maximum(untied[0] * untied[1], 1.0))
    both_tied = (untied[0] == 0) & (untied[1] == 0)
    distances: FloatArray = np.where(both_tied, 0.0, (1.0 - agreement / scale) / 2.0)
    return distances


def _pair_signs(dissimilarities: FloatArray) -> IntArray:
    """(..., pairs) 1 if the second of two systems is worse, -1 if it is better, 0 if tied."""
    values = _undefined_last(dissimilarities)
    first, second = np.triu_indices(values.shape[-1], 1)
    one, other = values[..., first], values[..., second]
    return (one < other).astype(np.int64) - (one > other)


def _undefined_last(dissimilarities: FloatArray) -> FloatArray:
    values: FloatArray = np.where(np.isnan(dissimilarities), np.inf, dissimilarities)
    return values


# --- indicators of how much a ranking depends on a parameter ---------------------------------


class Indicators(Struct, frozen=True, eq=False):
    """Means over systems, each of shape (...).

    Attributes:
        switches: R_S: number of other ranks that a system has over the values of the parameter.
        distortion: R_std: standard deviation of a system's ranks.
        sensitivity: R_Sen: mean absolute change of a system's rank from one value to the next.
    """

    switches: FloatArray
    distortion: FloatArray
    sensitivity: FloatArray


def indicators(dissimilarities: FloatArray, seed: int) -> Indicators:
    """The three indicators of appendix 2.

    Args:
        dissimilarities: (..., V, K) dissimilarities of K systems at V values of a parameter.
        seed: Seed of the order of ties.
    """
    ranks = ranks_with_random_ties(dissimilarities, np.random.default_rng(seed))
    ordered = np.sort(ranks, axis=-2)
    switches = (np.diff(ordered, axis=-2) != 0).sum(axis=-2)
    steps = np.abs(np.diff(ranks, axis=-2))
    sensitivity = steps.sum(axis=-2) / max(1, steps.shape[-2])
    return Indicators(
        switches=switches.mean(axis=-1),
        distortion=ranks.std(axis=-2).mean(axis=-1),
        sensitivity=sensitivity.mean(axis=-1),
    )
