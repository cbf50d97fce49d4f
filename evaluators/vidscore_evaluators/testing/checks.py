"""Checks of the contract suite, as functions: reports, outcomes, parameters and metadata."""

from __future__ import annotations

import math
import operator
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import assume

from vidscore_evaluators.alignment import align
from vidscore_evaluators.annotations import ARITIES, Annotations, SequenceKey, Side
from vidscore_evaluators.errors import ParameterError
from vidscore_evaluators.evaluator import (
    Direction,
    Dissimilarity,
    Evaluator,
    Growth,
    Measure,
    Task,
    Unit,
)
from vidscore_evaluators.formats import Pair
from vidscore_evaluators.formats.source import Source
from vidscore_evaluators.outcome_table import (
    NO_PARTNER,
    ROW_COLUMNS,
    OperatingPoint,
    Outcome,
    Outcomes,
)
from vidscore_evaluators.parameters import (
    ParameterDescription,
    Value,
    describe_parameters,
    json_schema,
    parameter_values,
    parse_parameters,
)
from vidscore_evaluators.plug_ins import in_range
from vidscore_evaluators.preparation import DataChoice
from vidscore_evaluators.registry import evaluator_names
from vidscore_evaluators.report import Number, Report
from vidscore_evaluators.selection import Selected
from vidscore_evaluators.shards.dealing import Shard
from vidscore_evaluators.shards.merging import merge_shards
from vidscore_evaluators.shards.tally_files import shard_to_bytes
from vidscore_evaluators.shards.tallying import CheckedData
from vidscore_evaluators.tally_bytes import tally_to_bytes
from vidscore_evaluators.testing.strategies import Case, sequence_count
from vidscore_evaluators.trust.drawn_tallies import DrawnTallies, pack_parts
from vidscore_evaluators.trust.draws import scores_by_key
from vidscore_evaluators.trust.systems import Drawn, by_sequence

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_JSON_TYPES: dict[str, type | tuple[type, ...]] = {
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "string": str,
    "array": list,
}
_LIMITS: tuple[tuple[str, Callable[[Any, Any], bool]], ...] = (
    ("minimum", operator.ge),
    ("maximum", operator.le),
    ("exclusiveMinimum", operator.gt),
    ("exclusiveMaximum", operator.lt),
)


def sequences_add(evaluator: Evaluator[Any]) -> Callable[[Case, int], None]:
    """The law that draws have the same scores if sequences are added, not copied under new names.

    Args:
        evaluator: An evaluator that adds sequences.
    """

    def law(case: Case, seed: int) -> None:
        keys = sorted({key for side in case for key in side.used_sequences})
        assume(keys)
        tallies = list(map(evaluator.tally, *(by_sequence(side, keys) for side in case)))
        times = np.random.default_rng(seed).integers(0, 4, len(keys))
        copied, added = (
            DrawnTallies(pack_parts(tallies), 3, Drawn.SEQUENCES, adds_sequences=adds).tally(times)
            for adds in (False, True)
        )
        found, expected = (scores_by_key(evaluator.scores(tally)) for tally in (added, copied))
        assert found == expected

    return law


def check_values(evaluator: Evaluator[Any], report: Report) -> None:
    """Every row is declared, in range and of its type; every curve is a table of numbers."""
    measures = {measure.name: measure for measure in evaluator.measures}
    rows = report.rows()
    assert len({row[:4] for row in rows}) == len(rows), "a score is in the report twice"
    for row in rows:
        assert row.measure in measures, f"{row.measure} is not declared"
        assert fits(measures[row.measure], row.value), f"{row} is outside its declared range"
    curves = [(curve.name, curve.domain, curve.label) for curve in report.curves]
    assert len(set(curves)) == len(curves), "a curve is in the report twice"
    for curve in report.curves:
        assert len({len(column) for column in curve.columns.values()}) <= 1, curve.name
        for name, column in curve.columns.items():
            assert all(_is_number(value) for value in column), f"{curve.name}.{name}: {column}"


def check_places(report: Report, case: Case) -> None:
    """Every row is of a sequence and a domain of the input, or of all."""
    keys = {(key.domain or None, key.sequence) for side in case for key in side.used_sequences}
    places = keys | {(domain, None) for domain, _ in keys} | {(None, None)}
    for row in report.rows():
        assert (row.domain, row.sequence) in places, f"the input has no sequence of {row}"


def check_ranks(evaluator: Evaluator[Any], reports: Sequence[Report]) -> None:
    """Reports without a score that ranks first are ranked behind those with one."""
    name = evaluator.ranking[0]
    keys: dict[bool, list[Any]] = {True: [], False: []}
    for report in reports:
        keys[report.value(name) is None].append(evaluator.rank_key(report))
    if all(keys.values()):
        assert max(keys[False]) < min(keys[True]), f"an undefined {name} does not rank last"


def check_threads(evaluator: Evaluator[Any], cases: Sequence[Case]) -> None:
    """Threads that tally different input at the same time get the tallies of one thread."""

    def tally(case: Case) -> bytes:
        return tally_to_bytes(evaluator.tally(*case))

    expected = list(map(tally, cases)) * 4
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # so that a thread is interrupted within a function
    try:
        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(tally, [*cases] * 4)) == expected
    finally:
        sys.setswitchinterval(interval)


def fits(measure: Measure, value: Number) -> bool:
    """Whether a value has its measure's type and is within its bounds, or is undefined."""
    return value is None or (_is_number(value) and in_range(measure, value))


def best_value(measure: Measure) -> float | None:
    """The best value according to a measure's declaration, or None."""
    if measure.dissimilarity is Dissimilarity.VALUE:
        return 0.0
    if measure.dissimilarity is Dissimilarity.ONE_MINUS:
        return 1.0
    best = {
        Direction.HIGHER: measure.maximum,
        Direction.LOWER: measure.minimum,
        Direction.NONE: None,
    }
    return best[measure.direction]


def check_metadata(evaluator: Evaluator[Any]) -> None:
    """Name, version, title, task, needs and growth are complete, and the ranking has directions."""
    assert evaluator.name in evaluator_names(), f"{evaluator.name} is not registered"
    assert evaluator.version.strip()
    assert evaluator.title.strip()
    assert evaluator.task in Task
    assert evaluator.unit in Unit
    assert evaluator.growth.by in {"bounded", "sequence", "detection"}
    assert evaluator.growth.bytes_each > 0
    assert type(evaluator).__doc__, "the class has no docstring"
    for arities in (evaluator.needs.truth_arities, evaluator.needs.detection_arities):
        assert arities
        assert set(arities) <= set(ARITIES)


def check_measures(evaluator: Evaluator[Any]) -> None:
    """Measures have distinct names and complete declarations; those that rank have a direction."""
    measures = {measure.name: measure for measure in evaluator.measures}
    assert len(measures) == len(evaluator.measures)
    for measure in evaluator.measures:
        check_measure(measure)
    assert evaluator.ranking
    assert set(evaluator.ranking) <= set(measures)
    for name in evaluator.ranking:
        assert measures[name].direction is not Direction.NONE, name


def check_measure(measure: Measure) -> None:
    """A measure's declaration is complete and consistent."""
    assert _NAME.fullmatch(measure.name), measure.name
    assert measure.description.strip(), f"{measure.name} has no description"
    assert measure.unit.strip(), f"{measure.name} has no unit"
    if measure.minimum is not None and measure.maximum is not None:
        assert measure.minimum < measure.maximum, f"the range of {measure.name} is empty"
    if measure.unit == "count":
        assert measure.minimum == 0, f"{measure.name} counts, so its minimum is 0"
    if measure.dissimilarity is Dissimilarity.VALUE:
        assert measure.direction is Direction.LOWER, measure.name
        assert measure.minimum == 0, measure.name
    if measure.dissimilarity is Dissimilarity.ONE_MINUS:
        assert measure.direction is Direction.HIGHER, measure.name
        assert measure.maximum == 1, measure.name


def check_parameters(parameters: type) -> None:
    """Each parameter keeps to its declaration, and unknown ones are refused."""
    defaults: Any = parse_parameters(parameters, {})
    assert parse_parameters(parameters, parameter_values(defaults)) == defaults
    for description in describe_parameters(parameters):
        check_parameter(parameters, description)
    with pytest.raises(ParameterError):
        parse_parameters(parameters, {"no parameter has this name": 1})


def check_parameter(parameters: type, description: ParameterDescription) -> None:
    """A parameter has a description, accepts its default and grid, and refuses other values."""
    bounds = description.bounds
    assert _NAME.fullmatch(description.name), description.name
    assert bounds.description.strip(), f"{description.name} has no description"
    parse_parameters(parameters, {description.name: description.default})
    for value in bounds.grid:
        assert bounds.broken_by(value) is None, f"{description.name}: {value} is in its grid"
    for wrong in _wrong_values(description):
        _check_refused(parameters, description.name, wrong)


def check_schema(parameters: type) -> None:
    """The JSON Schema describes every parameter and accepts every default."""
    schema = json_schema(parameters)
    described = {entry.name: entry for entry in describe_parameters(parameters)}
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    assert list(schema["properties"]) == list(described)
    for name, entry in schema["properties"].items():
        assert entry["description"], name
        assert schema_fault(entry, entry["default"]) is None, name
        for value in entry.get("grid", ()):
            assert schema_fault(entry | {"type": "number"}, value) is None, name
        for value in _wrong_values(described[name]):
            sent = list(value) if isinstance(value, tuple) else value
            assert schema_fault(entry, sent) is not None, f"{name} lets {value!r} pass"


def schema_fault(schema: dict[str, Any], value: Any) -> str | None:
    """The first keyword of a JSON Schema that a value breaks; knows only those of `json_schema`."""
    expected = _JSON_TYPES[schema["type"]]
    if not isinstance(value, expected) or (isinstance(value, bool) and expected is not bool):
        return "type"
    if "enum" in schema and value not in schema["enum"]:
        return "enum"
    if isinstance(value, list):
        found = (schema_fault(schema["items"], item) for item in value)
        return next((f"items: {fault}" for fault in found if fault), None)
    broken = (key for key, holds in _LIMITS if key in schema and not holds(value, schema[key]))
    return next(broken, None)


def _wrong_values(description: ParameterDescription) -> Iterator[Value]:
    """Values that a parameter must refuse: of the wrong type, or just outside its bounds."""
    is_array = description.type_name.startswith("array of ")
    item_type = description.type_name.removeprefix("array of ")
    for value in _wrong_items(description, item_type):
        yield (value,) if is_array else value  # type: ignore[misc]  # one type at a time


def _wrong_items(
    description: ParameterDescription, item_type: str
) -> Iterator[bool | float | int | str]:
    if item_type == "string":
        yield 0.5  # an integer is allowed in an array of strings: it is a label
        if description.choices:
            yield "".join(description.choices) + "?"
        return
    yield "neither a number nor true nor false"
    if item_type == "boolean":
        return
    bounds = description.bounds
    step = 1 if item_type == "integer" else 0
    for limit, towards in ((bounds.minimum, -math.inf), (bounds.maximum, math.inf)):
        if limit is not None:
            beyond = math.copysign(1, towards)
            yield int(limit + beyond) if step else math.nextafter(limit, towards)
    for limit in (bounds.exclusive_minimum, bounds.exclusive_maximum):
        if limit is not None:
            yield int(limit) if step else limit


def _check_refused(parameters: type, name: str, value: Value) -> None:
    with pytest.raises(ParameterError) as caught:
        parse_parameters(parameters, {name: value})
    assert caught.value.faults[0].field == name


def _is_number(value: object) -> bool:
    """Whether a value can be sent as JSON and on the wire: an int, a finite float or None."""
    return value is None or type(value) is int or (type(value) is float and math.isfinite(value))


def check_outcomes(table: Outcomes, truth: Annotations, detections: Annotations) -> None:
    """One row per object, in frame order; outcomes on the right side; consistent partners."""
    aligned = align(truth, detections)
    for side, annotations in ((Side.TRUTH, aligned.truth), (Side.DETECTIONS, aligned.detections)):
        own = table.take(table.of_side(side))
        frames = annotations.object_frames
        assert own.frames.tolist() == annotations.frame_numbers[frames].tolist()
        assert own.sequences.tolist() == annotations.frame_sequences[frames].tolist()
        assert (
            own.rows.tolist()
            == (np.arange(annotations.object_count) - annotations.frame_starts[frames]).tolist()
        )
        assert own.tracks.tolist() == annotations.track_ids.tolist()
        if side is Side.DETECTIONS:
            assert own.confidences.tolist() == annotations.confidences.tolist()
    of_truth = table.of_side(Side.TRUTH)
    false = (outcome for outcome in Outcome if outcome not in _OF_BOTH_SIDES)
    for outcome in false:
        wrong = of_truth if outcome is not Outcome.FALSE_NEGATIVE else ~of_truth
        assert not (table.are(outcome) & wrong).any(), f"{outcome} on the wrong side"
    keys = list(zip(table.sequences.tolist(), table.frames.tolist(), strict=True))
    assert keys == sorted(keys), "frames are not in the common order"
    _check_partners(table)


def check_nesting(evaluator: Evaluator[Any], case: Case) -> None:
    """If outcomes nest, those of confident detections are the same without the other detections."""
    if not evaluator.outcomes_nest or not case.detections.object_count:
        return
    aligned, least = align(*case), float(np.median(case.detections.confidences))
    every = evaluator.outcomes(aligned)
    sure = evaluator.outcomes(aligned, OperatingPoint(confidence=least))
    own = every.of_side(Side.DETECTIONS) & (every.confidences >= least)
    assert every.outcomes[own].tolist() == sure.outcomes[own].tolist()
    counted = (Outcome.TRUE_POSITIVE, Outcome.FALSE_NEGATIVE)
    objects = [table.of_side(Side.TRUTH) & table.are(*counted) for table in (every, sure)]
    assert objects[0].tolist() == objects[1].tolist()


def check_point(evaluator: Evaluator[Any], case: Case) -> None:
    """Outcomes at a confidence ignore the detections below it; what is not offered is refused."""
    aligned, confidences = align(*case), case.detections.confidences
    with pytest.raises(ParameterError):
        evaluator.outcomes(aligned, OperatingPoint(threshold=-math.inf))
    least = float(np.median(confidences)) if len(confidences) else 0.5
    try:
        table = evaluator.outcomes(aligned, OperatingPoint(confidence=least))
    except ParameterError:
        return
    below = table.of_side(Side.DETECTIONS) & (table.confidences < least)
    assert table.are(Outcome.IGNORED)[below].all(), "a detection below the confidence counts"


_OF_BOTH_SIDES = (Outcome.TRUE_POSITIVE, Outcome.IGNORED)


def _check_partners(table: Outcomes) -> None:
    """The partner of a true positive is in the same frame, and names it as its partner."""
    place = {
        key: row
        for row, key in enumerate(
            zip(
                *(table.sequences.tolist(), table.frames.tolist()),
                *(table.sides.tolist(), table.rows.tolist()),
                strict=True,
            )
        )
    }
    for (sequence, frame, side, row), index in place.items():
        partner = int(table.partners[index])
        if partner == NO_PARTNER:
            assert math.isnan(table.similarities[index])
            assert math.isnan(table.distances_px[index])
            continue
        other = place[sequence, frame, 1 - side, partner]
        if table.are(Outcome.TRUE_POSITIVE)[index]:
            assert int(table.partners[other]) == row
            assert table.are(Outcome.TRUE_POSITIVE)[other]


def check_same_outcomes(first: Outcomes, second: Outcomes) -> None:
    """Two tables are equal, to the last bit."""
    for key in ROW_COLUMNS:
        if key not in ("sequences", "labels"):
            np.testing.assert_array_equal(getattr(first, key), getattr(second, key), err_msg=key)
    for names, places in (("sequence_keys", "sequences"), ("label_names", "labels")):
        mine, theirs = (
            [getattr(table, names)[place] for place in getattr(table, places).tolist()]
            for table in (first, second)
        )
        assert mine == theirs, places
    assert _frame_counts(first) == _frame_counts(second), "frame_counts"
    assert set(first.columns) == set(second.columns)
    for key, column in first.columns.items():
        np.testing.assert_array_equal(column, second.columns[key], err_msg=key)


def _frame_counts(table: Outcomes) -> dict[SequenceKey, int]:
    """Number of evaluated frames of each sequence that has some."""
    if table.frame_counts is None:
        return {}
    counts = zip(table.sequence_keys, table.frame_counts.tolist(), strict=True)
    return {key: count for key, count in counts if count}


def merged_report(evaluator: Evaluator[Any], case: Case, seed: int) -> Report:
    """The report of one to five shards' tally files, merged in random order.

    Args:
        evaluator: The evaluator.
        case: The input.
        seed: Determines the number of shards and their order.
    """
    random = np.random.default_rng(seed)
    pair = Pair(Source(case.truth, "truth"), Source(case.detections, "detections"))
    data = CheckedData.of(Selected([evaluator], pair, evaluator.specification), DataChoice())
    count = int(random.integers(1, 6))
    shards = [Shard(1 + place, count) for place in random.permutation(count).tolist()]
    files = {str(shard): shard_to_bytes(data.tally(shard)) for shard in shards}
    sources = {name: partial(files.__getitem__, name) for name in files}
    [report] = merge_shards(sources).reports
    return report


def declared_bytes(growth: Growth, case: Case) -> int:
    """Upper bound on the size of a tally, as its evaluator declares it."""
    sequences = sequence_count(case)
    counted = {
        "bounded": 1,
        "sequence": sequences,
        "detection": sequences + case.detections.object_count,
    }
    return growth.bytes_each * counted[growth.by]
