"""An installation is as small as its page says."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from tests.support.tree import ROOT
from tools.install_sizes import (
    BLOCK,
    INSTALLS,
    PAGE,
    Size,
    build_wheels,
    installed_size,
    size_of,
    size_table,
)
from tools.studies import block_of

MOST_DISTRIBUTIONS = 18
MOST_MB = 300.0


def rows() -> dict[str, tuple[int, int]]:
    """The page's distributions and MB, by what is installed."""
    found = re.findall(
        r"^\| `pip install '?([^'`]+)'?` \|.*\| (\d+) \| (\d+) \|$",
        block_of(PAGE, BLOCK),
        re.MULTILINE,
    )
    return {name: (int(distributions), int(mb)) for name, distributions, mb in found}


def test_the_page_has_a_measurement_of_every_install() -> None:
    assert list(rows()) == list(INSTALLS)


def test_every_extra_is_measured() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    measured = {extra for name in INSTALLS for extra in re.findall(r"[a-z0-9]+", name)}
    assert set(project["optional-dependencies"]) <= measured


def test_the_page_gives_the_maximum_of_the_plain_install() -> None:
    distributions, mb = rows()["vidscore"]
    assert distributions <= MOST_DISTRIBUTIONS
    assert mb <= MOST_MB


def test_a_size_counts_distributions_and_all_bytes(tmp_path: Path) -> None:
    for name in ("one-1.0.dist-info", "two-1.0.dist-info", "one/inner"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "file").write_bytes(bytes(500_000))
    assert size_of(tmp_path) == Size(2, 1.5)


def test_the_table_quotes_special_characters_of_the_shell() -> None:
    lines = size_table({"vidscore": Size(16, 272.4), "vidscore[web]": Size(24, 277.6)}).splitlines()
    assert lines[2].startswith("| `pip install vidscore` | the library")
    assert lines[2].endswith(" | 16 | 272 |")
    assert lines[3] == "| `pip install 'vidscore[web]'` | `vidscore view` | 24 | 278 |"


@pytest.mark.nightly
def test_the_plain_install_stays_small(tmp_path: Path) -> None:
    """In the versions of the lock file, including itself, as pip leaves it."""
    size = installed_size("vidscore", build_wheels(tmp_path / "wheels"), tmp_path / "installed")
    assert size.distributions <= MOST_DISTRIBUTIONS
    assert size.megabytes <= MOST_MB
