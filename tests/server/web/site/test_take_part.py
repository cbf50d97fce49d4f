"""Commands and programs with names filled in call what the clients have."""

from __future__ import annotations

import ast
import json
import re
import shlex
from pathlib import Path

import pytest
from msgspec.structs import replace

from vidscore_server.web.site.take_part import Entry, check_command, next_name, programs

ROOT = Path(__file__).parents[4]
ENTRY = Entry(
    server="scores.example.org:443",
    site="https://scores.example.org",
    tls=True,
    benchmark="streets",
    submission="red-3",
    sequence="one",
    domain="Tower",
    label="Car",
)
README = {
    "py": "clients/python/README.md",
    "ts": "clients/typescript/README.md",
    "go": "clients/go/README.md",
    "java": "clients/java/README.md",
    "rs": "clients/rust/README.md",
    "cpp": "clients/cpp/README.md",
}
CALL = re.compile(r"(?:\.|::)([A-Za-z_]+)\(")
"""A call of a function of a client."""

OF_THE_LANGUAGE = {
    "get", "log", "println", "getenv", "main", "expect", "var", "print", "Println", "Fatal",
    "Background", "Getenv", "environ",
}  # fmt: skip

SHAPES = ("point", "box", "quadrilateral")


def text(key: str, entry: Entry = ENTRY) -> str:
    return next(program.text for program in programs(entry) if program.key == key)


def test_every_language_has_a_program() -> None:
    titles = [program.title for program in programs(ENTRY)]
    assert titles == ["Command line", "Python", "TypeScript", "Go", "Java", "Rust", "C++", "curl"]


@pytest.mark.parametrize("program", programs(ENTRY), ids=lambda program: program.key)
def test_names_are_filled_in(program: object) -> None:
    shown = getattr(program, "text")  # noqa: B009 - the parameter is an object to pytest
    for name in ("scores.example.org", "streets", "red-3", "VIDSCORE_TOKEN"):
        assert name in shown
    assert "$server" not in shown


@pytest.mark.parametrize("key", README)
@pytest.mark.parametrize("shape", SHAPES)
def test_every_call_of_a_program_is_in_the_readme_or_the_sources_of_its_client(
    key: str, shape: str
) -> None:
    readme = ROOT / README[key]
    known = readme.read_text()
    folder = readme.parent
    endings = {".py", ".ts", ".go", ".java", ".rs", ".h"}
    skipped = {"node_modules", "build", "target", "dist", "test", "tests"}
    for path in sorted(folder.rglob("*")):
        if path.suffix in endings and not skipped & set(path.relative_to(folder).parts):
            known += path.read_text()
    calls = set(CALL.findall(text(key, replace(ENTRY, shape=shape)))) - OF_THE_LANGUAGE
    assert calls
    assert {call for call in calls if f"{call}(" not in known and f"{call}:" not in known} == set()


@pytest.mark.parametrize("tls", [True, False])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_python_program_is_valid_python(tls: bool, shape: str) -> None:
    for label in ("", "Car"):
        source = text("py", replace(ENTRY, tls=tls, shape=shape, label=label))
        ast.parse(source)
        assert ("tls=True" in source) == tls


def test_the_command_line_says_that_the_connection_is_encrypted() -> None:
    assert text("sh").endswith(
        "vidscore submit streets --tls --detections detections.csv --name red-3"
    )
    assert " --tls" not in text("sh", replace(ENTRY, tls=False))
    assert check_command(ENTRY).endswith("--check")


def test_the_clock_of_a_live_benchmark_is_answered_in_the_languages_that_can() -> None:
    live = replace(ENTRY, live=True)
    assert [program.key for program in programs(live)] == ["sh", "py"]
    assert text("sh", live).endswith(
        "vidscore live streets --tls --submission red-3 -- python3 detector.py"
    )
    assert 'client.answer_live("streets", on_frame, "red-3")' in text("py", live)
    ast.parse(text("py", live))


def test_the_bodies_of_curl_are_quoted_json() -> None:
    hostile = replace(ENTRY, sequence='it\'s $(rm) "x" é', label="a'b")
    bodies = {}
    for line in text("curl", hostile).splitlines():
        words = shlex.split(line) if line.startswith("call ") else []
        if words:
            bodies[words[1]] = json.loads(words[2])
    assert list(bodies) == ["CreateSubmission", "OpenStream", "AppendBatch", "SealSubmission"]
    batch = bodies["AppendBatch"]["detections"]
    assert batch["sequences"] == [{"domain": "Tower", "sequence": 'it\'s $(rm) "x" é'}]
    assert batch["labels"] == ["a'b"]
    assert bodies["SealSubmission"]["name"] == "benchmarks/streets/submissions/red-3"


def test_names_with_quotes_stay_literals() -> None:
    hostile = replace(ENTRY, sequence='a"b\\c')
    for key in README:
        assert '"a\\"b\\\\c"' in text(key, hostile)


@pytest.mark.parametrize(
    ("team", "taken", "name"),
    [
        ("red", [], "red-1"),
        ("red", ["red-1", "red-7", "red-x", "blue-9", "red-1-2"], "red-8"),
        ("4you", ["team-4you-1"], "team-4you-2"),
        ("a" * 63, [], f"{'a' * 56}-1"),
    ],
)
def test_the_suggested_name_is_free(team: str, taken: list[str], name: str) -> None:
    assert next_name(team, taken) == name
