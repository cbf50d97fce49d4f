"""Loops that access memory outside their arrays, or have undefined behaviour, end the process."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hatch_build import compile_loops
from tests.support.tree import ROOT

UNDEFINED = ("-fsanitize=undefined", "-fsanitize-trap=undefined")
"""Compiler flags of `make test-loops`."""

SOURCE = """
#include <stdint.h>
int64_t sources_digest(void) { return SOURCES_DIGEST; }
int64_t read(const int64_t *values, int64_t index) { return values[index]; }
int64_t write(uint8_t *values, int64_t index) { return values[index] = 7; }
int64_t increase(int64_t number) { return number + 1; }
"""
PROGRAM = """
import sys
from pathlib import Path
import numpy as np
from tests.support.guarded_arrays import install
from vidscore_evaluators.kernels._library import Kernel, load

install()
library = load(Path(sys.argv[1]))
read = Kernel(library, "read", (np.int64, int))
write = Kernel(library, "write", (np.uint8, int))
increase = Kernel(library, "increase", (int,))
values = np.arange(10)
flags = np.zeros(10, dtype=np.uint8)
nothing = np.empty(0, dtype=np.int64)
print(eval(sys.argv[2]))
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built")
    (folder / "all.c").write_text(SOURCE)
    compile_loops(folder, *UNDEFINED)
    return folder


def run(built: Path, call: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, str(built), call],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_makefile_compiles_with_these_flags() -> None:
    assert " ".join(UNDEFINED) in (ROOT / "Makefile").read_text("utf-8")


def test_access_inside_the_arrays_works_as_before(built: Path) -> None:
    call = "read(values, 0), read(values, 9), write(flags, 9), flags.tolist()[-2:], increase(1)"
    done = run(built, call)
    assert (done.returncode, done.stdout) == (0, "(0, 9, 7, [0, 7], 2)\n"), done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "call",
    [
        "read(values, 10)",
        "read(values, -1)",
        "read(nothing, 0)",
        "write(flags, 10)",
        "write(flags, -1)",
    ],
)
def test_access_outside_an_array_ends_the_process(built: Path, call: str) -> None:
    assert run(built, call).returncode == -signal.SIGSEGV


def test_undefined_behaviour_ends_the_process(built: Path) -> None:
    assert run(built, "increase(2**63 - 1)").returncode in {-signal.SIGILL, -signal.SIGTRAP}
