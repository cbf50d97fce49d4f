"""Each preset has one page, and each page of the folder belongs to a preset."""

from __future__ import annotations

import re

import pytest
from tests.docs.pages_of import page
from tools.docs_pages import ROOT
from tools.docs_tables import PRESET_PAGES, pages_by_preset

from vidscore_evaluators.presets import is_built_in, preset_names

PRESETS = [name for name in preset_names() if is_built_in(name)]
PAGES = sorted(path.name for path in PRESET_PAGES.glob("*.md") if path.name != "README.md")


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_has_one_page(name: str) -> None:
    """The page with its table; one page may have those of a family."""
    assert len(pages_by_preset().get(name, [])) == 1, f"`{name}` has not one page"


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_of_presets_and_says_how_to_score(name: str) -> None:
    own = [preset for preset, pages in pages_by_preset().items() if name in pages]
    assert own
    assert set(own) <= set(PRESETS)
    text = page(f"presets/{name}")
    assert any(f"vidscore score {preset} " in text for preset in own)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_names_the_run_in_which_many_files_are_compared(name: str) -> None:
    text = " ".join(page(f"presets/{name}").split())
    files = set(re.findall(r"tests/evaluators/presets/test_\w+\.py", text))
    sources = [(ROOT / file).read_text("utf-8") for file in files]
    assert ("nightly run" in text) == any("mark.nightly" in source for source in sources)
