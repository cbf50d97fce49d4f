"""Try the mutants of a module, and report which of them its tests notice."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.campaigns.mutation.mutators import Mutant, mutants_of
from tests.campaigns.mutation.running import BROKEN, SURVIVED, Asked
from tests.campaigns.mutation.targets import TARGETS
from tests.support.tree import ROOT


@dataclass(frozen=True)
class Verdict:
    """The result of a mutant.

    Attributes:
        module: Its module.
        mutant: The mutant.
        survived: Whether no test has noticed it.
        test_count: The number of tests that run its lines.
    """

    module: str
    mutant: Mutant
    survived: bool
    test_count: int

    @property
    def name(self) -> str:
        """The mutant, with its module."""
        return name_of(self.module, self.mutant)


def name_of(module: str, mutant: Mutant) -> str:
    """A mutant's name among those of all modules."""
    return f"{module.rpartition('.')[2]}.{mutant.name}"


def file_of(module: str) -> Path:
    """The file of a module that is to be mutated."""
    spec = importlib.util.find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin)


def sampled(module: str, seed: int, count: int | None) -> list[Mutant]:
    """A sample of the mutants of a module, or all of them.

    The seed and the texts of the mutants alone decide the sample: a change elsewhere in the module
    leaves it as it is, unless a new mutant belongs to it.
    """
    mutants = mutants_of(file_of(module).read_text("utf-8"))
    if count is None:
        return mutants

    def order(mutant: Mutant) -> bytes:
        return hashlib.sha256(f"{seed} {name_of(module, mutant)}".encode()).digest()

    return sorted(mutants, key=order)[:count]


def verdicts(module: str, mutants: Sequence[Mutant], folder: Path, parallel: int) -> list[Verdict]:
    """Try mutants of a module, each with the tests that run its lines.

    Args:
        module: The module.
        mutants: The mutants.
        folder: Empty folder for the output of the tests.
        parallel: Number of parallel processes.
    """
    numbers = [mutant.number for mutant in mutants]
    path = str(file_of(module))
    asked = Asked(module, path, TARGETS[module], numbers, str(folder), parallel)
    done = subprocess.run(
        [sys.executable, "-m", "tests.campaigns.mutation.running"],
        cwd=ROOT,
        env={**os.environ, "GRPC_ENABLE_FORK_SUPPORT": "0"},
        input=json.dumps(asdict(asked)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"tests of {module} were not run: {done.stderr[-3000:]}"
    told = {entry["number"]: entry for entry in map(json.loads, done.stdout.splitlines())}
    if None in told:
        said = (folder / "observed.txt").read_text("utf-8")[-3000:]
        raise AssertionError(f"tests of {module} fail without a mutant: {said}")
    broken = [number for number, entry in told.items() if entry["code"] == BROKEN]
    assert not broken, f"mutants {broken} of {module} could not be shown to its tests; see {folder}"
    return [
        Verdict(module, mutant, entry["code"] == SURVIVED, entry["tests"])
        for mutant in mutants
        for entry in [told[mutant.number]]
    ]
