"""House rules for every source file."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests.support.tree import ROOT, compiled_files, is_generated, python_files, tracked_files

MOST_LINES_PER_FILE = 500
MOST_LINES_PER_FUNCTION = 70
# Split, so that this file passes its own test.
PROMISES = re.compile(r"\b(?:" + "|".join(("TO" + "DO", "FIX" + "ME", "X" * 3)) + r")\b")
MACHINE_PATHS = re.compile(
    r"(?<![\w.])/(?:" + "|".join(("ro" + "ot", "wo" + "rk", "ho" + "me")) + r")/\w"
)


def test_no_file_contains_a_note_of_unfinished_work() -> None:
    assert _lines_with(PROMISES) == []


def test_no_file_contains_a_path_of_the_machine_it_was_written_on() -> None:
    assert _lines_with(MACHINE_PATHS) == []


def test_commands_print_through_functions_that_escape_control_characters() -> None:
    """These functions are in `vidscore_cli.output`; the excepted files print only our own text."""
    folders = (ROOT / "clients/cli/vidscore_cli", ROOT / "server/vidscore_server/commands")
    own = {"output.py", "main.py"}
    raw = re.compile(r"click\.s?echo\(|csv\.writer\(|csv\.DictWriter\(|(?<![\w.])print\(")
    found = {
        str(path.relative_to(ROOT))
        for folder in folders
        for path in folder.rglob("*.py")
        if path.name not in own and raw.search(path.read_text(encoding="utf-8"))
    }
    assert found == set()


def test_every_file_is_short() -> None:
    long = {
        str(path.relative_to(ROOT)): lines
        for path in [*python_files(), *compiled_files()]
        if (lines := path.read_text(encoding="utf-8").count("\n")) > MOST_LINES_PER_FILE
    }
    assert long == {}


def test_every_function_is_short() -> None:
    long = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name} has {_length(node)} lines"
        for path in python_files()
        for node in _functions(ast.parse(path.read_text(encoding="utf-8")))
        if _length(node) > MOST_LINES_PER_FUNCTION
    ]
    assert long == []


def test_every_compiled_function_is_short() -> None:
    functions = [
        (f"{path.relative_to(ROOT)}: {heading} has {lines} lines", lines)
        for path in compiled_files()
        for heading, lines in _compiled_functions(path.read_text(encoding="utf-8"))
    ]
    assert functions
    assert [text for text, lines in functions if lines > MOST_LINES_PER_FUNCTION] == []


def _compiled_functions(text: str) -> Iterator[tuple[str, int]]:
    """The first line of each C function, and the number of lines between its braces.

    Only functions have braces at the beginning of a line.
    """
    for match in re.finditer(r"^(\w[^;={}]*\))\s*\{\n(.*?)^\}$", text, re.MULTILINE | re.DOTALL):
        yield match[1].splitlines()[0], match[2].count("\n")


def _functions(node: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """The functions among statements, and in them; no expression has one."""
    for inner in ast.iter_child_nodes(node):
        if not isinstance(inner, ast.expr):
            yield from _functions(inner)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        yield node


def _length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Number of lines of the body without the docstring, which may be long."""
    body = function.body
    if len(body) > 1 and ast.get_docstring(function) is not None:
        body = body[1:]
    return (function.end_lineno or function.lineno) - body[0].lineno + 1


def _lines_with(pattern: re.Pattern[str]) -> list[str]:
    found = []
    for path in tracked_files():
        if is_generated(path):
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # An image or another binary file.
        for number, line in enumerate(text.splitlines(), start=1):
            if pattern.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()}")
    return found
