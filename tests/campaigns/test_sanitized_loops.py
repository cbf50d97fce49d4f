"""No kernel accesses memory out of bounds or has undefined behaviour.

The kernels are built with AddressSanitizer, and trap on undefined behaviour. The tests that call
them pass with this build, and so do mutated inputs of the readers that use them most.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.campaigns.fuzzing.running import SECONDS, fuzz
from tests.campaigns.fuzzing.sanitizing import sanitized
from tests.campaigns.settings import SEED
from tests.support.tree import ROOT
from tools.campaign_record import record

pytestmark = [pytest.mark.campaign, pytest.mark.xdist_group("sanitized loops")]

CAMPAIGN = "sanitized loops"
TARGETS = ("masks", "coco-json", "mots", "append-batch", "spotgeo-json", "generic-csv")
"""The readers that reach most of the kernels: runs, outlines, images, rows and keys."""

TESTS = (
    *("kernels", "masks", "test_masks.py", "test_mask_forms.py", "test_mask_outlines.py"),
    *("test_geometry.py", "test_shapes.py", "test_quadrilaterals.py", "test_regions.py"),
    *("matching", "test_pairs.py"),
    *("formats/test_coco_masks.py", "formats/test_coco_text.py", "formats/test_mots_images.py"),
    "formats/test_spotgeo_text.py",
)
"""Tests that call every kernel with little Python around it."""


@pytest.fixture(scope="module")
def variables(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    return sanitized(tmp_path_factory.mktemp("sanitized"))


def test_the_tests_of_the_kernels_pass_under_the_sanitizer(variables: Mapping[str, str]) -> None:
    began_s = time.monotonic()
    folder = ROOT / "tests/evaluators"
    done = subprocess.run(
        [*(sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider"),
         *(str(folder / name) for name in TESTS)],
        cwd=ROOT,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    passed = re.search(r"([0-9]+) passed", done.stdout)
    assert passed is not None
    took_s = time.monotonic() - began_s
    record(CAMPAIGN, SEED, {"tests of the evaluators": int(passed[1])}, [], took_s)


@pytest.mark.parametrize("name", TARGETS)
def test_no_input_makes_a_kernel_leave_its_arrays(
    name: str, variables: Mapping[str, str], tmp_path: Path
) -> None:
    fuzzed = fuzz(name, tmp_path, seconds=SECONDS // 2, environment=variables)
    titles = [f"{name}: {finding.partition(chr(10))[0]}" for finding in fuzzed.findings]
    record(CAMPAIGN, SEED, {"inputs of readers": fuzzed.given}, titles, fuzzed.seconds)
    assert not fuzzed.findings, "\n\n".join(fuzzed.findings)
    assert fuzzed.accepted > 0
