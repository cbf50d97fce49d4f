"""The programs that read, run and refresh the documentation notice every fault."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tools.docs_examples import DocsServer, ExampleError, Outcome, PageRun, commands
from tools.docs_pages import anchors, blocks, headings, links, table
from tools.docs_tables import TABLES
from tools.proto_comments import Member, declarations
from tools.refresh_docs import with_fresh_outputs, with_fresh_tables
from tools.trust_approximate_truth import approximate

from vidscore_evaluators.testing import Thing, make_annotations

NOBODY = "127.0.0.1:1"


def page_of(*parts: str) -> str:
    return "\n\n".join(parts) + "\n"


def fenced(info: str, *lines: str) -> str:
    return "\n".join([f"```{info}", *lines, "```"])


def run(tmp_path: Path, text: str) -> list[Outcome]:
    return list(PageRun(tmp_path, NOBODY).run(text))


@pytest.mark.parametrize(
    ("expected", "printed", "matches"),
    [
        ("one\n", "one\n", True),
        ("one\n", "two\n", False),
        ("one\n", "one\ntwo\n", False),
        ("", "one\n", False),
        ("one\n...\nfour\n", "one\ntwo\nthree\nfour\n", True),
        ("one\n...\nfour\n", "one\nfour\n", True),
        ("one\n...\nfour\n", "one\ntwo\n", False),
        ("took ... s\n", "took 1.5 s\n", True),
        ("took ... s\n", "took 1.5\ns\n", False),
        ("0.5, ..., 0.9\n", "0.5, 0.7, 0.9\n", False),
        ("a.c\n", "abc\n", False),
    ],
)
def test_an_output_matches_exactly_except_for_elisions(
    expected: str, printed: str, matches: bool
) -> None:
    assert Outcome(1, 0, expected, printed).matches is matches


def test_a_console_block_is_commands_with_their_outputs() -> None:
    text = fenced("console", "$ first \\", "    --option", "said", "more", "$ second")
    [block] = blocks(text)
    found = [(command, output) for command, _, output in commands(block)]
    assert found == [("first \\\n    --option", "said\nmore\n"), ("second", "")]


def test_a_command_of_several_lines_runs_as_a_shell_runs_it(tmp_path: Path) -> None:
    """Between single quotes, a backslash at the end of a line is a backslash."""
    text = fenced(
        "console", "$ printf '%s' one \\", "    ' two \\", "three'", "one two \\", "three"
    )
    [outcome] = run(tmp_path, text)
    assert outcome.printed == "one two \\\nthree"


def test_files_are_written_before_commands_run(tmp_path: Path) -> None:
    text = page_of(
        fenced("console", "$ cat folder/a.txt", "content"),
        fenced("text file=folder/a.txt", "content"),
    )
    [outcome] = run(tmp_path, text)
    assert outcome.matches


def test_programs_of_a_page_share_variables(tmp_path: Path) -> None:
    text = page_of(
        fenced("python", "x = 1"),
        fenced("python", "print(x + 1)"),
        fenced("text output", "3"),
    )
    [outcome] = run(tmp_path, text)
    assert (outcome.matches, outcome.printed) == (False, "2\n")


def test_output_of_a_program_without_an_output_block_is_an_error(tmp_path: Path) -> None:
    [outcome] = run(tmp_path, fenced("python", "print(1)"))
    assert not outcome.matches


def test_a_failing_command_ends_the_page_unless_its_status_is_expected(tmp_path: Path) -> None:
    with pytest.raises(ExampleError):
        run(tmp_path, fenced("console", "$ false"))
    with pytest.raises(ExampleError):
        run(tmp_path, fenced("console", "$ false", "$ true"))
    *_, status = run(tmp_path, fenced("console", "$ false", "$ echo $?", "1"))
    assert status.matches


def test_a_program_that_raises_ends_the_page(tmp_path: Path) -> None:
    with pytest.raises(ExampleError, match="ZeroDivisionError"):
        run(tmp_path, fenced("python", "1 / 0"))


def test_the_command_line_runs_here_with_its_status(tmp_path: Path) -> None:
    text = fenced("console", "$ vidscore health", "$ echo $?", "3")
    said, status = run(tmp_path, text)
    assert "no server answers at 127.0.0.1:50051" in said.printed
    assert status.matches


def test_blocks_marked_norun_are_left_out(tmp_path: Path) -> None:
    assert run(tmp_path, fenced("console norun", "$ false")) == []


def test_refreshing_replaces_outputs_and_keeps_elisions() -> None:
    text = page_of(
        fenced("console", "$ echo one", "wrong", "$ echo two"),
        fenced("console", "$ echo three", "..."),
    )
    assert with_fresh_outputs(text, DocsServer(NOBODY, "")) == page_of(
        fenced("console", "$ echo one", "one", "$ echo two", "two"),
        fenced("console", "$ echo three", "..."),
    )


def test_a_stale_table_is_replaced_and_an_unknown_one_is_an_error() -> None:
    frame = "<!-- generated: settings -->\n{}<!-- end of generated -->\n"
    fresh = with_fresh_tables(frame.format("stale\n"))
    assert fresh == frame.format(f"\n{TABLES['settings']()}\n\n")
    assert with_fresh_tables(fresh) == fresh
    with pytest.raises(KeyError):
        with_fresh_tables("<!-- generated: nothing -->\n<!-- end of generated -->\n")


def test_a_bar_in_a_cell_does_not_end_it() -> None:
    assert table(("a",), [["x|y"]]) == "| a |\n| --- |\n| x\\|y |"


def test_anchors_are_those_of_github() -> None:
    text = "# `vidscore score`\n\n## What's new?\n\n## What's new?\n\n```text\n# none\n```\n"
    assert headings(text) == ["`vidscore score`", "What's new?", "What's new?"]
    assert anchors(text) == {"vidscore-score", "whats-new", "whats-new-1"}


def test_links_in_code_blocks_are_ignored() -> None:
    assert list(links("[a](b.md#c) [`x`](d)\n\n```text\n[e](f)\n```\n")) == ["b.md#c", "d"]


PROTO = """\
syntax = "proto3";

// Box holds things.
//
// Few of them.
message Box {
  // What it is.
  oneof kind {
    // How many.
    int64 count = 1;
  }
  // By name.
  map<string, int64> sizes = 2;
  // Absent: none.
  optional Box inner = 3;
}

// Nothing.
message Empty {}

// Boxes opens boxes.
service Boxes {
  // Open opens.
  rpc Open(stream Box) returns (Empty) {
    option idempotency_level = IDEMPOTENT;
  }
}
"""


def test_protos_are_read_with_their_comments(tmp_path: Path) -> None:
    path = tmp_path / "box.proto"
    path.write_text(PROTO)
    box, empty, boxes = declarations(path)
    assert (box.keyword, box.comment) == ("message", "Box holds things.\n\nFew of them.")
    assert box.members == [
        Member("count", "int64", "How many.", "kind"),
        Member("sizes", "map<string, int64>", "By name."),
        Member("inner", "optional Box", "Absent: none."),
    ]
    assert empty.members == []
    assert boxes.members == [Member("Open", "stream Box -> Empty", "Open opens.")]


def test_a_proto_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "odd.proto"
    path.write_text("message Odd {\n  group Thing = 1 {}\n}\n")
    with pytest.raises(ValueError, match=r"odd.proto:2: .*group Thing"):
        declarations(path)


def test_boxes_of_the_approximate_truth_overlap_the_truth_by_at_least_nine_tenths() -> None:
    """Some by little more than that: the bound is reached."""
    boxes = [Thing((10.0 * row, 5.0, 10.0 * row + 8.0, 25.0)) for row in range(2000)]
    truth = make_annotations({("", "video"): {0: boxes}})
    moved = approximate(truth, np.random.default_rng(1)).coordinates
    low = np.maximum(truth.coordinates[:, :2], moved[:, :2])
    high = np.minimum(truth.coordinates[:, 2:], moved[:, 2:])
    shared = (high - low).prod(axis=1)
    overlaps = shared / (2 * 8.0 * 20.0 - shared)
    assert 0.9 <= overlaps.min() < 0.902
