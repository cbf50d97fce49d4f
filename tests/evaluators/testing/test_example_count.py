"""Properties with a number of examples of their own follow the profile upwards."""

from __future__ import annotations

import pytest
from hypothesis import settings

from vidscore_evaluators.testing import examples


@pytest.mark.parametrize(
    ("profile", "expected"), [(1, 6), (40, 6), (100, 6), (199, 6), (200, 12), (1000, 60)]
)
def test_a_profile_of_several_times_the_usual_examples_gives_as_many_times_those_of_a_property(
    monkeypatch: pytest.MonkeyPatch, profile: int, expected: int
) -> None:
    monkeypatch.setattr(examples, "settings", lambda: settings(max_examples=profile))
    assert examples.example_count(6) == expected
