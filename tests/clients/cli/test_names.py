"""Names of resources as they are typed and shown."""

from __future__ import annotations

import pytest

from vidscore_cli.records import short_names, within


@pytest.mark.parametrize(
    ("full", "short"),
    [
        ("benchmarks/streets", "streets"),
        ("benchmarks/streets/submissions/v1", "streets/v1"),
        ("benchmarks/streets/submissions/v1/streams/east", "streets/v1/east"),
        ("benchmarks/a is not there, nor is benchmarks/b", "a is not there, nor is b"),
        ("streets/v1", "streets/v1"),
        ("tokens/falcon", "tokens/falcon"),
        ("my-benchmarks", "my-benchmarks"),
    ],
)
def test_a_full_name_has_a_short_one(full: str, short: str) -> None:
    assert short_names(full) == short


@pytest.mark.parametrize("benchmark", ["streets", "benchmarks/streets"])
@pytest.mark.parametrize("typed", ["v1", "streets/v1", "benchmarks/streets/submissions/v1"])
def test_a_submission_of_a_benchmark_may_be_named_in_each_way(benchmark: str, typed: str) -> None:
    assert within(benchmark, typed) == "streets/v1"
