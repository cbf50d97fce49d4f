"""Names and texts use the words of docs/glossary.md, not those that they replaced."""

from __future__ import annotations

import ast
import io
import keyword
import re
import tokenize
from collections.abc import Iterator

import pytest
from tests.support.tree import ROOT, is_generated, python_files, tracked_files

RETIRED_NAMES = {
    "aside": "offload",
    "in_threads": "map_threads",
    "interrupts_held_back": "a SIGINT that is deferred",
    "keep_freed_memory": "tune_malloc",
    "outlive_nobody": "exit_with_parent",
    "courier": "sender",
    "desk": "append writer",
    "sweeper": "expirer",
    "follower": "change poller",
    "truth_keeper": "truth store",
    "lead_to_end": "run to completion",
    "hand_back": "release",
    "outlook": "completeness cache",
    "clean_text": "parse_string",
    "wholes": "integers",
    "key_twice": "duplicate key",
    "careful_rows": "slow path",
    "least_nodes": "component labels",
    "equal_shapes": "batch by shape",
    "gated_twins": "self pairs",
    "extents": "bounding boxes",
    "knot": "conflict component",
    "knots": "conflict component",
    "are_lone": "isolated edges",
    "insertion_gains": "incremental matching",
    "two_stage_gains": "incremental matching",
    "peel_lonely": "degree-one reduction",
    "tally_together": "tally_many",
    "patient": "server checks",
    "patience": "idle timeout",
    "performer": "participant",
}
"""Parts of names, in lower case with underscores, and the word of the field."""

RETIRED_PHRASES = {
    r"whole numbers?": "integer",
    r"truth values?": "boolean",
    r"nothing yet": "say what the constructor does, or nothing",
    r"Not said\.": "Unspecified.",
}
"""In comments, docstrings and messages."""

ALLOWED = {
    # Files and scripts hold it: an argument of `token create`.
    "performer": re.compile(r"clients/cli/|tests/clients/cli/"),
    # In a whole number of pixels, frames or bytes nothing is said about a type.
    r"whole numbers?": re.compile(r"docs/evaluators/|docs/architecture\.md"),
}
PER = re.compile(r"^_?[A-Z0-9_]+_AN?_[A-Z0-9_]+$")


def _words_of(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _names() -> Iterator[tuple[str, str]]:
    """Each identifier of each Python file, with its place."""
    for path in python_files():
        text = path.read_text(encoding="utf-8")
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.NAME and not keyword.iskeyword(token.string):
                yield f"{path.relative_to(ROOT)}:{token.start[0]}", token.string


def test_no_name_has_a_retired_word() -> None:
    patterns = {word: re.compile(rf"(?:^|_){word}(?:_|$)") for word in RETIRED_NAMES}
    seen: dict[str, str] = {}
    for place, name in _names():
        seen.setdefault(name, place)
    found = [
        f"{place}: {name}: say {RETIRED_NAMES[word]}"
        for name, place in seen.items()
        for word, pattern in patterns.items()
        if pattern.search(_words_of(name)) and not _is_allowed(word, place)
    ]
    assert found == []


def test_a_constant_of_so_many_a_thing_is_per_thing() -> None:
    assert sorted({f"{place}: {name}" for place, name in _names() if PER.match(name)}) == []


@pytest.mark.parametrize("phrase", RETIRED_PHRASES)
def test_no_text_has_a_retired_phrase(phrase: str) -> None:
    pattern = re.compile(rf"\b{phrase}" if phrase[0].isalpha() else phrase)
    found = [
        f"{path.relative_to(ROOT)}:{number}: say {RETIRED_PHRASES[phrase]}: {line.strip()}"
        for path in tracked_files()
        if path.suffix in {".py", ".md", ".proto", ".c", ".h", ".ts", ".go", ".java", ".rs", ".cpp"}
        and not is_generated(path)
        and path.name not in {"test_words.py", "CHANGELOG.md"}
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if pattern.search(line) and not _is_allowed(phrase, str(path.relative_to(ROOT)))
    ]
    assert found == []


def test_the_glossary_defines_each_term_once() -> None:
    page = (ROOT / "docs/glossary.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|]+) \| [^|]+ \| [^|]* \|$", page, re.MULTILINE)
    terms = [term.strip() for row in rows for term in row.split(",") if row != "term"]
    assert len(terms) > 50
    assert sorted({term for term in terms if terms.count(term) > 1}) == []


def _is_allowed(word: str, place: str) -> bool:
    allowed = ALLOWED.get(word)
    return allowed is not None and allowed.search(place) is not None


def test_module_names_are_nouns_of_the_glossary() -> None:
    """A module is found by what it holds: no two modules of a package differ by a participle."""
    found = [
        str(path.relative_to(ROOT))
        for path in python_files()
        if any(word in RETIRED_NAMES for word in path.stem.split("_"))
    ]
    assert found == []


def test_each_python_file_can_be_read_for_its_names() -> None:
    """The tests above see something: there are classes among the names."""
    names = {name for _, name in _names()}
    classes = {
        node.name
        for path in python_files()
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef)
    }
    assert classes
    assert classes <= names
