"""What holds for one run of the command line, whichever command it is."""

from __future__ import annotations

import os
from dataclasses import dataclass, field


def _debug_wanted() -> bool:
    return os.environ.get("VIDSCORE_DEBUG", "") not in {"", "0"}


@dataclass
class Session:
    """Choices that the handling of errors needs after a command has failed.

    Attributes:
        debug: Whether an internal error shows its traceback.
        all_faults: Whether an error lists every fault of an input, however many.
    """

    debug: bool = field(default_factory=_debug_wanted)
    all_faults: bool = False
