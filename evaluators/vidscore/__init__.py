"""The library of vidscore: read files, score detections against truth, in one call each.

``import vidscore`` offers the names of `vidscore_evaluators`, and imports them on first use.
The types for editors and type checkers are in ``__init__.pyi``, which knows the parameters
of each evaluator; `make docs` writes it.
"""

from pkgutil import extend_path
from typing import Any

import vidscore_evaluators

__all__ = list(vidscore_evaluators.__all__)

# vidscore-client has a vidscore.v1, which an editable installation keeps in a folder of its own.
__path__ = extend_path(__path__, __name__)


def __getattr__(name: str) -> Any:
    """Import a name on first use."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(vidscore_evaluators, name)


def __dir__() -> list[str]:
    """Names for completion."""
    return sorted({*globals(), *__all__})
