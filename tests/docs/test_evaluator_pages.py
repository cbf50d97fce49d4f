"""Each evaluator has a page that is complete and has nothing else, and each preset has one."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator

import pytest
from tests.docs.pages_of import DOCS, first_cells, page, section
from tools.docs_pages import ROOT, headings
from tools.docs_tables import PRESET_PAGES, pages_by_preset

from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.presets import is_built_in, preset_names
from vidscore_evaluators.registry import create_evaluator, evaluator_class, evaluator_names
from vidscore_evaluators.report import Report
from vidscore_evaluators.testing import Thing, make_annotations

SECTIONS = ("Example", "Rules", "Parameters", "Measures", "Curves", "Warnings", "Input")
READINGS = re.compile(r"^## (.*(?:Readings|Differences).*)$", re.MULTILINE | re.IGNORECASE)
NUMBERED = re.compile(r"^ {0,4}(\d+)\. ", re.MULTILINE)
EVALUATORS = ROOT / "evaluators/vidscore_evaluators"


def report_of(name: str) -> Report:
    """A report over two sequences with objects of two classes, found and missed."""
    evaluator = create_evaluator(name)
    point = evaluator.needs.truth_arities == (2,)

    def thing(x: float, label: str, track: int, confidence: float = 1.0) -> Thing:
        shape = (x, 20.0) if point else (x, 20.0, x + 10, 30.0)
        return Thing(shape, label, confidence, track)

    truth = {
        ("Tower", sequence): {
            frame: [thing(10, "Car", 1), thing(60, "Person", 2)] for frame in (1, 2, 3)
        }
        for sequence in ("a", "b")
    }
    detections = {
        ("Tower", sequence): {
            frame: [thing(11, "Car", 5, 0.9), thing(90, "Car", 6, 0.3)] for frame in (1, 2)
        }
        for sequence in ("a", "b")
    }
    return evaluator.report(evaluator.tally(make_annotations(truth), make_annotations(detections)))


def rules_of(kind: type[Evaluator[object]]) -> str:
    """The docstring that numbers readings and differences: that of the class or its module."""
    own = kind.__doc__ or ""
    return own if numbers_of(own) else sys.modules[kind.__module__].__doc__ or ""


@pytest.mark.parametrize("name", evaluator_names())
def test_a_page_has_every_section(name: str) -> None:
    found = headings(page(f"evaluators/{name}.md"))
    assert found[0] == name
    missing = [wanted for wanted in SECTIONS if wanted not in found]
    assert [wanted for wanted in missing if wanted != "Curves" or report_of(name).curves] == []


@pytest.mark.parametrize("name", evaluator_names())
def test_a_page_lists_every_reading_of_the_docstring_by_its_number(name: str) -> None:
    numbers = numbers_of(rules_of(evaluator_class(name)))
    text = page(f"evaluators/{name}.md")
    listed = "".join(section(text, f"## {heading}") for heading in READINGS.findall(text))
    assert numbers == numbers_of(listed)


def numbers_of(text: str) -> list[int]:
    """1, 2, 3, ... as far as a list goes; a wrapped line may begin with a number, too."""
    numbers: list[int] = []
    for number in map(int, NUMBERED.findall(text)):
        if number == len(numbers) + 1:
            numbers.append(number)
    return numbers


@pytest.mark.parametrize("name", evaluator_names())
def test_a_page_names_every_curve_with_its_columns_and_no_other(name: str) -> None:
    found = report_of(name).curves
    if not found:
        return
    curves = section(page(f"evaluators/{name}.md"), "## Curves")
    # Curves of a threshold are one row: precision_recall_50 is precision_recall_T.
    names = {re.sub(r"_-?\d+(\.\d+)?$", "_T", curve.name) for curve in found}
    assert set(first_cells(curves)) == names
    assert [key for curve in found for key in curve.columns if f"`{key}`" not in curves] == []


def warning_codes() -> Iterator[str]:
    """Every warning code in the source of a module."""
    for path in sorted(EVALUATORS.rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        calls = [
            node.args[0]
            for node in ast.walk(tree)
            if isinstance(node, ast.Call)
            and getattr(node.func, "id", "") == "ReportWarning"
            and node.args
        ]
        named = _constants(tree)
        literal = [node.value for node in calls if isinstance(node, ast.Constant)]
        names = [node.id for node in calls if isinstance(node, ast.Name)]
        literal += [named[name] for name in names if name in named]
        found = [*literal, *(_codes_in_tables(tree) if len(literal) < len(calls) else ())]
        assert bool(found) == bool(calls), f"{path}: where are the codes of its warnings?"
        yield from map(str, found)


def _constants(tree: ast.Module) -> dict[str, str]:
    """Module-level names of strings."""
    return {
        node.targets[0].id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    }


def _codes_in_tables(tree: ast.Module) -> Iterator[str]:
    """Keys of module-level tables of messages, and codes that are appended to their entries."""
    for statement in tree.body:
        table = getattr(statement, "value", None)
        if isinstance(table, ast.Dict):
            keys = [key.value for key in table.keys if isinstance(key, ast.Constant)]
            yield from (key for key in keys if isinstance(key, str))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "append":
            for entry in node.args:
                if isinstance(entry, ast.Tuple) and isinstance(entry.elts[0], ast.Constant):
                    yield str(entry.elts[0].value)


@pytest.mark.slow
def test_every_warning_code_is_on_a_page_and_every_one_on_a_page_exists() -> None:
    listed: set[str] = set()
    for path in sorted((DOCS / "evaluators").glob("*.md")):
        text = path.read_text("utf-8")
        if "\n## Warnings\n" in text:
            listed.update(first_cells(section(text, "## Warnings")))
    listed.update(first_cells(section((DOCS / "warnings.md").read_text("utf-8"), "## Codes")))
    assert listed == set(warning_codes())


def test_every_page_belongs_to_an_evaluator() -> None:
    shared = {"README", "criteria"}
    stems = {path.stem for path in (DOCS / "evaluators").glob("*.md")}
    assert stems - shared == set(evaluator_names())


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
