"""Outcomes of each box, by class and in the detection-only score.

The standard columns have the outcomes by class. Further columns have the detection-only score, in
which overlapping boxes count once: the first of them in the frame stands for the merged box, the
others are ignored there, and all of them refer to the first.
"""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from vidscore_evaluators.alignment import Aligned
from vidscore_evaluators.annotations import Annotations, SequenceKey, Side
from vidscore_evaluators.arrays import BoolArray, FlagArray, FloatArray, IntArray
from vidscore_evaluators.neovision2._input import (
    UNLISTED,
    Neovision2Parameters,
    ObjectBoxes,
    ProtocolInput,
    class_table,
)
from vidscore_evaluators.neovision2.detection_only import MergeRule
from vidscore_evaluators.neovision2.matching import best_pairs, class_pairs, counting_pairs
from vidscore_evaluators.neovision2.scores import (
    DETECTION_ONLY,
    ClassCounts,
    Costs,
    averages,
    count_measures,
)
from vidscore_evaluators.outcome_table import (
    CODES,
    NO_PARTNER,
    IndexArray,
    Outcome,
    OutcomeBuilder,
    Outcomes,
)
from vidscore_evaluators.pairs import Pairs
from vidscore_evaluators.report import Number
from vidscore_evaluators.shapes import Merged, join_groups, overlap_ratios_of
from vidscore_evaluators.specification import BenchmarkSpec

MERGED_INTO = "merged_into"
"""Column of the row, on the same side, of the first of the boxes that are merged with this one;
`NO_PARTNER` for a box that is not merged."""

_OF_DETECTION_ONLY = {
    f"{DETECTION_ONLY}outcome": "outcomes",
    f"{DETECTION_ONLY}partner": "partners",
    f"{DETECTION_ONLY}similarity": "similarities",
    f"{DETECTION_ONLY}share": "shares",
}
"""Columns of the detection-only score, and the standard columns that they correspond to."""


def outcomes_of(
    aligned: Aligned,
    inputs: ProtocolInput,
    parameters: Neovision2Parameters,
    specification: BenchmarkSpec,
) -> Outcomes:
    """The table.

    Args:
        aligned: Both sides.
        inputs: The input of the matching, traced; with all of its detections.
        parameters: Parameters of the evaluator.
        specification: Defines the classes of a domain.
    """
    merged = _detection_only(aligned, inputs, parameters)
    columns = {name: getattr(merged, own) for name, own in _OF_DETECTION_ONLY.items()}
    columns[MERGED_INTO] = merged.columns[MERGED_INTO]
    del merged
    by_class = _named_by_class(_of_classes(aligned, inputs, parameters), specification)
    return replace(by_class, columns=columns, frame_counts=_frame_counts(aligned, inputs))


def _frame_counts(aligned: Aligned, inputs: ProtocolInput) -> IntArray:
    """(sequences,) evaluated frames, including those that neither side lists."""
    counts = {
        SequenceKey(inputs.domain_names[domain], name): count
        for domain, name, count in zip(
            inputs.domains.tolist(),
            inputs.sequence_names,
            inputs.counters["evaluated_frames"].tolist(),
            strict=True,
        )
    }
    return np.array([counts.get(key, 0) for key in aligned.truth.sequences], dtype=np.int64)


def _of_classes(
    aligned: Aligned, inputs: ProtocolInput, parameters: Neovision2Parameters
) -> Outcomes:
    """Outcomes of the matching by class."""
    objects, detections = inputs.objects, inputs.detections
    counting = counting_pairs(inputs, parameters)
    fitting = class_pairs(inputs, counting)
    pairs = counting.take(fitting.rows)
    overlaps = overlap_ratios_of(objects.shapes, pairs.left, detections.shapes, pairs.right)
    frames, classes = detections.frames[pairs.right], detections.classes[pairs.right]
    chosen = best_pairs(
        fitting.pairs,
        fitting.spared,
        overlaps,
        frames * max(1, inputs.classes.count) + classes,
        len(detections.frames),
    )
    builder = OutcomeBuilder(aligned)
    real = ~inputs.dont_care & (objects.classes != UNLISTED)
    counted = detections.traced[detections.classes != UNLISTED]
    _decide(
        builder,
        (objects.traced[real], counted),
        Pairs(objects.traced[pairs.left[chosen]], detections.traced[pairs.right[chosen]]),
        fitting.spared[chosen],
        overlaps[chosen],
        parameters,
    )
    return builder.build()


def _detection_only(
    aligned: Aligned, inputs: ProtocolInput, parameters: Neovision2Parameters
) -> Outcomes:
    """Outcomes that ignore labels, with the merged boxes."""
    rule = MergeRule.of(parameters)
    real, spared = (inputs.objects.take(rows) for rows in (~inputs.dont_care, inputs.dont_care))
    truth, detections = rule.merge(real.shapes), rule.merge(inputs.detections.shapes)
    truth_rows, detection_rows = _firsts(truth, real), _firsts(detections, inputs.detections)
    left, order = join_groups(truth.shapes, spared.shapes)
    left_rows = np.concatenate([truth_rows, spared.traced])[order]
    pairs = rule.pairs(left, detections.shapes)
    is_spared = (order >= len(truth.shapes))[pairs.left]
    overlaps = overlap_ratios_of(left, pairs.left, detections.shapes, pairs.right)
    groups = detections.shapes.groups[pairs.right]
    chosen = best_pairs(pairs, is_spared, overlaps, groups, len(detections.shapes))
    builder = OutcomeBuilder(aligned)
    _decide(
        builder,
        (truth_rows, detection_rows),
        Pairs(left_rows[pairs.left[chosen]], detection_rows[pairs.right[chosen]]),
        is_spared[chosen],
        overlaps[chosen],
        parameters,
    )
    merged_into = {
        Side.TRUTH: _merged_into(aligned.truth, real, truth, truth_rows),
        Side.DETECTIONS: _merged_into(
            aligned.detections, inputs.detections, detections, detection_rows
        ),
    }
    return builder.build({MERGED_INTO: merged_into})


def _decide(
    builder: OutcomeBuilder,
    counted: tuple[IntArray, IntArray],
    pairs: Pairs,
    spared: BoolArray,
    overlaps: FloatArray,
    parameters: Neovision2Parameters,
) -> None:
    """Set the outcomes of the rows of both sides.

    Args:
        builder: The builder to fill.
        counted: Real objects and detections that count.
        pairs: (K,) matched pairs.
        spared: (K,) whether each pair is with a don't-care object.
        overlaps: (K,) overlap ratios.
        parameters: The parameters with the costs.
    """
    for side, rows, outcome, cost in (
        (Side.TRUTH, counted[0], Outcome.FALSE_NEGATIVE, parameters.c_m),
        (Side.DETECTIONS, counted[1], Outcome.FALSE_POSITIVE, parameters.c_f),
    ):
        builder.set(side, rows, outcome)
        builder.share(side, rows, cost)
    hits, absorbed = pairs.take(~spared), pairs.take(spared)
    builder.match(hits.left, hits.right, similarities=overlaps[~spared])
    builder.share(Side.TRUTH, hits.left, 0.0)
    builder.share(Side.DETECTIONS, pairs.right, 0.0)
    builder.set(Side.DETECTIONS, absorbed.right, Outcome.IGNORED)
    # A don't-care object may remove one detection per class, and so has no single partner.
    builder.relate(Side.DETECTIONS, absorbed.right, absorbed.left, similarities=overlaps[spared])


def _firsts(merged: Merged, side: ObjectBoxes) -> IntArray:
    """(M,) row of the first box of each merged box."""
    _, first = np.unique(merged.labels, return_index=True)
    rows: IntArray = side.traced[first]
    return rows


def _merged_into(
    annotations: Annotations, side: ObjectBoxes, merged: Merged, firsts: IntArray
) -> IndexArray:
    """(objects,) position in its frame of the first of the boxes that each is merged with."""
    column = np.full(annotations.object_count, NO_PARTNER, dtype=np.int32)
    several = np.bincount(merged.labels, minlength=len(firsts))[merged.labels] > 1
    rows = firsts[merged.labels[several]]
    column[side.traced[several]] = rows - annotations.frame_starts[annotations.object_frames[rows]]
    return column


def _named_by_class(table: Outcomes, specification: BenchmarkSpec) -> Outcomes:
    """The table, with labels written as the classes of their domain, as in reports."""
    keys = dict.fromkeys(key.domain for key in table.sequence_keys)
    domains = {domain: place for place, domain in enumerate(keys)}
    classes = class_table(specification, tuple(domains), table.label_names)
    codes = list(zip(classes.code_of_label.tolist(), table.label_names, strict=True))
    written = [[names.get(code, label) for code, label in codes] for names in classes.names]
    if all(names == list(table.label_names) for names in written):
        return table
    place: dict[str, int] = {}
    places = np.array(
        [[place.setdefault(name, len(place)) for name in names] for names in written],
        dtype=np.int32,
    )
    of_sequences = np.array([domains[key.domain] for key in table.sequence_keys], dtype=np.int64)
    labels = places[of_sequences[table.sequences], table.labels]
    return replace(table, label_names=tuple(place), labels=labels)


def figures_of_outcomes(outcomes: Outcomes, costs: Costs) -> dict[str, Number]:
    """Measures over the data of the outcomes.

    Counts of a class, averages over its classes and domains, and the detection-only score.
    """
    names = dict.fromkeys(key.domain for key in outcomes.sequence_keys)
    domains = {domain: place for place, domain in enumerate(names)}
    of_sequences = np.array([domains[key.domain] for key in outcomes.sequence_keys], dtype=np.int64)
    width = max(1, len(outcomes.label_names))
    keys = of_sequences[outcomes.sequences] * width + outcomes.labels
    by_class = _counts(outcomes, outcomes.outcomes, keys, len(domains) * width)
    alone = np.zeros(len(outcomes), dtype=np.int64)
    [whole] = _counts(outcomes, outcomes.outcomes, alone, 1)
    of_merged = outcomes.columns[f"{DETECTION_ONLY}outcome"]
    [merged] = _counts(outcomes, of_merged, alone, 1)
    return (
        count_measures(whole, costs)
        | averages(by_class, costs)
        | count_measures(merged, costs, DETECTION_ONLY)
        | {"evaluated_frames": outcomes.frame_count}
    )


def _counts(outcomes: Outcomes, codes: FlagArray, keys: IntArray, count: int) -> list[ClassCounts]:
    """Counts by key of outcomes given by their codes."""
    of_truth = outcomes.of_side(Side.TRUTH)
    hit = of_truth & (codes == CODES[Outcome.TRUE_POSITIVE])
    missed = codes == CODES[Outcome.FALSE_NEGATIVE]
    false = codes == CODES[Outcome.FALSE_POSITIVE]
    sums = [np.bincount(keys[rows], minlength=count).tolist() for rows in (hit, missed, false)]
    return [
        ClassCounts(hits + misses, hits, alarms) for hits, misses, alarms in zip(*sums, strict=True)
    ]
