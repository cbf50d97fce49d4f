"""Any input gives each reader a result, or an error of vidscore that names a place.

Each target gets mutated inputs for at most ten seconds times `EFFORT` under atheris, which is
guided by coverage; in the gate 500, which the seed determines. Every input that ever broke the law
is kept, and is tried again by
tests/campaigns/fuzzing/test_kept_inputs.py.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.campaigns.fuzzing.catalogue import MODULES, target_of
from tests.campaigns.fuzzing.running import fuzz
from tests.campaigns.settings import SEED
from tools.campaign_record import record


@pytest.mark.campaign
@pytest.mark.xdist_group("instrumented readers")
@pytest.mark.parametrize("name", MODULES)
def test_every_input_gives_a_result_or_an_error_with_a_place(name: str, tmp_path: Path) -> None:
    fuzzed = fuzz(name, tmp_path)
    tried = {target_of(name).counted_as: fuzzed.given}
    titles = [f"{name}: {finding.partition(chr(10))[0]}" for finding in fuzzed.findings]
    record("fuzzing", SEED, tried, titles, fuzzed.seconds)
    assert not fuzzed.findings, "\n\n".join(fuzzed.findings)
    assert 0 < fuzzed.accepted < fuzzed.given
