"""Docstrings list only arguments and attributes that exist."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest
from tests.support.tree import ROOT, python_files

Documented = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef

LISTS = re.compile(r"^ *(?:Args|Attributes):$", re.MULTILINE)
SECTION = re.compile(r"^(?:Args|Attributes):\n((?: {4}.*\n|\n)+)", re.MULTILINE)
LISTED = re.compile(r"^ {4}\*{0,2}(\w+(?:, \w+)*):(?=\s)", re.MULTILINE)
NAMING_FIELDS = ("arg", "attr", "id", "name")


def test_docstrings_list_only_arguments_and_attributes_that_exist() -> None:
    gone = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name} has no {name}"
        for path in python_files()
        if LISTS.search(text := path.read_text(encoding="utf-8"))
        for node in _documented(text)
        for name in _names_gone(node)
    ]
    assert gone == []


@pytest.mark.parametrize(
    ("source", "gone"),
    [
        ('def f(a, *b):\n  """F.\n\n  Args:\n      a: A.\n      *b: B.\n  """', []),
        ('def f(a):\n  """F.\n\n  Args:\n      b: Was\n          a: now.\n  """', ["b"]),
        ('class C:\n  """C.\n\n  Attributes:\n      x, y: Both.\n  """\n  x: int', ["y"]),
        ('class C:\n  """C.\n\n  Attributes:\n      x: X.\n  """\n  def f(self): self.x = 1', []),
        ('class C(B):\n  """C.\n\n  Args:\n      of_b: B takes it.\n  """', []),
    ],
)
def test_a_name_that_no_longer_exists_is_found(source: str, gone: list[str]) -> None:
    assert _names_gone(next(_documented(source))) == gone


def _documented(text: str) -> Iterator[Documented]:
    return (node for node in ast.walk(ast.parse(text)) if isinstance(node, Documented))


def _names_gone(node: Documented) -> list[str]:
    """Names that the docstring lists but that the documented code no longer has."""
    listed = [
        name
        for section in SECTION.findall((ast.get_docstring(node) or "") + "\n")
        for names in LISTED.findall(section)
        for name in names.split(", ")
    ]
    if isinstance(node, ast.ClassDef):
        if len(node.body) == 1:
            return []  # Its attributes are those of its bases.
        parts: list[ast.AST] = [*node.body]
    else:
        parts = [node.args]
    inner = [one for part in parts for one in ast.walk(part)]
    known = {getattr(one, field, None) for one in inner for field in NAMING_FIELDS}
    return [name for name in listed if name not in known]
