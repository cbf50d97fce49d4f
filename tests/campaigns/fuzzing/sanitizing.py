"""Build the kernels with AddressSanitizer, in a copy of the evaluators.

The compiler is that of every build. The runtime comes with atheris, and must be loaded into a
process before anything else.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from tests.campaigns.fuzzing.running import fuzzer
from tests.support.tree import ROOT

RUNTIME = "asan_with_fuzzer.so"

OPTIONS = ":".join(
    [
        "detect_leaks=0",  # Python keeps some allocations until it ends.
        "handle_sigill=1",  # How undefined behaviour is reported.
        "allocator_may_return_null=1",
        "abort_on_error=0",
    ]
)


def sanitized(folder: Path) -> Mapping[str, str]:
    """Build the library; returns the environment variables of a process that uses it.

    Args:
        folder: For the copy.
    """
    found = find_spec("vidscore_evaluators")
    assert found is not None
    assert found.origin is not None
    copy = folder / "vidscore_evaluators"
    shutil.copytree(Path(found.origin).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run(
        [sys.executable, str(ROOT / "hatch_build.py"), str(copy / "kernels"),
         "-fsanitize=undefined", "-fsanitize-trap=undefined", "-fsanitize=address",
         "-Wl,-z,undefs"],
        check=True,
    )  # fmt: skip
    places = [str(folder), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    return {
        "PYTHONPATH": os.pathsep.join(places),
        "LD_PRELOAD": str(fuzzer() / RUNTIME),
        "ASAN_OPTIONS": OPTIONS,
    }
