"""Tables as Markdown, for pages and issues, and as LaTeX, for papers.

Both take the parts of `vidscore_cli.report_parts`: grids of text, and words between them. Figures
keep their digits; names are escaped, whatever they contain.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from vidscore_cli.report_parts import Words, cell_width, left_out_note
from vidscore_evaluators.names import escape_controls
from vidscore_evaluators.report_grids import Grid

Parts = Iterable[Words | Grid]

_MARKDOWN = re.compile(
    r"[\\`*\[\]<>|~&$#@]"
    # Between letters and digits an underscore is no markup, and names of measures are full of them.
    r"|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])"
    # Text that GitHub would turn into a link.
    r"|:(?=/)|(?<=www)\.",
    re.IGNORECASE,
)

_LATEX: Mapping[str, str] = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "`": r"\textasciigrave{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\char34{}",
    # After the end of a line these two would be an option of it.
    "[": "{[}",
    "*": "{*}",
    # Two of them would be one longer stroke, or a closing quotation mark.
    "-": "-{}",
    "'": "'{}",
} | {character: f"\\{character}" for character in "{}$&#_%"}

_LATEX_MARKUP = re.compile(r"""[\\~^`<>|"\[*{}$&#_%]|-(?=-)|'(?=')""")


def markdown(parts: Parts) -> str:
    """Tables with their titles, in the Markdown of GitHub.

    Args:
        parts: Grids and words, in order.
    """
    return "\n\n".join(text for part in parts if (text := _markdown_part(part)))


def latex(parts: Parts) -> str:
    """Floating tables with captions, which need the package booktabs; words are comments.

    Args:
        parts: Grids and words, in order.
    """
    told = [r"% Needs \usepackage{booktabs}.", *(_latex_part(part) for part in parts)]
    return "\n".join(text for text in told if text)


WRITERS: Mapping[str, Callable[[Parts], str]] = {"markdown": markdown, "latex": latex}
"""Writers by the name of the format."""


def markdown_text(text: str) -> str:
    """A text as a cell or a paragraph in which nothing is markup."""
    return _MARKDOWN.sub(lambda found: f"\\{found[0]}", escape_controls(text))


def latex_text(text: str) -> str:
    """A text as a cell or a caption in which nothing is a command."""
    return _LATEX_MARKUP.sub(lambda found: _LATEX[found[0]], escape_controls(text))


def _markdown_part(part: Words | Grid) -> str:
    if isinstance(part, Words):
        text = markdown_text(part.text)
        return f"**{text}**" if text and part.heading else text
    rows = [list(map(markdown_text, row)) for row in (part.headings, *part.lines)]
    widths = [max(3, *map(cell_width, column)) for column in zip(*rows, strict=True)]
    lines = [_markdown_row(row, widths, part.leading) for row in rows]
    rule = [
        f":{'-' * (width - 1)}" if column < part.leading else f"{'-' * (width - 1)}:"
        for column, width in enumerate(widths)
    ]
    table = "\n".join([lines[0], f"| {' | '.join(rule)} |", *lines[1:]]) if part.lines else ""
    told = [f"**{markdown_text(part.title)}**", table, markdown_text(left_out_note(part))]
    return "\n\n".join(text for text in told if text)


def _markdown_row(cells: Sequence[str], widths: Sequence[int], leading: int) -> str:
    """A row, padded so that its source can be read as well."""
    padded = []
    for column, (cell, width) in enumerate(zip(cells, widths, strict=True)):
        space = " " * (width - cell_width(cell))
        padded.append(cell + space if column < leading else space + cell)
    return f"| {' | '.join(padded)} |"


def _latex_part(part: Words | Grid) -> str:
    if isinstance(part, Words):
        return f"% {escape_controls(part.text)}" if part.text else ""
    note = left_out_note(part)
    end = [f"% {note}"] if note else []
    if not part.lines:
        return "\n".join([f"% {part.title}", *end])
    scores = len(part.headings) - part.leading
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{latex_text(part.title)}}}",
            rf"\begin{{tabular}}{{{'l' * part.leading}{'r' * scores}}}",
            r"\toprule",
            _latex_row(map(latex_text, part.headings)),
            r"\midrule",
            *(
                _latex_row(
                    latex_text(cell) if column < part.leading else _latex_score(cell)
                    for column, cell in enumerate(line)
                )
                for line in part.lines
            ),
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            *end,
        ]
    )


def _latex_row(cells: Iterable[str]) -> str:
    return rf"{' & '.join(cells)} \\"


def _latex_score(cell: str) -> str:
    """A figure, whose minus is no hyphen."""
    negative = cell.startswith("-")
    return "$-$" * negative + latex_text(cell[negative:])
