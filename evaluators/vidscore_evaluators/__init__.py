"""vidscore: scores of video detectors under the rules of a benchmark.

``from vidscore_evaluators import read, score`` is the library. Each public name is imported at its
first use, so importing one module of the package loads that module alone.
"""

from __future__ import annotations

from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vidscore_evaluators.annotations import Annotations, SequenceKey, Side
    from vidscore_evaluators.comparison import compare
    from vidscore_evaluators.errors import (
        Fault,
        GeometryError,
        InputError,
        LimitError,
        ParameterError,
        PlugInError,
        SpecificationError,
        UnknownEvaluatorError,
        VidscoreError,
    )
    from vidscore_evaluators.figures.plots import plot
    from vidscore_evaluators.outcome_table import Outcome, Outcomes
    from vidscore_evaluators.presets import Preset, find_preset, preset_names
    from vidscore_evaluators.registry import evaluator_names
    from vidscore_evaluators.report import Report, Row
    from vidscore_evaluators.scorer import Scorer
    from vidscore_evaluators.scoring import outcomes, read, score
    from vidscore_evaluators.selection import Selection
    from vidscore_evaluators.specification import (
        BenchmarkSpec,
        DomainSpec,
        EvaluatorSpec,
        FrameRanges,
        SequenceSpec,
    )
    from vidscore_evaluators.trust.comparisons import Comparison

__all__ = [
    "Annotations",
    "BenchmarkSpec",
    "Comparison",
    "DomainSpec",
    "EvaluatorSpec",
    "Fault",
    "FrameRanges",
    "GeometryError",
    "InputError",
    "LimitError",
    "Outcome",
    "Outcomes",
    "ParameterError",
    "PlugInError",
    "Preset",
    "Report",
    "Row",
    "Scorer",
    "Selection",
    "SequenceKey",
    "SequenceSpec",
    "Side",
    "SpecificationError",
    "UnknownEvaluatorError",
    "VidscoreError",
    "compare",
    "evaluator_names",
    "find_preset",
    "outcomes",
    "plot",
    "preset_names",
    "read",
    "score",
]

_MODULES = MappingProxyType(
    {
        "annotations": ("Annotations", "SequenceKey", "Side"),
        "comparison": ("compare",),
        "errors": (
            "Fault",
            "GeometryError",
            "InputError",
            "LimitError",
            "ParameterError",
            "PlugInError",
            "SpecificationError",
            "UnknownEvaluatorError",
            "VidscoreError",
        ),
        "figures.plots": ("plot",),
        "outcome_table": ("Outcome", "Outcomes"),
        "presets": ("Preset", "find_preset", "preset_names"),
        "scorer": ("Scorer",),
        "scoring": ("outcomes", "read", "score"),
        "registry": ("evaluator_names",),
        "report": ("Report", "Row"),
        "selection": ("Selection",),
        "trust.comparisons": ("Comparison",),
        "specification": (
            "BenchmarkSpec",
            "DomainSpec",
            "EvaluatorSpec",
            "FrameRanges",
            "SequenceSpec",
        ),
    }
)
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import a public name at its first use."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    """Names for completion."""
    return sorted({*globals(), *__all__})
