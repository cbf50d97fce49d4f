"""The promises of the pages, and the tests of each.

A promise is a list item that ends with the names of its tests, as pytest writes them:
``<!-- promise: tests/server/domain/test_killed.py::test_a_server_that_is_killed ... -->``.
"""

from __future__ import annotations

import ast
import os.path
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tools.docs_pages import ROOT, pages, table

PAGE = ROOT / "docs/robustness.md"
_ITEM = re.compile(r"^(?:[-*]|\d+\.) +(?P<text>(?:.+\n?)(?:^ +\S.*\n?)*)", re.MULTILINE)
_MARK = re.compile(r"\s*<!-- promise:(?P<tests>[^>]*?)-->\s*\Z")
_ANY_MARK = re.compile(r"<!-- promise:")
_LINK = re.compile(r"\[([^\]]*)\]\(([^()\s]+)\)")
_TEST = re.compile(r"tests/[\w/]+\.py(?:::\w+)+")


@dataclass(frozen=True)
class Promise:
    """A promise.

    Attributes:
        page: Its page.
        text: Its text, in one line.
        tests: Names of its tests, as pytest writes them.
    """

    page: Path
    text: str
    tests: tuple[str, ...]


def promises() -> list[Promise]:
    """The promises of all pages.

    Raises:
        ValueError: If a mark is not at the end of a list item, or names no test.
    """
    return [promise for page in pages() for promise in promises_of(page, page.read_text("utf-8"))]


def promises_of(page: Path, text: str) -> Iterator[Promise]:
    """The promises of a page.

    Raises:
        ValueError: If a mark is not at the end of a list item, or names no test.
    """
    found = 0
    for item in _ITEM.finditer(text):
        if not (mark := _MARK.search(item["text"])):
            continue
        found += 1
        tests = tuple(mark["tests"].split())
        said = " ".join(item["text"][: mark.start()].split())
        if not tests:
            raise ValueError(f"{page}: found no test, expected one for the promise: {said}")
        yield Promise(page, said, tests)
    if found != len(_ANY_MARK.findall(text)):
        raise ValueError(f"{page}: a promise stands elsewhere than at the end of a list item")


def promises_table() -> str:
    """The promises of every page, as a table for docs/robustness.md."""
    rows = [
        [_linked(promise), "<br>".join(f"`{test}`" for test in promise.tests)]
        for promise in promises()
    ]
    return table(("promise", "tried by"), rows)


def named_tests(text: str) -> list[str]:
    """The tests that a text names."""
    return _TEST.findall(text)


def is_test(name: str) -> bool:
    """Whether the repository has this test."""
    path, *functions = name.split("::")
    return len(functions) > 0 and functions[-1] in _tests_in(ROOT / path)


@cache
def _tests_in(path: Path) -> frozenset[str]:
    if not path.is_file():
        return frozenset()
    nodes = ast.walk(ast.parse(path.read_text("utf-8")))
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(
        node.name for node in nodes if isinstance(node, functions) and node.name.startswith("test_")
    )


def _linked(promise: Promise) -> str:
    """A promise with a link to its page; its own links are made relative to `PAGE`."""

    def moved(link: re.Match[str]) -> str:
        target = link[2]
        if target.startswith("#"):
            target = promise.page.name + target
        place = os.path.relpath(promise.page.parent / target, PAGE.parent)
        return f"[{link[1]}]({place})"

    said = _LINK.sub(moved, promise.text).replace("|", r"\|")
    page = os.path.relpath(promise.page, PAGE.parent)
    return f"{said} ([{promise.page.stem}]({page}))"
