"""Evaluators of plug-ins: what goes wrong in their functions names them, and results are checked.

An evaluator of another distribution is used through a subclass of its class. Whatever one of its
functions raises, even `SystemExit`, becomes a `PlugInError`, and so does a result of another form
than `vidscore_evaluators.evaluator.Evaluator` asks for. A score that is not finite is undefined.
Annotations are passed as views that cannot be written to: others share their arrays.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, wraps
from typing import Any

from msgspec import structs

from vidscore_evaluators.alignment import Aligned, read_only
from vidscore_evaluators.annotations import Annotations, Side
from vidscore_evaluators.errors import Fault, ParameterError, PlugInError
from vidscore_evaluators.evaluator import Evaluator, Growth, Measure, Unit
from vidscore_evaluators.outcome_table import Outcomes
from vidscore_evaluators.report import Block, Number, ReportWarning, Scores
from vidscore_evaluators.tally import Table

EvaluatorClass = type[Evaluator[Any]]

_ROUNDING = 1e-9
"""How far a score may be outside of its declared range: a mean of ones may be a little above 1."""

LARGEST_COUNT = 2**63 - 1
"""Larger integers cannot be stored or sent."""


@cache
def contained(plug_in: EvaluatorClass, distribution: str) -> EvaluatorClass:
    """A subclass of a plug-in's evaluator, with the functions that it defines under control.

    Args:
        plug_in: The class.
        distribution: Name of its distribution, for messages.
    """
    own = {name: getattr(plug_in, name) for name in ("__doc__", "__module__", "__qualname__")}
    # By its names pickle would find the class of the plug-in.
    own["__reduce__"] = lambda self: (_restored, (plug_in, distribution, vars(self)))
    for name, checked in _RESULTS.items():
        found = getattr(plug_in, name)
        if found is getattr(Evaluator, name):
            continue
        what = f"{name} of the evaluator {plug_in.name!r}"
        if isinstance(found, property) and found.fget is not None:
            own[name] = property(_contained(found.fget, what, checked, distribution))
        else:
            own[name] = _contained(found, what, checked, distribution)
    return type(plug_in.__name__, (plug_in,), own)


def _restored(
    plug_in: EvaluatorClass, distribution: str, state: Mapping[str, Any]
) -> Evaluator[Any]:
    """A copy of an evaluator of a plug-in, of its attributes."""
    kind = contained(plug_in, distribution)
    copied = kind.__new__(kind)
    vars(copied).update(state)
    return copied


def _contained(
    function: Callable[..., Any],
    what: str,
    checked: Callable[..., Any],
    distribution: str,
) -> Callable[..., Any]:
    @wraps(function)
    def call(self: Evaluator[Any], *args: Any, **named: Any) -> Any:
        try:
            args = tuple(map(read_only, args))
            named = {name: read_only(value) for name, value in named.items()}
            return checked(self, function(self, *args, **named), *args, *named.values())
        except (ParameterError, PlugInError):  # the former refuses an operating point
            raise
        except _WrongResultError as error:
            raise PlugInError(what, distribution, str(error)) from None
        except (Exception, SystemExit) as error:  # a plug-in is foreign code
            problem = f"{type(error).__name__}: {error}"
            raise PlugInError(what, distribution, problem) from error

    return call


def in_range(measure: Measure, value: float, rounding: float = 0.0) -> bool:
    """Whether a value is within the bounds of its measure, and an integer if that is a count.

    Args:
        measure: The measure.
        value: The value.
        rounding: How far it may be outside.
    """
    if measure.unit == "count" and not isinstance(value, int):
        return False
    above = measure.minimum is None or value >= measure.minimum - rounding
    return above and (measure.maximum is None or value <= measure.maximum + rounding)


class _WrongResultError(Exception):
    """A function has returned something else than it must."""


def _returned(found: object, expected: str) -> _WrongResultError:
    return _WrongResultError(f"it returned {found!r:.80}, expected {expected}")


def _any(_: Evaluator[Any], found: Any, *_given: Any) -> Any:
    return found


def _instance(kind: type[Any]) -> Callable[..., Any]:
    def check(_: Evaluator[Any], found: Any, *_given: Any) -> Any:
        if not isinstance(found, kind):
            raise _returned(found, kind.__name__)
        return found

    return check


def _range(_: Evaluator[Any], found: Any, *_given: Any) -> Any:
    ends = found if isinstance(found, tuple | list) else ()
    if len(ends) == 2 and all(end is None or isinstance(end, int | float) for end in ends):
        return found
    raise _returned(found, "two ends, each a number or None")


def _entries(kind: type[Any], found: Any) -> tuple[Any, ...]:
    entries = tuple(found)
    for entry in entries:
        if not isinstance(entry, kind):
            raise _returned(entry, f"a sequence of {kind.__name__}")
    return entries


def _warnings(_: Evaluator[Any], found: Any, *_given: Any) -> tuple[ReportWarning, ...]:
    return _entries(ReportWarning, found)


def _faults(_: Evaluator[Any], found: Any, _side: Side, batch: Annotations) -> tuple[Fault, ...]:
    faults: tuple[Fault, ...] = _entries(Fault, found)
    for entry in (fault.entry for fault in faults):
        if entry is not None and not 0 <= entry < batch.frame_count:
            raise _returned(entry, "the row of a frame in each fault's entry, or None")
    return faults


def _outcomes(_: Evaluator[Any], found: Any, aligned: Aligned, *_given: Any) -> Outcomes:
    if not isinstance(found, Outcomes):
        raise _returned(found, "Outcomes")
    expected = aligned.truth.object_count + aligned.detections.object_count
    if len(found) != expected:
        raise _WrongResultError(
            f"it returned {len(found)} outcomes, expected {expected}, one for each object and "
            "detection"
        )
    return found


def _rank_key(_: Evaluator[Any], found: Any, *_given: Any) -> Any:
    if isinstance(found, tuple) and all(map(_is_rank_part, found)):
        return found
    raise _returned(found, "a tuple of pairs, each of whether a score is undefined and a number")


def _is_rank_part(part: Any) -> bool:
    """Whether it sorts with all others of its kind, undefined ones last; NaN would not."""
    if not (isinstance(part, tuple) and len(part) == 2 and isinstance(part[0], bool)):
        return False
    return isinstance(part[1], int | float) and not math.isnan(part[1])


def _tables(_: Evaluator[Any], found: Any, *_given: Any) -> Mapping[str, Table]:
    if isinstance(found, Mapping) and all(isinstance(one, Table) for one in found.values()):
        return found
    raise _returned(found, "a mapping from names to Table")


def _scores(evaluator: Evaluator[Any], found: Any, *_given: Any) -> Scores:
    """Scores with None in place of values that are not finite."""
    if not isinstance(found, Scores):
        raise _returned(found, "Scores")
    if not all(isinstance(entry, ReportWarning) for entry in found.warnings):
        raise _returned(found.warnings, "a ReportWarning for each warning")
    declared = {measure.name: measure for measure in evaluator.measures}
    blocks = tuple(_block(block, declared) for block in found.blocks)
    everything = {
        name for block in blocks for name in block.measures if block.find(_WHOLE, name) is not None
    }
    if missing := [name for name in evaluator.ranking if name not in everything]:
        raise _WrongResultError(f"there is no score over everything of {', '.join(missing)}")
    curves = tuple(
        structs.replace(curve, columns=_columns(f"curve {curve.name}", curve.columns))
        for curve in found.curves
    )
    return replace(found, blocks=blocks, curves=curves)


_WHOLE = (None, None, None)


def _grid_scores(evaluator: Evaluator[Any], found: Any, *_given: Any) -> Mapping[float, Scores]:
    return {value: _scores(evaluator, scores) for value, scores in found.items()}


def _block(block: Block, declared: Mapping[str, Measure]) -> Block:
    measures = _columns("block", block.measures)
    row_count = len(next(iter(measures.values()), ()))
    for column in (block.domains, block.classes, block.sequences):
        if len(column) not in {1, row_count}:
            raise _WrongResultError(
                f"a block has {len(column)} names for {row_count} scores, expected one or as many"
            )
    for name, values in measures.items():
        if name not in declared:
            raise _WrongResultError(f"{name} is none of its measures")
        for value in values:
            if value is not None and not in_range(declared[name], value, _ROUNDING):
                raise _WrongResultError(f"{name} is {value!r:.80}, outside of its declared range")
    return replace(block, measures=measures)


def _columns(what: str, columns: Mapping[str, Sequence[Any]]) -> dict[str, Sequence[Number]]:
    """Columns of equal length, with None in place of values that are not finite."""
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        raise _WrongResultError(f"the columns of a {what} have different lengths: {lengths}")
    return {name: [*_numbers(name, values)] for name, values in columns.items()}


def _numbers(name: str, values: Sequence[Any]) -> Iterator[Number]:
    for value in values:
        if type(value) is float:
            yield value if math.isfinite(value) else None
        elif value is None or (type(value) is int and abs(value) <= LARGEST_COUNT):
            yield value
        else:
            raise _WrongResultError(
                f"{name} is {value!r:.80} ({type(value).__name__}), expected an int of at most "
                "64 bits, a float or None; numpy's tolist() gives these"
            )


_RESULTS: Mapping[str, Callable[..., Any]] = {
    "unit": _instance(Unit),
    "adds_sequences": _instance(bool),
    "growth": _instance(Growth),
    "tables": _tables,
    "scores": _scores,
    "faults": _faults,
    "outcomes": _outcomes,
    "outcome_figures": _instance(Mapping),
    "grid": _any,
    "grid_scores": _grid_scores,
    "scored_classes": _any,
    "warnings": _warnings,
    "rank_key": _rank_key,
    "useful_range": _range,
}
"""The functions that an evaluator may define, each with the check of its result and arguments."""
