"""The tests named for promises, and for repeated findings, exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import tests.conformance.__main__  # noqa: F401 - puts the scenarios on the list
from tests.conformance.stage import SCENARIOS, name_of
from tools.docs_pages import pages
from tools.docs_promises import PAGE, Promise, is_test, named_tests, promises, promises_of

_SCENARIO = re.compile(r"`\.venv/bin/python -m tests\.conformance[a-z ]* --scenario ([a-z-]+)`")


@pytest.mark.parametrize("promise", promises(), ids=lambda promise: promise.text[:60])
def test_the_tests_of_a_promise_exist(promise: Promise) -> None:
    assert [test for test in promise.tests if not is_test(test)] == []


def test_more_than_one_page_has_promises() -> None:
    assert len({promise.page for promise in promises()}) > 1


def test_every_test_that_a_page_names_exists() -> None:
    named = [(page, test) for page in pages() for test in named_tests(page.read_text("utf-8"))]
    assert [(page, test) for page, test in named if not is_test(test)] == []


def test_every_fault_has_when_how_and_a_test_or_a_scenario_of_the_clients() -> None:
    faults = PAGE.read_text("utf-8").partition("## Faults")[2]
    rows = [line for line in faults.splitlines() if line.startswith("| ")][2:]
    assert len(rows) > 1
    assert [row for row in rows if not named_tests(row) and not _SCENARIO.search(row)] == []
    assert [
        row for row in rows if not re.search(r" \| .+, 20\d\d-\d\d-\d\d[:|]? ?.* \| `", row)
    ] == []
    known = {name_of(scenario) for scenario in SCENARIOS}
    named = [found for row in rows for found in _SCENARIO.findall(row)]
    assert [name for name in named if name not in known] == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "- Frames\n  are kept. <!-- promise: tests/a.py::test_b -->\n- Others.\n",
            "Frames are kept.",
        ),
        (
            "1. Kept.\n   <!-- promise: tests/a.py::test_b\n   tests/c.py::test_d -->\n\nText.\n",
            "Kept.",
        ),
    ],
)
def test_a_promise_is_a_list_item_that_ends_with_its_tests(text: str, said: str) -> None:
    [promise] = promises_of(Path("page.md"), text)
    assert promise.text == said
    assert promise.tests[0] == "tests/a.py::test_b"


@pytest.mark.parametrize(
    "text",
    [
        "- Kept. <!-- promise: -->\n",
        "Kept. <!-- promise: tests/a.py::test_b -->\n",
        "- Kept. <!-- promise: tests/a.py::test_b --> And more.\n",
    ],
)
def test_a_promise_without_a_test_or_out_of_place_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"page\.md: "):
        list(promises_of(Path("page.md"), text))


def test_a_missing_test_is_reported() -> None:
    assert is_test("tests/docs/test_robustness.py::test_a_missing_test_is_reported")
    assert not is_test("tests/docs/test_robustness.py::test_a_test_that_was_renamed")
    assert not is_test("tests/docs/test_robustness.py")
    assert not is_test("tests/docs/test_gone.py::test_anything")
