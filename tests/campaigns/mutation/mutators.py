"""Mutants of a module: every small change of a function that its tests should notice.

Comparisons, conditions, constants, sums, returned values and dropped statements, one at a time.
Annotations, decorators, strings, log lines, and settings (numbers outside of functions) are not
mutated.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import CodeType
from typing import TypeAlias

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef

COMPARISONS: Mapping[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
"""What each comparison becomes: an ordering moves by one, the others are negated."""

OPERATORS: Mapping[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}

IGNORED_CALLS = frozenset({"log", "failpoint"})
"""Calls that may be dropped: they inform people, or do nothing outside of tests."""

NOT_DESCENDED = (ast.JoinedStr, ast.arguments)


@dataclass(frozen=True)
class Mutant:
    """A small change of a module.

    Attributes:
        number: Its number among the mutants of the module as it is.
        function: The function that it changes.
        change: The old and the new code; unique within the function, wherever the code stands.
        lines: First and last line of the changed code.
    """

    number: int
    function: str
    change: str
    lines: tuple[int, int]

    @property
    def name(self) -> str:
        """A name that is stable while the changed code stays the same."""
        return f"{self.function}: {self.change}"


@dataclass(frozen=True)
class _Site:
    """A place of a separate tree that can be changed."""

    function: str
    before: ast.AST
    after: str
    lines: tuple[int, int]
    apply: Callable[[], None]


def mutants_of(source: str) -> list[Mutant]:
    """All mutants of a module, sorted by line."""
    seen: Counter[str] = Counter()
    found = []
    for number, site in enumerate(_sites(ast.parse(source))):
        change = f"{_one_line(ast.unparse(site.before))} => {_one_line(site.after)}"
        seen[f"{site.function}: {change}"] += 1
        again = seen[f"{site.function}: {change}"]
        told = change if again == 1 else f"{change} (#{again})"
        found.append(Mutant(number, site.function, told, site.lines))
    return found


def mutated_code(source: str, number: int, path: str) -> CodeType:
    """The compiled code of a module with one mutant."""
    tree = ast.parse(source)
    site = next(site for row, site in enumerate(_sites(tree)) if row == number)
    site.apply()
    ast.fix_missing_locations(tree)
    return compile(tree, path, "exec", dont_inherit=True)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _sites(tree: ast.Module) -> Iterator[_Site]:
    """Places of a tree with one possible change each, without repeats."""
    for function, names in _functions(tree, ()):
        yield from _of_statements(function.body, ".".join(names))


def _functions(
    parent: ast.AST, names: tuple[str, ...]
) -> Iterator[tuple[Function, tuple[str, ...]]]:
    """Functions and methods with their names; an inner function is part of its outer one."""
    for child in ast.iter_child_nodes(parent):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield child, (*names, child.name)
        elif isinstance(child, ast.ClassDef):
            yield from _functions(child, (*names, child.name))


def _of_statements(body: list[ast.stmt], function: str) -> Iterator[_Site]:
    for row, statement in enumerate(body):
        if (
            row == 0
            and isinstance(statement, ast.Expr)
            and isinstance(statement.value, ast.Constant)
        ):
            continue  # a docstring
        if _called(statement) in IGNORED_CALLS:
            continue
        yield from _of_statement(body, row, function)
        for name in ("body", "orelse", "finalbody"):
            inner = getattr(statement, name, None)
            if isinstance(inner, list):
                yield from _of_statements(inner, function)
        for handler in getattr(statement, "handlers", []):
            yield from _of_statements(handler.body, function)


def _called(statement: ast.stmt) -> str:
    """Name of the function if the statement is only a call."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        called = statement.value.func
        return called.id if isinstance(called, ast.Name) else ""
    return ""


def _of_statement(body: list[ast.stmt], row: int, function: str) -> Iterator[_Site]:
    """Mutations of a statement itself and of the expressions in its head."""
    statement = body[row]
    lines = _head_lines(statement)
    if _can_be_dropped(statement):

        def drop() -> None:
            # Keep the code for the compiler, so that the function closes over the same names.
            never = ast.If(ast.Constant(value=False), [statement], [])
            body[row] = ast.copy_location(never, statement)

        yield _Site(function, statement, "dropped", lines, drop)
    if isinstance(statement, ast.Return) and not _is_none(statement.value):
        yield _Site(function, statement, "return None", lines, lambda: _forget_value(statement))
    if isinstance(statement, ast.If | ast.While) and not _has_own_changes(statement.test):
        yield from _turned(statement, function, lines)
    for expression in _expressions(statement):
        yield from _of_expression(statement, expression, function, lines)


def _head_lines(statement: ast.stmt) -> tuple[int, int]:
    """Lines of a statement without those of the statements inside it."""
    inner = [*getattr(statement, "body", []), *getattr(statement, "handlers", [])]
    last = statement.end_lineno or statement.lineno
    return statement.lineno, max(statement.lineno, inner[0].lineno - 1) if inner else last


def _can_be_dropped(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Assign):
        return not all(isinstance(target, ast.Name | ast.Tuple) for target in statement.targets)
    return isinstance(statement, ast.Expr | ast.AugAssign | ast.Raise | ast.Continue | ast.Break)


def _is_none(value: ast.expr | None) -> bool:
    return value is None or (isinstance(value, ast.Constant) and value.value is None)


def _forget_value(statement: ast.Return) -> None:
    statement.value = ast.copy_location(ast.Constant(None), statement)


def _has_own_changes(test: ast.expr) -> bool:
    """Whether a condition has mutations of its own, one of which negates it."""
    return isinstance(test, ast.Compare | ast.BoolOp | ast.UnaryOp | ast.Constant)


def _turned(
    parent: ast.If | ast.While | ast.IfExp, function: str, lines: tuple[int, int]
) -> Iterator[_Site]:
    """A condition and its negation."""
    turned = ast.copy_location(ast.UnaryOp(ast.Not(), parent.test), parent.test)
    after = ast.unparse(turned)
    yield _Site(function, parent.test, after, lines, lambda: setattr(parent, "test", turned))


def _expressions(parent: ast.AST) -> Iterator[ast.expr]:
    """Expressions directly below a node, without annotations."""
    for name, value in ast.iter_fields(parent):
        if name in {"annotation", "returns", "decorator_list"}:
            continue
        for entry in value if isinstance(value, list) else [value]:
            if isinstance(entry, ast.expr):
                yield entry
            elif isinstance(entry, ast.keyword | ast.comprehension | ast.withitem):
                yield from _expressions(entry)


def _of_expression(
    parent: ast.AST, node: ast.expr, function: str, lines: tuple[int, int]
) -> Iterator[_Site]:
    """Mutations, in place, of an expression and all its parts."""
    if isinstance(node, NOT_DESCENDED):
        return
    if isinstance(node, ast.Compare):
        for row, operator in enumerate(node.ops):
            yield _operator(node, node.ops, row, COMPARISONS[type(operator)](), function, lines)
    elif isinstance(node, ast.BoolOp):
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield _field(node, "op", other, function, lines)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield _swapped(parent, node, node.operand, function, lines)
    elif isinstance(node, ast.IfExp) and not _has_own_changes(node.test):
        yield from _turned(node, function, lines)
    elif isinstance(node, ast.BinOp) and type(node.op) in OPERATORS and not _of_texts(node):
        yield _field(node, "op", OPERATORS[type(node.op)](), function, lines)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        value = not node.value if isinstance(node.value, bool) else node.value + 1
        yield _field(node, "value", value, function, lines)
    for inner in _expressions(node):
        yield from _of_expression(node, inner, function, lines)


def _of_texts(node: ast.BinOp) -> bool:
    """Whether it operates on a text, for which minus one would be a type error."""
    return any(
        isinstance(side, ast.JoinedStr)
        or (isinstance(side, ast.Constant) and isinstance(side.value, str | bytes))
        for side in (node.left, node.right)
    )


def _operator(
    node: ast.Compare,
    operators: list[ast.cmpop],
    row: int,
    other: ast.cmpop,
    function: str,
    lines: tuple[int, int],
) -> _Site:
    changed = ast.Compare(
        node.left, [*operators[:row], other, *operators[row + 1 :]], node.comparators
    )

    def apply() -> None:
        operators[row] = other

    return _Site(function, node, ast.unparse(changed), lines, apply)


def _field(
    node: ast.expr, name: str, value: object, function: str, lines: tuple[int, int]
) -> _Site:
    """An expression with one field replaced; reading the field returns the unparsed original."""
    kept = getattr(node, name)
    setattr(node, name, value)
    after = ast.unparse(node)
    setattr(node, name, kept)
    return _Site(function, node, after, lines, lambda: setattr(node, name, value))


def _swapped(
    parent: ast.AST, node: ast.expr, other: ast.expr, function: str, lines: tuple[int, int]
) -> _Site:
    """An expression replaced by another one."""

    def apply() -> None:
        for holder in (parent, *ast.iter_child_nodes(parent)):
            for name, value in ast.iter_fields(holder):
                if value is node:
                    setattr(holder, name, other)
                elif isinstance(value, list) and node in value:
                    value[value.index(node)] = other

    return _Site(function, node, ast.unparse(other), lines, apply)
