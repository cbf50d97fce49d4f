"""A report as Python shows it: at most 40 lines, and in notebooks the same as HTML."""

from __future__ import annotations

from html.parser import HTMLParser
from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from vidscore_evaluators.report import Block, Curve, Report, ReportWarning, Scores

VALUES = {"f1": (0.5, None, 1.0), "found": (2, 0, 12)}


def report(*blocks: Block, curves: tuple[Curve, ...] = (), warnings: int = 0) -> Report:
    told = tuple(ReportWarning("unlisted", "A label is on no list.") for _ in range(warnings))
    return Report("f1", "1", {"tau": 5}, "0" * 32, "1" * 32, Scores(blocks, curves, told))


ROC = Curve("roc", {"false_positives_per_frame": (0.0, 1.0), "recall": (0.5, 0.75)})

TEXT = """\
f1 1
tau = 5

By domain
  measure        d      all
  f1        0.7500   0.2500
  found                  14

By domain and label
  domain   label       f1   found
  d        car     0.5000       2
  d        bus     1.0000      12

2 scores are not shown; rows() has all of them, frame() as a data frame
1 curve, which plot(name) draws: roc
2 warnings, in full in warnings: unlisted"""


def example() -> Report:
    labels = Block(VALUES, ("d",), ("car", "ghost", "bus"))
    return report(
        labels,
        Block({"f1": (0.25,), "found": (14,)}),
        Block({"f1": (0.75,)}, ("d",)),
        curves=(ROC,),
        warnings=2,
    )


def test_a_report_is_shown_as_its_tables() -> None:
    """The two scores of a label that never occurs are left out, as on the command line."""
    assert repr(example()) == TEXT


def test_a_report_has_at_most_40_lines_and_counts_what_it_leaves_out() -> None:
    """Two lines, 34 for two tables (each has 3 more lines), an empty line and three notes.

    The first table has 1 line, so the second shows 34 - 4 - 3 = 27 labels of 2 scores each.
    """
    names = [f"label {number}" for number in range(100)]
    long = Block({"f1": [0.5] * 100, "found": [1] * 100}, (None,), names)
    lines = repr(report(long, Block({"f1": (0.5,)}), curves=(ROC,), warnings=1)).splitlines()
    assert len(lines) == 40
    assert sum(line.startswith("  label ") for line in lines) == 27 + 1
    assert lines[-3] == (
        "146 scores are not shown; rows() has all of them, frame() as a data frame"
    )


def test_columns_that_do_not_fit_are_left_out_and_overall_ones_are_kept() -> None:
    domains = [f"domain-{number:02}" for number in range(30)]
    wide = report(Block({"f1": [0.5] * 30}, domains), Block({"f1": (0.25,)}))
    heading = repr(wide).splitlines()[4]
    assert heading.split()[:2] == ["measure", "domain-00"]
    assert heading.split()[-1] == "all"
    assert max(map(len, repr(wide).splitlines())) <= 102
    shown = len(heading.split()) - 1
    assert f"{31 - shown} scores are not shown" in repr(wide)


def test_an_empty_report_is_shown_as_its_heading() -> None:
    assert repr(report()) == "f1 1\ntau = 5"


class Page(HTMLParser):
    """Texts of the cells, and every tag."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_html_has_the_same_cells_and_the_curves() -> None:
    html = example()._repr_html_()
    page = Page(html)
    words = [word for text in page.texts for word in text.split()]
    cells = [cell for line in TEXT.splitlines() for cell in line.split()]
    assert words[: len(cells)] == cells
    assert page.tags.count("table") == 2
    svg = html[html.index("<svg") : html.index("</svg>") + len("</svg>")]
    assert ET.fromstring(svg)[0].text == "ROC (f1)"


def test_a_picture_in_html_says_what_it_shows_and_how_many_lines_it_lacks() -> None:
    many = tuple(Curve("roc", ROC.columns, None, f"label {number}") for number in range(10))
    html = report(Block({"f1": (0.5,)}), curves=many)._repr_html_()
    assert "<figcaption>ROC (f1), 6 of 10 lines</figcaption>" in html


@given(st.text(min_size=1), st.text(min_size=1))
def test_names_are_text_in_html_and_one_line_in_text(first: str, second: str) -> None:
    block = Block({"f1": (0.5, 0.25)}, (first,), (first, second))
    own = report(block, curves=(Curve("roc", ROC.columns, first, second),))
    plain = report(Block({"f1": (0.5, 0.25)}, ("d",), ("car", "bus")), curves=(ROC,))
    strange = Page(own._repr_html_())
    allowed = {*Page(plain._repr_html_()).tags}
    assert {*strange.tags} <= allowed
    assert len(repr(own).splitlines()) <= len(repr(plain).splitlines())
