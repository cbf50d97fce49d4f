"""The gain of adaptive submissions under each release policy, as documented."""

from __future__ import annotations

import pytest
from tests.server.domain.adaptive import POLICIES, from_truth, gain, table
from tests.support.tree import ROOT


@pytest.mark.nightly
@pytest.mark.slow
def test_the_gains_are_the_documented_ones() -> None:
    text = (ROOT / "docs" / "hidden-truth.md").read_text(encoding="utf-8")
    for row in table():
        assert row in text


def test_with_few_sequences_a_step_of_a_hundredth_protects_nothing() -> None:
    assert gain(POLICIES["`ladder`, step 0.01"], 6, 50) > 0.1


@pytest.mark.parametrize("name", [name for name in POLICIES if "default" in name])
def test_the_default_step_removes_nearly_all_of_the_gain(name: str) -> None:
    assert from_truth(6) == 0.1  # sqrt(0.25 / 600 + 0.04 / 6) = 0.084
    assert abs(gain(POLICIES[name], 6, 50)) < 0.03
