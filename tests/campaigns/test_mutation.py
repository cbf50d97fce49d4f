"""The tests of the rules that must be correct detect every small change of these rules.

Each mutant changes one place of a function. A mutant that no test detects is a gap in the tests,
unless it is equivalent to the module as it is. In CI a sample of each module is tried, which the
seed and the texts of the mutants determine.
"""

from __future__ import annotations

import math
import os
import subprocess
import time
from pathlib import Path

import pytest
from tests.campaigns.mutation.rounds import name_of, sampled, verdicts
from tests.campaigns.mutation.running import wait
from tests.campaigns.mutation.targets import EQUIVALENT, TARGETS
from tests.campaigns.settings import EFFORT, SEED
from tests.support.waiting import eventually
from tools.campaign_record import record

pytestmark = pytest.mark.campaign

SAMPLE = 5
"""Mutants per module in CI; with ten times the effort or more, all of them."""

WHOLE_EFFORT = 10

PARALLEL = max(1, (os.cpu_count() or 1) // 2)


@pytest.mark.parametrize("module", TARGETS)
def test_a_small_change_of_a_rule_is_noticed(module: str, tmp_path: Path) -> None:
    began_s = time.monotonic()
    count = None if EFFORT >= WHOLE_EFFORT else SAMPLE * EFFORT
    found = verdicts(module, sampled(module, SEED, count), tmp_path, PARALLEL)
    survived = [one.name for one in found if one.survived and one.name not in EQUIVALENT]
    noticed = sum(not one.survived for one in found)
    tried = {
        f"mutants of {module.rpartition('.')[2]} noticed": noticed,
        f"mutants of {module.rpartition('.')[2]} that nothing can tell": len(found)
        - noticed
        - len(survived),
    }
    findings = [f"no test notices {name}" for name in survived]
    record("mutation", SEED, tried, findings, time.monotonic() - began_s)
    assert findings == []


def test_every_equivalent_mutant_is_one_of_a_module() -> None:
    names = {
        name_of(module, mutant) for module in TARGETS for mutant in sampled(module, SEED, None)
    }
    assert set(EQUIVALENT) <= names


def test_processes_that_the_tests_of_a_mutant_start_end_with_them(tmp_path: Path) -> None:
    started = tmp_path / "started"
    process = os.fork()
    if not process:
        os.setsid()
        started.write_text(str(subprocess.Popen(["sleep", "600"]).pid))
        os._exit(7)
    assert wait(process, math.inf) == 7
    state = Path(f"/proc/{started.read_text()}/stat")
    eventually(lambda: not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z")
