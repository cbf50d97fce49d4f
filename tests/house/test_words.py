"""Names and texts use the words of docs/glossary.md, not the words that they replaced."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable, Iterator

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
    "can_settle": "can compact",
    "performer": "participant",
}
"""Retired parts of names, in lower case with underscores, each with the term that replaces it."""

RETIRED_PHRASES = {
    r"whole numbers?": "integer",
    r"truth values?": "boolean",
    r"nothing yet": "say what the constructor does, or nothing",
    r"Not said\.": "Unspecified.",
}
"""Retired phrases in comments, docstrings and messages, each with its replacement."""

EARLIER_WORD = re.compile(r"token|hosting|records|test_access_keys|write_golden")
"""Files that still read the earlier word for a participant, from scripts and stores."""
PROSE = {".py", ".md", ".proto", ".c", ".h", ".ts", ".go", ".java", ".rs", ".cpp"}


def _identifiers(pattern: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    """The identifiers in Python files that the pattern matches, with their places.

    Only files whose text matches are tokenised, which is the slow part.
    """
    for path in python_files():
        text = path.read_text(encoding="utf-8")
        if not pattern.search(text):
            continue
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.NAME and pattern.search(token.string):
                yield f"{path.relative_to(ROOT)}:{token.start[0]}", token.string


def _part_of_a_name(words: Iterable[str]) -> re.Pattern[str]:
    """A pattern for any of the words as a part of a snake-case or camel-case name."""
    snake = "|".join(words)
    camel = "|".join(word.title().replace("_", "") for word in words)
    return re.compile(
        rf"(?<![a-zA-Z0-9])(?:{snake}|{snake.upper()})(?![a-zA-Z0-9])"
        rf"|(?<![A-Z])(?:{camel})(?![a-z0-9])"
    )


def _names_of_other_languages(pattern: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    """The words in other languages' clients that the pattern matches, with their places."""
    for path in tracked_files():
        if path.suffix not in PROSE - {".py", ".md"} or is_generated(path):
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            for word in re.findall(r"[A-Za-z_]\w*", line):
                if pattern.search(word):
                    yield f"{path.relative_to(ROOT)}:{number}", word


def _retired_names() -> list[str]:
    return [
        f"{place}: {name}"
        for place, name in _identifiers(_part_of_a_name(list(RETIRED_NAMES)))
        if "performer" not in name.lower() or not EARLIER_WORD.search(place)
    ]


def test_no_name_has_a_retired_word() -> None:
    assert _retired_names() == []


def test_no_name_of_another_language_has_a_retired_word() -> None:
    pattern = _part_of_a_name(list(RETIRED_NAMES))
    assert sorted({f"{place}: {name}" for place, name in _names_of_other_languages(pattern)}) == []


@pytest.mark.parametrize(
    ("name", "matches"),
    [
        ("courier", True),
        ("_courier_of", True),
        ("CourierThread", True),
        ("LONGEST_PATIENCE_S", True),
        ("knots", True),
        ("knotted", False),
        ("desktop", False),
        ("besides", False),
    ],
)
def test_a_retired_word_is_found_inside_a_name(name: str, matches: bool) -> None:
    found = _part_of_a_name(list(RETIRED_NAMES)).search(name)
    assert (found is not None) is matches


def test_a_constant_for_a_ratio_is_named_with_per() -> None:
    pattern = re.compile(r"\b_?[A-Z][A-Z0-9_]*_AN?_[A-Z0-9_]+\b")
    assert sorted({f"{place}: {name}" for place, name in _identifiers(pattern)}) == []


@pytest.mark.parametrize("phrase", RETIRED_PHRASES)
def test_no_text_has_a_retired_phrase(phrase: str) -> None:
    pattern = re.compile(rf"\b{phrase}")
    found = [
        f"{path.relative_to(ROOT)}:{number}: say {RETIRED_PHRASES[phrase]}: {line.strip()}"
        for path in tracked_files()
        if path.suffix in PROSE
        and not is_generated(path)
        and path.name not in {"test_words.py", "CHANGELOG.md"}
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if pattern.search(line)
    ]
    assert found == []


def test_the_glossary_defines_each_term_once() -> None:
    page = (ROOT / "docs/glossary.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|]+) \| [^|]+ \| [^|]* \|$", page, re.MULTILINE)
    terms = [term.strip() for row in rows for term in row.split(",") if row not in {"term", "---"}]
    assert len(terms) > 50
    assert sorted({term for term in terms if terms.count(term) > 1}) == []


def test_no_module_is_named_with_a_retired_word() -> None:
    found = [
        str(path.relative_to(ROOT))
        for path in python_files()
        if any(word in RETIRED_NAMES for word in path.stem.split("_"))
    ]
    assert found == []
