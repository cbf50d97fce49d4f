"""Tables as Markdown and LaTeX, compared with handwritten ones; names are never markup."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from tests.clients.cli.helpers import example_report

from vidscore_cli.markup import latex, latex_text, markdown, markdown_text
from vidscore_cli.report_parts import Words, report_parts
from vidscore_cli.reporting import Presentation, View, write_reports
from vidscore_evaluators.names import escape_controls
from vidscore_evaluators.report_grids import Grid

MARKDOWN = r"""
**neovision2 1**

shape = box

**By domain**

| measure     |  Tower | Helicopter |    all |
| :---------- | -----: | ---------: | -----: |
| mean_nmotda | 0.7500 |     0.9999 | 0.8750 |

**By domain and label**

| domain     | label | ground_truth_objects | true_positives | nmotda |
| :--------- | :---- | -------------------: | -------------: | -----: |
| Tower      | Car   |                    4 |              3 | 0.7500 |
| Helicopter | Car   |                    9 |              9 | 0.9999 |

1 line without any score not shown; --format json has all

**By label**

| label | mean_nmotda |
| :---- | ----------: |
| Car   |      0.8750 |

1 line without any score not shown; --format json has all

1 curve is not shown: roc

--curves shows their points, --format json has them
""".lstrip()

LATEX = r"""
% Needs \usepackage{booktabs}.
% neovision2 1
% shape = box
\begin{table}
\centering
\caption{By domain}
\begin{tabular}{lrrr}
\toprule
measure & Tower & Helicopter & all \\
\midrule
mean\_nmotda & 0.7500 & 0.9999 & 0.8750 \\
\bottomrule
\end{tabular}
\end{table}
\begin{table}
\centering
\caption{By domain and label}
\begin{tabular}{llrrr}
\toprule
domain & label & ground\_truth\_objects & true\_positives & nmotda \\
\midrule
Tower & Car & 4 & 3 & 0.7500 \\
Helicopter & Car & 9 & 9 & 0.9999 \\
\bottomrule
\end{tabular}
\end{table}
% 1 line without any score not shown; --format json has all
""".lstrip()


def written(tmp_path: Path, format_: str) -> str:
    path = tmp_path / "report.txt"
    write_reports([example_report()], Presentation(format_, str(path), View()))
    return path.read_text(encoding="utf-8")


def test_a_report_as_markdown_equals_the_handwritten_one(tmp_path: Path) -> None:
    assert written(tmp_path, "markdown") == MARKDOWN


def test_a_report_as_latex_equals_the_handwritten_one(tmp_path: Path) -> None:
    assert written(tmp_path, "latex").startswith(LATEX)


def test_sequences_and_curves_are_shown_as_in_the_table() -> None:
    view = View(sequences=True, curves=True)
    text = markdown(report_parts([example_report()], view))
    assert "| Tower  | Car   | Été      | 1.0000 |" in text
    assert "**Curve roc of Tower, Car**" in text
    assert "|    0.8500 |      undefined |" in text


def test_a_minus_in_latex_is_not_a_hyphen() -> None:
    grid = Grid("t", ("name", "a", "b"), 1, [("x-1", "-0.5000", "-2e-05")])
    assert r"x-1 & $-$0.5000 & $-$2e-05 \\" in latex([grid])


def test_markup_characters_are_escaped_like_by_hand() -> None:
    assert markdown_text("a|b *c* _d_ e_f <g> [h] `i`\n") == (
        r"a\|b \*c\* \_d\_ e_f \<g\> \[h\] \`i\`\\x0a"
    )
    assert latex_text(r"50% & #1_a {b} \c ~^ <d> [e]*--''") == (
        r"50\% \& \#1\_a \{b\} \textbackslash{}c \textasciitilde{}\textasciicircum{} "
        r"\textless{}d\textgreater{} {[}e]{*}-{}-'{}'"
    )


class Cells(HTMLParser):
    """The texts of the cells of tables, and every tag."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.cells: list[str] = []
        self.tags: set[str] = set()
        self.inside = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        self.tags.add(tag)
        if tag in {"th", "td"}:
            self.cells.append("")

            self.inside = True

    def handle_endtag(self, tag: str) -> None:
        if tag in {"th", "td"}:
            self.inside = False

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.cells[-1] += data


names = st.text(min_size=1) | st.text(alphabet="\\`*_{}[]<>()#+-.!|~&;:/@$ '\"^%\n", min_size=1)


def plain(text: str) -> str:
    return " ".join(escape_controls(text).split())


@given(st.lists(names, min_size=2, max_size=2))
def test_any_name_reads_back_from_markdown(found: list[str]) -> None:
    """Read by an independent parser, with GitHub's tables and strikethrough."""
    text = markdown([Grid("t", ("name", "score"), 1, [(name, "1") for name in found])])
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    read = Cells(parser.render(text))
    assert [plain(cell) for cell in read.cells[2::2]] == [plain(name) for name in found]
    assert read.tags == {"p", "strong", "table", "thead", "tbody", "tr", "th", "td"}


COMMANDS = {
    r"\textbackslash{}": "\\",
    r"\textasciitilde{}": "~",
    r"\textasciicircum{}": "^",
    r"\textasciigrave{}": "`",
    r"\textless{}": "<",
    r"\textgreater{}": ">",
    r"\textbar{}": "|",
    r"\char34{}": '"',
    "{[}": "[",
    "{*}": "*",
    "-{}": "-",
    "'{}": "'",
    **{f"\\{character}": character for character in "{}$&#_%"},
}


@given(names)
@example("-{-")
def test_any_name_reads_back_from_latex(name: str) -> None:
    """Read by a reader that knows these commands; nothing else in it is special to LaTeX."""
    text = latex_text(name)
    known = "|".join(re.escape(command) for command in COMMANDS)
    plain = re.sub(known, "x", text)  # Not nothing, which would join two vertical bars.
    assert re.search(r"""[\\~^`<>|"\[*{}$&#_%]|--|''""", plain) is None
    read = re.sub(known, lambda found: COMMANDS[found[0]], text)
    assert read == escape_controls(name)


@pytest.mark.parametrize("words", [Words(""), Words("a_b*", heading=True)])
def test_words_between_tables_become_paragraphs(words: Words) -> None:
    assert markdown([words]) == (r"**a_b\***" if words.text else "")
    assert latex([words]).splitlines()[1:] == (["% a_b*"] if words.text else [])


def test_a_table_without_lines_is_a_title_with_its_note() -> None:
    grid = Grid("Empty", ("a",), 1, left_out=2)
    note = "2 lines without any score not shown; --format json has all"
    assert markdown([grid]) == f"**Empty**\n\n{note}"
    assert latex([grid]).splitlines()[1:] == ["% Empty", f"% {note}"]
