"""Planted bugs: patches that a campaign must detect, applied to a copy of the sources.

The first lines of a patch name its campaign (the module without `test_`), the test that suffices
(all, if none is named), and what the failure must say::

    Campaign: crash_images
    Test: test_no_power_cut_loses_an_acknowledged_frame
    Says: .* is lost
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.support.tree import ROOT
from tools.campaign_record import VARIABLE

PATCHES = Path(__file__).parent / "planted"
SOURCES = ("evaluators", "server", "clients/cli", "clients/python")
"""Folders that are copied, and imported instead of the installed packages."""

BUILT = shutil.ignore_patterns("__pycache__", "build")

KERNELS = "evaluators/vidscore_evaluators/kernels"
"""Folder of the compiled kernels, which are rebuilt if the bug is in their sources."""

TIMEOUT_S = 600.0


@dataclass(frozen=True)
class Planted:
    """A planted bug.

    Attributes:
        path: Its patch.
        campaign: The module of tests/campaigns or tests/crash that must detect it, without `test_`.
        test: The test to run; empty for all.
        says: A regular expression that the output of the failure must match.
    """

    path: Path
    campaign: str
    test: str
    says: str

    @property
    def module(self) -> str:
        """The file of its campaign."""
        folders = ("tests/campaigns", "tests/crash")
        paths = [f"{folder}/test_{self.campaign}.py" for folder in folders]
        return next(path for path in paths if (ROOT / path).is_file())

    @classmethod
    def read(cls, path: Path) -> Planted:
        """Read the planted bug of a patch."""
        head = path.read_text("utf-8").partition("\n--- ")[0]
        said = dict(re.findall(r"^(Campaign|Test|Says): (.+)$", head, re.MULTILINE))
        return cls(path, said["Campaign"], said.get("Test", ""), said["Says"])


def planted_bugs() -> list[Planted]:
    """All planted bugs."""
    return [Planted.read(path) for path in sorted(PATCHES.glob("*.patch"))]


def catches(bug: Planted, folder: Path) -> str:
    """Run the campaign on sources with the bug; returns its output.

    Args:
        bug: The bug.
        folder: Where to copy the sources to; not in a repository, because `git apply` would look
            for the files there.
    """
    for name in SOURCES:
        shutil.copytree(ROOT / name, folder / name, ignore=BUILT)
    subprocess.run(["git", "apply", str(bug.path)], cwd=folder, check=True)
    if KERNELS in bug.path.read_text("utf-8"):
        subprocess.run(
            [sys.executable, str(ROOT / "hatch_build.py"), str(folder / KERNELS)], check=True
        )
    places = os.pathsep.join(str(folder / name) for name in SOURCES)
    done = subprocess.run(
        [*(sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-m", ""),
         *("-p", "no:cacheprovider"), f"{bug.module}::{bug.test}" if bug.test else bug.module],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": places, "SEED": "0", "EFFORT": "1", VARIABLE: ""},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )  # fmt: skip
    # Ignore the exit status: threads that a failure leaves behind may change it.
    assert "\nFAILED " in done.stdout, f"{bug.path.name} is not caught:\n{done.stdout[-3000:]}"
    return done.stdout
