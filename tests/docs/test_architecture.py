"""The drawn tree of folders and the table of imports match the repository."""

from __future__ import annotations

import re
import tomllib
from pathlib import PurePosixPath

from tests.docs.pages_of import page, section
from tests.support.tree import ROOT, tracked_files
from tools.clients import LANGUAGES
from tools.docs_pages import blocks

PAGE = page("architecture.md")
SOURCE_ROOTS = ("evaluators", "server", "clients", "protos")


def documented() -> set[str]:
    """Folders of the drawing, with their parent folders."""
    [drawing] = [block for block in blocks(section(PAGE, "## Folders")) if "/" in block.text]
    found: set[str] = set()
    parents: list[tuple[int, str]] = []
    for line in drawing.text.splitlines():
        name, _, _ = line.strip().partition(" ")
        indent = len(line) - len(line.lstrip())
        parents = [(depth, path) for depth, path in parents if depth < indent]
        path = str(PurePosixPath(*(path for _, path in parents[-1:]), name))
        parents.append((indent, path))
        found.add(path)
    return found


def present() -> set[str]:
    """Every package with its first level of folders, and every other folder at the top."""
    found = set()
    for file in tracked_files():
        parts = file.relative_to(ROOT).parts[:-1]
        if not parts:
            continue
        if parts[0] not in SOURCE_ROOTS:
            found.add(parts[0])
        elif parts[:2] == ("clients", "python"):
            found.add("/".join(parts[:3]))
        elif parts[0] == "clients" and parts[1] in LANGUAGES:
            # These are laid out by the conventions of their language.
            found.add("/".join(parts[:2]))
        else:
            package = 3 if parts[0] == "clients" else 2
            found.add("/".join(parts[:package]))
            # The .proto files are one folder, because their path is their package.
            found.update(["/".join(parts[: package + 1])] if parts[0] != "protos" else [])
    return found


def test_the_tree_matches_the_repository() -> None:
    assert documented() == present()


def test_the_table_of_imports_matches_the_contracts() -> None:
    """Every package that a contract allows is named in the row of its part."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    table = section(PAGE, "## Who may import whom")
    rows = dict(re.findall(r"^\| `([\w.]+)` \| (.*) \|$", table, re.MULTILINE))
    every = project["tool"]["importlinter"]["contracts"]
    contracts = [contract for contract in every if contract["type"] == "allowed"]
    assert set(rows) == {contract["package"] for contract in contracts}
    spelled = {"google": "protobuf", "grpc_health": "grpc", "grpc_reflection": "grpc"}
    for contract in contracts:
        row = rows[contract["package"]]
        if "all of them" in row:
            continue
        allowed = {entry.partition(" ")[0] for entry in contract["allowed"]}
        missing = [name for name in allowed if spelled.get(name, name) not in row]
        assert not missing, f"{contract['package']}: {missing}"


def test_paths_that_contributing_names_exist() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    named = re.findall(r"`((?:evaluators|server|clients|protos|tests|docs|tools)/[\w./-]*)`", text)
    assert named
    assert [path for path in named if not (ROOT / path).exists()] == []
