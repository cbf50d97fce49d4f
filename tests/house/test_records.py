"""Records are msgspec structs; a dataclass needs a reason that docs/architecture.md names."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import chain

from tests.support.tree import ROOT, python_files

PRODUCT = ("evaluators", "server", "clients/cli")
NESTED = {
    *("Consistency", "Counterexample", "Place", "Sites"),
    *("CriterionPlan", "RankingEvaluator", "RankingPlan"),
    "View",
}
"""Dataclasses written as JSON with nested objects, and a view whose address needs its defaults."""

REASONS = re.compile(
    r"= (?:parameter|converted|\w+_parameter)\(|metadata=|DeferredField"
    r"|\b(?:init|repr|compare)=False"
)
"""A field of a dataclass that carries metadata, is computed or set later, or is hidden."""


def dataclasses() -> Iterator[ast.ClassDef]:
    for path in python_files():
        if not path.relative_to(ROOT).as_posix().startswith(PRODUCT):
            continue
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if "dataclass" in text else ():
            if isinstance(node, ast.ClassDef) and "dataclass" in map(_name, node.decorator_list):
                yield node


def _name(decorator: ast.expr) -> str:
    return ast.unparse(decorator.func if isinstance(decorator, ast.Call) else decorator)


def _has_reason(record: ast.ClassDef) -> bool:
    fields = (ast.unparse(part) for part in record.body if isinstance(part, ast.AnnAssign))
    methods = (part.name for part in record.body if isinstance(part, ast.FunctionDef))
    return any(map(REASONS.search, fields)) or "__post_init__" in methods


def test_a_dataclass_is_used_only_where_a_struct_cannot_do_the_job() -> None:
    found = {record.name: record for record in dataclasses()}
    assert len(found) > len(NESTED)
    related = {name: {ast.unparse(base) for base in record.bases} for name, record in found.items()}
    bases = set(chain.from_iterable(related.values()))
    unexplained = {
        name
        for name, record in found.items()
        if not _has_reason(record) and not related[name] & found.keys() and name not in bases
    }
    assert unexplained == NESTED
