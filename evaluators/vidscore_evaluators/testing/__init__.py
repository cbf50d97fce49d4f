"""The contract suite that every evaluator must pass, and building blocks for evaluator tests.

    from vidscore_evaluators.registry import create_evaluator
    from vidscore_evaluators.testing import EvaluatorContract


    class TestMyEvaluator(EvaluatorContract):
        evaluator = create_evaluator("my_evaluator")

This is complete for an evaluator without special input rules; `EvaluatorContract` lists what can be
adapted. Run it with pytest, with hypothesis installed.
"""

from __future__ import annotations

try:
    import hypothesis as _hypothesis  # noqa: F401 - only to say below what is missing
    import pytest
except ImportError as error:
    raise ImportError(
        "vidscore_evaluators.testing needs pytest and hypothesis: pip install pytest hypothesis"
    ) from error

# Before the import, so that a failed assertion of the suite shows its values.
pytest.register_assert_rewrite(
    "vidscore_evaluators.testing.contract", "vidscore_evaluators.testing.checks"
)

from vidscore_evaluators.testing.contract import EvaluatorContract  # noqa: E402 - see above
from vidscore_evaluators.testing.examples import Thing, make_annotations, scored_objects, shuffled  # noqa: E402
from vidscore_evaluators.testing.strategies import Case, cases, seeds  # noqa: E402

__all__ = [
    "Case",
    "EvaluatorContract",
    "Thing",
    "cases",
    "make_annotations",
    "scored_objects",
    "seeds",
    "shuffled",
]
