"""The library of vidscore: read files, score detections against truth, in one call each.

``import vidscore`` offers what `vidscore_evaluators` does, and imports it when it is asked for.
The types that editors and type checkers see stand in ``__init__.pyi``, which knows the parameters
of each evaluator; `make docs` writes it.
"""

from pkgutil import extend_path
from typing import Any

import vidscore_evaluators

__all__ = list(vidscore_evaluators.__all__)

# vidscore-client has a vidscore.v1, which an editable installation keeps in a folder of its own.
__path__ = extend_path(__path__, __name__)


def __getattr__(name: str) -> Any:
    """Import what is asked for."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return vidscore_evaluators.exported(name)


def __dir__() -> list[str]:
    """Names for completion."""
    return sorted({*globals(), *__all__})
