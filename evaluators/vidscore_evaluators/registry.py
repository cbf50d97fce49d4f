"""Registry of evaluators: built-in ones by import, others by entry point.

A distribution adds an evaluator with an entry point in the group ``vidscore.evaluators`` whose
object is a subclass of `vidscore_evaluators.evaluator.Evaluator`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from vidscore_evaluators.errors import PlugInError, UnknownEvaluatorError, VidscoreError
from vidscore_evaluators.evaluator import Direction, Evaluator, Measure, Needs, Task
from vidscore_evaluators.names import name_advice
from vidscore_evaluators.parameters import describe_parameters, parse_parameters
from vidscore_evaluators.plug_ins import contained
from vidscore_evaluators.specification import BenchmarkSpec

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ENTRY_POINT_GROUP = "vidscore.evaluators"

_BUILT_IN = {
    "spotgeo": "vidscore_evaluators.spotgeo:SpotGeo",
    "neovision2": "vidscore_evaluators.neovision2:Neovision2",
    "f1": "vidscore_evaluators.detection.f1:F1",
    "map": "vidscore_evaluators.detection.average_precision:MeanAveragePrecision",
    "coco": "vidscore_evaluators.detection.coco:Coco",
    "log-amr": "vidscore_evaluators.detection.log_average_miss_rate:LogAverageMissRate",
    "errors": "vidscore_evaluators.detection.errors:DetectionErrors",
    "hausdorff": "vidscore_evaluators.distances.sets:Hausdorff",
    "emd": "vidscore_evaluators.distances.sets:Emd",
    "ospa": "vidscore_evaluators.distances.sets:Ospa",
    "clear": "vidscore_evaluators.tracking.clear:Clear",
    "identity": "vidscore_evaluators.tracking.identity:Identity",
    "hota": "vidscore_evaluators.tracking.hota:Hota",
    "track-hausdorff": "vidscore_evaluators.distances.tracks:TrackHausdorff",
    "track-emd": "vidscore_evaluators.distances.tracks:TrackEmd",
    "track-ospa": "vidscore_evaluators.distances.tracks:TrackOspa",
    "ospa2": "vidscore_evaluators.distances.tracks:Ospa2",
}
"""Module and class by name, imported at first use, so that they do not slow start-up."""

EvaluatorClass = type[Evaluator[Any]]

_DECLARED = {
    "version": "a string",
    "title": "a string",
    "task": "a Task",
    "needs": "a Needs",
    "measures": "a tuple of Measure, each with a name of its own",
    "ranking": "names of its measures that have a better direction",
    "Parameters": "a dataclass of fields made by `parameter`, each a bool, int, float, str, "
    "Literal of strings, or tuple of one of the first four",
}
"""What each evaluator declares beside its name."""


def evaluator_names() -> tuple[str, ...]:
    """Names of all evaluators, built-in ones first."""
    return (*_BUILT_IN, *sorted(name for name in _plug_ins() if name not in _BUILT_IN))


def is_evaluator(name: str) -> bool:
    """Whether an evaluator has that name."""
    return name in _BUILT_IN or name in _plug_ins()


def is_built_in(name: str) -> bool:
    """Whether an evaluator of that name belongs to vidscore itself."""
    return name in _BUILT_IN


@cache
def evaluator_class(name: str) -> EvaluatorClass:
    """The evaluator class with a name.

    Raises:
        UnknownEvaluatorError: If there is none, or a distribution's evaluator cannot be used; the
            text says why, or lists the existing names.
    """
    if name in _BUILT_IN:
        module, class_name = _BUILT_IN[name].split(":")
        built_in: EvaluatorClass = getattr(import_module(module), class_name)
        return built_in
    plug_ins = _plug_ins()
    if name in plug_ins:
        return _load(plug_ins[name])
    raise UnknownEvaluatorError(f"no evaluator is called {name!r}; {_advice(name)}")


def usable_evaluators() -> Iterator[EvaluatorClass]:
    """All evaluator classes, without those of plug-ins that cannot be used."""
    for name in evaluator_names():
        with suppress(UnknownEvaluatorError):
            yield evaluator_class(name)


def unused_plug_ins() -> tuple[str, ...]:
    """A sentence for each evaluator of a plug-in that has the name of a built-in one."""
    return tuple(
        f"the evaluator {name!r} of {_distributions(points)} is never used: vidscore has one of "
        "this name"
        for name, points in _plug_ins().items()
        if name in _BUILT_IN
    )


def _advice(name: str) -> str:
    """Advice about a name that no evaluator has; it may be that of a preset or a measure."""
    # The presets module imports this one.
    presets = import_module("vidscore_evaluators.presets").preset_names()
    if name in presets:
        return f"{name} is a preset, which stands for several and cannot be named here"
    known = tuple(dict.fromkeys([*evaluator_names(), *presets]))
    if name.casefold() in known:
        return f"did you mean {name.casefold()}?"
    measuring = [
        entry
        for entry in _BUILT_IN
        if _plain(name) in {_plain(measure.name) for measure in evaluator_class(entry).measures}
    ]
    if measuring:
        return f"{name} is a measure of {' and of '.join(measuring)}"
    return name_advice(name, known)


def _plain(name: str) -> str:
    """A name without case and dashes, which people do not always remember."""
    return re.sub("[^a-z0-9]", "", name.casefold())


def create_evaluator(
    name: str,
    parameters: Mapping[str, object] | None = None,
    specification: BenchmarkSpec = BenchmarkSpec(),
) -> Evaluator[Any]:
    """Build an evaluator from outside input.

    Args:
        name: Its name.
        parameters: Parameter values by name; the others take their defaults.
        specification: The benchmark's specification.

    Raises:
        UnknownEvaluatorError: If there is no evaluator of that name, or that of a distribution
            cannot be made.
        ParameterError: With every fault of the parameters.
    """
    chosen = evaluator_class(name)
    if not is_built_in(name):
        chosen = contained(chosen, _distributions(_plug_ins()[name]))
    try:
        made = chosen(parse_parameters(chosen.Parameters, parameters or {}), specification)
        if not is_built_in(name):
            _require_declarations(made)
    except (Exception, SystemExit) as error:
        if is_built_in(name) or isinstance(error, VidscoreError):
            raise
        reason = error if isinstance(error, PlugInError) else f"{type(error).__name__}: {error}"
        raise UnknownEvaluatorError(f"{_unusable(_plug_ins()[name])}: {reason}") from error
    return made


def _require_declarations(evaluator: Evaluator[Any]) -> None:
    """Call the functions by which an evaluator declares how it is used.

    Raises:
        PlugInError: If one fails, or returns something else than it must.
    """
    _ = evaluator.unit, evaluator.growth
    for measure in evaluator.measures:
        evaluator.useful_range(measure.name)


@cache
def _plug_ins() -> dict[str, list[EntryPoint]]:
    """Entry points by name; those that differ only in where they were found count once."""
    # It is slow to import, and built-in evaluators do not need it.
    from importlib import metadata  # noqa: PLC0415

    points: dict[str, dict[str, EntryPoint]] = {}
    for point in metadata.entry_points(group=ENTRY_POINT_GROUP):
        points.setdefault(point.name, {})[point.value] = point
    return {name: list(different.values()) for name, different in points.items()}


def _distributions(points: list[EntryPoint]) -> str:
    return " and ".join(point.dist.name for point in points if point.dist is not None)


def _unusable(points: list[EntryPoint]) -> str:
    return f"the evaluator {points[0].name!r} of {_distributions(points)} cannot be used"


def _load(points: list[EntryPoint]) -> EvaluatorClass:
    unusable = _unusable(points)
    if len(points) > 1:
        raise UnknownEvaluatorError(f"{unusable}: only one of them may have it")
    try:
        plug_in = points[0].load()
    except (Exception, SystemExit) as error:  # a plug-in is foreign code and may raise anything
        raise UnknownEvaluatorError(f"{unusable}: {type(error).__name__}: {error}") from error
    if not (isinstance(plug_in, type) and issubclass(plug_in, Evaluator)):
        raise UnknownEvaluatorError(f"{unusable}: {points[0].value} is not a subclass of Evaluator")
    faults = list(_declaration_faults(plug_in, points[0].name))
    if faults:
        raise UnknownEvaluatorError(f"{unusable}: {'; '.join(faults)}")
    return plug_in


def _declaration_faults(plug_in: EvaluatorClass, name: str) -> Iterator[str]:
    """What a class lacks that lists of evaluators, boards and reports take from it."""
    if abstract := sorted(plug_in.__abstractmethods__):
        yield f"it does not define {', '.join(abstract)}"
    if getattr(plug_in, "name", None) != name:
        yield f"it calls itself {getattr(plug_in, 'name', None)!r}"
    own = {attribute: getattr(plug_in, attribute, None) for attribute in _DECLARED}
    measures = _measures(own["measures"])
    for attribute, is_declared in (
        ("version", isinstance(own["version"], str)),
        ("title", isinstance(own["title"], str)),
        ("task", isinstance(own["task"], Task)),
        ("needs", isinstance(own["needs"], Needs)),
        ("measures", bool(measures)),
        ("ranking", _are_of(own["ranking"], measures)),
        ("Parameters", _are_parameters(own["Parameters"])),
    ):
        if not is_declared:
            yield f"its {attribute} is {own[attribute]!r}, expected {_DECLARED[attribute]}"


def _measures(declared: object) -> tuple[Measure, ...]:
    """An evaluator's measures; none if they are not declared as they must be."""
    if not isinstance(declared, tuple | list):
        return ()
    measures = tuple(entry for entry in declared if isinstance(entry, Measure))
    distinct = {measure.name for measure in measures}
    return measures if len(distinct) == len(declared) else ()


def _are_of(ranking: object, measures: tuple[Measure, ...]) -> bool:
    """Whether a ranking names measures with a better direction; any, if there are no measures."""
    directed = {entry.name for entry in measures if entry.direction is not Direction.NONE}
    return isinstance(ranking, tuple | list) and (not measures or directed.issuperset(ranking))


def _are_parameters(parameters: Any) -> bool:
    try:
        describe_parameters(parameters)
    except Exception:  # noqa: BLE001 - types of fields are foreign code, too
        return False
    return True
