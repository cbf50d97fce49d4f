"""The documentation site has every page, in its navigation, with links that work."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tools.docs_pages import ROOT, pages
from tools.docs_site.__main__ import write_sources
from tools.docs_site.accessibility import mend_pages
from tools.docs_site.checks import faults_of_site
from tools.docs_site.copies import published, site_pages, stripped, target_on_site
from tools.docs_site.doors import Entry, Group, NavigationError, groups, write_navigation
from tools.docs_site.llms import llms_text
from tools.docs_site.references import HTTP, LIBRARY

import vidscore
from vidscore_server.domain.access import ROLES_BY_RPC

INDEX = """\
# Title

What all this
is.

Text with a [link](score.md).

## First

- [Score: why?](score.md): from [files](formats.md),
  in short.

## Second

### Serve it

- Packages: [Go](clients/go.md), [Rust](clients/rust.md).
"""
LISTED = [
    Group("First", (Entry("Score: why?", "score.md", "from files, in short."),)),
    Group(
        "Second: serve it",
        (
            Entry("Go", "clients/go.md", "Packages: Go, Rust."),
            Entry("Rust", "clients/rust.md", "Packages: Go, Rust."),
        ),
    ),
]


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Group]]:
    """What the generator reads of the pages as they are, and the navigation."""
    folder = tmp_path_factory.mktemp("sources")
    return folder, write_sources(folder)


def test_every_page_has_its_own_place() -> None:
    assert site_pages().keys() == {str(page.relative_to(ROOT)) for page in pages()}
    assert len(set(site_pages().values())) == len(site_pages())


def test_every_page_is_in_the_navigation_once(sources: tuple[Path, list[Group]]) -> None:
    """`write_sources` refuses a page that is not, and one that is listed twice."""
    folder, listed = sources
    named = [entry.place for group in listed for entry in group.entries]
    assert len(named) == len(set(named)) > 40
    assert "coco" in (folder / "evaluators/index.md").read_text("utf-8").rpartition("toctree")[2]


def test_there_are_four_main_sections_and_every_tutorial_is_in_the_first(
    sources: tuple[Path, list[Group]],
) -> None:
    doors = [group.title.partition(":")[0] for group in sources[1]]
    assert list(dict.fromkeys(doors)) == ["Tutorials", "How-to", "Reference", "Explanation"]
    tutorials = {entry.place for entry in sources[1][0].entries}
    written = {f"tutorials/{page.name}" for page in (ROOT / "docs/tutorials").glob("*.md")}
    assert tutorials == {*written, "adding-an-evaluator.md"}


def test_the_library_reference_has_every_public_name(sources: tuple[Path, list[Group]]) -> None:
    text = (sources[0] / LIBRARY.place).read_text("utf-8")
    found = re.findall(r"^\.\. auto\w+:: vidscore\.(\w+)$", text, re.MULTILINE)
    assert sorted(found) == sorted(vidscore.__all__)


def test_the_http_reference_has_every_call_of_the_server(sources: tuple[Path, list[Group]]) -> None:
    text = (sources[0] / HTTP.place).read_text("utf-8")
    assert sorted(re.findall(r"^POST (\S+)$", text, re.MULTILINE)) == sorted(ROLES_BY_RPC)


def test_markers_for_the_tests_are_removed_from_a_block_and_its_file_is_named() -> None:
    text = "```csv file=truth.csv\na,b\n```\n\n```console norun\n$ true\n```\n"
    assert stripped("docs/pipe.md", text) == (
        "`truth.csv`:\n\n```text\na,b\n```\n\n```console\n$ true\n```\n"
    )


def test_links_are_those_of_the_site_and_code_is_unchanged() -> None:
    text = (
        "[a](formats.md#x) `[b](formats.md)` [c](../README.md)\n\n```text\n[d](../README.md)\n```\n"
    )
    assert stripped("docs/pipe.md", text) == (
        "[a](formats.md#x) `[b](formats.md)` [c](overview.md)\n\n```text\n[d](../README.md)\n```\n"
    )


@pytest.mark.parametrize(
    ("page", "target", "expected"),
    [
        ("docs/evaluators/coco.md", "README.md", "index.md"),
        ("docs/evaluators/coco.md", "../glossary.md#data", "../glossary.md#data"),
        ("docs/http.md", "#errors", "#errors"),
        ("docs/render.md", "render.png", "render.png"),
        ("clients/go/README.md", "../../docs/versions.md", "../versions.md"),
        ("clients/go/README.md", f"{published()}docs/hosting.md#names", "../hosting.md#names"),
        ("README.md", "LICENSE", f"{published()}LICENSE"),
        ("docs/deployment.md", "../deploy", f"{published()}deploy"),
        ("README.md", "https://example.org/a.md", "https://example.org/a.md"),
    ],
)
def test_a_link_leads_to_the_page_on_the_site_or_to_the_published_source(
    page: str, target: str, expected: str
) -> None:
    assert target_on_site(page, target) == expected


def test_the_navigation_is_read_from_the_headings_and_lists_of_the_first_page() -> None:
    assert groups(INDEX) == LISTED


def test_a_page_missing_from_the_navigation_is_refused_and_named(tmp_path: Path) -> None:
    for name in ("index.md", "score.md", "lost.md"):
        (tmp_path / name).write_text("# Page\n")
    with pytest.raises(NavigationError, match=r"not listed: \['lost.md'\]; not there: \[\]"):
        write_navigation(tmp_path, LISTED[:1])


def test_the_list_for_language_models_describes_itself_and_links_to_markdown() -> None:
    text = llms_text(INDEX, [*LISTED, Group("Reference", (LIBRARY,))])
    assert text.startswith("# vidscore\n\n> What all this is.\n")
    assert "\n## First\n\n- [Score: why?](score.md): from files, in short.\n" in text
    assert f"({LIBRARY.place.replace('.md', '.html')})" in text


SOUND = """\
<link rel="canonical" href="https://example.org/"><link rel="stylesheet" href="style.css">
<h1 id="top">Page</h1><a href="#top">up</a> <a href="folder/">in</a>
<a href="folder/index.html#x">x</a> <a href="https://example.org/">out</a>
<a href="notes.md">text</a> <img src="data:image/png;base64,AA">
"""


def site_of(folder: Path, page: str, style: str = "") -> list[str]:
    """The faults of a small site that has such a page."""
    (folder / "folder").mkdir()
    (folder / "index.html").write_text(page)
    (folder / "folder/index.html").write_text('<p id="x">x</p>')
    (folder / "style.css").write_text(style)
    (folder / "notes.md").write_text("# Notes\n")
    return faults_of_site(folder)


def test_a_correct_site_has_no_fault(tmp_path: Path) -> None:
    assert site_of(tmp_path, SOUND, "a { background: url(data:image/png;base64,AA) }") == []


def test_every_dead_link_and_every_foreign_request_is_named(tmp_path: Path) -> None:
    page = """\
<a href="gone.html">a</a><a href="#gone">b</a><a href="folder/#gone">c</a><a href="ftp://x/">d</a>
<img src="https://example.org/a.png"><script src="//example.org/a.js"></script>
"""
    assert site_of(tmp_path, page, '@import "https://example.org/font.css";') == [
        "index.html: the link gone.html leads nowhere",
        "index.html: the link #gone leads nowhere",
        "index.html: the link folder/#gone leads nowhere",
        "index.html: the link ftp://x/ leads nowhere",
        "index.html: fetches https://example.org/a.png",
        "index.html: fetches //example.org/a.js",
        "style.css: fetches https://example.org/font.css",
    ]


def test_a_folder_without_pages_is_not_a_site(tmp_path: Path) -> None:
    assert faults_of_site(tmp_path) == [f"{tmp_path}: found no page, expected some"]


def test_the_tools_that_build_the_site_are_pinned_with_hashes() -> None:
    folder = ROOT / "tools/docs_site"
    wanted = re.findall(r"^(?!#)\S+", (folder / "requirements.in").read_text("utf-8"), re.MULTILINE)
    locked = (folder / "requirements.txt").read_text("utf-8")
    entries = re.findall(r"^([\w.-]+)==\S+.*\\\n    --hash=sha256:", locked, re.MULTILINE)
    assert len(entries) == len(re.findall(r"^[\w.-]+==", locked, re.MULTILINE))
    assert set(wanted) <= set(entries)
    assert "://" not in locked


def test_what_scrolls_has_the_focus_and_headings_have_a_level(tmp_path: Path) -> None:
    page = tmp_path / "deep" / "page.html"
    page.parent.mkdir()
    page.write_text(
        '<p role="heading">Guides</p><aside class="toc-drawer"></aside><pre>x</pre>'
        '<div class="table-wrapper wide"><table><th class="head"><p></p></th></table></div>'
    )
    mend_pages(tmp_path)
    assert page.read_text() == (
        '<p role="heading" aria-level="2">Guides</p>'
        '<aside class="toc-drawer" aria-label="This page"></aside><pre tabindex="0">x</pre>'
        '<div tabindex="0" class="table-wrapper wide">'
        '<table><td class="head"></td></table></div>'
    )
