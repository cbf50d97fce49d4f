"""Reuse of the memory of freed arrays."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

from vidscore_evaluators.runtime import tune_malloc

ARRAYS, ROUNDS = 100, 10
PAGES = ARRAYS << 20 >> 12
"""Pages of 4 KiB of all arrays of a round."""

PROGRAM = f"""
import ctypes
import resource
import numpy as np
{{statement}}
ctypes.CDLL(None).prctl(41, 1, 0, 0, 0)  # PR_SET_THP_DISABLE: pages of one size alone

def fill():
    arrays = [np.ones(1 << 17) for _ in range({ARRAYS})]

fill()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range({ROUNDS}):
    fill()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""

pytestmark = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="not glibc")


def faults(statement: str) -> int:
    """Page faults of filling arrays of 1 MiB again and again, after the first time."""
    program = PROGRAM.format(statement=statement)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, text=True
    )
    return int(done.stdout)


@pytest.mark.slow
def test_tuned_processes_reuse_freed_memory() -> None:
    """Imports do not tune. How much glibc then returns depends on how it got its memory."""
    tuned = faults("from vidscore_evaluators.runtime import tune_malloc; tune_malloc()")
    untuned = faults("import vidscore_evaluators.scoring")
    assert tuned < PAGES // 10
    assert untuned > PAGES


def test_the_library_says_that_it_can() -> None:
    assert tune_malloc()
