"""Inputs that once broke a reader, and all seeds of fuzzing."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.campaigns.fuzzing.catalogue import MODULES, target_of
from tests.campaigns.fuzzing.running import KEPT
from tests.campaigns.fuzzing.targets import changed, judged
from tests.campaigns.fuzzing.trees import packed, unpacked

from vidscore_evaluators.formats import FORMATS

INPUTS = sorted(path.relative_to(KEPT).as_posix() for path in KEPT.glob("*/*"))

CHANGED_INPUTS = 8


def test_every_format_is_fuzzed() -> None:
    assert set(FORMATS) <= set(MODULES)


@pytest.mark.parametrize("place", INPUTS)
def test_an_input_that_once_broke_a_reader_keeps_the_law(place: str, tmp_path: Path) -> None:
    files = unpacked((KEPT / place).read_bytes())
    assert files is not None
    judged(target_of(place.partition("/")[0]), files, tmp_path)


@pytest.mark.parametrize("name", MODULES)
def test_every_seed_is_accepted_and_its_changes_keep_the_law(name: str, tmp_path: Path) -> None:
    target = target_of(name)
    seeds = [dict(files) for files in target.seeds()]
    assert seeds
    for files in seeds:
        assert unpacked(packed(files)) == files
        assert judged(target, files, tmp_path)
    for seed in range(CHANGED_INPUTS):
        files = seeds[seed % len(seeds)]
        other = unpacked(changed(target, seeds, packed(files), seed))
        assert other is not None
        judged(target, other, tmp_path)


def test_a_seed_determines_the_mutations() -> None:
    target = target_of("kitti-tracking")
    seeds = [dict(files) for files in target.seeds()]
    first = [changed(target, seeds, packed(seeds[0]), seed) for seed in range(20)]
    assert first == [changed(target, seeds, packed(seeds[0]), seed) for seed in range(20)]
    assert len(set(first)) > 10
